package twintest

import (
	"fmt"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Form is a way to write: a sequence of statements on rows of one room, by one writer.
type Form struct {
	Name string
	Make func(g *Gen) []Statement
	// Made: Cassandra makes up the ticket, so it is another one on the other side.
	Made bool
	// Once: sent again, after an answer that got lost, it does more than sent once.
	Once bool
	// Refused: Cassandra refuses all that Make returns.
	Refused bool
}

// Gen is what a form draws its values from. Two of the same values make the same statements.
type Gen struct {
	Room  string
	Guest string // that the room's rows begin with; forms append to it
	// Now is the client's clock, in microseconds, above all that it gave before.
	Now func() int64
	// Stamps: the client gives each statement the protocol's default timestamp, as most drivers do.
	Stamps  bool
	tickets int
}

func (g *Gen) stamp(list []Statement) []Statement {
	for i := range list {
		if g.Stamps && list[i].At == 0 {
			list[i].At = g.Now()
		}
	}
	return list
}

// Sequence is all that a form sends: it begins with three rows, and ends with writes of other columns, which what went
// before must not swallow.
func (f Form) Sequence(g *Gen) []Statement {
	list := []Statement{g.row(1), g.row(2), g.row(3)}
	list = append(list, f.Make(g)...)
	list = append(list,
		x("UPDATE @.stays SET note = ?, status = ? WHERE room = ? AND day = ? AND n = ?", Text("after"), Text("after"), Text(g.Room), Int(1), Int(1)),
		q(g.in("DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n = 3")),
	)
	return g.stamp(list)
}

func (g *Gen) in(text string) string { return strings.ReplaceAll(text, "%s", g.Room) }

func (g *Gen) guest(n int) string { return fmt.Sprint(g.Guest, n) }

const (
	insertAll = "INSERT INTO @.stays (room, day, n, guest, ticket, status, note) VALUES (?, ?, ?, ?, ?, ?, ?)"
	insertRow = "INSERT INTO @.stays (room, day, n, guest) VALUES (?, ?, ?, ?)"
	setGuest  = "UPDATE @.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?"
	setNote   = "UPDATE @.stays SET note = ? WHERE room = ? AND day = ? AND n = ?"
	deleteRow = "DELETE FROM @.stays WHERE room = ? AND day = ? AND n = ?"
)

// row inserts row n of day 1 with all columns.
func (g *Gen) row(n int) Statement {
	return x(insertAll, Text(g.Room), Int(1), Int(n), Text(g.guest(n)), Raw(Ticket(g.ticket())), Text("booked"), Text("first"))
}

// ticket is one that no other row of the room has.
func (g *Gen) ticket() int {
	g.tickets++
	n := g.tickets
	for _, c := range g.Room {
		n = n*31 + int(c)
	}
	return n & 0x7fffffff
}

func (g *Gen) key(n int) []Value { return []Value{Text(g.Room), Int(1), Int(n)} }

// with puts the key of row n behind values.
func (g *Gen) with(n int, values ...Value) []Value { return append(values, g.key(n)...) }

func x(text string, values ...Value) Statement {
	return Statement{Way: Execute, Text: text, Values: values}
}
func q(text string, values ...Value) Statement {
	return Statement{Way: Query, Text: text, Values: values}
}

func named(way Way, text string, values map[string]Value) Statement {
	return Statement{Way: way, Text: text, Named: values}
}

func logged(children ...Statement) Statement { return Statement{Way: Batch, Children: children} }

func unlogged(children ...Statement) Statement {
	return Statement{Way: Batch, Unlogged: true, Children: children}
}

// same makes statements of literal texts, in which %s is the room.
func same(texts ...string) func(*Gen) []Statement {
	return func(g *Gen) (list []Statement) {
		for _, text := range texts {
			list = append(list, q(g.in(text)))
		}
		return list
	}
}

// Forms are all that Cassandra carries out.
func Forms() []Form {
	return append(append(append(plainForms(), deletions()...), conditional()...), special()...)
}

func plainForms() []Form {
	return []Form{
		{Name: "insert, prepared", Make: func(g *Gen) []Statement { return []Statement{g.row(4), x(insertRow, g.with4(5, "5")...)} }},
		{Name: "insert, literals", Make: same("INSERT INTO @.stays (room, day, n, guest, note) VALUES ('%s', 1, 4, 'it''s', 'x')", "INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 1, 'guest1')")},
		{Name: "insert, QUERY with values", Make: func(g *Gen) []Statement {
			return []Statement{q(insertRow, g.with4(4, "4")...), q(insertRow, g.with4(1, "9")...)}
		}},
		{Name: "insert, QUERY with named values", Make: func(g *Gen) []Statement {
			return []Statement{named(Query, "INSERT INTO @.stays (room, day, n, guest) VALUES (:room, :day, :n, :guest)",
				map[string]Value{"room": Text(g.Room), "guest": Text(g.guest(8)), "day": Int(1), "n": Int(1)})}
		}},
		{Name: "update, prepared with named values", Make: func(g *Gen) []Statement {
			return []Statement{named(Execute, "UPDATE @.stays SET guest = :g WHERE room = :r AND day = :d AND n = :n",
				map[string]Value{"n": Int(1), "g": Text(g.guest(8)), "r": Text(g.Room), "d": Int(1)})}
		}},
		{Name: "update, prepared", Make: func(g *Gen) []Statement {
			return []Statement{x(setGuest, g.with(1, Text(g.guest(8)))...), x(setNote, g.with(1, Text("x"))...), x(setGuest, g.with(2, Text(g.guest(1)))...)}
		}},
		{Name: "update, literals", Make: same("UPDATE @.stays SET guest = 'guest1', status = 'x' WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET note = 'y' WHERE room = '%s' AND day = 1 AND n = 2")},
		{Name: "update of what is not there", Make: func(g *Gen) []Statement {
			return []Statement{x(setGuest, g.with(7, Text(g.guest(1)))...), x(setGuest, g.with(7, Null())...)}
		}},
		{Name: "the same value again", Make: func(g *Gen) []Statement {
			s := x(setGuest, g.with(1, Text(g.guest(1)))...)
			return []Statement{s, s, g.row(1), x(setNote, g.with(1, Text("x"))...)}
		}},
		{Name: "there and back", Make: func(g *Gen) (list []Statement) {
			for i := range 4 {
				list = append(list, x(setGuest, g.with(1, Text(g.guest(i%2)))...))
			}
			return list
		}},
		{Name: "rows by IN", Make: same("UPDATE @.stays SET guest = 'in' WHERE room = '%s' AND day = 1 AND n IN (1, 2, 3)", "UPDATE @.stays SET guest = 'in2' WHERE room IN ('%s', '%s too') AND day = 1 AND n = 1")},
		{Name: "rows by tuples", Make: same("UPDATE @.stays SET guest = 't' WHERE room = '%s' AND (day, n) = (1, 1)", "UPDATE @.stays SET guest = 'u' WHERE room = '%s' AND (day, n) IN ((1, 1), (1, 2))")},
		{Name: "rows by a bound IN", Make: func(g *Gen) []Statement {
			return []Statement{x("UPDATE @.stays SET guest = ? WHERE room = ? AND day = ? AND n IN ?", Text("many"), Text(g.Room), Int(1), Raw(intList(1, 2, 5)))}
		}},
		{Name: "null, literal", Make: same("UPDATE @.stays SET guest = null WHERE room = '%s' AND day = 1 AND n = 1", "INSERT INTO @.stays (room, day, n, guest, note) VALUES ('%s', 1, 2, null, 'x')")},
		{Name: "null, bound", Make: func(g *Gen) []Statement {
			return []Statement{x(setGuest, g.with(1, Null())...), x(setGuest, g.with(1, Text(g.guest(1)))...), x(setGuest, g.with(2, Null())...)}
		}},
		{Name: "unset", Make: func(g *Gen) []Statement {
			return []Statement{x("UPDATE @.stays SET guest = ?, note = ? WHERE room = ? AND day = ? AND n = ?", g.with(1, Unset(), Text("unset"))...), x(setGuest, g.with(2, Unset())...),
				x(insertRow, Text(g.Room), Int(1), Int(4), Unset())}
		}},
		{Name: "a row of its key alone", Make: same("INSERT INTO @.stays (room, day, n) VALUES ('%s', 1, 4)", "DELETE guest FROM @.stays WHERE room = '%s' AND day = 1 AND n = 1")},
		{Name: "values that can not be a key", Make: func(g *Gen) []Statement {
			return []Statement{x(setGuest, g.with(1, Text(""))...), x(setGuest, g.with(2, Text(strings.Repeat("x", 66000)))...), x(setNote, g.with(2, Text("x"))...), x(setGuest, g.with(2, Text(g.guest(2)))...)}
		}},
		{Name: "at QUORUM and at ANY", Make: func(g *Gen) []Statement {
			a, b := x(setGuest, g.with(1, Text("quorum"))...), x(setGuest, g.with(2, Text("any"))...)
			a.Level, b.Level = primitive.ConsistencyLevelQuorum, primitive.ConsistencyLevelLocalQuorum
			return []Statement{a, b}
		}},
	}
}

// with4 is the key of row n, and a guest.
func (g *Gen) with4(n int, guest string) []Value {
	return append(g.key(n), Text(g.Guest+guest))
}

func intList(numbers ...int) []byte {
	b := Int(len(numbers)).Contents
	for _, n := range numbers {
		b = append(append(b, Int(4).Contents...), Int(n).Contents...)
	}
	return b
}

func deletions() []Form {
	return []Form{
		{Name: "delete a cell", Make: func(g *Gen) []Statement {
			return []Statement{x("DELETE note FROM @.stays WHERE room = ? AND day = ? AND n = ?", g.key(1)...), x("DELETE guest FROM @.stays WHERE room = ? AND day = ? AND n = ?", g.key(2)...),
				x("DELETE guest, ticket, status FROM @.stays WHERE room = ? AND day = ? AND n = ?", g.key(3)...)}
		}},
		{Name: "delete a row", Make: func(g *Gen) []Statement {
			return []Statement{x(deleteRow, g.key(1)...), q(g.in("DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n = 2"))}
		}},
		{Name: "delete a row and insert it again", Make: func(g *Gen) []Statement {
			return []Statement{x(deleteRow, g.key(1)...), g.row(1), x(deleteRow, g.key(2)...), x(setGuest, g.with(2, Text(g.guest(2)))...)}
		}},
		{Name: "delete a partition", Make: func(g *Gen) []Statement {
			return []Statement{x("DELETE FROM @.stays WHERE room = ?", Text(g.Room)), x(setNote, g.with(2, Text("again"))...)}
		}},
		{Name: "delete ranges", Make: func(g *Gen) []Statement {
			return []Statement{g.row(4), g.row(5), x("DELETE FROM @.stays WHERE room = ? AND day = ? AND n > ?", Text(g.Room), Int(1), Int(3)),
				q(g.in("DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n >= 2 AND n < 3")), x(setGuest, g.with(4, Text(g.guest(4)))...)}
		}},
		{Name: "delete a range of days", Make: func(g *Gen) []Statement {
			return []Statement{x("DELETE FROM @.stays WHERE room = ? AND day >= ?", Text(g.Room), Int(1)), x(insertRow, g.with4(1, "1")...)}
		}},
		{Name: "delete rows by IN", Make: same("DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n IN (1, 2)", "DELETE FROM @.stays WHERE room = '%s' AND (day, n) IN ((1, 3), (1, 4))")},
		{Name: "delete using a timestamp", Make: func(g *Gen) []Statement {
			return []Statement{q(fmt.Sprintf(g.in("DELETE FROM @.stays USING TIMESTAMP %d WHERE room = '%%s' AND day = 1 AND n = 1"), 1000)),
				x("DELETE guest FROM @.stays USING TIMESTAMP ? WHERE room = ? AND day = ? AND n = ?", g.with(2, Bigint(g.Now()))...)}
		}},
	}
}

func conditional() []Form {
	return []Form{
		{Name: "INSERT IF NOT EXISTS", Make: func(g *Gen) []Statement {
			const text = insertRow + " IF NOT EXISTS"
			return []Statement{x(text, g.with4(4, "4")...), x(text, g.with4(4, "5")...), x(text, g.with4(1, "6")...), q(g.in("INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 6, 'guest6') IF NOT EXISTS")), x(setNote, g.with(4, Text("x"))...)}
		}},
		{Name: "UPDATE IF", Make: func(g *Gen) []Statement {
			const text = "UPDATE @.stays SET guest = ? WHERE room = ? AND day = ? AND n = ? IF note = ?"
			return []Statement{x(text, append(g.with(1, Text("if")), Text("first"))...), x(text, append(g.with(2, Text("not")), Text("other"))...), x(setNote, g.with(1, Text("x"))...)}
		}},
		{Name: "UPDATE another column IF the looked-up one", Make: func(g *Gen) []Statement {
			const text = "UPDATE @.stays SET note = ? WHERE room = ? AND day = ? AND n = ? IF guest = ?"
			return []Statement{x(text, append(g.with(1, Text("mine")), Text(g.guest(1)))...), x(text, append(g.with(2, Text("not mine")), Text(g.guest(1)))...)}
		}},
		{Name: "UPDATE IF EXISTS", Make: func(g *Gen) []Statement {
			const text = setGuest + " IF EXISTS"
			return []Statement{x(text, g.with(1, Text("there"))...), x(text, g.with(9, Text("nowhere"))...), x(setNote+" IF EXISTS", g.with(2, Text("there"))...)}
		}},
		{Name: "DELETE IF", Make: func(g *Gen) []Statement {
			return []Statement{x(deleteRow+" IF EXISTS", g.key(1)...), x(deleteRow+" IF EXISTS", g.key(9)...), x(deleteRow+" IF note = 'other'", g.key(2)...),
				x("DELETE guest FROM @.stays WHERE room = ? AND day = ? AND n = ? IF note = 'first'", g.key(3)...), g.row(1)}
		}},
		{Name: "a conditional write right after a plain one", Make: func(g *Gen) []Statement {
			return []Statement{g.row(1), x(setNote+" IF status = 'booked'", g.with(1, Text("cas"))...), x(setGuest, g.with(1, Text("plain"))...), x("UPDATE @.stays SET status = ? WHERE room = ? AND day = ? AND n = ? IF guest = 'plain'", g.with(1, Text("cas"))...)}
		}},
		{Name: "a conditional batch", Make: func(g *Gen) []Statement {
			return []Statement{
				logged(x(setGuest+" IF note = 'first'", g.with(1, Text("batched"))...), x(setGuest, g.with(2, Text("too"))...)),
				logged(x(setGuest+" IF note = 'no'", g.with(2, Text("not"))...), x(setNote, g.with(3, Text("not"))...)),
				q(g.in("BEGIN BATCH UPDATE @.stays SET guest = 'text' WHERE room = '%s' AND day = 1 AND n = 1 IF EXISTS; DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n = 2; APPLY BATCH"))}
		}},
		{Name: "a static condition", Make: same("INSERT INTO @.stays (room, owner) VALUES ('%s', 'ann') IF NOT EXISTS", "UPDATE @.stays SET guest = 'owned' WHERE room = '%s' AND day = 1 AND n = 1 IF owner = 'ann'")},
	}
}
