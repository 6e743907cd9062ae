package access

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// shared is a store that several members have, which may be away, and counts what it is asked for.
type shared struct {
	*store.Store
	away  atomic.Bool
	loads atomic.Int64
}

var errAway = errors.New("no majority")

func (s *shared) List(ctx context.Context, kind string) ([]store.Document, error) {
	if s.away.Load() {
		return nil, errAway
	}
	return s.Store.List(ctx, kind)
}

func (s *shared) Commit(ctx context.Context, c store.Change) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.Commit(ctx, c)
}

func (s *shared) Load(ctx context.Context, kind, id string, v any) error {
	s.loads.Add(1)
	if s.away.Load() {
		return errAway
	}
	return s.Store.Load(ctx, kind, id, v)
}

// members are gates over one state, as processes behind one service are.
type members struct {
	*house
	state *shared
}

func newMembers(t *testing.T) *members {
	h := newHouse(t, nil)
	return &members{house: h, state: &shared{Store: h.store}}
}

// another begins as one more process does.
func (m *members) another(bootstrap string) *Gate {
	m.t.Helper()
	m.open(func(o *Options) {
		o.Bootstrap = bootstrap
		var err error
		if o.Sessions, err = LoadSessions(m.t.Context(), m.state); err != nil {
			m.t.Fatal(err)
		}
	})
	return m.Gate
}

// begin logs in at a member.
func begin(t *testing.T, g *Gate, token string) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if _, _, err := g.Begin(w, request("Authorization", "Bearer "+token)); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0]
}

func show(g *Gate, c *http.Cookie) (Identity, error) {
	return g.Identify(request("Cookie", c.Name+"="+c.Value))
}

