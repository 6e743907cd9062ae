package workload_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// randomGraph draws a graph in which names of roles, entities and attributes collide as they may, and relationships lead from
// entities to themselves.
func randomGraph(t *rapid.T) *model.Graph {
	g := &model.Graph{}
	names := []string{"A", "b", "Order", "from", "x1"}
	for i := range rapid.IntRange(1, 4).Draw(t, "entities") {
		e := &model.Entity{Name: names[i], Count: float64(rapid.IntRange(1, 1000).Draw(t, "count"))}
		for _, name := range []string{"id", "set", "a", "limit"} {
			e.Attributes = append(e.Attributes, &model.Attribute{Name: name, Type: "int"})
		}
		e.Key = e.Attributes[:rapid.IntRange(1, 2).Draw(t, "key")]
		g.Entities = append(g.Entities, e)
	}
	entity := rapid.SampledFrom(g.Entities)
	taken := map[string]bool{}
	for i := range rapid.IntRange(0, 6).Draw(t, "relationships") {
		r := &model.Relationship{
			Name: fmt.Sprint("r", i), From: entity.Draw(t, "from"), To: entity.Draw(t, "to"),
			Kind: rapid.SampledFrom([]model.Kind{model.OneToOne, model.OneToMany, model.ManyToOne, model.ManyToMany}).Draw(t, "kind"),
		}
		// A role may be called like another entity.
		role := rapid.SampledFrom(append([]string{"as", "per", fmt.Sprint("f", i), fmt.Sprint("g", i)}, names...))
		r.Forward, r.Backward = role.Draw(t, "forward"), role.Draw(t, "backward")
		forward, backward := r.From.Name+"."+r.Forward, r.To.Name+"."+r.Backward
		if taken[forward] || taken[backward] || forward == backward {
			continue
		}
		taken[forward], taken[backward] = true, true
		g.Relationships = append(g.Relationships, r)
	}
	return g
}

// randomTree grows a tree along any ways, over the same ones more than once too.
func randomTree(t *rapid.T, g *model.Graph) model.Tree {
	tree := model.Tree{Entities: []*model.Entity{rapid.SampledFrom(g.Entities).Draw(t, "start")}}
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		from := rapid.SampledFrom(tree.Entities).Draw(t, "step from")
		ways := g.Ways(from)
		if len(ways) == 0 {
			continue
		}
		way := rapid.SampledFrom(ways).Draw(t, "way")
		nth := rapid.IntRange(1, 3).Draw(t, "occurrence") // in any order: parts of a query's tree keep its numbers
		to := g.Occurrence(way.To(), nth)
		for ; tree.Has(to); nth++ {
			to = g.Occurrence(to, nth)
		}
		next, err := model.NewTree(tree.Entities[0], append(slices.Clone(tree.Edges), way.Between(g, from, to))...)
		if err != nil {
			t.Fatal(err)
		}
		tree = next
	}
	return tree
}

func randomFields(t *rapid.T, tree model.Tree, least int, what string) []model.Field {
	var fields []model.Field
	for range rapid.IntRange(least, 3).Draw(t, what) {
		e := rapid.SampledFrom(tree.Entities).Draw(t, what+" of")
		fields = model.AppendNew(fields, e.Field(rapid.SampledFrom(e.Attributes).Draw(t, what).Name))
	}
	return fields
}

func randomWhere(t *rapid.T, tree model.Tree) []workload.Predicate {
	var where []workload.Predicate
	for _, f := range randomFields(t, tree, 0, "where") {
		p := workload.Predicate{Field: f, Op: rapid.SampledFrom([]workload.Op{"=", ">", ">=", "<", "<=", "!=", "IN", "LIKE"}).Draw(t, "op"), Value: "?"}
		switch p.Op {
		case workload.In:
			p.Items = float64(rapid.IntRange(1, 30).Draw(t, "items"))
			if rapid.Bool().Draw(t, "list") {
				p.Value, p.Items = "(?, 'a''b', -1.5)", 3
			}
		case workload.Like:
			p.Value = rapid.SampledFrom([]string{"?", "?x", "'ab%'"}).Draw(t, "pattern")
		default:
			p.Value = rapid.SampledFrom([]string{"?", "?x", "''", "'--'", "0", "-2", "1.5"}).Draw(t, "value")
		}
		where = append(where, p)
	}
	return where
}

