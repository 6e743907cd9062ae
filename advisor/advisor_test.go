package advisor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/condition"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

// newSolver makes a solver whose workers do not linger: under the race detector a process sleeps a second before it ends.
func newSolver() solve.Solver {
	return solve.New(solve.Config{Env: []string{"GORACE=atexit_sleep_ms=0"}})
}

var solver = &infertest.Remember{Solver: newSolver()}

// world is what an advisor sees, changeable.
type world struct {
	snapshot *capture.Snapshot
	schema   *schema.Schema
	now      time.Time
}

func newWorld() *world {
	return &world{snapshot: infertest.Hotel().Snapshot(), schema: infertest.HotelSchema(), now: infertest.Start.Add(5 * time.Minute)}
}

func (w *world) options(s advisor.Store) advisor.Options {
	return advisor.Options{
		Snapshots: func() *capture.Snapshot { return w.snapshot }, Schema: func() *schema.Schema { return w.schema },
		Statistics: infertest.HotelStatistics, Solver: solver, Store: s,
		Judge: recommend.JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
			return []plan.Verdict{{Statement: lu.Statements[0], Reason: "nothing speaks against it"}}
		}),
		Clock: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func (w *world) advisor(t *testing.T, s advisor.Store) *advisor.Advisor {
	t.Helper()
	a, err := advisor.New(w.options(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func refresh(t *testing.T, a *advisor.Advisor) *recommend.Advice {
	t.Helper()
	advice, err := a.Refresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return advice
}

func lookUp(t *testing.T, a *advisor.Advisor) recommend.Recommendation {
	t.Helper()
	all, err := a.Recommendations(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Kind == recommend.LookUpTable {
			return r
		}
	}
	t.Fatal("no look-up table is recommended")
	return recommend.Recommendation{}
}

func kept(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// The golden advice of the recommender is what Advise gives, byte for byte, every time.
func TestAdviseIsDeterministic(t *testing.T) {
	w := newWorld()
	o := w.options(nil)
	o.Judge = recommend.JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
		return []plan.Verdict{{Statement: lu.Statements[0], Reason: "nothing speaks against it"}}
	})
	o.Driver = func() string { return "GoCQL" }
	o.Limits = solve.Limits{Nodes: 2000, Gap: 0.001}
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("recommend", "testdata", "hotel.json"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		advice, err := a.Advise(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.MarshalIndent(advice, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, '\n'); !bytes.Equal(want, got) {
			t.Fatalf("not the golden advice:\n%s", cmp.Diff(string(want), string(got)))
		}
	}
	if a.Latest() != nil {
		t.Error("Advise has kept something")
	}
}

func TestLifeCycle(t *testing.T) {
	ctx := context.Background()
	w, s := newWorld(), kept(t)
	a := w.advisor(t, s)
	if _, err := a.Recommendation(ctx, "r-000000"); !errors.As(err, new(*advisor.NotFoundError)) {
		t.Fatalf("unknown id: %v", err)
	}
	refresh(t, a)
	r := lookUp(t, a)
	if r.State != recommend.Open || !r.CreatedAt.Equal(w.now) {
		t.Fatalf("state %s, created at %s", r.State, r.CreatedAt)
	}
	id := r.ID

	// Rejected, with a reason; and it stays so, also in the next process.
	if _, err := a.Reject(ctx, id, "  ", "ann"); err == nil {
		t.Error("rejected without a reason")
	}
	if _, err := a.Reject(ctx, id[:5], "too many writes soon", "ann"); err != nil { // the beginning of the id is enough
		t.Fatal(err)
	}
	var state *advisor.StateError
	if _, err := a.Reject(ctx, id, "again", "ann"); !errors.As(err, &state) || state.State != recommend.Rejected {
		t.Errorf("rejected twice: %v", err)
	}
	if _, err := a.Approve(ctx, id, "ann"); !errors.As(err, &state) {
		t.Errorf("approved while rejected: %v", err)
	}
	w.now = w.now.Add(time.Hour)
	refresh(t, a)
	a = w.advisor(t, s)
	if r = lookUp(t, a); r.State != recommend.Rejected || r.Actor != "ann" || r.StateReason != "too many writes soon" {
		t.Fatalf("after a restart: %s by %q: %s", r.State, r.Actor, r.StateReason)
	}
	refresh(t, a)
	if r = lookUp(t, a); r.State != recommend.Rejected {
		t.Fatalf("the next round has made it %s", r.State)
	}

	// Opened again when its table is altered.
	w.schema = infertest.HotelSchema()
	for i := range w.schema.Keyspaces[0].Tables {
		if table := &w.schema.Keyspaces[0].Tables[i]; table.Name == "reservations" {
			table.Columns = append(table.Columns, schema.Column{Name: "vip", Kind: schema.Regular, Position: -1, Type: "boolean"})
		}
	}
	refresh(t, a)
	if r = lookUp(t, a); r.State != recommend.Open || !strings.Contains(r.StateReason, "altered") || r.ID != id {
		t.Fatalf("after the table was altered: %s %s: %s", r.ID, r.State, r.StateReason)
	}

	// Opened again when it would save much more.
	if _, err := a.Reject(ctx, id, "still no", "bob"); err != nil {
		t.Fatal(err)
	}
	for i := range w.snapshot.Statements {
		if st := &w.snapshot.Statements[i]; strings.Contains(st.Text, "ALLOW FILTERING") {
			st.Count *= 3
		}
	}
	refresh(t, a)
	if r = lookUp(t, a); r.State != recommend.Open || !strings.Contains(r.StateReason, "save") {
		t.Fatalf("after the traffic grew: %s: %s", r.State, r.StateReason)
	}

	// Approved, and kept although the traffic is gone; an open one expires then.
	if _, err := a.Approve(ctx, id, "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Reject(ctx, id, "no", "ann"); !errors.As(err, &state) || !strings.Contains(state.Error(), "roll") {
		t.Errorf("rejected while approved: %v", err)
	}
	before := w.snapshot
	quiet := &infertest.Traffic{Keyspace: "hotel", Seconds: 10}
	quiet.Say(infertest.GuestByID, 100, 800, 1)
	w.snapshot = quiet.Snapshot()
	refresh(t, a)
	if r = lookUp(t, a); r.State != recommend.Approved {
		t.Errorf("approved, then %s when the traffic changed", r.State)
	}
	all, err := a.Recommendations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.ID != id && x.State != recommend.Expired {
			t.Errorf("%s %s is %s although nothing advises it", x.ID, x.Title, x.State)
		}
		if x.Kind == recommend.Keep {
			if _, err := a.Approve(ctx, x.ID, "ann"); !errors.As(err, &state) {
				t.Errorf("approved %s", x.Title)
			}
		}
	}
	w.snapshot = before
	refresh(t, a)
	if _, err := a.Reopen(ctx, id, "the migration was rolled back", "ann"); err != nil {
		t.Fatal(err)
	}
	for _, x := range refresh(t, a).Recommendations {
		if x.State != recommend.Open {
			t.Errorf("%s %s is %s although it is advised again", x.ID, x.Title, x.State)
		}
	}

	// No decision is forgotten, nor that it did not stand.
	trail, err := s.Audit(ctx, store.AuditQuery{Change: id})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range slices.Backward(trail) {
		told = append(told, strings.Join([]string{e.Actor, e.Action, e.Before, e.After}, " "))
	}
	want := []string{"ann reject open rejected", "helenus reconsider rejected open", "bob reject open rejected", "helenus reconsider rejected open", "ann approve open approved", "ann reopen approved open"}
	if !slices.Equal(told, want) || trail[len(trail)-1].Reason != "too many writes soon" {
		t.Errorf("the trail is %q", told)
	}
}

// Only what Helenus can carry out may be approved.
func TestApprovalNeedsEligibility(t *testing.T) {
	w := newWorld()
	o := w.options(nil)
	o.Judge = recommend.JudgeFunc(func(plan.Rewrite, *capture.Snapshot, *schema.Schema) []plan.Verdict {
		return []plan.Verdict{{Condition: "C17", Refused: true, Reason: "counters"}}
	})
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refresh(t, a).Recommendations {
		_, err := a.Approve(context.Background(), r.ID, "ann")
		if !errors.As(err, new(*advisor.StateError)) {
			t.Errorf("%s (%s) was approved: %v", r.ID, r.Kind, err)
		}
		if want := condition.Counters.Refuse("counters").Error(); r.Kind == recommend.LookUpTable && !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	want := fmt.Sprintf(`
# HELP helenus_recommendation_refusals Statements of a recommendation, or its table as a whole, that a condition refuses (docs/conditions.md).
# TYPE helenus_recommendation_refusals gauge
helenus_recommendation_refusals{change_id=%q,condition="C17"} 1
`, lookUp(t, a).ID)
	if err := testutil.CollectAndCompare(a, strings.NewReader(want), "helenus_recommendation_refusals"); err != nil {
		t.Error(err)
	}
}

// A person may overrule what refuses because of single statements, each by name, and nothing else.
func TestApprovedDespite(t *testing.T) {
	const cause, other = "4ad1f0aa52c17d3f9b8e6a7c5d4e3f21", "77e0b2aa52c17d3f9b8e6a7c5d4e3f21"
	overrule := func(words ...string) (out []plan.Overrule) {
		for _, w := range words {
			o, err := plan.ParseOverrule(w)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o)
		}
		return out
	}
	for name, c := range map[string]struct {
		verdicts []plan.Verdict
		despite  []plan.Overrule
		why      string // why not; "" if it is approved
	}{
		"none overruled":    {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}}, nil, "--despite C20:4ad1f0aa52c1"},
		"overruled":         {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}}, overrule("C20:4ad1f0"), ""},
		"one of two":        {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}, {Condition: "C6", Refused: true, Cause: other}}, overrule("C20:4ad1f0"), "C6"},
		"both":              {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}, {Condition: "C6", Refused: true, Cause: other}}, overrule("C20:4ad1f0", "C6:77e0b2"), ""},
		"another condition": {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}}, overrule("C6:4ad1f0"), "nothing refuses it, or warns, by C6"},
		"another statement": {[]plan.Verdict{{Condition: "C20", Refused: true, Cause: cause}}, overrule("C20:77e0b2"), "nothing refuses it, or warns, by C20"},
		"the table":         {[]plan.Verdict{{Condition: "C17", Refused: true}}, overrule("C17:4ad1f0"), "nothing refuses it, or warns, by C17"},
		"what only warns":   {[]plan.Verdict{{Statement: cause, Condition: "C20"}}, overrule("C20:4ad1f0"), ""},
		"nothing refuses":   {[]plan.Verdict{{}}, overrule("C20:4ad1f0"), "nothing else does either: approve it without --despite"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			o := w.options(nil)
			o.Judge = recommend.JudgeFunc(func(plan.Rewrite, *capture.Snapshot, *schema.Schema) []plan.Verdict { return c.verdicts })
			a, err := advisor.New(o)
			if err != nil {
				t.Fatal(err)
			}
			refresh(t, a)
			got, err := a.Approve(context.Background(), lookUp(t, a).ID, "ann", c.despite...)
			switch {
			case c.why == "" && (err != nil || got.State != recommend.Approved || got.Actor != "ann" || !strings.Contains(got.StateReason, "despite "+c.despite[0].String())):
				t.Errorf("%v, %+v", err, got)
			case c.why != "" && (!errors.As(err, new(*advisor.StateError)) || !strings.Contains(err.Error(), c.why)):
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSuperseded(t *testing.T) {
	w := newWorld()
	a := w.advisor(t, nil)
	refresh(t, a)
	w.schema = infertest.HotelSchema() // the column gets an index: the scan becomes a read by index, which is better kept
	for i := range w.schema.Keyspaces[0].Tables {
		if table := &w.schema.Keyspaces[0].Tables[i]; table.Name == "reservations" {
			table.Indexes = append(table.Indexes, schema.Index{Name: "by_guest", Column: "guest_id", On: "values"})
		}
	}
	for i := range w.snapshot.Statements {
		if st := &w.snapshot.Statements[i]; strings.Contains(st.Text, "ALLOW FILTERING") {
			st.Latency.Buckets, st.Latency.Count, st.Latency.Sum = nil, 0, 0
		}
	}
	refresh(t, a)
	if r := lookUp(t, a); r.State != recommend.Superseded || !strings.Contains(r.StateReason, "keep reading reservations by its index") {
		t.Errorf("%s: %s", r.State, r.StateReason)
	}
}

func TestNothingSeen(t *testing.T) {
	w := newWorld()
	a := w.advisor(t, nil)
	w.snapshot = nil
	if _, err := a.Refresh(context.Background()); !errors.Is(err, advisor.ErrNothingSeen) {
		t.Errorf("no snapshot: %v", err)
	}
	if _, err := advisor.New(advisor.Options{}); err == nil {
		t.Error("an advisor without sources was made")
	}
}

// broken is a store that fails.
type broken struct{}

func (broken) Save(context.Context, string, string, any) error { return errors.New("disk full") }
func (broken) Decide(context.Context, string, string, any, ...store.Entry) error {
	return errors.New("disk full")
}
func (broken) Load(context.Context, string, string, any) error { return store.ErrNotFound }

// A decision that can not be kept is not taken.
func TestStoreFails(t *testing.T) {
	w := newWorld()
	a := w.advisor(t, broken{})
	if _, err := a.Refresh(context.Background()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("refresh: %v", err)
	}
	if all, _ := a.Recommendations(context.Background()); len(all) != 0 {
		t.Errorf("%d recommendations are told that were not kept", len(all))
	}
}

func TestNewerBookIsRefused(t *testing.T) {
	s := kept(t)
	if err := s.Save(context.Background(), "recommendations", "advisor", map[string]any{"version": 99}); err != nil {
		t.Fatal(err)
	}
	if _, err := newWorld().advisor(t, s).Refresh(context.Background()); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("a book of a newer version: %v", err)
	}
}

func TestRunEnds(t *testing.T) {
	w := newWorld()
	w.snapshot = nil
	a := w.advisor(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { a.Run(ctx); close(done) }()
	cancel()
	<-done
}

func TestMetrics(t *testing.T) {
	a := newWorld().advisor(t, nil)
	refresh(t, a)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(a); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, f := range families {
		seen[f.GetName()] = len(f.GetMetric())
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", f.GetName())
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if strings.Contains(l.GetValue(), "SELECT") || strings.Contains(l.GetValue(), "?") {
					t.Errorf("%s: CQL in label %s=%q", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
	if seen["helenus_change_statement_info"] < 3 || seen["helenus_recommendation_state"] != 3*len(recommend.States) {
		t.Errorf("%d statements, %d states of 3 recommendations", seen["helenus_change_statement_info"], seen["helenus_recommendation_state"])
	}
	for _, name := range []string{"info", "benefit_ratio", "saved_seconds_per_second", "write_cost_ratio", "storage_bytes", "confidence_ratio", "created_timestamp_seconds"} {
		if seen["helenus_recommendation_"+name] != 3 {
			t.Errorf("helenus_recommendation_%s has %d series, want 3", name, seen["helenus_recommendation_"+name])
		}
	}
}

// A defect in the advice must not end the process: applications depend on its data path.
func TestPanicIsAnError(t *testing.T) {
	o := newWorld().options(nil)
	o.Judge = recommend.JudgeFunc(func(plan.Rewrite, *capture.Snapshot, *schema.Schema) []plan.Verdict { panic("a defect") })
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var panicked *advisor.PanicError
	if _, err := a.Advise(context.Background()); !errors.As(err, &panicked) {
		t.Fatalf("got %v", err)
	}
}

// A calendar is advised of what the history says, stays as it was approved while the history goes on, and an unreadable history
// is told and takes nothing else away.
func TestTimelineLifeCycle(t *testing.T) {
	ctx := context.Background()
	w, s := newWorld(), kept(t)
	o := w.options(s)
	rate, broken := 10.0, error(nil)
	o.Past = func(context.Context) (*recommend.Past, error) {
		if broken != nil {
			return nil, broken
		}
		c := &cycle.Cycle{Period: cycle.Day, Zone: "UTC", Steps: []cycle.Step{{Begin: 8 * time.Hour, Length: 10 * time.Hour}, {Begin: 18 * time.Hour, Length: 14 * time.Hour}}}
		for _, st := range w.snapshot.Statements {
			weights := []float64{0, 0}
			switch {
			case strings.Contains(st.Text, "ALLOW FILTERING"):
				weights[0] = rate
			case strings.HasPrefix(st.Text, "INSERT INTO hotel.reservations"):
				weights[1] = 1000
			}
			c.Members = append(c.Members, cycle.Member{Fingerprint: st.Fingerprint, Weights: weights})
		}
		return &recommend.Past{Report: &cycle.Report{Cycle: c, Workload: []cycle.Pattern{{Name: cycle.Day, Verdict: cycle.Reliable, Share: 0.9}}}, Counts: w.snapshot}, nil
	}
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	find := func() recommend.Recommendation {
		for _, r := range refresh(t, a).Recommendations {
			if r.Kind == recommend.TimelineKind {
				return r
			}
		}
		t.Fatalf("no calendar: %s", a.Latest().Timeline)
		return recommend.Recommendation{}
	}
	r := find()
	if !r.Eligible || r.Confidence != 0.9 {
		t.Errorf("eligible %v, confidence %g", r.Eligible, r.Confidence)
	}
	if _, err := a.Approve(ctx, r.ID, "ann"); err != nil {
		t.Fatal(err)
	}
	before := r.Timeline.CostMs
	rate = 20
	if r = find(); r.State != recommend.Approved || r.Timeline.CostMs != before {
		t.Errorf("%s, %g instead of %g", r.State, r.Timeline.CostMs, before)
	}
	if _, err := a.Reopen(ctx, r.ID, "its calendar is over", ""); err != nil {
		t.Fatal(err)
	}
	if r = find(); r.State != recommend.Open || r.Timeline.CostMs == before {
		t.Errorf("%s, %g", r.State, r.Timeline.CostMs)
	}
	broken = errors.New("no disk")
	if advice := refresh(t, a); len(advice.Problems) != 1 || !strings.Contains(advice.Problems[0], "no disk") || lookUp(t, a).State != recommend.Open {
		t.Errorf("%v", advice.Problems)
	}
}

// A round that was ended in its process is counted by why, is told until one succeeds, and takes nothing away of what was advised before.
func TestRoundsFail(t *testing.T) {
	o := newWorld().options(nil)
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	var ends error
	o.Make = func(ctx context.Context, in recommend.Input) (*recommend.Advice, error) {
		if ends != nil {
			return nil, ends
		}
		return recommend.Make(ctx, in)
	}
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	before := refresh(t, a)
	for _, c := range []struct {
		err         error
		says, logs  string
		memory, all float64
	}{
		{&round.Error{Is: round.ErrMemory, What: "600 MiB", Words: "line one\nline two"}, "line one", "line two", 1, 1},
		{&round.Error{Is: round.ErrTime, What: "too long"}, "too long", "", 1, 2},
		{&round.Error{Is: round.ErrWorker, What: "it died"}, "it died", "", 1, 3},
		{errors.New("no reason"), "no reason", "", 1, 4},
	} {
		ends = c.err
		if _, err := a.Refresh(t.Context()); !errors.Is(err, c.err) {
			t.Errorf("%v", err)
		}
		if trouble := a.Trouble(); !strings.Contains(trouble, c.says) || strings.Contains(trouble, "\n") || !strings.Contains(log.String(), c.logs) {
			t.Errorf("%q, and the log says %q", trouble, log.String())
		}
		if d := cmp.Diff(before.Recommendations, a.Latest().Recommendations); d != "" {
			t.Error(d)
		}
		counts := rounds(t, a)
		if counts["ok"] != 1 || counts["killed-memory"] != c.memory || counts["killed-memory"]+counts["killed-time"]+counts["failed"] != c.all {
			t.Errorf("%v", counts)
		}
	}
	ends = nil
	refresh(t, a)
	if trouble, counts := a.Trouble(), rounds(t, a); trouble != "" || counts["ok"] != 2 || counts["killed-time"] != 1 || counts["failed"] != 2 {
		t.Errorf("%q, %v", trouble, counts)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	ends = stopped.Err()
	if _, err := a.Refresh(stopped); err == nil || a.Trouble() != "" {
		t.Errorf("%v, %q", err, a.Trouble())
	}
}

// rounds are counted by result.
func rounds(t *testing.T, a *advisor.Advisor) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(a); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "helenus_advisor_rounds_total" {
			for _, m := range f.GetMetric() {
				counts[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return counts
}

// TestWithoutSolver: that there is no exact solver is told by the advice, by a metric, and by the log once, not each round; and so is that it came.
func TestWithoutSolver(t *testing.T) {
	w, missing := newWorld(), errors.New("no exact solver: nowhere")
	var said bytes.Buffer
	o := w.options(nil)
	o.Log, o.Ready = slog.New(slog.NewTextHandler(&said, nil)), func() error { return missing }
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range []struct {
		why  error
		up   float64
		says int
	}{{missing, 0, 1}, {missing, 0, 1}, {nil, 1, 1}, {missing, 0, 2}} {
		missing = round.why
		advice := refresh(t, a)
		if told := slices.ContainsFunc(advice.Problems, func(p string) bool { return strings.Contains(p, "no exact solver: nowhere") }); told != (round.why != nil) {
			t.Errorf("%v: problems %q", round.why, advice.Problems)
		}
		if n := strings.Count(said.String(), "no exact solver: nowhere"); n != round.says {
			t.Errorf("%v: the log has it %d times, want %d:\n%s", round.why, n, round.says, said.String())
		}
		want := fmt.Sprintf("# HELP helenus_advisor_solver_up 1 if the exact solver, helenus-solver, is there; 0 if calendars are worked out by a heuristic: the log and the advice say why.\n# TYPE helenus_advisor_solver_up gauge\nhelenus_advisor_solver_up %g\n", round.up)
		if err := testutil.CollectAndCompare(a, strings.NewReader(want), "helenus_advisor_solver_up"); err != nil {
			t.Error(err)
		}
	}
}
