package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// parts plays advisor and changes.
type parts struct {
	all       []recommend.Recommendation
	migration []migrate.Change
	refuse    error // of Migrator.Approve
	orders    []string
	bypass    rewrite.Bypass
	ready     bool
	history   Memory                // nil: remembered
	options   func(*Options)        // changes what is served
	gate      func(*access.Options) // changes who may
	state     *store.Store          // of the server
	server    *Server
	calendars []calendar.Calendar
}

func (p *parts) Latest() *recommend.Advice {
	if p.all == nil {
		return nil
	}
	return &recommend.Advice{Recommendations: p.all, Model: infer.Description{}, Dismissed: []recommend.Dismissal{{Fingerprint: "f", Reason: "rare"}}}
}

func (p *parts) Trouble() string { return "" }

func (p *parts) Refresh(context.Context) (*recommend.Advice, error) {
	if p.all == nil {
		return nil, advisor.ErrNothingSeen
	}
	return p.Latest(), nil
}

func (p *parts) Recommendations(context.Context) ([]recommend.Recommendation, error) {
	return p.all, nil
}

func (p *parts) Recommendation(_ context.Context, id string) (recommend.Recommendation, error) {
	for _, r := range p.all {
		if r.ID == id {
			return r, nil
		}
	}
	return recommend.Recommendation{}, &advisor.NotFoundError{ID: id}
}

func (p *parts) decide(id string, to recommend.State, reason, actor string) (recommend.Recommendation, error) {
	for i := range p.all {
		r := &p.all[i]
		switch {
		case r.ID != id:
		case r.State == to:
			return *r, &advisor.StateError{ID: id, State: r.State, Wish: string(to)}
		default:
			r.State, r.StateReason, r.Actor = to, reason, actor
			return *r, nil
		}
	}
	return recommend.Recommendation{}, &advisor.NotFoundError{ID: id}
}

func (p *parts) Admit(actor string, _ ...plan.Overrule) change.Admission {
	return func(c *change.Record) (store.Entry, error) {
		_, err := p.decide(c.ID, recommend.Approved, "", actor)
		return store.Entry{}, err
	}
}

func (p *parts) Snooze(_ context.Context, id string, length time.Duration, reason, actor string) (recommend.Recommendation, error) {
	r, err := p.decide(id, recommend.Snoozed, reason, actor)
	r.Until = time.Unix(0, 0).Add(length)
	return r, err
}

// All are the changes of what it plays.
func (p *parts) All(context.Context) (list []change.Record, err error) {
	for _, r := range p.all {
		list = append(list, change.Record{ID: r.ID, State: map[recommend.State]change.State{recommend.Open: change.Proposed, recommend.Approved: change.Approved, recommend.Rejected: change.Dismissed,
			recommend.Snoozed: change.Snoozed}[r.State], Until: r.Until, Last: change.Decision{Actor: r.Actor, Reason: r.StateReason}})
	}
	return list, nil
}

func (p *parts) Dismiss(_ context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	return p.decide(id, recommend.Rejected, reason, actor)
}

func (p *parts) Reopen(_ context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	return p.decide(id, recommend.Open, reason, actor)
}

// migrator is the other half: its Approve has another signature.
type migrator struct{ *parts }

func (m migrator) ApproveOn(_ context.Context, id string, lu plan.Rewrite, terms migrate.Terms) (migrate.Change, error) {
	if m.refuse != nil {
		return migrate.Change{}, m.refuse
	}
	if _, err := terms.Admit(&change.Record{ID: id}); err != nil {
		return migrate.Change{}, err
	}
	made := migrate.Change{ID: id, Rewrite: lu, Actor: terms.Actor, State: migrate.Approved, OnEntryFailure: terms.OnEntryFailure, Despite: terms.Despite}
	m.migration = append(m.migration, made)
	return made, nil
}

func (m migrator) order(what, id, actor string, to migrate.State) error {
	m.orders = append(m.orders, what+" "+id+" by "+actor)
	for i := range m.migration {
		if m.migration[i].State == to {
			return &migrate.ErrState{Migration: id, Order: what, State: to}
		}
		m.migration[i].State = to
	}
	return nil
}

