package rewrite

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// The tables of ours are watched. A client may say anything about them, and it is forwarded as it was written: they are tables of
// its cluster. But nothing is answered from a table that is not known to hold what we wrote, so before such a statement goes on
// reads of that change run as written, and unless Cassandra refused it the table is verified again, or, if its rows were written, filled anew:
//
//	Take        held back in memory; the statement goes on
//	answered    by a refusal: nothing happened, reads are served again
//	            otherwise, or lost: an order to verify it again, and then no longer held back
//
// Tables that the application keeps, and a change answers from, are the application's to write, row by row. What empties or removes one as a whole is
// followed in the same way.
//
// Statements about the schema of the base are watched, too: what Cassandra answers once it has carried one out is not known before the schema was read again, and the event that has it
// read may come after the answer. So reads run as written from before such a statement goes on until a look at the schema that begins after its answer (suspect.go). One that drops the
// base is a TRUNCATE besides: what is made in its place may have its id, and none of its rows.
//
// A read that is under way meanwhile may have seen the table before or after, so it is answered only if nothing was said since it
// began (active.touched).

// touch is one statement on a table of ours, or one that empties a table which a change answers from, or one about the schema of the tables of an application.
type touch struct {
	active *active
	alters bool   // it is about the schema of the base, or of a table that the change answers from; nothing else is said of it
	drops  bool   // and that goes, with all rows: the base
	what   string // "DELETE on"
	on     *kind.Table
	ours   bool
	rows   bool // what it writes may hide entries from their own rows on: a table with such a tombstone can not be mended
}

// has tells whether a table is one of its own; any of a keyspace, if table is "".
func (a *active) has(keyspace, table string) bool {
	return slices.ContainsFunc(a.tables, func(t kind.Table) bool { return t.Keyspace == keyspace && (table == "" || t.Name == table) })
}

// reads tells whether a table is its base, or another of the application's that it answers from; any of a keyspace, if table is "".
func (a *active) reads(keyspace, table string) bool {
	return a.about.Keyspace == keyspace && (table == "" || table == a.about.Base) ||
		slices.ContainsFunc(a.rests, func(t kind.Table) bool { return t.Keyspace == keyspace && (table == "" || t.Name == table) })
}

// touches finds the changes whose tables a statement changes. What reads them changes nothing.
func (s *ruleSet) touches(st cql.Statement, keyspace string) (all []touch) {
	on := func(what string, t cql.TableRef, rows bool) {
		t = t.In(keyspace)
		for _, a := range s.active {
			if a.has(t.Keyspace, t.Table) {
				all = append(all, touch{active: a, what: what + " on", on: &a.tables[0], ours: true, rows: rows})
			}
		}
	}
	emptied := func(what string, t cql.TableRef) {
		t = t.In(keyspace)
		for _, a := range s.active {
			if slices.ContainsFunc(a.rests, func(r kind.Table) bool { return r.Keyspace == t.Keyspace && (r.Name == t.Table || t.Table == "") }) {
				all = append(all, touch{active: a, what: what, on: &a.rests[0]})
			}
		}
	}
	alters := func(keyspace, table string) {
		for _, a := range s.active {
			if a.reads(keyspace, table) {
				all = append(all, touch{active: a, alters: true})
			}
		}
	}
	drops := func(keyspace, table string) {
		alters(keyspace, table)
		for i, t := range all {
			all[i].drops = t.drops || t.alters && t.active.derived != nil
		}
	}
	switch x := st.(type) {
	case *cql.Insert:
		on("INSERT", x.Table, true)
	case *cql.Update:
		on("UPDATE", x.Table, true)
	case *cql.Delete:
		on("DELETE", x.Table, true)
	case *cql.Batch:
		for _, child := range x.Statements {
			all = append(all, s.touches(child, keyspace)...)
		}
	case *cql.Truncate:
		on("TRUNCATE", x.Table, true)
		emptied("TRUNCATE of", x.Table)
	case *cql.AlterTable:
		on("ALTER TABLE", x.Table, false)
		alters(x.Table.In(keyspace).Keyspace, x.Table.Table)
	case *cql.AlterType:
		alters(x.Type.In(keyspace).Keyspace, "")
	case *cql.CreateIndex: // which may find more than equal values
		on("CREATE INDEX", x.Table, false)
		alters(x.Table.In(keyspace).Keyspace, x.Table.Table)
	case *cql.CreateView:
		on("CREATE MATERIALIZED VIEW", x.From, false)
	case *cql.CreateTrigger:
		on("CREATE TRIGGER", x.Table, false)
	case *cql.AlterKeyspace:
		for _, a := range s.active {
			if a.has(x.Keyspace, "") || len(a.tables) > 0 && a.about.Keyspace == x.Keyspace {
				all = append(all, touch{active: a, what: "ALTER KEYSPACE with or of the base of", on: &a.tables[0], ours: true})
			}
		}
	case *cql.Drop:
		switch x.Object {
		case cql.ObjectTable:
			on("DROP TABLE", x.Name, false)
			emptied("DROP TABLE of", x.Name)
			drops(x.Name.In(keyspace).Keyspace, x.Name.Table)
		case cql.ObjectIndex, cql.ObjectType, cql.ObjectFunction, cql.ObjectAggregate:
			alters(x.Name.In(keyspace).Keyspace, "")
		case cql.ObjectTrigger:
			on("DROP TRIGGER", x.On, false)
		case cql.ObjectKeyspace:
			for _, a := range s.active {
				if a.has(x.Name.Keyspace, "") {
					all = append(all, touch{active: a, what: "DROP KEYSPACE with", on: &a.tables[0], ours: true})
				}
			}
			emptied("DROP KEYSPACE with", cql.TableRef{Keyspace: x.Name.Keyspace})
			drops(x.Name.Keyspace, "")
		}
	}
	return all
}

