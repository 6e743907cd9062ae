package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/time/rate"
)

// Options of a Gate.
type Options struct {
	Bootstrap string  // the token that is there before there are others
	Tokens    *Tokens // nil: there are none besides
	// Sessions are those that have begun; nil: they hold in this gate alone, as long as it is there.
	Sessions *Sessions
	Hosts    Hosts
	// Header names who sent a request, if it comes through one of Proxies. HeaderRole is the role that it then has, or the name of
	// the header that says so (viewer, if it says nothing).
	Header, HeaderRole string
	Proxies            []netip.Prefix
	Log                *slog.Logger
	Now                func() time.Time
}

// Gate finds out who sent a request.
type Gate struct {
	o      Options
	cross  http.CrossOriginProtection
	counts Counts

	mu       sync.Mutex
	limiters map[netip.Prefix]*rate.Limiter // of wrong tokens, by where they come from
	next     time.Time                      // when a line may be logged again
	silent   int                            // requests since that were not logged
}

// Counts are requests that were refused, by why.
type Counts struct{ Missing, Wrong, Limited, Foreign, Forbidden atomic.Int64 }

// New returns a Gate.
func New(o Options) *Gate {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tokens == nil {
		o.Tokens = &Tokens{now: o.Now}
	}
	if o.Sessions == nil {
		o.Sessions, _ = LoadSessions(context.Background(), nil) // there is nothing to read
	}
	return &Gate{o: o, limiters: map[netip.Prefix]*rate.Limiter{}}
}

// Counts are those of this process.
func (g *Gate) Counts() *Counts { return &g.counts }

// Tokens are those that the gate knows.
func (g *Gate) Tokens() *Tokens { return g.o.Tokens }

// Why it is not known who sent a request.
var (
	ErrMissing = errors.New("this needs a token as `Authorization: Bearer TOKEN`: the admin token is in the state directory (admin.token), `helenus token create` makes others")
	ErrWrong   = errors.New("the token is not known, has expired, or was revoked")
	ErrEnded   = errors.New("the session has ended: log in again")
	ErrHeader  = errors.New("the headers of the trusted proxy do not say who sent this: it must set each once, and take off those that clients send")
)

// ErrLimited says that too many wrong tokens came from an address.
type ErrLimited struct{ After time.Duration }

// Error implements error.
func (e *ErrLimited) Error() string {
	return fmt.Sprintf("too many wrong tokens came from this address; try again in %v", e.After.Round(time.Second))
}

// Wrong tokens of one address: so many at once, and one more after each pause. Even a token that somebody chose, and not well, is not
// found by trying. (The tokens that Helenus makes need no such help.)
const (
	wrongAtOnce = 10
	wrongPause  = 6 * time.Second
	maxLimiters = 4096
)

// wrongTokenEvery is the time between lines about wrong tokens: whoever tries them does not fill the log.
const wrongTokenEvery = 10 * time.Second

// Identify finds out who sent a request: by its token, else its session, else what a trusted proxy says.
func (g *Gate) Identify(r *http.Request) (Identity, error) {
	who, _, err := g.byToken(r)
	if !errors.Is(err, ErrMissing) {
		return who, err
	}
	from := g.origin(r)
	if c, err := r.Cookie(Cookie); err == nil {
		if named, ok := g.bySession(r.Context(), c.Value); ok {
			named.From = from
			return named, nil
		}
		g.counts.Missing.Add(1)
		return who, ErrEnded
	}
	if g.o.Header != "" && g.trusted(remote(r)) {
		switch named, err := g.byHeader(r); {
		case err != nil:
			g.counts.Wrong.Add(1)
			g.report(r, err)
			return who, err
		case named.Name != "":
			named.From = from
			return named, nil
		}
	}
	g.counts.Missing.Add(1)
	return who, ErrMissing
}

// byToken is Identify by a token alone.
func (g *Gate) byToken(r *http.Request) (who Identity, token Token, err error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return who, token, ErrMissing
	}
	text, ok := bearer(headers[0])
	if !ok {
		return who, token, ErrMissing
	}
	from, limiter := g.origin(r), g.limiter(r)
	if err := g.limited(limiter); err != nil {
		return who, token, err
	}
	given, own := digest(text), digest(g.o.Bootstrap)
	bootstrap := g.o.Bootstrap != "" && subtle.ConstantTimeCompare(given[:], own[:]) == 1
	token, found := g.o.Tokens.find(text)
	switch {
	case len(headers) > 1: // somebody between may have looked at another one
	case bootstrap:
		return Identity{Name: "api", Role: Admin, Via: ViaBootstrap, From: from, Claims: true}, Token{}, nil
	case found:
		return Identity{Name: token.Name, Role: token.Role, Via: ViaToken, From: from}, token, nil
	}
	g.refuse(r, limiter, ErrWrong)
	return who, Token{}, ErrWrong
}

