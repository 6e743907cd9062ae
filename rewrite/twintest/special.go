package twintest

import (
	"fmt"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

func special() []Form {
	return append(append(typed(), timed()...), batches()...)
}

// typed are the forms that bring their own syntax.
func typed() []Form {
	return []Form{
		{Name: "INSERT JSON", Make: func(g *Gen) []Statement {
			return []Statement{q(g.in(`INSERT INTO @.stays JSON '{"room": "%s", "day": 1, "n": 1, "guest": "json"}'`)),
				x("INSERT INTO @.stays JSON ?", Text(g.in(`{"room": "%s", "day": 1, "n": 4, "guest": "bound", "note": null}`))),
				x(setNote, g.with(1, Text("x"))...)}
		}},
		{Name: "INSERT JSON DEFAULT UNSET", Make: func(g *Gen) []Statement {
			return []Statement{x("INSERT INTO @.stays JSON ? DEFAULT UNSET", Text(g.in(`{"room": "%s", "day": 1, "n": 1, "note": "json"}`))),
				x("INSERT INTO @.stays JSON ? DEFAULT UNSET", Text(g.in(`{"room": "%s", "day": 1, "n": 2, "guest": null}`)))}
		}},
		{Name: "INSERT JSON IF NOT EXISTS", Make: func(g *Gen) []Statement {
			const text = "INSERT INTO @.stays JSON ? IF NOT EXISTS"
			return []Statement{x(text, Text(g.in(`{"room": "%s", "day": 1, "n": 1, "guest": "late"}`))), x(text, Text(g.in(`{"room": "%s", "day": 1, "n": 6, "guest": "first"}`)))}
		}},
		{Name: "a set", Make: same("UPDATE @.stays SET tags = {'a', 'b'} WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET tags = tags + {'c'}, guest = 'set' WHERE room = '%s' AND day = 1 AND n = 1",
			"UPDATE @.stays SET tags = tags - {'a'} WHERE room = '%s' AND day = 1 AND n = 1", "DELETE tags['b'] FROM @.stays WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET tags = {} WHERE room = '%s' AND day = 1 AND n = 2")},
		{Name: "a list", Once: true, Make: same("UPDATE @.stays SET log = ['a', 'b'], guest = 'list' WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET log = log + ['c'] WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET log = ['z'] + log WHERE room = '%s' AND day = 1 AND n = 1",
			"UPDATE @.stays SET log[1] = 'x' WHERE room = '%s' AND day = 1 AND n = 1", "DELETE log[0] FROM @.stays WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET log = log - ['c'] WHERE room = '%s' AND day = 1 AND n = 1")},
		{Name: "a map", Make: same("UPDATE @.stays SET attrs = {'a': '1', 'b': '2'}, guest = 'map' WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET attrs['c'] = '3' WHERE room = '%s' AND day = 1 AND n = 1",
			"UPDATE @.stays SET attrs = attrs - {'a'} WHERE room = '%s' AND day = 1 AND n = 1", "DELETE attrs['b'] FROM @.stays WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET attrs = null WHERE room = '%s' AND day = 1 AND n = 2")},
		{Name: "statics", Make: same("UPDATE @.stays SET owner = 'ann' WHERE room = '%s'", "INSERT INTO @.stays (room, day, n, guest, owner) VALUES ('%s', 1, 1, 'static', 'bob')", "DELETE owner FROM @.stays WHERE room = '%s'",
			"INSERT INTO @.stays (room, owner) VALUES ('%s', 'cleo')", "BEGIN BATCH UPDATE @.stays SET owner = 'dan' WHERE room = '%s'; UPDATE @.stays SET guest = 'both' WHERE room = '%s' AND day = 1 AND n = 2; APPLY BATCH")},
		{Name: "counters", Once: true, Make: func(g *Gen) []Statement {
			const add = "UPDATE @.tally SET hits = hits + ? WHERE room = ? AND what = ?"
			a, b, c := x(add, Bigint(3), Text(g.Room), Text("a")), q(g.in("UPDATE @.tally SET hits = hits - 1 WHERE room = '%s' AND what = 'a'")),
				Statement{Way: Batch, Counter: true, Children: []Statement{x(add, Bigint(5), Text(g.Room), Text("a")), x(add, Bigint(7), Text(g.Room), Text("b"))}}
			return []Statement{a, b, c}
		}},
		{Name: "functions", Make: same("UPDATE @.stays SET guest = blob_as_text(text_as_blob('made')), made_at = now(), made_id = uuid() WHERE room = '%s' AND day = 1 AND n = 1",
			"INSERT INTO @.stays (room, day, n, guest, made_on) VALUES ('%s', 1, 4, 'function', to_timestamp(now()))", "UPDATE @.stays SET made_at = now() WHERE room = '%s' AND day = 1 AND n = 2")},
		{Name: "a looked-up column set by now()", Made: true, Make: same("UPDATE @.stays SET ticket = now() WHERE room = '%s' AND day = 1 AND n = 1", "INSERT INTO @.stays (room, day, n, guest, ticket) VALUES ('%s', 1, 4, 'now', now())", "UPDATE @.stays SET note = 'x' WHERE room = '%s' AND day = 1 AND n = 1")},
		{Name: "type hints and arithmetic", Make: same("UPDATE @.stays SET guest = (text)'hint', level = 1 + 2 WHERE room = '%s' AND day = 1 AND n = 1", "UPDATE @.stays SET guest = 'sum' WHERE room = '%s' AND day = 1 + 0 AND n = 2", "UPDATE @.stays SET guest = 'key' WHERE room = '%s' AND day = (int)1 AND n = 3")},
	}
}

// timed are those with a time to live or a timestamp.
func timed() []Form {
	return []Form{
		{Name: "TTL", Make: func(g *Gen) []Statement {
			const text = insertRow + " USING TTL ?"
			return []Statement{x(text, append(g.with4(4, "4"), Int(5000))...), q(g.in("UPDATE @.stays USING TTL 9000 SET guest = 'ttl' WHERE room = '%s' AND day = 1 AND n = 1")),
				x("UPDATE @.stays USING TTL ? SET note = ? WHERE room = ? AND day = ? AND n = ?", append([]Value{Int(7000), Text("x")}, g.key(2)...)...)}
		}},
		{Name: "TTL given, taken away", Make: func(g *Gen) []Statement {
			const text = insertRow + " USING TTL ?"
			return []Statement{x(text, append(g.with4(1, "5"), Int(5000))...), x(setGuest, g.with(1, Text(g.guest(5)))...), x(text, append(g.with4(2, "6"), Int(0))...), x(text, append(g.with4(4, "7"), Null())...), x(text, append(g.with4(5, "8"), Unset())...)}
		}},
		{Name: "TTL of a second", Make: func(g *Gen) []Statement {
			return []Statement{q(g.in("INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 4, 'soon') USING TTL 1")), q(g.in("UPDATE @.stays USING TTL 1 SET guest = 'gone' WHERE room = '%s' AND day = 1 AND n = 1"))}
		}},
		Expiring(),
		{Name: "USING TIMESTAMP", Make: func(g *Gen) []Statement {
			const bound = "UPDATE @.stays USING TIMESTAMP ? SET guest = ? WHERE room = ? AND day = ? AND n = ?"
			return []Statement{
				q(fmt.Sprintf("UPDATE @.stays USING TIMESTAMP %d SET guest = 'old' WHERE room = '%s' AND day = 1 AND n = 1", 1000, g.Room)),
				q(fmt.Sprintf("INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 4, 'literal') USING TIMESTAMP %d", g.Room, g.Now())),
				x(bound, append([]Value{Bigint(2000), Text("bound")}, g.key(2)...)...), x(bound, append([]Value{Bigint(g.Now()), Text("bound")}, g.key(5)...)...),
				x(bound, append([]Value{Unset(), Text("unset")}, g.key(6)...)...)}
		}},
		{Name: "TIMESTAMP and TTL", Make: func(g *Gen) []Statement {
			return []Statement{q(fmt.Sprintf("INSERT INTO @.stays (room, day, n, guest, note) VALUES ('%s', 1, 4, 'both', 'x') USING TIMESTAMP %d AND TTL 6000", g.Room, g.Now())),
				x(insertRow+" USING TTL ? AND TIMESTAMP ?", append(g.with4(5, "5"), Int(4000), Bigint(g.Now()))...)}
		}},
		{Name: "a timestamp far ahead", Make: func(g *Gen) []Statement {
			ahead := g.Now() + 86_400_000_000
			return []Statement{q(fmt.Sprintf("UPDATE @.stays USING TIMESTAMP %d SET guest = 'tomorrow' WHERE room = '%s' AND day = 1 AND n = 1", ahead, g.Room)),
				x(setGuest, g.with(1, Text("today"))...), x("DELETE FROM @.stays USING TIMESTAMP ? WHERE room = ? AND day = ? AND n = ?", append([]Value{Bigint(ahead)}, g.key(2)...)...), x(setGuest, g.with(2, Text("today"))...)}
		}},
		{Name: "default timestamp of the protocol", Make: func(g *Gen) []Statement {
			early, now, late := x(setGuest, g.with(1, Text("early"))...), x(setGuest, g.with(2, Text("now"))...), q(g.in("DELETE guest FROM @.stays WHERE room = '%s' AND day = 1 AND n = 3"))
			early.At, now.At, late.At = 5000, g.Now(), g.Now()+3_600_000_000
			return []Statement{early, now, late, x(setGuest, g.with(3, Text("again"))...)}
		}},
		{Name: "equal timestamps", Make: func(g *Gen) []Statement {
			at := g.Now() + 5_000_000
			a, b, c := x(setGuest, g.with(1, Text("a"))...), x(setGuest, g.with(1, Text("b"))...), q(g.in("UPDATE @.stays USING TTL 3000 SET guest = 'a' WHERE room = '%s' AND day = 1 AND n = 2"))
			d := x(setGuest, g.with(2, Text("z"))...)
			a.At, b.At, c.At, d.At = at, at, at, at
			return []Statement{b, a, c, d}
		}},
	}
}

// Expiring writes to the table whose rows expire.
func Expiring() Form {
	return Form{Name: "rows that expire", Make: func(g *Gen) []Statement {
		const insert = "INSERT INTO @.fleeting (room, n, guest, note) VALUES (?, ?, ?, ?)"
		return []Statement{x(insert, Text(g.Room), Int(1), Text(g.guest(1)), Text("x")), q(g.in("UPDATE @.fleeting USING TTL 5000 SET guest = 'short' WHERE room = '%s' AND n = 1")),
			x(insert+" USING TTL 0", Text(g.Room), Int(2), Text(g.guest(2)), Text("x")), q(g.in("UPDATE @.fleeting SET note = 'y' WHERE room = '%s' AND n = 1")), q(g.in("DELETE FROM @.fleeting WHERE room = '%s' AND n = 2")),
			q(g.in("INSERT INTO @.fleeting (room, n, guest) VALUES ('%s', 3, 'cas') IF NOT EXISTS"))}
	}}
}

func batches() []Form {
	const setFleeting = "UPDATE @.fleeting SET guest = ? WHERE room = ? AND n = ?"
	return []Form{
		{Name: "BATCH, logged", Make: func(g *Gen) []Statement {
			return []Statement{logged(x(setGuest, g.with(1, Text("logged"))...), x(insertRow, g.with4(4, "4")...), q(g.in("UPDATE @.stays SET note = 'batch' WHERE room = '%s' AND day = 1 AND n = 2"))), x(setNote, g.with(1, Text("x"))...)}
		}},
		{Name: "BATCH, unlogged, with deletions", Make: func(g *Gen) []Statement {
			return []Statement{unlogged(x(setGuest, g.with(1, Text("unlogged"))...), x(deleteRow, g.key(2)...), x("DELETE FROM @.stays WHERE room = ? AND day = ? AND n > ?", Text(g.Room), Int(1), Int(5)))}
		}},
		{Name: "BATCH at a serial consistency", Make: func(g *Gen) []Statement { // which Cassandra takes, and carries out at a quorum
			prepared, text := unlogged(x(setGuest, g.with(1, Text("serial"))...), x(insertRow, g.with4(4, "4")...)),
				q(g.in("BEGIN BATCH UPDATE @.stays SET guest = 'serial' WHERE room = '%s' AND day = 1 AND n = 2; APPLY BATCH"))
			prepared.Level, text.Level = primitive.ConsistencyLevelSerial, primitive.ConsistencyLevelLocalSerial
			return []Statement{prepared, text, x(setNote, g.with(1, Text("x"))...)}
		}},
		{Name: "BATCH of texts with values", Make: func(g *Gen) []Statement {
			return []Statement{logged(q(setGuest, g.with(1, Text("text"))...), q(setNote, g.with(1, Text("text"))...))}
		}},
		{Name: "BATCH over two tables", Make: func(g *Gen) []Statement {
			return []Statement{logged(x(setGuest, g.with(1, Text("two"))...), x(setFleeting, Text("tables"), Text(g.Room), Int(1)))}
		}},
		{Name: "BATCH with timestamps on some", Make: func(g *Gen) []Statement {
			return []Statement{logged(x("UPDATE @.stays USING TIMESTAMP ? SET guest = ? WHERE room = ? AND day = ? AND n = ?", append([]Value{Bigint(3000), Text("old")}, g.key(1)...)...), x(setGuest, g.with(2, Text("new"))...),
				q(fmt.Sprintf("INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 4, 'at') USING TIMESTAMP %d", g.Room, g.Now())))}
		}},
		{Name: "BATCH that writes one cell twice", Make: func(g *Gen) []Statement {
			return []Statement{logged(x(setGuest, g.with(1, Text("b"))...), x(setGuest, g.with(1, Text("a"))...), x(deleteRow, g.key(2)...), x(setGuest, g.with(2, Text("dead"))...))}
		}},
		{Name: "text of a batch, logged", Make: same("BEGIN BATCH INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 4, 'text'); UPDATE @.stays SET guest = 'batch' WHERE room = '%s' AND day = 1 AND n = 1; DELETE FROM @.stays WHERE room = '%s' AND day = 1 AND n = 2; APPLY BATCH", "UPDATE @.stays SET note = 'x' WHERE room = '%s' AND day = 1 AND n = 1")},
		{Name: "text of a batch, prepared", Make: func(g *Gen) []Statement {
			return []Statement{x("BEGIN UNLOGGED BATCH "+setGuest+"; "+setNote+"; APPLY BATCH", append(g.with(1, Text("prepared")), g.with(2, Text("prepared"))...)...)}
		}},
		{Name: "text of a batch, with timestamps", Make: func(g *Gen) []Statement {
			return []Statement{q(fmt.Sprintf("BEGIN BATCH USING TIMESTAMP %d UPDATE @.stays SET guest = 'stamped' WHERE room = '%s' AND day = 1 AND n = 1; UPDATE @.stays SET guest = 'too' WHERE room = '%s' AND day = 1 AND n = 4; APPLY BATCH", g.Now(), g.Room, g.Room)),
				q(fmt.Sprintf("BEGIN UNLOGGED BATCH UPDATE @.stays USING TIMESTAMP %d SET guest = 'old' WHERE room = '%s' AND day = 1 AND n = 2; UPDATE @.stays USING TTL 4000 SET guest = 'mixed' WHERE room = '%s' AND day = 1 AND n = 3; APPLY BATCH", 4000, g.Room, g.Room))}
		}},
		{Name: "BATCH with a function", Make: func(g *Gen) []Statement {
			return []Statement{logged(q(g.in("UPDATE @.stays SET guest = blob_as_text(text_as_blob('f')), made_at = now() WHERE room = '%s' AND day = 1 AND n = 1")), x(setGuest, g.with(2, Text("beside"))...))}
		}},
	}
}

// Truncation empties stays and writes on; it comes after what is to be compared.
func Truncation() Form {
	return Form{Name: "TRUNCATE", Make: func(g *Gen) []Statement {
		return []Statement{q("TRUNCATE @.stays"), g.row(1), g.row(2), x(setNote, g.with(1, Text("x"))...), q("TRUNCATE TABLE @.fleeting"), g.row(3)}
	}}
}

// Refusals are statements that Cassandra refuses, each with the three rows before it, which it must leave alone.
func Refusals() []Form {
	one := func(name, text string, values func(g *Gen) []Value) Form {
		return Form{Name: "refused: " + name, Refused: true, Make: func(g *Gen) []Statement {
			way := Query
			if strings.Contains(text, "?") {
				way = Execute
			}
			var bound []Value
			if values != nil {
				bound = values(g)
			}
			return []Statement{{Way: way, Text: g.in(text), Values: bound}}
		}}
	}
	query := func(f Form) Form { // as QUERY with values, which nothing prepares
		prepared := f.Make
		f.Name += ", as QUERY"
		f.Make = func(g *Gen) []Statement {
			list := prepared(g)
			for i := range list {
				list[i].Way = Query
			}
			return list
		}
		return f
	}
	short := func(g *Gen) []Value { return g.with(1, Text("short"))[:2] }
	return []Form{
		one("the key is missing", "INSERT INTO @.stays (room, day, guest) VALUES ('%s', 1, 'refused')", nil),
		one("a null key", insertRow, func(g *Gen) []Value { return []Value{Text(g.Room), Int(1), Null(), Text("refused")} }),
		one("an unset key", setGuest, func(g *Gen) []Value { return []Value{Text("refused"), Text(g.Room), Int(1), Unset()} }),
		one("an empty partition key", insertRow, func(*Gen) []Value { return []Value{Text(""), Int(1), Int(1), Text("refused")} }),
		one("a partition key that is too long", insertRow, func(*Gen) []Value { return []Value{Text(strings.Repeat("k", 66000)), Int(1), Int(1), Text("refused")} }),
		one("no values", setGuest, nil),
		query(one("one value of four", setGuest, short)),
		one("two values of four", setGuest, short),
		one("a value of a wrong length", setGuest, func(g *Gen) []Value { return []Value{Text("refused"), Text(g.Room), Text("x"), Int(1)} }),
		query(one("a value of a wrong length", setGuest, func(g *Gen) []Value { return []Value{Text("refused"), Text(g.Room), Text("x"), Int(1)} })),
		one("bytes that are no text", setGuest, func(g *Gen) []Value { return g.with(1, Raw([]byte{0xff, 0xfe})) }),
		one("an unknown function", "UPDATE @.stays SET guest = nothing('x') WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("an unknown column", "UPDATE @.stays SET guest = 'x', nobody = 1 WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("an unknown table", "UPDATE @.stay SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("no CQL", "UPDATE @.stays SET guest = = 'x' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("not even words", "UPDATE @.stays SET guest", nil),
		one("a range", "UPDATE @.stays SET guest = 'x' WHERE room = '%s' AND day = 1 AND n > 0", nil),
		one("the value of another column", "UPDATE @.stays SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1 AND status = 'booked'", nil),
		one("only another column", "UPDATE @.stays SET guest = 'x' WHERE status = 'booked'", nil),
		one("a key column", "UPDATE @.stays SET n = 2, guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("text appended to text", "UPDATE @.stays SET guest += ' II' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("text plus one", "UPDATE @.stays SET guest = guest + 1 WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("a literal of a wrong type", "UPDATE @.stays SET guest = 5 WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("columns and values", "INSERT INTO @.stays (room, day, n, guest) VALUES ('%s', 1, 1)", nil),
		one("broken JSON", `INSERT INTO @.stays JSON '{"room": "%s", "day": 1, "n": 1, "guest": '`, nil),
		one("JSON without a key", `INSERT INTO @.stays JSON '{"guest": "x"}'`, nil),
		one("empty JSON", `INSERT INTO @.stays JSON '{}'`, nil),
		one("JSON of a wrong type", `INSERT INTO @.stays JSON '{"room": "%s", "day": "one", "n": 1, "guest": "x"}'`, nil),
		one("a negative TTL", "UPDATE @.stays USING TTL -1 SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("a TTL of a century", "UPDATE @.stays USING TTL ? SET guest = ? WHERE room = ? AND day = ? AND n = ?", func(g *Gen) []Value { return append([]Value{Int(2_000_000_000), Text("x")}, g.key(1)...) }),
		one("a timestamp of three bytes", "UPDATE @.stays USING TIMESTAMP ? SET guest = ? WHERE room = ? AND day = ? AND n = ?", func(g *Gen) []Value { return append([]Value{Raw([]byte{1, 2, 3}), Text("x")}, g.key(1)...) }),
		one("a condition and a timestamp", "UPDATE @.stays USING TIMESTAMP 5 SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1 IF EXISTS", nil),
		one("conditions on two partitions", "BEGIN BATCH UPDATE @.stays SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1 IF EXISTS; UPDATE @.stays SET guest = 'x' WHERE room = '%s too' AND day = 1 AND n = 1 IF EXISTS; APPLY BATCH", nil),
		one("a place of a list that is not there", "UPDATE @.stays SET log[5] = 'x', guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1", nil),
		one("a counter set", "UPDATE @.tally SET hits = 5 WHERE room = '%s' AND what = 'a'", nil),
		one("counters beside others", "BEGIN BATCH UPDATE @.tally SET hits = hits + 1 WHERE room = '%s' AND what = 'a'; UPDATE @.stays SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1; APPLY BATCH", nil),
		{Name: "refused: a BATCH whose child lacks values", Refused: true, Make: func(g *Gen) []Statement {
			return []Statement{logged(x(setGuest, g.with(1, Text("refused"))...), x(setGuest, short(g)...))}
		}},
		{Name: "refused: a BATCH whose child is no CQL", Refused: true, Make: func(g *Gen) []Statement {
			return []Statement{logged(x(setGuest, g.with(1, Text("refused"))...), q("UPDATE @.stays SET"))}
		}},
		{Name: "refused: a BATCH and its child with a timestamp", Refused: true, Make: func(g *Gen) []Statement {
			return []Statement{q(g.in("BEGIN BATCH USING TIMESTAMP 5 UPDATE @.stays USING TIMESTAMP 6 SET guest = 'x' WHERE room = '%s' AND day = 1 AND n = 1; APPLY BATCH"))}
		}},
	}
}
