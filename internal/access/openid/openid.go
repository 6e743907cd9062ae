// Package openid lets people log in at the console with the account that they have elsewhere (OpenID Connect), and takes their roles
// from what the provider says of them. It imports internal/access, which makes sessions of whom it lets in.
//
// The flow is that of a code with PKCE (RFC 7636): Begin sends the browser to the provider, and what is needed to recognise it when it
// comes back (state, nonce, verifier, page) into a cookie of its own, so that no member of a fleet has to remember who is on the way.
// Finish takes the code to the provider, checks the ID token (signature, issuer, audience, time, nonce), and reads name and role.
//
// The provider is asked for when somebody logs in, never before: nothing else waits for it, and tokens are good without it.
package openid

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/helenus-db/helenus/internal/access"
)

// Path is where the provider sends browsers back to.
const Path = "/ui/login/openid/callback"

// cookieName is of the cookie of whoever is on the way to the provider; pending is how long that may take.
const (
	cookieName = "helenus_openid"
	pending    = 10 * time.Minute
	// patience bounds how long the provider is waited for, and maxAnswer what it answers, bytes.
	patience  = 10 * time.Second
	maxAnswer = 1 << 20
)

// Options of a Provider; Issuer and Client are needed.
type Options struct {
	Issuer         string // as the provider writes it in its tokens
	Client, Secret string // what it knows Helenus by
	Scopes         []string
	// Name is the claim that says who somebody is in the audit trail; without it, `sub` does.
	Name string
	// Claim holds what Roles are said by; a dot leads into an object (realm_access.roles).
	Claim string
	Roles []Rule
	// Address is where browsers reach the console, such as https://helenus.example.org; empty: as they say.
	Address string
	HTTP    *http.Client // nil: one of its own
	Now     func() time.Time
}

// Provider is who vouches for people.
type Provider struct {
	o    Options
	http *http.Client

	known atomic.Pointer[oidc.Provider] // nil until it has answered
}

// New returns the provider; it is not asked for anything yet.
func New(o Options) *Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	client := http.Client{Timeout: patience}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	client.Transport = bounded{cmp.Or(client.Transport, http.DefaultTransport)}
	return &Provider{o: o, http: &client}
}

// bounded ends answers that are longer than any of a provider's: who reads them reads them whole.
type bounded struct{ by http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.by.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// Host is the provider's name, as people know it.
func (p *Provider) Host() string {
	if u, err := url.Parse(p.o.Issuer); err == nil {
		return u.Host
	}
	return p.o.Issuer
}

// Why somebody is not let in.
var (
	ErrAway    = errors.New("the provider that people log in with can not be asked: try again, or log in with a token")
	ErrForeign = errors.New("this login was not begun in this browser, or too long ago: begin again")
	ErrRefused = errors.New("the provider did not let you in")
	ErrNoRole  = errors.New("you are known, but have no role here: the setting openid-roles says who has which")
)

// trip is what is remembered, in the browser, of a login on its way.
type trip struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"`
	Until    int64  `json:"until"` // Unix seconds
}

// Begin sends a browser to the provider; when it comes back and is let in, next is the page that it goes on to.
func (p *Provider) Begin(w http.ResponseWriter, r *http.Request, next string) error {
	c, _, err := p.client(r)
	if err != nil {
		return err
	}
	t := trip{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, Until: p.o.Now().Add(pending).Unix()}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	http.SetCookie(w, p.cookie(r, base64.RawURLEncoding.EncodeToString(text), int(pending/time.Second)))
	//nolint:gosec // to the provider's own address, which it told itself
	http.Redirect(w, r, c.AuthCodeURL(t.State, oidc.Nonce(t.Nonce), oauth2.S256ChallengeOption(t.Verifier)), http.StatusSeeOther)
	return nil
}

// Finish tells who came back from the provider, and which page is to be shown.
func (p *Provider) Finish(w http.ResponseWriter, r *http.Request) (who access.Identity, next string, err error) {
	t, err := p.trip(r)
	http.SetCookie(w, p.cookie(r, "", -1)) // whatever becomes of it, it is over
	if err != nil {
		return who, "", err
	}
	q := r.URL.Query()
	if said := q.Get("error"); said != "" {
		return who, t.Next, fmt.Errorf("%w: %s", ErrRefused, printable(said+": "+q.Get("error_description")))
	}
	c, known, err := p.client(r)
	if err != nil {
		return who, t.Next, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(r.Context(), p.http), patience)
	defer cancel()
	got, err := c.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(t.Verifier))
	if err != nil {
		if answered := new(oauth2.RetrieveError); errors.As(err, &answered) {
			return who, t.Next, fmt.Errorf("%w: it does not take the code: %s", ErrRefused, printable(answered.ErrorCode+" "+answered.ErrorDescription))
		}
		return who, t.Next, fmt.Errorf("%w: %w", ErrAway, err)
	}
	raw, _ := got.Extra("id_token").(string)
	token, err := known.VerifierContext(ctx, &oidc.Config{ClientID: p.o.Client, Now: p.o.Now}).Verify(ctx, raw)
	if err != nil {
		return who, t.Next, fmt.Errorf("%w: its ID token does not hold: %w", ErrRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(t.Nonce)) != 1 {
		return who, t.Next, fmt.Errorf("%w: its ID token is of another login", ErrRefused)
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return who, t.Next, fmt.Errorf("%w: its ID token can not be read: %w", ErrRefused, err)
	}
	who, err = p.identify(claims, token.Subject)
	return who, t.Next, err
}

// trip reads the cookie of whoever comes back, and holds it against what the provider was told.
func (p *Provider) trip(r *http.Request) (trip, error) {
	var t trip
	c, err := r.Cookie(cookieName)
	if err != nil {
		return t, ErrForeign
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	state := r.URL.Query().Get("state")
	if err != nil || t.State == "" || subtle.ConstantTimeCompare([]byte(t.State), []byte(state)) != 1 || p.o.Now().Unix() >= t.Until {
		return trip{}, ErrForeign
	}
	return t, nil
}

// client is what speaks to the provider for a request, which may be the first that asks for it.
func (p *Provider) client(r *http.Request) (*oauth2.Config, *oidc.Provider, error) {
	known := p.known.Load()
	if known == nil { // several may ask at a time: none waits for another's patience
		// The context stays with the provider's keys, so it is not the request's.
		found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), p.http), p.o.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrAway, err)
		}
		known = found
		p.known.Store(known)
	}
	return &oauth2.Config{
		ClientID: p.o.Client, ClientSecret: p.o.Secret, Endpoint: known.Endpoint(), RedirectURL: p.address(r) + Path,
		Scopes: append([]string{oidc.ScopeOpenID, "profile", "email"}, p.o.Scopes...),
	}, known, nil
}

// address is where this browser reaches the console. Whom a request is addressed to was checked before (access.Gate.Check).
func (p *Provider) address(r *http.Request) string {
	switch {
	case p.o.Address != "":
		return strings.TrimSuffix(p.o.Address, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// cookie comes back with the browser from the provider's page, so it is Lax, where that of a session is Strict.
func (p *Provider) cookie(r *http.Request, text string, seconds int) *http.Cookie {
	//nolint:gosec // Secure is for TLS: over plain HTTP the browser would not send it
	return &http.Cookie{Name: cookieName, Value: text, Path: Path, MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.address(r), "https://")}
}
