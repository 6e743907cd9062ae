package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Calendars is what the API needs of package rewrite/calendar. *calendar.Keeper is one.
type Calendars interface {
	Approve(ctx context.Context, id string, p plan.Calendar, c cycle.Cycle, l calendar.Limits, actor string, admit change.Admission) (calendar.Calendar, error)
	Grant(ctx context.Context, season, actor string) (c calendar.Calendar, create bool, err error)
	Pause(ctx context.Context, id, reason, actor string) (calendar.Calendar, error)
	Resume(ctx context.Context, id, actor string) (calendar.Calendar, error)
	Withdraw(ctx context.Context, id string, remove bool, reason, actor string) (calendar.Calendar, error)
	Calendars() []calendar.Calendar
	Calendar(id string) (calendar.Calendar, error)
	// Of finds the calendar of a season's id, Holds the one that has a look-up, "" if none has.
	Of(season string) (id string, n int, ok bool)
	Holds(lu *plan.Rewrite) string
}

// calendarRoutes are the routes about calendars under way.
func (s *Server) calendarRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/calendars", func(*http.Request) (any, error) { return s.o.Calendars.Calendars(), nil })
	route("GET /api/v1/calendars/{id}", func(r *http.Request) (any, error) { return s.o.Calendars.Calendar(r.PathValue("id")) })
	for order, do := range map[string]func(r *http.Request, id string, d Decision) (calendar.Calendar, error){
		"pause": func(r *http.Request, id string, d Decision) (calendar.Calendar, error) {
			return s.o.Calendars.Pause(r.Context(), id, d.Reason, d.Actor)
		},
		"resume": func(r *http.Request, id string, d Decision) (calendar.Calendar, error) {
			return s.o.Calendars.Resume(r.Context(), id, d.Actor)
		},
		"withdraw": func(r *http.Request, id string, d Decision) (calendar.Calendar, error) {
			return s.o.Calendars.Withdraw(r.Context(), id, d.Drop, d.Reason, d.Actor)
		},
	} {
		route("POST /api/v1/calendars/{id}/"+order, func(r *http.Request) (any, error) {
			read := decision
			if order == "withdraw" {
				read = anyDecision
			}
			d, err := read(r)
			switch {
			case err != nil:
				return nil, err
			case d.ofChange():
				return nil, invalid("on_entry_failure, fill and despite are for approving a change, not for a calendar")
			case d.For != "":
				return nil, invalid("for is how long to snooze advice")
			case d.Limits != nil:
				return nil, invalid("limits are for approving a timeline, not for withdrawing its calendar")
			}
			return do(r, r.PathValue("id"), d)
		})
	}
}

// approve has a change begin: that it may, that it is approved, by whom, and its first state are one transaction of whoever carries it out. The id
// of a calendar's season approves its next change.
func (s *Server) approve(r *http.Request) (any, error) {
	d, err := anyDecision(r)
	if err != nil {
		return nil, err
	}
	if d.For != "" {
		return nil, invalid("for is how long to snooze: an approval lasts")
	}
	if d.Drop {
		return nil, invalid("drop is for withdrawing a calendar; to approve a timeline so that all is dropped when it ends, say drop within limits")
	}
	terms, err := d.terms()
	if err != nil {
		return nil, err
	}
	ctx, id := r.Context(), r.PathValue("id")
	if of, n, ok := s.o.Calendars.Of(id); ok {
		if d.Limits != nil || d.ofChange() {
			return nil, invalid(fmt.Sprintf("%s is one table of calendar %s, which has limits already: approve its next change without any", id, of))
		}
		if proposed, err := s.secondOfChange(r, of, n, &d); proposed != nil || err != nil {
			return proposed, err
		}
		c, _, err := s.o.Calendars.Grant(ctx, id, d.Actor)
		if err == nil {
			s.settled(ctx, id)
		}
		return c, err
	}
	one, err := s.o.Advisor.Recommendation(ctx, id)
	if err != nil {
		return nil, s.noSeason(ctx, id, err)
	}
	if err := s.approvable(&one, &d); err != nil {
		return nil, err
	}
	if proposed, err := s.secondOf(r, &one, &d); proposed != nil || err != nil {
		return proposed, err
	}
	if err := advisor.Approvable(&one, terms.Despite...); err != nil { // it is asked again when it begins
		return nil, s.standing(one.ID, err)
	}
	terms.Admit = s.o.Advisor.Admit(d.Actor, terms.Despite...)
	begun, err := s.carryOut(ctx, &one, &d, terms)
	if err == nil {
		s.settled(ctx, one.ID)
	}
	return begun, err
}

// standing has what is said of a proposal be of where its change stands.
func (s *Server) standing(id string, err error) error {
	for _, m := range s.o.Migrator.Migrations() {
		if m.ID == id {
			return advisor.Standing(err, m.State)
		}
	}
	return err
}

// noSeason says of an id like r-1.7, which is no recommendation's, what is wrong with it, if r-1 is a calendar or could be one; else otherwise.
func (s *Server) noSeason(ctx context.Context, id string, otherwise error) error {
	of, _, dotted := strings.Cut(id, ".")
	if !dotted {
		return otherwise
	}
	if c, err := s.o.Calendars.Calendar(of); err == nil {
		return notFound(fmt.Sprintf("calendar %s has no table %s: they go from %s to %s", of, id, c.Seasons[0].ID, c.Seasons[len(c.Seasons)-1].ID))
	}
	if one, err := s.o.Advisor.Recommendation(ctx, of); err == nil && one.Kind == recommend.TimelineKind {
		return notFound(fmt.Sprintf("there is no %s yet: approve %s first (`helenus approve %s --each`)", id, of, of))
	}
	return otherwise
}

// approvable refuses what a calendar under way forbids, and limits where there is no calendar.
func (s *Server) approvable(one *recommend.Recommendation, d *Decision) error {
	if one.Kind != recommend.TimelineKind && d.Limits != nil {
		return invalid(fmt.Sprintf("limits are for a timeline; %s is a %s", one.ID, one.Kind))
	}
	if one.Kind == recommend.TimelineKind && d.ofChange() {
		return invalid(fmt.Sprintf("%s is a timeline: its tables turn reads back if an entry can not be written, are filled by Helenus, and it can not be approved despite a condition", one.ID))
	}
	if one.Rewrite == nil {
		return nil
	}
	if by := s.o.Calendars.Holds(one.Rewrite); by != "" {
		return &Error{Status: http.StatusConflict, Code: "refused",
			Message: fmt.Sprintf("calendar %s has this look-up: withdraw it first (`helenus rollback %s`)", by, by)}
	}
	return nil
}

// carryOut begins what was approved.
func (s *Server) carryOut(ctx context.Context, one *recommend.Recommendation, d *Decision, terms migrate.Terms) (any, error) {
	if one.Kind != recommend.TimelineKind {
		return s.o.Migrator.ApproveOn(ctx, one.ID, *one.Rewrite, terms)
	}
	limits := calendar.Limits{}
	if d.Limits != nil {
		limits = *d.Limits
	}
	return s.o.Calendars.Approve(ctx, one.ID, one.Timeline.Calendar, one.Timeline.Cycle, limits, d.Actor, terms.Admit)
}
