package advisor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/change"
)

// Who wants to know is told of advice once: when it is new, and when it is asked again after a rejection; not when it comes and goes with the
// traffic, not of what is best left as it is, and not of what could not be kept.
func TestOpened(t *testing.T) {
	w := newWorld()
	var fresh []recommend.Recommendation
	var told [][]string
	make := func(s change.Store) *advisor.Advisor {
		o := w.options(s)
		o.Make = func(context.Context, recommend.Input) (*recommend.Advice, error) {
			return &recommend.Advice{At: w.now, Recommendations: append([]recommend.Recommendation(nil), fresh...)}, nil
		}
		o.Opened = func(all []recommend.Recommendation) {
			var ids []string
			for _, r := range all {
				ids = append(ids, r.ID)
			}
			told = append(told, ids)
		}
		a, err := advisor.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	s := kept(t)
	a := make(s)
	one := recommend.Recommendation{ID: "r-1", Kind: recommend.LookUpTable, SavedSecondsPerSecond: 2, SchemaDigest: "a"}
	two := recommend.Recommendation{ID: "r-2", Kind: recommend.LookUpTable, SavedSecondsPerSecond: 1}
	keep := recommend.Recommendation{ID: "r-3", Kind: recommend.Keep}
	round := func(want [][]string, all ...recommend.Recommendation) {
		t.Helper()
		fresh, told = all, nil
		refresh(t, a)
		if d := cmp.Diff(want, told); d != "" {
			t.Error(d)
		}
	}
	round([][]string{{"r-1", "r-2"}}, one, two, keep)
	round(nil, one, two, keep)
	round(nil, one)            // r-2 has expired
	round(nil, one, two, keep) // and is back
	if _, err := a.Dismiss(t.Context(), "r-1", "no", "ann"); err != nil {
		t.Fatal(err)
	}
	round(nil, one, two)
	one.SchemaDigest = "b"
	round([][]string{{"r-1"}}, one, two)
	a = make(s) // after a restart all is known
	round(nil, one, two)
	keep.Kind = recommend.LookUpTable
	round([][]string{{"r-3"}}, one, two, keep)

	a, told = make(broken{}), nil
	if _, err := a.Refresh(t.Context()); err == nil || errors.Is(err, advisor.ErrNothingSeen) || told != nil {
		t.Errorf("%v, told %v", err, told)
	}
}

// TestTroubleWaitsForNobody: readiness asks for it, also while a round is being kept in a state that hangs.
func TestTroubleWaitsForNobody(t *testing.T) {
	w := newWorld()
	var a *advisor.Advisor
	o := w.options(kept(t))
	o.Make = func(context.Context, recommend.Input) (*recommend.Advice, error) {
		return &recommend.Advice{At: w.now, Recommendations: []recommend.Recommendation{{ID: "r-1", Kind: recommend.LookUpTable, SavedSecondsPerSecond: 2}}}, nil
	}
	asked := false
	o.Opened = func([]recommend.Recommendation) { // in the midst of keeping
		asked = true
		told := make(chan string, 1)
		go func() { told <- a.Trouble() }()
		select {
		case why := <-told:
			if why != "" {
				t.Error(why)
			}
		case <-time.After(time.Minute):
			t.Error("who asks for trouble waits for what is being kept")
		}
	}
	var err error
	if a, err = advisor.New(o); err != nil {
		t.Fatal(err)
	}
	refresh(t, a)
	if !asked {
		t.Error("nothing was kept")
	}
}
