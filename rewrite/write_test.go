package rewrite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// entry tells whether there is an entry of a guest for room3, 1, 0, its writetime and its time to live.
func (w *world) entry(guest string) (ok bool, at int64, ttl int32) {
	w.t.Helper()
	a, err := w.db.Snapshot().Query(context.Background(), exec.Query{
		Text:   "SELECT WRITETIME(written), TTL(written) FROM hotel.stays_by_guest WHERE guest = ? AND room = ? AND day = ? AND n = ?",
		Values: [][]byte{str(guest), str("room3"), num(1), num(0)}})
	must(w.t, err)
	if len(a.Rows) == 0 {
		return false, 0, 0
	}
	at, _ = exec.Int64(a.Rows[0][0])
	ttl, _ = exec.Int32(a.Rows[0][1])
	return true, at, ttl
}

func TestWritesThatCanBeKnown(t *testing.T) {
	now := func() int64 { return time.Now().UnixMicro() }
	key := [][]byte{str("room3"), num(1), num(0)}
	with := func(first ...[]byte) [][]byte { return append(first, key...) }
	for _, c := range []struct {
		name   string
		text   string
		values func() [][]byte
		change func(*proxy.Request)
		guest  string // who has an entry afterwards, "" for nobody new
		ttl    int32
	}{
		{"update", setGuest, func() [][]byte { return with(str("zoe")) }, nil, "zoe", 0},
		{"insert", insertRow, func() [][]byte { return append(append([][]byte{}, key...), str("zoe"), str("x")) }, nil, "zoe", 0},
		{"C11 using timestamp", "UPDATE hotel.stays USING TIMESTAMP ? SET guest = ? WHERE room = ? AND day = ? AND n = ?",
			func() [][]byte { return with(exec.FromInt64(now()+5), str("zoe")) }, nil, "zoe", 0},
		{"C10 ttl", "UPDATE hotel.stays USING TTL ? SET guest = ? WHERE room = ? AND day = ? AND n = ?",
			func() [][]byte { return with(num(100), str("zoe")) }, nil, "zoe", 3700},
		{"C10 literal ttl", "INSERT INTO hotel.stays (room, day, n, guest) VALUES (?, ?, ?, ?) USING TTL 40",
			func() [][]byte { return append(append([][]byte{}, key...), str("zoe")) }, nil, "zoe", 3640},
		{"literals", "UPDATE hotel.stays SET guest = 'zoe' WHERE room = 'room3' AND day = 1 AND n = 0", func() [][]byte { return nil },
			func(r *proxy.Request) { r.Opcode, r.Prepared = proxy.OpQuery, nil }, "zoe", 0},
		{"literals and values", "UPDATE hotel.stays SET guest = ? WHERE room = 'room3' AND day = ? AND n = 0",
			func() [][]byte { return [][]byte{str("zoe"), num(1)} }, nil, "zoe", 0},
		{"in a keyspace", "UPDATE stays SET guest = ? WHERE room = ? AND day = ? AND n = ?", func() [][]byte { return with(str("zoe")) },
			func(r *proxy.Request) { r.Keyspace = "hotel" }, "", 0}, // the database of the test knows no USE, and refuses it: nothing is left
		{"C6 empty", setGuest, func() [][]byte { return with([]byte{}) }, nil, "", 0},
		{"C6 too long", setGuest, func() [][]byte { return with(make([]byte, 70000)) }, nil, "", 0},
		{"C6 null", setGuest, func() [][]byte { return with(nil) }, nil, "", 0},
		{"C6 unset", setGuest, func() [][]byte { return with(nil) },
			func(r *proxy.Request) { r.Values[0] = proxy.Value{Unset: true} }, "", 0},
		{"C16 delete", deleteRow, func() [][]byte { return key }, nil, "", 0},
		{"C16 delete a column", "DELETE guest FROM hotel.stays WHERE room = ? AND day = ? AND n = ?", func() [][]byte { return key }, nil, "", 0},
		{"another column", "UPDATE hotel.stays SET status = ? WHERE room = ? AND day = ? AND n = ?", func() [][]byte { return with(str("x")) }, nil, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				a := w.send(c.text, c.change, c.values()...)
				if !a.forwarded {
					t.Fatalf("%+v", a)
				}
				synctest.Wait()
				if c.guest != "" {
					ok, at, ttl := w.entry(c.guest)
					if !ok || ttl != c.ttl || at < now()-1e6 {
						t.Errorf("entry %t at %d (now %d), ttl %d", ok, at, now(), ttl)
					}
				}
				if w.state() != migrate.Serving {
					t.Errorf("%+v", w.engine.Migrations()[0])
				}
				for _, guest := range []string{"guest0", "guest1", "guest4", "zoe"} {
					if !w.served(guest) {
						t.Errorf("%s is not served", guest)
					}
				}
			})
		})
	}
}

