package rewrite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Case 23: a statement that meets more tombstones than Cassandra reads past always fails; the change that helps it serves.
func TestCassandraTombstones(t *testing.T) {
	l := newLive(t)
	l.load(600)
	const rooms, each = 2200, 50
	remove := l.in("DELETE FROM %s.stays WHERE room = ? AND day = ? AND n = ?")
	for room := range rooms {
		b := l.session.NewBatch(gocql.UnloggedBatch)
		for n := range each {
			b.Query(remove, fmt.Sprint("gone", room), 1, n)
		}
		if err := l.session.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	settings := fast()
	settings.ShadowReads, settings.ShadowFor = 10000, 24*time.Hour
	l.boot(settings)
	if got := l.ask(l.statement(), str("guest1")); !got.failed {
		t.Fatal("the original does not fail")
	}
	if _, err := l.engine.Approve(context.Background(), "tombstones", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Shadow)
	for range 600 {
		if l.ask(l.statement(), str("guest1")); l.state().State != migrate.Shadow {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.await(migrate.Serving)
	if m := l.state(); m.ByRanges < 20 || m.ByReads != 0 {
		t.Errorf("compared by reads %d, by our own %d, by token ranges %d", m.ByReads, m.ByOwn, m.ByRanges)
	}
	rows := 0
	for g := range 21 {
		got := l.ask(l.statement(), str(fmt.Sprint("guest", g)))
		if got.forwarded || got.failed {
			t.Fatalf("guest%d: %+v", g, got)
		}
		rows += len(got.rows)
	}
	if rows != 600 {
		t.Errorf("%d rows in all, want 600", rows)
	}
}

// Case 24, and columns added and dropped: it is verified again, and serves again by itself.
func TestCassandraAltered(t *testing.T) {
	l := newLive(t)
	l.load(200)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "altered", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	for _, change := range []string{"WITH default_time_to_live = 100000", "WITH default_time_to_live = 0", "WITH comment = 'ours'", "ADD x text", "DROP x",
		"WITH compaction = {'class': 'LeveledCompactionStrategy'}"} {
		l.do(l.in("ALTER TABLE %s.stays " + change))
		l.ask(l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)"), str("late "+change), num(1), num(1), str("guest1"), str("x"))
		l.read()
		l.await(migrate.Serving)
		l.agrees("guest1")
	}
	result, err := l.engine.manager.CheckOnce(context.Background(), "altered")
	if err != nil || result.Missing != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if m := l.state(); m.Repaired != 0 {
		t.Errorf("%d entries were missing", m.Repaired)
	}
}

// agrees checks that a guest's rows are served, and are the base's.
func (l *live) agrees(guest string) {
	l.t.Helper()
	original, err := l.pool.Query(context.Background(), exec.Query{Text: l.statement(), Values: [][]byte{str(guest)}, Consistency: gocql.One})
	if err != nil {
		l.t.Fatal(err)
	}
	if got := l.ask(l.statement(), str(guest)); got.forwarded || !exec.Equal(got.rows, original.Rows) {
		l.t.Fatalf("%s: got %d rows (as written: %t), want %d", guest, len(got.rows), got.forwarded, len(original.Rows))
	}
}

// After a start, what was written past Helenus meanwhile is found before a read is served.
func TestCassandraBegins(t *testing.T) {
	l := newLive(t)
	l.load(2000) // how soon with 20,000: make bench-change
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "begins", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	l.stop()
	l.do(l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)"), "past", 1, 1, "nobody else", "x")
	began := time.Now()
	l.boot(fast())
	if got := l.ask(l.statement(), str("nobody else")); !got.forwarded || len(got.rows) != 1 {
		t.Errorf("before it was verified: %+v", got)
	}
	l.await(migrate.Serving)
	t.Logf("serving again %s after a start", time.Since(began))
	l.agrees("nobody else")
}

// An order that could not be stored holds over a crash: the comment of the look-up table keeps it.
func TestCassandraKeepsAnOrder(t *testing.T) {
	l := newLive(t)
	l.load(100)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "ordered", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	l.store.Before.Set(func(string, string) error { return errFull })
	if err := l.engine.Rollback(context.Background(), "ordered", "ann"); err == nil {
		t.Error("nobody was told that it is not stored")
	}
	l.comment(", rolled back")
	l.stop()
	l.store.Before.Clear()
	l.boot(fast())
	l.await(migrate.RolledBack)
	l.comment("")
}

// comment waits until the look-up table is marked so.
func (l *live) comment(mark string) {
	l.t.Helper()
	var comment string
	for range 1200 {
		if err := l.session.Query("SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'stays_by_guest'", l.keyspace).Scan(&comment); err != nil {
			l.t.Fatal(err)
		}
		if named := migrate.OwnerOf(comment) != ""; named && strings.HasPrefix(comment, "helenus ordered ") && (strings.HasSuffix(comment, mark) && (mark != "" || !strings.Contains(comment, ","))) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.t.Fatalf("the comment is %q", comment)
}
