package rewrite

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// role is a client's own connection to a database in memory: Cassandra judges there what its role may read.
type role struct {
	client
	may    atomic.Bool // SELECT on the base
	within func(exec.Query)

	mu      sync.Mutex
	said    []string // what was asked there
	carried map[string]time.Time
}

// Describe implements proxy.Asker.
func (*role) Describe(_ context.Context, text string) (*proxy.Prepared, error) {
	return described(text), nil
}

// Outdated implements proxy.Asker.
func (*role) Outdated(*proxy.Prepared) {}

// Ask implements proxy.Asker.
func (c *role) Ask(ctx context.Context, q proxy.Own) (*proxy.Prepared, []byte, error) {
	c.mu.Lock()
	c.said = append(c.said, q.Text)
	c.mu.Unlock()
	if f := c.within; f != nil {
		f(exec.Query{Text: q.Text, Values: q.Values})
	}
	if !c.may.Load() {
		return nil, nil, &proxy.Refused{Code: gocql.ErrCodeUnauthorized, Text: "User app has no SELECT permission on <table hotel.stays> or any of its parents"}
	}
	began := time.Now()
	a, err := c.w.db.Query(ctx, exec.Query{Text: q.Text, Values: q.Values, Consistency: gocql.Consistency(q.Consistency)})
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	c.carried[q.Text] = began
	c.mu.Unlock()
	return described(q.Text), body(a.Rows), nil
}

// Lately implements proxy.Asker.
func (c *role) Lately(text string) (ago int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.carried[text]
	return int64(time.Since(at)), ok
}

// described is what Cassandra says of a SELECT whose columns are named in its text.
func described(text string) *proxy.Prepared {
	p := &proxy.Prepared{Text: text, ResultMetadata: []byte{0}}
	list, _, _ := strings.Cut(strings.TrimPrefix(text, "SELECT "), " FROM ")
	for _, name := range strings.Split(list, ", ") {
		p.Results = append(p.Results, proxy.Column{Name: name})
	}
	return p
}

// asRole sends a request on a connection that has logged in.
func (w *world) asRole(c *role, change func(*proxy.Request), values ...[]byte) answer {
	c.w, c.ctx, c.done = w, context.Background(), make(chan answer, 1)
	if c.carried == nil {
		c.carried = map[string]time.Time{}
	}
	return w.sendBy(c, &c.client, byGuest, func(r *proxy.Request) {
		r.Client = &proxy.Client{User: true, Role: "app"}
		if change != nil {
			change(r)
		}
	}, values...)
}

