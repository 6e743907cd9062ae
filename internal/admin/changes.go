package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Changes is what the API needs of package change. *change.Book is one.
type Changes interface {
	All(ctx context.Context) ([]change.Record, error)
}

// Change is a change, in one state, whatever has been done about it.
type Change struct {
	ID       string       `json:"change_id"`
	State    change.State `json:"state"`
	Since    time.Time    `json:"since"`
	Until    time.Time    `json:"until,omitzero"`    // of a snoozed one: when it is proposed again
	Actor    string       `json:"actor,omitempty"`   // who decided about its proposal, or approved it; "" for Helenus itself
	Reason   string       `json:"reason,omitempty"`  // why it is in the state, or does not go on
	Pending  string       `json:"pending,omitempty"` // an order that is in force, and not stored yet
	Done     float64      `json:"done,omitempty"`    // how much of the work of its state is done, 0 to 1
	Part     string       `json:"part_of,omitempty"` // the calendar that it is a table of
	Kind     string       `json:"kind"`
	Title    string       `json:"title"`
	Keyspace string       `json:"keyspace,omitempty"`
	Table    string       `json:"table,omitempty"`                    // the application's
	Saves    float64      `json:"saved_seconds_per_second,omitempty"` // as advised

	// Of one change alone; what is not there is left out.
	Advice   *recommend.Recommendation `json:"advice,omitempty"`
	Work     *migrate.Change           `json:"work,omitempty"`
	Calendar *calendar.Calendar        `json:"calendar,omitempty"`
}

// changeRoutes are the routes about changes. Those below recommendations and migrations are what they were called until the last release.
func (s *Server) changeRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/changes", s.changesAnswer)
	route("GET /api/v1/changes/{id}", s.change)
	for order, do := range map[string]func(*http.Request) (any, error){
		"approve": s.approve, "dismiss": s.dismiss, "snooze": s.snooze, "reopen": s.reopen,
		"throttle": s.throttle, "rollback": s.order(s.o.Migrator.Rollback), "resume": s.order(s.o.Migrator.Resume), "verify": s.order(s.verify), "filled": s.order(s.filled), "hold": s.order(s.o.Migrator.Hold), "cut-over": s.order(s.o.Migrator.CutOver), "drop": s.order(s.o.Migrator.Drop),
	} {
		route("POST /api/v1/changes/{id}/"+order, do)
		switch order {
		case "approve", "reopen":
			route("POST /api/v1/recommendations/{id}/"+order, do)
		case "dismiss":
			route("POST /api/v1/recommendations/{id}/reject", do)
		case "snooze", "hold", "cut-over", "filled":
		default:
			route("POST /api/v1/migrations/{id}/"+order, do)
		}
	}
	route("GET /api/v1/changes/{id}/spark", func(r *http.Request) (any, error) {
		script, err := s.o.Migrator.Spark(r.PathValue("id"))
		return text(script), err
	})
	route("GET /api/v1/migrations", s.migrations)
	route("GET /api/v1/migrations/{id}", s.migration)
}

