package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// order is something that a person may have done about a change.
type order struct {
	Name   string // in the address
	Label  string // on the button
	Danger bool   // it makes or takes away something
	Reason bool   // it may be given a reason
	Must   bool   // the reason is needed
	path   func(id string) string
	when   func(*changePage) bool
	happen func(*changePage) []string          // what will happen, before the button
	typed  func(*changePage) (what, is string) // what is to be typed, and its text; nil: nothing
	cli    string
}

// orderKinds are all orders, in the order of their buttons.
var orderKinds = []order{
	{Name: "approve", Label: "Approve", path: under("recommendations", "approve"), cli: "helenus approve", when: func(p *changePage) bool { return p.Rec != nil && approvable(p.Rec) },
		happen: approval, typed: func(p *changePage) (string, string) { return "its id", p.ID }},
	{Name: "reject", Label: "Reject", Reason: true, Must: true, path: under("recommendations", "reject"), cli: "helenus reject", when: func(p *changePage) bool { return p.Rec != nil && p.Rec.State == recommend.Open },
		happen: func(*changePage) []string {
			return []string{"It is listed no more among what is open. Nothing changes in the cluster.", "It is opened again by itself when the facts change materially, and by you at any time (Reopen)."}
		}},
	{Name: "reopen", Label: "Reopen", Reason: true, path: under("recommendations", "reopen"), cli: "helenus reopen", when: func(p *changePage) bool { return p.Rec != nil && p.Rec.State == recommend.Rejected },
		happen: func(*changePage) []string { return []string{"It is open again. Nothing changes in the cluster."} }},
	{Name: "resume", Label: "Resume", path: under("migrations", "resume"), cli: "helenus resume", when: inState(migrate.Suspended, migrate.Failed),
		happen: func(p *changePage) []string {
			if p.Mig.Rewrite.Table == "" {
				return []string{"Reads are compared first, and answered otherwise than they were written once all agree.", "If the cause is still there, it stops again and says so."}
			}
			return []string{"The base table and " + tableOf(p.Mig) + " are compared first, in both directions; what is missing is written.", "Then reads are compared, and answered from it again once all agree.", "If the cause is still there, it stops again and says so."}
		}},
	{Name: "rollback", Label: "Roll back", Danger: true, path: under("migrations", "rollback"), cli: "helenus rollback",
		when: inState(migrate.Approved, migrate.Created, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Serving, migrate.Suspended, migrate.Failed),
		happen: func(p *changePage) []string {
			if p.Mig.Rewrite.Table == "" {
				return []string{"At once, reads and writes run as the application wrote them. No answer is lost, none is refused."}
			}
			return []string{"At once, reads and writes run as the application wrote them. No answer is lost, none is refused.", "The table " + tableOf(p.Mig) + " stays, and is not kept any more; you may drop it afterwards.", "To have it again it must be dropped, approved and filled anew."}
		}},
	{Name: "drop", Label: "Drop its table", Danger: true, path: under("migrations", "drop"), cli: "helenus drop", when: inState(migrate.RolledBack),
		happen: func(p *changePage) []string {
			if p.Mig.Rewrite.Table == "" {
				return []string{"It has no table. The advice is open again, and may be approved again."}
			}
			return []string{"DROP TABLE " + tableOf(p.Mig) + " (Cassandra may keep a snapshot of it, as auto_snapshot says).", "The application's own table " + p.Mig.Rewrite.Keyspace + "." + p.Mig.Rewrite.Base + " is not touched.", "The advice is open again, and may be approved again. The table itself does not come back: it would be filled anew."}
		},
		typed: func(p *changePage) (string, string) {
			if p.Mig.Rewrite.Table == "" {
				return "its id", p.ID
			}
			return "the table's name", tableOf(p.Mig)
		}},
	{Name: "pause", Label: "Pause the calendar", Reason: true, path: under("calendars", "pause"), cli: "helenus pause", when: inCalendar(calendar.Following),
		happen: func(*changePage) []string {
			return []string{"No change begins until it is resumed. What serves goes on serving."}
		}},
	{Name: "continue", Label: "Resume the calendar", path: under("calendars", "resume"), cli: "helenus resume", when: inCalendar(calendar.Paused),
		happen: func(*changePage) []string { return []string{"Changes begin again when they are due."} }},
	{Name: "withdraw", Label: "Withdraw the calendar", Danger: true, Reason: true, path: under("calendars", "withdraw"), cli: "helenus rollback", when: inCalendar(calendar.Following, calendar.Paused),
		happen: func(*changePage) []string {
			return []string{"No table comes any more. What is being made is rolled back and dropped; what serves is left to serve, and named.", "The application's own tables are not touched."}
		},
		typed: func(p *changePage) (string, string) { return "its id", p.ID }},
}

func under(kind, order string) func(string) string {
	return func(id string) string { return kind + "/" + url.PathEscape(id) + "/" + order }
}

func inState(states ...migrate.State) func(*changePage) bool {
	return func(p *changePage) bool { return p.Mig != nil && slices.Contains(states, p.Mig.State) }
}

func inCalendar(states ...calendar.State) func(*changePage) bool {
	return func(p *changePage) bool { return p.Calendar != nil && slices.Contains(states, p.Calendar.State) }
}

func tableOf(m *migrate.Migration) string { return m.Rewrite.Keyspace + "." + m.Rewrite.Table }

// approvable tells whether a person may approve a recommendation, if need be despite conditions.
func approvable(r *recommend.Recommendation) bool {
	if r.State != recommend.Open || !r.Executable() {
		return false
	}
	return r.Eligible || len(overrulable(r)) > 0 && !slices.ContainsFunc(r.Verdicts, func(v plan.Verdict) bool { return v.Refused && v.Statement == "" && !v.Overrulable() })
}

