package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestHostileRequests: each is refused with the right status, and none of them changes anything, gets a word of what only those who may
// should read, or ends the process.
func TestHostileRequests(t *testing.T) {
	p := someParts()
	p.migration = []migrate.Change{{ID: "r-9", State: migrate.RolledBack}}
	p.ready = true
	var asked atomic.Int64
	p.gate = func(o *access.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(asked.Add(1)) * 10 * time.Second) } // that there are too many is another test
		o.Header, o.HeaderRole, o.Proxies = "X-Forwarded-User", "X-Forwarded-Role", []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	}
	p.options = func(o *Options) { o.MetricsToken = true }
	c := serve(t, p, true)
	ctx := context.Background()
	token := func(name string, role access.Role) string {
		t.Helper()
		var made TokenMade
		if err := c.Post(ctx, "tokens", TokenOrder{Name: name, Role: role}, &made); err != nil {
			t.Fatal(err)
		}
		return made.Text
	}
	viewer, operator, admin, gone := token("vic", access.Viewer), token("olga", access.Operator), token("ada", access.Admin), token("gone", access.Admin)
	if err := c.Delete(ctx, "tokens/gone", Decision{}, new(any)); err != nil {
		t.Fatal(err)
	}
	cookie := sessionOf(t, c, admin)
	before := fingerprint(t, p)

	approve, drop := "/api/v1/recommendations/r-1/approve", "/api/v1/migrations/r-9/drop"
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	with := func(headers []string, more ...string) []string {
		return append(append([]string{}, headers...), more...)
	}
	session := []string{"Cookie", cookie.Name + "=" + cookie.Value, "Content-Type", "application/json"}
	for name, h := range map[string]struct {
		method, path string
		headers      []string
		body         string
		want         int
	}{
		// nobody
		"approve without a token":         {"POST", approve, nil, "{}", 401},
		"read without a token":            {"GET", "/api/v1/statements", nil, "", 401},
		"metrics without a token":         {"GET", "/metrics", nil, "", 401},
		"pprof without a token":           {"GET", "/debug/pprof/heap", nil, "", 401},
		"the trail without a token":       {"GET", "/api/v1/audit", nil, "", 401},
		"an unknown path without a token": {"GET", "/api/v1/nothing", nil, "", 401},
		"a wrong token":                   {"POST", approve, bearer("wrong"), "{}", 401},
		"an empty token":                  {"POST", approve, bearer(""), "{}", 401},
		"a revoked token":                 {"POST", approve, bearer(gone), "{}", 401},
		"half a token":                    {"POST", approve, bearer(admin[:20]), "{}", 401},
		"a token and more":                {"POST", approve, bearer(admin + "x"), "{}", 401},
		"a token in the address":          {"POST", approve + "?token=" + admin + "&access_token=" + admin, nil, "{}", 401},
		"a token as user and password":    {"POST", approve, []string{"Authorization", "Basic YXBpOnNlY3JldA=="}, "{}", 401},
		"the hash as the token":           {"POST", approve, bearer(strings.Repeat("0", 64)), "{}", 401},
		"two tokens":                      {"POST", approve, with(bearer(admin), "Authorization", "Bearer wrong"), "{}", 401},
		"a made-up session":               {"POST", approve, []string{"Cookie", access.Cookie + "=AAAA", "Content-Type", "application/json"}, "{}", 401},
		"the token as the session":        {"POST", approve, []string{"Cookie", access.Cookie + "=" + admin, "Content-Type", "application/json"}, "{}", 401},
		"a session of nothing":            {"POST", "/api/v1/session", nil, "{}", 401},
		"a session of a session":          {"POST", "/api/v1/session", session, "{}", 401},
		"the proxy's header by anybody":   {"POST", approve, []string{"X-Forwarded-User", "ada", "X-Forwarded-Role", "admin"}, "{}", 401},
		"and as if by the proxy":          {"POST", approve, []string{"X-Forwarded-User", "ada", "X-Forwarded-Role", "admin", "X-Forwarded-For", "192.0.2.1", "X-Real-IP", "192.0.2.1"}, "{}", 401},
		// somebody who may not
		"a viewer approves":             {"POST", approve, bearer(viewer), "{}", 403},
		"a viewer rejects":              {"POST", "/api/v1/recommendations/r-1/reject", bearer(viewer), `{"reason": "no"}`, 403},
		"a viewer rolls back":           {"POST", "/api/v1/migrations/r-9/rollback", bearer(viewer), "{}", 403},
		"a viewer bypasses":             {"POST", "/api/v1/bypass/on", bearer(viewer), "{}", 403},
		"a viewer lists tokens":         {"GET", "/api/v1/tokens", bearer(viewer), "", 403},
		"a viewer makes an admin":       {"POST", "/api/v1/tokens", bearer(viewer), `{"name": "eve", "role": "admin"}`, 403},
		"a viewer says to be an admin":  {"POST", approve, bearer(viewer), `{"actor": "ada"}`, 403},
		"a viewer with an admin's name": {"POST", drop, with(bearer(viewer), "X-Forwarded-User", "ada", "X-Forwarded-Role", "admin"), "{}", 403},
		"another method by a header":    {"GET", "/api/v1/tokens", with(bearer(viewer), "X-HTTP-Method-Override", "POST"), `{"name": "eve", "role": "admin"}`, 403},
		"an operator drops":             {"POST", drop, bearer(operator), "{}", 403},
		"an operator bypasses":          {"POST", "/api/v1/bypass/off", bearer(operator), "{}", 403},
		"an operator makes an admin":    {"POST", "/api/v1/tokens", bearer(operator), `{"name": "eve", "role": "admin"}`, 403},
		"an operator revokes the admin": {"DELETE", "/api/v1/tokens/ada", bearer(operator), "{}", 403},
		"an operator records values":    {"POST", "/api/v1/capture/record?for=1s", bearer(operator), "{}", 403},
		"an operator reads the heap":    {"GET", "/debug/pprof/heap", bearer(operator), "", 403},
		// a page of another site, in the browser of an admin
		"another site's form":                      {"POST", drop, with(session, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"), "{}", 403},
		"its form as text":                         {"POST", drop, []string{session[0], session[1], "Content-Type", "text/plain"}, "{}", 415},
		"its form as a form":                       {"POST", drop, []string{session[0], session[1], "Content-Type", "application/x-www-form-urlencoded"}, "{}", 415},
		"its form without a type":                  {"POST", drop, session[:2], "{}", 415},
		"a sandboxed page":                         {"POST", drop, with(session, "Origin", "null"), "{}", 403},
		"another port of this machine":             {"POST", drop, with(session, "Origin", "http://localhost:3000", "Sec-Fetch-Site", "same-site"), "{}", 403},
		"another site asks with fetch":             {"GET", "/api/v1/audit", with(session, "Origin", "https://evil.example"), "", 403},
		"a name that means us now (DNS rebinding)": {"GET", "/api/v1/audit", with(session, "Host", "evil.example"), "", 421},
		"and orders":                               {"POST", drop, with(session, "Host", "evil.example:19080", "Origin", "http://evil.example:19080", "Sec-Fetch-Site", "same-origin"), "{}", 421},
		"a name that begins like ours":             {"GET", "/metrics", with(bearer(viewer), "Host", "localhost.evil.example"), "", 421},
		"preflight":                                {"OPTIONS", drop, []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, "", 403},
		// nonsense, of somebody who may
		"a body that is no JSON":    {"POST", approve, bearer(admin), "actor=ada", 400},
		"two bodies":                {"POST", approve, bearer(admin), "{} {}", 400},
		"an unknown field":          {"POST", approve, bearer(admin), `{"role": "admin"}`, 400},
		"a body without end":        {"POST", approve, bearer(admin), `{"reason": "` + strings.Repeat("x", 2<<20) + `"}`, 413},
		"a reason without end":      {"POST", "/api/v1/recommendations/r-1/reject", bearer(admin), `{"reason": "` + strings.Repeat("x", 5000) + `"}`, 400},
		"deep JSON":                 {"POST", approve, bearer(admin), strings.Repeat("[", 100000), 400},
		"a name with a line":        {"POST", drop, bearer("secret"), `{"actor": "ada\nlevel=INFO msg=\"all is well\""}`, 400},
		"a token that is called us": {"POST", "/api/v1/tokens", bearer(admin), `{"name": "guard", "role": "viewer"}`, 400},
		"a token with a path":       {"POST", "/api/v1/tokens", bearer(admin), `{"name": "../../x", "role": "viewer"}`, 400},
		"a token of no role":        {"POST", "/api/v1/tokens", bearer(admin), `{"name": "eve", "role": "root"}`, 400},
		"a token that is there":     {"POST", "/api/v1/tokens", bearer(admin), `{"name": "ada", "role": "admin"}`, 409},
		"revoking nobody":           {"DELETE", "/api/v1/tokens/nobody", bearer(admin), "{}", 404},
		"a path upwards":            {"GET", "/api/v1/migrations/..%2f..%2fadmin.token", bearer(admin), "", 404},
		"SQL for an id":             {"GET", "/api/v1/migrations/r-9'%20OR%201=1--", bearer(admin), "", 404},
		"a limit without end":       {"GET", "/api/v1/audit?limit=999999999", bearer(admin), "", 400},
		"a page before all":         {"GET", "/api/v1/audit?before=-1", bearer(admin), "", 400},
		"a misspelt parameter":      {"GET", "/api/v1/changes?stat=serving", bearer(admin), "", 400},
		"one that can not be read":  {"GET", "/api/v1/changes?state=serving;suspended", bearer(admin), "", 400},
		"one where none is read":    {"GET", "/api/v1/connections?state=idle", bearer(admin), "", 400},
		"one of an order":           {"POST", approve + "?force=true", bearer(admin), "{}", 400},
		"removing the trail":        {"DELETE", "/api/v1/audit", bearer(admin), "", 405},
		"an order by reading":       {"GET", drop, bearer(admin), "", 405},
		"a header without end":      {"GET", "/api/v1/audit", with(bearer(admin), "X-Long", strings.Repeat("x", 128<<10)), "", 431},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(h.method, "http://"+c.Address+h.path, strings.NewReader(h.body)) //nolint:noctx // of the test
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(h.headers); i += 2 {
				if r.Header.Add(h.headers[i], h.headers[i+1]); h.headers[i] == "Host" {
					r.Host = h.headers[i+1]
				}
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Body.Close() }()
			text, _ := io.ReadAll(a.Body)
			if a.StatusCode != h.want {
				t.Errorf("answered %d, not %d: %.200s", a.StatusCode, h.want, text)
			}
			if a.StatusCode == http.StatusUnauthorized && h.path != "/api/v1/session" && a.Header.Get("WWW-Authenticate") == "" {
				t.Error("it does not say how to authenticate")
			}
			if h.want != 431 && (a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(a.Header.Get("Content-Security-Policy"), "unsafe")) {
				t.Errorf("headers: %v", a.Header)
			}
			if strings.Contains(string(text), admin) || strings.Contains(string(text), "goroutine ") {
				t.Errorf("it tells: %.200s", text)
			}
			if after := fingerprint(t, p); !bytes.Equal(after, before) {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
		})
	}
	if err := c.Get(ctx, "session", new(any)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// sessionOf begins a session.
func sessionOf(t *testing.T, c *Client, token string) *http.Cookie {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://"+c.Address+"/api/v1/session", nil)
	r.RequestURI = ""
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if a.StatusCode != http.StatusOK || len(a.Cookies()) != 1 {
		t.Fatalf("%s, %v", a.Status, a.Cookies())
	}
	return a.Cookies()[0]
}

// fingerprint is all that an order could have changed.
func fingerprint(t *testing.T, p *parts) []byte {
	t.Helper()
	trail, err := p.state.Audit(context.Background(), store.AuditQuery{Limit: store.AuditLimit})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := p.state.List(context.Background(), access.KindToken)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{p.all, p.migration, p.orders, p.bypass, p.calendars, trail, tokens})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestEveryRouteHasARole: a viewer may read, and gives no order, whatever routes there will be. (What agents are told is for agents and operators.)
func TestEveryRouteHasARole(t *testing.T) {
	p := someParts()
	p.options = func(o *Options) { o.Windows = &looking{} }
	c := serve(t, p, false)
	ctx := context.Background()
	var made TokenMade
	if err := c.Post(ctx, "tokens", TokenOrder{Name: "vic", Role: access.Viewer}, &made); err != nil {
		t.Fatal(err)
	}
	if len(p.server.patterns) < 30 {
		t.Fatalf("only %d routes are known", len(p.server.patterns))
	}
	known := map[string]bool{}
	for _, pattern := range p.server.patterns {
		known[pattern] = true
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{id}", "x-1", "{name}", "x-1").Replace(path)
		r, err := http.NewRequest(method, "http://"+c.Address+path, nil) //nolint:noctx // of the test
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+made.Text)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if reads := method == http.MethodGet && access.Viewer.Allows(Needed(pattern)); (a.StatusCode == http.StatusForbidden) == reads {
			t.Errorf("%s by a viewer: %s", pattern, a.Status)
		}
	}
	for pattern := range needs {
		if !known[pattern] {
			t.Errorf("%s needs a role, but is no route", pattern)
		}
	}
}

// TestWhoIsTheActor: only the holder of the bootstrap token is whoever he says.
func TestWhoIsTheActor(t *testing.T) {
	p := someParts()
	c := serve(t, p, false)
	ctx := context.Background()
	var made TokenMade
	if err := c.Post(ctx, "tokens", TokenOrder{Actor: "root", Name: "olga", Role: access.Operator, Expires: time.Now().Add(time.Hour)}, &made); err != nil {
		t.Fatal(err)
	}
	olga := &Client{Address: c.Address, Token: made.Text}
	var r recommend.Recommendation
	for _, one := range []struct {
		by          *Client
		order, want string
	}{{c, "reject", "ada"}, {olga, "reopen", "olga"}, {olga, "reject", "olga"}, {c, "reopen", "ada"}} {
		if err := one.by.Post(ctx, "recommendations/r-1/"+one.order, Decision{Actor: "ada", Reason: "so"}, &r); err != nil || r.Actor != one.want {
			t.Errorf("%s: %q, not %q (%v)", one.order, r.Actor, one.want, err)
		}
	}
	var me access.Identity
	if err := olga.Get(ctx, "session", &me); err != nil || me.Name != "olga" || me.Role != access.Operator || me.Via != access.ViaToken {
		t.Errorf("%+v, %v", me, err)
	}
	var page AuditAnswer
	if err := olga.Get(ctx, "audit?limit=1", &page); err != nil || len(page.Entries) != 1 || page.Next == 0 || page.Entries[0].Actor != "root" || page.Entries[0].Via != access.ViaBootstrap || !strings.HasPrefix(page.Entries[0].From, "127.0.0.1:") {
		t.Errorf("%+v, %v", page, err)
	}
	next := page.Next
	page = AuditAnswer{}
	if err := olga.Get(ctx, fmt.Sprintf("audit?before=%d", next), &page); err != nil || len(page.Entries) != 0 || page.Next != 0 {
		t.Errorf("the next page: %+v, %v", page, err)
	}
}

// TestNobodyIsHelenus: what is ordered in the name of Helenus itself is not taken for its own work in the audit trail.
func TestNobodyIsHelenus(t *testing.T) {
	c := serve(t, someParts(), false)
	ctx := context.Background()
	for i, name := range []string{store.Self, store.Guard, "Guard"} {
		var made TokenMade
		if err := c.Post(ctx, "tokens", TokenOrder{Actor: name, Name: fmt.Sprint("eve", i), Role: access.Admin}, &made); err != nil {
			t.Fatal(err)
		}
		var page AuditAnswer
		if err := c.Get(ctx, "audit?limit=1", &page); err != nil || len(page.Entries) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		if e := page.Entries[0]; e.Actor != "api" || e.Via != access.ViaBootstrap || !strings.HasPrefix(e.From, "127.0.0.1:") || made.Creator != "api" {
			t.Errorf("as %s: %+v", name, e)
		}
	}
}

func TestTwoApprovers(t *testing.T) {
	p := someParts()
	p.options = func(o *Options) { o.Approvers = 2 }
	c := serve(t, p, false)
	ctx := context.Background()
	client := func(name string) *Client {
		t.Helper()
		var made TokenMade
		if err := c.Post(ctx, "tokens", TokenOrder{Name: name, Role: access.Operator}, &made); err != nil {
			t.Fatal(err)
		}
		return &Client{Address: c.Address, Token: made.Text}
	}
	ann, bob := client("ann"), client("bob")
	approve := func(by *Client, d Decision) (awaits bool, err error) {
		var raw []byte
		if err := by.Post(ctx, "recommendations/r-1/approve", d, &raw); err != nil {
			return false, err
		}
		var answer Proposed
		return json.Unmarshal(raw, &answer) == nil && answer.Proposal != nil, nil
	}
	refuse := func(why string, by *Client, d Decision) {
		t.Helper()
		if awaits, err := approve(by, d); code(t, err) != "refused" || len(p.migration) > 0 {
			t.Errorf("%s: %t, %v", why, awaits, err)
		}
	}
	propose := func(why string, by *Client, d Decision) {
		t.Helper()
		if awaits, err := approve(by, d); err != nil || !awaits || len(p.migration) > 0 || p.all[0].State != recommend.Open {
			t.Errorf("%s: %t, %v", why, awaits, err)
		}
	}
	propose("the first", ann, Decision{})
	refuse("the same again", ann, Decision{Actor: "bob"})
	var r recommend.Recommendation
	if err := bob.Get(ctx, "recommendations/r-1", &r); err != nil || !strings.Contains(r.Waits, "proposed by ann") {
		t.Errorf("%q, %v", r.Waits, err)
	}
	propose("another one, of something else", bob, Decision{OnEntryFailure: migrate.Refuse})
	propose("and of the first, which is not what was proposed last", ann, Decision{})
	propose("the bootstrap token, of something else", c, Decision{Actor: "eve", OnEntryFailure: migrate.Refuse})
	refuse("the bootstrap token under another name", c, Decision{Actor: "mallory", OnEntryFailure: migrate.Refuse})
	p.all[0].StateSince = time.Now() // it was rejected, and opened again
	propose("what was proposed before that", bob, Decision{OnEntryFailure: migrate.Refuse})
	if awaits, err := approve(ann, Decision{OnEntryFailure: migrate.Refuse}); err != nil || awaits || len(p.migration) != 1 || p.migration[0].Actor != "ann" {
		t.Errorf("the second: %t, %v, %v", awaits, err, p.migration)
	}
	if err := p.state.Load(ctx, kindProposal, "r-1", new(Proposal)); err == nil {
		t.Error("the proposal is there still")
	}
	p.migration = nil
	refuse("what is approved", bob, Decision{})
	p.all[0].State, p.all[0].Eligible = recommend.Open, false
	refuse("what is not eligible", bob, Decision{})
	trail, err := p.state.Audit(ctx, store.AuditQuery{Action: "propose"})
	if err != nil || len(trail) != 5 || trail[0].Actor != "bob" || trail[1].Actor != "eve" {
		t.Errorf("%+v, %v", trail, err)
	}
}

// TestTwoApproversOfChanges: with --each, the next change of a calendar's table needs two persons as well.
func TestTwoApproversOfChanges(t *testing.T) {
	p := someParts()
	p.calendars = []calendar.Calendar{{ID: "r-2", State: calendar.Following, Plan: plan.Calendar{Seasons: make([]plan.Season, 1)}, Seasons: []calendar.Season{{ID: "r-2.1", Stage: calendar.Out, Since: time.Now()}}}}
	p.options = func(o *Options) { o.Approvers = 2 }
	c := serve(t, p, false)
	ctx := context.Background()
	var made TokenMade
	if err := c.Post(ctx, "tokens", TokenOrder{Name: "ann", Role: access.Operator}, &made); err != nil {
		t.Fatal(err)
	}
	ann := &Client{Address: c.Address, Token: made.Text}
	var first Proposed
	if err := ann.Post(ctx, "recommendations/r-2.1/approve", Decision{}, &first); err != nil || first.Proposal == nil || len(p.orders) > 0 {
		t.Errorf("%+v, %v, %v", first, err, p.orders)
	}
	if err := c.Post(ctx, "recommendations/r-2.1/approve", Decision{Actor: "bob"}, new(any)); err != nil || len(p.orders) != 1 || p.orders[0] != "grant r-2.1 by bob" {
		t.Errorf("%v, %v", err, p.orders)
	}
	p.calendars[0].Seasons[0].Since = time.Now() // it was made: the next change is another one
	var next Proposed
	if err := c.Post(ctx, "recommendations/r-2.1/approve", Decision{Actor: "bob"}, &next); err != nil || next.Proposal == nil || len(p.orders) != 1 {
		t.Errorf("%+v, %v, %v", next, err, p.orders)
	}
	p.calendars[0].State = calendar.Withdrawing
	if got := code(t, ann.Post(ctx, "recommendations/r-2.1/approve", Decision{}, new(any))); got != "refused" || len(p.orders) != 1 {
		t.Errorf("of one that is withdrawn: %s, %v", got, p.orders)
	}
}
