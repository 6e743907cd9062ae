package rewrite

import (
	"context"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Our tokens are Cassandra's, for one column and for several, of any length and any bytes.
func TestCassandraTokens(t *testing.T) {
	l := newLive(t)
	l.do(l.in("CREATE TABLE %s.one (p blob PRIMARY KEY)"))
	l.do(l.in("CREATE TABLE %s.two (p blob, q text, PRIMARY KEY ((p, q)))"))
	random := rand.New(rand.NewSource(1))
	for n := 1; n < 80; n++ {
		p := make([]byte, n)
		random.Read(p)
		q := str(fmt.Sprint("q", n))
		l.do(l.in("INSERT INTO %s.one (p) VALUES (?)"), p)
		l.do(l.in("INSERT INTO %s.two (p, q) VALUES (?, ?)"), p, string(q))
		for _, c := range []struct {
			text string
			key  [][]byte
		}{{"SELECT token(p) FROM %s.one WHERE p = ?", [][]byte{p}}, {"SELECT token(p, q) FROM %s.two WHERE p = ? AND q = ?", [][]byte{p, q}}} {
			a, err := l.pool.Query(context.Background(), exec.Query{Text: l.in(c.text), Values: c.key, Consistency: gocql.One})
			if err != nil {
				t.Fatal(err)
			}
			want, _ := exec.Int64(a.Rows[0][0])
			if got := exec.TokenOf(exec.PartitionKey(c.key)); int64(got) != want {
				t.Fatalf("%x: %d, Cassandra says %d", c.key, got, want)
			}
		}
	}
}

// A secondary index answers in the same order, and so does the look-up that takes its place.
func TestCassandraSecondaryIndex(t *testing.T) {
	l := newLive(t)
	l.do(l.in("CREATE INDEX ON %s.stays (guest)"))
	l.load(400)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "index", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	l.equal()
	if l.ask(l.statement(), str("guest1")).forwarded {
		t.Error("not served")
	}
	if a := l.ask(l.statement(), str("guest1")); len(a.rows) < 5 {
		t.Errorf("only %d rows to compare", len(a.rows))
	}
}

// Entries outlive their cells by an hour, whether backfilled or written beside them.
func TestCassandraTTL(t *testing.T) {
	l := newLive(t)
	insert := l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?) USING TTL ?")
	l.do(insert, "a", 1, 1, "guest1", "x", 500)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "ttl", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	if a := l.ask(insert, str("b"), num(1), num(1), str("guest1"), str("x"), num(500)); a.failed {
		t.Fatalf("%+v", a)
	}
	if a := l.ask(insert, str("c"), num(1), num(1), str("guest1"), str("x"), nil); a.failed { // CASSANDRA-12216
		t.Fatalf("a null time to live: %+v", a)
	}
	a, err := l.pool.Query(context.Background(), exec.Query{Text: l.in("SELECT TTL(written) FROM %s.stays_by_guest"), Consistency: gocql.One})
	if err != nil || len(a.Rows) != 3 {
		t.Fatalf("%v %v", a, err)
	}
	for i, row := range a.Rows {
		if ttl, ok := exec.Int32(row[0]); ok != (i != 2) || (ok && (ttl < 3601 || ttl > 4100)) {
			t.Errorf("time to live of entry %d: %d", i, ttl)
		}
	}
	l.equal()
}

// Literal statements, written and deleted, against the real grammar.
func TestCassandraLiterals(t *testing.T) {
	l := newLive(t)
	l.load(20)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "literals", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	for _, text := range []string{
		"INSERT INTO %s.stays (room, day, n, guest, status) VALUES ('it''s', 1, 1, 'guest1', 'x')",
		"UPDATE %s.stays USING TTL 1000 SET guest = 'guest2' WHERE room = 'it''s' AND day = 1 AND n IN (1, 2, 3)",
		"UPDATE %s.stays SET guest = null WHERE room = 'it''s' AND (day, n) = (1, 1)",
		"UPDATE %s.stays SET guest = 'guest3' WHERE room = 'it''s' AND (day, n) IN ((1, 1), (2, 2))",
		"DELETE FROM %s.stays WHERE room = 'it''s' AND day = 1 AND n = 2",
		"BEGIN BATCH UPDATE %[1]s.stays SET guest = 'guest4' WHERE room = 'r' AND day = 1 AND n = 2; DELETE FROM %[1]s.stays WHERE room = 'room0'; APPLY BATCH",
	} {
		if a := l.ask(l.in(text)); a.failed {
			t.Errorf("%s: %+v", text, a)
		}
	}
	if m := l.state(); m.State != migrate.Serving {
		t.Fatalf("%+v", m)
	}
	if result, err := l.engine.manager.CheckOnce(context.Background(), "literals"); err != nil || result.Missing > 0 {
		t.Errorf("%+v %v", result, err)
	}
	l.equal()
}

// Roll-back from each state that a live change passes, under writers.
func TestCassandraRollback(t *testing.T) {
	l := newLive(t)
	l.load(150)
	settings := fast()
	settings.Rate, settings.Settle = 400, 300*time.Millisecond
	l.boot(settings)
	stop := l.writers(2)
	defer stop()
	for i, state := range []migrate.State{migrate.DualWrite, migrate.Backfill, migrate.Serving} {
		id := fmt.Sprint("back", i)
		if _, err := l.engine.Approve(context.Background(), id, l.advice(), "ann"); err != nil {
			t.Fatal(err)
		}
		is := func(want migrate.State) {
			t.Helper()
			for range 12_000 {
				if l.engine.Migrations()[i].State == want {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Fatalf("%s: %+v", want, l.engine.Migrations()[i])
		}
		is(state)
		if err := l.engine.Rollback(context.Background(), id, "bob"); err != nil {
			t.Fatal(err)
		}
		if !l.ask(l.statement(), str("guest1")).forwarded {
			t.Errorf("%s: still served", state)
		}
		is(migrate.RolledBack)
		if err := l.engine.Drop(context.Background(), id, "bob"); err != nil {
			t.Fatal(err)
		}
		l.read()
	}
}

// C20: the columns of SELECT * are those of the answer, also when somebody else prepared it anew after an ALTER.
func TestCassandraStarAfterAlter(t *testing.T) {
	l := newLive(t)
	l.load(1)
	q := exec.Query{Text: l.in("SELECT * FROM %s.stays WHERE guest = ? ALLOW FILTERING"), Values: [][]byte{str("guest0")}, Consistency: gocql.One}
	if a, err := l.pool.Query(context.Background(), q); err != nil || len(a.Columns) != 5 {
		t.Fatalf("%v %v", a, err)
	}
	l.do(l.in("ALTER TABLE %s.stays ADD added text"))
	if err := connect(t).Query(q.Text, "guest0").Exec(); err != nil {
		t.Fatal(err)
	}
	a, err := l.pool.Query(context.Background(), q)
	if err != nil || len(a.Columns) != 6 {
		t.Errorf("%q, %v", a.Columns, err)
	}
}