// unread finds the changes whose tables a text names that can not be parsed.
func (s *ruleSet) unread(text string) (all []touch) {
	text = strings.ToLower(text)
	for _, a := range s.active {
		if slices.ContainsFunc(a.tables, func(t kind.Table) bool {
			name := strings.ToLower(t.Name)
			return strings.Contains(text, name) || strings.Contains(text, strings.ReplaceAll(name, `"`, `""`))
		}) {
			all = append(all, touch{active: a, what: "a statement that can not be read, and names", on: &a.tables[0], ours: true, rows: true})
		}
	}
	return all
}

// touched are all touches of a request.
func touched(r *proxy.Request) []touch {
	if own, ok := r.Rule.(*rule); ok {
		return own.touches
	}
	var all []touch
	for i := range r.Children {
		if own, ok := r.Children[i].Rule.(*rule); ok {
			all = append(all, own.touches...)
		}
	}
	return all
}

// watched is the Responder of a request that touches tables of ours: it sees how the request ends.
type watched struct {
	proxy.Responder
	engine  *Engine
	touches []touch
	who     string
}

// watch turns reads back before a request goes on that touches tables of ours.
func (e *Engine) watch(r *proxy.Request, touches []touch) {
	for _, t := range touches {
		t.active.holds.Add(1)
		t.active.touched.Add(1)
	}
	who := "a client"
	if r.Client != nil {
		who = "client " + r.Client.Address
		if r.Client.Role != "" {
			who += " (role " + r.Client.Role + ")"
		}
	}
	r.Responder = &watched{r.Responder, e, touches, who}
}

// Forward implements proxy.Responder.
func (w *watched) Forward(r *proxy.Request, f proxy.Forward) {
	done := f.Done
	f.Done = func(answer proxy.Response) {
		if done != nil {
			done(answer)
		}
		w.ended(!answer.Lost && answer.Failed && refused(answer.ErrorCode))
	}
	w.Responder.Forward(r, f)
}

// Answer implements proxy.Responder.
func (w *watched) Answer(r *proxy.Request, rows proxy.Rows) {
	w.Responder.Answer(r, rows)
	w.ended(true)
}

// Fail implements proxy.Responder.
func (w *watched) Fail(r *proxy.Request, code int32, message string) {
	w.Responder.Fail(r, code, message)
	w.ended(true)
}

// ended is called once, on the relay's goroutine.
func (w *watched) ended(harmless bool) {
	if harmless {
		for _, t := range w.touches {
			t.active.holds.Add(-1)
		}
		return
	}
	looks := false
	for _, t := range w.touches {
		if t.alters {
			if looks = w.engine.options.Stale != nil; looks {
				w.engine.suspected.hold(t.active)
			}
			if t.drops { // who looks may find another that was made with its id since
				w.engine.turnBack(t.active, w.who+" dropped "+t.active.about.Keyspace+"."+t.active.about.Base, w.engine.manager.Refill)
			}
			t.active.holds.Add(-1)
			continue
		}
		t.active.counts.touched.Add(1)
		order := w.engine.manager.Reverify
		if t.rows {
			order = w.engine.manager.Refill
		}
		reason := condition.Schema.Refuse("%s said %s table %s, by which rows are found", w.who, t.what, t.on)
		if t.ours {
			reason = condition.Schema.Refuse("%s said %s our %s table %s", w.who, t.what, w.engine.noun(t.active), t.on)
		}
		w.engine.turnBack(t.active, reason.Error(), order)
		t.active.holds.Add(-1)
	}
	if looks { // no event comes of a statement that changed nothing
		w.engine.options.Stale()
	}
}
