package capture

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// TestLiteralsAreValues: what stands in the text of a QUERY is looked at while a window is open; the statement is counted as ever.
func TestLiteralsAreValues(t *testing.T) {
	r := registry(t, Options{Windows: window.Options{Queue: 64}})
	for i := range 20 {
		x := r.Statement("hotel", fmt.Sprintf("INSERT INTO guests (id, name) VALUES (%d, 'secret %d')", i, i%3))
		x.Done([]proxy.Exchange{{Client: client, Opcode: proxy.OpQuery, Start: int64(i) * 1e6, End: int64(i)*1e6 + 1}})
	}
	s := r.Snapshot()
	if len(s.Statements) != 1 || s.Statements[0].Count != 20 {
		t.Fatalf("%+v", s.Statements)
	}
	seen := map[string]float64{}
	for _, c := range s.Profiles.Epochs[0].Columns {
		seen[c.Keyspace+"."+c.Table+"."+c.Name] = c.Distinct
		if c.Values != nil {
			t.Error("a snapshot has hashes")
		}
	}
	if seen["hotel.guests.id"] != 20 || seen["hotel.guests.name"] != 3 {
		t.Errorf("columns: %v", seen)
	}

	// The same text prepared: it is the record, whatever the proxy was given to keep.
	x := r.Statement("hotel", "INSERT INTO guests (id, name) VALUES (?, 'constant')")
	before := r.Windows().Statistics().Observed
	x.Done([]proxy.Exchange{{Client: client, Prepared: &proxy.Prepared{}, Opcode: proxy.OpExecute}})
	if r.Windows().Statistics().Observed != before {
		t.Error("the literals of a prepared statement are looked at at each execution")
	}
	// Children of a BATCH are the same statement with literals or without.
	literal, marked := r.Statement("hotel", "INSERT INTO guests (id) VALUES (1)"), r.Statement("hotel", "INSERT INTO guests (id) VALUES (?)")
	if recordOf(literal) != recordOf(marked) || r.Batch(0, []proxy.Record{literal}) != r.Batch(0, []proxy.Record{marked}) {
		t.Error("a batch knows its children by their literals")
	}
	r.Windows().Switch(false)
	if _, ok := r.Statement("hotel", "INSERT INTO guests (id) VALUES (1)").(*record); !ok {
		t.Error("the text is kept though nothing is looked at")
	}
}

// TestBoundQueries: the values of a QUERY that was not prepared are looked at if the schema tells their types, as if it had been prepared; the
// schema is asked anew each time, so a table that is made anew with other types is read rightly.
func TestBoundQueries(t *testing.T) {
	table := func(typ string) *schema.Schema {
		return &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "hotel", Tables: []schema.Table{{Keyspace: "hotel", Name: "guests",
			Columns: []schema.Column{{Name: "id", Kind: schema.PartitionKey, Type: typ}}}}}}}
	}
	var live *schema.Schema
	r := registry(t, Options{Windows: window.Options{Queue: 256, Schema: func() *schema.Schema { return live }}})
	classes := func() map[string]uint64 { return column(r, "guests", "id").Classes }
	ask := func(n int) {
		for i := range n {
			x := r.Statement("hotel", "SELECT name FROM guests WHERE id = ?")
			x.Done([]proxy.Exchange{{Client: client, Opcode: proxy.OpQuery, Start: int64(i) * 1e6, End: int64(i)*1e6 + 1, Values: []proxy.Value{{Bytes: fmt.Appendf(nil, "%016d", i)}},
				Response: []byte{0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0}}})
		}
	}
	if ask(10); classes()["none"] != 10 || len(classes()) != 1 {
		t.Errorf("without a schema the values are %v", classes())
	}
	live = table("uuid")
	if ask(10); classes()["uuid"] != 10 {
		t.Errorf("with a schema the values are %v", classes())
	}
	live = table("text")
	if ask(10); classes()["text"] != 10 {
		t.Errorf("of another table the values are %v", classes())
	}
	x := r.Statement("hotel", "SELECT name FROM guests WHERE id = ?")
	x.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Keyspace: "hotel", Table: "guests", Name: "id", Type: proxy.Type{Code: 0x0D}}}})
	if _, ok := r.Statement("hotel", "SELECT name FROM guests WHERE id = ?").(*record); !ok {
		t.Error("what was prepared needs no schema")
	}
	if ask(5); classes()["text"] != 15 {
		t.Errorf("by what was prepared the values are %v", classes())
	}
	conserved(t, r, 35)
}