// What a write replaces is cleaned up after it, whether or not it says a timestamp, and of an own value no more than one entry stays.
func TestGarbageGoes(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		t.Run(fmt.Sprint("stamped ", stamped), func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				now := time.Now().UnixMicro()
				send := func(text string, values ...[]byte) {
					now += 10
					w.send(text, func(r *proxy.Request) { r.HasTimestamp, r.Timestamp = stamped, now*b2i(stamped) }, values...)
					time.Sleep(time.Second)
					synctest.Wait()
				}
				for _, guest := range []string{"ann", "ann", "bob", "bob", "ann"} {
					send(setGuest, str(guest), str("room3"), num(1), num(0))
				}
				if n := w.entries("bob"); n != 0 {
					t.Errorf("%d entries of the former value are still there", n)
				}
				if n := w.entries("ann"); n != 1 {
					t.Errorf("%d entries of the value", n)
				}
				send(deleteRow, str("room3"), num(1), num(0))
				if n := w.entries("ann"); n != 0 {
					t.Errorf("%d entries of the deleted row are still there", n)
				}
				if c := lookUps(w.engine).Maintainer.Counts(); c.Removed < 2 || c.Pending != 0 || c.Failed != 0 {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

// TestTheLastEntryStays: a row's value is written once more, and the entry of that write can not be put. Then the row is found by the entry of the cell before it, which has a
// smaller timestamp than what the base shows: neither the write's answer nor a sweep may take that for garbage.
func TestTheLastEntryStays(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		serving(t, func(t *testing.T, w *world) {
			w.db.Before.Set(func(_ context.Context, q exec.Query) error {
				if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") {
					return exec.ErrNoConnection
				}
				return nil
			})
			a := w.send(setGuest, func(r *proxy.Request) { r.HasTimestamp, r.Timestamp = stamped, time.Now().UnixMicro()*b2i(stamped) }, str("guest4"), str("room3"), num(1), num(0))
			if a.failed {
				t.Fatal("the write failed")
			}
			synctest.Wait()
			base := w.db.Schema().Table("hotel", "stays")
			l, refusal := match.New(advice(t), base)
			if refusal != nil {
				t.Fatal(refusal)
			}
			if ok, _, _ := w.entry("guest4"); !ok {
				t.Errorf("stamped %v: the write's answer took the last entry of its value", stamped)
			}
			if _, err := lookUps(w.engine).Maintainer.Reconcile(context.Background(), l, str("guest4"), [][]byte{str("room3"), num(1), num(0)}); err != nil {
				t.Fatal(err)
			}
			if ok, _, _ := w.entry("guest4"); !ok {
				t.Errorf("stamped %v: a sweep took the last entry of a value that the base holds", stamped)
			}
		})
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// entries counts the entries of a guest for room3, 1, 0.
func (w *world) entries(guest string) int {
	w.t.Helper()
	a, err := w.db.Snapshot().Query(context.Background(), exec.Query{
		Text:   "SELECT written FROM hotel.stays_by_guest WHERE guest = ? AND room = ? AND day = ? AND n = ?",
		Values: [][]byte{str(guest), str("room3"), num(1), num(0)}})
	must(w.t, err)
	return len(a.Rows)
}

// What can not be followed turns reads back until it was looked for; what is known, or what Cassandra refuses, does not.
func TestGuards(t *testing.T) {
	key := [][]byte{str("room3"), num(1), num(0)}
	for _, c := range []struct {
		name   string
		text   string
		values [][]byte
		turns  bool
	}{
		{"C12 conditional", setGuest + " IF status = 'x'", append([][]byte{str("zoe")}, key...), false},
		{"C6 a function, refused", "UPDATE hotel.stays SET guest = uuid() WHERE room = ? AND day = ? AND n = ?", key, false},
		{"C6 json without a key", "INSERT INTO hotel.stays JSON ?", [][]byte{str("{}")}, false},
		{"C20 truncate", "TRUNCATE hotel.stays", nil, true},
		{"C20 unreadable, refused by Cassandra", "UPDATE hotel.stays SET SET guest = ?", [][]byte{str("zoe")}, false},
		{"unreadable, about something else", "UPDATE hotel.rooms SET SET x = ?", [][]byte{str("zoe")}, false},
		{"C12 conditional, not about the column", "UPDATE hotel.stays SET status = ? WHERE room = ? AND day = ? AND n = ? IF EXISTS", append([][]byte{str("zoe")}, key...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				if a := w.ask(c.text, c.values...); !a.forwarded {
					t.Fatalf("%+v", a)
				}
				synctest.Wait()
				if got := w.state() != migrate.Serving; got != c.turns || w.served("guest1") == c.turns {
					t.Errorf("turned back: %t; %+v", got, w.engine.Migrations()[0])
				}
				w.await(migrate.Serving)
				if !w.served("guest1") || !w.served("zoe") {
					t.Error("not served again by itself")
				}
			})
		})
	}
}

// If Cassandra can not write the entry now, the write is carried out and reads are turned back until it was found; or, if it
// was approved so, the client is told and the base is not written.
func TestEntryCanNotBeWritten(t *testing.T) {
	for _, how := range []string{migrate.TurnBack, migrate.Refuse} {
		for name, fault := range map[string]error{"down": exectest.Timeout, "a fault of its own": exectest.Internal} {
			t.Run(how+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.fill(6, 2)
					w.boot(quick())
					defer func() { w.stop() }()
					_, err := w.engine.ApproveOn(context.Background(), "m1", advice(t), migrate.Terms{Actor: "ann", OnEntryFailure: how})
					must(t, err)
					w.await(migrate.Serving)
					w.db.Before.Set(func(_ context.Context, q exec.Query) error {
						if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
							return fault
						}
						return nil
					})
					refused := how == migrate.Refuse && exec.Down(fault) && !exec.Internal(fault)
					a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0))
					if a.failed != refused || (refused && a.code != 0x1001) {
						t.Errorf("%+v", a)
					}
					synctest.Wait()
					if got := len(w.direct("zoe")); (got == 0) != refused {
						t.Errorf("%d rows in the base", got)
					}
					if w.served("guest1") != refused || w.served("zoe") != refused {
						t.Error("served wrongly")
					}
					w.db.Before.Clear()
					w.await(migrate.Serving)
					if !w.served("guest1") || !w.served("zoe") {
						t.Error("not served again by itself")
					}
				})
			})
		}
	}
}

