package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// changePage is one recommendation, and the change that carries it out once it is approved. One of them at least is there.
type changePage struct {
	ID, Title string
	Answer    string
	State     string
	Rec       *recommend.Recommendation
	Mig       *migrate.Change
	Calendar  *calendar.Calendar
	Orders    []order
	Who       admin.Person
	Rail      []stop
	Running   bool // something is being done: the page lives
	Refused   []plan.Verdict
	Passed    []plan.Verdict
}

// stop is one of the phases of a change, on the rail.
type stop struct {
	Name, Says string
	Kind       string // done, now, stopped or ahead
	At         time.Time
	Took       time.Duration
}

// phases are the stops, in order, and what is done at each.
var phases = []struct {
	state migrate.State
	says  string
}{
	{migrate.Approved, "its table is created"}, {migrate.Created, "on all nodes"}, {migrate.DualWrite, "writes keep it"}, {migrate.Backfill, "rows of before are copied"},
	{migrate.Verify, "both tables are compared"}, {migrate.Shadow, "reads are compared"}, {migrate.Serving, "reads are answered from it"},
}

// rail tells how far a change has come, by its latest passage through each phase.
func rail(m *migrate.Change) (stops []stop) {
	at := map[migrate.State]time.Time{migrate.Approved: m.Approved}
	for i := range m.Events {
		e := &m.Events[i]
		if i == 0 || m.Events[i-1].State != e.State {
			at[e.State] = e.Time
		}
	}
	reached := -1
	for i, p := range phases {
		if t := at[p.state]; !t.IsZero() {
			reached = i
		}
		if p.state == m.State {
			reached = i
			break
		}
	}
	for i, p := range phases {
		s := stop{Name: string(p.state), Says: p.says, Kind: "ahead"}
		switch {
		case i < reached || (i == reached && m.State == migrate.Serving):
			s.Kind, s.At = "done", at[p.state]
		case i == reached && p.state == m.State:
			s.Kind, s.At = "now", at[p.state]
		case i == reached:
			s.Kind, s.At = "stopped", at[p.state]
		}
		if i < reached && i+1 < len(phases) {
			if next := at[phases[i+1].state]; next.After(s.At) && !s.At.IsZero() {
				s.Took = next.Sub(s.At)
			}
		}
		stops = append(stops, s)
	}
	return stops
}

// running are the states in which something is being done.
var running = []migrate.State{migrate.Approved, migrate.Created, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.RollingBack}

