package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// calendars plays the Keeper.
type calendars struct{ *parts }

func (c calendars) Approve(_ context.Context, id string, p plan.Calendar, _ cycle.Cycle, l calendar.Limits, actor string, admit change.Admission) (calendar.Calendar, error) {
	if c.refuse != nil {
		return calendar.Calendar{}, c.refuse
	}
	if err := l.Check(time.Now()); err != nil {
		return calendar.Calendar{}, err
	}
	if _, err := admit(&change.Record{ID: id}); err != nil {
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

func (c calendars) Holds(lu *plan.Rewrite) string {
	for _, x := range c.calendars {
		if x.Plan.Seasons[0].Rewrite.Table == lu.Table {
			return x.ID
		}
	}
	return ""
}

// A timeline is approved with limits, its changes by themselves, and while it is followed its look-ups can not be approved besides.
func TestCalendars(t *testing.T) {
	p := someParts()
	p.all = append(p.all, recommend.Recommendation{ID: "r-2", Kind: recommend.TimelineKind, State: recommend.Open, Eligible: true,
		Timeline: &recommend.Timeline{Calendar: plan.Calendar{Seasons: []plan.Season{{Rewrite: plan.Rewrite{Table: "t"}}}}}})
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
		if got := code(t, c.Post(ctx, "calendars/"+order.path, Decision{Actor: "ann", Reason: "sale", Drop: strings.HasSuffix(order.path, "withdraw")}, &x)); got != order.want {
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

// Bodies that make no sense, or that mean something for another order only, are refused, with what is wrong, and nothing is done.
func TestCalendarBadBodies(t *testing.T) {
	p := someParts()
	p.all = append(p.all, recommend.Recommendation{ID: "r-2", Kind: recommend.TimelineKind, State: recommend.Open, Eligible: true,
		Timeline: &recommend.Timeline{Calendar: plan.Calendar{Seasons: []plan.Season{{Rewrite: plan.Rewrite{Table: "t"}}}}}})
	c := serve(t, p, false)
	post := func(path, body string) (int, string) {
		t.Helper()
		return ask(t, c, http.MethodPost, "/api/v1/"+path, c.Token, body)
	}
	const approve = "recommendations/r-2/approve"
	for _, x := range []struct {
		path, body string
		code       int
		says       string
	}{
		{approve, `{"limits": 3}`, 400, "limits"},
		{approve, `{"limits": {"changes_per_day": "4"}}`, 400, "changes_per_day"},
		{approve, `{"limits": {"changes_per_day": 1.5}}`, 400, "changes_per_day"},
		{approve, `{"limits": {"changes_per_day": -1}}`, 400, "-1 changes a day"},
		{approve, `{"limits": {"max_bytes": -1}}`, 400, "-1 bytes at most"},
		{approve, `{"limits": {"max_bytes": 1e999}}`, 400, "max_bytes"},
		{approve, `{"limits": {"max_bytes": "2GB"}}`, 400, "max_bytes"},
		{approve, `{"limits": {"until": "soon"}}`, 400, "soon"},
		{approve, `{"limits": {"until": "2001-01-01T00:00:00Z"}}`, 400, "over already"},
		{approve, `{"limits": {"windows": "22:00-06:00"}}`, 400, "windows"},
		{approve, `{"limits": {"windows": ["22:00"]}}`, 400, "is not like 22:00-06:00"},
		{approve, `{"limits": {"windows": ["08:00-08:00"]}}`, 400, "ends at another time than it begins"},
		{approve, `{"limits": {"windows": [null]}}`, 400, "ends at another time than it begins"},
		{approve, `{"limits": {"windows": ["2251799813685248:00-06:00"]}}`, 400, "is not like 22:00-06:00"},
		{approve, `{"limits": {"each": "yes"}}`, 400, "each"},
		{approve, `{"limits": {"perday": 1}}`, 400, "perday"},
		{approve, `{"each": true}`, 400, "each"},
		{approve, `{"drop": true}`, 400, "say drop within limits"},
		{approve, `{"actor": "ann"} {"limits": {"each": true}}`, 400, "something after it"},
		{approve, `{"actor": "ann"`, 400, "unexpected EOF"},
		{approve, `[]`, 400, "the body must be JSON"},
		{"recommendations/r-2/reject", `{"reason": "no", "limits": {}}`, 400, "limits are for approving"},
		{"recommendations/r-2.1/approve", `{}`, 404, "approve r-2 first"},
		{"recommendations/r-9.1/approve", `{}`, 404, "r-9.1"},
	} {
		if code, text := post(x.path, x.body); code != x.code || !strings.Contains(text, x.says) {
			t.Errorf("%s %s: %d %s, and %d and %q were expected", x.path, x.body, code, text, x.code, x.says)
		}
	}
	if len(p.calendars) != 0 || len(p.orders) != 0 || p.all[1].State != recommend.Open {
		t.Fatalf("something was done: %+v, %v, it is %s", p.calendars, p.orders, p.all[1].State)
	}

	if code, text := post(approve, `{"actor": "ann", "limits": {"each": true, "windows": ["22:00-06:00"]}}`); code != 200 {
		t.Fatal(code, text)
	}
	for _, x := range []struct {
		path, body string
		code       int
		says       string
	}{
		{approve, ``, 409, "approved"},
		{"recommendations/r-2.7/approve", ``, 404, "calendar r-2 has no table r-2.7: they go from r-2.1 to r-2.1"},
		{"recommendations/r-2.1/approve", `{"limits": {}}`, 400, "approve its next change without any"},
		{"calendars/r-2/pause", `{"drop": true}`, 400, "drop is for withdrawing"},
		{"calendars/r-2/pause", `{"limits": {"each": true}}`, 400, "limits are for approving"},
		{"calendars/r-2/withdraw", `{"limits": {}}`, 400, "limits are for approving"},
		{"calendars/r-2/withdraw", `{"drop": 1}`, 400, "drop"},
		{"calendars/r-2/approve", `{}`, 404, ""},
		{"migrations/r-2/drop", `{}`, 404, "r-2 is a calendar (following); its changes are r-2.1 and so on"},
		{"migrations/r-2.1/drop", `{}`, 404, "there is no change r-2.1"},
	} {
		if code, text := post(x.path, x.body); code != x.code || !strings.Contains(text, x.says) {
			t.Errorf("%s %s: %d %s, and %d and %q were expected", x.path, x.body, code, text, x.code, x.says)
		}
	}
	if len(p.orders) != 0 || p.calendars[0].State != calendar.Following {
		t.Errorf("something was done: %v, it is %s", p.orders, p.calendars[0].State)
	}
}
