package match

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// The values that tests bind, each with the letter that stands for it.
var (
	guest, room   = []byte("guest-0123456789"), []byte("room--0123456789")
	wing, day, no = []byte("w"), []byte("day1"), integer(7)
	letters       = map[string]string{string(guest): "g", string(room): "r", string(wing): "w", string(day): "d", string(no): "7"}
)

// letter is the short form of a value: its letter, or its bytes.
func letter(b []byte) string {
	switch s, ok := letters[string(b)]; {
	case ok:
		return s
	case b == nil:
		return ""
	}
	return hex.EncodeToString(b)
}

// show is the short form of an effect: refused, unknown, nothing, or the value and the keys.
func show(e Effect) string {
	var keys []string
	for _, key := range e.Keys {
		var parts []string
		for _, k := range key {
			parts = append(parts, letter(k.Bytes))
		}
		keys = append(keys, strings.Join(parts, " "))
	}
	rows := strings.Join(keys, "|")
	switch {
	case e.Refused:
		return "refused"
	case e.Unknown != nil:
		return strings.TrimSpace(string(e.Unknown.Condition) + " in " + rows)
	case !e.Touched:
		return "nothing"
	case e.Clears:
		return "null in " + rows
	}
	return strings.TrimSpace(letter(e.Entry.Bytes) + " in " + rows)
}

const (
	whole    = ` WHERE room = ? AND wing = ? AND day = ? AND "No" = ?`
	inserted = `INSERT INTO stays (room, wing, day, "No", guest) VALUES (?, ?, ?, ?, ?)`
	id       = "00112233-4455-6677-8899-aabbccddeeff"
	idBytes  = "00112233445566778899aabbccddeeff"
)

func TestEffects(t *testing.T) {
	l := lookUp(t)
	all := [][]byte{guest, room, wing, day, no}
	key := [][]byte{room, wing, day, no}
	long := []byte(strings.Repeat("x", MaxValue))
	for _, c := range []struct {
		text   string
		values [][]byte
		want   string
	}{
		{"UPDATE stays SET guest = ?" + whole, all, "g in r w d 7"},
		{`INSERT INTO stays (wing, guest, room, "No", day) VALUES (?, ?, ?, ?, ?)`, [][]byte{wing, guest, room, no, day}, "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing IN ('a', 'w') AND day = ? AND "No" = 1`, [][]byte{guest, room, day}, "g in r 61 d 00000001|r w d 00000001"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" IN ?`, [][]byte{guest, room, wing, day, list(integer(1), integer(7))}, "g in r w d 00000001|r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") = (?, 7)`, [][]byte{guest, room, wing, day}, "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") = ?`, [][]byte{guest, room, wing, tuple(day, no)}, "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") IN ?`, [][]byte{guest, room, wing, list(tuple(day, no), tuple(integer(1), no))}, "g in r w d 7|r w 00000001 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") IN ((?, ?), ('1970-01-02', 5))`, [][]byte{guest, room, wing, day, no}, "g in r w d 7|r w 80000001 00000005"},
		{"UPDATE stays SET guest = " + id + " WHERE room = " + id + ` AND wing = 'it''s' AND day = '1969-12-31' AND "No" = -2`, nil, idBytes + " in " + idBytes + " 69742773 7fffffff fffffffe"},

		// Null, unset (as nil, and unset below) and what can not be a partition key.
		{"UPDATE stays SET guest = ?" + whole, [][]byte{nil, room, wing, day, no}, "null in r w d 7"},
		{"UPDATE stays SET guest = null" + whole, key, "null in r w d 7"},
		{"UPDATE stays SET guest = ?" + whole, [][]byte{{}, room, wing, day, no}, "in r w d 7"},
		{"UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND \"No\" IN ()", [][]byte{guest, room, wing, day}, "nothing"},

		// What Cassandra is certain to refuse.
		{"UPDATE stays SET guest = ?" + whole, nil, "refused"},                                    // EXECUTE without values
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest}, "refused"},                        // one value of five
		{"UPDATE stays SET guest = ?" + whole, append(all[:5:5], no), "refused"},                  // one too many
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest, nil, wing, day, no}, "refused"},    // a null key
		{"UPDATE stays SET guest = ?" + whole, [][]byte{day, room, wing, day, no}, "refused"},     // a uuid of 4 bytes
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest, room, {0xFF}, day, no}, "refused"}, // text that is none
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest, room, wing, {}, no}, "refused"},    // a date of no bytes
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest, room, wing, day, {1, 2, 3}}, "refused"},
		{"UPDATE stays SET guest = ?" + whole, [][]byte{guest, room, long, day, no}, "refused"}, // with the room it is too long
		{`INSERT INTO stays (room, wing, day, guest) VALUES (?, ?, ?, ?)`, key, "refused"},
		{`INSERT INTO stays (wing, day, "No", guest) VALUES (?, ?, ?, ?)`, [][]byte{wing, day, no, guest}, "refused"},
		{`INSERT INTO stays (room, wing, day, "No", guest, guest) VALUES (?, ?, ?, ?, ?, ?)`, [][]byte{room, wing, day, no, guest, guest}, "refused"},
		{"UPDATE stays SET guest = ? WHERE status = ?", [][]byte{guest, wing}, "refused"},
		{"UPDATE stays SET guest = ?" + whole + " AND status = 'x'", all, "refused"},
		{"UPDATE stays SET guest = ?" + whole + " AND wing = 'x'", all, "refused"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" > ?`, all, "refused"},
		{"UPDATE stays SET guest = ? WHERE token(room, wing) = ? AND day = ? AND \"No\" = ?", [][]byte{guest, guest[:8], day, no}, "refused"},
		{"UPDATE stays SET guest = 'x'" + whole, key, "refused"}, // a uuid is not written in quotes
		{"UPDATE stays SET guest = " + id + ` WHERE room = ? AND wing = 5 AND day = ? AND "No" = 1`, [][]byte{room, day}, "refused"},
		{"UPDATE stays SET guest = " + id + ` WHERE room = ? AND wing = ? AND day = ? AND "No" = 3000000000`, [][]byte{room, wing, day}, "refused"},
		{"UPDATE stays USING TIMESTAMP ? SET guest = ?" + whole, [][]byte{nil, guest, room, wing, day, no}, "refused"},
		{"UPDATE stays USING TTL ? SET guest = ?" + whole, [][]byte{guest, guest, room, wing, day, no}, "refused"},
		{"UPDATE stays USING TTL -1 SET guest = ?" + whole, all, "refused"},
		{"UPDATE stays USING TTL 630720001 SET guest = ?" + whole, all, "refused"},
		{"UPDATE stays USING TTL 9000000000 SET guest = ?" + whole, all, "refused"},
		{"UPDATE stays USING TIMESTAMP 7 SET guest = ?" + whole + " IF EXISTS", all, "refused"},
		{"DELETE FROM stays" + whole, [][]byte{room}, "refused"},
		{"UPDATE stays USING TTL ? SET guest = ?" + whole, [][]byte{nil, guest, room, wing, day, no}, "g in r w d 7"}, // no time to live at all
		{"UPDATE stays USING TTL 630720000 SET guest = ?" + whole, all, "g in r w d 7"},

		// A hint of the column's own type changes nothing.
		{"UPDATE stays SET guest = (uuid)?" + whole, all, "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = (int)7`, all[:4], "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = (int)(int)7`, all[:4], "g in r w d 7"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = (int)'7'`, all[:4], "refused"},

		// Values that nobody can know beforehand, of rows that are known.
		{"UPDATE stays SET guest = now()" + whole, key, "C6 in r w d 7"},
		{"UPDATE stays SET guest = (text)?" + whole, all, "C6 in r w d 7"},
		{"UPDATE stays SET guest = ? + 1" + whole, all, "C6 in r w d 7"},
		{"UPDATE stays SET guest = guest + ?" + whole, all, "C9 in r w d 7"},
		{"UPDATE stays SET guest = cast(? AS uuid)" + whole, all, "C6 in r w d 7"},

		// Rows that nobody can know.
		{`UPDATE stays SET guest = ? WHERE room = uuid() AND wing = ? AND day = ? AND "No" = ?`, [][]byte{guest, wing, day, no}, "C6 in"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = (bigint)7`, all[:4], "C6 in"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = 1 + 0`, all[:4], "C6 in"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" IN ?`, [][]byte{guest, room, wing, day, {0, 0}}, "C6 in"},
		{`UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day IN ? AND "No" = ?`, [][]byte{guest, room, wing, list(many(MaxRows + 1)...), no}, "C6 in"},
		{"TRUNCATE stays", nil, "C20 in"},

		{"DELETE FROM stays" + whole, key, "null in r w d 7"},
		{"DELETE guest FROM stays" + whole, key, "null in r w d 7"},
		{"DELETE FROM stays" + whole + " IF EXISTS", key, "null in r w d 7"},
		{`DELETE FROM stays WHERE room = uuid() AND wing = ? AND day = ? AND "No" = ?`, key[1:], "nothing"},
		{`DELETE FROM stays WHERE room = ? AND wing = ? AND day IN ? AND "No" = ?`, [][]byte{room, wing, list(many(MaxRows + 1)...), no}, "nothing"},
	} {
		writes := l.Writes(parse(t, c.text), "hotel")
		if len(writes) != 1 {
			t.Errorf("%s: %d effects", c.text, len(writes))
			continue
		}
		e := writes[0].Bind(values(c.values...))
		if got := show(e); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
		if conditional := strings.Contains(c.text, " IF "); e.Conditional != (conditional && !e.Refused) {
			t.Errorf("%s: conditional: %t", c.text, e.Conditional)
		}
	}
	if e := l.Writes(parse(t, `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day IN ? AND "No" = ?`), "hotel")[0].
		Bind(values(guest, room, wing, list(many(101)...), no)); len(e.Keys) != 101 || e.Unknown != nil {
		t.Errorf("IN of 101 keys: %s", show(e))
	}
}

// many are n different values of four bytes.
func many(n int) (out [][]byte) {
	for i := range n {
		out = append(out, integer(int32(i)))
	}
	return out
}

// Statements without any effect on the look-up are nobody's business.
func TestNoEffect(t *testing.T) {
	l := lookUp(t)
	for _, text := range []string{
		"UPDATE stays SET status = ? WHERE room = ? IF EXISTS",
		"INSERT INTO stays (room, wing, floor) VALUES (?, ?, ?)",
		"INSERT INTO stays (room, wing, guest) VALUES (?, ?)",
		"DELETE FROM stays WHERE room = ? AND wing = ?",
		"DELETE FROM stays WHERE room = ? AND wing = ? AND day > ?",
		"DELETE status FROM stays" + whole,
		"UPDATE other SET guest = ? WHERE room = ?",
		"UPDATE hotel2.stays SET guest = ? WHERE room = ?",
		"SELECT guest FROM stays",
		"TRUNCATE other",
		"CREATE INDEX ON stays (guest)",
	} {
		if writes := l.Writes(parse(t, text), "hotel"); len(writes) != 0 {
			t.Errorf("%s: %+v", text, writes[0])
		}
	}
	v := values(guest, room, wing, day, no)
	v.Values[0] = proxy.Value{Unset: true}
	if e := l.Writes(parse(t, "UPDATE stays SET guest = ?"+whole+" IF EXISTS"), "hotel")[0].Bind(v); show(e) != "nothing" || e.Conditional {
		t.Errorf("a value that is not set: %+v", e)
	}
	v = values(guest, room, wing, day, no)
	v.Values[2] = proxy.Value{Unset: true}
	if e := l.Writes(parse(t, "UPDATE stays SET guest = ?"+whole), "hotel")[0].Bind(v); show(e) != "refused" {
		t.Errorf("a key that is not set: %+v", e)
	}
}

func TestNamedValues(t *testing.T) {
	l := lookUp(t)
	w := l.Writes(parse(t, `UPDATE stays SET guest = :g WHERE room = :r AND wing = 'w' AND day = :d AND "No" = 7`), "hotel")[0]
	v := kind.Values{Values: []proxy.Value{{Name: "d", Bytes: day}, {Name: "g", Bytes: guest}, {Name: "r", Bytes: room}}}
	if got := show(w.Bind(v)); got != "g in r w d 7" {
		t.Error(got)
	}
	v.Values = append(v.Values, proxy.Value{Name: "more", Bytes: day}) // which Cassandra does not ask for
	if got := show(w.Bind(v)); got != "g in r w d 7" {
		t.Error(got)
	}
	v.Values[0].Name = "x"
	if got := show(w.Bind(v)); got != "refused" {
		t.Errorf("a value that is not there: %s", got)
	}
	w = l.Writes(parse(t, "UPDATE stays SET guest = ?"+whole), "hotel")[0]
	v = kind.Values{Values: []proxy.Value{{Name: "guest", Bytes: guest}}}
	if got := show(w.Bind(v)); got != "C6 in" {
		t.Errorf("names that Cassandra gave to markers without one: %s", got)
	}
}

func TestBatchText(t *testing.T) {
	l := lookUp(t)
	one := "UPDATE stays SET guest = ?" + whole
	text := "BEGIN BATCH USING TIMESTAMP 7 " + one + "; UPDATE other SET x = ? WHERE y = ?; " + one + "; APPLY BATCH"
	writes := l.Writes(parse(t, text), "hotel")
	if len(writes) != 2 {
		t.Fatalf("%d effects", len(writes))
	}
	v := values(guest, room, wing, day, no, nil, nil, guest, room, []byte("v"), day, no)
	if e := writes[1].Bind(v); show(e) != "g in r 76 d 7" || !e.HasTimestamp || e.Timestamp != 7 || e.Conditional {
		t.Errorf("%s %+v", show(e), e)
	}
	for _, w := range l.Writes(parse(t, "BEGIN BATCH "+one+"; UPDATE other SET x = ? WHERE y = ? IF EXISTS; APPLY BATCH"), "hotel") {
		if e := w.Bind(values(guest, room, wing, day, no, nil, nil)); show(e) != "g in r w d 7" || !e.Conditional {
			t.Errorf("%+v", e)
		}
	}
	// One statement that is refused refuses all.
	for _, w := range l.Writes(parse(t, "BEGIN BATCH "+one+"; UPDATE stays SET guest = ? WHERE room = ?; APPLY BATCH"), "hotel") {
		if e := w.Bind(values(guest, room, wing, day, no, guest, room)); !e.Refused {
			t.Errorf("%+v", e)
		}
	}
}

func TestUnreadable(t *testing.T) {
	l := lookUp(t)
	w := l.Unreadable("UPSERT INTO Hotel.STAYS whatever")
	if w == nil || show(w.Bind(kind.Values{})) != "C20 in" {
		t.Errorf("%+v", w)
	}
	if w := l.Unreadable("UPSERT INTO others"); w != nil {
		t.Errorf("%+v", w)
	}
	l.Rewrite.Base = `st"ays`
	for _, text := range []string{`UPSERT INTO "st""ays" whatever`, `UPSERT $$st"ays$$`} {
		if l.Unreadable(text) == nil {
			t.Errorf("%s does not name %s", text, l.Rewrite.Base)
		}
	}
}

// Whatever bytes are bound, binding ends without a panic, and rows stay bounded.
func TestBindAnything(t *testing.T) {
	l := lookUp(t)
	for _, text := range []string{`UPDATE stays USING TIMESTAMP ? AND TTL ? SET guest = ? WHERE room IN ? AND wing = ? AND (day, "No") IN ?`,
		"INSERT INTO stays JSON ? USING TIMESTAMP ? AND TTL ?"} {
		w := l.Writes(parse(t, text), "hotel")[0]
		rapid.Check(t, func(r *rapid.T) {
			var v kind.Values
			for range rapid.IntRange(0, 7).Draw(r, "n") {
				v.Values = append(v.Values, proxy.Value{Bytes: rapid.SliceOf(rapid.Byte()).Draw(r, "value")})
			}
			if e := w.Bind(v); len(e.Keys) > MaxRows {
				r.Fatalf("%d rows", len(e.Keys))
			}
		})
	}
}

func FuzzListElements(f *testing.F) {
	f.Add(list([]byte("a"), nil, []byte("b")))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, ok := listElements(b); ok && len(out)*4 > len(b) {
			t.Fatalf("%d elements of %d bytes", len(out), len(b))
		}
	})
}

func TestJSON(t *testing.T) {
	l := lookUp(t)
	doc := func(more string) string {
		return fmt.Sprintf(`{"room": "%s", "wing": "w", "day": "1970-01-02", "\"No\"": 7%s}`, id, more)
	}
	const row = idBytes + " w 80000001 7"
	for _, c := range []struct{ json, want string }{
		{doc(`, "guest": "` + id + `"`), idBytes + " in " + row},
		{doc(`, "GUEST": "` + id + `"`), idBytes + " in " + row},
		{doc(`, "\"guest\"": "` + id + `"`), idBytes + " in " + row},
		{doc(`, "guest": 5, "guest": "` + id + `"`), idBytes + " in " + row}, // the last one counts
		{doc(`, "guest": null`), "null in " + row},
		{doc(``), "null in " + row},
		{doc(``) + " and what Cassandra does not look at", "null in " + row},
		{doc(`, "guest": 5`), "refused"}, {doc(`, "guest": true`), "refused"}, {doc(`, "guest": [5]`), "refused"},
		{doc(`, "guest": "5"`), "C6 in " + row},       // refused, if it is read as it is here
		{doc(`, "\"Guest\"": "x"`), "null in " + row}, // refused, as there is no such column: there might be one since
		{`{"room": "` + id + `", "wing": "w", "day": "1970-01-02", "No": 7}`, "refused"},
		{`{}`, "refused"}, {``, "refused"}, {`null`, "refused"}, {`[]`, "refused"}, {`"x"`, "refused"}, {`{"room": }`, "refused"},
		{`{"room": "x"`, "refused"}, {`{'room': 5}`, "refused"}, {`{"room": null}`, "refused"}, {"{\"a\x01\": 5}", "refused"},
		{`{"room": "x", "wing": "w", "day": "1970-01-02", "\"No\"": 7}`, "C6 in"},
		{"\uFEFF{}", "C6 in"}, {`{"\"": 5}`, "C6 in"}, {`{"ROOM\u212A": 5}`, "C6 in"},
	} {
		for _, bound := range []bool{false, true} {
			text, v := "INSERT INTO stays JSON '"+strings.ReplaceAll(c.json, "'", "''")+"'", kind.Values{}
			if bound {
				text, v = "INSERT INTO stays JSON ?", values([]byte(c.json))
			}
			if got := show(l.Writes(parse(t, text), "hotel")[0].Bind(v)); got != c.want {
				t.Errorf("%s: %s, want %s", c.json, got, c.want)
			}
		}
	}
	for text, want := range map[string]string{
		"INSERT INTO stays JSON '" + doc("") + "' DEFAULT UNSET":                    "nothing",
		"INSERT INTO stays JSON '" + doc(`, "guest": null`) + "' DEFAULT UNSET":     "null in " + row,
		"INSERT INTO stays JSON '" + doc("") + "' DEFAULT NULL":                     "null in " + row,
		"INSERT INTO stays JSON '" + doc("") + "' IF NOT EXISTS":                    "null in " + row,
		"INSERT INTO stays JSON '{}' DEFAULT UNSET":                                 "refused",
		"INSERT INTO stays JSON ?":                                                  "refused",
		"INSERT INTO stays JSON '" + doc("") + "' USING TTL -1":                     "refused",
		"INSERT INTO stays JSON '" + doc("") + "' IF NOT EXISTS USING TIMESTAMP 10": "refused",
	} {
		e := l.Writes(parse(t, text), "hotel")[0].Bind(kind.Values{})
		if got := show(e); got != want || e.Conditional != (strings.Contains(text, " IF ") && want != "refused") {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, v := range []proxy.Value{{Null: true}, {Unset: true}, {Bytes: []byte{0xFF}}} {
		if e := l.Writes(parse(t, "INSERT INTO stays JSON ?"), "hotel")[0].Bind(kind.Values{Values: []proxy.Value{v}}); !e.Refused {
			t.Errorf("%+v: %+v", v, e)
		}
	}
}
