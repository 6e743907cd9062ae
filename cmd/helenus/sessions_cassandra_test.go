package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// asSession sends a request with the cookie of a session, and returns its status and the cookie that the answer sets.
func (p *process) asSession(method, path string, cookie *http.Cookie, headers ...string) (status int, set *http.Cookie) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+p.admin+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if cookie != nil {
		r.AddCookie(cookie)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = a.Body.Close()
	for _, c := range a.Cookies() {
		if c.Name == access.Cookie {
			set = c
		}
	}
	return a.StatusCode, set
}

// TestConsoleBehindOneService: two members, as behind one service. A session that is begun at one holds at the other at once, over restarts, until it is ended at either; and a change that is
// paused at one is paused at both, over restarts, until the other is told that it goes on.
func TestConsoleBehindOneService(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	s := newShop(t, session(t, address))
	another := s.members(address)
	a := another()
	id, _ := s.propose(a)
	b := another()
	b.start()
	b.awaitReady()
	await(t, "both know of each other", func() bool { return len(a.fleet().Members) == 2 && len(b.fleet().Members) == 2 })
	ctx := context.Background()

	var made admin.TokenMade
	if err := a.client().Post(ctx, "tokens", admin.TokenOrder{Name: "ann", Role: access.Operator}, &made); err != nil {
		t.Fatal(err)
	}
	await(t, "the other knows the token", func() bool {
		return (&admin.Client{Address: b.admin, Token: made.Text}).Get(ctx, "session", new(access.Identity)) == nil
	})
	status, cookie := a.asSession(http.MethodPost, "/api/v1/session", nil, "Authorization", "Bearer "+made.Text)
	if status != http.StatusOK || cookie == nil {
		t.Fatalf("no session was begun: %d", status)
	}
	for name, p := range map[string]*process{"where it was begun": a, "at the other member": b} {
		for _, path := range []string{"/api/v1/session", "/ui/"} {
			if status, _ := p.asSession(http.MethodGet, path, cookie); status != http.StatusOK {
				t.Errorf("%s, %s: %d", name, path, status)
			}
		}
	}

	if err := a.approve(id); err != nil {
		t.Fatal(err)
	}
	pace := func(p *process, d admin.Decision) {
		t.Helper()
		if err := p.client().Post(ctx, "changes/"+id+"/throttle", d, new(migrate.Change)); err != nil {
			t.Fatal(err)
		}
	}
	pace(a, admin.Decision{Rate: new(1000), Paused: new(true)})
	paused := func() {
		t.Helper()
		for _, p := range []*process{a, b} {
			await(t, "it is paused while it is filled", func() bool {
				m := p.migration(id)
				return m.State == migrate.Backfill && m.Progress.Throttled == migrate.Paused && m.Throttle == migrate.Throttle{Rate: 1000, Paused: true}
			})
		}
	}
	paused()
	a.kill()
	a.start()
	a.awaitReady()
	time.Sleep(3 * time.Second)
	paused()
	if status, _ := a.asSession(http.MethodGet, "/ui/changes/"+id+"/throttle", cookie); status != http.StatusOK {
		t.Errorf("after a restart the session does not hold: %d", status)
	}
	pace(b, admin.Decision{Paused: new(false)})
	b.awaitReached(id, migrate.Serving)
	if trail := strings.Join(a.trail(), "\n"); strings.Count(trail, " throttle "+id) != 2 {
		t.Errorf("the trail: %s", trail)
	}

	if status, _ := b.asSession(http.MethodDelete, "/api/v1/session", cookie); status != http.StatusNoContent {
		t.Errorf("the end of the session: %d", status)
	}
	await(t, "it has ended at both", func() bool {
		first, _ := a.asSession(http.MethodGet, "/api/v1/session", cookie)
		second, _ := b.asSession(http.MethodGet, "/api/v1/session", cookie)
		return first == http.StatusUnauthorized && second == http.StatusUnauthorized
	})
}
