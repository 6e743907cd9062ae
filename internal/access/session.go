package access

import (
	"net/http"
	"sync"
	"time"
)

// Cookie is the name of the cookie of a session.
const Cookie = "helenus_session"

// How long a session lasts, and how many there may be: of more, the oldest ends.
const (
	sessionFor  = 12 * time.Hour
	maxSessions = 1000
)

// session is what a browser shows instead of a token, which it is not to keep. It ends with its token, and with the process.
type session struct {
	token   Token // zero: of the bootstrap token
	expires time.Time
}

// sessions are those that have begun, by the digest of what the cookie holds.
type sessions struct {
	mu  sync.Mutex
	all map[[32]byte]session
}

func (s *sessions) begin(token Token, now time.Time) (text string, expires time.Time) {
	text, expires = secret(), now.Add(sessionFor)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[32]byte]session{}
	}
	if len(s.all) >= maxSessions {
		var oldest [32]byte
		for id, one := range s.all {
			if first, ok := s.all[oldest]; !ok || one.expires.Before(first.expires) {
				oldest = id
			}
		}
		delete(s.all, oldest)
	}
	s.all[digest(text)] = session{token, expires}
	return text, expires
}

func (s *sessions) find(text string, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[digest(text)] // of the digest: how long it takes tells nothing of the text
	return one, ok && now.Before(one.expires)
}

func (s *sessions) end(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, digest(text))
}

// Begin turns the token that came with a request into a session, whose cookie is set.
func (g *Gate) Begin(w http.ResponseWriter, r *http.Request) (Identity, time.Time, error) {
	who, token, err := g.byToken(r)
	if err != nil {
		return who, time.Time{}, err
	}
	text, expires := g.sessions.begin(token, g.o.Now())
	http.SetCookie(w, cookie(r, text, int(sessionFor/time.Second)))
	return who, expires, nil
}

// End ends the session of a request, if it has one.
func (g *Gate) End(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(Cookie); err == nil {
		g.sessions.end(c.Value)
	}
	http.SetCookie(w, cookie(r, "", -1))
}

// cookie is out of the reach of scripts, and not sent along when another site links or posts to us.
func cookie(r *http.Request, text string, seconds int) *http.Cookie {
	//nolint:gosec // Secure is for TLS: over plain HTTP the browser would not send it
	return &http.Cookie{Name: Cookie, Value: text, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
}
