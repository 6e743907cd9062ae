package recommend_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/long"
)

// louder is a snapshot in which each statement was executed between 0.8 and 1.2 times as often, at random.
func louder(s *capture.Snapshot, seed uint64) *capture.Snapshot {
	r := rand.New(rand.NewPCG(seed, 31)) //nolint:gosec // a test of ours, no secret
	own := *s
	own.Statements = slices.Clone(s.Statements)
	for i := range own.Statements {
		st := &own.Statements[i]
		by := 0.8 + 0.4*r.Float64()
		st.Count = uint64(by*float64(st.Count) + 0.5)
		st.Latency, st.Rows = scaled(st.Latency, by), scaled(st.Rows, by)
	}
	return &own
}

// scaled is a distribution of more, or fewer, of the same values.
func scaled(d histogram.Distribution, by float64) histogram.Distribution {
	var h histogram.Histogram
	n := uint64(by*float64(d.Count) + 0.5)
	for i := range n {
		h.Add(uint64(d.Quantile((float64(i) + 0.5) / float64(n))))
	}
	var out histogram.Distribution
	h.AddTo(&out)
	return out
}

func shown(a *recommend.Advice) []string {
	ids := []string{}
	for i := range a.Recommendations {
		ids = append(ids, a.Recommendations[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// Load that goes up or down by a fifth, each statement by itself, does not change what is advised: 38 of 40 times at least (7 of 8 without
// HELENUS_TEST_LONG), on clusters of one node and of four, where the index is nearly as cheap, and near the bars.
func TestSteady(t *testing.T) {
	tries := 8
	if long.Tests() {
		tries = 40
	}
	for _, tt := range []struct {
		name string
		in   func() recommend.Input
	}{
		{"one node", func() recommend.Input { return hotel(1) }},
		{"four nodes", func() recommend.Input { return hotel(4) }},
		{"a dear index", func() recommend.Input {
			in := hotel(12)
			in.Snapshot = infertest.HotelWith(9_000).Snapshot()
			return in
		}},
		{"near the bar of what is saved", func() recommend.Input {
			in := hotel(1)
			first := advise(t, in).Recommendations
			in.Thresholds.SavedSeconds = 3600 * first[len(first)-2].SavedSecondsPerSecond * 1.01
			return in
		}},
		{"near the bar of executions", func() recommend.Input {
			in := hotel(1)
			in.Thresholds.Executions = 58
			return in
		}},
		{"just below the bar of executions", func() recommend.Input {
			in := hotel(1)
			in.Thresholds.Executions = 62
			return in
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.in()
			in.Shown = nil
			want := shown(advise(t, in))
			same, others := 0, map[string]int{}
			for seed := range uint64(tries) { //nolint:gosec // not negative
				again := tt.in()
				again.Snapshot, again.Shown = louder(in.Snapshot, seed), want
				got := shown(advise(t, again))
				if slices.Equal(got, want) {
					same++
				} else {
					others[strings.Join(got, " ")]++
				}
			}
			if least := tries - max(1, tries/20); same < least {
				t.Errorf("%d of %d as at first, %s; the others: %s", same, tries, strings.Join(want, " "), fmt.Sprint(others))
			}
		})
	}
}

// The bars have two sides: what is shown stays below the one that it would have to pass to be shown, and goes when it is clearly worse.
func TestHysteresis(t *testing.T) {
	in := hotel(1)
	first := of(advise(t, in), recommend.LookUpTable)
	if len(first) == 0 {
		t.Fatal("no look-up table is advised")
	}
	id, saves := first[0].ID, 3600*first[0].SavedSecondsPerSecond
	for _, tt := range []struct {
		bar   float64 // in multiples of what it saves
		shown []string
		want  bool
	}{
		{0.9, nil, true}, {1.1, nil, false}, // the first round
		{0.9, []string{}, false}, {0.79, []string{}, true}, // what is new has to be clearly better
		{1.9, []string{id}, true}, {2.1, []string{id}, false}, // what is shown stays until it is clearly worse
	} {
		in.Shown, in.Thresholds.SavedSeconds = tt.shown, tt.bar*saves
		a := advise(t, in)
		if got := a.Recommendation(id) != nil; got != tt.want {
			t.Errorf("a bar of %.2f times what it saves, with %v shown: advised %v", tt.bar, tt.shown, got)
		}
	}
}

// Costs that were observed beat assumed ones: what a read takes today is what it took.
func TestObservedCosts(t *testing.T) {
	for _, r := range of(advise(t, hotel(1)), recommend.LookUpTable) {
		for _, s := range r.Statements {
			if s.PredictedBeforeMs < 0.99*s.ObservedP50Ms || s.PredictedBeforeMs > 1.01*s.ObservedP50Ms {
				t.Errorf("%s is taken to take %g ms, and took %g", s.Text, s.PredictedBeforeMs, s.ObservedP50Ms)
			}
		}
	}
}

// Tables that are younger than the last measurement are measured before anything is advised on them, and the dismissal says so.
func TestYoungTables(t *testing.T) {
	in := hotel(1)
	in.Statistics = slices.DeleteFunc(slices.Clone(in.Statistics), func(s schema.Stats) bool { return s.Table == "reservations" })
	a := advise(t, in)
	for i := range a.Recommendations {
		if r := &a.Recommendations[i]; r.Table == "reservations" || r.Kind == recommend.ApplicationChange && strings.Contains(r.Why, "reservations") {
			t.Errorf("%s is advised on a table that was not measured", r.Title)
		}
	}
	told := 0
	for _, d := range a.Dismissed {
		if strings.Contains(d.Reason, "reservations was not measured yet") {
			told++
		}
	}
	if told < 2 {
		t.Errorf("%d dismissals say so", told)
	}
}
