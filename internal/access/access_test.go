package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// house is a gate whose time the test keeps.
type house struct {
	*Gate
	t     *testing.T
	store *store.Store
	log   bytes.Buffer
	now   time.Time
}

func newHouse(t *testing.T, change func(*Options)) *house {
	t.Helper()
	h := &house{t: t, now: time.Unix(1_000_000, 0).UTC()}
	var err error
	if h.store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	h.open(change)
	return h
}

// open begins as a process does.
func (h *house) open(change func(*Options)) {
	clock := func() time.Time { return h.now }
	tokens, err := LoadTokens(context.Background(), h.store, clock)
	if err != nil {
		h.t.Fatal(err)
	}
	sessions, err := LoadSessions(context.Background(), h.store)
	if err != nil {
		h.t.Fatal(err)
	}
	o := Options{Bootstrap: "secret", Tokens: tokens, Sessions: sessions, Hosts: NewHosts("127.0.0.1:19080", nil), Log: slog.New(slog.NewTextHandler(&h.log, nil)), Now: clock}
	if change != nil {
		change(&o)
	}
	h.Gate = New(o)
}

func (h *house) create(name string, role Role, expires time.Duration) string {
	h.t.Helper()
	var at time.Time
	if expires > 0 {
		at = h.now.Add(expires)
	}
	text, made, err := h.Tokens().Create(context.Background(), name, role, at, "root")
	if err != nil || made.Hash != "" {
		h.t.Fatal(made, err)
	}
	return text
}

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/model", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestTokenAtTheDoor(t *testing.T) {
	h := newHouse(t, nil)
	for header, want := range map[string]error{
		"Bearer secret": nil, "bearer secret": nil, "BEARER  secret ": nil, "bEaReR secret": nil,
		"": ErrMissing, "secret": ErrMissing, "Basic secret": ErrMissing, "Bearer": ErrWrong, "Bearer wrong": ErrWrong, "bearer Secret": ErrWrong, "Bearersecret": ErrMissing,
	} {
		r := request()
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if _, err := h.Identify(r); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", header, err, want)
		}
	}
	if n := h.Counts(); n.Missing.Load() != 4 || n.Wrong.Load() != 3 {
		t.Errorf("%d without, %d with a wrong token", n.Missing.Load(), n.Wrong.Load())
	}
	if n := strings.Count(h.log.String(), "\n"); n != 1 || !strings.Contains(h.log.String(), "remote=192.0.2.1:1234") || strings.Contains(h.log.String(), "Secret") {
		t.Errorf("%d lines: %s", n, h.log.String())
	}
	h.now = h.now.Add(wrongTokenEvery)
	_, _ = h.Identify(request("Authorization", "Bearer other"))
	if !strings.Contains(h.log.String(), "unlogged_before=2") {
		t.Error(h.log.String())
	}
	if _, err := h.Identify(request("Authorization", "Bearer secret", "Authorization", "Bearer other")); !errors.Is(err, ErrWrong) {
		t.Errorf("two tokens: %v", err)
	}
	h.open(func(o *Options) { o.Bootstrap = "" })
	if _, err := h.Identify(request("Authorization", "Bearer ")); !errors.Is(err, ErrWrong) {
		t.Errorf("without a bootstrap token an empty one: %v", err)
	}
}

