package openid_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
	"github.com/helenus-db/helenus/internal/access/openid/openidtest"
)

// desk is a server that people log in at, and what became of the last who did.
type desk struct {
	*httptest.Server
	who  access.Identity
	next string
	err  error
}

func newDesk(t *testing.T, o openid.Options) *desk {
	t.Helper()
	d := &desk{}
	p := openid.New(o)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /begin", func(w http.ResponseWriter, r *http.Request) {
		if d.err = p.Begin(w, r, r.URL.Query().Get("next")); d.err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET "+openid.Path, func(w http.ResponseWriter, r *http.Request) { d.who, d.next, d.err = p.Finish(w, r) })
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Close)
	return d
}

func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func (d *desk) get(t *testing.T, c *http.Client, path string) {
	t.Helper()
	r, err := c.Get(d.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
}

func options(a *openidtest.Authority, rules ...string) openid.Options {
	parsed, err := openid.ParseRules(rules)
	if err != nil {
		panic(err)
	}
	return openid.Options{Issuer: a.URL, Client: openidtest.Client, Secret: openidtest.Secret, Name: "email", Claim: "groups", Roles: parsed}
}

func TestLogin(t *testing.T) {
	for name, c := range map[string]struct {
		claims map[string]any
		rules  []string
		claim  string
		want   access.Identity
		err    error
	}{
		"highest role":       {rules: []string{"*=viewer", "sre=admin", "db=operator"}, want: access.Identity{Name: "olga@example.org", Role: access.Admin}},
		"whatever the order": {rules: []string{"sre=admin", "*=viewer"}, want: access.Identity{Name: "olga@example.org", Role: access.Admin}},
		"everybody":          {rules: []string{"*=viewer", "dba=admin"}, want: access.Identity{Name: "olga@example.org", Role: access.Viewer}},
		"nobody":             {rules: []string{"dba=admin"}, err: openid.ErrNoRole},
		"one text":           {claims: map[string]any{"groups": "sre"}, rules: []string{"sre=operator"}, want: access.Identity{Name: "olga@example.org", Role: access.Operator}},
		"star is no group":   {claims: map[string]any{"groups": []string{"*"}}, rules: []string{"sre=admin"}, err: openid.ErrNoRole},
		"no list":            {claims: map[string]any{"groups": 7}, rules: []string{"7=admin"}, err: openid.ErrNoRole},
		"in an object": {claims: map[string]any{"realm_access": map[string]any{"roles": []string{"dba"}}}, claim: "realm_access.roles", rules: []string{"dba=admin"},
			want: access.Identity{Name: "olga@example.org", Role: access.Admin}},
		"equals in a value":        {claims: map[string]any{"groups": []string{"cn=dba"}}, rules: []string{"cn=dba=admin"}, want: access.Identity{Name: "olga@example.org", Role: access.Admin}},
		"mail that is not proven":  {claims: map[string]any{"email_verified": false}, rules: []string{"*=viewer"}, want: access.Identity{Name: "4711", Role: access.Viewer}},
		"mail not proven, as text": {claims: map[string]any{"email_verified": "false"}, rules: []string{"*=viewer"}, want: access.Identity{Name: "4711", Role: access.Viewer}},
		"mail proven, as text":     {claims: map[string]any{"email_verified": "true"}, rules: []string{"*=viewer"}, want: access.Identity{Name: "olga@example.org", Role: access.Viewer}},
		"a name of Helenus's":      {claims: map[string]any{"email": "Guard"}, rules: []string{"*=admin"}, err: openid.ErrRefused},
		"mail that is":             {claims: map[string]any{"email_verified": true}, rules: []string{"*=viewer"}, want: access.Identity{Name: "olga@example.org", Role: access.Viewer}},
		"without mail":             {claims: map[string]any{"email": nil}, rules: []string{"*=viewer"}, want: access.Identity{Name: "4711", Role: access.Viewer}},
		"a name of two lines":      {claims: map[string]any{"email": "olga\nactor=root"}, rules: []string{"*=viewer"}, err: openid.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			a := openidtest.New(t)
			maps.Copy(a.Claims, c.claims)
			o := options(a, c.rules...)
			if c.claim != "" {
				o.Claim = c.claim
			}
			d := newDesk(t, o)
			d.get(t, browser(t), "/begin?next=/ui/tables")
			if !errors.Is(d.err, c.err) || d.who.Name != c.want.Name || d.who.Role != c.want.Role {
				t.Fatalf("%+v, %v", d.who, d.err)
			}
			if d.next != "/ui/tables" {
				t.Errorf("goes on to %q", d.next)
			}
			if c.err == nil && (d.who.Via != access.ViaOpenID || !d.who.Ambient || d.who.Claims) {
				t.Errorf("%+v", d.who)
			}
		})
	}
}

