package safety

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// TestFactsHold is the oracle of what is taken for a fact of a table. It makes worlds: members of each entity, and partners for
// them that keep the relationships' kinds. Rows of the table's join are drawn from them, and each fact that speaks of columns of
// the join must be a function on those rows, whatever the world.
func TestFactsHold(t *testing.T) {
	checked := 0
	for seed := uint64(1); seed <= uint64(schemas(t))/4; seed++ {
		w := generate.Varied(seed)
		r := rand.New(rand.NewPCG(seed, 8))
		for _, table := range tablesOf(w, r) {
			rows := joined(w.Graph, table.Tree, r)
			for _, f := range factsOf(w.Graph, table) {
				if f.Probable {
					t.Fatalf("seed %d: %s of %s is only probable", seed, f, table)
				}
				seen := map[string]string{}
				for _, row := range rows {
					to, ok := row[f.To]
					if !ok {
						break // a partner that the table does not hold
					}
					key := ""
					for _, v := range f.From {
						key += row[v] + "\x00"
					}
					if was, known := seen[key]; known && was != to {
						t.Fatalf("seed %d: %s does not hold in the rows of %s: %s has %s and %s", seed, f, table, key, was, to)
					}
					seen[key] = to
					checked++
				}
			}
		}
	}
	t.Logf("%d times a fact was looked at", checked)
	if checked < 1000 {
		t.Error("the worlds say little")
	}
}

// TestEveryWriteIsSeen: what the planner says that a write changes of a table, rows or elements of collections, has a template
// in the table that is checked, and nothing else has.
func TestEveryWriteIsSeen(t *testing.T) {
	elements := 0
	for seed := uint64(1); seed <= uint64(schemas(t))/4; seed++ {
		w := generate.Varied(seed)
		r := rand.New(rand.NewPCG(seed, 9))
		list := tablesOf(w, r)
		if seed%5 == 0 { // those with collections, that the optimiser would choose from
			for _, x := range enumerate.Workload(w, enumerate.Options{Collections: true, Once: true, Most: 200}).Tables {
				if len(x.Nests) > 0 {
					list = append(list, x)
				}
			}
		}
		for _, table := range list {
			got := Encode(w, []*model.Table{table}, Principal{Entity: w.Graph.Entities[0]})[0]
			for _, f := range plan.Facets(table) {
				of := ""
				if f.Nest != nil {
					of = table.NestColumn(f.Nest.Key)
				}
				for _, s := range w.Statements {
					if s.Write == nil {
						continue
					}
					has := slices.ContainsFunc(got.Writes, func(x TableWrite) bool { return x.ID == s.ID && x.Of == of })
					if want := plan.Modifies(s.Write, f.Table); want && !has && len(plan.Targets(s.Write, f.Table)) > 0 || has && !want {
						t.Fatalf("seed %d: %s of %s (%q): seen %v, changes it %v", seed, s, table, of, has, want)
					}
					if has && of != "" {
						elements++
					}
				}
			}
			if err := got.Grammar(Partition).Validate(); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, table, err)
			}
		}
	}
	if elements == 0 {
		t.Error("no write changes elements of a collection")
	}
}

// tablesOf makes tables over the trees that the workload's queries speak of: some fields in the key, the others beside it.
func tablesOf(w *workload.Workload, r *rand.Rand) []*model.Table {
	var list []*model.Table
	for _, s := range w.Statements {
		if s.Query == nil {
			continue
		}
		t := &model.Table{Name: "t", Tree: s.Query.Tree}
		for _, e := range t.Tree.Entities {
			for _, f := range e.KeyFields() {
				if len(t.Partition) == 0 || r.IntN(3) == 0 {
					t.Partition = append(t.Partition, f)
				} else {
					t.Clustering = append(t.Clustering, f)
				}
			}
			for _, f := range fieldsOf(e) {
				if !f.IsKey() && r.IntN(2) == 0 {
					t.Values = append(t.Values, f)
				}
			}
		}
		if t.Validate() == nil {
			list = append(list, t)
		}
	}
	return list
}

// joined is rows of the join over a tree in a world of a few members of each entity.
func joined(g *model.Graph, tree model.Tree, r *rand.Rand) []map[string]string {
	const members = 4
	partners := map[*model.Relationship][][2]int{}
	for _, x := range g.Relationships {
		from, to := r.Perm(members), r.Perm(members)
		for n := range 3 * members {
			a, b := r.IntN(members), r.IntN(members)
			if x.ToOne(x.From) && x.ToOne(x.To) {
				if n >= members {
					break
				}
				a, b = from[n], to[n]
			} else if x.ToOne(x.From) {
				if n >= members {
					break
				}
				a = from[n]
			} else if x.ToOne(x.To) {
				if n >= members {
					break
				}
				b = to[n]
			}
			partners[x] = append(partners[x], [2]int{a, b})
		}
	}
	rows := []map[*model.Entity]int{}
	for n := range members {
		rows = append(rows, map[*model.Entity]int{tree.Entities[0]: n})
	}
	for range tree.Edges { // any order of edges: each pass joins those that touch what is there
		for _, x := range tree.Edges {
			var more []map[*model.Entity]int
			for _, row := range rows {
				a, hasA := row[x.From]
				b, hasB := row[x.To]
				if hasA == hasB {
					more = append(more, row)
					continue
				}
				for _, p := range partners[x.Base()] {
					if hasA && p[0] != a || hasB && p[1] != b {
						continue
					}
					next := map[*model.Entity]int{x.From: p[0], x.To: p[1]}
					for e, n := range row {
						next[e] = n
					}
					more = append(more, next)
				}
			}
			if rows = more; len(rows) > 500 {
				rows = rows[:500]
			}
		}
	}
	var out []map[string]string
	for _, row := range rows {
		if len(row) < len(tree.Entities) {
			continue
		}
		values := map[string]string{}
		for e, n := range row {
			for _, f := range fieldsOf(e) {
				values[f.String()] = fmt.Sprint(e.Base().Name, n, " has ", f.Attribute.Name)
				if !f.IsKey() {
					values[f.String()] = fmt.Sprint(n % 2)
				}
			}
		}
		out = append(out, values)
	}
	return out
}

func fieldsOf(e *model.Entity) []model.Field {
	var list []model.Field
	for _, a := range e.Attributes {
		list = append(list, model.Field{Entity: e, Attribute: a})
	}
	return list
}