func TestTokensOfPersons(t *testing.T) {
	h := newHouse(t, nil)
	ann, bob := h.create("ann", Operator, 0), h.create("bob", Viewer, time.Hour)
	is := func(text string, want Role) {
		t.Helper()
		who, err := h.Identify(request("Authorization", "Bearer "+text))
		if who.Role != want || (err == nil) != (want != "") || want != "" && (who.Via != ViaToken || who.Claims) {
			t.Errorf("%+v, %v; want %q", who, err, want)
		}
	}
	is(ann, Operator)
	is(bob, Viewer)
	is(strings.TrimPrefix(ann, Prefix), "")
	is(ann+"x", "")
	if ann == bob || len(ann) < len(Prefix)+43 { // 256 bits
		t.Errorf("%q, %q", ann, bob)
	}
	h.open(nil) // another process
	is(ann, Operator)
	raw, err := h.store.List(context.Background(), KindToken)
	if err != nil || len(raw) != 2 || strings.Contains(string(raw[0].Raw)+string(raw[1].Raw), ann[len(Prefix):]) {
		t.Errorf("kept: %v, %v", raw, err)
	}
	h.now = h.now.Add(time.Hour)
	is(bob, "")
	if _, _, err := h.Tokens().Create(context.Background(), "ann", Admin, time.Time{}, "root"); !errors.Is(err, ErrTaken) {
		t.Errorf("the name again: %v", err)
	}
	if _, err := h.Tokens().Revoke(context.Background(), "ann", "root"); err != nil {
		t.Fatal(err)
	}
	is(ann, "")
	if _, err := h.Tokens().Revoke(context.Background(), "ann", "root"); !errors.Is(err, ErrNoToken) {
		t.Errorf("again: %v", err)
	}
	h.open(nil)
	is(ann, "")
	for name, c := range map[string]struct {
		name    string
		role    Role
		expires time.Time
	}{
		"no name": {"", Viewer, time.Time{}}, "a line": {"a\nb", Viewer, time.Time{}}, "a path": {"../x", Viewer, time.Time{}}, "ours": {"Guard", Viewer, time.Time{}},
		"long": {strings.Repeat("a", 65), Viewer, time.Time{}}, "no role": {"eve", "", time.Time{}}, "another role": {"eve", "root", time.Time{}}, "expired": {"eve", Viewer, h.now},
	} {
		if _, _, err := h.Tokens().Create(context.Background(), c.name, c.role, c.expires, "root"); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	trail, err := h.store.Audit(context.Background(), store.AuditQuery{Action: "token"})
	if err != nil || len(trail) != 3 || trail[0].Action != "token.revoke" || trail[0].Target != "ann" || trail[0].Actor != "root" || trail[1].After != "viewer" {
		t.Errorf("%+v, %v", trail, err)
	}
}

// fails is a store that does not keep.
type fails struct{ Store }

func (fails) Commit(context.Context, store.Change) error { return errors.New("disk full") }

// TestRevokedThoughNotStored: what can not be stored holds in this process, and can be ordered again.
func TestRevokedThoughNotStored(t *testing.T) {
	h := newHouse(t, nil)
	ann := h.create("ann", Admin, 0)
	good := h.Tokens().store
	h.Tokens().store = fails{good}
	if _, _, err := h.Tokens().Create(context.Background(), "bob", Viewer, time.Time{}, "root"); err == nil || len(h.Tokens().List()) != 1 {
		t.Errorf("made without being kept: %v", err)
	}
	if _, err := h.Tokens().Revoke(context.Background(), "ann", "root"); err == nil || !strings.Contains(err.Error(), "revoke it again") {
		t.Error(err)
	}
	if _, err := h.Identify(request("Authorization", "Bearer "+ann)); !errors.Is(err, ErrWrong) {
		t.Errorf("it is valid still: %v", err)
	}
	h.Tokens().store = good
	if _, err := h.Tokens().Revoke(context.Background(), "ann", "root"); err != nil {
		t.Error(err)
	}
	if h.open(nil); len(h.Tokens().List()) != 0 {
		t.Error("it is there again")
	}
}

func TestWrongTokensAreLimited(t *testing.T) {
	h := newHouse(t, nil)
	ask := func(from, token string) error {
		r := request("Authorization", "Bearer "+token)
		r.RemoteAddr = from
		_, err := h.Identify(r)
		return err
	}
	for i := range wrongAtOnce {
		if err := ask("192.0.2.1:1", "wrong"); !errors.Is(err, ErrWrong) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	var limited *ErrLimited
	if err := ask("192.0.2.1:2", "secret"); !errors.As(err, &limited) || limited.After <= 0 || limited.After > wrongPause {
		t.Errorf("the right one after too many: %v", err)
	}
	if err := ask("192.0.2.2:1", "secret"); err != nil {
		t.Errorf("from another address: %v", err)
	}
	for range wrongAtOnce {
		_ = ask("[2001:db8::1]:1", "wrong")
	}
	if err := ask("[2001:db8::ffff:1]:1", "secret"); !errors.As(err, &limited) {
		t.Errorf("from another address of the same network: %v", err)
	}
	h.now = h.now.Add(wrongPause)
	if err := ask("192.0.2.1:1", "secret"); err != nil {
		t.Errorf("after a pause: %v", err)
	}
	for i := range maxLimiters + 50 {
		_ = ask(fmt.Sprintf("10.%d.%d.1:1", i/256, i%256), "wrong")
	}
	if n := len(h.limiters); n > maxLimiters {
		t.Errorf("%d addresses are remembered", n)
	}
}

func TestSessions(t *testing.T) {
	h := newHouse(t, nil)
	ann := h.create("ann", Operator, 0)
	begin := func(token string) *http.Cookie {
		t.Helper()
		w := httptest.NewRecorder()
		if _, _, err := h.Begin(w, request("Authorization", "Bearer "+token)); err != nil {
			t.Fatal(err)
		}
		c := w.Result().Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, token) {
			t.Errorf("%+v", c)
		}
		return c
	}
	ask := func(c *http.Cookie) (Identity, error) { return h.Identify(request("Cookie", c.Name+"="+c.Value)) }
	c, other := begin(ann), begin("secret")
	if who, err := ask(c); err != nil || who.Name != "ann" || who.Role != Operator || who.Via != ViaSession || !who.Ambient || who.Claims {
		t.Errorf("%+v, %v", who, err)
	}
	if who, err := ask(other); err != nil || who.Role != Admin || !who.Claims || !who.Ambient {
		t.Errorf("%+v, %v", who, err)
	}
	if _, _, err := h.Begin(httptest.NewRecorder(), request("Cookie", c.Name+"="+c.Value)); !errors.Is(err, ErrMissing) {
		t.Errorf("a session of a session: %v", err)
	}
	w := httptest.NewRecorder()
	h.End(w, request("Cookie", other.Name+"="+other.Value))
	if _, err := ask(other); !errors.Is(err, ErrEnded) || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("after its end: %v", err)
	}
	if _, err := h.Tokens().Revoke(context.Background(), "ann", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(c); !errors.Is(err, ErrEnded) {
		t.Errorf("after its token: %v", err)
	}
	h.create("ann", Admin, 0)
	if _, err := ask(c); !errors.Is(err, ErrEnded) {
		t.Errorf("of another token of the name: %v", err)
	}
	c = begin("secret")
	if h.now = h.now.Add(sessionFor); !errors.Is(func() error { _, err := ask(c); return err }(), ErrEnded) {
		t.Error("it does not end")
	}
	alone, _ := LoadSessions(t.Context(), nil)
	for i := range maxSessions + 5 {
		if err := alone.begin(t.Context(), fmt.Sprint(i), session{Name: "x", Expires: h.now.Add(time.Duration(i+1) * time.Second)}, h.now); err != nil {
			t.Fatal(err)
		}
	}
	if _, first, _ := alone.find(t.Context(), "4", h.now); len(alone.all) != maxSessions || first {
		t.Errorf("%d sessions; one of the oldest holds: %v", len(alone.all), first)
	}
}

// TestVouchedFor lets in somebody whom another knows, until the session ends; who is refused too often waits, as with wrong tokens.
func TestVouchedFor(t *testing.T) {
	h := newHouse(t, nil)
	olga := Identity{Name: "olga", Role: Operator, Via: ViaOpenID, Ambient: true}
	w := httptest.NewRecorder()
	who, until, err := h.BeginAs(w, request(), func() (Identity, error) { return olga, nil })
	if err != nil || who.Name != "olga" || !until.Equal(h.now.Add(sessionFor)) || len(w.Result().Cookies()) != 1 {
		t.Fatal(who, until, err)
	}
	r := request()
	r.AddCookie(w.Result().Cookies()[0])
	if who, err := h.Identify(r); err != nil || who.Name != "olga" || who.Role != Operator || who.Via != ViaOpenID || !who.Ambient || who.Claims || who.From == "" {
		t.Errorf("%+v, %v", who, err)
	}
	h.now = h.now.Add(sessionFor)
	if _, err := h.Identify(r); !errors.Is(err, ErrEnded) {
		t.Errorf("it does not end: %v", err)
	}
	refusal := errors.New("no role")
	for range wrongAtOnce {
		if _, _, err := h.BeginAs(httptest.NewRecorder(), request(), func() (Identity, error) { return Identity{}, refusal }); !errors.Is(err, refusal) {
			t.Fatal(err)
		}
	}
	asked := false
	_, _, err = h.BeginAs(httptest.NewRecorder(), request(), func() (Identity, error) { asked = true; return olga, nil })
	if limited := new(ErrLimited); !errors.As(err, &limited) || asked {
		t.Errorf("%v, and the provider was asked: %v", err, asked)
	}
}

func TestTrustedHeader(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.Header, o.HeaderRole, o.Proxies = "X-Forwarded-User", "X-Forwarded-Role", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	for name, c := range map[string]struct {
		from    string
		headers []string
		name    string
		role    Role
		origin  string
		err     error
	}{
		"a person":            {"10.1.2.3:80", []string{"X-Forwarded-User", "ann@example.org"}, "ann@example.org", Viewer, "10.1.2.3:80", nil},
		"with a role":         {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-Role", "operator"}, "ann", Operator, "10.1.2.3:80", nil},
		"of an address":       {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-For", "203.0.113.9, 198.51.100.7, 10.0.0.1"}, "ann", Viewer, "198.51.100.7 by 10.1.2.3", nil},
		"mapped":              {"[::ffff:10.1.2.3]:80", []string{"X-Forwarded-User", "ann"}, "ann", Viewer, "[::ffff:10.1.2.3]:80", nil},
		"from elsewhere":      {"192.0.2.1:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-Role", "admin"}, "", "", "", ErrMissing},
		"said to be from it":  {"192.0.2.1:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-For", "10.1.2.3"}, "", "", "", ErrMissing},
		"nobody":              {"10.1.2.3:80", nil, "", "", "", ErrMissing},
		"two persons":         {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-User", "eve"}, "", "", "", ErrHeader},
		"an empty one":        {"10.1.2.3:80", []string{"X-Forwarded-User", ""}, "", "", "", ErrHeader},
		"Helenus itself":      {"10.1.2.3:80", []string{"X-Forwarded-User", "guard", "X-Forwarded-Role", "admin"}, "", "", "", ErrHeader},
		"not printable":       {"10.1.2.3:80", []string{"X-Forwarded-User", "a\x1b[31m"}, "", "", "", ErrHeader},
		"two roles":           {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-Role", "viewer", "X-Forwarded-Role", "admin"}, "", "", "", ErrHeader},
		"no such role":        {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "X-Forwarded-Role", "root"}, "", "", "", ErrHeader},
		"a wrong token first": {"10.1.2.3:80", []string{"X-Forwarded-User", "ann", "Authorization", "Bearer wrong"}, "", "", "", ErrWrong},
	} {
		r := request(c.headers...)
		r.RemoteAddr = c.from
		who, err := h.Identify(r)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || err == nil && (who.Name != c.name || who.Role != c.role || who.From != c.origin || who.Via != ViaHeader || !who.Ambient) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	h.open(func(o *Options) {
		o.Header, o.HeaderRole, o.Proxies = "X-Forwarded-User", "operator", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	r := request("X-Forwarded-User", "ann", "operator", "admin")
	r.RemoteAddr = "10.0.0.1:1"
	if who, err := h.Identify(r); err != nil || who.Role != Operator {
		t.Errorf("one role for all: %+v, %v", who, err)
	}
}

func TestHosts(t *testing.T) {
	for bound, c := range map[string]struct {
		allowed []string
		yes, no []string
	}{
		"127.0.0.1:19080": {nil, []string{"", "localhost", "LOCALHOST:1", "localhost.", "127.0.0.1:19080", "127.8.0.1", "[::1]:19080", "[::1]", "[::ffff:127.0.0.1]:80"},
			[]string{"evil.example", "localhost.evil.example", "10.0.0.5", "127.0.0.1.nip.io", "evil.example:19080", "[::2]", "local host", "@localhost"}},
		"10.0.0.5:19080":      {nil, []string{"10.0.0.5:19080", "localhost"}, []string{"10.0.0.6", "helenus"}},
		"helenus.lan:19080":   {nil, []string{"helenus.lan", "Helenus.LAN:19080"}, []string{"lan", "x.helenus.lan"}},
		":19080":              {nil, []string{"10.0.0.6:19080", "[2001:db8::1]", "localhost"}, []string{"helenus", "evil.example"}},
		"0.0.0.0:19080":       {[]string{"helenus", "*.svc"}, []string{"helenus:19080", "helenus.db.svc", "10.0.0.6"}, []string{"svc", ".svc", "evil.example", "helenus.svc.evil.example"}},
		"[::]:19080":          {[]string{"*"}, []string{"whatever.example"}, nil},
		"[2001:db8::5]:19080": {nil, []string{"[2001:DB8::5]:19080", "[2001:db8:0::5]"}, []string{"[2001:db8::6]"}},
	} {
		h := NewHosts(bound, c.allowed)
		for _, host := range c.yes {
			if !h.allow(host) {
				t.Errorf("bound to %s, %q is refused", bound, host)
			}
		}
		for _, host := range c.no {
			if h.allow(host) {
				t.Errorf("bound to %s, %q is allowed", bound, host)
			}
		}
	}
}

func TestRoles(t *testing.T) {
	for has, may := range map[Role][3]bool{"": {}, "root": {}, Viewer: {true}, Operator: {true, true}, Admin: {true, true, true}} {
		for i, needed := range []Role{Viewer, Operator, Admin} {
			if has.Allows(needed) != may[i] {
				t.Errorf("%q allows %s: %t", has, needed, !may[i])
			}
		}
		if has.Allows("") || has.Allows("root") {
			t.Errorf("%q allows what is no role", has)
		}
	}
}

// An agent tells which rows were written, and sees nothing; who only reads does not tell.
func TestAgents(t *testing.T) {
	if r, err := ParseRole("agent"); err != nil || r != Agent {
		t.Errorf("%q, %v", r, err)
	}
	for _, c := range []struct {
		role, needed Role
		want         bool
	}{
		{Agent, Agent, true}, {Operator, Agent, true}, {Admin, Agent, true}, {Viewer, Agent, false}, {"", Agent, false},
		{Agent, Viewer, false}, {Agent, Operator, false}, {Agent, Admin, false},
	} {
		if got := c.role.Allows(c.needed); got != c.want {
			t.Errorf("%q does what %q may: %v", c.role, c.needed, got)
		}
	}
}
