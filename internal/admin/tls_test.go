package admin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/access"
)

// certify writes a certificate for 127.0.0.1 that vouches for itself, and its key, and returns both.
func certify(t *testing.T, dir, name string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, private := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	for file, text := range map[string][]byte{name + ".crt": cert, name + ".key": private} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool, pair
}

// TestSecureAPI: the API speaks TLS as exporter-toolkit's file says, to those with a certificate, if it says so.
func TestSecureAPI(t *testing.T) {
	dir := t.TempDir()
	pool, _ := certify(t, dir, "server")
	_, own := certify(t, dir, "client")
	web := filepath.Join(dir, "web.yml")
	if err := os.WriteFile(web, []byte("tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n  client_ca_file: client.crt\n  client_auth_type: RequireAndVerifyClientCert\n"), 0o600); err != nil {
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
	if err := with(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}}).Get(ctx, "recommendations", new(Recommendations)); err != nil {
		t.Errorf("as it should be: %v", err)
	}
	for name, c := range map[string]*Client{
		"without a certificate": with(&tls.Config{RootCAs: pool}),
		"of another CA":         with(&tls.Config{Certificates: []tls.Certificate{own}}),
	} {
		if err := c.Get(ctx, "recommendations", new(Recommendations)); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *Error
	if err := plain.Get(ctx, "recommendations", new(Recommendations)); !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		t.Errorf("in plain HTTP: %v", err)
	}
	secured := with(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}})
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