// overrulable are the conditions that a person may pass over.
func overrulable(r *recommend.Recommendation) (list []plan.Verdict) {
	for _, v := range r.Verdicts {
		if v.Overrulable() {
			list = append(list, v)
		}
	}
	return list
}

// approval is what will happen, with its numbers.
func approval(p *changePage) (list []string) {
	r := p.Rec
	if r.Kind == recommend.TimelineKind {
		return []string{
			"Its tables come and go with the cycle of the traffic until you withdraw it; each is created, filled, verified and compared before it serves.",
			fmt.Sprintf("They take %s at most, before replication.", sizes(r.StorageBytes)),
			"The application's own tables are not altered. You can withdraw it at any time.",
		}
	}
	if r.Rewrite != nil && r.Rewrite.Table != "" {
		list = append(list, fmt.Sprintf("CREATE TABLE %s.%s, about %s before replication.", r.Rewrite.Keyspace, r.Rewrite.Table, sizes(r.StorageBytes)))
	}
	var writes float64
	for i := range r.Writes {
		writes += r.Writes[i].PerSecond
	}
	if writes > 0 {
		list = append(list, fmt.Sprintf("From then on %s (%s in all) keep it: up to %.1f times as long as now, %s requests inside Cassandra for each.", plural(len(r.Writes), "write statement", "write statements"), rate(writes), r.WriteCostRatio, three(r.WriteRequests)))
	}
	if r.Rewrite != nil && r.Rewrite.Table == "" {
		return append(list, "No table is made. Reads are compared first; only when all agree are they answered otherwise than they were written.",
			"The application's own table is never altered. Roll back at any time, and statements run as written at once.")
	}
	list = append(list,
		"The rows of now are copied in the background; that waits by itself whenever the cluster has other things to do.",
		"Both tables are compared, then reads are; only when all agree are reads answered from it.",
		"The application's own table is never altered. Everything can be undone: roll back at any time, and statements run as written at once.")
	return list
}

// orders are those that may be given now.
func (p *changePage) orders() (list []order) {
	for _, o := range orderKinds {
		if o.when(p) {
			list = append(list, o)
		}
	}
	return list
}

// CLI is the same order at the command line.
func (o order) CLI(id string) string {
	text := o.cli + " " + id
	if o.Must {
		text += " --reason '...'"
	}
	return text
}

// orderPage says what would happen before the button.
type orderPage struct {
	Order    order
	Change   *changePage
	Happens  []string
	What, Is string // what is to be typed
	Despite  []plan.Verdict
	Fails    bool // it can be said what becomes of writes whose entry can not be written
	Error    string
	Given    url.Values
	Claims   bool
}

func (c *console) orderOf(r *request) (*orderPage, error) {
	change, err := c.changeOf(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("order")
	known := slices.IndexFunc(orderKinds, func(o order) bool { return o.Name == name })
	if known < 0 {
		return nil, &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
	}
	o := orderKinds[known]
	if !o.when(change) {
		return nil, &admin.Error{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("%s is %s, so it can not be asked to %s now. Somebody may have decided meanwhile; its page says what can be done.", change.ID, change.State, o.Name)}
	}
	p := &orderPage{Order: o, Change: change, Happens: o.happen(change), Claims: r.who.Claims}
	if o.typed != nil {
		p.What, p.Is = o.typed(change)
	}
	if o.Name == "approve" {
		p.Despite = overrulable(change.Rec)
		p.Fails = change.Rec.Rewrite != nil && change.Rec.Rewrite.Table != ""
	}
	return p, nil
}

func (c *console) order(r *request) error {
	p, err := c.orderOf(r)
	if err != nil {
		return err
	}
	return c.show(r, "order", frame{Title: p.Order.Label + ": " + p.Change.Title, Here: "recommendations", Page: p})
}

// give gives an order, and leads back to the change.
func (c *console) give(r *request) error {
	p, err := c.orderOf(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return &admin.Error{Status: http.StatusBadRequest, Code: "invalid", Message: "The form could not be read: " + err.Error()}
	}
	p.Given = r.PostForm
	refuse := func(status int, why string) error {
		p.Error = why
		return c.write(r.w, status, "order", frame{Title: p.Order.Label + ": " + p.Change.Title, Here: "recommendations", Who: &r.who, Page: p})
	}
	d := &admin.Decision{Actor: r.who.Name, Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	if name := strings.TrimSpace(r.PostForm.Get("actor")); r.who.Claims && name != "" {
		d.Actor = name
	}
	switch {
	case p.What != "" && strings.TrimSpace(r.PostForm.Get("typed")) != p.Is:
		return refuse(http.StatusBadRequest, fmt.Sprintf("Nothing was done: type %s, %s, to confirm.", p.What, p.Is))
	case p.Order.Must && d.Reason == "":
		return refuse(http.StatusBadRequest, "Nothing was done: say why, so that the next person knows.")
	}
	if p.Order.Name == "approve" {
		d.Despite = r.PostForm["despite"]
		if p.Fails {
			d.OnEntryFailure = r.PostForm.Get("on_entry_failure")
		}
	}
	if _, err := c.o.API.Ask(r.Context(), http.MethodPost, p.Order.path(p.Change.ID), d); err != nil {
		status := http.StatusInternalServerError
		if e := new(admin.Error); errors.As(err, &e) {
			status = e.Status
		}
		return refuse(status, err.Error())
	}
	c.o.Log.Info("an order was given in the console", "order", p.Order.Name, "change", p.Change.ID, "actor", d.Actor, "remote", r.RemoteAddr)
	http.Redirect(r.w, r.Request, "/ui/changes/"+url.PathEscape(p.Change.ID), http.StatusSeeOther)
	return nil
}