// What was begun at one member holds at the others at once, with the role of its token as it is, and over restarts; it ends everywhere with its end, its token, and its time.
func TestSessionsHoldAtEveryMember(t *testing.T) {
	m := newMembers(t)
	ann := m.create("ann", Operator, 0)
	a, b := m.another("secret"), m.another("secret")
	c := begin(t, a, ann)
	for _, g := range []*Gate{a, b, m.another("secret")} { // the last began afterwards
		if who, err := show(g, c); err != nil || who.Name != "ann" || who.Role != Operator || who.Via != ViaSession || !who.Ambient || who.Claims || who.From == "" {
			t.Errorf("%+v, %v", who, err)
		}
	}
	// It is ended at b: there at once, at a when it hears of it.
	w := httptest.NewRecorder()
	b.End(w, request("Cookie", c.Name+"="+c.Value))
	if _, err := show(b, c); !errors.Is(err, ErrEnded) {
		t.Errorf("at the member where it was ended: %v", err)
	}
	if err := a.Sessions().Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := show(a, c); !errors.Is(err, ErrEnded) {
		t.Errorf("at another: %v", err)
	}
	// It is ended at a member that has not heard of it.
	c = begin(t, a, ann)
	b.End(httptest.NewRecorder(), request("Cookie", c.Name+"="+c.Value))
	if err := a.Sessions().Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := show(a, c); !errors.Is(err, ErrEnded) {
		t.Errorf("ended where it was not known: %v", err)
	}
	// With its token.
	c = begin(t, a, ann)
	if _, err := show(b, c); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Tokens().Revoke(t.Context(), "ann", "root"); err != nil {
		t.Fatal(err)
	}
	if err := b.Tokens().Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Gate{a, b} {
		if _, err := show(g, c); !errors.Is(err, ErrEnded) {
			t.Errorf("after its token: %v", err)
		}
	}
	// With its time.
	bob := m.create("bob", Viewer, 0)
	for _, g := range []*Gate{a, b} {
		if err := g.Tokens().Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c = begin(t, a, bob)
	if _, err := show(b, c); err != nil {
		t.Error(err)
	}
	m.now = m.now.Add(sessionFor)
	for _, g := range []*Gate{a, b} {
		if _, err := show(g, c); !errors.Is(err, ErrEnded) {
			t.Errorf("after its time: %v", err)
		}
	}
	begin(t, b, "secret") // with which those that are over are removed
	if left, err := m.store.List(t.Context(), KindSession); err != nil || len(left) != 1 {
		t.Errorf("%d sessions are stored: %v", len(left), err)
	}
}

// Nothing that is stored of a session can be shown in place of it, nor tells which bootstrap token it was begun with.
func TestStoredSessionsAreNoSecrets(t *testing.T) {
	m := newMembers(t)
	const weak = "tuesday"
	a := m.another(weak)
	c := begin(t, a, weak)
	all, err := m.store.List(t.Context(), KindSession)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	raw := all[0].ID + string(all[0].Raw)
	again := begin(t, a, weak)
	twice, _ := m.store.List(t.Context(), KindSession)
	for name, secret := range map[string]string{"the cookie": c.Value, "the token": weak, "its hash": idOf(weak)} {
		if strings.Contains(raw, secret) {
			t.Errorf("%s is stored: %s", name, raw)
		}
	}
	if len(twice) != 2 || strings.Contains(string(twice[0].Raw), again.Value) {
		t.Error(twice)
	}
	for _, shown := range []string{all[0].ID, all[0].ID[:43], string(all[0].Raw)} {
		if _, err := a.Identify(request("Cookie", Cookie+"="+shown)); err == nil {
			t.Errorf("%q is a session", shown)
		}
	}
	var one, other session
	if m.store.Load(t.Context(), KindSession, idOf(c.Value), &one) != nil || m.store.Load(t.Context(), KindSession, idOf(again.Value), &other) != nil || one.Proof == "" || one.Proof == other.Proof {
		t.Errorf("two sessions of one bootstrap token can be told: %+v, %+v", one, other)
	}
}

// A session of the bootstrap token holds where that token does: not once it is another, nor where there is none.
func TestSessionsOfTheBootstrapToken(t *testing.T) {
	m := newMembers(t)
	c := begin(t, m.another("secret"), "secret")
	for bootstrap, want := range map[string]bool{"secret": true, "another": false, "": false} {
		who, err := show(m.another(bootstrap), c)
		if (err == nil) != want || want && (who.Role != Admin || !who.Claims || who.Via != ViaBootstrap) {
			t.Errorf("where the bootstrap token is %q: %+v, %v", bootstrap, who, err)
		}
	}
}

// Somebody's sessions are ended at all members at once, with a line in the trail, and no one else's.
func TestEndAllSessionsOfSomebody(t *testing.T) {
	m := newMembers(t)
	a, b := m.another("secret"), m.another("secret")
	vouched := func(g *Gate, name string) *http.Cookie {
		w := httptest.NewRecorder()
		if _, _, err := g.BeginAs(w, request(), func() (Identity, error) {
			return Identity{Name: name, Role: Operator, Via: ViaOpenID, Ambient: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
		return w.Result().Cookies()[0]
	}
	first, second, other := vouched(a, "olga"), vouched(b, "olga"), vouched(b, "omar")
	if who, err := show(b, first); err != nil || who.Role != Operator || who.Via != ViaOpenID {
		t.Fatal(who, err)
	}
	n, err := a.Sessions().EndOf(t.Context(), "olga", "root")
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if err := b.Sessions().Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Gate{a, b} {
		for _, c := range []*http.Cookie{first, second} {
			if _, err := show(g, c); !errors.Is(err, ErrEnded) {
				t.Error(err)
			}
		}
		if who, err := show(g, other); err != nil || who.Name != "omar" {
			t.Error(who, err)
		}
	}
	if n, err := a.Sessions().EndOf(t.Context(), "nobody", "root"); n != 0 || err != nil {
		t.Error(n, err)
	}
	trail, err := m.store.Audit(t.Context(), store.AuditQuery{Action: "session"})
	if err != nil || len(trail) != 1 || trail[0].Target != "olga" || trail[0].Actor != "root" {
		t.Errorf("%+v, %v", trail, err)
	}
}

// While the state is away people log in and out where they are; what was ended meanwhile is ended elsewhere once it is back.
func TestSessionsWhileTheStateIsAway(t *testing.T) {
	m := newMembers(t)
	a, b := m.another("secret"), m.another("secret")
	before := begin(t, a, "secret")
	if _, err := show(b, before); err != nil {
		t.Fatal(err)
	}
	m.state.away.Store(true)
	c := begin(t, a, "secret")
	if _, err := show(a, c); err != nil {
		t.Errorf("where it was begun: %v", err)
	}
	if _, err := show(b, c); !errors.Is(err, ErrEnded) {
		t.Errorf("where nobody can know it: %v", err)
	}
	a.End(httptest.NewRecorder(), request("Cookie", before.Name+"="+before.Value))
	if _, err := show(a, before); !errors.Is(err, ErrEnded) {
		t.Errorf("ended here: %v", err)
	}
	if a.Sessions().Reload(t.Context()) == nil {
		t.Fatal("the state is not away")
	}
	m.state.away.Store(false)
	if err := errors.Join(a.Sessions().Reload(t.Context()), b.Sessions().Reload(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Gate{a, b} {
		if _, err := show(g, before); !errors.Is(err, ErrEnded) {
			t.Errorf("what was ended meanwhile: %v", err)
		}
	}
	if _, err := show(a, c); err != nil {
		t.Errorf("what was begun meanwhile: %v", err)
	}
}

// A session that is ended at a member that has not heard of it, while the state is away, ends everywhere once that is back.
func TestUnheardOfSessionEndsOnceTheStateIsBack(t *testing.T) {
	m := newMembers(t)
	ann := m.create("ann", Operator, 0)
	a, b := m.another("secret"), m.another("secret")
	c := begin(t, a, ann)
	m.state.away.Store(true)
	b.End(httptest.NewRecorder(), request("Cookie", c.Name+"="+c.Value))
	m.state.away.Store(false)
	for _, g := range []*Gate{b, a} {
		if err := g.Sessions().Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := show(g, c); !errors.Is(err, ErrEnded) {
			t.Errorf("it holds: %v", err)
		}
	}
}

// Whoever makes up cookies has the state asked for few of them.
func TestMadeUpSessions(t *testing.T) {
	m := newMembers(t)
	a, b := m.another("secret"), m.another("secret")
	for range 10 * askedAtOnce {
		if _, err := a.Identify(request("Cookie", Cookie+"="+secret())); !errors.Is(err, ErrEnded) {
			t.Fatal(err)
		}
	}
	if n := m.state.loads.Load(); n != askedAtOnce {
		t.Errorf("the state was asked %d times", n)
	}
	c := begin(t, b, "secret")
	m.now = m.now.Add(time.Second)
	if _, err := show(a, c); err != nil {
		t.Errorf("a moment later a session of another member: %v", err)
	}
}
