package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// now is when the pages of the tests are made.
var now = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

// given is an order that reached the API.
type given struct {
	path string
	d    admin.Decision
}

// fixture plays the API and the sessions over a hotel.
type fixture struct {
	mu         sync.Mutex // a browser asks while tests change what is answered
	advice     recommend.Advice
	migrations []migrate.Change
	bypass     rewrite.Bypass
	ready      []admin.Check
	orders     []given
	refuse     error
	nobody     bool // no session is known
	empty      bool // nothing was said
	person     admin.Person
	asked      advisor.Questions
}

const hostile = `<script>alert(1)</script>"'&`

func hotel(t testing.TB) *fixture {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "advisor", "recommend", "testdata", "hotel.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		person: admin.Person{Name: "ann", Role: "admin"},
		ready:  []admin.Check{{Name: "cassandra", Ready: true, Detail: "1 node, 1 listener, 3 connections"}, {Name: "schema", Ready: true}},
	}
	if err := json.Unmarshal(text, &f.advice); err != nil {
		t.Fatal(err)
	}
	q := infer.Question{ID: "q-1", Kind: infer.WhichRelationship, Subject: "hotel.reservations.guest_id", Text: "Whose key is " + hostile + "?", Candidates: []infer.Candidate{
		{Answer: "hotel.guests", Text: "a guest's", Certainty: 0.6, Used: true, Evidence: []infer.Evidence{{Group: "name", LogOdds: 1.8, Text: hostile}}}, {Answer: infer.None, Text: "nobody's", Certainty: 0.4},
	}}
	f.asked = advisor.Questions{Open: []recommend.Asked{{Question: q, Worth: 12, Advice: []string{"r-46cc57"}}}, More: 3}
	f.advice.Model.Corrections = []infer.Corrected{
		{Correction: correction.Correction{Rename: "hotel.guests", To: "Visitor", Because: hostile, Question: "q-7"}, Text: "hotel.guests is called Visitor", InForce: true},
		{Correction: correction.Correction{Rename: "hotel.gone", To: "X"}, Text: "hotel.gone is called X", Why: "there is no table hotel.gone"},
	}
	f.advice.Recommendations[0].RestsOn = []recommend.Rest{{Question: "q-1", Text: "Whose key is it?", Taken: "a guest's", Certainty: 0.6}}
	open := f.advice.Recommendations[0]
	for id, state := range map[string]migrate.State{"r-backfill": migrate.Backfill, "r-serving": migrate.Serving, "r-suspended": migrate.Suspended, "r-rolled": migrate.RolledBack} {
		r := open
		r.ID, r.State, r.Actor, r.StateSince = id, recommend.Approved, "ann", now.Add(-20*time.Minute)
		f.advice.Recommendations = append(f.advice.Recommendations, r)
		m := change(id, state, *open.Rewrite)
		if state == migrate.Backfill {
			m.Throttle.Rate = 5000
		}
		f.migrations = append(f.migrations, m)
	}
	refused := open
	refused.ID, refused.Eligible = "r-refused", false
	refused.Verdicts = []plan.Verdict{{Condition: condition.Counters.ID, Refused: true, Reason: "it counts"}}
	nasty := open
	nasty.ID, nasty.Title, nasty.Why, nasty.State, nasty.StateReason, nasty.Actor = "r-nasty", hostile, hostile, recommend.Rejected, hostile, hostile
	nasty.Statements = []recommend.Statement{{Fingerprint: "36bdef75c6f971c0b274537df1bf085c", Text: "SELECT '" + hostile + "'", PlanBefore: "1. scan " + hostile, PlanAfter: "1. get " + hostile}}
	f.advice.Recommendations = append(f.advice.Recommendations, refused, nasty)
	return f
}