// TestOtherTypesUnderOneStatement: after an ALTER, or a DROP and CREATE, some connections still execute what was prepared before. Each execution is
// read by what its own connection was told.
func TestOtherTypesUnderOneStatement(t *testing.T) {
	r := registry(t, Options{Windows: window.Options{Queue: 64}})
	prepared := func(code uint16, result string) *proxy.Prepared {
		return &proxy.Prepared{Variables: []proxy.Column{{Keyspace: "k", Table: "t", Name: "b", Type: proxy.Type{Code: code}}},
			Results: []proxy.Column{{Keyspace: "k", Table: "t", Name: result, Type: proxy.Type{Code: 9}}}}
	}
	before, after := prepared(9, "old"), prepared(13, "new")
	x := r.Statement("k", "SELECT * FROM t WHERE b = ?")
	x.Prepared(before)
	x.Prepared(after)
	body := []byte{0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7}
	for i, p := range []*proxy.Prepared{before, after, before, after, after, prepared(13, "new")} {
		x.Done([]proxy.Exchange{{Client: client, Prepared: p, Opcode: proxy.OpExecute, Start: int64(i) * 1e9, End: int64(i)*1e9 + 1, Rows: 1, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, byte(i)}}}, Response: body}})
	}
	got := map[string]uint64{}
	for _, c := range r.Snapshot().Profiles.Epochs[0].Columns {
		for class, n := range c.Classes {
			got[c.Name+" "+class] += n
		}
	}
	if d := cmp.Diff(map[string]uint64{"b integer": 2, "b text": 4, "old integer": 2, "new integer": 4}, got); d != "" {
		t.Error(d)
	}
}

