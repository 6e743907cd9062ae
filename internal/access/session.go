package access

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/helenus-db/helenus/capture/store"
)

// Cookie is the name of the cookie of a session.
const Cookie = "helenus_session"

// KindSession is the kind of document of a session.
const KindSession = "session"

// How long a session lasts, and how many there may be: of more, the oldest ends.
const (
	sessionFor  = 12 * time.Hour
	maxSessions = 1000
)

// sessionPatience is how long the state is waited for about a session. Without it a session holds where it was begun, as long as the process.
const sessionPatience = 3 * time.Second

// Sessions that this process does not know are asked of the state: so many at once, and one more each moment, since whoever makes up cookies is not to have Cassandra asked for each.
const (
	askedAtOnce = 20
	askedEvery  = 200 * time.Millisecond
)

// session is what a browser shows instead of a token, which it is not to keep, as it is stored: by the SHA-256 of what the cookie holds, and with nothing by which it could be shown
// (docs/decisions/064). It ends with its token. That of somebody for whom a provider vouched (package openid) ends after sessionFor: until then the provider is not asked again.
type session struct {
	Name    string    `json:"name"`           // of the token, or of the person
	Role    Role      `json:"role,omitempty"` // of a person
	Via     string    `json:"via"`
	Token   string    `json:"token,omitempty"` // its hash: another token of the name is another
	Proof   string    `json:"proof,omitempty"` // of the bootstrap token; see proof
	Expires time.Time `json:"expires"`
}

// SessionStore keeps sessions for all who share it. *store.Store is one.
type SessionStore interface {
	Store
	Load(ctx context.Context, kind, id string, v any) error
}

// Sessions are those that have begun, here or at another process that shares the store.
type Sessions struct {
	store SessionStore // nil: they are kept in this process alone

	mu    sync.Mutex
	all   map[string]session
	local map[string]bool      // could not be stored: nobody else knows them
	ended map[string]time.Time // until when they would hold, were they still stored; Reload forgets those that are not
	asked *rate.Limiter
}

// LoadSessions reads the sessions; s may be nil. After an error those that could not be read are asked of the store when they are shown.
func LoadSessions(ctx context.Context, s SessionStore) (*Sessions, error) {
	all := &Sessions{store: s, all: map[string]session{}, local: map[string]bool{}, ended: map[string]time.Time{}, asked: rate.NewLimiter(rate.Every(askedEvery), askedAtOnce)}
	return all, all.Reload(ctx)
}

// Reload takes on what others have stored: what they have begun, and ended.
func (s *Sessions) Reload(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	s.mu.Lock()
	settled := maps.Clone(s.ended) // what ends from here on may be read as it was
	s.mu.Unlock()
	documents, err := s.store.List(ctx, KindSession)
	if err != nil {
		return fmt.Errorf("read the sessions: %w", err)
	}
	s.mu.Lock()
	all, gone := map[string]session{}, []store.Key(nil)
	for id := range s.local {
		all[id] = s.all[id]
	}
	for _, d := range documents {
		var one session
		if json.Unmarshal(d.Raw, &one) != nil { // of a later version
			continue
		}
		if _, ended := s.ended[d.ID]; ended {
			gone = append(gone, store.Key{Kind: KindSession, ID: d.ID})
			delete(settled, d.ID)
			continue
		}
		all[d.ID] = one
	}
	s.all = all
	for id := range settled {
		delete(s.ended, id)
	}
	s.mu.Unlock()
	if err := s.remove(ctx, gone); err != nil {
		return fmt.Errorf("of those that were left: %w", err)
	}
	return nil
}

// idOf is what the session of a cookie is stored by.
func idOf(text string) string {
	sum := digest(text)
	return hex.EncodeToString(sum[:])
}

// proof is what tells that who began a session had a bootstrap token. It is keyed by the cookie: who reads the state can not try words that a person may have chosen.
func proof(text, bootstrap string) string {
	mac := hmac.New(sha256.New, []byte(text))
	mac.Write([]byte(bootstrap))
	return hex.EncodeToString(mac.Sum(nil))
}

