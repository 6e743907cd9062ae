package admin

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A throttle takes a rate, a pause, or both, under both names; nothing else, and no other order takes them. It needs the role that an approval needs.
func TestThrottle(t *testing.T) {
	p := someParts()
	c := serve(t, p, false)
	ctx := t.Context()
	var m migrate.Change
	if got := code(t, c.Post(ctx, "changes/r-1/throttle", Decision{Rate: new(5)}, &m)); got != "not_found" {
		t.Errorf("a throttle of what is not carried out: %q", got)
	}
	if err := c.Post(ctx, "changes/r-1/approve", Decision{Actor: "ann"}, &m); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]Decision{
		"nothing": {}, "backwards": {Rate: new(-1)}, "too fast": {Rate: new(migrate.MaxRate + 1)}, "terms": {Rate: new(5), Hold: true}, "a length": {Rate: new(5), For: "1h"},
		"limits": {Paused: new(true), Drop: true}, "a choice": {Paused: new(true), Choice: "1"},
	} {
		if got := code(t, c.Post(ctx, "changes/r-1/throttle", d, &m)); got != "invalid" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for path, d := range map[string]Decision{
		"changes/r-1/approve": {Rate: new(5)}, "changes/r-1/dismiss": {Reason: "x", Paused: new(true)}, "changes/r-1/snooze": {Reason: "x", For: "24h", Rate: new(5)},
		"changes/r-1/rollback": {Rate: new(0)}, "bypass/on": {Paused: new(false)},
	} {
		if got := code(t, c.Post(ctx, path, d, new(any))); got != "invalid" {
			t.Errorf("%s with a pace: %q", path, got)
		}
	}
	for _, d := range []Decision{{Actor: "ann", Rate: new(500)}, {Actor: "bob", Paused: new(true)}, {Actor: "bob", Rate: new(0), Paused: new(false)}} {
		if err := c.Post(ctx, "changes/r-1/throttle", d, &m); err != nil || m.ID != "r-1" {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := c.Post(ctx, "migrations/r-1/throttle", Decision{Actor: "ann", Rate: new(7)}, &m); err != nil {
		t.Error(err)
	}
	if got := strings.Join(p.orders, ", "); got != "throttle rate=500 r-1 by ann, throttle paused=true r-1 by bob, throttle rate=0 paused=false r-1 by bob, throttle rate=7 r-1 by ann" {
		t.Error(got)
	}
	p.refuse = &migrate.ErrState{Migration: "r-1", Order: "pause", State: migrate.Serving}
	if got := code(t, c.Post(ctx, "changes/r-1/throttle", Decision{Paused: new(true)}, &m)); got != "refused" {
		t.Errorf("what does not fit the state: %q", got)
	}
	for _, of := range []string{"changes", "migrations"} {
		if role := Needed("POST /api/v1/" + of + "/{id}/throttle"); role != Needed("POST /api/v1/changes/{id}/approve") || role != access.Operator {
			t.Errorf("%s/throttle needs %s", of, role)
		}
	}
}