func randomQuery(t *rapid.T, g *model.Graph) *workload.Query {
	q := &workload.Query{Tree: randomTree(t, g)}
	q.Where = randomWhere(t, q.Tree)
	q.Select = randomFields(t, q.Tree, 1, "select")
	orderable := q.Select
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		orderable = append(slices.Clone(orderable), randomFields(t, q.Tree, 0, "more")...)
	case 1:
		q.Distinct = true
	case 2:
		q.GroupBy = model.AppendNew(slices.Clone(q.Select), randomFields(t, q.Tree, 0, "group")...)
		for _, f := range randomFields(t, q.Tree, 1, "aggregated") {
			q.Aggregates = append(q.Aggregates, workload.Aggregate{Func: rapid.SampledFrom([]string{"count", "sum", "min", "max", "avg"}).Draw(t, "function"), Field: f})
		}
		q.Aggregates = append(q.Aggregates, workload.Aggregate{Func: "count"})
	}
	for _, f := range model.AppendNew(nil, orderable...) {
		if rapid.Bool().Draw(t, "ordered") {
			q.OrderBy = append(q.OrderBy, workload.Order{Field: f, Desc: rapid.Bool().Draw(t, "desc")})
		}
	}
	if rapid.Bool().Draw(t, "per") {
		q.PerLimit, q.Per = rapid.IntRange(1, 9).Draw(t, "per limit"), q.Select[:1]
	}
	q.Limit = rapid.IntRange(0, 9).Draw(t, "limit")
	if rapid.Bool().Draw(t, "given") {
		q.Known = randomFields(t, q.Tree, 1, "known")
	}
	return q
}

func randomWrite(t *rapid.T, g *model.Graph) *workload.Write {
	w := &workload.Write{Tree: randomTree(t, g), Kind: rapid.SampledFrom([]workload.WriteKind{workload.Insert, workload.Update, workload.Delete, workload.Connect, workload.Disconnect}).Draw(t, "kind")}
	w.Entity = w.Tree.Entities[0]
	ways := g.Ways(w.Entity)
	if len(ways) == 0 && (w.Kind == workload.Connect || w.Kind == workload.Disconnect) {
		w.Kind = workload.Insert
	}
	connect := func(least, most int) {
		for _, way := range ways[:rapid.IntRange(min(least, len(ways)), min(most, len(ways))).Draw(t, "connections")] {
			to := way.To()
			for nth := 2; to == w.Entity || slices.ContainsFunc(w.Connections, func(c workload.Connection) bool { return c.Entity == to && to.Of != nil }); nth++ {
				to = g.Occurrence(to, nth)
			}
			w.Connections = append(w.Connections, workload.Connection{Edge: way.Between(g, w.Entity, to), Entity: to})
		}
	}
	switch w.Kind {
	case workload.Insert:
		w.Tree = model.Tree{Entities: []*model.Entity{w.Entity}}
		w.Set = w.Entity.KeyFields()
		connect(0, 3)
	case workload.Update:
		w.Where = randomWhere(t, w.Tree)
		w.Entity = rapid.SampledFrom(w.Tree.Entities).Draw(t, "updated")
		w.Set = []model.Field{w.Entity.Field("a")}
		if rapid.Bool().Draw(t, "increment") {
			w.Increments = []model.Field{w.Entity.Field("limit")}
		}
	case workload.Delete:
		w.Where = randomWhere(t, w.Tree)
	default:
		w.Tree = model.Tree{Entities: []*model.Entity{w.Entity}}
		connect(1, 1)
	}
	return w
}

// TestPrintedParsesBack draws statements over graphs: what is printed is read as the same statement (N-5, N-36).
func TestPrintedParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		s := &workload.Statement{}
		if rapid.Bool().Draw(t, "query") {
			s.Query = randomQuery(t, g)
		} else {
			s.Write = randomWrite(t, g)
		}
		back, err := workload.Parse(g, s.String())
		if err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
		if back.String() != s.String() {
			t.Fatalf("%s\nis read as\n%s", s, back)
		}
		if s.Query != nil {
			if back.Query == nil || back.Query.Key() != s.Query.Key() || !slices.Equal(back.Query.Where, s.Query.Where) || back.Query.Tree.Entities[0] != s.Query.Tree.Entities[0] {
				t.Fatalf("%s is read as another: %s, not %s", s, back.Query.Key(), s.Query.Key())
			}
			return
		}
		a, b := back.Write, s.Write
		if a == nil || a.Kind != b.Kind || a.Entity != b.Entity || a.Tree.Key() != b.Tree.Key() || !slices.Equal(a.Set, b.Set) || !slices.Equal(a.Increments, b.Increments) ||
			!slices.Equal(a.Where, b.Where) || !slices.Equal(a.Connections, b.Connections) {
			t.Fatalf("%s is read as another", s)
		}
	})
}
