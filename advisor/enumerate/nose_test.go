package enumerate_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	flag.Parse()
	os.Exit(m.Run())
}

// reference is an independent enumeration of NoSE's candidates, after what its code does (all permutations of everything;
// support queries twice; unions of two), without any of the rules of package enumerate.
type reference struct {
	tables []*model.Table
	known  map[string]bool
	asked  map[string]bool
}

func newReference(w *workload.Workload, arithmetic plan.Arithmetic) *reference {
	r := &reference{known: map[string]bool{}, asked: map[string]bool{}}
	for _, s := range w.Statements {
		if s.Query != nil {
			r.query(s.Query)
		}
	}
	for range 2 {
		tables := r.tables
		for _, s := range w.Statements {
			if s.Write == nil {
				continue
			}
			for _, t := range tables {
				if arithmetic.Modifies(s.Write, t) {
					for _, support := range arithmetic.SupportQueries(s.Write, t) {
						r.query(support.Query)
					}
				}
			}
		}
	}
	for i, a := range r.tables {
		for _, b := range r.tables[:i] {
			if len(a.Clustering)+len(b.Clustering) == 0 && a.Tree.Key() == b.Tree.Key() && sameFields(a.Partition, b.Partition) {
				r.add(&model.Table{Tree: a.Tree, Partition: a.Partition, Values: model.AppendNew(slices.Clone(a.Values), b.Values...)})
			}
		}
	}
	return r
}

func sameFields(a, b []model.Field) bool {
	for _, f := range a {
		if !slices.Contains(b, f) {
			return false
		}
	}
	return len(a) == len(b)
}

func (r *reference) add(t *model.Table) {
	if id := t.ID(); !r.known[id] && t.Validate() == nil {
		r.known[id] = true
		r.tables = append(r.tables, t)
	}
}

func (r *reference) query(q *workload.Query) {
	if r.asked[q.Key()] {
		return
	}
	r.asked[q.Key()] = true
	r.view(q)
	n := len(q.Tree.Entities)
	for mask := 1; mask < 1<<n; mask++ {
		var tree model.Tree
		for i, e := range q.Tree.Entities {
			if mask&(1<<i) != 0 {
				tree.Entities = append(tree.Entities, e)
			}
		}
		for _, edge := range q.Tree.Edges {
			if tree.Has(edge.From) && tree.Has(edge.To) {
				tree.Edges = append(tree.Edges, edge)
			}
		}
		if len(tree.Edges) == len(tree.Entities)-1 {
			r.subgraph(q, tree)
		}
	}
}

// view adds the materialised view, from each entity.
func (r *reference) view(q *workload.Query) {
	for _, e := range q.Tree.Entities {
		if t := enumerate.Materialize(q, e); t != nil {
			r.add(t)
		}
	}
}

func (r *reference) subgraph(q *workload.Query, tree model.Tree) {
	equal, other := map[*model.Entity][]model.Field{}, map[*model.Entity][]model.Field{}
	var ordered []model.Field
	for _, p := range q.Where {
		switch {
		case !tree.Has(p.Field.Entity):
		case p.Op == workload.Equal:
			equal[p.Field.Entity] = model.AppendNew(equal[p.Field.Entity], p.Field)
		default:
			ordered = model.AppendNew(ordered, p.Field)
			other[p.Field.Entity] = model.AppendNew(other[p.Field.Entity], p.Field)
		}
	}
	for _, f := range q.Ordered() {
		if tree.Has(f.Entity) {
			ordered = model.AppendNew(ordered, f)
			other[f.Entity] = model.AppendNew(other[f.Entity], f)
		}
	}
	orders := [][]model.Field{nil}
	for i := range ordered {
		orders = append(orders, permutations(ordered[:i+1])...)
	}
	var groups [][]model.Field
	for _, e := range tree.Entities {
		groups = append(groups, equal[e], other[e])
	}
	var selected []model.Field
	for _, f := range q.Select {
		if tree.Has(f.Entity) {
			selected = append(selected, f)
		}
	}
	groups = append(groups, selected)
	for _, key := range keys(tree, equal) {
		for cut := 1; cut <= len(key); cut++ {
			if key[cut-1].Entity != key[0].Entity {
				break
			}
			for _, order := range orders {
				t := &model.Table{Tree: tree, Partition: key[:cut]}
				t.Clustering = model.AppendNew(nil, key[cut:]...)
				for _, f := range order {
					if !t.InKey(f) {
						t.Clustering = append(t.Clustering, f)
					}
				}
				entities := slices.Clone(tree.Entities)
				sort.Slice(entities, func(i, j int) bool { return entities[i].Name < entities[j].Name })
				for _, e := range entities {
					for _, k := range e.KeyFields() {
						if !t.InKey(k) {
							t.Clustering = append(t.Clustering, k)
						}
					}
				}
				for mask := range 1 << len(groups) {
					v := *t
					for i, g := range groups {
						for _, f := range g {
							if mask&(1<<i) != 0 && !v.Has(f) {
								v.Values = append(v.Values, f)
							}
						}
					}
					r.add(&v)
				}
			}
		}
	}
}

