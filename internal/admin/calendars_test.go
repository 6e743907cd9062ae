package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// calendars plays the Keeper.
type calendars struct{ *parts }

func (c calendars) Approve(_ context.Context, id string, p plan.Calendar, _ cycle.Cycle, l calendar.Limits, actor string) (calendar.Calendar, error) {
	if c.refuse != nil {
		return calendar.Calendar{}, c.refuse
	}
	if err := l.Check(time.Now()); err != nil {
		return calendar.Calendar{}, err
	}
	made := calendar.Calendar{ID: id, Plan: p, Limits: l, Actor: actor, State: calendar.Following, Seasons: []calendar.Season{{ID: id + ".1", Stage: calendar.Out}}}
	c.calendars = append(c.calendars, made)
	return made, nil
}

func (c calendars) change(id, what, actor string, to calendar.State) (calendar.Calendar, error) {
	c.orders = append(c.orders, what+" "+id+" by "+actor)
	for i := range c.calendars {
		if x := &c.calendars[i]; x.ID == id {
			if x.State == to {
				return *x, &calendar.StateError{ID: id, Order: what, State: to}
			}
			x.State = to
			return *x, nil
		}
	}
	return calendar.Calendar{}, fmt.Errorf("%w: %s", calendar.ErrUnknown, id)
}

func (c calendars) Grant(_ context.Context, season, actor string) (calendar.Calendar, bool, error) {
	c.orders = append(c.orders, "grant "+season+" by "+actor)
	return c.calendars[0], true, nil
}

func (c calendars) Pause(_ context.Context, id, reason, actor string) (calendar.Calendar, error) {
	return c.change(id, "pause ("+reason+")", actor, calendar.Paused)
}

func (c calendars) Resume(_ context.Context, id, actor string) (calendar.Calendar, error) {
	return c.change(id, "resume", actor, calendar.Following)
}

func (c calendars) Withdraw(_ context.Context, id string, remove bool, _, actor string) (calendar.Calendar, error) {
	return c.change(id, fmt.Sprintf("withdraw (%v)", remove), actor, calendar.Withdrawing)
}

func (c calendars) Calendars() []calendar.Calendar {
	return append([]calendar.Calendar{}, c.calendars...)
}

func (c calendars) Calendar(id string) (calendar.Calendar, error) {
	for _, x := range c.calendars {
		if x.ID == id {
			return x, nil
		}
	}
	return calendar.Calendar{}, fmt.Errorf("%w: %s", calendar.ErrUnknown, id)
}

func (c calendars) Of(season string) (string, int, bool) {
	for _, x := range c.calendars {
		if x.Seasons[0].ID == season {
			return x.ID, 0, true
		}
	}
	return "", 0, false
}

func (c calendars) Holds(lu *plan.LookUp) string {
	for _, x := range c.calendars {
		if x.Plan.Seasons[0].LookUp.Table == lu.Table {
			return x.ID
		}
	}
	return ""
}

// A timeline is approved with limits, its changes by themselves, and while it is followed its look-ups can not be approved besides.
func TestCalendars(t *testing.T) {
	p := someParts()
	p.all = append(p.all, recommend.Recommendation{ID: "r-2", Kind: recommend.TimelineKind, State: recommend.Open, Eligible: true,
		Timeline: &recommend.Timeline{Calendar: plan.Calendar{Seasons: []plan.Season{{LookUp: plan.LookUp{Table: "t"}}}}}})
	c := serve(t, p, false)
	ctx := context.Background()
	var x calendar.Calendar
	if got := code(t, c.Post(ctx, "recommendations/r-1/approve", Decision{Actor: "ann", Limits: &calendar.Limits{}}, &x)); got != "invalid" {
		t.Errorf("limits of a look-up: %q", got)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-2/approve", Decision{Limits: &calendar.Limits{ChangesPerDay: -1}}, &x)); got != "invalid" || p.all[1].State != recommend.Open {
		t.Errorf("bad limits: %q, and it is %s", got, p.all[1].State)
	}
	p.refuse = &calendar.Busy{By: "r-9", Why: "one at a time"}
	if got := code(t, c.Post(ctx, "recommendations/r-2/approve", Decision{}, &x)); got != "refused" || p.all[1].State != recommend.Open {
		t.Errorf("while another is followed: %q, and it is %s", got, p.all[1].State)
	}
	p.refuse = nil
	window, _ := calendar.ParseWindow("22:00-06:00")
	if err := c.Post(ctx, "recommendations/r-2/approve", Decision{Actor: "ann", Limits: &calendar.Limits{ChangesPerDay: 3, Windows: []calendar.Window{window}, Each: true}}, &x); err != nil {
		t.Fatal(err)
	}
	if x.ID != "r-2" || x.Limits.ChangesPerDay != 3 || x.Limits.Windows[0] != window || len(p.migration) != 0 || p.all[1].State != recommend.Approved {
		t.Errorf("%+v", x)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-1/approve", Decision{}, &x)); got != "refused" {
		t.Errorf("a look-up of the calendar: %q", got)
	}
	if err := c.Post(ctx, "recommendations/r-2.1/approve", Decision{Actor: "bob"}, &x); err != nil || p.orders[0] != "grant r-2.1 by bob" {
		t.Errorf("%v, %v", err, p.orders)
	}
	var one recommend.Recommendation
	if err := c.Get(ctx, "recommendations/r-2", &one); err != nil || one.Migration != "following" {
		t.Errorf("%v, %q", err, one.Migration)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-2/reopen", Decision{}, &one)); got != "refused" {
		t.Errorf("reopened while it is followed: %q", got)
	}
	for _, order := range []struct{ path, want string }{
		{"r-2/resume", "refused"}, {"r-2/pause", ""}, {"r-2/resume", ""}, {"r-2/withdraw", ""}, {"r-7/pause", "not_found"},
	} {
		if got := code(t, c.Post(ctx, "calendars/"+order.path, Decision{Actor: "ann", Reason: "sale", Drop: true}, &x)); got != order.want {
			t.Errorf("%s: %q", order.path, got)
		}
	}
	if got := strings.Join(p.orders[1:], "; "); got != "resume r-2 by ann; pause (sale) r-2 by ann; resume r-2 by ann; withdraw (true) r-2 by ann; pause (sale) r-7 by ann" {
		t.Error(got)
	}
	var all []calendar.Calendar
	if err := c.Get(ctx, "calendars", &all); err != nil || len(all) != 1 || all[0].State != calendar.Withdrawing {
		t.Errorf("%v, %+v", err, all)
	}
	if got := code(t, c.Get(ctx, "calendars/r-7", &x)); got != "not_found" {
		t.Error(got)
	}
}
