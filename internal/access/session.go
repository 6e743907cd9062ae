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
// That of somebody for whom a provider vouched (package openid) ends after sessionFor: until then the provider is not asked again.
type session struct {
	token   Token    // zero: of the bootstrap token, or person's
	person  Identity // whom a provider vouched for
	expires time.Time
}

// sessions are those that have begun, by the digest of what the cookie holds.
type sessions struct {
	mu  sync.Mutex
	all map[[32]byte]session
}

func (s *sessions) begin(one session, now time.Time) (text string, expires time.Time) {
	text, expires = secret(), now.Add(sessionFor)
	one.expires = expires
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[32]byte]session{}
	}
	if len(s.all) >= maxSessions {
		var oldest [32]byte
		for id, other := range s.all {
			if first, ok := s.all[oldest]; !ok || other.expires.Before(first.expires) {
				oldest = id
			}
		}
		delete(s.all, oldest)
	}
	s.all[digest(text)] = one
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
	return who, g.remember(w, r, session{token: token}), nil
}

// BeginAs begins a session of somebody for whom another vouches, and sets its cookie. Refusals count as wrong tokens do.
func (g *Gate) BeginAs(w http.ResponseWriter, r *http.Request, vouch func() (Identity, error)) (Identity, time.Time, error) {
	limiter := g.limiter(r)
	if err := g.limited(limiter); err != nil {
		return Identity{}, time.Time{}, err
	}
	who, err := vouch()
	if err != nil {
		g.refuse(r, limiter, err)
		return Identity{}, time.Time{}, err
	}
	who.From = g.origin(r)
	return who, g.remember(w, r, session{person: who}), nil
}

func (g *Gate) remember(w http.ResponseWriter, r *http.Request, one session) (expires time.Time) {
	text, expires := g.sessions.begin(one, g.o.Now())
	http.SetCookie(w, cookie(r, text, int(sessionFor/time.Second)))
	return expires
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
