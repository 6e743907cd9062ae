package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/sketch"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

var began = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func of(table, name string) proxy.Column {
	return proxy.Column{Keyspace: "shop", Table: table, Name: name, Type: proxy.Type{Code: 9}}
}

var (
	read = &trace.Statement{Fingerprint: "read", Keyspace: "shop", Table: "orders", Variables: []proxy.Column{of("orders", "shop")},
		Results: []proxy.Column{of("orders", "id"), of("orders", "buyer")}, PartitionKey: []int{0}, Shape: "shop ="}
	list = &trace.Statement{Fingerprint: "list", Keyspace: "shop", Table: "users", Variables: []proxy.Column{of("users", "in(id)")},
		Results: []proxy.Column{of("users", "id")}, Shape: "id IN"}
	write = &trace.Statement{Fingerprint: "write", Keyspace: "shop", Table: "orders", Write: true,
		Variables: []proxy.Column{of("orders", "shop"), of("orders", "id"), of("orders", "buyer")}, PartitionKey: []int{0}}
)

func hashed(n int, index, row int) value.Value {
	h := value.Hasher{K0: 5, K1: 6}
	v := h.Of(value.Integer, []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	v.Index, v.Row = uint16(index), uint16(row)
	return v
}

// traffic is executions of the three statements.
func traffic(r *rand.Rand, n int) (out []*trace.Execution) {
	for i := range n {
		e := &trace.Execution{Start: int64(i) * 1e6, End: int64(i)*1e6 + 1000, Process: 1, Last: true}
		shop := int(math.Exp(r.Float64() * 5))
		switch r.IntN(3) {
		case 0:
			e.Statement, e.Binds, e.Partition = read, []value.Value{hashed(shop, 0, 0)}, uint64(shop)*0x9E3779B97F4A7C15
			e.Rows = 1 + shop%7
			e.Bytes = 100 * e.Rows
			for row := range e.Rows {
				e.Cells = append(e.Cells, hashed(r.IntN(3000), 0, row), hashed(r.IntN(500), 1, row))
			}
			if r.IntN(4) == 0 {
				e.Cells = append(e.Cells, value.Value{Index: 1, Row: uint16(e.Rows), Null: true})
			}
		case 1:
			e.Statement, e.Rows = list, 2
			for range 1 + r.IntN(4) {
				e.Binds = append(e.Binds, hashed(r.IntN(500), 0, 0))
			}
		case 2:
			e.Statement, e.Rows, e.Partition = write, -1, uint64(shop)*0x9E3779B97F4A7C15
			e.Binds = []value.Value{hashed(shop, 0, 0), hashed(10_000+i, 1, 0), hashed(r.IntN(500), 2, 0)}
		}
		out = append(out, e)
	}
	return out
}

func learn(source uint64, all []*trace.Execution) *Book {
	b := New(Options{Epoch: 9, Source: source, Began: began, Started: began, Literals: []string{"shop.orders.shop"}})
	for _, e := range all { // what is bound by one of them is a key for all: else it would depend on the order
		b.plan(e.Statement)
	}
	for _, e := range all {
		b.Add(e)
	}
	return b
}

func asJSON(t interface{ Fatal(...any) }, d *Document) string {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocumentsMergeExactly: what several processes learnt of parts of the traffic, put together in any order and grouping, and
// some of it twice, is what one would have learnt of all of it. Fresh is left out: it depends on what came before.
func TestDocumentsMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		all := traffic(r, rapid.IntRange(10, 150).Draw(t, "n"))
		n := rapid.IntRange(1, 4).Draw(t, "processes")
		shares := make([][]*trace.Execution, n)
		for _, e := range all {
			i := r.IntN(n)
			shares[i] = append(shares[i], e)
		}
		var parts []*Document
		for i, share := range shares {
			b := New(Options{Epoch: 9, Source: uint64(i + 1), Began: began, Started: began, Literals: []string{"shop.orders.shop"}})
			for _, st := range []*trace.Statement{read, list, write} {
				b.plan(st)
			}
			half := b
			for k, e := range share {
				if k == len(share)/2 {
					parts = append(parts, half.Document()) // an earlier picture of the same
				}
				b.Add(e)
			}
			parts = append(parts, b.Document())
		}
		for len(parts) > 1 {
			i := r.IntN(len(parts))
			a := parts[i]
			parts = slices.Delete(parts, i, i+1)
			j := r.IntN(len(parts))
			parts[j] = parts[j].Merge(a)
		}
		whole := New(Options{Epoch: 9, Began: began, Started: began, Literals: []string{"shop.orders.shop"}})
		for _, st := range []*trace.Statement{read, list, write} {
			whole.plan(st)
		}
		for _, e := range all {
			whole.Add(e)
		}
		got, want := parts[0].Joined(), whole.Document()
		for _, d := range []*Document{got, want} {
			for i := range d.Epochs[0].Parameters {
				d.Epochs[0].Parameters[i].Fresh = 0
			}
		}
		if d := cmp.Diff(asJSON(t, want), asJSON(t, got)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestWhatIsLearnt(t *testing.T) {
	d := learn(1, traffic(rand.New(rand.NewPCG(3, 4)), 6000)).Document()
	e := d.Epochs[0]
	columns := map[string]Column{}
	for _, c := range e.Columns {
		columns[c.Table+"."+c.Name] = c
	}
	if c := columns["orders.buyer"]; c.Distinct != 500 || !c.Values.Complete() || c.Null == 0 || c.Read == 0 || c.Written == 0 || c.Written != c.Bound || c.Range != nil {
		t.Errorf("buyer: %+v", c)
	}
	if c := columns["orders.id"]; math.Abs(c.Distinct-5000) > 300 || c.Numbers[14] == 0 {
		t.Errorf("id: %.0f, %v", c.Distinct, c.Numbers)
	}
	if c := columns["orders.shop"]; c.Range == nil || c.Range.Low != 1 || c.Range.High > 148 || len(c.Coarse) < 10 {
		t.Errorf("shop: %+v %v", c.Range, c.Coarse)
	}
	if share, low, _, _ := columns["users.id"].Values.Containment(columns["orders.buyer"].Values); share != 1 || low != 1 {
		t.Errorf("users.id in orders.buyer: %.2f", share)
	}
	for _, p := range e.Parameters {
		switch p.Fingerprint + fmt.Sprint(p.Index) {
		case "list0":
			if p.Column != "id" || p.Lengths.Mean() < 2 || p.Lengths.Mean() > 3 {
				t.Errorf("list: %+v", p)
			}
		case "write1":
			if float64(p.Fresh) < 0.95*float64(p.Bound) {
				t.Errorf("%d of %d new keys are fresh", p.Fresh, p.Bound)
			}
		case "write2":
			if float64(p.Fresh) > 0.2*float64(p.Bound) {
				t.Errorf("%d of %d known keys are fresh", p.Fresh, p.Bound)
			}
		}
	}
	if len(e.Tables) != 2 || e.Tables[0].HotShare < 0.1 || e.Tables[0].Partitions > 150 || len(e.Tables[0].Longest) != sketch.Keep || e.Tables[0].Longest[0].Size != 7 ||
		e.Tables[0].Shapes["shop ="] != e.Tables[0].Reads {
		t.Errorf("tables: %+v", e.Tables[0])
	}
	// A key's rows are those of all tables that it is in, and no more than 8 of each.
	for _, k := range e.Keys {
		n := map[string]int{}
		for _, r := range k.Rows {
			if n[r.Table]++; n[r.Table] > rowsPerTable || len(r.Cells) == 0 || r.Seen == 0 {
				t.Fatalf("%+v", k)
			}
		}
	}
	if len(e.Keys) != keysPerClass {
		t.Errorf("%d keys", len(e.Keys))
	}
	derived := d.Derived()
	for _, c := range derived.Epochs[0].Columns {
		if c.Values != nil || c.Distinct != columns[c.Table+"."+c.Name].Distinct {
			t.Errorf("derived: %+v", c)
		}
	}
	if e.Columns[0].Values == nil || len(e.Keys) == 0 || len(derived.Epochs[0].Keys) != 0 || derived.Epochs[0].Tables[0].Longest != nil {
		t.Error("the derived document has hashes, or the original has lost them")
	}
}

func TestDocumentsSurviveJSON(t *testing.T) {
	d := learn(1, traffic(rand.New(rand.NewPCG(3, 4)), 3000)).Document()
	var again Document
	if err := json.Unmarshal([]byte(asJSON(t, d)), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, d), asJSON(t, &again)); diff != "" {
		t.Error(diff)
	}
	if merged := again.Merge(d); asJSON(t, merged) != asJSON(t, d) {
		t.Error("a document merged with itself is another")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := New(Options{Began: began})
	for i := range 3 * maxColumns {
		c := proxy.Column{Keyspace: "k", Table: fmt.Sprint("t", i), Name: "c"}
		b.Add(&trace.Execution{Statement: &trace.Statement{Fingerprint: fmt.Sprint(i), Keyspace: "k", Table: c.Table, Variables: []proxy.Column{c}, Shape: "c ="},
			Partition: 1, Binds: []value.Value{hashed(i, 0, 0)}})
	}
	st := *read
	for i := range 3 * maxShapes {
		st := st
		st.Shape = fmt.Sprint(i)
		b.Add(&trace.Execution{Statement: &st})
	}
	if len(b.columns) > maxColumns || len(b.parameters) > maxParameters || len(b.tables) > maxTables || len(b.plans) > 5*maxParameters {
		t.Errorf("%d columns, %d parameters, %d tables, %d plans", len(b.columns), len(b.parameters), len(b.tables), len(b.plans))
	}
	for _, k := range b.keys.classes {
		if len(k.known) > 2*keysPerClass {
			t.Errorf("%d keys", len(k.known))
		}
	}
}

func TestCoarseKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if coarse(a) > coarse(b) || coarse(a) > a || coarse(coarse(a)) != coarse(a) {
			t.Fatalf("%d -> %d, %d -> %d", a, coarse(a), b, coarse(b))
		}
	})
}