func change(id string, state migrate.State, lu plan.Rewrite) migrate.Change {
	begun := now.Add(-20 * time.Minute)
	m := migrate.Change{
		ID: id, Rewrite: lu, State: state, Actor: "ann", Approved: begun, Entries: 200_000, Compared: 10_212, ByReads: 10_000, ByOwn: 212,
		Progress: migrate.Progress{Started: begun.Add(time.Minute), Ratio: 0.42, Done: 107, Total: 256, Unit: "ranges", ETA: 4 * time.Minute},
	}
	m.Rewrite.Promise = plan.Promise{Reads: 129, Writes: 2.1}
	for i, p := range phases {
		m.Events = append(m.Events, migrate.Event{Time: begun.Add(time.Duration(i) * time.Minute), State: p.state, Text: "it is at " + string(p.state), Actor: map[int]string{0: "ann"}[i]})
		if p.state == state {
			return m
		}
	}
	m.Events = append(m.Events, migrate.Event{Time: now.Add(-time.Minute), State: state, Text: "the base changed"})
	switch state {
	case migrate.Suspended:
		m.T0, m.Passes = begun.UnixMicro(), 2
		m.Reason = "1 row differed: " + hostile
		m.Differed, m.Mismatch = 1, hostile
	case migrate.Serving:
	}
	return m
}

func served() *gain.Report {
	f := func(ms float64) *gain.Figures {
		return &gain.Figures{Count: 1000, P50Ms: ms, P90Ms: 2 * ms, MeanMs: ms}
	}
	return &gain.Report{Reads: gain.Kind{Before: f(464), After: f(1.7), Control: f(460)}, Writes: gain.Kind{Before: f(1.1), After: f(2.3), Control: f(1.1)}, Promised: 129, Measured: 270, SavedSeconds: 4711, Text: "reads take less"}
}

func distribution(values ...uint64) (d histogram.Distribution) {
	var h histogram.Histogram
	for _, v := range values {
		h.Add(v)
	}
	h.AddTo(&d)
	return d
}

func (f *fixture) statements() *report.Statements {
	out := &report.Statements{From: now.Add(-5 * time.Minute), To: now}
	if f.empty {
		return out
	}
	out.Requests = 1_260_000
	for i, text := range []string{
		"SELECT room_id, start_date FROM hotel.reservations WHERE guest_id = ? ALLOW FILTERING",
		"INSERT INTO hotel.reservations (room_id, start_date, reservation_id) VALUES (?, ?, ?)", "SELECT '" + hostile + "' FROM hotel.rooms",
	} {
		s := report.Statement{Statement: capture.Statement{Fingerprint: []string{"36bdef75c6f971c0b274537df1bf085c", "eb6ae75626a554cc341dff61bc887a3e", "9f1bde75c6f971c0b274537df1bf085c"}[i], Keyspace: "hotel",
			Table: []string{"reservations", "reservations", "rooms"}[i], Kind: []string{"SELECT", "INSERT", "SELECT"}[i], Text: text, Count: 1000, Latency: distribution(282_000, 283_000, 1_100), Rows: distribution(4),
			Callers: []capture.Share{{Caller: capture.Caller{Application: hostile, Driver: "gocql"}, Count: 10}}, First: now.Add(-time.Hour), Last: now}}
		s.Access.Class = schema.Scan
		out.Statements = append(out.Statements, s)
	}
	out.Matching = len(out.Statements)
	out.Feeds = []feed.Feed{{From: feed.End{Fingerprint: "36bdef75c6f971c0b274537df1bf085c", Table: "hotels", Column: "hotel_id"}, To: feed.End{Fingerprint: "9f1bde75c6f971c0b274537df1bf085c", Table: "rooms", Column: hostile},
		Executions: 60, Hits: 58, PerExecution: 2, Shape: feed.NPlusOne, Confidence: 0.97, LagP50: 800}}
	return out
}

func notThere(id string) error {
	return &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "there is no " + id}
}