// While entries can not be written the application does not wait for each of them; and nothing is served before all are found.
func TestApplicationDoesNotWaitForEntries(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		tries := 0
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
				tries++
				return exectest.Timeout
			}
			return nil
		})
		for i := range 100 {
			if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(i)); a.failed {
				t.Fatalf("%+v", a)
			}
			synctest.Wait()
		}
		if tries > 3 {
			t.Errorf("%d of 100 writes waited for an entry that could not be written", tries)
		}
		w.db.Before.Clear()
		w.await(migrate.Serving)
		if !w.served("zoe") {
			t.Error("not served")
		}
	})
}

// While nothing rests on the entries, one that can not be written keeps nobody from writing.
func TestEntryCanNotBeWrittenWhileSuspended(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		must(t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", false))
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
				return exectest.Timeout
			}
			return nil
		})
		if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); a.failed || !a.forwarded {
			t.Errorf("%+v", a)
		}
		synctest.Wait()
		w.db.Before.Clear()
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
		if !w.served("zoe") {
			t.Error("not served after it was resumed")
		}
		if m := w.engine.Migrations()[0]; m.Repaired != 0 { // it was owed, and put before
			t.Errorf("%+v", m)
		}
	})
}

// If the entry can not be written for another reason, the write goes on and reads are turned back.
func TestEntryRefused(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Drop("hotel", "stays_by_guest")
		if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); a.failed {
			t.Errorf("%+v", a)
		}
		synctest.Wait()
		if w.served("zoe") {
			t.Error("served without a table")
		}
		w.await(migrate.Failed)
	})
}