// all are all changes by id, with what belongs to each.
func (s *Server) all(ctx context.Context) ([]Change, error) {
	records, err := s.o.Changes.All(ctx)
	if err != nil {
		return nil, err
	}
	advice, err := s.o.Advisor.Recommendations(ctx)
	if err != nil {
		return nil, err
	}
	work, calendars := s.o.Migrator.Migrations(), s.o.Calendars.Calendars()
	list := make([]Change, 0, len(records))
	for i := range records {
		c := changeOf(&records[i])
		for n := range advice {
			if advice[n].ID == c.ID {
				c.advised(&advice[n])
			}
		}
		for n := range work {
			if work[n].ID == c.ID {
				c.worked(&work[n])
			}
		}
		for n := range calendars {
			if calendars[n].ID == c.ID {
				c.followed(&calendars[n])
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// changeOf is a change as it is stored.
func changeOf(r *change.Record) Change {
	return Change{ID: r.ID, State: r.State, Since: r.Since, Until: r.Until, Actor: r.Last.Actor, Reason: r.Last.Reason, Part: r.Part}
}

func (c *Change) advised(r *recommend.Recommendation) {
	c.Advice = r
	c.Kind, c.Title, c.Keyspace, c.Table, c.Saves = string(r.Kind), r.Title, r.Keyspace, r.Table, r.SavedSecondsPerSecond
	if c.State.Proposal() {
		c.Actor, c.Reason, c.Since, c.Until = r.Actor, r.StateReason, r.StateSince, r.Until
		if r.State == recommend.Open { // a snooze that is over, too
			c.State = change.Proposed
		}
	}
}

// worked adds how it is carried out: what is in force may not be stored yet.
func (c *Change) worked(m *migrate.Change) {
	c.Work = m
	if c.State.Proposal() {
		return
	}
	c.State, c.Since, c.Actor, c.Reason, c.Pending = m.State, m.Progress.Started, m.Actor, m.Waits(), m.Pending
	if c.Reason == "" && m.Hold && m.State != migrate.Serving {
		c.Reason = "to be held in shadow until `helenus cut-over`"
	}
	if m.Progress.Total > 0 && (m.State == migrate.Backfill || m.State == migrate.Verify || m.State == migrate.Shadow) {
		c.Done = m.Progress.Ratio
	}
	if c.Title == "" {
		c.Kind, c.Title, c.Keyspace, c.Table = m.Rewrite.Kind, m.Title, m.Rewrite.Keyspace, m.Rewrite.Base
	}
}

func (c *Change) followed(x *calendar.Calendar) {
	c.Calendar = x
	if c.State.Proposal() {
		return
	}
	c.Actor, c.Reason = x.Actor, x.Reason
	if c.Title == "" {
		c.Kind, c.Title = string(recommend.TimelineKind), "tables that follow a cycle"
	}
}

// changesAnswer lists changes: ?state=serving,suspended of these states only.
func (s *Server) changesAnswer(r *http.Request) (any, error) {
	list, err := s.all(r.Context())
	if err != nil {
		return nil, err
	}
	wanted := map[change.State]bool{}
	for state := range strings.SplitSeq(r.URL.Query().Get("state"), ",") {
		if state != "" {
			wanted[change.State(state)] = true
		}
	}
	for state := range wanted {
		if !state.Proposal() && state != change.Dropped && !state.Underway() {
			return nil, invalid(fmt.Sprintf("there is no state %q; they are %s", state, namesOf(change.States)))
		}
	}
	out := []Change{}
	for i := range list {
		c := list[i]
		if len(wanted) > 0 && !wanted[c.State] {
			continue
		}
		c.Advice, c.Work, c.Calendar = nil, nil, nil
		out = append(out, c)
	}
	return out, nil
}

func namesOf(states []change.State) string {
	list := make([]string, len(states))
	for i, s := range states {
		list[i] = string(s)
	}
	return strings.Join(list, ", ")
}

// change tells of one, by its id or the beginning of it.
func (s *Server) change(r *http.Request) (any, error) {
	list, err := s.all(r.Context())
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	var found *Change
	for i := range list {
		switch c := &list[i]; {
		case c.ID == id:
			return *c, nil
		case !strings.HasPrefix(c.ID, id) || len(id) < leastOfID:
		case found != nil:
			return nil, invalid(fmt.Sprintf("more than one change begins with %q: %s and %s", id, found.ID, c.ID))
		default:
			found = c
		}
	}
	if found == nil {
		return nil, notFound(fmt.Sprintf("there is no change %s; `helenus changes` lists them", id))
	}
	return *found, nil
}

// leastOfID is how much of an id has to be given.
const leastOfID = 3

func (s *Server) dismiss(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(d.Reason) == "" {
		return nil, invalid("a dismissal needs a reason (--why), so that the next person knows")
	}
	return s.o.Advisor.Dismiss(r.Context(), r.PathValue("id"), d.Reason, d.Actor)
}

// snooze puts a proposal off.
func (s *Server) snooze(r *http.Request) (any, error) {
	d, err := anyDecision(r)
	switch {
	case err != nil:
		return nil, err
	case d.ofChange() || d.Limits != nil || d.Drop:
		return nil, invalid("a snooze has a reason and a length (for), and nothing else")
	case strings.TrimSpace(d.Reason) == "":
		return nil, invalid("a snooze needs a reason (--why), so that the next person knows")
	}
	length, err := time.ParseDuration(d.For)
	if err != nil || length < advisor.MinSnooze || length > advisor.MaxSnooze {
		return nil, invalid(fmt.Sprintf("for is how long to snooze, like 168h, from %s to %s, not %q", words.Span(advisor.MinSnooze), words.Span(advisor.MaxSnooze), d.For))
	}
	return s.o.Advisor.Snooze(r.Context(), r.PathValue("id"), length, d.Reason, d.Actor)
}

// reopen takes a dismissal or a snooze back. An approval is taken back by rolling the change back and dropping it.
func (s *Server) reopen(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	one, err := s.o.Advisor.Recommendation(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if one.State == recommend.Approved && one.Kind == recommend.TimelineKind {
		return nil, &advisor.StateError{ID: one.ID, State: one.State, Wish: "reopen", Why: "withdraw its calendar first (`helenus rollback " + one.ID + "`)"}
	}
	if one.State == recommend.Approved {
		return nil, s.standing(one.ID, &advisor.StateError{ID: one.ID, State: one.State, Wish: "reopen", Why: "roll it back and drop it first"})
	}
	return s.o.Advisor.Reopen(r.Context(), one.ID, d.Reason, d.Actor)
}

// verify says first who wanted it: it changes nothing, unless it finds something.
func (s *Server) verify(ctx context.Context, id, actor string) error {
	if err := s.noted(ctx, "verify", id, "", actor); err != nil {
		return err
	}
	return s.o.Migrator.Verify(ctx, id, actor)
}

// filled says first who says so: what follows is the change's own.
func (s *Server) filled(ctx context.Context, id, actor string) error {
	if err := s.noted(ctx, "filled", id, "", actor); err != nil {
		return err
	}
	return s.o.Migrator.Filled(ctx, id, actor)
}

// throttle changes the pace of a change.
func (s *Server) throttle(r *http.Request) (any, error) {
	d, err := readDecision(r)
	if err == nil {
		err = d.plain()
	}
	switch {
	case err != nil:
		return nil, err
	case d.Rate == nil && d.Paused == nil:
		return nil, invalid("a throttle needs a rate (rows a second, 0 for what the settings say), or paused")
	case d.Rate != nil && (*d.Rate < 0 || *d.Rate > migrate.MaxRate):
		return nil, invalid(fmt.Sprintf("rate is %d rows a second; it may be from 1 to %d, or 0 for what the settings say", *d.Rate, migrate.MaxRate))
	}
	if _, err := s.migration(r); err != nil {
		return nil, err
	}
	if err := s.o.Migrator.Throttle(r.Context(), r.PathValue("id"), migrate.ThrottleOrder{Rate: d.Rate, Paused: d.Paused}, d.Actor); err != nil {
		return nil, err
	}
	return s.migration(r)
}

func (s *Server) migrations(*http.Request) (any, error) {
	all := s.o.Migrator.Migrations()
	if all == nil {
		all = []migrate.Change{}
	}
	return all, nil
}

func (s *Server) migration(r *http.Request) (any, error) {
	id := r.PathValue("id")
	for _, m := range s.o.Migrator.Migrations() {
		if m.ID == id {
			return m, nil
		}
	}
	if c, err := s.o.Calendars.Calendar(id); err == nil {
		return nil, notFound(fmt.Sprintf("%s is a calendar (%s); its changes are %s and so on: `helenus changes %s` lists them", id, c.State, c.Seasons[0].ID, id))
	}
	if one, err := s.o.Advisor.Recommendation(r.Context(), id); err == nil {
		return nil, notFound(fmt.Sprintf("%s was not approved: it is advice, and nothing of it is under way; `helenus explain %s` says what it is", id, one.ID))
	}
	return nil, notFound(fmt.Sprintf("there is no change %s under way; `helenus changes` lists them", id))
}

func (s *Server) order(do func(ctx context.Context, id, actor string) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		d, err := decision(r)
		if err != nil {
			return nil, err
		}
		if _, err := s.migration(r); err != nil {
			return nil, err
		}
		if err := do(r.Context(), r.PathValue("id"), d.Actor); err != nil {
			return nil, err
		}
		return s.migration(r)
	}
}