// TestWrongTokens has the provider, or somebody in its place, answer with tokens that must not let anybody in.
func TestWrongTokens(t *testing.T) {
	for name, spoil := range map[string]func(*openidtest.Authority){
		"of another client": func(a *openidtest.Authority) { a.Spoil = func(c map[string]any) { c["aud"] = "grafana" } },
		"of another issuer": func(a *openidtest.Authority) {
			a.Spoil = func(c map[string]any) { c["iss"] = "https://login.example.org" }
		},
		"expired":            func(a *openidtest.Authority) { a.Spoil = func(c map[string]any) { c["exp"] = time.Now().Unix() - 1 } },
		"of another login":   func(a *openidtest.Authority) { a.Spoil = func(c map[string]any) { c["nonce"] = "another" } },
		"without a nonce":    func(a *openidtest.Authority) { a.Spoil = func(c map[string]any) { delete(c, "nonce") } },
		"signed by somebody": func(a *openidtest.Authority) { a.Alien = true },
	} {
		t.Run(name, func(t *testing.T) {
			a := openidtest.New(t)
			spoil(a)
			d := newDesk(t, options(a, "*=admin"))
			d.get(t, browser(t), "/begin")
			if !errors.Is(d.err, openid.ErrRefused) || d.who.Role != "" {
				t.Fatalf("%+v, %v", d.who, d.err)
			}
		})
	}
}

func TestLoginsThatWereNotBegunHere(t *testing.T) {
	a := openidtest.New(t)
	now := time.Now()
	o := options(a, "*=admin")
	o.Now = func() time.Time { return now }
	d := newDesk(t, o)
	stop := func(c *http.Client) { // at the provider's door
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}

	// Somebody is led to the end of a login that another began.
	d.get(t, browser(t), openid.Path+"?code=x&state=y")
	if !errors.Is(d.err, openid.ErrForeign) {
		t.Error(d.err)
	}
	// He began one of his own, too.
	own := browser(t)
	stop(own)
	d.get(t, own, "/begin")
	d.get(t, own, openid.Path+"?code=x&state=y")
	if !errors.Is(d.err, openid.ErrForeign) {
		t.Error(d.err)
	}
	// Whatever became of it, it can not be ended again.
	d.get(t, own, "/begin")
	u, _ := url.Parse(d.URL + openid.Path)
	state := stateOf(t, own.Jar.Cookies(u))
	d.get(t, own, openid.Path+"?error=access_denied&error_description=not%0Atoday&state="+state)
	if !errors.Is(d.err, openid.ErrRefused) || !strings.Contains(d.err.Error(), "access_denied: not today") {
		t.Error(d.err)
	}
	d.get(t, own, openid.Path+"?error=access_denied&state="+state)
	if !errors.Is(d.err, openid.ErrForeign) {
		t.Error(d.err)
	}
	// He took his time.
	d.get(t, own, "/begin")
	state = stateOf(t, own.Jar.Cookies(u))
	now = now.Add(11 * time.Minute)
	d.get(t, own, openid.Path+"?code=x&state="+state)
	if !errors.Is(d.err, openid.ErrForeign) {
		t.Error(d.err)
	}
	// A code that the provider does not know.
	d.get(t, own, "/begin")
	d.get(t, own, openid.Path+"?code=x&state="+stateOf(t, own.Jar.Cookies(u)))
	if !errors.Is(d.err, openid.ErrRefused) {
		t.Error(d.err)
	}
}