func TestTextsWithoutLiterals(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT a1 FROM t2_3 WHERE k4 = ?": false, "SELECT a FROM t WHERE k = 4": true, "SELECT a FROM t WHERE k='x'": true, "SELECT a FROM t LIMIT 10": true,
		"": false, "SELECT a FROM t WHERE k = -1": true, "SELECT a FROM t WHERE k = $$x$$": true,
	} {
		if mayHaveLiterals(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}

func TestRestrictions(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE k = 1 AND c > 2 AND d IN (1, 2)": "k =, c >, d IN",
		"SELECT a FROM t WHERE token(k) > 1":                    "token(k) >",
		"DELETE FROM t WHERE k = 1 AND (a, b) > (1, 2)":         "k =, (a, b) >",
		"UPDATE t SET v = 1 WHERE k = 1":                        "k =",
		"INSERT INTO t (k) VALUES (1)":                          "",
		"SELECT a FROM t":                                       "",
	} {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := restrictionText(st); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestChanges: which row a statement is about, and what it sets there.
func TestChanges(t *testing.T) {
	for text, want := range map[string][2]string{
		"SELECT a FROM t WHERE k = 1 AND c > 2 AND m['x'] = 1":                                {"k", ""},
		"SELECT a FROM t WHERE token(k) = 1":                                                  {"", ""},
		"INSERT INTO t (k, v) VALUES (1, 2)":                                                  {"", "k v"},
		"INSERT INTO t JSON '{}'":                                                             {"", ""},
		"UPDATE t SET v = 1, n = n + 1, l += [1], m['x'] = 1, u.f = 2, \"W\" = 3 WHERE k = 1": {"k", "v W"},
		"UPDATE t SET v = 1 WHERE k = 1 AND (a, b) = (1, 2) IF v = 3":                         {"k a b", "v"},
		"UPDATE t SET v = 1 WHERE k IN (1, 2)":                                                {"", "v"},
		"DELETE FROM t WHERE k = 1":                                                           {"k", ""},
		"TRUNCATE t":                                                                          {"", ""},
	} {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		key, sets := writeColumns(st)
		if got := [2]string{strings.Join(key, " "), strings.Join(sets, " ")}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestEchoes: a row that is read and written back, with IF and without, as the snapshot, the commands and the API have it; no join.
func TestEchoes(t *testing.T) {
	r := registry(t, Options{Windows: window.Options{Queue: 4096}})
	column := func(name string) proxy.Column {
		return proxy.Column{Keyspace: "bank", Table: "accounts", Name: name, Type: proxy.Type{Code: 9}}
	}
	prepared := func(text string, variables, results []proxy.Column) proxy.Record {
		x := r.Statement("bank", text)
		x.Prepared(&proxy.Prepared{Variables: variables, Results: results, PartitionKey: []int{len(variables) - 1}})
		return x
	}
	id, balance := column("id"), column("balance")
	read := prepared("SELECT balance FROM accounts WHERE id = ?", []proxy.Column{id}, []proxy.Column{balance})
	blind := prepared("UPDATE accounts SET balance = ? WHERE id = ?", []proxy.Column{balance, id}, nil)
	careful := prepared("UPDATE accounts SET balance = ? WHERE id = ? IF balance = ?", []proxy.Column{balance, id, balance}, nil)
	number := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	for i := range 600 {
		now := int64(i) * 10e6
		key, was, next := number(i*7919%4096), number(1_000_000+i), number(2_000_000+3*i)
		body := append([]byte{0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4}, was...)
		read.Done([]proxy.Exchange{{Client: client, Start: now, End: now + 1e6, Rows: 1, Values: []proxy.Value{{Bytes: key}}, Response: body}})
		if i%2 == 0 {
			blind.Done([]proxy.Exchange{{Client: client, Start: now + 2e6, End: now + 3e6, Rows: -1, Values: []proxy.Value{{Bytes: next}, {Bytes: key}}}})
		} else {
			careful.Done([]proxy.Exchange{{Client: client, Start: now + 2e6, End: now + 3e6, Rows: 1, Values: []proxy.Value{{Bytes: next}, {Bytes: key}, {Bytes: was}}}})
		}
		if i%100 == 99 {
			r.Windows().Feeds() // the miner keeps up
		}
	}
	s := r.Snapshot()
	flows := s.Flows()
	if len(s.Echoes) != 2 || len(flows) != len(s.Feeds)+2 {
		t.Fatalf("echoes: %+v", s.Echoes)
	}
	seen := map[string]bool{}
	for _, f := range flows[len(s.Feeds):] {
		guarded := strings.Contains(f.ToText, " IF ")
		if seen[f.ID] = true; f.Shape != feed.ReadModifyWrite || f.Race == guarded || f.Saved != 0 || f.FromCalls != 600 || f.ToCalls != 300 || !slices.Equal(f.Change.Columns, []string{"balance"}) {
			t.Errorf("%+v %+v", f, f.Change)
		}
	}
	if len(seen) != 2 {
		t.Errorf("ids: %v", seen)
	}
	if again := s.Since(&Snapshot{}); cmp.Diff(s.Echoes, again.Echoes) != "" || cmp.Diff(s.Echoes, s.Merge(&Snapshot{}).Echoes) != "" {
		t.Error("echoes are lost on the way")
	}
}

// TestFlows: a join done by hand, as the commands, the API and the metrics have it.
func TestFlows(t *testing.T) {
	r := registry(t, Options{Windows: window.Options{Queue: 4096}})
	uuid := proxy.Type{Code: 0x000C}
	column := func(table, name string) []proxy.Column {
		return []proxy.Column{{Keyspace: "hotel", Table: table, Name: name, Type: uuid}}
	}
	rooms := r.Statement("hotel", "SELECT guest FROM stays WHERE room = ?")
	rooms.Prepared(&proxy.Prepared{Variables: column("stays", "room"), Results: column("stays", "guest")})
	guests := r.Statement("hotel", "SELECT name FROM guests WHERE id = ?")
	guests.Prepared(&proxy.Prepared{Variables: column("guests", "id")})
	id := func(kind, n int) []byte { return fmt.Appendf(nil, "%08d%08d", kind, n) }
	for i := range 400 {
		now := int64(i) * 20e6
		body := append([]byte{0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 16}, id(2, i)...)
		rooms.Done([]proxy.Exchange{{Client: client, Start: now, End: now + 1e6, Rows: 1, Values: []proxy.Value{{Bytes: id(1, i)}}, Response: body}})
		guests.Done([]proxy.Exchange{{Client: client, Start: now + 2e6, End: now + 3e6, Values: []proxy.Value{{Bytes: id(2, i)}}}})
		if i%100 == 99 {
			r.Windows().Feeds()
		}
	}
	flows := r.Snapshot().Flows()
	if len(flows) != 1 {
		t.Fatalf("flows: %+v", flows)
	}
	f := flows[0]
	if f.Saved < 350 || f.Saved > 400 || f.FromCalls != 400 || f.Chain || !strings.Contains(f.FromText, "stays") || !strings.Contains(f.ToText, "guests") || f.Last.IsZero() ||
		!strings.HasPrefix(f.ID, "f-") || f.ID != r.Snapshot().Flows()[0].ID {
		t.Errorf("flow: %+v", f)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(r)
	want := strings.NewReader(`# HELP helenus_flow_info 1 for each join that the application does by hand, with the columns that its values travel between; the 50 that were seen most.
# TYPE helenus_flow_info gauge
helenus_flow_info{flow="` + f.ID + `",from_column="guest",from_keyspace="hotel",from_table="stays",shape="single",to_column="id",to_keyspace="hotel",to_table="guests"} 1
# HELP helenus_flows Joins that the application does by hand, found in sampled values.
# TYPE helenus_flows gauge
helenus_flows 1
`)
	if err := testutil.GatherAndCompare(reg, want, "helenus_flow_info", "helenus_flows"); err != nil {
		t.Error(err)
	}
	// Merging snapshots is the same in any order, and a snapshot merged with itself tells no other flows.
	s := r.Snapshot()
	if got := s.Merge(s).Flows(); len(got) != 1 || got[0].Hits != f.Hits {
		t.Errorf("merged: %+v", got)
	}
}