// limited is an *ErrLimited while too much that was wrong came from where this limiter counts.
func (g *Gate) limited(l *rate.Limiter) error {
	left := l.TokensAt(g.o.Now())
	if left >= 1 {
		return nil
	}
	g.counts.Limited.Add(1)
	return &ErrLimited{time.Duration((1 - left) * float64(wrongPause))}
}

// refuse counts something that was wrong.
func (g *Gate) refuse(r *http.Request, l *rate.Limiter, why error) {
	l.AllowN(g.o.Now(), 1)
	g.counts.Wrong.Add(1)
	g.report(r, why)
}

// bearer takes the token out of an Authorization header; the scheme's name may be in any case (RFC 9110, 11.1).
func bearer(header string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "bearer")
}

// maxName bounds the name that a proxy, or the holder of the bootstrap token, says somebody has.
const maxName = 128

// Printable reports whether a name can be shown as it is, in a log, too.
func Printable(name string) bool {
	return len(name) <= maxName && utf8.ValidString(name) && strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}

// byHeader is whoever the proxy says; without a name if it says nothing.
func (g *Gate) byHeader(r *http.Request) (Identity, error) {
	names := r.Header.Values(g.o.Header)
	if len(names) == 0 {
		return Identity{}, nil
	}
	if len(names) > 1 || names[0] == "" || !Printable(names[0]) || Reserved(names[0]) {
		return Identity{}, fmt.Errorf("%w: %s", ErrHeader, g.o.Header)
	}
	role, err := ParseRole(g.o.HeaderRole)
	if err != nil { // it names a header
		switch said := r.Header.Values(g.o.HeaderRole); {
		case len(said) == 0:
			role = Viewer
		case len(said) > 1:
			return Identity{}, fmt.Errorf("%w: %s", ErrHeader, g.o.HeaderRole)
		default:
			if role, err = ParseRole(strings.TrimSpace(said[0])); err != nil {
				return Identity{}, fmt.Errorf("%w: %s: %w", ErrHeader, g.o.HeaderRole, err)
			}
		}
	}
	return Identity{Name: names[0], Role: role, Via: ViaHeader, Ambient: true}, nil
}

// remote is the address that a request came from.
func remote(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

func (g *Gate) trusted(a netip.Addr) bool {
	for _, p := range g.o.Proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// client is who sent a request, as far as trusted proxies tell: the last of X-Forwarded-For that is none of them.
func (g *Gate) client(r *http.Request) netip.Addr {
	at := remote(r)
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(list) - 1; i >= 0 && g.trusted(at); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(list[i]))
		if err != nil {
			break
		}
		at = before.Unmap()
	}
	return at
}

// origin is where a request comes from, for the audit trail.
func (g *Gate) origin(r *http.Request) string {
	if c := g.client(r); c != remote(r) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err == nil {
			return c.String() + " by " + host
		}
	}
	return r.RemoteAddr
}

// limiter is that of wrong tokens for where a request comes from: an address, of IPv6 the network that one subscriber has.
func (g *Gate) limiter(r *http.Request) *rate.Limiter {
	at := g.client(r)
	bits := at.BitLen()
	if at.Is6() {
		bits = 64
	}
	network, _ := at.Prefix(bits) // zero, if it is not known where it comes from
	now := g.o.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.limiters[network]; l != nil {
		return l
	}
	if len(g.limiters) >= maxLimiters {
		for at, l := range g.limiters { // those that count nothing any more; of full ones, any
			if l.TokensAt(now) >= wrongAtOnce || len(g.limiters) >= maxLimiters {
				delete(g.limiters, at)
			}
		}
	}
	l := rate.NewLimiter(rate.Every(wrongPause), wrongAtOnce)
	l.AllowN(now, 0)
	g.limiters[network] = l
	return l
}

func (g *Gate) report(r *http.Request, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	if now.Before(g.next) {
		g.silent++
		return
	}
	g.o.Log.Warn("a request to the API is of nobody who is known", "remote", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "why", why, "unlogged_before", g.silent)
	g.next, g.silent = now.Add(wrongTokenEvery), 0
}