// keys returns all concatenations of permutations of subsets of what the entities can be bound by, in all orders.
func keys(tree model.Tree, equal map[*model.Entity][]model.Field) [][]model.Field {
	choices := map[*model.Entity][][]model.Field{}
	for _, e := range tree.Entities {
		fields := model.AppendNew(slices.Clone(equal[e]), e.KeyFields()...)
		for mask := 1; mask < 1<<len(fields); mask++ {
			var chosen []model.Field
			for i, f := range fields {
				if mask&(1<<i) != 0 {
					chosen = append(chosen, f)
				}
			}
			choices[e] = append(choices[e], permutations(chosen)...)
		}
	}
	var list [][]model.Field
	var grow func(so []model.Field, used map[*model.Entity]bool)
	grow = func(so []model.Field, used map[*model.Entity]bool) {
		if len(so) > 0 {
			list = append(list, so)
		}
		for _, e := range tree.Entities {
			if used[e] {
				continue
			}
			next := map[*model.Entity]bool{e: true}
			for x := range used {
				next[x] = true
			}
			for _, c := range choices[e] {
				grow(append(so[:len(so):len(so)], c...), next)
			}
		}
	}
	grow(nil, map[*model.Entity]bool{})
	return list
}

func permutations(fields []model.Field) [][]model.Field {
	if len(fields) == 0 {
		return [][]model.Field{nil}
	}
	var list [][]model.Field
	for i, f := range fields {
		rest := append(slices.Clone(fields[:i]), fields[i+1:]...)
		for _, p := range permutations(rest) {
			list = append(list, append([]model.Field{f}, p...))
		}
	}
	return list
}

// small is a shape of workloads for which NoSE's candidates can be enumerated.
func small(seed int) generate.Shape {
	s := generate.Shape{Entities: 3, Queries: 2, Updates: 1, Inserts: 1, Attributes: 3, Count: 1000, Degree: 2, Rewire: 0, Walk: 2, Conditions: 2, Range: 0.5, Order: 0.5}
	if seed%3 == 0 {
		s.Queries = 3
	}
	return s
}

// rounds is how many random workloads are tried: as many as HELENUS_TEST_ENUMERATE says, or few. Then the smaller ones are
// tried, and under the two wider space limits: a tight one over NoSE's candidates takes the solver up to a minute.
func rounds(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("HELENUS_TEST_ENUMERATE")); err == nil {
		return n
	}
	return few
}

func best(w *workload.Workload, m cost.Model, tables []*model.Table, limit float64) (*design.Design, error) {
	return design.Choose(context.Background(), w, design.Options{Cost: m, Solver: solve.New(solve.Config{}), Candidates: tables, NoEnumeration: true, SpaceLimit: limit})
}

func describe(d *design.Design, p *enumerate.Pool) string {
	have := map[string]bool{}
	for _, t := range p.Tables {
		have[t.ID()] = true
	}
	var b strings.Builder
	for _, t := range d.Tables {
		fmt.Fprintf(&b, "%s over %s (in the pool: %t)\n", t.Table, t.Table.Tree.Path(), have[t.Table.ID()])
	}
	for _, s := range d.Statements {
		if s.Plan != nil {
			fmt.Fprintf(&b, "%s %g\n%s\n", s.Statement.ID, s.Cost.Work, s.Plan)
		}
		for _, w := range s.Writes {
			fmt.Fprintf(&b, "%s writes %s after %v\n", s.Statement.ID, w.Table, w.Support)
		}
	}
	return b.String()
}

func statements(w *workload.Workload) string {
	var b strings.Builder
	for _, s := range w.Statements {
		fmt.Fprintf(&b, "%g %s\n", s.Weight, s)
	}
	return b.String()
}