// begin stores a session under the text of its cookie, and ends those that are over, and the oldest of too many. If it can not be stored, it holds here alone, and the error says why.
func (s *Sessions) begin(ctx context.Context, text string, one session, now time.Time) error {
	id := idOf(text)
	s.mu.Lock()
	var gone []store.Key
	end := func(other string) {
		delete(s.all, other)
		delete(s.local, other)
		gone = append(gone, store.Key{Kind: KindSession, ID: other})
	}
	for other, x := range s.all {
		if !now.Before(x.Expires) {
			end(other)
		}
	}
	for other, until := range s.ended {
		if !now.Before(until) {
			delete(s.ended, other)
		}
	}
	for len(s.all) >= maxSessions {
		oldest := ""
		for other, x := range s.all {
			if oldest == "" || x.Expires.Before(s.all[oldest].Expires) {
				oldest = other
			}
		}
		end(oldest)
	}
	s.all[id] = one
	if s.store == nil {
		s.mu.Unlock()
		return nil
	}
	s.local[id] = true
	s.mu.Unlock()
	d, err := store.NewDocument(KindSession, id, one)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sessionPatience)
	defer cancel()
	if err := s.store.Commit(ctx, store.Change{Save: []store.Document{d}, Delete: gone[:min(len(gone), atOnce)]}); err != nil { // those that are over and left are found again
		return fmt.Errorf("keep a session: %w", err)
	}
	s.mu.Lock()
	delete(s.local, id)
	s.mu.Unlock()
	return nil
}

// atOnce bounds what is removed in one transaction.
const atOnce = 50

// remove removes sessions from the store, in several transactions if they are many.
func (s *Sessions) remove(ctx context.Context, gone []store.Key, audit ...store.Entry) error {
	for some := range slices.Chunk(gone, atOnce) {
		if err := s.store.Commit(ctx, store.Change{Delete: some, Audit: audit}); err != nil {
			return fmt.Errorf("end %d sessions: %w", len(gone), err)
		}
		audit = nil
	}
	return nil
}

// errAsksEnough is that the state is not asked for a session now.
var errAsksEnough = errors.New("the state was asked for too many sessions that nobody knows")

// find is the session of a cookie. One that is not known here may have begun elsewhere a moment ago: the store is asked. After an error nobody knows.
func (s *Sessions) find(ctx context.Context, text string, now time.Time) (one session, ok bool, err error) {
	id := idOf(text)
	s.mu.Lock()
	one, ok = s.all[id]
	_, ended := s.ended[id]
	s.mu.Unlock()
	if !ok && !ended && s.store != nil {
		if !s.asked.AllowN(now, 1) {
			return one, false, errAsksEnough
		}
		ctx, cancel := context.WithTimeout(ctx, sessionPatience)
		defer cancel()
		err = s.store.Load(ctx, KindSession, id, &one)
		if ok = err == nil; ok && now.Before(one.Expires) {
			s.mu.Lock()
			if _, ended = s.ended[id]; !ended { // meanwhile
				s.all[id] = one
			}
			s.mu.Unlock()
			ok = !ended
		}
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
	}
	return one, ok && now.Before(one.Expires), err
}

// end ends the session of a cookie, here at once, also one that began elsewhere a moment ago. After an error it would hold elsewhere; it is ended there as
// soon as that can be stored.
func (s *Sessions) end(ctx context.Context, text string, now time.Time) error {
	id := idOf(text)
	one, known, unasked := s.find(ctx, text, now)
	s.mu.Lock()
	if unasked != nil { // it may be one; of those that are made up not without end
		known, one.Expires = len(s.ended) < maxSessions, now.Add(sessionFor)
	}
	delete(s.all, id)
	delete(s.local, id)
	if known && s.store != nil {
		s.ended[id] = one.Expires
	}
	s.mu.Unlock()
	if !known || s.store == nil || unasked != nil {
		return unasked
	}
	ctx, cancel := context.WithTimeout(ctx, sessionPatience)
	defer cancel()
	return s.remove(ctx, []store.Key{{Kind: KindSession, ID: id}})
}

