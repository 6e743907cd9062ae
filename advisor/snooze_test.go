package advisor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/change"
)

// What is snoozed comes back when its time is over, as people see at once and the next round notes; before that if it would save more than twice as much, or its tables
// are altered; and not at all if nothing advises it any more. It is snoozed in the next process, too.
func TestSnooze(t *testing.T) {
	advice := recommend.Recommendation{ID: "r-1", Kind: recommend.LookUpTable, SavedSecondsPerSecond: 1, SchemaDigest: "a", Eligible: true}
	for name, c := range map[string]struct {
		after time.Duration // until the next round
		alter func(*recommend.Recommendation) bool
		want  recommend.State
		why   string
		told  bool // whoever is told of new advice
	}{
		"its time is not over":     {time.Hour, func(*recommend.Recommendation) bool { return true }, recommend.Snoozed, "not now", false},
		"its time is over":         {25 * time.Hour, func(*recommend.Recommendation) bool { return true }, recommend.Open, "snoozed before, until", true},
		"twice as much is too few": {time.Hour, func(r *recommend.Recommendation) bool { r.SavedSecondsPerSecond = 2; return true }, recommend.Snoozed, "not now", false},
		"its gain has doubled":     {time.Hour, func(r *recommend.Recommendation) bool { r.SavedSecondsPerSecond = 2.1; return true }, recommend.Open, "2.1 times as much", true},
		"its table was altered":    {time.Hour, func(r *recommend.Recommendation) bool { r.SchemaDigest = "b"; return true }, recommend.Open, "altered since (not now)", true},
		"not advised meanwhile":    {time.Hour, func(*recommend.Recommendation) bool { return false }, recommend.Snoozed, "not now", false},
		"nor when it is over":      {25 * time.Hour, func(*recommend.Recommendation) bool { return false }, recommend.Expired, "not advised any more", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(), kept(t)
			given, told := []recommend.Recommendation{advice}, 0
			boot := func() *advisor.Advisor {
				o := w.options(s)
				o.Make = func(context.Context, recommend.Input) (*recommend.Advice, error) {
					return &recommend.Advice{At: w.now, Recommendations: append([]recommend.Recommendation(nil), given...)}, nil
				}
				o.Opened = func(all []recommend.Recommendation) { told += len(all) }
				a, err := advisor.New(o)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			a := boot()
			refresh(t, a)
			for _, bad := range []struct {
				length time.Duration
				why    string
			}{{0, "x"}, {time.Second, "x"}, {1000 * 24 * time.Hour, "x"}, {time.Hour, " "}} {
				if _, err := a.Snooze(t.Context(), "r-1", bad.length, bad.why, "ann"); err == nil {
					t.Errorf("snoozed for %v: %q", bad.length, bad.why)
				}
			}
			r, err := a.Snooze(t.Context(), "r-1", 24*time.Hour, "not now", "ann")
			if err != nil || r.State != recommend.Snoozed || r.Actor != "ann" || !r.Until.Equal(w.now.Add(24*time.Hour)) {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, err := w.approve(a, "r-1", "bob"); err == nil || !strings.Contains(err.Error(), "reopen") {
				t.Errorf("approved while snoozed: %v", err)
			}
			told, a = 0, boot()
			w.now = w.now.Add(c.after)
			over := c.after > 24*time.Hour
			if r, err := a.Recommendation(t.Context(), "r-1"); err != nil || (r.State == recommend.Open) != over {
				t.Errorf("before the next round: %+v, %v", r, err)
			}
			fresh := advice
			if given = nil; c.alter(&fresh) {
				given = append(given, fresh)
			}
			refresh(t, a)
			a = boot()
			r, err = a.Recommendation(t.Context(), "r-1")
			if err != nil || r.State != c.want || !strings.Contains(r.StateReason, c.why) || (told == 1) != c.told {
				t.Errorf("%s: %s, %d told, %v", r.State, r.StateReason, told, err)
			}
			if stored := w.book.Known()["r-1"]; (stored.State == change.Snoozed) != (c.want == recommend.Snoozed) {
				t.Errorf("stored as %s", stored.State)
			}
		})
	}
}

// A snooze that is over is over for who approves, too, though no round has noted it.
func TestApprovedAfterSnooze(t *testing.T) {
	w, s := newWorld(), kept(t)
	a := w.advisor(t, s)
	refresh(t, a)
	r := lookUp(t, a)
	if _, err := a.Snooze(t.Context(), r.ID, time.Hour, "not now", "ann"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(2 * time.Hour)
	if got, err := w.approve(a, r.ID, "bob"); err != nil || got.State != recommend.Approved || got.Actor != "bob" {
		t.Errorf("%+v, %v", got, err)
	}
}
