package options

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

var update = flag.Bool("update", false, "write the golden files")

// TestReadGuaranteeB3: every query is one request in every option: of Twissandra's 128, of the hotel's, of the seed's customers.
func TestReadGuaranteeB3(t *testing.T) {
	for _, name := range []string{"twissandra", "hotel"} {
		w, err := workload.Load("../../examples/designs/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for indexes := range 3 {
			r := find(t, w, Config{Indexes: indexes})
			if len(r.Options) == 0 {
				t.Fatalf("%s with %d indexes: no options", name, indexes)
			}
			answered(t, r)
		}
	}
	r := find(t, read(t, customer+q1+q2+q3+q4+q5), Config{Indexes: 1})
	answered(t, r)
	if r.Combined != 32 {
		t.Errorf("%g combinations of q1, q2, q3; want 2 * 8 * 2 (B-18, B-19: none is left out before merging)", r.Combined)
	}
}

// TestRandomB3 draws workloads over the pets, and holds all their options to the read guarantee.
func TestRandomB3(t *testing.T) {
	trees := []struct{ path, fields string }{
		{"Pet", "Pet.tag Pet.kind Pet.fur"}, {"Person", "Person.pid Person.name Person.born"},
		{"Pet.owner", "Pet.tag Pet.kind Person.pid Person.name"}, {"Person.passport", "Person.pid Person.name Passport.nr Passport.until"},
		{"Passport", "Passport.nr Passport.issued Passport.until"}, {"Person.clubs", "Person.pid Club.cid Club.town"},
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(pets)
		for q := range rapid.IntRange(1, 3).Draw(t, "queries") {
			tree := rapid.SampledFrom(trees).Draw(t, "tree")
			fields := rapid.Permutation(strings.Fields(tree.fields)).Draw(t, "fields")
			n := rapid.IntRange(1, 3).Draw(t, "filters")
			var where []string
			for i, x := range fields[:n] {
				op := "="
				if i > 0 {
					op = rapid.SampledFrom([]string{"=", ">="}).Draw(t, "op")
				}
				where = append(where, x+" "+op+" ?")
			}
			fmt.Fprintf(&b, "- {id: q%d, text: \"SELECT %s FROM %s WHERE %s\", weight: 1}\n", q, strings.Join(fields[min(n, len(fields)-1):], ", "), tree.path, strings.Join(where, " AND "))
		}
		for i, write := range []string{
			"DELETE FROM Pet WHERE Pet.kind = ?", "INSERT INTO Pet SET tag = ?, kind = ? AND CONNECT TO owner(?)", "DELETE FROM Pet.owner WHERE Person.name = ?",
			"UPDATE Person SET name = ? WHERE Person.born = ?", "UPDATE Pet FROM Pet.owner SET fur = ? WHERE Person.pid = ? AND Pet.kind = ?",
			"CONNECT Person(?) TO clubs(?)", "DISCONNECT Person(?) FROM clubs(?)", "DELETE FROM Passport WHERE Passport.until < ?", "INSERT INTO Person SET pid = ?, name = ? AND CONNECT TO clubs(?)",
		} {
			if rapid.IntRange(0, 2).Draw(t, "write") == 0 {
				fmt.Fprintf(&b, "- {id: w%d, text: \"%s\", weight: 1}\n", i, write)
			}
		}
		w, err := workload.Read("drawn.yaml", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Indexes: rapid.IntRange(0, 2).Draw(t, "indexes"), ColumnGrowth: rapid.IntRange(1, 3).Draw(t, "growth"), RefuseColumns: rapid.Bool().Draw(t, "refuse")}
		r, err := Find(context.Background(), w, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range r.Options {
			for _, q := range r.Queries {
				if !slices.ContainsFunc(o.Tables, func(x *Table) bool { return oneRequest(x, q) }) {
					t.Fatalf("%s: no table answers %s by one request:\n%s", o.Name, q.ID, schema(o.Tables))
				}
			}
			for _, x := range o.Tables {
				if err := x.Physical().Validate(); err != nil {
					t.Fatalf("%s: %v", o.Name, err)
				}
			}
			if i > 0 && compareOptions(r.Options[i-1], o) > 0 {
				t.Fatalf("%s is ranked after %s", o.Name, r.Options[i-1].Name)
			}
			if slices.ContainsFunc(r.Options[:i], func(x *Option) bool { return x.key == o.key }) {
				t.Fatalf("%s is there twice", o.Name)
			}
		}
		// A fix-point: no two read tables of a merged schema can be merged, or dropped, still.
		f, err := newFinder(w, c)
		if err != nil {
			t.Fatal(err)
		}
		schemas, err := f.mergedSchemas(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range schemas {
			for i, a := range list {
				for j, b := range list {
					if i != j && (f.isNeedless(a, b) || f.judgeMerge(a, b).Allowed()) {
						t.Fatalf("(%s) and (%s) could be merged", a, b)
					}
				}
			}
		}
	})
}

// TestUnsupportedB5toB7 (B-5, B-6, B-7): what the method does not support is named.
func TestUnsupportedB5toB7(t *testing.T) {
	r := find(t, read(t, pets+`- {id: count, text: "SELECT count(*) FROM Pet WHERE Pet.kind = ?", weight: 1}
- {id: scan, text: "SELECT Pet.tag FROM Pet", weight: 1}
- {id: first, text: "SELECT Person.name, Pet.fur FROM Person.pets WHERE Person.name = ? ORDER BY Pet.fur LIMIT 3 PER Person.pid", weight: 1}
- {id: sorted, text: "SELECT Pet.tag FROM Pet WHERE Pet.kind = ? AND Pet.tag != ? ORDER BY Pet.fur", weight: 1}
- {id: clubs, text: "SELECT Club.town FROM Person.clubs WHERE Person.pid = ?", weight: 1}
- {id: add, text: "UPDATE Star SET size = size + ? WHERE Star.sid = ?", weight: 99}
`), Config{Indexes: 1})
	said := strings.Join(append(remarkTexts(r.Unsupported), remarkTexts(r.Remarks)...), "\n")
	for id, want := range map[string]string{
		"count":  "count: aggregates are not supported",
		"scan":   "scan: a query without a condition",
		"first":  "first: LIMIT ... PER is not supported",
		"sorted": "sorted: ORDER BY is not part of the method",
		"unlike": "sorted: Pet.tag != ? is checked by the reader",
		"clubs":  "clubs: it joins member, a relationship of many to many: two tables with a collection each",
		"add":    "add: it adds to a field",
		"heavy":  "the workload is write-heavy",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s: nothing says %q in\n%s", id, want, said)
		}
	}
	if len(r.Queries) != 2 || len(r.Unsupported) != 3 {
		t.Errorf("%d queries, %d not supported, want 2 and 3", len(r.Queries), len(r.Unsupported))
	}
	// OR has no place in the language: the file is refused, by name (B-6).
	if _, err := workload.Read("or.yaml", []byte(pets+`- {id: either, text: "SELECT Pet.tag FROM Pet WHERE Pet.kind = ? OR Pet.fur = ?", weight: 1}`)); err == nil || !strings.Contains(err.Error(), "OR") {
		t.Errorf("OR: %v", err)
	}
}