// TestRoles: nothing is read for a role, and nothing told to it, that Cassandra did not just grant on its own connection.
func TestRoles(t *testing.T) {
	entries := func(w *world) (n *atomic.Int64) {
		n = new(atomic.Int64)
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "stays_by_guest") {
				n.Add(1)
			}
			return nil
		})
		return n
	}
	t.Run("C21 no right", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			n := entries(w)
			for _, guest := range []string{"guest1", "nobody"} {
				if a := w.asRole(&role{}, nil, str(guest)); !a.forwarded {
					t.Errorf("%s: answered with %d rows", guest, len(a.rows))
				}
			}
			if n.Load() != 0 {
				t.Errorf("entries were read %d times for a role that may not read the base", n.Load())
			}
			if w.asWritten() != "role 2" {
				t.Errorf("as written because of %s", w.asWritten())
			}
		})
	})
	t.Run("granted and revoked", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			w.engine.options.Permissions = 2 * time.Second
			c := &role{}
			c.may.Store(true)
			for range 3 {
				if a := w.asRole(c, nil, str("guest1")); a.forwarded || !exec.Equal(a.rows, w.direct("guest1")) {
					t.Fatalf("%+v", a)
				}
			}
			if len(c.said) < 4 || len(c.said)%3 != 1 { // one judgement, and three times the rows
				t.Errorf("%d statements on the client's connection: %q", len(c.said), c.said)
			}
			n := entries(w)
			c.may.Store(false)
			if a := w.asRole(c, nil, str("guest1")); !a.forwarded {
				t.Errorf("answered after the right was revoked: %+v", a)
			}
			before := n.Load()
			if before != 1 {
				t.Errorf("entries were read %d times within Cassandra's own memory of the right, want once", before)
			}
			time.Sleep(2 * time.Second)
			if a := w.asRole(c, nil, str("guest1")); !a.forwarded || n.Load() != before {
				t.Errorf("%+v, entries were read %d times more", a, n.Load()-before)
			}
		})
	})
	t.Run("that there is nothing is told to who may know it", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			w.engine.options.Permissions = time.Hour
			c := &role{}
			c.may.Store(true)
			if a := w.asRole(c, nil, str("nobody")); a.forwarded || len(a.rows) != 0 || len(c.said) != 1 {
				t.Fatalf("%+v after %q", a, c.said)
			}
			if a := w.asRole(c, nil, str("nobody")); a.forwarded || len(c.said) != 2 {
				t.Fatalf("%+v after %q", a, c.said)
			}
			c.may.Store(false)
			if a := w.asRole(c, nil, str("nobody")); !a.forwarded {
				t.Errorf("an answer without rows tells something: %+v", a)
			}
		})
	})
	t.Run("revoked between two rows", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			c := &role{}
			c.may.Store(true)
			var n atomic.Int64
			c.within = func(exec.Query) {
				if n.Add(1) == 3 {
					c.may.Store(false)
				}
			}
			if a := w.asRole(c, nil, str("guest1")); !a.forwarded {
				t.Errorf("%d rows", len(a.rows))
			}
			if !w.served("guest1") {
				t.Error("who did not log in is not served any more")
			}
		})
	})
	t.Run("errors of one role suspend nothing", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			for range 2 * errorWindow {
				w.asRole(&role{}, nil, str("guest1"))
			}
			if !w.served("guest1") {
				t.Error("not served")
			}
		})
	})
}

// TestTexts: a statement that is sent as text is answered as its prepared twin.
func TestTexts(t *testing.T) {
	const literal = "SELECT room, day, n, guest, status FROM hotel.stays WHERE guest = 'guest1' ALLOW FILTERING"
	query := func(text string, values ...proxy.Value) func(*proxy.Request) {
		return func(r *proxy.Request) { r.Opcode, r.Prepared, r.Text, r.Values = proxy.OpQuery, nil, text, values }
	}
	for name, c := range map[string]struct {
		change func(*proxy.Request)
		served bool
	}{
		"a literal":           {query(literal), true},
		"a value":             {query(byGuest, proxy.Value{Bytes: str("guest1")}), true},
		"a named value":       {query(strings.Replace(byGuest, "?", ":who", 1), proxy.Value{Name: "who", Bytes: str("guest1")}), true},
		"a column's name":     {query(byGuest, proxy.Value{Name: "guest", Bytes: str("guest1")}), true},
		"another name":        {query(byGuest, proxy.Value{Name: "who", Bytes: str("guest1")}), false},
		"a value too many":    {query(literal, proxy.Value{Bytes: str("guest1")}), false},
		"a value too few":     {query(byGuest), false},
		"without metadata":    {func(r *proxy.Request) { query(literal)(r); r.SkipMetadata = true }, false},
		"a literal unread":    {query(strings.Replace(byGuest, "?", "$$guest1$$ AND status = blobAsText(0x61)", 1)), false},
		"not approved":        {query(strings.Replace(literal, "room, ", "", 1)), false},
		"a null":              {query(byGuest, proxy.Value{Null: true}), false},
		"bytes that are none": {query(byGuest, proxy.Value{Bytes: []byte{0xff}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				r := &role{}
				r.may.Store(true)
				a := w.asRole(r, func(q *proxy.Request) { q.Client = nil; c.change(q) }, str("x"))
				if a.forwarded == c.served {
					t.Fatalf("%+v; %s", a, w.asWritten())
				}
				if c.served && !exec.Equal(a.rows, w.direct("guest1")) {
					t.Errorf("%q", a.rows)
				}
			})
		})
	}
}
