package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Status is how things stand, in one answer: whether it is healthy, and what waits for a person.
type Status struct {
	Healthy   bool           `json:"healthy"`  // there is no problem
	Problems  []string       `json:"problems"` // each says what to do, or where to look
	Remarks   []string       `json:"remarks"`  // what works less well than it might
	Checks    []Check        `json:"checks"`
	Bypassed  bool           `json:"bypassed"`        // the kill-switch is on
	Fleet     *fleet.Fleet   `json:"fleet,omitempty"` // if several processes share the state
	Changes   map[string]int `json:"changes"`         // by state; those that are dropped are not counted
	Calendars map[string]int `json:"calendars"`       // by state
	Waits     []Waiting      `json:"waits"`
	Advised   time.Time      `json:"advised"` // the last round of advice of this process; zero if there was none
}

// Waiting is something that a person may decide.
type Waiting struct {
	ID    string `json:"id"`
	What  string `json:"what"`
	Order string `json:"order"` // the command that goes on with it
}

// status puts together how things stand.
func (s *Server) status(r *http.Request) (any, error) {
	st := Status{Problems: []string{}, Remarks: []string{}, Checks: s.o.Ready(), Changes: map[string]int{}, Calendars: map[string]int{}, Waits: []Waiting{}}
	for _, c := range st.Checks {
		switch {
		case !c.Ready:
			st.Problems = append(st.Problems, fmt.Sprintf("%s is not ready: %s", c.Name, c.Why))
		case c.Why != "":
			st.Problems = append(st.Problems, c.Name+": "+c.Why)
		}
	}
	st.Bypassed = s.o.Migrator.Bypassed().On
	if s.o.Members != nil {
		f := s.fleet()
		st.Fleet = &f
		st.Remarks = append(st.Remarks, f.Differences()...)
		for i := range f.Members {
			if v := &f.Members[i]; v.Silent != "" && !v.Self {
				st.Waits = append(st.Waits, Waiting{v.ID, "a member at " + v.Address + " that is silent for " + v.Silent, "helenus members remove " + v.ID + ", if it is gone for good"})
			}
		}
	}
	s.changes(&st)
	if err := s.advice(r.Context(), &st); err != nil {
		return nil, err
	}
	st.Healthy = len(st.Problems) == 0
	return st, nil
}

// changes adds the changes and calendars under way.
func (s *Server) changes(st *Status) {
	for _, m := range s.o.Migrator.Migrations() {
		if m.State == migrate.Dropped {
			continue
		}
		st.Changes[string(m.State)]++
		switch m.State {
		case migrate.Suspended, migrate.Failed:
			st.Problems = append(st.Problems, fmt.Sprintf("change %s is %s: %s", m.ID, m.State, m.Reason))
			st.Waits = append(st.Waits, Waiting{m.ID, "a change that is " + string(m.State), "helenus resume " + m.ID + ", or rollback"})
		case migrate.RolledBack:
			st.Waits = append(st.Waits, Waiting{m.ID, "a table that nothing reads any more", "helenus drop " + m.ID})
		}
		if m.Pending != "" {
			st.Problems = append(st.Problems, fmt.Sprintf("change %s: %s", m.ID, m.Pending))
		}
	}
	for _, c := range s.o.Calendars.Calendars() {
		st.Calendars[string(c.State)]++
		if c.State == calendar.Paused {
			st.Waits = append(st.Waits, Waiting{c.ID, "a calendar that is paused", "helenus resume " + c.ID + ", or rollback"})
		}
	}
}

// advice adds what is advised and not decided.
func (s *Server) advice(ctx context.Context, st *Status) error {
	all, err := s.o.Advisor.Recommendations(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		one := &all[i]
		if !one.Undecided() {
			continue
		}
		w := Waiting{one.ID, "advice: " + one.Title, "helenus explain " + one.ID}
		if why := s.awaits(ctx, one); why != "" {
			w.What, w.Order = "an approval: "+why, "helenus approve "+one.ID
		}
		st.Waits = append(st.Waits, w)
	}
	if a := s.o.Advisor.Latest(); a != nil {
		st.Advised, st.Remarks = a.At, append(st.Remarks, a.Problems...)
	}
	// The readiness of the process says so, too.
	if why := s.o.Advisor.Trouble(); why != "" && !slices.Contains(st.Problems, "advice: "+why) {
		st.Problems = append(st.Problems, "advice: "+why)
	}
	return nil
}
