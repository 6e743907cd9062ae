package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/sketch"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func shop() *schema.Schema {
	column := func(name string, kind schema.ColumnKind, at int) schema.Column {
		return schema.Column{Name: name, Kind: kind, Position: at, Type: "text"}
	}
	return &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "shop", Tables: []schema.Table{
		{Keyspace: "shop", Name: "customers", Columns: []schema.Column{column("id", schema.PartitionKey, 0), column("city", schema.Regular, -1), column("name", schema.Regular, -1)},
			Indexes: []schema.Index{{Name: "by_city", Column: "city", On: "values"}}},
		{Keyspace: "shop", Name: "idle", Columns: []schema.Column{column("id", schema.PartitionKey, 0)}},
		{Keyspace: "shop", Name: "orders", Columns: []schema.Column{column("customer", schema.PartitionKey, 0), column("at", schema.Clustering, 0),
			column("note", schema.Regular, -1), column("state", schema.Regular, -1)}},
	}}}}
}

func spread(values ...uint64) histogram.Distribution {
	var h histogram.Histogram
	var d histogram.Distribution
	for _, v := range values {
		h.Add(v)
	}
	h.AddTo(&d)
	return d
}

// statement makes a statement from a text, as the registry would.
func statement(t testing.TB, text string, count uint64, amend func(s *capture.Statement)) capture.Statement {
	t.Helper()
	print, normal, st, err := cql.FingerprintText(text, "shop")
	if err != nil {
		t.Fatal(err)
	}
	s := capture.Statement{Fingerprint: print.String(), Keyspace: "shop", Kind: st.Kind().String(), Text: normal, Count: count, Conditional: cql.Conditional(st)}
	for _, word := range []string{"customers", "orders", "idle"} {
		if strings.Contains(text, word) {
			s.Table = word
		}
	}
	if amend != nil {
		amend(&s)
	}
	return s
}

func TestWhy(t *testing.T) {
	for _, c := range []struct {
		text  string
		amend func(s *capture.Statement)
		want  string // a word of each reason, in order
	}{
		{"SELECT * FROM customers WHERE id = ?", nil, ""},
		{"SELECT * FROM customers WHERE name = ? ALLOW FILTERING", nil, "whole table, throws away"},
		{"SELECT * FROM customers WHERE token(id) > ?", nil, "token range"},
		{"SELECT * FROM customers WHERE city = ?", nil, "index by_city"},
		{"SELECT * FROM customers WHERE id IN (?, ?)", nil, "several partitions"},
		{"SELECT * FROM orders WHERE customer = ?", func(s *capture.Statement) {
			s.Warned, s.Warnings = 10, capture.TallyOf(map[string]uint64{"tombstones": 10})
			s.Rows, s.ResponseBytes, s.MorePages = spread(5000), spread(1e6), 50
		}, "deleted rows, large answers, many rows, in pages"},
		{"UPDATE orders SET note = ? WHERE customer = ? AND at = ? IF state = ?", func(s *capture.Statement) {
			s.Applied, s.NotApplied, s.Consistency = 50, 50, capture.TallyOf(map[string]uint64{"ALL": 100})
		}, "lightweight, in vain, consistency ALL"},
		{"SELECT * FROM customers WHERE id = ?", func(s *capture.Statement) {
			s.Errors, s.ErrorCodes, s.Retried, s.Speculative = 3, capture.TallyOf(map[string]uint64{"read_timeout": 2, "invalid": 1}), 2, 10
		}, "failed 2 times, after it had failed, while it was under way"},
		{"SELECT * FROM customers WHERE id = ?", func(s *capture.Statement) {
			var values []uint64
			for range 98 {
				values = append(values, 500)
			}
			s.Latency = spread(append(values, 900_000, 900_000)...)
		}, "mostly fast"},
	} {
		one := With(statement(t, c.text, 100, c.amend), shop())
		why := Why(&one)
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, ", ")
		}
		if len(why) != len(want) {
			t.Errorf("%s: %q, want %q", c.text, why, want)
			continue
		}
		for i := range want {
			if !strings.Contains(why[i], want[i]) {
				t.Errorf("%s: reason %d is %q, want %q", c.text, i, why[i], want[i])
			}
		}
	}
}