func (m migrator) Bypass(_ context.Context, on bool, actor string) error {
	if m.refuse != nil {
		return m.refuse
	}
	m.bypass = rewrite.Bypass{On: on, Actor: actor}
	return nil
}

func (m migrator) Bypassed() rewrite.Bypass { return m.bypass }

func (m migrator) Hold(_ context.Context, id, actor string) error {
	return m.order("hold", id, actor, migrate.Shadow)
}

func (m migrator) CutOver(_ context.Context, id, actor string) error {
	return m.order("cut-over", id, actor, migrate.Serving)
}

func (m migrator) Throttle(_ context.Context, id string, o migrate.ThrottleOrder, actor string) error {
	if m.refuse != nil {
		return m.refuse
	}
	what := "throttle"
	if o.Rate != nil {
		what += fmt.Sprintf(" rate=%d", *o.Rate)
	}
	if o.Paused != nil {
		what += fmt.Sprintf(" paused=%v", *o.Paused)
	}
	m.orders = append(m.orders, what+" "+id+" by "+actor)
	return nil
}

func (m migrator) Spark(id string) (string, error) { return "# fills " + id, nil }

func (m migrator) Filled(context.Context, string, string) error { return nil }

func (m migrator) CDCTables() ([]rewrite.CDCTable, error) {
	return []rewrite.CDCTable{{Keyspace: "shop", Name: "users", ID: "6bddc1a5-2e0e-4b1c-a4a1-0b0f0b1f6f5b", Watch: []string{"email"}}}, nil
}

func (m migrator) Told(_ context.Context, r *rewrite.CDCReport) (rewrite.CDCFindings, error) {
	if len(r.Rows) == 0 {
		return rewrite.CDCFindings{}, fmt.Errorf("%w: it is empty", rewrite.ErrCDCReport)
	}
	return rewrite.CDCFindings{Rechecked: int64(len(r.Rows)), Around: 1}, nil
}

func (migrator) Beforehand(c *plan.Rewrite) []string {
	return []string{"Freshness of " + c.FullTable() + ", as it is."}
}

func (migrator) Sightings() rewrite.Sightings {
	return rewrite.Sightings{Looks: 3, Seen: []rewrite.Sighting{{Address: "10.0.0.9", User: "etl", Driver: "DataStax Python Driver", Most: 2, Looks: 1}}}
}

func (m migrator) Rollback(_ context.Context, id, actor string) error {
	return m.order("rollback", id, actor, migrate.RolledBack)
}

func (m migrator) Resume(_ context.Context, id, actor string) error {
	return m.order("resume", id, actor, migrate.Verify)
}

func (m migrator) Verify(_ context.Context, id, actor string) error {
	return m.order("verify", id, actor, migrate.Serving)
}

func (m migrator) Drop(_ context.Context, id, actor string) error {
	err := m.order("drop", id, actor, migrate.Dropped)
	for i := range m.all {
		if m.all[i].ID == id && err == nil {
			m.all[i].State = recommend.Open // as its change's state means
		}
	}
	return err
}

func (m migrator) Migrations() []migrate.Change { return m.migration }

func serve(t *testing.T, p *parts, pprof bool) *Client {
	t.Helper()
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "helenus_test", Help: "A gauge."}))
	if p.history == nil {
		p.history = remembered{}
	}
	var err error
	if p.state, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.state.Close() })
	tokens, err := access.LoadTokens(context.Background(), p.state, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	g := access.Options{Bootstrap: "secret", Tokens: tokens, Hosts: access.NewHosts("127.0.0.1:0", nil), Log: slog.New(slog.DiscardHandler)}
	if p.gate != nil {
		p.gate(&g)
	}
	o := Options{
		Gate: access.New(g), Audit: p.state, Proposals: p.state, Pprof: pprof, Statements: said, History: p.history, Trace: traced,
		Schemas: Schemas{Schema: tablesOf, Measured: func() []schema.Stats { return nil }, Lint: lintedAlone, Weigh: weighedAlone}, Changes: p, Advisor: p, Corrector: corrector(t, p.state), Migrator: migrator{p}, Calendars: calendars{p},
		Connections: func() any { return []string{} },
		Ready:       func() []Check { return []Check{{Name: "cassandra", Ready: p.ready, Why: "away"}} },
		Metrics:     metrics, Log: slog.New(slog.DiscardHandler),
	}
	if p.options != nil {
		p.options(&o)
	}
	s := New(o)
	p.server = s
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &Client{Address: l.Addr().String(), Token: "secret"}
}

