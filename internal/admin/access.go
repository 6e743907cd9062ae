package admin

import (
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
)

// needs are the routes that need another role than their method: GET is for viewers, all else for operators.
var needs = map[string]access.Role{
	"POST /api/v1/changes/{id}/drop":    access.Admin,
	"POST /api/v1/migrations/{id}/drop": access.Admin, // its name until the last release
	"POST /api/v1/bypass/on":            access.Admin,
	"POST /api/v1/bypass/off":           access.Admin,
	"POST /api/v1/sampling/on":          access.Admin, // what is learnt of values
	"POST /api/v1/sampling/off":         access.Admin,
	"POST /api/v1/capture/record":       access.Admin, // and given away
	"GET /api/v1/cdc/tables":            access.Agent,
	"POST /api/v1/cdc/rows":             access.Agent,
	"GET /api/v1/tokens":                access.Admin,
	"POST /api/v1/tokens":               access.Admin,
	"DELETE /api/v1/tokens/{name}":      access.Admin,
	"DELETE /api/v1/sessions/{name}":    access.Admin,
	"DELETE /api/v1/members/{id}":       access.Admin, // whose writes nobody follows any more
}

// Needed is the role that a route needs: "POST /api/v1/changes/{id}/drop".
func Needed(pattern string) access.Role {
	if role, ok := needs[pattern]; ok {
		return role
	}
	if method, _, _ := strings.Cut(pattern, " "); method == http.MethodGet || method == http.MethodHead {
		return access.Viewer
	}
	return access.Operator
}

type identityKey struct{}

// who sent a request that went through the gate.
func who(r *http.Request) access.Identity {
	i, _ := r.Context().Value(identityKey{}).(access.Identity)
	return i
}

// jsonType reports whether a body says that it is JSON.
func jsonType(header string) bool {
	kind, _, err := mime.ParseMediaType(header)
	return err == nil && kind == "application/json"
}

// careful refuses what a foreign page may have made a browser send, and tells browsers to be careful with answers. Whether the process lives
// may be asked under any name.
func (s *Server) careful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		access.Headers(w, r)
		if err := s.o.Gate.Check(r); err != nil && r.URL.Path != "/healthz" {
			s.o.Log.Warn("a request was refused", "remote", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "why", err)
			writeError(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// identified lets requests of whoever is known through.
func (s *Server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := s.o.Gate.Identify(r)
		if err != nil {
			writeError(w, err)
			return
		}
		if kind := r.Header.Get("Content-Type"); i.Ambient && r.ContentLength != 0 && !jsonType(kind) {
			writeError(w, &Error{Status: http.StatusUnsupportedMediaType, Code: "invalid", Message: fmt.Sprintf("Content-Type %q: the body must be application/json, which a form of another site can not send", kind)})
			return
		}
		next.ServeHTTP(w, r.WithContext(as(r.Context(), i)))
	})
}

