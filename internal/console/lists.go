package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/proxy"
)

// statementsPage lists what was said.
type statementsPage struct {
	Answer            string
	Find, Sort, Since string
	Sorts, Sinces     []string
	List              []report.Statement
	Matching          int
	Busy              float64 // microseconds of all of them
	From, To          time.Time
	Note              string
}

// listed is how many rows a page lists.
const listed = 100

// sinces are the periods that may be chosen; "" is since the process started.
var sinces = []string{"", "5m", "1h", "24h", "168h"}

func (c *console) statements(r *request) error {
	v := r.URL.Query()
	p := statementsPage{Find: strings.TrimSpace(v.Get("find")), Sort: cmp.Or(v.Get("sort"), "time"), Since: v.Get("since"), Sorts: report.Sorts(), Sinces: sinces}
	if !slices.Contains(p.Sorts, p.Sort) {
		p.Sort = "time"
	}
	if !slices.Contains(sinces, p.Since) {
		p.Since = ""
	}
	said, err := ask[report.Statements](c, r, "statements?"+url.Values{"sort": {p.Sort}, "since": {p.Since}}.Encode())
	if err != nil {
		return err
	}
	p.From, p.To, p.Note = said.From, said.To, said.Note
	for i := range said.Statements {
		x := &said.Statements[i]
		p.Busy += float64(x.Latency.Sum)
		if p.Find != "" && !strings.Contains(strings.ToLower(x.Text+" "+x.Keyspace+"."+x.Table+" "+x.Fingerprint), strings.ToLower(p.Find)) {
			continue
		}
		if p.Matching++; len(p.List) < listed {
			p.List = append(p.List, *x)
		}
	}
	p.Busy += float64(said.Other.Latency.Sum)
	p.Answer = plural(len(said.Statements), "different statement", "different statements") + " in " + span(said.To.Sub(said.From)) + ", " + number(said.Requests) + " requests."
	if len(said.Statements) == 0 {
		p.Answer = "Nothing was said yet: statements are listed here as soon as an application asks through the proxy."
	}
	return c.show(r, "statements", frame{Title: "Statements", Here: "statements", Page: p})
}

// statementPage is one statement.
type statementPage struct {
	admin.Detail
	Chart      string // points of a line: latency at p50 over the last hour
	Most       float64
	Begin, End time.Time // of the line
	About      []aboutStatement
}

// aboutStatement is an advice about a statement, with the state of what became of it.
type aboutStatement struct{ ID, Title, State string }

// states are the states of the changes that are carried out, or were, by id. None of them are told where they can not be asked for: the advice has its own.
func (c *console) states(r *request) map[string]string {
	states := map[string]string{}
	list, err := ask[[]admin.Change](c, r, "changes")
	if err != nil {
		return states
	}
	for i := range list {
		if !list[i].State.Proposal() {
			states[list[i].ID] = string(list[i].State)
		}
	}
	return states
}

func (c *console) statement(r *request) error {
	d, err := ask[admin.Detail](c, r, "statements/"+url.PathEscape(r.PathValue("id")))
	if err != nil {
		return err
	}
	p := statementPage{Detail: d}
	p.Chart, p.Most = points(d.Series)
	if n := len(d.Series); n > 0 {
		p.Begin, p.End = d.Series[0].From, d.Series[n-1].To
	}
	states := c.states(r)
	if advice, err := ask[admin.Recommendations](c, r, "recommendations"); err == nil {
		for i := range advice.Recommendations {
			x := &advice.Recommendations[i]
			if slices.ContainsFunc(x.Statements, func(s recommend.Statement) bool { return s.Fingerprint == d.Fingerprint }) ||
				slices.ContainsFunc(x.Writes, func(s recommend.Write) bool { return s.Fingerprint == d.Fingerprint }) {
				p.About = append(p.About, aboutStatement{x.ID, x.Title, cmp.Or(states[x.ID], string(x.State))})
			}
		}
	}
	return c.show(r, "statement", frame{Title: "Statement " + d.Fingerprint[:min(8, len(d.Fingerprint))], Here: "statements", Page: p})
}

// Size of the drawing of a series.
const chartWidth, chartHeight = 640, 96

// points is a series as the points of a line, from zero up to its most.
func points(series []history.Point) (line string, most float64) {
	said := 0
	for _, x := range series {
		most = max(most, x.P50)
		if x.Count > 0 {
			said++
		}
	}
	if said < 2 || most == 0 {
		return "", 0
	}
	from, to := series[0].From, series[len(series)-1].From
	var b strings.Builder
	for _, x := range series {
		if x.Count == 0 {
			continue
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", float64(chartWidth)*x.From.Sub(from).Seconds()/max(to.Sub(from).Seconds(), 1), 4+float64(chartHeight-4)*(1-x.P50/most))
	}
	return strings.TrimSpace(b.String()), most
}

// tablesPage are the application's tables, and Helenus's.
type tablesPage struct {
	admin.TablesAnswer
	Theirs, Ours int
}

// remarks are what is to be known of a table, what nobody reads among it.
func remarks(t report.Table) []string {
	if len(t.Unread) == 0 {
		return t.Remarks
	}
	return append(slices.Clone(t.Remarks), "nobody reads "+strings.Join(t.Unread, ", "))
}

func (c *console) tables(r *request) error {
	list, err := ask[admin.TablesAnswer](c, r, "tables")
	if err != nil {
		return err
	}
	slices.SortStableFunc(list.Tables, func(a, b report.Table) int { return cmp.Compare(b.Micros, a.Micros) })
	p := tablesPage{TablesAnswer: list}
	for i := range list.Tables {
		if list.Tables[i].Own {
			p.Ours++
		} else {
			p.Theirs++
		}
	}
	return c.show(r, "tables", frame{Title: "Tables", Here: "tables", Page: p})
}

func (c *console) table(r *request) error {
	list, err := ask[admin.TablesAnswer](c, r, "tables")
	if err != nil {
		return err
	}
	for i := range list.Tables {
		if t := &list.Tables[i]; t.Keyspace == r.PathValue("keyspace") && t.Name == r.PathValue("id") {
			return c.show(r, "table", frame{Title: t.Keyspace + "." + t.Name, Here: "tables", Page: t})
		}
	}
	return &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such table, as far as the schema has been read; Tables lists them."}
}

func (c *console) joins(r *request) error {
	said, err := ask[report.Statements](c, r, "statements?limit=1")
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(said.Feeds), func(f feed.Feed) bool { return f.Shape == feed.Pagination })
	slices.SortStableFunc(list, func(a, b feed.Feed) int { return cmp.Compare(b.Hits, a.Hits) })
	return c.show(r, "joins", frame{Title: "Joins", Here: "joins", Page: list})
}

// drawingPolicy lets a drawing have the styles that it brings along, and nothing else.
const drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'"

// picture draws the model, or the tables.
func (c *console) picture(r *request) error {
	var p *picture.Picture
	if strings.HasSuffix(r.URL.Path, "/tables.svg") {
		cluster, err := ask[schema.Schema](c, r, "schema")
		if err != nil {
			return err
		}
		s, err := diagram.Live("live schema", &cluster)
		if err != nil {
			return err
		}
		said, err := ask[report.Statements](c, r, "statements")
		if err != nil {
			return err
		}
		const queries = 40
		s.Observed(said.Statements, said.Feeds, queries)
		p = s.Picture(picture.Physical)
	} else {
		d, err := ask[infer.Description](c, r, "model")
		if err != nil {
			return err
		}
		w, missing := diagram.Inferred("inferred model", &d, false)
		p = diagram.ER(w.Name, w.Graph)
		diagram.Sure(p, &d)
		diagram.Unshown(p, missing)
	}
	r.w.Header().Set("Content-Type", "image/svg+xml")
	r.w.Header().Set("Content-Security-Policy", drawingPolicy)
	return p.SVG(r.w, svg.Auto)
}

// happening is one line of the audit trail.
type happening struct{ store.Entry }

// Change reports whether it is about a change, which has a page; else about a token, the bypass and the like.
func (h happening) Change() bool { return strings.HasPrefix(h.Target, "r-") }

func (c *console) activity(r *request) error {
	trail, err := ask[admin.AuditAnswer](c, r, fmt.Sprintf("audit?limit=%d", 2*listed))
	if err != nil {
		return err
	}
	var list []happening
	for _, e := range trail.Entries {
		list = append(list, happening{e})
	}
	return c.show(r, "activity", frame{Title: "Activity", Here: "activity", Page: list})
}

func (c *console) settings(r *request) error {
	text := ""
	if c.o.Settings != nil {
		text = c.o.Settings()
	}
	return c.show(r, "settings", frame{Title: "Settings", Here: "settings", Page: text})
}

func (c *console) connections(r *request) error {
	all, err := ask[[]proxy.ConnectionInfo](c, r, "connections")
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b proxy.ConnectionInfo) int {
		return cmp.Or(cmp.Compare(b.InFlight, a.InFlight), cmp.Compare(b.Requests, a.Requests))
	})
	return c.show(r, "connections", frame{Title: "Connections", Here: "connections", Page: struct {
		All   []proxy.ConnectionInfo
		Count int
	}{all[:min(len(all), listed)], len(all)}})
}