// TestLiteralsMergeExactly: also when there are more than may be kept.
func TestLiteralsMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		domain := rapid.SampledFrom([]int{5, maxLiterals, 80}).Draw(t, "domain")
		var parts [3]*Literals
		whole := &Literals{}
		for i := range parts {
			parts[i] = &Literals{}
		}
		for range 300 {
			text, client := fmt.Sprint(r.IntN(domain)), uint64(r.IntN(5))
			whole.add(text, 1, client)
			parts[r.IntN(3)].add(text, 1, client)
		}
		o := r.Perm(3)
		if d := cmp.Diff(whole, parts[o[0]].merge(parts[o[1]]).merge(parts[o[2]])); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	all := traffic(rand.New(rand.NewPCG(3, 4)), 10_000)
	book := learn(1, nil)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		book.Add(all[i%len(all)])
		i++
	}
}

// What WHERE compares by = is a part of each row that is found, a clustering column too: a row read by its whole key is one of its key's.
func TestEqualityIsPartOfTheRow(t *testing.T) {
	b := New(Options{Epoch: 9, Source: 1, Began: began, Started: began})
	st := &trace.Statement{Fingerprint: "one", Keyspace: "shop", Table: "orders", Variables: []proxy.Column{of("orders", "shop"), of("orders", "id"), of("orders", "placed")},
		Ranges: []bool{false, false, true}, Results: []proxy.Column{of("orders", "buyer")}, PartitionKey: []int{0}, Key: []string{"shop", "id"}}
	b.Add(&trace.Execution{Statement: st, End: 1, Rows: 1, Last: true, Binds: []value.Value{hashed(1, 0, 0), hashed(2, 1, 0), hashed(3, 2, 0)}, Cells: []value.Value{hashed(4, 0, 0)}})
	found := map[string]bool{}
	for _, k := range b.Document().Epochs[0].Keys {
		for _, c := range k.Rows[0].Cells {
			found[c.Column] = true
		}
	}
	if !found["shop"] || !found["id"] || !found["buyer"] || found["placed"] {
		t.Errorf("the row has %v", found)
	}
}