// allowed lets those through who have a role.
func (s *Server) allowed(role access.Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i := who(r); !i.Role.Allows(role) {
			s.o.Gate.Counts().Forbidden.Add(1)
			s.o.Log.Warn("a request was refused", "remote", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "actor", i.Name, "role", i.Role, "needs", role)
			writeError(w, &Error{Status: http.StatusForbidden, Code: "forbidden", Message: fmt.Sprintf("%s is %s; this needs role %s", i.Name, i.Role, role)})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refused is what an error of the gate means to whoever asked; nil if it is none.
func refused(err error) *Error {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	var limited *access.ErrLimited
	switch {
	case is(access.ErrMissing, access.ErrWrong, access.ErrEnded, access.ErrHeader):
		return &Error{Status: http.StatusUnauthorized, Code: "unauthorised", Message: err.Error()}
	case is(openid.ErrForeign):
		return &Error{Status: http.StatusBadRequest, Code: "invalid", Message: err.Error()}
	case is(openid.ErrRefused, openid.ErrNoRole):
		return &Error{Status: http.StatusForbidden, Code: "forbidden", Message: err.Error()}
	case is(openid.ErrAway):
		return &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: err.Error()}
	case errors.As(err, &limited):
		return &Error{Status: http.StatusTooManyRequests, Code: "limited", Message: err.Error(), after: limited.After}
	case is(access.ErrHost):
		return &Error{Status: http.StatusMisdirectedRequest, Code: "forbidden", Message: err.Error()}
	case is(access.ErrOrigin):
		return &Error{Status: http.StatusForbidden, Code: "forbidden", Message: err.Error()}
	case is(access.ErrNoToken):
		return &Error{Status: http.StatusNotFound, Code: "not_found", Message: err.Error()}
	case is(access.ErrTaken):
		return &Error{Status: http.StatusConflict, Code: "refused", Message: err.Error()}
	case is(access.ErrInvalid):
		return &Error{Status: http.StatusBadRequest, Code: "invalid", Message: err.Error()}
	}
	return nil
}

// challenge sets the headers that go with a refusal.
func (e *Error) challenge(h http.Header) {
	switch e.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="helenus"`)
	case http.StatusTooManyRequests:
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.after.Seconds()))))
	}
}

// accessRoutes are the routes about who may do what.
func (s *Server) accessRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/audit", s.audit)
	route("GET /api/v1/session", func(r *http.Request) (any, error) { return who(r), nil })
	route("GET /api/v1/tokens", func(*http.Request) (any, error) { return s.o.Gate.Tokens().List(), nil })
	route("POST /api/v1/tokens", s.createToken)
	route("DELETE /api/v1/sessions/{name}", s.endSessions)
	route("DELETE /api/v1/tokens/{name}", func(r *http.Request) (any, error) {
		d, err := decision(r)
		if err != nil {
			return nil, err
		}
		gone, err := s.o.Gate.Tokens().Revoke(r.Context(), r.PathValue("name"), d.Actor)
		s.o.Log.Info("token revoked", "name", r.PathValue("name"), "actor", d.Actor, "from", who(r).From, "error", err)
		return gone, err
	})
}

// SessionsEnded is the answer to DELETE sessions/NAME.
type SessionsEnded struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"` // that there were
}

// endSessions ends all sessions of somebody.
func (s *Server) endSessions(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	n, err := s.o.Gate.Sessions().EndOf(r.Context(), name, d.Actor)
	s.o.Log.Info("sessions ended", "name", name, "sessions", n, "actor", d.Actor, "from", who(r).From, "error", err)
	return SessionsEnded{name, n}, err
}

// TokenOrder is the body of POST tokens.
type TokenOrder struct {
	Actor   string      `json:"actor,omitempty"` // see Decision
	Name    string      `json:"name"`
	Role    access.Role `json:"role"`
	Expires time.Time   `json:"expires,omitzero"`
}

// TokenMade is the answer: the only one that has the token's text.
type TokenMade struct {
	access.Token
	Text string `json:"token"`
}

func (s *Server) createToken(r *http.Request) (any, error) {
	var o TokenOrder
	if err := body(r, &o, `{"name": "ann", "role": "operator"}`); err != nil {
		return nil, err
	}
	actor, err := actorOf(r, o.Actor)
	if err != nil {
		return nil, err
	}
	text, made, err := s.o.Gate.Tokens().Create(r.Context(), o.Name, o.Role, o.Expires, actor)
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("token created", "name", o.Name, "role", o.Role, "expires", o.Expires, "actor", actor, "from", who(r).From)
	return TokenMade{made, text}, nil
}

// actorOf is who gives an order: whoever the request came from; only the holder of the bootstrap token is whoever he says, but not Helenus, which
// is what the command line says when it is run as the user helenus.
func actorOf(r *http.Request, claimed string) (string, error) {
	i := who(r)
	if !i.Claims || claimed == "" || access.Reserved(claimed) {
		return i.Name, nil
	}
	if !access.Printable(claimed) {
		return "", invalid("actor: a name of up to 128 printable characters")
	}
	return claimed, nil
}

// session turns a token into a cookie, and ends that. Neither goes through the gate: there is no session before, and ending none does no harm.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		s.o.Gate.End(w, r)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	i, expires, err := s.o.Gate.Begin(w, r)
	if err != nil {
		writeError(w, err)
		return
	}
	s.o.Log.Info("session begun", "actor", i.Name, "role", i.Role, "from", i.From, "until", expires)
	writeJSON(w, struct {
		access.Identity
		Expires time.Time `json:"expires"`
	}{i, expires})
}