func stateOf(t *testing.T, cookies []*http.Cookie) string {
	t.Helper()
	for _, c := range cookies {
		text, err := base64.RawURLEncoding.DecodeString(c.Value)
		var trip struct{ State string }
		if err == nil && json.Unmarshal(text, &trip) == nil && trip.State != "" {
			return trip.State
		}
	}
	t.Fatalf("no login is on its way: %v", cookies)
	return ""
}

// TestProviderIsAway begins before the provider does: nothing waits for it, and it is asked again.
func TestProviderIsAway(t *testing.T) {
	a := openidtest.New(t)
	handler := a.Config.Handler
	var instead http.HandlerFunc
	a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if instead != nil {
			instead(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
	d := newDesk(t, options(a, "*=viewer"))
	for _, instead = range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		func(w http.ResponseWriter, r *http.Request) { // JSON may begin with as many blanks as somebody likes
			_, _ = w.Write(bytes.Repeat([]byte(" "), 2<<20))
			handler.ServeHTTP(w, r)
		},
	} {
		d.get(t, browser(t), "/begin")
		if !errors.Is(d.err, openid.ErrAway) {
			t.Fatal(d.err)
		}
	}
	instead = nil
	d.get(t, browser(t), "/begin")
	if d.err != nil || d.who.Role != access.Viewer {
		t.Fatalf("%+v, %v", d.who, d.err)
	}
}

func TestWhatTheProviderIsAsked(t *testing.T) {
	a := openidtest.New(t)
	o := options(a, "*=viewer")
	o.Scopes = []string{"groups"}
	d := newDesk(t, o)
	d.get(t, browser(t), "/begin")
	if a.Asked.Get("scope") != "openid profile email groups" || a.Asked.Get("code_challenge_method") != "S256" || a.Asked.Get("redirect_uri") != d.URL+openid.Path {
		t.Error(a.Asked)
	}
	o.Address = "https://helenus.example.org/"
	d = newDesk(t, o)
	c := browser(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := c.Get(d.URL + "/begin")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if to := r.Header.Get("Location"); !strings.Contains(to, url.QueryEscape("https://helenus.example.org"+openid.Path)) {
		t.Error(to)
	}
	if cookie := r.Header.Get("Set-Cookie"); !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Error(cookie)
	}
}

func TestRules(t *testing.T) {
	for _, bad := range []string{"", "sre", "=admin", "sre=root", "sre="} {
		if _, err := openid.ParseRules([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestTripBetweenMembers begins a login at one member, ends it at another, and is known at a third, as behind one service. What the browser brings is all that is needed of the trip.
func TestTripBetweenMembers(t *testing.T) {
	a := openidtest.New(t)
	file, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	var gates []*access.Gate
	var providers []*openid.Provider
	for range 3 {
		sessions, err := access.LoadSessions(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, access.New(access.Options{Sessions: sessions, Hosts: access.NewHosts("127.0.0.1:0", nil), Log: slog.New(slog.DiscardHandler)}))
		providers = append(providers, openid.New(options(a, "sre=operator")))
	}
	var who access.Identity
	var failed error
	mux := http.NewServeMux()
	mux.HandleFunc("GET /begin", func(w http.ResponseWriter, r *http.Request) { failed = providers[0].Begin(w, r, "/ui/tables") })
	mux.HandleFunc("GET "+openid.Path, func(w http.ResponseWriter, r *http.Request) {
		_, _, failed = gates[1].BeginAs(w, r, func() (who access.Identity, err error) {
			who, _, err = providers[1].Finish(w, r)
			return who, err
		})
	})
	mux.HandleFunc("GET /who", func(_ http.ResponseWriter, r *http.Request) { who, failed = gates[2].Identify(r) })
	service := httptest.NewServer(mux)
	t.Cleanup(service.Close)
	b := browser(t)
	for _, path := range []string{"/begin", "/who"} {
		answer, err := b.Get(service.URL + path) //nolint:noctx // of the test
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if failed != nil {
			t.Fatalf("%s: %v", path, failed)
		}
	}
	if who.Name != "olga@example.org" || who.Role != access.Operator || who.Via != access.ViaOpenID {
		t.Errorf("%+v", who)
	}
}
