package console

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
	"github.com/helenus-db/helenus/internal/access/openid/openidtest"
	"github.com/helenus-db/helenus/internal/admin"
)

// TestProviderIsAway says so on the page of the login, where a token is good.
func TestProviderIsAway(t *testing.T) {
	w := hotel(t).get("/ui/login/openid?next=/ui/tables")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the provider is away") || !strings.Contains(w.Body.String(), `value="/ui/tables"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	lawful(t, w.Body.String())
}

// TestArrived goes on from a page of ours, and to pages of ours alone.
func TestArrived(t *testing.T) {
	for next, want := range map[string]string{"/ui/tables": "/ui/tables", "https://evil.example/": "/ui/", "//evil.example/ui/": "/ui/", "": "/ui/"} {
		w := hotel(t).get(openid.Path + "?next=" + next)
		if w.Code != http.StatusOK || w.Header().Get("Refresh") != "0; url="+want || !strings.Contains(w.Body.String(), `href="`+want+`"`) {
			t.Errorf("%q: %d, %q", next, w.Code, w.Header().Get("Refresh"))
		}
		lawful(t, w.Body.String())
	}
}

// TestLoginWithProvider logs in with a real browser by way of another site (localhost is another than 127.0.0.1): the session's cookie, which
// is Strict, must be sent with the page that was asked for.
func TestLoginWithProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	a := openidtest.New(t)
	a.Form = true
	f := hotel(t)
	log := slog.New(slog.DiscardHandler)
	server := httptest.NewUnstartedServer(nil)
	gate := access.New(access.Options{Bootstrap: "secret", Hosts: access.NewHosts(server.Listener.Addr().String(), nil), Log: log})
	// Of its API nothing is asked: the pages are made of the fixture.
	api := admin.New(admin.Options{Gate: gate, Log: log, Migrator: struct{ admin.Migrator }{}, OpenID: openid.New(openid.Options{
		Issuer: a.URL, Client: openidtest.Client, Secret: openidtest.Secret, Name: "email", Claim: "groups", Roles: []openid.Rule{{Value: "sre", Role: access.Operator}},
	})})
	server.Config.Handler = f.with(api)
	server.Start()
	t.Cleanup(server.Close)
	ctx := browser(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/ui/tables"), chromedp.WaitReady("h1"), chromedp.Click("a.button.main"),
		chromedp.Click("#enter"), chromedp.WaitVisible(`form[action="/ui/logout"]`)); err != nil {
		t.Fatal(err)
	}
	at, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.pathname + ' ' + document.body.innerText"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(at, "/ui/tables ") || !strings.Contains(at, "operator") {
		t.Error(at)
	}
}

// TestComesFromAnotherSite: a link in Grafana brings no cookie, as that is Strict. The browser is not sent to the login, but to the same page once more, from ours; from there, who has
// no session is asked for a token.
func TestComesFromAnotherSite(t *testing.T) {
	f := hotel(t)
	f.nobody = true
	r := httptest.NewRequest(http.MethodGet, "/ui/changes/r-46cc57?x=1", nil)
	for site, want := range map[string]int{"cross-site": http.StatusOK, "same-origin": http.StatusSeeOther, "none": http.StatusSeeOther} {
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		f.handler().ServeHTTP(w, r)
		if w.Code != want || site == "cross-site" && w.Header().Get("Refresh") != "0; url=/ui/changes/r-46cc57?x=1" {
			t.Errorf("%s: %d %v", site, w.Code, w.Header())
		}
		if w.Code == http.StatusOK {
			lawful(t, w.Body.String())
		}
	}
}