func someParts() *parts {
	return &parts{all: []recommend.Recommendation{
		{ID: "r-1", Kind: recommend.LookUpTable, State: recommend.Open, Eligible: true, Rewrite: &plan.Rewrite{Table: "t"},
			Verdicts: []plan.Verdict{{Statement: "4ad1f0aa52c17d3f9b8e6a7c5d4e3f21", Condition: "C20"}}},
	}}
}

// code is the API's code of an error, "" for none.
func code(t *testing.T, err error) string {
	t.Helper()
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		if e.Message == "" {
			t.Error("an error without a message")
		}
		return e.Code
	}
	t.Fatalf("not an answer of the API: %v", err)
	return ""
}

func TestApproveRejectRollbackDrop(t *testing.T) {
	p := someParts()
	c := serve(t, p, false)
	ctx := context.Background()
	var m migrate.Change
	var open recommend.Recommendation
	if err := c.Get(ctx, "recommendations/r-1", &open); err != nil || len(open.Beforehand) != 1 || !strings.HasPrefix(open.Beforehand[0], "Freshness of ") {
		t.Errorf("what to know beforehand is not joined: %+v, %v", open.Beforehand, err)
	}
	if err := c.Post(ctx, "recommendations/r-1/approve", Decision{Actor: "ann", OnEntryFailure: "refuse", Despite: []string{"C20:4ad1f0"}}, &m); err != nil || m.Actor != "ann" ||
		m.OnEntryFailure != migrate.Refuse || len(m.Despite) != 1 || m.Despite[0] != (plan.Overrule{Condition: "C20", Statement: "4ad1f0"}) || m.Rewrite.Table != "t" {
		t.Fatalf("approve: %+v, %v", m, err)
	}
	for _, bad := range []Decision{{OnEntryFailure: "ignore"}, {Despite: []string{"C20"}}, {Despite: []string{"20:4ad1f0"}}} {
		if got := code(t, c.Post(ctx, "recommendations/r-1/approve", bad, &m)); got != "invalid" {
			t.Errorf("%+v: %q", bad, got)
		}
	}
	if got := code(t, c.Post(ctx, "migrations/r-1/verify", Decision{OnEntryFailure: "refuse"}, &m)); got != "invalid" {
		t.Errorf("a verification with terms: %q", got)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-1/approve", Decision{}, &m)); got != "refused" {
		t.Errorf("a second approval: %q", got)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-1/reopen", Decision{}, &m)); got != "refused" {
		t.Errorf("an approval is taken back by a roll-back only: %q", got)
	}
	var r recommend.Recommendation
	if err := c.Get(ctx, "recommendations/r-1", &r); err != nil || r.Migration != "approved" || r.Actor != "ann" {
		t.Errorf("the change's state is not joined: %+v, %v", r, err)
	}
	if err := c.Post(ctx, "migrations/r-1/rollback", Decision{Actor: "bob"}, &m); err != nil || m.State != migrate.RolledBack {
		t.Errorf("rollback: %+v, %v", m, err)
	}
	if got := code(t, c.Post(ctx, "migrations/r-1/rollback", Decision{}, &m)); got != "refused" {
		t.Errorf("a second roll-back: %q", got)
	}
	if err := c.Post(ctx, "migrations/r-1/drop", Decision{Actor: "bob"}, &m); err != nil || m.State != migrate.Dropped {
		t.Errorf("drop: %+v, %v", m, err)
	}
	if p.all[0].State != recommend.Open {
		t.Errorf("what was dropped can not be approved again: %s", p.all[0].State)
	}
	if got := code(t, c.Post(ctx, "recommendations/r-1/reject", Decision{Actor: "ann"}, &r)); got != "invalid" {
		t.Errorf("a rejection without a reason: %q", got)
	}
	if err := c.Post(ctx, "recommendations/r-1/reject", Decision{Actor: "ann", Reason: "too dear"}, &r); err != nil || r.State != recommend.Rejected {
		t.Errorf("reject: %+v, %v", r, err)
	}
	if err := c.Post(ctx, "recommendations/r-1/reopen", Decision{Actor: "ann"}, &r); err != nil || r.State != recommend.Open {
		t.Errorf("reopen: %+v, %v", r, err)
	}
	if got := strings.Join(p.orders, ", "); got != "rollback r-1 by bob, rollback r-1 by api, drop r-1 by bob" {
		t.Errorf("orders: %s", got)
	}
}

func TestApprovalThatCanNotBeginIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"condition": {condition.Schema.Refuse("the table was altered"), "refused"},
		"ownership": {&migrate.ErrOwnership{Table: "t"}, "refused"},
		"failure":   {errors.New("disk full"), "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			p := someParts()
			p.refuse = c.err
			client := serve(t, p, false)
			err := client.Post(context.Background(), "recommendations/r-1/approve", Decision{}, &migrate.Change{})
			if got := code(t, err); got != c.code || !strings.Contains(err.Error(), c.err.Error()) {
				t.Errorf("%q: %v", got, err)
			}
			var e *Error
			if want := condition.In(c.err.Error()); !errors.As(err, &e) || !reflect.DeepEqual(e.Conditions, want) || name == "condition" && len(want) != 1 {
				t.Errorf("it is refused by %+v, want %+v", e.Conditions, want)
			}
			if p.all[0].State != recommend.Open {
				t.Errorf("it is %s", p.all[0].State)
			}
		})
	}
}

func TestNothingThere(t *testing.T) {
	c := serve(t, &parts{}, false)
	ctx := context.Background()
	var raw []byte
	for path, want := range map[string]string{
		"recommendations/r-9": "not_found", "migrations/r-9": "not_found", "nonsense": "not_found", "model": "unavailable",
		"recommendations": "", "migrations": "", "statements": "", "connections": "",
	} {
		if got := code(t, c.Get(ctx, path, &raw)); got != want {
			t.Errorf("GET %s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"recommendations/r-9/approve": "not_found", "migrations/r-9/drop": "not_found", "advise": "unavailable", "statements": "not_found",
	} {
		if got := code(t, c.Post(ctx, path, Decision{}, &raw)); got != want {
			t.Errorf("POST %s: %q, want %q", path, got, want)
		}
	}
	var list []migrate.Change
	if err := c.Get(ctx, "migrations", &raw); err != nil || json.Unmarshal(raw, &list) != nil || list == nil {
		t.Errorf("no changes must be an empty list: %s, %v", raw, err)
	}
}

func TestBadBodies(t *testing.T) {
	c := serve(t, someParts(), false)
	for _, bad := range []struct {
		body   any
		status int
		says   string
	}{
		{"text", 400, "it may not be string"}, {[]int{1}, 400, "it may not be array"}, {map[string]any{"actr": "ann"}, 400, `unknown field "actr"`},
		{map[string]any{"actor": 5}, 400, "actor may not be number"}, {map[string]any{"actor": strings.Repeat("x", maxBody)}, 413, "larger than 1048576 bytes"},
	} {
		err := c.Post(context.Background(), "changes/r-1/dismiss", bad.body, &[]byte{})
		if e := new(Error); !errors.As(err, &e) || e.Status != bad.status || e.Code != "invalid" || !strings.Contains(e.Message, bad.says) || strings.Contains(e.Message, "admin.") {
			t.Errorf("%.40v: %v", bad.body, err)
		}
	}
}

// TestWrongMethod: what is there, but not by this method, says by which.
func TestWrongMethod(t *testing.T) {
	c := serve(t, someParts(), false)
	for path, allow := range map[string]string{"/api/v1/status": "GET", "/api/v1/tokens": "GET, POST", "/api/v1/changes/r-1/approve": "POST", "/api/v1/tokens/ann": "DELETE"} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, "http://"+c.Address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.Token)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != allow {
			t.Errorf("PUT %s: %d, Allow %q, not %q", path, a.StatusCode, a.Header.Get("Allow"), allow)
		}
	}
	if status, text := ask(t, c, http.MethodGet, "/api/v1/nothing", c.Token, ""); status != http.StatusNotFound {
		t.Errorf("%d: %s", status, text)
	}
}

