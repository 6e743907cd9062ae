package match

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
)

func base() *schema.Table {
	return &schema.Table{Keyspace: "hotel", Name: "stays", ID: "1", Columns: []schema.Column{
		{Name: "room", Kind: schema.PartitionKey, Position: 0, Type: "uuid"},
		{Name: "wing", Kind: schema.PartitionKey, Position: 1, Type: "text"},
		{Name: "day", Kind: schema.Clustering, Position: 0, Type: "date", Descending: true},
		{Name: "No", Kind: schema.Clustering, Position: 1, Type: "int"},
		{Name: "floor", Kind: schema.Static, Position: -1, Type: "int"},
		{Name: "guest", Kind: schema.Regular, Position: -1, Type: "uuid"},
		{Name: "status", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "rate", Kind: schema.Regular, Position: -1, Type: "decimal"},
		{Name: "tags", Kind: schema.Regular, Position: -1, Type: "set<text>"},
		{Name: "at", Kind: schema.Regular, Position: -1, Type: "frozen<tuple<int, int>>"},
		{Name: "n", Kind: schema.Regular, Position: -1, Type: "counter"},
	}}
}

func lookUp(t testing.TB, texts ...string) *LookUp {
	t.Helper()
	lu := plan.LookUp{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest"}
	for _, text := range texts {
		print, normal, _, err := cql.FingerprintText(text, "hotel")
		if err != nil {
			t.Fatal(err)
		}
		lu.Statements, lu.Texts = append(lu.Statements, print.String()), append(lu.Texts, normal)
	}
	l, refusal := New(lu, base())
	if refusal != nil {
		t.Fatal(refusal)
	}
	return l
}

func parse(t testing.TB, text string) cql.Statement {
	t.Helper()
	st, err := cql.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return st
}

func TestTableConditions(t *testing.T) {
	for _, c := range []struct {
		condition string
		change    func(*plan.LookUp, *schema.Table)
	}{
		{"C20", func(l *plan.LookUp, _ *schema.Table) { l.Column = "nobody" }},
		{"C8", func(l *plan.LookUp, _ *schema.Table) { l.Column = "floor" }},
		{"C11", func(l *plan.LookUp, _ *schema.Table) { l.Column = "day" }},
		{"C11", func(l *plan.LookUp, _ *schema.Table) { l.Column = "wing" }},
		{"C9", func(l *plan.LookUp, _ *schema.Table) { l.Column = "tags" }},
		{"C19", func(l *plan.LookUp, _ *schema.Table) { l.Column = "rate" }},
		{"C19", func(l *plan.LookUp, _ *schema.Table) { l.Column = "at" }},
		{"C17", func(_ *plan.LookUp, t *schema.Table) { t.Counter = true }},
		{"C1", func(l *plan.LookUp, _ *schema.Table) { l.Table = "stays" }},
		{"C1", func(l *plan.LookUp, _ *schema.Table) { l.Table = strings.Repeat("x", 49) }},
		{"C19", func(_ *plan.LookUp, t *schema.Table) {
			t.Indexes = []schema.Index{{Name: "i", Column: "guest", Options: map[string]string{"case_sensitive": "false"}}}
		}},
		{"C19", func(_ *plan.LookUp, t *schema.Table) { t.Columns[0].Type = "frozen<tuple<int, int>>" }},
		{"C19", func(_ *plan.LookUp, t *schema.Table) { t.Columns[0].Type = "decimal" }}, // 1.0 and 1.00 are two partitions
		{"", func(_ *plan.LookUp, t *schema.Table) { t.Columns[3].Type = "decimal" }},    // but one clustering key
		{"", func(_ *plan.LookUp, t *schema.Table) {
			t.Indexes = []schema.Index{{Name: "i", Column: "guest", Options: map[string]string{"class_name": "StorageAttachedIndex", "case_sensitive": "true"}}}
		}},
	} {
		lu, table := plan.LookUp{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest"}, base()
		c.change(&lu, table)
		_, refusal := New(lu, table)
		if (refusal == nil) != (c.condition == "") || (refusal != nil && refusal.Condition != c.condition) {
			t.Errorf("want %s, got %v", c.condition, refusal)
		}
	}
	if _, refusal := New(plan.LookUp{}, nil); refusal == nil || refusal.Condition != "C20" {
		t.Errorf("no table: %v", refusal)
	}
}

func TestReadConditions(t *testing.T) {
	for _, c := range []struct{ text, condition string }{
		{"SELECT * FROM hotel.stays WHERE guest = ? ALLOW FILTERING", "C19"}, // a tuple among the columns
		{"SELECT room, day FROM hotel.stays WHERE guest = ? ALLOW FILTERING", ""},
		{"SELECT room AS r, ttl(status), writetime(guest) FROM stays WHERE guest = :g AND status > ? LIMIT ?", ""},
		{"SELECT room FROM stays WHERE guest = ? AND tags CONTAINS 'x' LIMIT 10 ALLOW FILTERING", ""},
		{"SELECT room FROM stays WHERE guest = ? AND floor = 3 ALLOW FILTERING", "C8"},
		{"SELECT room FROM stays WHERE guest = ? AND day = ? ALLOW FILTERING", "C1"},
		{"SELECT room FROM stays WHERE guest = ? AND token(room, wing) > ? ALLOW FILTERING", "C4"},
		{"SELECT room FROM stays WHERE guest = ? ORDER BY day ALLOW FILTERING", "C2"},
		{"SELECT room FROM stays WHERE guest = ? PER PARTITION LIMIT 1 ALLOW FILTERING", "C4"},
		{"SELECT DISTINCT room, wing FROM stays WHERE guest = ? ALLOW FILTERING", "C4"},
		{"SELECT count(*) FROM stays WHERE guest = ? ALLOW FILTERING", "C5"},
		{"SELECT room FROM stays WHERE guest = ? GROUP BY room, wing ALLOW FILTERING", "C5"},
		{"SELECT JSON room FROM stays WHERE guest = ? ALLOW FILTERING", "C5"},
		{"SELECT cast(day AS text) FROM stays WHERE guest = ? ALLOW FILTERING", "C5"},
		{"SELECT at FROM stays WHERE guest = ? ALLOW FILTERING", "C19"},
		{"SELECT nobody FROM stays WHERE guest = ? ALLOW FILTERING", "C20"},
		{"SELECT room FROM stays WHERE guest = ? AND nobody = 1 ALLOW FILTERING", "C20"},
		{"SELECT room FROM stays WHERE guest = 5b6962dd-3f90-4c93-8f61-eabfa4a803e2 ALLOW FILTERING", "C6"},
		{"SELECT room FROM stays WHERE guest > ? ALLOW FILTERING", "C1"},
		{"SELECT room FROM stays WHERE guest IN (?, ?) ALLOW FILTERING", "C1"},
		{"SELECT room FROM stays WHERE guest = ? AND status = blobAsText(0x00) ALLOW FILTERING", "C5"},
		{"SELECT room FROM stays WHERE status = ? ALLOW FILTERING", "C1"},
		{"SELECT room FROM other WHERE guest = ?", "C1"},
		{"UPDATE stays SET guest = ? WHERE room = ?", "C1"},
	} {
		_, refusal := lookUp(t, c.text).CompileRead(parse(t, c.text), "hotel")
		if (refusal == nil) != (c.condition == "") || (refusal != nil && refusal.Condition != c.condition) {
			t.Errorf("%s: want %q, got %v", c.text, c.condition, refusal)
		}
	}
	l := lookUp(t, "SELECT room FROM stays WHERE guest = ? ALLOW FILTERING")
	if _, refusal := l.CompileRead(parse(t, "SELECT day FROM stays WHERE guest = ? ALLOW FILTERING"), "hotel"); refusal == nil {
		t.Error("a statement that nobody approved")
	}
}

// The texts of a look-up over a table with every peculiarity: composite partition key, descending and quoted columns.
func TestTexts(t *testing.T) {
	text := `SELECT room, "No", status FROM stays WHERE status > ? AND guest = ? LIMIT ? ALLOW FILTERING`
	l := lookUp(t, text)
	read, refusal := l.CompileRead(parse(t, text), "hotel")
	if refusal != nil {
		t.Fatal(refusal)
	}
	got := strings.Join([]string{l.Create("m-1"), l.Put(), l.PutTTL(), l.Remove(), l.Entry(), l.BaseRow(), l.ScanBase(), l.ScanEntries(),
		l.Sample(), l.Drop(), read.Find, read.Fetch, read.Text}, "\n\n") + "\n"
	const golden = "testdata/texts.cql"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(read.Bound) != 2 || read.Bound[0].Index != 0 || read.Bound[1].Index != 1 || read.Column.Index != 1 || len(read.All) != 3 {
		t.Errorf("%+v", read)
	}
	for _, statement := range strings.Split(got, "\n\n") {
		if _, err := cql.Parse(statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestWrittenDoesNotClash(t *testing.T) {
	table := base()
	table.Columns[1].Name = "written"
	l, refusal := New(plan.LookUp{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "x"}, table)
	if refusal != nil || l.Written != "written_" {
		t.Errorf("%v %v", l, refusal)
	}
}

func integer(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// list serialises a list, or with tuple a tuple.
func list(elements ...[]byte) []byte {
	return append(integer(int32(len(elements))), tuple(elements...)...)
}

func tuple(elements ...[]byte) []byte {
	var b []byte
	for _, e := range elements {
		b = append(append(b, integer(int32(len(e)))...), e...)
	}
	return b
}

func values(b ...[]byte) Values {
	var v Values
	for _, x := range b {
		v.Values = append(v.Values, proxy.Value{Bytes: x, Null: x == nil})
	}
	return v
}

func TestEffects(t *testing.T) {
	g, r, w, d, n := []byte("g"), []byte("r"), []byte("w"), []byte("d"), []byte("n")
	l := lookUp(t)
	where := ` WHERE room = ? AND wing = ? AND day = ? AND "No" = ?`
	for _, c := range []struct {
		name, text string
		values     Values
		keys       string // of each row, rows parted by |
		entry      string
		guard      string
		refused    bool
		clears     bool
	}{
		{"update", "UPDATE stays SET guest = ?" + where, values(g, r, w, d, n), "r w d n", "g", "", false, false},
		{"insert", `INSERT INTO stays (wing, guest, room, "No", day) VALUES (?, ?, ?, ?, ?)`, values(w, g, r, n, d), "r w d n", "g", "", false, false},
		{"in literals", `UPDATE stays SET guest = ? WHERE room = ? AND wing IN ('a', 'b') AND day = ? AND "No" = 1`, values(g, r, d), "r 'a' d 1|r 'b' d 1", "g", "", false, false},
		{"in bound", `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" IN ?`, values(g, r, w, d, list([]byte("1"), []byte("2"))), "r w d 1|r w d 2", "g", "", false, false},
		{"tuple", `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") = (?, 7)`, values(g, r, w, d), "r w d 7", "g", "", false, false},
		{"tuples bound", `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") IN ?`, values(g, r, w, list(tuple(d, n), tuple([]byte("e"), n))), "r w d n|r w e n", "g", "", false, false},
		{"tuples in text", `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND (day, "No") IN ((?, ?), (?, 5))`, values(g, r, w, d, n, []byte("e")), "r w d n|r w e 5", "g", "", false, false},
		{"C6 null", "UPDATE stays SET guest = ?" + where, values(nil, r, w, d, n), "r w d n", "", "", false, true},
		{"C6 null literal", "UPDATE stays SET guest = null" + where, values(r, w, d, n), "r w d n", "", "", false, true},
		{"C6 null key", "UPDATE stays SET guest = ?" + where, values(g, nil, w, d, n), "", "", "", true, false},
		{"C6 too few values", "UPDATE stays SET guest = ?" + where, values(g, r), "", "", "C6", false, false},
		{"C6 now()", "UPDATE stays SET guest = now()" + where, values(r, w, d, n), "", "", "C6", false, false},
		{"C6 key by function", `UPDATE stays SET guest = ? WHERE room = uuid() AND wing = ? AND day = ? AND "No" = ?`, values(g, w, d, n), "", "", "C6", false, false},
		{"C6 timestamp null", "UPDATE stays USING TIMESTAMP ? SET guest = ?" + where, values(nil, g, r, w, d, n), "", "", "", true, false},
		{"C6 ttl null, which Cassandra takes for none", "UPDATE stays USING TTL ? SET guest = ?" + where, values(nil, g, r, w, d, n), "r w d n", "g", "", false, false},
		{"C6 ttl of the wrong width", "UPDATE stays USING TTL ? SET guest = ?" + where, values(g, g, r, w, d, n), "", "", "", true, false},
		{"C9 by an operation", "UPDATE stays SET guest = guest + ?" + where, values(g, r, w, d, n), "", "", "C9", false, false},
		{"C12 if", "UPDATE stays SET guest = ?" + where + " IF EXISTS", values(g, r, w, d, n), "", "", "C12", false, false},
		{"C12 if not exists", `INSERT INTO stays (wing, guest, room, "No", day) VALUES (?, ?, ?, ?, ?) IF NOT EXISTS`, values(w, g, r, n, d), "", "", "C12", false, false},
		{"C16 bad list", `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" IN ?`, values(g, r, w, d, []byte{0, 0}), "", "", "C6", false, false},
		{"delete", "DELETE FROM stays" + where, values(r, w, d, n), "r w d n", "", "", false, true},
		{"delete the column", "DELETE guest FROM stays" + where, values(r, w, d, n), "r w d n", "", "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			writes := l.Writes(parse(t, c.text), "hotel")
			if len(writes) != 1 {
				t.Fatalf("%d effects", len(writes))
			}
			e := writes[0].Bind(c.values)
			if !strings.HasPrefix(e.Guard, c.guard) || (c.guard == "") != (e.Guard == "") || e.Refused != c.refused {
				t.Fatalf("%+v", e)
			}
			if c.guard != "" || c.refused {
				return
			}
			var keys []string
			for _, key := range e.Keys {
				var parts []string
				for _, k := range key {
					parts = append(parts, string(k.Bytes)+k.Literal)
				}
				keys = append(keys, strings.Join(parts, " "))
			}
			if got := strings.Join(keys, "|"); got != c.keys || string(e.Entry.Bytes) != c.entry || e.Clears != c.clears || !e.Touched {
				t.Errorf("keys %q, %+v", got, e)
			}
		})
	}
}

// Statements without any effect on the look-up are nobody's business, and deletes never are a guard.
func TestNoEffect(t *testing.T) {
	l := lookUp(t)
	for _, text := range []string{
		"UPDATE stays SET status = ? WHERE room = ? IF EXISTS",
		"INSERT INTO stays (room, wing, floor) VALUES (?, ?, ?)",
		"DELETE FROM stays WHERE room = ? AND wing = ?",
		"DELETE FROM stays WHERE room = ? AND wing = ? AND day > ?",
		"DELETE FROM stays WHERE room = uuid() AND wing = ? AND day = ? AND \"No\" = ?",
		"DELETE status FROM stays WHERE room = ? AND wing = ? AND day = ? AND \"No\" = ?",
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
	var many [][]byte
	for range MaxRows + 1 {
		many = append(many, []byte("x"))
	}
	in := `WHERE room = ? AND wing = ? AND day = ? AND "No" IN ?`
	v := values([]byte("r"), []byte("w"), []byte("d"), list(many...))
	if e := l.Writes(parse(t, "DELETE FROM stays "+in), "hotel")[0].Bind(v); e.Guard != "" || e.Touched {
		t.Errorf("C16: a delete of many rows: %+v", e)
	}
	v.Values = append([]proxy.Value{{Bytes: []byte("g")}}, v.Values...)
	if e := l.Writes(parse(t, "UPDATE stays SET guest = ? "+in), "hotel")[0].Bind(v); !strings.HasPrefix(e.Guard, "C16") {
		t.Errorf("C16: an update of many rows: %+v", e)
	}
}

func TestNamedValues(t *testing.T) {
	l := lookUp(t)
	w := l.Writes(parse(t, `UPDATE stays SET guest = :g WHERE room = :r AND wing = 'w' AND day = :d AND "No" = 1`), "hotel")[0]
	v := Values{Values: []proxy.Value{{Name: "d", Bytes: []byte("D")}, {Name: "g", Bytes: []byte("G")}, {Name: "r", Bytes: []byte("R")}}}
	e := w.Bind(v)
	if string(e.Entry.Bytes) != "G" || string(e.Keys[0][0].Bytes) != "R" || string(e.Keys[0][2].Bytes) != "D" {
		t.Errorf("%+v", e)
	}
	v.Values[0].Name = "x"
	if e := w.Bind(v); e.Guard == "" {
		t.Errorf("a value that is not there: %+v", e)
	}
}

func TestBatchText(t *testing.T) {
	l := lookUp(t)
	one := `UPDATE stays SET guest = ? WHERE room = ? AND wing = ? AND day = ? AND "No" = ?`
	writes := l.Writes(parse(t, "BEGIN BATCH USING TIMESTAMP 7 "+one+"; UPDATE other SET x = ? WHERE y = ?; "+one+"; APPLY BATCH"), "hotel")
	if len(writes) != 2 {
		t.Fatalf("%d effects", len(writes))
	}
	var v [][]byte
	for i := range 12 {
		v = append(v, []byte{byte('a' + i)})
	}
	e := writes[1].Bind(values(v...))
	if string(e.Entry.Bytes) != "h" || !e.HasTimestamp || e.Timestamp != 7 {
		t.Errorf("%+v", e)
	}
	for _, w := range l.Writes(parse(t, "BEGIN BATCH "+one+"; UPDATE other SET x = ? WHERE y = ? IF EXISTS; APPLY BATCH"), "hotel") {
		if !strings.HasPrefix(w.Guard, "C12") {
			t.Errorf("%+v", w)
		}
	}
}

func TestLimit(t *testing.T) {
	text := "SELECT room FROM stays WHERE guest = ? LIMIT ?"
	read, refusal := lookUp(t, text).CompileRead(parse(t, text), "hotel")
	if refusal != nil {
		t.Fatal(refusal)
	}
	for _, c := range []struct {
		value []byte
		set   bool
		n     int
		ok    bool
	}{{integer(5), true, 5, true}, {integer(0), true, 0, false}, {integer(-1), true, 0, false}, {nil, true, 0, false}, {nil, false, math.MaxInt, true}} {
		n, ok := read.Limit(func(Marker) ([]byte, bool, bool) { return c.value, c.set, true })
		if ok != c.ok || (ok && n != c.n) {
			t.Errorf("%v: %d %t", c, n, ok)
		}
	}
}

func TestJudge(t *testing.T) {
	read := "SELECT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	l := lookUp(t, read, "SELECT count(*) FROM hotel.stays WHERE guest = ? ALLOW FILTERING")
	schemaOf := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "hotel", Tables: []schema.Table{*base()}}}}
	statement := func(text string) capture.Statement {
		print, normal, st, err := cql.FingerprintText(text, "hotel")
		if err != nil {
			t.Fatal(err)
		}
		return capture.Statement{Fingerprint: print.String(), Keyspace: "hotel", Text: normal, Kind: st.Kind().String(), Count: 3,
			Variables: []capture.Column{{Name: "x"}}, Latency: histogram.Distribution{}}
	}
	where := ` WHERE room = ? AND wing = ? AND day = ? AND "No" = ?`
	good := statement("UPDATE stays SET guest = ?" + where)
	verdicts := Judge(l.LookUp, &capture.Snapshot{Statements: []capture.Statement{good}}, schemaOf)
	if len(verdicts) != 4 || verdicts[0].Refused || verdicts[1].Refused || verdicts[2].Condition != "C5" || verdicts[3].Refused || verdicts[3].Statement != good.Fingerprint {
		t.Errorf("%+v", verdicts)
	}
	verdicts = Judge(l.LookUp, &capture.Snapshot{Statements: []capture.Statement{statement("UPDATE stays SET guest = ?" + where + " IF EXISTS")}}, schemaOf)
	if last := verdicts[len(verdicts)-1]; !last.Refused || last.Condition != "C12" || last.Statement != "" {
		t.Errorf("%+v", verdicts)
	}
	literal, serial, paged := statement(read), statement(read), statement(read)
	literal.Variables, serial.Serial, paged.Paged = nil, 3, 3
	for condition, s := range map[string]capture.Statement{"C1": literal, "C12": serial, "C3": paged} {
		verdicts = Judge(l.LookUp, &capture.Snapshot{Statements: []capture.Statement{s}}, schemaOf)
		if verdicts[1].Condition != condition {
			t.Errorf("%s: %+v", condition, verdicts)
		}
	}
	if verdicts := Judge(l.LookUp, &capture.Snapshot{}, nil); len(verdicts) != 1 || !verdicts[0].Refused {
		t.Errorf("%+v", verdicts)
	}
}

// Values by name go to the marker of exactly that name: there may be columns whose names differ by case only.
func TestValuesByName(t *testing.T) {
	v := Values{Values: []proxy.Value{{Name: "A", Bytes: []byte("1")}, {Name: "a", Bytes: []byte("2")}},
		Variables: []proxy.Column{{Name: "a"}, {Name: "A"}, {Name: "b"}}}
	for index, want := range []string{"2", "1"} {
		if got, ok := v.Get(Marker{Index: index}); !ok || string(got.Bytes) != want {
			t.Errorf("%d: %q, %t", index, got.Bytes, ok)
		}
	}
	if _, ok := v.Get(Marker{Index: 2}); ok {
		t.Error("a value from nowhere")
	}
}

// Whatever bytes are bound, binding ends without a panic, and rows stay bounded.
func TestBindAnything(t *testing.T) {
	l := lookUp(t)
	w := l.Writes(parse(t, `UPDATE stays USING TIMESTAMP ? AND TTL ? SET guest = ? WHERE room IN ? AND wing = ? AND (day, "No") IN ?`), "hotel")[0]
	rapid.Check(t, func(r *rapid.T) {
		var v Values
		for range rapid.IntRange(0, 7).Draw(r, "n") {
			v.Values = append(v.Values, proxy.Value{Bytes: rapid.SliceOf(rapid.Byte()).Draw(r, "value")})
		}
		if e := w.Bind(v); len(e.Keys) > MaxRows {
			r.Fatalf("%d rows", len(e.Keys))
		}
	})
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
