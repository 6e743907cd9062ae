package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/preview"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// order is something that a person may have done about a change, as it stands on its page.
type order struct {
	Name   string // in the address, and among preview's
	Label  string // on the button
	Danger bool   // it makes or takes away something
	Reason bool   // it may be given a reason
	Must   bool   // the reason is needed
	For    bool   // it is for a while
	of, by string // which things of the API it is an order to, and what does it: POST of/ID/by
	cli    string
}

// orderKinds are all orders, in the order of their buttons.
var orderKinds = []order{
	{Name: "approve", Label: "Approve", of: "changes", by: "approve", cli: "helenus approve"},
	{Name: "snooze", Label: "Snooze", Reason: true, Must: true, For: true, of: "changes", by: "snooze", cli: "helenus snooze"},
	{Name: "dismiss", Label: "Dismiss", Reason: true, Must: true, of: "changes", by: "dismiss", cli: "helenus dismiss"},
	{Name: "reopen", Label: "Reopen", Reason: true, of: "changes", by: "reopen", cli: "helenus reopen"},
	{Name: "resume", Label: "Resume", of: "changes", by: "resume", cli: "helenus resume"},
	{Name: "hold", Label: "Hold before the cut-over", of: "changes", by: "hold", cli: "helenus hold"},
	{Name: "cut-over", Label: "Cut over", of: "changes", by: "cut-over", cli: "helenus cut-over"},
	{Name: "throttle", Label: "Throttle", of: "changes", by: "throttle", cli: "helenus throttle"},
	{Name: "rollback", Label: "Roll back", Danger: true, of: "changes", by: "rollback", cli: "helenus rollback"},
	{Name: "drop", Label: "Drop its table", Danger: true, of: "changes", by: "drop", cli: "helenus drop"},
	{Name: "pause", Label: "Pause the calendar", Reason: true, of: "calendars", by: "pause", cli: "helenus pause"},
	{Name: "continue", Label: "Resume the calendar", of: "calendars", by: "resume", cli: "helenus resume"},
	{Name: "withdraw", Label: "Withdraw the calendar", Danger: true, Reason: true, of: "calendars", by: "withdraw", cli: "helenus rollback"},
}

// preview is what the order would do, and when it can be given.
func (o *order) preview() *preview.Order { return preview.Orders[o.Name] }

// subject is what orders on a page are about.
func (p *changePage) subject() *preview.Subject {
	return &preview.Subject{ID: p.ID, Rec: p.Rec, Mig: p.Mig, Calendar: p.Calendar}
}

// typed is what is to be typed before an order is given. Here an approval is confirmed, too: a button is pressed sooner than a command is typed.
func (o *order) typed(s *preview.Subject) (what, text string) {
	if ask := o.preview().Typed; ask != nil {
		return ask(s)
	}
	if o.Name == "approve" {
		return "its id", s.ID
	}
	return "", ""
}

func (o order) path(id string) string { return o.of + "/" + url.PathEscape(id) + "/" + o.by }

// Lacks is the role that it takes and the person does not have; "" if it may be given.
func (o order) Lacks(who admin.Person) access.Role {
	if needed := admin.Needed("POST /api/v1/" + o.of + "/{id}/" + o.by); !who.Role.Allows(needed) {
		return needed
	}
	return ""
}

// orders are those that may be given now.
func (p *changePage) orders() (list []order) {
	for _, o := range orderKinds {
		if o.preview().When(p.subject()) {
			list = append(list, o)
		}
	}
	return list
}

// CLI is the same order at the command line.
func (o order) CLI(id string) string {
	text := o.cli + " " + id
	if o.For {
		text += " --for 7d"
	}
	if o.Must {
		text += " --why '...'"
	}
	if o.Name == "throttle" {
		text += " --rate 5000"
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
	Holds    bool              // it can be held before the cut-over
	Fails    bool              // it can be said what becomes of writes whose entry can not be written
	Bulk     bool              // a bulk job may fill its table
	Limits   bool              // it is a timeline, which is followed within limits
	Pace     *migrate.Throttle // of a throttle: as it is now
	Pauses   bool              // and whether it may be paused
	Error    string
	Given    url.Values
	Claims   bool
}

// maxDays is the longest snooze that the form offers.
const maxDays = 365

func (c *console) orderOf(r *request) (*orderPage, error) {
	change, err := c.changeOf(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("order")
	if name == "reject" { // its name until the last release
		name = "dismiss"
	}
	known := slices.IndexFunc(orderKinds, func(o order) bool { return o.Name == name })
	if known < 0 {
		return nil, &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
	}
	o := orderKinds[known]
	about := change.subject()
	if !o.preview().When(about) {
		return nil, &admin.Error{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("%s is %s, so it can not be asked to %s now. Somebody may have decided meanwhile; its page says what can be done.", change.ID, change.State, o.Name)}
	}
	if role := o.Lacks(r.who); role != "" {
		return nil, &admin.Error{Status: http.StatusForbidden, Code: "forbidden", Message: fmt.Sprintf("%s is %s; to %s takes the role %s.", r.who.Name, r.who.Role, o.Name, role)}
	}
	p := &orderPage{Order: o, Change: change, Happens: o.preview().Happens(about), Claims: r.who.Claims}
	p.What, p.Is = o.typed(about)
	if o.Name == "approve" {
		p.Despite = preview.Overrulable(change.Rec)
		p.Holds = change.Rec.Rewrite != nil
		p.Fails = change.Rec.Rewrite != nil && change.Rec.Rewrite.Table != ""
		p.Bulk = p.Fails
		p.Limits = change.Rec.Kind == recommend.TimelineKind
	}
	if o.Name == "throttle" {
		p.Pace = &change.Mig.Throttle
		_, p.Pauses = change.Mig.Paces()
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
	if p.Order.For {
		days, err := strconv.Atoi(p.Given.Get("days"))
		if err != nil || days < 1 || days > maxDays {
			return refuse(http.StatusBadRequest, fmt.Sprintf("Nothing was done: say for how many days, 1 to %d.", maxDays))
		}
		d.For = (time.Duration(days) * 24 * time.Hour).String()
	}
	if wrong := p.terms(d); wrong != "" {
		return refuse(http.StatusBadRequest, "Nothing was done: "+wrong)
	}
	if _, err := c.o.API.Ask(r.Context(), http.MethodPost, p.Order.path(p.Change.ID), d); err != nil {
		return refuse(statusOf(err), err.Error())
	}
	c.o.Log.Info("an order was given in the console", "order", p.Order.Name, "change_id", p.Change.ID, "actor", d.Actor, "remote", r.RemoteAddr)
	http.Redirect(r.w, r.Request, "/ui/changes/"+url.PathEscape(p.Change.ID), http.StatusSeeOther)
	return nil
}

// statusOf is the HTTP status of an error of the API.
func statusOf(err error) int {
	if e := new(admin.Error); errors.As(err, &e) {
		return e.Status
	}
	return http.StatusInternalServerError
}
