package rewrite

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// asked is a relay that sends nothing on: it looks at what holds when it is asked to, and answers as it is told.
type asked struct {
	w         *world
	forwarded int
	serving   bool // when it was asked to forward
	answer    proxy.Response
}

func (a *asked) Forward(_ *proxy.Request, f proxy.Forward) {
	a.forwarded++
	for _, x := range a.w.engine.rules.Load().active {
		a.serving = a.serving || x.serving()
	}
	if f.Done != nil {
		f.Done(a.answer)
	}
}

func (a *asked) Answer(*proxy.Request, proxy.Rows) { a.w.t.Error("answered by us") }

func (a *asked) Fail(_ *proxy.Request, _ int32, message string) { a.w.t.Error(message) }

// say has a client say a statement, and returns what the relay saw; nil if no rule holds for it.
func (w *world) say(keyspace, text string, batch bool, answer proxy.Response) *asked {
	a := &asked{w: w, answer: answer}
	r := &proxy.Request{Opcode: proxy.OpQuery, Version: 4, Text: text, Keyspace: keyspace, Consistency: 1, Responder: a,
		Client: &proxy.Client{Address: "10.0.0.7:4711", Role: "joe"}}
	r.Rule = w.engine.Rule(keyspace, text)
	if r.Rule == nil {
		return nil
	}
	if batch {
		r = &proxy.Request{Opcode: proxy.OpBatch, Version: 4, Keyspace: keyspace, Consistency: 1, Responder: a, Client: r.Client,
			Children: []proxy.Child{{Text: "INSERT INTO other.t (a) VALUES (1)"}, {Text: text, Rule: r.Rule}}}
	}
	if !w.engine.Take(r) {
		a.Forward(r, proxy.Forward{})
	}
	synctest.Wait()
	return a
}

// Whatever a client says of a table of ours, in whatever form, is forwarded once, as it is; but before it is, reads are turned back.
func TestStatementsOnOurTable(t *testing.T) {
	const set = " SET written = true WHERE guest = 'ann' AND room = 'a' AND day = 1 AND n = 1"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		invalid := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2200}
		for _, c := range []struct {
			keyspace, text string
			ours           bool
		}{
			{"", "TRUNCATE hotel.stays_by_guest", true},
			{"hotel", "TRUNCATE TABLE stays_by_guest", true},
			{"other", `TRUNCATE "hotel"."stays_by_guest"`, true},
			{"other", "TRUNCATE stays_by_guest", false},
			{"hotel", "TRUNCATE other.stays_by_guest", false},
			{"", "DELETE FROM hotel.stays_by_guest WHERE guest = 'ann'", true},
			{"", "DELETE FROM hotel.stays_by_guest WHERE guest = ? IF EXISTS", true},
			{"hotel", "UPDATE Stays_By_Guest" + set, true},
			{"hotel", "INSERT INTO stays_by_guest (guest, room, day, n) VALUES (?, ?, ?, ?) USING TTL 1", true},
			{"hotel", `INSERT INTO stays_by_guest JSON '{"guest": "ann"}'`, true},
			{"hotel", "BEGIN BATCH INSERT INTO other.t (a) VALUES (1); UPDATE stays_by_guest" + set + " APPLY BATCH", true},
			{"hotel", "ALTER TABLE stays_by_guest WITH default_time_to_live = 3", true},
			{"hotel", "ALTER TABLE IF EXISTS stays_by_guest ADD x int", true},
			{"hotel", "DROP TABLE stays_by_guest", true},
			{"", "DROP TABLE IF EXISTS hotel.stays_by_guest", true},
			{"", "DROP KEYSPACE hotel", true},
			{"", "DROP KEYSPACE other", false},
			{"hotel", "CREATE INDEX ON stays_by_guest (written)", true},
			{"hotel", "CREATE MATERIALIZED VIEW v AS SELECT * FROM stays_by_guest WHERE guest IS NOT NULL PRIMARY KEY (guest)", true},
			{"hotel", "CREATE TRIGGER t ON stays_by_guest USING 'x'", true},
			{"hotel", "MERGE INTO stays_by_guest SOMEHOW", true}, // of a Cassandra to come
			{"hotel", "SELECT * FROM stays_by_guest", false},
			{"hotel", "SELECT * FROM stays_by_guest WHERE SOMEHOW", false},
		} {
			for _, batch := range []bool{false, true} {
				// What Cassandra refuses has changed nothing.
				a := w.say(c.keyspace, c.text, batch, invalid)
				if !c.ours {
					if a != nil {
						t.Errorf("%s in %q: taken", c.text, c.keyspace)
					}
					continue
				}
				if a == nil || a.forwarded != 1 || a.serving {
					t.Fatalf("%s in %q, batch %t: %+v", c.text, c.keyspace, batch, a)
				}
				if m := w.engine.Migrations()[0]; m.State != migrate.Serving || !w.engine.rules.Load().active[0].serving() {
					t.Fatalf("%s was refused: %s, %s", c.text, m.State, m.Reason)
				}
			}
		}
	})
	for name, answer := range map[string]proxy.Response{
		"done": {Opcode: proxy.OpResult}, "lost": {Lost: true},
		"timed out": {Opcode: proxy.OpError, Failed: true, ErrorCode: 0x1100},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.fill(3, 1)
			w.boot(quick())
			defer func() { w.stop() }()
			must(t, w.approve("m1"))
			w.await(migrate.Serving)
			if a := w.say("", "TRUNCATE hotel.stays_by_guest", false, answer); a == nil || a.forwarded != 1 || a.serving {
				t.Fatalf("%s: %+v", name, a)
			}
			m := w.engine.Migrations()[0]
			if last := m.Events[len(m.Events)-1].Text; !strings.Contains(last, "client 10.0.0.7:4711 (role joe) said TRUNCATE on our look-up table hotel.stays_by_guest") {
				t.Errorf("%s: %s, %q", name, m.State, last)
			}
			if a := w.ask(byGuest, str("guest1")); !a.forwarded {
				t.Errorf("%s: still served", name)
			}
		})
	}
}
