package admin

import (
	"context"
	"net/http"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
)

// Person is whoever sent a request.
type Person = access.Identity

// Begin turns a token into a session, whose cookie it sets.
func (s *Server) Begin(w http.ResponseWriter, r *http.Request, token string) error {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	i, expires, err := s.o.Gate.Begin(w, r)
	if err != nil {
		return classify(err)
	}
	s.o.Log.Info("session begun", "actor", i.Name, "role", i.Role, "from", i.From, "until", expires)
	return nil
}

// Provider names the provider that people log in with, besides tokens; empty if there is none.
func (s *Server) Provider() string {
	if s.o.OpenID == nil {
		return ""
	}
	return s.o.OpenID.Host()
}

// LeaveForProvider sends a browser to that provider; next is the page that it is to see afterwards.
func (s *Server) LeaveForProvider(w http.ResponseWriter, r *http.Request, next string) error {
	if s.o.OpenID == nil {
		return &Error{Status: http.StatusNotFound, Code: "not_found", Message: "No provider is set that people log in with (setting openid-issuer)."}
	}
	if err := s.o.OpenID.Begin(w, r, next); err != nil {
		return classify(err)
	}
	return nil
}

// BeginByProvider makes a session of somebody who comes back from the provider, and tells where to go on.
func (s *Server) BeginByProvider(w http.ResponseWriter, r *http.Request) (next string, err error) {
	if s.o.OpenID == nil {
		return "", s.LeaveForProvider(w, r, "")
	}
	i, expires, err := s.o.Gate.BeginAs(w, r, func() (who access.Identity, err error) {
		who, next, err = s.o.OpenID.Finish(w, r)
		return who, err
	})
	if err != nil {
		return next, classify(err)
	}
	s.o.Log.Info("session begun", "actor", i.Name, "role", i.Role, "via", i.Via, "from", i.From, "until", expires)
	return next, nil
}

// End ends the session of a request, if it has one.
func (s *Server) End(w http.ResponseWriter, r *http.Request) { s.o.Gate.End(w, r) }

// Who finds out who sent a request, and returns the context in which Ask, and the audit trail, know that.
func (s *Server) Who(r *http.Request) (context.Context, Person, error) {
	i, err := s.o.Gate.Identify(r)
	if err != nil {
		return nil, i, classify(err)
	}
	return as(r.Context(), i), i, nil
}

// as is a context in which it is known who asks.
func as(ctx context.Context, i access.Identity) context.Context {
	ctx = store.As(ctx, store.Actor{Name: i.Name, Role: string(i.Role), Via: i.Via, From: i.From})
	return context.WithValue(ctx, identityKey{}, i)
}

// Stopping is closed when the server shuts down: answers without an end must end then.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }
