package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// answers are the numbers of a customer's orders.
func (s *shop) answers(through *gocql.Session, who string) (all []int) {
	s.t.Helper()
	iter := through.Query(s.byCustomer(), who).Iter()
	var day, number, total int
	for iter.Scan(&day, &number, &total) {
		all = append(all, number)
	}
	if err := iter.Close(); err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// alike compares what is answered through a process with the original, for some customers.
func (s *shop) alike(through *gocql.Session, when string) {
	s.t.Helper()
	for i := range 25 {
		if got, want := s.answers(through, customer(i)), s.answers(s.direct, customer(i)); !slices.Equal(got, want) || len(want) == 0 {
			s.t.Fatalf("%s: %s has orders %v, is told %v", when, customer(i), want, got)
		}
	}
}

// serving asks through a process, as its reads are compared first, until a change serves.
func (s *shop) serving(p *process, id string, through *gocql.Session) (m migrate.Change) {
	s.t.Helper()
	await(s.t, "it serves", func() bool {
		s.ask(through, 10)
		m = p.migration(id)
		return m.State == migrate.Serving
	})
	return m
}

// TestOurTableIsWatched is case 21, and the like: whatever a client does to a look-up table, through Helenus or past it, the answers are the
// original's at once.
func TestOurTableIsWatched(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	direct := session(t, contact)
	for _, c := range []struct {
		name, text string // %s is the look-up table
		past       bool   // not through Helenus: found at the schema event
		mends      bool   // it is made whole by itself
		long       bool   // tried by `make test-long` alone
	}{
		{"truncate", "TRUNCATE %s", false, true, false},
		{"delete", "DELETE FROM %s WHERE customer = 'customer 3'", false, true, true},
		{"time to live", "ALTER TABLE %s WITH default_time_to_live = 3", false, false, true},
		{"time to live, past us", "ALTER TABLE %s WITH default_time_to_live = 3", true, false, false},
		{"drop", "DROP TABLE %s", false, false, true},
		{"drop, past us", "DROP TABLE %s", true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				long.Only(t, "a minute each")
			}
			s := newShop(t, direct)
			defer must(t, direct, "DROP KEYSPACE "+s.keyspace)
			p := s.process(contact)
			id, table := s.propose(p)
			if err := p.approve(id); err != nil {
				t.Fatal(err)
			}
			through := session(t, p.listen)
			m := s.serving(p, id, through)
			// This test's own session goes past Helenus, and is named to whoever approves.
			if !slices.ContainsFunc(m.Events, func(e migrate.Event) bool {
				return strings.HasPrefix(e.Text, "warning: connected to Cassandra, but not through helenus: ") && strings.Contains(e.Text, "127.0.")
			}) {
				t.Errorf("nobody is warned of: %+v", m.Events)
			}
			s.alike(through, "while it serves")
			text := strings.ReplaceAll(c.text, "%s", table)
			if !c.past {
				must(t, through, text)
			} else {
				must(t, direct, text)
				time.Sleep(time.Second)
			}
			began := time.Now()
			for time.Since(began) < 5*time.Second {
				s.alike(through, "after "+text)
				time.Sleep(50 * time.Millisecond)
			}
			await(t, "reads are turned back, and it is said why", func() bool { // what can be mended may serve again by now
				m = p.migration(id)
				return (c.mends || m.State != migrate.Serving) && slices.ContainsFunc(m.Events, func(e migrate.Event) bool {
					return strings.Contains(e.Text, "C20") && strings.Contains(e.Text, table)
				})
			})
			// While it is turned back writes go on.
			must(t, through, "UPDATE "+s.table()+" SET customer = 'customer 3' WHERE day = 1 AND number = 1")
			s.alike(through, "after a write")
			if c.mends {
				s.serving(p, id, through)
				s.alike(through, "once it serves again")
			}
			p.stop()
		})
	}
}

// TestTwoStatesBeforeOneCluster is case 20: two processes that know nothing of each other.
func TestTwoStatesBeforeOneCluster(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	direct := session(t, contact)
	s := newShop(t, direct)
	defer must(t, direct, "DROP KEYSPACE "+s.keyspace)
	first, second := s.process(contact), s.process(contact)
	id, table := s.propose(first)
	second.start()
	second.awaitReady()
	// Nobody has a client but the first; the second is seen all the same.
	if err := first.approve(id); err == nil || !strings.Contains(err.Error(), "a helenus at 127.0.") || !strings.Contains(err.Error(), "state of its own") {
		t.Fatalf("approved beside a second process: %v", err)
	}
	second.stop()
	if err := first.approve(id); err != nil {
		t.Fatal(err)
	}
	one := session(t, first.listen)
	s.serving(first, id, one)
	s.alike(one, "alone")

	// It comes back, and its clients write.
	second.start()
	second.awaitReady()
	await(t, "the first notices", func() bool { return first.migration(id).State == migrate.Suspended })
	if m := first.migration(id); !strings.Contains(m.Reason, "a helenus at 127.0.") {
		t.Error(m.Reason)
	}
	two := session(t, second.listen)
	for i := range 50 {
		must(t, two, "INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", 1, 100_000+i, customer(i), i)
	}
	s.alike(one, "through the first, after writes through the second")
	s.alike(two, "through the second")

	// The second is asked to carry the same advice out, which has the same id: refused, and the first one's table stays.
	s.ask(two, 60)
	r := second.advice()
	if err := second.approve(r.ID); err == nil {
		t.Error("approved by the second beside the first")
	}
	_ = second.client().Post(context.Background(), "migrations/"+id+"/drop", map[string]string{"actor": "test"}, nil)
	second.stop()
	must(t, direct, "SELECT * FROM "+table+" LIMIT 1")
	if code, out := command(t, first, "resume", id); code != 0 {
		t.Fatal(out)
	}
	s.serving(first, id, one)
	s.alike(one, "alone again")
	first.stop()
}
