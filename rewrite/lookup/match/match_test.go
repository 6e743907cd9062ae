package match

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
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
		{Name: "secret", Kind: schema.Regular, Position: -1, Type: "text", Masked: true},
	}}
}

func lookUp(t testing.TB, texts ...string) *LookUp {
	t.Helper()
	lu := plan.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest"}
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
		condition condition.ID
		change    func(*plan.Rewrite, *schema.Table)
	}{
		{"C20", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "nobody" }},
		{"C8", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "floor" }},
		{"C11", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "day" }},
		{"C11", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "wing" }},
		{"C9", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "tags" }},
		{"C19", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "rate" }},
		{"C19", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "at" }},
		{"C17", func(_ *plan.Rewrite, t *schema.Table) { t.Counter = true }},
		{"C23", func(l *plan.Rewrite, _ *schema.Table) { l.Column = "secret" }},
		{"C23", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[0].Masked = true }},
		{"C23", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[3].Masked = true }},
		{"C1", func(l *plan.Rewrite, _ *schema.Table) { l.Table = "stays" }},
		{"C1", func(l *plan.Rewrite, _ *schema.Table) { l.Table = strings.Repeat("x", 49) }},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) {
			t.Indexes = []schema.Index{{Name: "i", Column: "guest", Options: map[string]string{"case_sensitive": "false"}}}
		}},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[0].Type = "frozen<tuple<int, int>>" }},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[0].Type = "decimal" }}, // 1.0 and 1.00 are two partitions
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[3].Type = "decimal" }}, // or one clustering key, said in two ways
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[0].Type = "boolean" }},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[3].Type = "boolean" }},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[3].Type = "frozen<list<decimal>>" }},
		{"C19", func(_ *plan.Rewrite, t *schema.Table) { t.Columns[3].Type = "duration" }},
		{"", func(_ *plan.Rewrite, t *schema.Table) {
			t.Indexes = []schema.Index{{Name: "i", Column: "guest", Options: map[string]string{"class_name": "StorageAttachedIndex", "case_sensitive": "true"}}}
		}},
	} {
		lu, table := plan.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest"}, base()
		c.change(&lu, table)
		_, refusal := New(lu, table)
		if (refusal == nil) != (c.condition == "") || (refusal != nil && refusal.Condition != c.condition) {
			t.Errorf("want %s, got %v", c.condition, refusal)
		}
	}
	if _, refusal := New(plan.Rewrite{}, nil); refusal == nil || refusal.Condition != "C20" {
		t.Errorf("no table: %v", refusal)
	}
}