// TestExtractionB8toB12 (B-1, B-8, B-9, B-11, B-16): what a query filters by and selects, and what variants make of it.
func TestExtractionB8toB12(t *testing.T) {
	r := find(t, read(t, customer+q1), Config{Indexes: 1})
	q := r.Queries[0]
	if got := fmt.Sprint(model.Names(q.Filters), model.Names(q.Selected)); got != "[customer.fname] [customer.fname customer.lname]" {
		t.Errorf("q1: %s (B-8)", got)
	}
	var got []string
	for _, v := range q.Variants {
		got = append(got, v.Physical().String())
	}
	// B-11: the entity's own key makes rows unique. B-16: without a row key, it is the primary key, with the indexed field.
	if want := "[[fname][id][lname] [id][fname][lname]]"; fmt.Sprint([]any{got}...) != want {
		t.Errorf("q1's variants are %v, want %s", got, want)
	}
	join := find(t, twissandra(t), Config{}).Queries[1]
	if got := fmt.Sprint(model.Names(join.Filters), model.Names(join.Selected), join.Variants[0].Physical()); got != "[User.user] [Tweet.time Tweet.tweet_id] [user][tweet_id][time]" {
		t.Errorf("t2: %s (B-9: one table of both entities)", got)
	}
}

// TestRemarksB46B52 (B-4, B-46, B-52): what the seed's discussion says is said.
func TestRemarksB46B52(t *testing.T) {
	r := find(t, read(t, customer+q1+q2+q4+q5), Config{Indexes: 1})
	said := strings.Join(remarkTexts(r.Remarks), "\n")
	for _, want := range []string{
		"no result combines different states of several tables",
		"UPDATEs and DELETEs take several requests; concurrent ones of the same rows may leave tables that differ, unless all send their requests in the same order",
		"fewer tables lower that risk", "benchmark the best 5 or 10, not the first alone",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q in\n%s", want, said)
		}
	}
}