// EndOf ends all sessions of somebody: of a token's name, of a person that a provider vouched for, or "api", of the bootstrap token. It returns how many there were.
func (s *Sessions) EndOf(ctx context.Context, name, actor string) (int, error) {
	if s.store != nil {
		if err := s.Reload(ctx); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	var gone []store.Key
	for id, one := range s.all {
		if one.Name == name {
			gone = append(gone, store.Key{Kind: KindSession, ID: id})
			delete(s.all, id)
			delete(s.local, id)
			if s.store != nil {
				s.ended[id] = one.Expires
			}
		}
	}
	s.mu.Unlock()
	if len(gone) == 0 || s.store == nil {
		return len(gone), nil
	}
	slices.SortFunc(gone, func(a, b store.Key) int { return cmp.Compare(a.ID, b.ID) })
	entry := store.Entry{Action: "session.end", Target: name, Reason: fmt.Sprintf("%d sessions", len(gone))}.By(ctx, actor)
	if err := s.remove(ctx, gone, entry); err != nil {
		return len(gone), fmt.Errorf("the sessions of %s hold no more at this process, but may at others: end them again; %w", name, err)
	}
	return len(gone), nil
}

// bySession is whoever showed a cookie.
func (g *Gate) bySession(ctx context.Context, text string) (who Identity, ok bool) {
	one, ok, _ := g.o.Sessions.find(ctx, text, g.o.Now())
	switch {
	case !ok:
	case one.Via == ViaBootstrap:
		return Identity{Name: one.Name, Role: Admin, Via: ViaBootstrap, Claims: true, Ambient: true}, g.o.Bootstrap != "" && hmac.Equal([]byte(one.Proof), []byte(proof(text, g.o.Bootstrap)))
	case one.Token != "":
		role, still := g.o.Tokens.still(one.Name, one.Token)
		return Identity{Name: one.Name, Role: role, Via: ViaSession, Ambient: true}, still
	case one.Via == ViaOpenID:
		return Identity{Name: one.Name, Role: one.Role, Via: one.Via, Ambient: true}, one.Role != ""
	}
	return who, false
}

// Begin turns the token that came with a request into a session, whose cookie is set.
func (g *Gate) Begin(w http.ResponseWriter, r *http.Request) (Identity, time.Time, error) {
	who, token, err := g.byToken(r)
	if err != nil {
		return who, time.Time{}, err
	}
	return who, g.remember(w, r, session{Name: who.Name, Via: who.Via, Token: token.Hash}), nil
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
	return who, g.remember(w, r, session{Name: who.Name, Role: who.Role, Via: who.Via}), nil
}

func (g *Gate) remember(w http.ResponseWriter, r *http.Request, one session) (expires time.Time) {
	text, now := secret(), g.o.Now()
	one.Expires = now.Add(sessionFor)
	if one.Via == ViaBootstrap {
		one.Proof = proof(text, g.o.Bootstrap)
	}
	if err := g.o.Sessions.begin(r.Context(), text, one, now); err != nil {
		g.o.Log.Warn("a session could not be stored: it holds at this process alone, until it ends", "actor", one.Name, "error", err)
	}
	http.SetCookie(w, cookie(r, text, int(sessionFor/time.Second)))
	return one.Expires
}

// End ends the session of a request, if it has one.
func (g *Gate) End(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(Cookie); err == nil {
		if err := g.o.Sessions.end(r.Context(), c.Value, g.o.Now()); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errAsksEnough) { // whoever makes up cookies is not to fill the log
			g.o.Log.Warn("a session that was ended may hold at other processes for a while: the state can not be written", "error", err)
		}
	}
	http.SetCookie(w, cookie(r, "", -1))
}

// Sessions are those that the gate knows.
func (g *Gate) Sessions() *Sessions { return g.o.Sessions }

// cookie is out of the reach of scripts, and not sent along when another site links or posts to us.
func cookie(r *http.Request, text string, seconds int) *http.Cookie {
	//nolint:gosec // Secure is for TLS: over plain HTTP the browser would not send it
	return &http.Cookie{Name: Cookie, Value: text, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
}
