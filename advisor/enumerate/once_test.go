package enumerate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// chain is a graph of so many entities, each with one of the next, and a query over all of them.
func chain(t *testing.T, n int, text string) (*model.Graph, *workload.Query) {
	t.Helper()
	g := &model.Graph{}
	for i := range n {
		id := &model.Attribute{Name: "id", Type: "uuid"}
		g.Entities = append(g.Entities, &model.Entity{Name: fmt.Sprintf("E%d", i), Count: 1000 / float64(i+1), Key: []*model.Attribute{id},
			Attributes: []*model.Attribute{id, {Name: "a", Type: "text", Distinct: 10}, {Name: "b", Type: "text", Distinct: 7}, {Name: "c", Type: "text", Distinct: 5}}})
		if i > 0 {
			g.Relationships = append(g.Relationships, &model.Relationship{Name: fmt.Sprintf("r%d", i), From: g.Entities[i-1], To: g.Entities[i], Kind: model.ManyToOne, Forward: fmt.Sprintf("f%d", i), Backward: fmt.Sprintf("b%d", i)})
		}
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		text = "SELECT E0.a FROM E0"
		for i := 1; i < n; i++ {
			text += fmt.Sprintf(".f%d", i)
		}
		text += fmt.Sprintf(" WHERE E%d.b = ?", n-1)
	}
	s, err := workload.Parse(g, text)
	if err != nil {
		t.Fatal(err)
	}
	return g, s.Query
}

// TestOnce: W-17, one decomposition makes 2k+1 queries of k edges: 1, 3, 5, 7, 9, and the pool has tables of no other parts.
func TestOnce(t *testing.T) {
	for k, want := range []int{1, 3, 5, 7, 9} {
		g, q := chain(t, k+1, "")
		parts := oneEdgeCuts(q.Tree)
		trees := map[string]bool{}
		for _, p := range parts {
			trees[p.Key()] = true
		}
		if len(parts) != want || len(trees) != want {
			t.Errorf("W-17: %d edges make %d queries, %d of them different; want %d", k, len(parts), len(trees), want)
		}
		w := &workload.Workload{Graph: g, Statements: []*workload.Statement{{ID: "q", Weight: 1, Query: q}}}
		pool, all := Workload(w, Options{Once: true}), Workload(w, Options{})
		for _, table := range pool.Tables {
			if !trees[table.Tree.Key()] {
				t.Errorf("W-17: %s is over none of the %d parts", table, want)
			}
		}
		if len(pool.Tables) > len(all.Tables) || k > 2 && len(pool.Tables) == len(all.Tables) {
			t.Errorf("%d edges: %d tables of one cut, %d of any", k, len(pool.Tables), len(all.Tables))
		}
	}
}

// TestSparing: where tables of one cut (W-17) fill the pool there are no others in it, and it says so; where they do not, there are those of all cuts, as far as there is room.
func TestSparing(t *testing.T) {
	g, q := chain(t, 5, "")
	w := &workload.Workload{Graph: g, Statements: []*workload.Statement{{ID: "q", Weight: 1, Query: q}}}
	ids := func(o Options) (list []string) {
		for _, table := range Workload(w, o).Tables {
			list = append(list, table.ID())
		}
		return list
	}
	once := len(ids(Options{Once: true}))
	for most, narrow := range map[int]bool{once / 2: true, once: true, once + 1: false, 2 * once: false} {
		got := ids(Options{Sparing: true, Most: most})
		if want := ids(Options{Once: narrow, Most: most}); !slices.Equal(got, want) {
			t.Errorf("of %d that one cut gives, room for %d: %d tables, want those of one cut: %v, %d", once, most, len(got), narrow, len(want))
		}
		if said := strings.Contains(strings.Join(Workload(w, Options{Sparing: true, Most: most}).Truncated, "\n"), "one edge at most"); said != narrow {
			t.Errorf("room for %d: said to be cut once: %v", most, said)
		}
	}
}

// TestTails: W-18, what is only selected may stand in any order behind the columns that are grouped and sorted by: there is
// one table of each such content, not one for each order.
func TestTails(t *testing.T) {
	g, q := chain(t, 2, "SELECT E0.a, E0.b, E1.a, E1.c FROM E0.f1 WHERE E1.b = ? ORDER BY E0.c")
	w := &workload.Workload{Graph: g, Statements: []*workload.Statement{{ID: "q", Weight: 1, Query: q}}}
	ordered := append([]model.Field{}, q.Ordered()...)
	for _, p := range q.Where {
		ordered = append(ordered, p.Field)
	}
	met := map[string]string{}
	for _, table := range Workload(w, Options{Once: true}).Tables {
		head, tail := []string{}, []string{}
		for _, f := range table.Clustering {
			if len(tail) == 0 && (slices.Contains(ordered, f) || f.IsKey()) {
				head = append(head, f.String())
			} else {
				tail = append(tail, f.String())
			}
		}
		values := []string{}
		for _, f := range table.Values {
			values = append(values, f.String())
		}
		slices.Sort(tail)
		slices.Sort(values)
		bucket := ""
		if table.Bucket != nil {
			bucket = table.Bucket.String()
		}
		key := fmt.Sprint(table.Tree.Key(), table.Partition, table.Desc, table.Static, table.Indexes, bucket, head, tail, values, len(table.Nests))
		if other, ok := met[key]; ok {
			t.Errorf("W-18: %s and %s differ in the order of what is only selected", table, other)
		}
		met[key] = table.String()
		if len(tail) > 0 {
			t.Errorf("W-18: %s sorts by %s, which nothing asks for", table, strings.Join(tail, ", "))
		}
	}
	if len(met) < 5 {
		t.Errorf("only %d tables", len(met))
	}
}
