package rewrite

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A base row whose key is too long for the look-up, found by backfill or written later, in any form, is in every answer: reads of its value
// run as written, all others are served. Nothing is suspended, nor lost.
func TestCassandraKeysWithoutRoom(t *testing.T) {
	l := newLive(t)
	insert := l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)")
	l.load(50)
	room := func(n int, last string) []byte { return append(bytes.Repeat([]byte("r"), n-len(last)), last...) }
	const fits = 65535 - 9 - 8 // room, beside kind and id, day and n
	put := func(through bool, room []byte, guest string) {
		t.Helper()
		if !through {
			l.do(insert, room, 1, 1, guest, "x")
		} else if a := l.ask(insert, room, num(1), num(1), str(guest), str("x")); a.failed {
			t.Fatalf("%+v", a)
		}
	}
	put(false, room(fits, "a"), "guest1")
	put(false, room(fits+1, "b"), "guest2")
	put(false, room(65535, "c"), "guest2")
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "long", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	l.equal()
	forwarded := func(guest string, want bool, rows int) {
		t.Helper()
		got := l.ask(l.statement(), str(guest))
		original, err := l.pool.Query(context.Background(), exec.Query{Text: l.statement(), Values: [][]byte{str(guest)}, Consistency: gocql.One})
		if err != nil {
			t.Fatal(err)
		}
		if got.failed || got.forwarded != want || !exec.Equal(got.rows, original.Rows) || len(got.rows) < rows {
			t.Errorf("%s: failed %v, forwarded %v, %d rows of %d", guest, got.failed, got.forwarded, len(got.rows), len(original.Rows))
		}
	}
	forwarded("guest1", false, 1)
	forwarded("guest2", true, 2)
	put(true, room(fits, "d"), "guest3")
	put(true, room(fits+1, "e"), "guest4")
	forwarded("guest3", false, 1)
	forwarded("guest4", true, 1)
	update := l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?")
	if a := l.ask(update+" IF EXISTS", str("guest5"), room(fits+1, "e"), num(1), num(1)); a.failed {
		t.Errorf("%+v", a)
	}
	forwarded("guest5", true, 1)
	forwarded("guest4", true, 0)
	if a := l.ask(l.in("DELETE FROM %s.stays WHERE room = ? AND day = ? AND n = ?"), room(fits+1, "e"), num(1), num(1)); a.failed {
		t.Errorf("%+v", a)
	}
	// A clustering column too long for the base, too: refused, and nothing of it stays.
	if a := l.ask(insert, room(70000, "f"), num(1), num(1), str("guest6"), str("x")); !a.failed {
		t.Error("Cassandra took a partition key of 70,000 bytes")
	}
	forwarded("guest6", false, 0)
	if m := l.state(); m.State != migrate.Serving || m.Reason != "" {
		t.Errorf("%s: %s", m.State, m.Reason)
	}
	// A value that nobody knows: reads are turned back, and that ends by itself.
	if a := l.ask(l.in("UPDATE %s.stays SET guest = cast(day as text) WHERE room = ? AND day = 1 AND n = 1"), room(fits+1, "g")); !a.failed {
		t.Log("Cassandra computes it") // no released version does
	}
	if a := l.ask(l.in("INSERT INTO %s.stays (room, day, n, guest) VALUES (?, 1, 1, toJson(7))"), room(fits+1, "g")); a.failed {
		t.Errorf("%+v", a)
	}
	if got := l.ask(l.statement(), str("7")); len(got.rows) != 1 {
		t.Errorf("%+v", got)
	}
	l.await(migrate.Serving)
	forwarded("7", true, 1)
	result, err := l.engine.manager.CheckOnce(context.Background(), "long")
	if err != nil || result.Missing > 0 || result.NoRoom != 3 {
		t.Errorf("%+v %v", result, err)
	}
	l.equal()
}

// The types that a look-up takes, for its column and for keys, tell any two values apart whose bytes differ; those that it refuses do not
// (the booleans 0x01 and 0x69 are two partitions, but one clustering key and one value).
func TestCassandraEqualBytes(t *testing.T) {
	l := newLive(t)
	for _, c := range []struct {
		cqlType string
		values  []string
		rows    int
	}{
		{"boolean", []string{"\x01", "\x69", "\x00"}, 2},
		{"varint", []string{"\x01", "\x00\x01", "\x02"}, 2},
		{"decimal", []string{"\x00\x00\x00\x00\x01", "\x00\x00\x00\x01\x0a"}, 1},
		{"double", []string{"\x7f\xf8\x00\x00\x00\x00\x00\x00", "\x7f\xf8\x00\x00\x00\x00\x00\x01"}, 1},
		{"float", []string{"\x7f\xc0\x00\x00", "\x7f\xc0\x00\x01"}, 1},
		{"int", []string{"", "\x00\x00\x00\x00", "\x00\x00\x00\x01", "\x80\x00\x00\x00"}, 4},
		{"smallint", []string{"\x00\x00", "\x80\x00", "\x00\x80"}, 3},
		{"tinyint", []string{"\x00", "\x80", "\x01"}, 3},
		{"bigint", []string{"", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x80\x00\x00\x00\x00\x00\x00\x00"}, 3},
		{"timestamp", []string{"", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x80\x00\x00\x00\x00\x00\x00\x00"}, 3},
		{"date", []string{"\x00\x00\x00\x00", "\x80\x00\x00\x00", "\x7f\xff\xff\xff"}, 3},
		{"time", []string{"\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x01"}, 2},
		{"inet", []string{"", "\x01\x02\x03\x04", strings.Repeat("\x00", 10) + "\xff\xff\x01\x02\x03\x04"}, 3},
		{"text", []string{"", "\xc3\xa9", "e\xcc\x81", "e", "E", "\x00", "\xc0\x80"}, 7},
		{"ascii", []string{"", "a", "A", "\x00"}, 4},
		{"blob", []string{"", "\x00", "\x00\x00"}, 3},
		{"uuid", []string{"", strings.Repeat("\x00", 16), "\x00\x00\x00\x00\x00\x00\x10\x00" + strings.Repeat("\x80", 8), "\x00\x00\x00\x00\x00\x00\x40\x00" + strings.Repeat("\x80", 8)}, 4},
		{"timeuuid", []string{"\x00\x00\x00\x00\x00\x00\x10\x00" + strings.Repeat("\x80", 8), "\x00\x00\x00\x00\x00\x00\x10\x00" + strings.Repeat("\x00", 8),
			"\x00\x00\x00\x01\x00\x00\x10\x00" + strings.Repeat("\x80", 8)}, 3},
	} {
		l.do(l.in("CREATE TABLE %s.of_" + c.cqlType + " (p int, c " + c.cqlType + ", PRIMARY KEY (p, c))"))
		for _, v := range c.values {
			_, err := l.pool.Query(context.Background(), exec.Query{Text: l.in("INSERT INTO %s.of_" + c.cqlType + " (p, c) VALUES (1, ?)"), Values: [][]byte{[]byte(v)}, Consistency: gocql.One})
			if err != nil {
				t.Errorf("%s %x: %v", c.cqlType, v, err)
			}
		}
		a, err := l.pool.Query(context.Background(), exec.Query{Text: l.in("SELECT c FROM %s.of_" + c.cqlType + " WHERE p = 1"), Consistency: gocql.One})
		if err != nil || len(a.Rows) != c.rows {
			t.Errorf("%s: %d rows, not %d; %v", c.cqlType, len(a.Rows), c.rows, err)
		}
	}
}