func TestBatches(t *testing.T) {
	child := func(text string, values ...[]byte) proxy.Child {
		c := proxy.Child{Text: text, Prepared: &proxy.Prepared{Text: text}}
		for _, v := range values {
			c.Values = append(c.Values, proxy.Value{Bytes: v, Null: v == nil})
		}
		return c
	}
	status := child("UPDATE hotel.stays SET status = ? WHERE room = ? AND day = ? AND n = ?", str("x"), str("room3"), num(1), num(1))
	zoe := child(setGuest, str("zoe"), str("room3"), num(1), num(0))
	ann := child(setGuest, str("ann"), str("room3"), num(1), num(1))
	lwt := child("UPDATE hotel.stays SET status = ? WHERE room = ? AND day = ? AND n = ? IF EXISTS", str("x"), str("room3"), num(1), num(1))
	for _, c := range []struct {
		name     string
		children []proxy.Child
		level    gocql.Consistency
		turns    bool
		taken    bool
	}{
		{"nothing of ours", []proxy.Child{status, status}, gocql.One, false, false},
		{"C18 two rows", []proxy.Child{zoe, status, ann}, gocql.One, false, true},
		{"C12 another child has a condition", []proxy.Child{zoe, lwt}, gocql.One, false, true},
		{"C13 at SERIAL", []proxy.Child{zoe, status, ann}, gocql.Consistency(gocql.Serial), false, true}, // which Cassandra carries out, at QUORUM
		{"C13 at LOCAL_SERIAL", []proxy.Child{zoe}, gocql.Consistency(gocql.LocalSerial), false, true},
		{"prepared elsewhere", []proxy.Child{zoe, {}}, gocql.One, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				cl := &client{w: w, ctx: context.Background(), done: make(chan answer, 1)}
				r := &proxy.Request{Opcode: proxy.OpBatch, Version: 4, Consistency: uint16(c.level), Responder: cl, Children: append([]proxy.Child(nil), c.children...)}
				for i := range r.Children {
					if text := r.Children[i].Text; text != "" {
						r.Children[i].Rule = w.engine.Rule("", text)
					}
				}
				if taken := w.engine.Take(r); taken != c.taken {
					t.Fatalf("taken: %t", taken)
				}
				if !c.taken {
					return
				}
				a := <-cl.done
				if !a.forwarded {
					t.Fatalf("%+v", a)
				}
				synctest.Wait()
				if got := w.state() != migrate.Serving; got != c.turns {
					t.Errorf("turned back: %t; %+v", got, w.engine.Migrations()[0])
				}
				if !c.turns && !w.served("zoe") {
					t.Errorf("%+v", a)
				}
				w.await(migrate.Serving)
			})
		})
	}
}

// Reads that are unusual run as they were written, and it is counted why.
func TestReadsAsWritten(t *testing.T) {
	because := map[string]string{
		"C3 paging state": "pages", "C3 an empty state": "pages", "C3 more than a page": "unsuited", "C14 tracing": "options", "C14 payload": "options", "C14 unusual": "options",
		"C12 serial": "consistency", "C12 local serial": "consistency", "C21 authenticated": "role", "C1 a query text": "text",
		"C1 other columns": "unsuited", "C6 null": "unsuited", "C6 unset": "unsuited", "C6 empty": "unsuited",
	}
	for name, change := range map[string]func(*proxy.Request){
		"C3 paging state":     func(r *proxy.Request) { r.PagingState = []byte{1} },
		"C3 an empty state":   func(r *proxy.Request) { r.PagingState = []byte{} },
		"C3 more than a page": func(r *proxy.Request) { r.PageSize = 1 },
		"C14 tracing":         func(r *proxy.Request) { r.Flags = flagTracing },
		"C14 payload":         func(r *proxy.Request) { r.Flags = flagPayload },
		"C14 unusual":         func(r *proxy.Request) { r.Unusual = true },
		"C12 serial":          func(r *proxy.Request) { r.Consistency = 8 },
		"C12 local serial":    func(r *proxy.Request) { r.Consistency = 9 },
		"C21 authenticated":   func(r *proxy.Request) { r.Client = &proxy.Client{User: true} },
		"C1 a query text":     func(r *proxy.Request) { r.Opcode, r.SkipMetadata = proxy.OpQuery, true },
		"C1 other columns":    func(r *proxy.Request) { r.Prepared.Results = r.Prepared.Results[1:] },
		"C6 null":             func(r *proxy.Request) { r.Values[0] = proxy.Value{Null: true} },
		"C6 unset":            func(r *proxy.Request) { r.Values[0] = proxy.Value{Unset: true} },
		"C6 empty":            func(r *proxy.Request) { r.Values[0].Bytes = []byte{} },
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				if a := w.send(byGuest, change, str("guest1")); !a.forwarded {
					t.Errorf("%+v", a)
				}
				if want := because[name]; w.asWritten() != want+" 1" {
					t.Errorf("as written because of %s, want %s", w.asWritten(), want)
				}
				if !w.served("guest1") {
					t.Error("an ordinary read is not served")
				}
			})
		})
	}
}

// asWritten lists why reads ran as written, with how many did.
func (w *world) asWritten() string {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(w.t, registry.Register(w.engine))
	families, err := registry.Gather()
	must(w.t, err)
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if n := m.GetCounter().GetValue(); f.GetName() == "helenus_change_reads_not_served_total" && n > 0 {
				out = append(out, fmt.Sprintf("%s %g", m.GetLabel()[1].GetValue(), n))
			}
		}
	}
	return strings.Join(out, ", ")
}

// More entries than the cap: the original statement.
func TestTooManyEntries(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		lookUps(w.engine).Reader.Entries = 2
		if w.served("guest1") {
			t.Error("served")
		}
	})
}