// TestOtherMethodsB54: beside a design that was given, how other methods differ is said: those that minimise cost of money leave secondary
// indexes out, those that normalise more write less. Without one there is nothing to compare with.
func TestOtherMethodsB54(t *testing.T) {
	w := read(t, customer+q1+q2)
	const want = "methods that minimise cost of money leave secondary indexes out, those that normalise more write less and read more"
	for _, given := range [][]Given{nil, {{Name: "by hand", Tables: handmade(t, w), Reads: map[string]int{"q1": 1, "q2": 2}}}} {
		r := find(t, w, Config{Indexes: 1, Given: given})
		if got := strings.Contains(strings.Join(remarkTexts(r.Remarks), "\n"), want); got != (given != nil) {
			t.Errorf("%d designs given; said: %t", len(given), got)
		}
	}
}

// TestGolden is what the command prints, with each step (B-2), and its JSON; the same from run to run.
func TestGoldenB2(t *testing.T) {
	for name, w := range map[string]*workload.Workload{"customer": read(t, customer+q1+q2+q3+q4+q5), "twissandra": twissandra(t)} {
		c := Config{Indexes: 1, Steps: true, Given: []Given{{Name: "by hand", Tables: handmade(t, w), Reads: map[string]int{"q1": 1, "q2": 2, "q3": 1}, Writes: map[string]int{"q4": 3, "q5": 2}}}}
		var text, again, object bytes.Buffer
		r := find(t, w, c)
		if err := errors.Join(r.Text(&text, 2), r.JSON(&object, 2), find(t, w, c).Text(&again, 2)); err != nil {
			t.Fatal(err)
		}
		if text.String() != again.String() {
			t.Errorf("%s: two runs differ: %s", name, cmp.Diff(text.String(), again.String()))
		}
		golden(t, name+".txt", text.Bytes())
		if name == "customer" {
			golden(t, name+".json", head(object.Bytes()))
		}
		var back reportJSON
		d := json.NewDecoder(&object)
		d.DisallowUnknownFields()
		if err := d.Decode(&back); err != nil || len(back.Groups) == 0 || back.Made == 0 {
			t.Errorf("%s: JSON: %v", name, err)
		}
	}
}

// head is the beginning of a long text, up to whole lines.
func head(text []byte) []byte {
	text = text[:min(len(text), 6000)]
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

// handmade is the entities' own tables.
func handmade(t *testing.T, w *workload.Workload) []*model.Table {
	t.Helper()
	var list []*model.Table
	for _, e := range w.Graph.Entities {
		x := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: e.KeyFields()}
		for _, a := range e.Attributes {
			if f := e.Field(a.Name); !x.InKey(f) {
				x.Values = append(x.Values, f)
			}
		}
		list = append(list, x)
	}
	return list
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = "testdata/" + name
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update writes it): %s", name, diff)
	}
}

// TestGiven: a design of plans is measured by its own requests.
func TestGiven(t *testing.T) {
	w := twissandra(t)
	d := &design.Design{}
	for _, x := range handmade(t, w) {
		d.Tables = append(d.Tables, &design.Table{Table: x})
	}
	r := find(t, w, Config{Given: []Given{FromDesign("tables of entities", d)}})
	g := r.Given()
	if g == nil || g.Metrics.Tables != 4 || g.Metrics.Storage != 1 || g.Metrics.Columns != 2+4+2+2 {
		t.Fatalf("%+v", g)
	}
	best := r.Best(1)
	if len(best) != 2 || !slices.Contains(best, g) {
		t.Errorf("the given design is not shown beside the best: %v", best)
	}
}

// TestTooLarge and wrong configurations are errors.
func TestTooLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: wide\nmodel:\n  entities:\n  - {name: E, count: 10, key: [id], attributes: [{name: id, type: uuid}")
	for i := range maxFields {
		fmt.Fprintf(&b, ", {name: f%d, type: text}", i)
	}
	b.WriteString("]}\nstatements:\n- {id: q, text: \"SELECT E.* FROM E WHERE E.f1 = ?\", weight: 1}\n")
	_, err := Find(context.Background(), read(t, b.String()), Config{})
	var large *TooLargeError
	if !errors.As(err, &large) || large.N != maxFields+1 {
		t.Errorf("%v", err)
	}
	for _, c := range []Config{{Indexes: -1}, {RowGrowth: -1}} {
		if _, err := Find(context.Background(), read(t, customer+q1), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, read(t, customer+q1), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTuples: products come by the sum of their indexes, all of them or as many as asked.
func TestTuples(t *testing.T) {
	var got []string
	if !eachTuple([]int{2, 3}, 9, func(at []int) bool { got = append(got, fmt.Sprint(at)); return true }) {
		t.Error("not whole")
	}
	if want := "[0 0] [0 1] [1 0] [0 2] [1 1] [1 2]"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	n := 0
	if eachTuple([]int{1000, 1000, 1000}, 5, func([]int) bool { n++; return true }) || n != 5 {
		t.Errorf("%d of 5", n)
	}
}
