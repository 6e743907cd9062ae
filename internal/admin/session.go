package admin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"sync"
	"time"
)

// SessionCookie is the name of the cookie of a session.
const SessionCookie = "helenus_session"

// How long a session lasts, and how many there may be: of more, the oldest ends.
const (
	sessionFor  = 12 * time.Hour
	maxSessions = 1000
)

// Person is whoever is known by a session.
type Person struct {
	Name   string
	Role   string
	Claims bool // he says himself who he is, as the token is of nobody in particular
}

// sessions are when those end that have begun, by the digest of what the cookie holds.
type sessions struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]time.Time
}

func (s *sessions) begin(now time.Time) string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	text := hex.EncodeToString(random[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[sha256.Size]byte]time.Time{}
	}
	if len(s.all) >= maxSessions {
		var first [sha256.Size]byte
		var ends time.Time
		for id, t := range s.all {
			if ends.IsZero() || t.Before(ends) {
				first, ends = id, t
			}
		}
		delete(s.all, first)
	}
	s.all[sha256.Sum256([]byte(text))] = now.Add(sessionFor)
	return text
}

func (s *sessions) holds(text string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.all[sha256.Sum256([]byte(text))])
}

func (s *sessions) end(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(text)))
}

func unauthorised(message string) error {
	return &Error{Status: http.StatusUnauthorized, Code: "unauthorised", Message: message}
}

// Begin turns a token into a session, whose cookie it sets.
func (s *Server) Begin(w http.ResponseWriter, r *http.Request, token string) error {
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.door.token)) != 1 {
		s.door.wrong.Add(1)
		s.door.report(r)
		return unauthorised("this is not the token; it is in " + TokenFile + " in the state directory")
	}
	http.SetCookie(w, sessionCookie(r, s.sessions.begin(s.door.now()), int(sessionFor/time.Second)))
	return nil
}

// End ends the session of a request, if it has one.
func (s *Server) End(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(SessionCookie); err == nil {
		s.sessions.end(c.Value)
	}
	http.SetCookie(w, sessionCookie(r, "", -1))
}

// Who finds out who sent a request, by its session or its token, and returns the context in which Ask knows that.
func (s *Server) Who(r *http.Request) (context.Context, Person, error) {
	p := Person{Name: "console", Role: "admin", Claims: true}
	if token, ok := bearer(r.Header.Get("Authorization")); ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.door.token)) == 1 {
		return r.Context(), p, nil
	}
	if c, err := r.Cookie(SessionCookie); err == nil && s.sessions.holds(c.Value, s.door.now()) {
		return r.Context(), p, nil
	}
	return nil, Person{}, unauthorised("nobody is logged in, or the session has ended")
}

// Stopping is closed when the server shuts down: answers without an end must end then.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

// sessionCookie is out of the reach of scripts, and not sent along when another site links or posts to us.
func sessionCookie(r *http.Request, text string, seconds int) *http.Cookie {
	//nolint:gosec // Secure is for TLS: over plain HTTP the browser would not send it
	return &http.Cookie{Name: SessionCookie, Value: text, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
}
