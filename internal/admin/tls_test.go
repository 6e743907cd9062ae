package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// TestSecureAPI: the API speaks TLS as exporter-toolkit's file says, to those with a certificate, if it says so.
func TestSecureAPI(t *testing.T) {
	dir := t.TempDir()
	ca, err := authority.New(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(authority.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := ca.Client("client")
	if err != nil {
		t.Fatal(err)
	}
	pool := ca.Pool()
	web := filepath.Join(dir, "web.yml")
	if err := os.WriteFile(web, fmt.Appendf(nil, "tls_server_config:\n  cert_file: %s\n  key_file: %s\n  client_ca_file: %s\n  client_auth_type: RequireAndVerifyClientCert\n", pair.Certificate, pair.Key, ca.File), 0o600); err != nil {
		t.Fatal(err)
	}
	p := someParts()
	p.options = func(o *Options) { o.WebConfig = web }
	plain := serve(t, p, false)
	with := func(c *tls.Config) *Client {
		h := &http.Client{Transport: &http.Transport{TLSClientConfig: c}}
		t.Cleanup(h.CloseIdleConnections)
		return &Client{Address: "https://" + plain.Address, Token: "secret", HTTP: h}
	}
	ctx := context.Background()
	if err := with(&tls.Config{RootCAs: pool, Certificates: own.Certificates}).Get(ctx, "recommendations", new(Recommendations)); err != nil {
		t.Errorf("as it should be: %v", err)
	}
	for name, c := range map[string]*Client{
		"without a certificate": with(&tls.Config{RootCAs: pool}),
		"of another CA":         with(&tls.Config{Certificates: own.Certificates}),
	} {
		if err := c.Get(ctx, "recommendations", new(Recommendations)); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *Error
	if err := plain.Get(ctx, "recommendations", new(Recommendations)); !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		t.Errorf("in plain HTTP: %v", err)
	}
	secured := with(&tls.Config{RootCAs: pool, Certificates: own.Certificates})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, secured.Address+"/api/v1/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	a, err := secured.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if c := a.Header.Get("Set-Cookie"); !strings.Contains(c, "Secure") || !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") || a.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("the cookie is %q", c)
	}
}

// TestOrdersOfASession: a browser that has logged in gives orders as whoever it is, until it has logged out.
func TestOrdersOfASession(t *testing.T) {
	p := someParts()
	c := serve(t, p, false)
	var made TokenMade
	if err := c.Post(context.Background(), "tokens", TokenOrder{Name: "olga", Role: access.Operator}, &made); err != nil {
		t.Fatal(err)
	}
	cookie := sessionOf(t, c, made.Text)
	ask := func(method, path string) int {
		t.Helper()
		r, err := http.NewRequest(method, "http://"+c.Address+path, strings.NewReader(`{"reason": "so", "actor": "eve"}`)) //nolint:noctx // of the test
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(cookie)
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		r.Header.Set("Origin", "http://"+c.Address)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.StatusCode
	}
	reject := "/api/v1/recommendations/r-1/reject"
	if got := fmt.Sprint(ask("POST", reject), ask("DELETE", "/api/v1/session"), ask("POST", reject)); got != "200 204 401" || p.all[0].Actor != "olga" {
		t.Errorf("%s, by %s", got, p.all[0].Actor)
	}
}

// TestMetricsAreOpen unless they are to be guarded; then a viewer may read them.
func TestMetricsAreOpen(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		p := someParts()
		p.options = func(o *Options) { o.MetricsToken = guarded }
		c := serve(t, p, false)
		var made TokenMade
		if err := c.Post(context.Background(), "tokens", TokenOrder{Name: "prometheus", Role: access.Viewer}, &made); err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]int{"": map[bool]int{false: 200, true: 401}[guarded], made.Text: 200} {
			r, err := http.NewRequest(http.MethodGet, "http://"+c.Address+"/metrics", nil) //nolint:noctx // of the test
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
			_ = a.Body.Close()
			if a.StatusCode != want {
				t.Errorf("guarded %t, with a token %t: %s", guarded, token != "", a.Status)
			}
		}
	}
}