// Ask implements API.
func (f *fixture) Ask(_ context.Context, method, path string, order *admin.Decision) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, _, _ = strings.Cut(path, "?")
	kind, id, _ := strings.Cut(path, "/")
	if method == http.MethodPost {
		f.orders = append(f.orders, given{path, *order})
		return struct{}{}, f.refuse
	}
	id, _ = url.PathUnescape(id)
	switch path {
	case "recommendations":
		out := admin.Recommendations{At: now.Add(-time.Minute)}
		if !f.empty {
			out.Recommendations, out.Dismissed = f.advice.Recommendations, f.advice.Dismissed
		}
		return out, nil
	case "migrations":
		if f.empty {
			return []migrate.Change{}, nil
		}
		return f.migrations, nil
	case "calendars":
		return []calendar.Calendar{}, nil
	case "bypass":
		return f.bypass, nil
	case "audit":
		var out admin.AuditAnswer
		for _, m := range f.migrations {
			for _, e := range m.Events {
				if !f.empty {
					out.Entries = append(out.Entries, store.Entry{At: e.Time, Actor: e.Actor, From: "10.0.0.9:1", Action: "advance", Target: m.ID, Reason: e.Text, After: string(e.State)})
				}
			}
		}
		return out, nil
	case "statements":
		return f.statements(), nil
	case "connections":
		if f.empty {
			return []proxy.ConnectionInfo{}, nil
		}
		return []proxy.ConnectionInfo{{Address: "10.0.0.1:5000", Application: hostile, Driver: "gocql", Requests: 4711, Since: now.Add(-time.Hour)}}, nil
	case "model":
		return f.advice.Model, nil
	case "questions":
		return f.asked, nil
	case "tables":
		return admin.TablesAnswer{From: now, To: now, Tables: []report.Table{{Keyspace: "hotel", Name: "reservations", Statements: 2, Reads: 60, Scans: 60, Writes: 40, Rows: 200_000, Unread: []string{hostile},
			Columns: []report.Column{{Name: "guest_id", Kind: "regular", Read: 1, Written: 2, Filtered: 60}}}}}, nil
	case "schema":
		return &schema.Schema{}, nil
	}
	switch kind {
	case "recommendations":
		if r := f.advice.Recommendation(id); r != nil {
			return *r, nil
		}
	case "migrations":
		for _, m := range f.migrations {
			if m.ID == id {
				if m.State == migrate.Serving {
					m.Gain = served()
				}
				return m, nil
			}
		}
	case "statements":
		for _, s := range f.statements().Statements {
			if id != "" && strings.HasPrefix(s.Fingerprint, id) {
				d := admin.Detail{From: now.Add(-time.Hour), To: now, Statement: s, Why: []string{"it reads every row"}, Share: 0.5}
				for i := range 60 {
					d.Series = append(d.Series, history.Point{From: now.Add(time.Duration(i-60) * time.Minute), Count: 10, P50: float64(200_000 + 1000*(i%7))})
				}
				return d, nil
			}
		}
	}
	return nil, notThere(id)
}

func (f *fixture) Begin(w http.ResponseWriter, _ *http.Request, token string) error {
	if token != "right" {
		return &admin.Error{Status: http.StatusUnauthorized, Message: "this is not the token"}
	}
	http.SetCookie(w, &http.Cookie{Name: "s", Value: "1", Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return nil
}

func (f *fixture) Provider() string { return "login.example.org" }

func (f *fixture) LeaveForProvider(http.ResponseWriter, *http.Request, string) error {
	return &admin.Error{Status: http.StatusServiceUnavailable, Message: "the provider is away"}
}

func (f *fixture) BeginByProvider(_ http.ResponseWriter, r *http.Request) (string, error) {
	return r.URL.Query().Get("next"), nil
}

func (f *fixture) End(http.ResponseWriter, *http.Request) { f.nobody = true }

func (f *fixture) Who(r *http.Request) (context.Context, admin.Person, error) {
	if f.nobody {
		return nil, admin.Person{}, &admin.Error{Status: http.StatusUnauthorized, Message: "nobody"}
	}
	return r.Context(), f.person, nil
}

func (f *fixture) handler() http.Handler { return f.with(f) }

// with makes the pages for people whom others know.
func (f *fixture) with(sessions Sessions) http.Handler {
	metrics := prometheus.NewRegistry()
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "helenus_proxy_added_seconds", Help: "x", Buckets: []float64{0.00001, 0.00004, 0.001}}, []string{"direction"})
	for range 1000 {
		h.WithLabelValues("request").Observe(0.00003)
	}
	metrics.MustRegister(h)
	return New(Options{API: f, Sessions: sessions, Ready: func() []admin.Check { return f.ready }, Metrics: metrics, Settings: func() string { return "listen: 127.0.0.1:9042 # " + hostile + "\n" },
		Stopping: make(chan struct{}), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
}

// get shows a page.
func (f *fixture) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// post sends a form as the console's own pages do.
func (f *fixture) post(path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.handler().ServeHTTP(w, r)
	return w
}
