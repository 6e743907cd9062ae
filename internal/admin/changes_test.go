package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestChanges: a change has one state, whichever of its parts are there: what is in force counts, though it is not stored yet; what is proposed again is
// proposed, though it was dropped.
func TestChanges(t *testing.T) {
	soon := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	p := &parts{all: []recommend.Recommendation{
		{ID: "r-open", Kind: recommend.LookUpTable, State: recommend.Open, Title: "orders by customer", Keyspace: "shop", Table: "orders"},
		{ID: "r-serves", Kind: recommend.LookUpTable, State: recommend.Approved, Actor: "ann"},
		{ID: "r-again", Kind: recommend.LookUpTable, State: recommend.Open},
		{ID: "r-later", Kind: recommend.LookUpTable, State: recommend.Snoozed, StateReason: "after the move", Actor: "bob", Until: soon},
		{ID: "r-never", Kind: recommend.LookUpTable, State: recommend.Rejected, StateReason: "too dear"},
	}, migration: []migrate.Change{
		{ID: "r-serves", State: migrate.RollingBack, Actor: "ann", Reason: "slower", Pending: "it is not stored yet", Rewrite: plan.Rewrite{Keyspace: "shop", Base: "orders"}},
		{ID: "r-again", State: migrate.Dropped},
	}}
	c := serve(t, p, false)
	list := func(query string) (lines []string) {
		t.Helper()
		var all []Change
		if err := c.Get(t.Context(), "changes"+query, &all); err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if x.Advice != nil || x.Work != nil {
				t.Errorf("a list with all that is known: %+v", x)
			}
			line := x.ID + " " + string(x.State)
			for _, text := range []string{x.Actor, x.Reason, x.Pending} {
				if text != "" {
					line += ", " + text
				}
			}
			lines = append(lines, line)
		}
		return lines
	}
	want := []string{"r-open proposed", "r-serves rolling-back, ann, slower, it is not stored yet", "r-again proposed", "r-later snoozed, bob, after the move", "r-never dismissed, too dear"}
	if d := cmp.Diff(want, list("")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[3:], list("?state=snoozed,dismissed")); d != "" {
		t.Error(d)
	}
	var one Change
	if err := c.Get(t.Context(), "changes/r-ser", &one); err != nil || one.ID != "r-serves" || one.Work == nil || one.Advice == nil || one.Work.State != one.State {
		t.Errorf("%+v, %v", one, err)
	}
	for path, want := range map[string]string{"changes/r-": "not_found", "changes/r-x1": "not_found", "changes?state=open": "invalid"} {
		if got := code(t, c.Get(t.Context(), path, &one)); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	p.all = append(p.all, recommend.Recommendation{ID: "r-server"})
	if got := code(t, c.Get(t.Context(), "changes/r-serve", &one)); got != "invalid" {
		t.Errorf("the beginning of two ids: %q", got)
	}
}

// TestSnooze: for how long, and why, is needed; other orders take no length.
func TestSnooze(t *testing.T) {
	p := someParts()
	c := serve(t, p, false)
	for name, d := range map[string]Decision{
		"no reason": {For: "24h"}, "no length": {Reason: "x"}, "no duration": {Reason: "x", For: "7d"}, "backwards": {Reason: "x", For: "-1h"},
		"too short": {Reason: "x", For: "1s"}, "too long": {Reason: "x", For: "10000h"}, "terms": {Reason: "x", For: "24h", OnEntryFailure: "refuse"}, "drop": {Reason: "x", For: "24h", Drop: true},
	} {
		if got := code(t, c.Post(t.Context(), "changes/r-1/snooze", d, new(any))); got != "invalid" || p.all[0].State != recommend.Open {
			t.Errorf("%s: %q, it is %s", name, got, p.all[0].State)
		}
	}
	for _, order := range []string{"dismiss", "reopen", "approve", "rollback", "drop"} {
		if got := code(t, c.Post(t.Context(), "changes/r-1/"+order, Decision{Reason: "x", For: "24h"}, new(any))); got != "invalid" {
			t.Errorf("%s for a while: %q", order, got)
		}
	}
	var r recommend.Recommendation
	if err := c.Post(t.Context(), "changes/r-1/snooze", Decision{Actor: "ann", Reason: "after the move", For: "24h"}, &r); err != nil || r.State != recommend.Snoozed || !r.Until.Equal(time.Unix(24*3600, 0)) || r.Actor != "ann" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNamesOfTheLastRelease: what routes were called until then is the same, and takes the same role.
func TestNamesOfTheLastRelease(t *testing.T) {
	names := map[string]string{"recommendations/{id}/approve": "approve", "recommendations/{id}/reject": "dismiss", "recommendations/{id}/reopen": "reopen",
		"migrations/{id}/rollback": "rollback", "migrations/{id}/resume": "resume", "migrations/{id}/verify": "verify", "migrations/{id}/drop": "drop"}
	for old, order := range names {
		if a, b := Needed("POST /api/v1/"+old), Needed("POST /api/v1/changes/{id}/"+order); a != b {
			t.Errorf("%s needs %s, %s needs %s", old, a, order, b)
		}
	}
	// The same story under both.
	for _, of := range []map[string]string{{}, names} {
		name := func(order string) string {
			for old, x := range of {
				if x == order {
					return old
				}
			}
			return "changes/{id}/" + order
		}
		p := someParts()
		c := serve(t, p, false)
		for _, order := range []string{"dismiss", "reopen", "approve", "verify", "hold", "cut-over", "resume", "rollback", "drop"} {
			if err := c.Post(t.Context(), strings.Replace(name(order), "{id}", "r-1", 1), Decision{Actor: "ann", Reason: "x"}, new(any)); err != nil {
				t.Errorf("%s: %v", name(order), err)
			}
		}
		var m migrate.Change
		if err := c.Get(t.Context(), "migrations/r-1", &m); err != nil || m.State != change.Dropped || p.all[0].State != recommend.Open {
			t.Errorf("%+v, %v", m, err)
		}
	}
}