// isNotFound tells whether an error says that there is no such thing.
func isNotFound(err error) bool {
	e := new(admin.Error)
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// changeOf asks for all that is known by an id.
func (c *console) changeOf(r *request) (*changePage, error) {
	p := &changePage{ID: r.PathValue("id")}
	id := url.PathEscape(p.ID)
	rec, err := ask[recommend.Recommendation](c, r, "recommendations/"+id)
	switch {
	case err == nil:
		p.Rec, p.Title, p.State = &rec, upper(rec.Title), string(rec.State)
		for _, v := range rec.Verdicts {
			if v.Refused {
				p.Refused = append(p.Refused, v)
			} else {
				p.Passed = append(p.Passed, v)
			}
		}
	case !isNotFound(err):
		return nil, err
	}
	m, err := ask[migrate.Change](c, r, "migrations/"+id)
	switch {
	case err == nil:
		p.Mig, p.Rail = &m, rail(&m)
		p.Running = slices.Contains(running, m.State)
		if p.Title == "" {
			p.Title = upper(m.Title)
		}
		if p.Rec == nil || p.Rec.State != recommend.Open { // an open one was dropped, and is advised again
			p.State = string(m.State)
		}
	case !isNotFound(err):
		return nil, err
	}
	cal, err := ask[calendar.Calendar](c, r, "calendars/"+id)
	switch {
	case err == nil:
		p.Calendar = &cal
		if p.Rec == nil || p.Rec.State != recommend.Open {
			p.State = string(cal.State)
		}
		if p.Title == "" {
			p.Title = "Tables that follow " + cal.ID
		}
	case !isNotFound(err):
		return nil, err
	}
	if p.Rec == nil && p.Mig == nil && p.Calendar == nil {
		return nil, &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no recommendation, change or calendar " + p.ID + ". It may have been forgotten; Recommendations lists what there is."}
	}
	p.Answer = p.answer()
	p.Orders, p.Who = p.orders(), r.who
	return p, nil
}

// Paces tells whether the person may change its pace now.
func (p *changePage) Paces() bool {
	return slices.ContainsFunc(p.Orders, func(o order) bool { return o.Name == "throttle" && o.Lacks(p.Who) == "" })
}

// Lacked are the roles that orders take and the person does not have, in words; "" if all may be given.
func (p *changePage) Lacked() string {
	var roles []string
	for _, o := range p.Orders {
		if role := string(o.Lacks(p.Who)); role != "" && !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	return strings.Join(roles, " or ")
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// answer is the first line: what it turned out to be worth, what is being done, or what it would be worth.
func (p *changePage) answer() string {
	if m := p.Mig; m != nil && p.State == string(m.State) {
		return answerOf(m)
	}
	if p.Calendar != nil && p.State == string(p.Calendar.State) {
		text := fmt.Sprintf("The calendar is %s: %s come and go with the traffic.", p.Calendar.State, plural(len(p.Calendar.Seasons), "table", "tables"))
		if p.Calendar.Reason != "" {
			text += " " + upper(p.Calendar.Reason)
		}
		return text
	}
	r := p.Rec
	if r.Kind == recommend.Keep {
		return "Leave it as it is: what looks improvable is the cheaper way on this cluster."
	}
	for i := range r.Statements {
		if s := &r.Statements[i]; r.Rewrite != nil && s.PredictedBeforeMs > 0 && s.PredictedAfterMs > 0 {
			text := fmt.Sprintf("Expected: %s instead of %s for each read, %s; it saves %s.", millis(s.PredictedAfterMs), millis(s.PredictedBeforeMs), rate(s.PerSecond), r.Gain())
			if r.WriteCostRatio > 1 {
				text += fmt.Sprintf(" Writes that pay take up to %.1f times as long; %s of storage.", r.WriteCostRatio, sizes(r.StorageBytes))
			}
			return text + r.Beside()
		}
	}
	text := fmt.Sprintf("It would save %s.", r.Gain())
	if r.Kind == recommend.ApplicationChange {
		text += " Helenus can not do this by itself: the application is to be changed, as sketched below."
	}
	return text
}

func answerOf(m *migrate.Change) string {
	switch m.State {
	case migrate.Serving:
		if g := m.Gain; g != nil && g.Reads.After != nil {
			ref := g.Reads.Before
			if g.Reads.Control != nil && g.Reads.Control.Count >= 20 {
				ref = g.Reads.Control
			}
			text := fmt.Sprintf("It serves: reads take %s", millis(g.Reads.After.P50Ms))
			if ref != nil {
				text += fmt.Sprintf(" instead of %s (%.1f times as fast", millis(ref.P50Ms), ref.P50Ms/max(g.Reads.After.P50Ms, 0.001))
				if g.Promised > 0 {
					text += fmt.Sprintf(", promised were %.1f", g.Promised)
				}
				text += ")"
			}
			return text + fmt.Sprintf(". %s in %s compared reads.", plural(int(m.Differed), "difference", "differences"), number(m.Compared))
		}
		return "It serves. No read was answered from it yet, so nothing is measured."
	case migrate.Suspended:
		return "It is suspended, so reads run as written and nothing is lost: " + m.Reason
	case migrate.Failed:
		return "It can not go on by itself; reads run as written: " + m.Reason
	case migrate.RolledBack:
		return "It was rolled back: statements run as written. Its table is still there; drop it, or leave it."
	case migrate.RollingBack:
		return "It is being rolled back: statements run as written."
	case migrate.Dropped:
		return "It was rolled back and its table dropped. Nothing of it is left."
	}
	text := fmt.Sprintf("Under way, at %s.", m.State)
	if m.Progress.Total > 0 {
		text = fmt.Sprintf("Under way, at %s: %s of %s %s", m.State, number(m.Progress.Done), number(m.Progress.Total), m.Progress.Unit)
		if m.Progress.ETA > 0 {
			text += ", about " + span(m.Progress.ETA) + " to go"
		}
		text += "."
	}
	if m.Progress.Throttled != "" {
		text += " It waits: " + m.Progress.Throttled + "."
	}
	return text + " Reads run as written meanwhile."
}

func (c *console) change(r *request) error {
	p, err := c.changeOf(r)
	if err != nil {
		return err
	}
	f := frame{Title: p.Title, Here: "recommendations", Page: p}
	if p.Running || p.Mig != nil && p.Mig.State == migrate.Serving {
		f.Follow = "/ui/changes/" + url.PathEscape(p.ID) + "/live"
	}
	if p.Running {
		f.Refresh = 5
	}
	return c.show(r, "change", f)
}