func TestReadConditions(t *testing.T) {
	for _, c := range []struct {
		text      string
		condition condition.ID
	}{
		{"SELECT * FROM hotel.stays WHERE guest = ? ALLOW FILTERING", "C19"}, // a tuple among the columns
		{"SELECT room, day FROM hotel.stays WHERE guest = ? ALLOW FILTERING", ""},
		{"SELECT room AS r, ttl(status), writetime(guest) FROM stays WHERE guest = :g AND status > ? LIMIT ? ALLOW FILTERING", ""},
		{"SELECT room FROM stays WHERE guest = ? AND tags CONTAINS 'x' LIMIT 10 ALLOW FILTERING", ""},
		{"SELECT room FROM stays WHERE guest = ? AND floor = 3 ALLOW FILTERING", "C8"},
		{"SELECT room FROM stays WHERE guest = ?", "C20"}, // no index: Cassandra refuses it
		{"SELECT floor FROM stays WHERE guest = ? ALLOW FILTERING", "C8"},
		{"SELECT room, floor, writetime(floor) FROM stays WHERE guest = ? ALLOW FILTERING", "C8"},
		{"SELECT room, floor, status FROM stays WHERE guest = ? ALLOW FILTERING", ""},
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
		{"SELECT room FROM stays WHERE guest = 5b6962dd-3f90-4c93-8f61-eabfa4a803e2 ALLOW FILTERING", ""},
		{"SELECT room FROM stays WHERE guest = null ALLOW FILTERING", "C6"},
		{"SELECT room FROM stays WHERE guest = 'ann' ALLOW FILTERING", "C6"}, // of another type: Cassandra refuses it
		{"SELECT secret FROM stays WHERE guest = ? ALLOW FILTERING", "C23"},
		{"SELECT room FROM stays WHERE guest = ? AND secret = 'x' ALLOW FILTERING", "C23"},
		{"SELECT room, writetime(secret) FROM stays WHERE guest = ? ALLOW FILTERING", "C23"},
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
	got := strings.Join([]string{l.Create("m-1"), l.Put(), l.PutTTL(), l.Remove(), l.Outdate(), l.RowEntries(), l.BaseRow(), FormerRow([]*LookUp{l, l}), l.ScanBase(), l.ScanEntries(),
		l.Sample(), l.CreatePending("m-1"), l.PutPending(), l.DropPending(), l.ScanPending(), read.Find, read.Fetch, read.Text}, "\n\n") + "\n"
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
	if len(read.Bound) != 2 || read.Bound[0].Index != 0 || read.Bound[1].Index != 1 || len(read.By) != 1 || read.By[0].Index != 1 || len(read.All) != 3 {
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
	l, refusal := New(plan.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "x"}, table)
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

func values(b ...[]byte) kind.Values {
	var v kind.Values
	for _, x := range b {
		v.Values = append(v.Values, proxy.Value{Bytes: x, Null: x == nil})
	}
	return v
}

func TestLimit(t *testing.T) {
	text := "SELECT room FROM stays WHERE guest = ? LIMIT ? ALLOW FILTERING"
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
		n, ok := read.Limit(func(kind.Marker) ([]byte, bool, bool) { return c.value, c.set, true })
		if ok != c.ok || (ok && n != c.n) {
			t.Errorf("%v: %d %t", c, n, ok)
		}
	}
}

// Values by name go to the marker of exactly that name: there may be columns whose names differ by case only.
func TestValuesByName(t *testing.T) {
	v := kind.Values{Values: []proxy.Value{{Name: "A", Bytes: []byte("1")}, {Name: "a", Bytes: []byte("2")}},
		Variables: []proxy.Column{{Name: "a"}, {Name: "A"}, {Name: "b"}}}
	for index, want := range []string{"2", "1"} {
		if got, ok := v.Get(kind.Marker{Index: index}); !ok || string(got.Bytes) != want {
			t.Errorf("%d: %q, %t", index, got.Bytes, ok)
		}
	}
	if _, ok := v.Get(kind.Marker{Index: 2}); ok {
		t.Error("a value from nowhere")
	}
}

// TestShortKeysStandForThemselves: where no key can be too long, none stands for others, not even the least: it is a row like any.
func TestShortKeysStandForThemselves(t *testing.T) {
	for kind, wants := range map[string]bool{"tinyint": true, "smallint": true, "time": true, "int": true, "uuid": true, "text": false, "blob": false} {
		base := &schema.Table{Keyspace: "k", Name: "t", Columns: []schema.Column{{Name: "id", Kind: schema.PartitionKey, Type: kind}, {Name: "v", Kind: schema.Regular, Position: -1, Type: "text"}}}
		l, refusal := New(plan.Rewrite{Keyspace: "k", Base: "t", Column: "v", Table: "t_by_v"}, base)
		if refusal != nil {
			t.Fatal(kind, refusal)
		}
		least := [][]byte{{}}
		if allowed := sizes[kind]; allowed != nil {
			least[0] = make([]byte, allowed[0])
		}
		if _, own := l.EntryKey(least); own != wants || l.StandsIn(least) == wants {
			t.Errorf("%s: the least key is its own: %t", kind, own)
		}
	}
}
