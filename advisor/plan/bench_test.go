package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// asks returns the different queries of a workload, and the support queries that its writes need for some tables.
func asks(w *workload.Workload, tables []*model.Table) []*workload.Query {
	var list []*workload.Query
	seen := map[string]bool{}
	add := func(q *workload.Query) {
		if key := q.Key(); !seen[key] {
			seen[key] = true
			list = append(list, q)
		}
	}
	for _, s := range w.Statements {
		if s.Query != nil {
			add(s.Query)
			continue
		}
		for _, t := range tables {
			if plan.Modifies(s.Write, t) {
				for _, support := range plan.SupportQueries(s.Write, t) {
					add(support.Query)
				}
			}
		}
	}
	return list
}

// BenchmarkSpaces builds the plan spaces of all queries and support queries of RUBiS over all candidates.
func BenchmarkSpaces(b *testing.B) {
	for _, name := range []string{"hotel.yaml", "eac.yaml", "rubis.yaml"} {
		b.Run(name, func(b *testing.B) {
			w, err := workload.Load(designs + name)
			if err != nil {
				b.Fatal(err)
			}
			tables := enumerate.Workload(w, enumerate.Options{}).Tables
			queries := asks(w, tables)
			arcs, states := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				arcs, states = 0, 0
				for _, q := range queries {
					s, err := plan.NewSpace(q, tables, nil)
					if err != nil {
						b.Fatal(err)
					}
					arcs, states = arcs+len(s.Arcs), states+s.States
				}
			}
			b.ReportMetric(float64(len(tables)), "tables")
			b.ReportMetric(float64(len(queries)), "queries")
			b.ReportMetric(float64(arcs), "arcs")
			b.ReportMetric(float64(states), "states")
		})
	}
}

// star makes a query over four entities with a condition on each of 20 fields, and random tables for it.
func star(n int) (*workload.Query, []*model.Table) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 2)), graph: &model.Graph{}}
	tree := model.Tree{}
	for i := range 4 {
		id := &model.Attribute{Name: "id", Type: "uuid"}
		e := &model.Entity{Name: string(rune('A' + i)), Count: 10000, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id}}
		for j := range 6 {
			e.Attributes = append(e.Attributes, &model.Attribute{Name: fmt.Sprintf("x%d", j), Type: "int", Distinct: 50})
		}
		m.graph.Entities = append(m.graph.Entities, e)
		tree.Entities = append(tree.Entities, e)
		if i > 0 {
			r := &model.Relationship{Name: "r" + e.Name, From: tree.Entities[0], To: e, Kind: model.ManyToOne, Forward: "f" + e.Name, Backward: "b" + e.Name}
			m.graph.Relationships = append(m.graph.Relationships, r)
			tree.Edges = append(tree.Edges, r)
		}
	}
	q := &workload.Query{Tree: tree}
	for _, e := range tree.Entities {
		for _, a := range e.Attributes[1:6] {
			q.Where = append(q.Where, workload.Predicate{Field: model.Field{Entity: e, Attribute: a}, Op: workload.Equal, Value: "?"})
		}
		q.Select = append(q.Select, model.Field{Entity: e, Attribute: e.Attributes[6]})
	}
	a := &asked{Query: q}
	var tables []*model.Table
	for range n {
		tables = append(tables, m.table(a))
	}
	return q, tables
}

func BenchmarkStar(b *testing.B) {
	for _, n := range []int{20, 100, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			q, tables := star(n)
			b.ReportAllocs()
			for b.Loop() {
				s, err := plan.NewSpace(q, tables, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(s.Arcs)), "arcs")
				b.ReportMetric(float64(s.States), "states")
				if s.Truncated {
					b.ReportMetric(1, "truncated")
				}
			}
		})
	}
}