func get(t *testing.T, c *Client, path, token string) (int, string) {
	t.Helper()
	return ask(t, c, http.MethodGet, path, token, "")
}

// ask sends a body as it is, and returns the status and the answer's text.
func ask(t *testing.T, c *Client, method, path, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+c.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

func TestWhoMaySeeWhat(t *testing.T) {
	p := someParts()
	with, without := serve(t, p, true), serve(t, p, false)
	for _, c := range []struct {
		client      *Client
		path, token string
		status      int
	}{
		{with, "/api/v1/statements", "", http.StatusUnauthorized},
		{with, "/api/v1/statements", "wrong", http.StatusUnauthorized},
		{with, "/api/v1/statements", "secret", http.StatusOK},
		{with, "/debug/pprof/", "", http.StatusUnauthorized},
		{with, "/debug/pprof/", "secret", http.StatusOK},
		{without, "/debug/pprof/", "secret", http.StatusNotFound},
		{with, "/metrics", "", http.StatusOK},
		{with, "/healthz", "", http.StatusOK},
		{with, "/readyz", "", http.StatusServiceUnavailable},
		{with, "/", "", http.StatusNotFound},
	} {
		if got, text := get(t, c.client, c.path, c.token); got != c.status {
			t.Errorf("GET %s with %q: %d, want %d: %s", c.path, c.token, got, c.status, text)
		}
	}
	p.ready = true
	if got, text := get(t, with, "/readyz", ""); got != http.StatusOK || !strings.Contains(text, `"cassandra"`) {
		t.Errorf("ready: %d %s", got, text)
	}
	if _, text := get(t, with, "/metrics", ""); !strings.Contains(text, "# HELP helenus_test A gauge.") {
		t.Errorf("metrics: %s", text)
	}
	// A link must never decide anything.
	if got, _ := get(t, with, "/api/v1/recommendations/r-1/approve", "secret"); got != http.StatusMethodNotAllowed || p.all[0].State != recommend.Open {
		t.Errorf("GET approve: %d, %s", got, p.all[0].State)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	err = (&Client{Address: address}).Get(context.Background(), "statements", &[]byte{})
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), address) {
		t.Fatal(err)
	}
}

func TestTokenIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := Token("", dir)
	if err != nil || len(first) < 32 {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := Token("", dir); err != nil || again != first {
		t.Fatalf("%q, %v", again, err)
	}
	if given, err := Token("mine", dir); err != nil || given != "mine" {
		t.Fatalf("%q, %v", given, err)
	}
	info, err := os.Stat(filepath.Join(dir, TokenFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, TokenFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Token("", dir); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Fatal(err)
	}
}

func TestBypass(t *testing.T) {
	p := someParts()
	c, ctx := serve(t, p, false), context.Background()
	is := func(on bool, actor string) {
		t.Helper()
		var b rewrite.Bypass
		if err := c.Get(ctx, "bypass", &b); err != nil || b.On != on || b.Actor != actor {
			t.Errorf("%+v, %v", b, err)
		}
	}
	is(false, "")
	var b rewrite.Bypass
	if err := c.Post(ctx, "bypass/on", Decision{Actor: "ann"}, &b); err != nil || !b.On {
		t.Errorf("on: %+v, %v", b, err)
	}
	is(true, "ann")
	if err := c.Post(ctx, "bypass/off", Decision{Actor: "bob"}, &b); err != nil || b.On {
		t.Errorf("off: %+v, %v", b, err)
	}
	is(false, "bob")
	p.refuse = rewrite.ErrBypassed
	if got := code(t, c.Post(ctx, "bypass/on", Decision{}, &b)); got != "refused" {
		t.Errorf("refused: %q", got)
	}
}

// lintedAlone and weighedAlone work out in this process, and without what people said, what a child works out with it.
func lintedAlone(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) (*lint.Report, error) {
	return lint.LiveCorrected(ctx, snapshot, s, stats, nil)
}

func weighedAlone(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, c *cycle.Cycle) (string, error) {
	return infer.WeighedCorrected(ctx, snapshot, s, stats, nil, c)
}
