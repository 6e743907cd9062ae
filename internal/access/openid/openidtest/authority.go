// Package openidtest is an OpenID Connect provider for tests.
package openidtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Client and Secret are what it knows Helenus by.
const (
	Client = "helenus"
	Secret = "s3cret"
)

// Authority is a provider in the process: it lets everybody in as whoever Claims say, and does with its tokens what Spoil says.
type Authority struct {
	*httptest.Server
	Claims map[string]any
	Spoil  func(claims map[string]any) // changes the claims before they are signed
	Alien  bool                        // it signs with another key
	Asked  url.Values                  // of the last login
	Form   bool                        // a person sees a page of its own, and presses a button there
	t      testing.TB
	key    *rsa.PrivateKey
	codes  map[string]url.Values
}

// New starts one, which the test stops.
func New(t testing.TB) *Authority {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := &Authority{t: t, key: key, codes: map[string]url.Values{}, Claims: map[string]any{"sub": "4711", "email": "olga@example.org", "groups": []string{"db", "sre"}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		a.write(w, map[string]any{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "jwks_uri": a.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		a.write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		a.Asked = r.URL.Query()
		code := rand.Text()
		a.codes[code] = a.Asked
		back := url.Values{"code": {code}, "state": {a.Asked.Get("state")}}
		to := a.Asked.Get("redirect_uri") + "?" + back.Encode()
		if a.Form {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<a id="enter" href="%s">Enter</a>`, html.EscapeString(to))
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	mux.HandleFunc("POST /token", a.token)
	a.Server = httptest.NewServer(mux)
	a.URL = strings.Replace(a.URL, "127.0.0.1", "localhost", 1) // to a browser another site than a server under test
	t.Cleanup(a.Close)
	return a
}

func (a *Authority) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.t.Error(err)
	}
}

// token takes a code once, from whoever began the login (RFC 7636, 4.6) and knows the client's secret.
func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	code := r.PostFormValue("code")
	asked, ok := a.codes[code]
	delete(a.codes, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, basic := r.BasicAuth()
	if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || basic && (id != Client || secret != Secret) {
		w.WriteHeader(http.StatusBadRequest)
		a.write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	now := time.Now().Unix()
	claims := map[string]any{"iss": a.URL, "aud": Client, "iat": now, "exp": now + 300, "nonce": asked.Get("nonce")}
	maps.Copy(claims, a.Claims)
	if a.Spoil != nil {
		a.Spoil(claims)
	}
	key := a.key
	if a.Alien {
		key, _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	if err != nil {
		a.t.Error(err)
		return
	}
	text, _ := json.Marshal(claims)
	signed, err := signer.Sign(text)
	if err != nil {
		a.t.Error(err)
		return
	}
	raw, _ := signed.CompactSerialize()
	a.write(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": raw})
}
