package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// kept are rows of one customer that are written through members whose entries may fail: none may be lost, nor be missing in an answer that was asked for afterwards.
type kept struct {
	*shop
	numbers int
}

const keeper = "kept"

// through writes rows, and says how many writes failed and how long the longest took; each that did not is to be in the next answers through some sessions.
func (k *kept) through(session *gocql.Session, rows int, seen ...*gocql.Session) (failed int, longest time.Duration) {
	k.t.Helper()
	for range rows {
		n, began := 5_000_000+k.numbers, time.Now()
		err := session.Query("INSERT INTO "+k.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", 1, n, keeper, n).Exec()
		longest = max(longest, time.Since(began))
		if err != nil {
			k.t.Logf("a write failed: %v", err)
			failed++
			must(k.t, k.direct, "DELETE FROM "+k.table()+" WHERE day = 1 AND number = ?", n)
			continue
		}
		k.numbers++
		for i, s := range seen {
			if found := k.found(s); found != k.numbers {
				k.t.Errorf("member %d finds %d of %d rows", i+1, found, k.numbers)
			}
		}
	}
	return failed, longest
}

func (k *kept) found(session *gocql.Session) (rows int) {
	k.t.Helper()
	answer, err := k.answer(session, keeper)
	if err != nil {
		k.t.Error(err)
	}
	return len(answer)
}

// TestRefuseInAFleet: a change is approved with --on-entry-failure refuse at two members with roles of their own, of which the second loses the right to write entries while the table is filled,
// while it serves, and while it is suspended. Such a right does not come back by itself, so no write is refused for it: each goes on, and what rests on its entry is turned back before.
func TestRefuseInAFleet(t *testing.T) {
	long.Only(t, "takes minutes, on a cluster of its own; the same is in memory in rewrite")
	point := withPasswords(t, 300*time.Millisecond)
	t.Setenv("HELENUS_PASSWORD", "p")
	s := newShop(t, as(t, point, cassandra.FirstUser))
	state, data := strings.Replace(s.keyspace, "shop", "state", 1), "helenus_data_"+s.keyspace
	must(t, s.direct, fmt.Sprintf(making, s.keyspace))
	must(t, s.direct, "CREATE KEYSPACE "+state+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for _, role := range []string{"helenus", "second", "app"} {
		must(t, s.direct, "CREATE ROLE "+role+" WITH PASSWORD = 'p' AND LOGIN = true")
		must(t, s.direct, "GRANT SELECT ON KEYSPACE "+s.keyspace+" TO "+role)
		if role == "app" {
			must(t, s.direct, "GRANT MODIFY ON KEYSPACE "+s.keyspace+" TO app")
			continue
		}
		for _, on := range []string{data, state} {
			must(t, s.direct, "GRANT ALL PERMISSIONS ON KEYSPACE "+on+" TO "+role)
		}
		must(t, s.direct, "GRANT SELECT ON KEYSPACE system_views TO "+role)
	}
	time.Sleep(5 * time.Second) // until nodes know
	with := []string{"--serving-lease", "4s", "--backfill-rate", "1000", "--permissions-validity", "300ms", "--username"}
	a, b := s.members(point, append(with, "helenus")...)(), s.members(point, append(with, "second")...)()
	a.start()
	a.awaitReady()
	s.ask(as(t, a.listen, "app"), 60)
	id := a.advice().ID
	b.start()
	b.awaitReady()
	await(t, "both know of each other", func() bool { return len(a.fleet().Members) == 2 && len(b.fleet().Members) == 2 })
	both := []*gocql.Session{as(t, a.listen, "app"), as(t, b.listen, "app")}
	k := &kept{shop: s}
	may := func(may bool) {
		t.Helper()
		text := "REVOKE MODIFY ON KEYSPACE " + data + " FROM second"
		if may {
			text = "GRANT MODIFY ON KEYSPACE " + data + " TO second"
		}
		must(t, s.direct, text)
		time.Sleep(time.Second) // until nodes know
	}
	const few = 4 // in all less than what is cheaper to scan for
	write := func(when string, seen ...*gocql.Session) {
		t.Helper()
		for i, session := range both {
			failed, longest := k.through(session, few, seen...)
			t.Logf("%s: of %d writes through member %d %d failed, the longest took %v; it is %s", when, few, i+1, failed, longest.Round(time.Millisecond), a.migration(id).State)
			if failed > 0 {
				t.Errorf("%s: %d writes through member %d failed", when, failed, i+1)
			}
		}
	}
	resume := func() {
		t.Helper()
		awaitFor(t, 10*time.Minute, "it serves again", func() bool {
			m := a.migration(id)
			if m.State == migrate.Suspended || m.State == migrate.Failed {
				t.Logf("it is %s: %s", m.State, m.Reason)
				_ = a.client().Post(context.Background(), "migrations/"+id+"/resume", admin.Decision{}, &m)
			}
			return m.State == migrate.Serving
		})
		for i, p := range []*process{a, b} {
			before := p.metric("helenus_change_reads_total{", `result="served"`)
			await(t, fmt.Sprintf("member %d answers by the change", i+1), func() bool {
				k.found(both[i])
				return p.metric("helenus_change_reads_total{", `result="served"`) > before
			})
			if found := k.found(both[i]); found != k.numbers {
				t.Errorf("member %d answers with %d of %d rows", i+1, found, k.numbers)
			}
		}
	}
	if err := a.client().Post(context.Background(), "recommendations/"+id+"/approve", admin.Decision{Actor: "test", OnEntryFailure: migrate.Refuse}, &migrate.Change{}); err != nil {
		t.Fatal(err)
	}
	a.awaitReached(id, migrate.Backfill)
	may(false)
	write("while it is filled")
	may(true)
	resume()
	write("while it serves, and entries can be written", both...)
	may(false)
	write("while it serves", both...)
	may(true)
	resume()
	for _, order := range []string{"on", "off"} {
		if code, out := command(t, a, "bypass", order); code != 0 {
			t.Fatalf("bypass %s: %d %s", order, code, out)
		}
	}
	await(t, "it is suspended", func() bool { return b.migration(id).State == migrate.Suspended })
	may(false)
	write("while it is suspended", both...)
	may(true)
	resume()
	m := a.migration(id)
	if missing, rows := s.missing(m.Rewrite.FullTable()); missing > 0 {
		t.Errorf("%d of %d rows have no entry", missing, rows)
	}
}