// Parts of texts are kept of columns whose first texts have them, of so many columns, and of no more.
func TestPiecesAreBounded(t *testing.T) {
	h := value.Hasher{K0: 5, K1: 6}
	say := func(b *Book, st *trace.Statement, text string) {
		e := &trace.Execution{Statement: st, Binds: []value.Value{h.Of(value.Text, []byte(text))}, Rows: -1}
		h.Made([]byte(text), func(m value.Made) { e.MadeBinds = append(e.MadeBinds, m) })
		b.Add(e)
	}
	named := func(i int) *trace.Statement {
		return &trace.Statement{Fingerprint: fmt.Sprint(i), Keyspace: "shop", Table: "t", Variables: []proxy.Column{of("t", fmt.Sprint("c", i))}}
	}
	b := New(Options{Began: began, Started: began})
	first, late := named(0), named(1)
	for i := range 400 {
		say(b, first, fmt.Sprint("user:u", i))
		if say(b, late, fmt.Sprint("u", i)); i > firstTexts {
			say(b, late, fmt.Sprint("user:u", i))
		}
	}
	for _, c := range b.Document().Epochs[0].Columns {
		switch {
		case c.Name == "c1" && len(c.Pieces) > 0:
			t.Errorf("parts that came late are kept: %v", c.Pieces)
		case c.Name == "c0" && (len(c.Pieces) != 2 || c.Pieces[1].Seen != 400 || c.Pieces[1].Values.Total() != 400 || c.Pieces[0].Values.Distinct() != 1):
			t.Errorf("parts %+v", c.Pieces)
		}
	}
	for i := range maxColumns {
		say(b, named(2+i), "one:two:three")
	}
	if b.pieces != maxPieces {
		t.Errorf("%d parts are kept, %d at most", b.pieces, maxPieces)
	}
}