func TestTables(t *testing.T) {
	s := &capture.Snapshot{Statements: []capture.Statement{
		statement(t, "SELECT name FROM customers WHERE id = ?", 10, func(s *capture.Statement) { s.Latency, s.Rows = spread(1000), spread(1) }),
		statement(t, "SELECT name FROM customers WHERE name = ? ALLOW FILTERING", 5, nil),
		statement(t, "INSERT INTO customers (id, city, name) VALUES (?, ?, ?)", 3, nil),
		statement(t, "INSERT INTO orders (customer, at, note) VALUES (?, ?, ?)", 7, nil),
		statement(t, "DELETE note FROM orders WHERE customer = ? AND at = ?", 2, nil),
	}}
	stats := []schema.Stats{{Keyspace: "shop", Table: "orders", Rows: 1e6, Partitions: 5, MeanRowBytes: 1000}}
	got := map[string]Table{}
	for _, x := range Tables(s, shop(), stats, nil) {
		got[x.Name] = x
	}
	c, o := got["customers"], got["orders"]
	if c.Reads != 15 || c.Writes != 3 || c.Scans != 5 || c.RowsRead != 1 || c.Statements != 3 {
		t.Errorf("customers: %+v", c)
	}
	if d := cmp.Diff([]string{"city"}, c.Unread); d != "" {
		t.Errorf("unread of customers: %s", d)
	}
	want := []Column{{"id", schema.PartitionKey, 0, 3, 10}, {"city", schema.Regular, 0, 3, 0}, {"name", schema.Regular, 15, 3, 5}}
	if d := cmp.Diff(want, c.Columns); d != "" {
		t.Errorf("columns of customers: %s", d)
	}
	if d := cmp.Diff([]string{"large partitions: 200000 rows and 200 MB on average", "few partitions: 5 for 1000000 rows, so few nodes do all the work",
		"it is written and never read"}, o.Remarks); d != "" {
		t.Errorf("orders: %s", d)
	}
	if len(o.Unread) != 0 || o.Writes != 9 {
		t.Errorf("orders: %+v", o)
	}
	if d := cmp.Diff([]string{"nobody used it"}, got["idle"].Remarks); d != "" {
		t.Errorf("idle: %s", d)
	}
	if list := Tables(s, nil, nil, nil); len(list) != 0 {
		t.Errorf("without a schema: %v", list)
	}
}

func TestDiffAndSince(t *testing.T) {
	a := statement(t, "SELECT name FROM customers WHERE id = ?", 100, func(s *capture.Statement) { s.Latency = spread(1000, 1000) })
	b := statement(t, "SELECT * FROM orders WHERE customer = ?", 60, func(s *capture.Statement) { s.Latency = spread(9_000_000) })
	gone := statement(t, "SELECT * FROM idle WHERE id = ?", 10, nil)
	period := func(minutes int, list ...capture.Statement) *Statements {
		return List(&capture.Snapshot{From: begin, To: begin.Add(time.Duration(minutes) * time.Minute), Statements: list}, shop(), Query{})
	}
	more := a
	more.Count, more.Latency = 400, spread(1000, 1000, 2000)
	changes := Diff(period(1, a, gone), period(2, more, b), 0)
	if len(changes) != 3 || changes[0].Fingerprint != b.Fingerprint || changes[0].Before.Calls != 0 || changes[0].After.Calls != 0.5 {
		t.Fatalf("%+v", changes)
	}
	for _, c := range changes {
		switch c.Fingerprint {
		case a.Fingerprint:
			if c.Before.Calls != 100.0/60 || c.After.Calls != 400.0/120 || c.Class != schema.Row {
				t.Errorf("%+v", c)
			}
		case gone.Fingerprint:
			if c.After != (Rates{}) || c.Before.Calls == 0 {
				t.Errorf("%+v", c)
			}
		}
	}
	delta := Since(period(1, a, gone), period(2, more, b, gone), Query{Sort: "calls"})
	if len(delta.Statements) != 2 || delta.Statements[0].Count != 300 || delta.Statements[0].Access.Class != schema.Row || delta.Statements[1].Count != 60 {
		t.Errorf("%+v", delta.Statements)
	}
}

// TestHotPartition: one partition with far more than its share is named, one of few or of little traffic is not.
func TestHotPartition(t *testing.T) {
	hot := func(table profile.Table) (remarks string, x Table) {
		d := &profile.Document{Epochs: []profile.Epoch{{Tables: []profile.Table{{Keyspace: "shop", Name: "orders", Reads: 1, HotShare: 1, Partitions: 1}, table}}}}
		for _, x := range Tables(&capture.Snapshot{}, shop(), nil, d) {
			if x.Name == "orders" {
				return strings.Join(x.Remarks, "; "), x
			}
		}
		t.Fatal("there is no such table")
		return "", x
	}
	for name, c := range map[string]struct {
		table profile.Table
		want  bool
	}{
		"hot":      {profile.Table{Keyspace: "shop", Name: "orders", Reads: 900, Writes: 100, Partitions: 500, HotShare: 0.4}, true},
		"even":     {profile.Table{Keyspace: "shop", Name: "orders", Reads: 1000, Partitions: 500, HotShare: 0.01}, false},
		"of three": {profile.Table{Keyspace: "shop", Name: "orders", Reads: 1000, Partitions: 3, HotShare: 0.5}, false},
		"seldom":   {profile.Table{Keyspace: "shop", Name: "orders", Reads: 50, Partitions: 40, HotShare: 0.5}, false},
		"other":    {profile.Table{Keyspace: "shop", Name: "others", Reads: 1000, Partitions: 500, HotShare: 0.4}, false},
	} {
		if remarks, _ := hot(c.table); strings.Contains(remarks, "hot partition") != c.want {
			t.Errorf("%s: %q", name, remarks)
		}
	}
	remarks, x := hot(profile.Table{Keyspace: "shop", Name: "orders", Reads: 10, Longest: sketch.Largest{{Key: 1, Size: 200_000}}})
	if x.Longest != 200_000 || !strings.Contains(remarks, "200000 rows") {
		t.Errorf("%d %q", x.Longest, remarks)
	}
}
