package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/merged"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/long"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

// shared is a merged.Store in memory.
type shared struct {
	mu   sync.Mutex
	rows map[[2]string][]byte
}

func (s *shared) Put(_ context.Context, row merged.Row, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[[2]string{row.Kind, row.Key}] = row.Body
	return nil
}

func (s *shared) Agree(_ context.Context, row merged.Row, _ time.Duration) (merged.Row, error) {
	return row, nil
}

func (s *shared) All(_ context.Context, kind string) (out []merged.Row, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, body := range s.rows {
		if key[0] == kind {
			out = append(out, merged.Row{Kind: kind, Key: key[1], Body: body})
		}
	}
	return out, nil
}

func (s *shared) Drop(_ context.Context, kind, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, [2]string{kind, key})
	return nil
}

// looked is what a member looked at, in turns of ten seconds.
type looked struct {
	of    []*trace.Execution
	turns int64
}

func (l *looked) Join(window.Together) {}

const turn = int64(10 * time.Second)

func (l *looked) Share() (window.Share, bool) {
	from := l.turns * turn
	l.turns++
	until, zero := from+turn, start.UnixNano()
	s := window.Share{From: zero + from, Until: zero + until, Key: 7, Looked: []window.Interval{{From: zero + from, To: zero + until}}}
	for _, e := range l.of {
		if e.End >= from && e.End < until {
			own := *e
			own.Start, own.End = own.Start+zero, own.End+zero
			s.Executions = append(s.Executions, &own)
		}
	}
	return s, true
}

// learned is what the leader of n processes knows, of which route says through which each execution went.
func (o *observed) learned(t *testing.T, n int, route func(i int, e *trace.Execution) int) *capture.Snapshot {
	t.Helper()
	parts := make([][]*trace.Execution, n)
	latest := int64(0)
	for i, e := range o.site.out {
		k := 0
		if n > 1 {
			k = route(i, e)
		}
		if e.Batch != 0 { // a BATCH is one request
			k = int(e.Batch) % n // #nosec G115 -- they are numbered
		}
		parts[k] = append(parts[k], e)
		latest = max(latest, e.End)
	}
	store := &shared{rows: map[[2]string][]byte{}}
	var members []*merged.Member
	for k := range parts {
		counts := o.site.count(parts[k])
		members = append(members, merged.New(merged.Options{
			Store: store, Name: fmt.Sprint(k), Counts: func() *capture.Snapshot { return counts }, Windows: &looked{of: parts[k]}, Leads: func() bool { return k == 0 },
			Secret: "x", Seed: 3, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return start.Add(time.Duration(latest)) },
		}))
	}
	for range latest/turn + 2 {
		for _, m := range slices.Backward(members) { // the leader last
			if err := m.Exchange(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return members[0].Snapshot()
}

func (o *observed) advise(t *testing.T, s *capture.Snapshot) *recommend.Advice {
	t.Helper()
	a, err := recommend.Make(t.Context(), recommend.Input{
		Snapshot: s, Schema: o.schema, Statistics: o.stats, Nodes: 3, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 2000, Gap: 0.001}, At: s.To,
		Judge: recommend.JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) (out []plan.Verdict) {
			for _, st := range lu.Statements {
				out = append(out, plan.Verdict{Statement: st})
			}
			return out
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMergedLearningGivesTheSameAdvice: three processes advise, of what each saw of an application, what one advises that all of it went through: the same changes,
// worth the same, for a workload of the same weights; with the corpora's names and with random ones, whether connections or statements were dealt out.
func TestMergedLearningGivesTheSameAdvice(t *testing.T) {
	long.Only(t, "half a minute; capture/merged has that the same is learned")
	joins, advised := 0, 0
	for _, v := range []variant{
		{&applications[0], "denormalised", false, 8, 1}, {&applications[1], "random", false, 8, 2}, {&applications[2], "normalised", false, 64, 3},
	} {
		o := v.observe()
		one := o.learned(t, 1, nil)
		want := o.advise(t, one)
		numbers := map[string]int{}
		for name, route := range map[string]func(i int, e *trace.Execution) int{
			"by request": func(i int, _ *trace.Execution) int { return int(mix(uint64(i)) % 3) }, // #nosec G115
			"by statement": func(_ int, e *trace.Execution) int {
				if _, known := numbers[e.Statement.Fingerprint]; !known {
					numbers[e.Statement.Fingerprint] = len(numbers)
				}
				return numbers[e.Statement.Fingerprint] % 3
			},
		} {
			three := o.learned(t, 3, route)
			if three.Count() != one.Count() || len(three.Feeds) != len(one.Feeds) || len(three.Templates) != len(one.Templates) {
				t.Errorf("%s, %s: %d executions, %d feeds and %d templates, not %d, %d and %d", v, name, three.Count(), len(three.Feeds), len(three.Templates), one.Count(), len(one.Feeds), len(one.Templates))
			}
			same(t, fmt.Sprintf("%s, %s", v, name), want, o.advise(t, three))
		}
		joins, advised = joins+len(one.Feeds), advised+len(want.Recommendations)
	}
	t.Logf("%d joins, %d recommendations", joins, advised)
	if joins < 10 || advised < 5 {
		t.Errorf("%d joins and %d recommendations say little", joins, advised)
	}
}

// same compares advice.
func same(t *testing.T, what string, want, got *recommend.Advice) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }
	if len(got.Recommendations) != len(want.Recommendations) {
		t.Errorf("%s: %d recommendations, not %d", what, len(got.Recommendations), len(want.Recommendations))
		return
	}
	for i := range want.Recommendations {
		a, b := &want.Recommendations[i], &got.Recommendations[i]
		if a.ID != b.ID || a.Title != b.Title || !near(a.SavedSecondsPerSecond, b.SavedSecondsPerSecond) || !near(a.BenefitRatio, b.BenefitRatio) {
			t.Errorf("%s: %s %q saves %g, not %s %q %g", what, b.ID, b.Title, b.SavedSecondsPerSecond, a.ID, a.Title, a.SavedSecondsPerSecond)
		}
	}
	if d := cmp.Diff(want.Model.Workload, got.Model.Workload, cmpopts.EquateApprox(1e-6, 0)); d != "" || len(want.Model.Workload) == 0 {
		t.Errorf("%s: another workload (-one, +three): %s", what, d)
	}
}
