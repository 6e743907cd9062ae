package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/model"
)

// data is a population of a graph: for each relationship of the graph its related pairs, for each attribute its values.
type data struct {
	graph *model.Graph
	pairs map[*model.Relationship][][2]int
	value map[model.Field][]int
}

func randomGraph(t *rapid.T) *model.Graph {
	g := &model.Graph{}
	for i := range rapid.IntRange(2, 4).Draw(t, "entities") {
		e := &model.Entity{Name: fmt.Sprint("E", i), Count: float64(rapid.IntRange(20, 300).Draw(t, "count"))}
		e.Attributes = []*model.Attribute{{Name: "id", Type: "int"}, {Name: "kind", Type: "int", Distinct: float64(rapid.IntRange(1, 20).Draw(t, "distinct"))}}
		e.Key = e.Attributes[:1]
		g.Entities = append(g.Entities, e)
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "relationships") {
		entity := rapid.SampledFrom(g.Entities)
		r := &model.Relationship{
			Name: fmt.Sprint("r", i), Forward: fmt.Sprint("f", i), Backward: fmt.Sprint("b", i), From: entity.Draw(t, "from"), To: entity.Draw(t, "to"),
			Kind: rapid.SampledFrom([]model.Kind{model.OneToMany, model.ManyToOne, model.ManyToMany}).Draw(t, "kind"),
		}
		if r.Kind == model.ManyToMany {
			r.Degree = float64(rapid.IntRange(1, 5).Draw(t, "degree"))
		}
		g.Relationships = append(g.Relationships, r)
	}
	return g
}

// populate relates entities at random, uniformly.
func populate(g *model.Graph, random *rand.Rand) *data {
	d := &data{graph: g, pairs: map[*model.Relationship][][2]int{}, value: map[model.Field][]int{}}
	for _, r := range g.Relationships {
		from, to := int(r.From.Count), int(r.To.Count)
		switch r.Kind {
		case model.ManyToOne:
			for i := range from {
				d.pairs[r] = append(d.pairs[r], [2]int{i, random.IntN(to)})
			}
		case model.OneToMany:
			for i := range to {
				d.pairs[r] = append(d.pairs[r], [2]int{random.IntN(from), i})
			}
		default:
			for range int(r.Pairs()) {
				d.pairs[r] = append(d.pairs[r], [2]int{random.IntN(from), random.IntN(to)})
			}
		}
	}
	for _, e := range g.Entities {
		for _, a := range e.Attributes {
			f := model.Field{Entity: e, Attribute: a}
			for i := range int(e.Count) {
				if a.Name == "id" {
					d.value[f] = append(d.value[f], i)
				} else {
					d.value[f] = append(d.value[f], random.IntN(int(a.Distinct)))
				}
			}
		}
	}
	return d
}

// join returns the rows of the join over the tree: the numbers of the entities, in the tree's order; nil if too many.
func (d *data) join(tree model.Tree, most int) [][]int {
	var rows [][]int
	for i := range int(tree.Entities[0].Count) {
		rows = append(rows, []int{i})
	}
	for n, r := range tree.Edges {
		to := tree.Entities[n+1]
		near := slices.Index(tree.Entities, r.Other(to))
		partners := map[int][]int{}
		for _, pair := range d.pairs[r.Base()] {
			if to == r.To {
				partners[pair[0]] = append(partners[pair[0]], pair[1])
			} else {
				partners[pair[1]] = append(partners[pair[1]], pair[0])
			}
		}
		var next [][]int
		for _, row := range rows {
			for _, p := range partners[row[near]] {
				next = append(next, append(slices.Clone(row), p))
			}
			if len(next) > most {
				return nil
			}
		}
		rows = next
	}
	return rows
}

// randomTree grows a tree; again: over the same relationship more than once too.
func randomTree(t *rapid.T, g *model.Graph, again bool) model.Tree {
	tree := model.Tree{Entities: []*model.Entity{rapid.SampledFrom(g.Entities).Draw(t, "start")}}
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		from := rapid.SampledFrom(tree.Entities).Draw(t, "step from")
		if ways := g.Ways(from); len(ways) > 0 {
			way := rapid.SampledFrom(ways).Draw(t, "way")
			if !again && slices.ContainsFunc(tree.Edges, func(r *model.Relationship) bool { return r.Base() == way.Edge }) {
				continue
			}
			to := way.To()
			for nth := 2; tree.Has(to); nth++ {
				to = g.Occurrence(to, nth)
			}
			next, err := model.NewTree(tree.Entities[0], append(slices.Clone(tree.Edges), way.Between(g, from, to))...)
			if err != nil {
				t.Fatal(err)
			}
			tree = next
		}
	}
	return tree
}

// TestEstimates compares estimated rows and partitions with counted ones, over uniform data: branches, many-to-many
// relationships, entities met twice, repeated ids. Trees that hold a relationship twice are left out: what is related is then
// not independent, and the estimate is a mean that does not know. Partition keys speak of two entities at most: what more
// entities have in common makes the estimate too large by more than is checked here.
func TestEstimates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		d := populate(g, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))) //nolint:gosec // not a secret
		tree := randomTree(t, g, false)
		rows := d.join(tree, 30000)
		if rows == nil {
			return
		}
		within(t, fmt.Sprintf("rows of %s", tree.Path()), tree.Rows(), float64(len(rows)), 3)

		table := &model.Table{Tree: tree}
		speaksOf := rapid.Permutation(tree.Entities).Draw(t, "entities of the partition key")
		for _, e := range speaksOf[:min(2, len(speaksOf))] {
			for _, a := range e.Attributes {
				if rapid.Bool().Draw(t, "partition") {
					table.Partition = append(table.Partition, model.Field{Entity: e, Attribute: a})
				}
			}
		}
		counted := map[string]bool{}
		for _, row := range rows {
			key := ""
			for _, f := range table.Partition {
				base := model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute}
				key += fmt.Sprint(d.value[base][row[slices.Index(tree.Entities, f.Entity)]], ",")
			}
			counted[key] = true
		}
		within(t, fmt.Sprintf("partitions of %s over %s", table, tree.Path()), table.Partitions(), float64(len(counted)), 4)
	})
}

func within(t *rapid.T, what string, estimate, truth, factor float64) {
	if truth < 100 || estimate < 100 { // too few for a mean
		return
	}
	if estimate > truth*factor || truth > estimate*factor {
		t.Fatalf("%s: estimated %.0f, counted %.0f: not within a factor of %g", what, estimate, truth, factor)
	}
}

// TestDistinctDrawn draws at random and counts.
func TestDistinctDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, domain := rapid.IntRange(1, 5000).Draw(t, "rows"), rapid.IntRange(1, 5000).Draw(t, "domain")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2)) //nolint:gosec // not a secret
		seen := map[int]bool{}
		for range rows {
			seen[random.IntN(domain)] = true
		}
		within(t, fmt.Sprintf("%d of %d", rows, domain), model.Distinct(float64(rows), float64(domain)), float64(len(seen)), 1.3)
	})
}

// TestRenumbered gives the occurrences of a random table other numbers: its ID stays, and its columns have names of their own.
func TestRenumbered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		tree := randomTree(t, g, true)
		table := &model.Table{Tree: tree}
		for _, e := range tree.Entities {
			for _, a := range e.Attributes {
				list := rapid.SampledFrom([]*[]model.Field{&table.Partition, &table.Clustering, &table.Values}).Draw(t, "list")
				*list = append(*list, model.Field{Entity: e, Attribute: a})
			}
		}
		columns := map[string]bool{}
		for _, f := range table.Fields() {
			if name := table.ColumnName(f); columns[name] {
				t.Fatalf("%s over %s has column %s twice", table, tree.Path(), name)
			} else {
				columns[name] = true
			}
		}
		other := renumber(t, g, table)
		if table.ID() != other.ID() {
			t.Fatalf("%s over %s is %s, %s over %s is %s", table, tree.Path(), table.ID(), other, other.Tree.Path(), other.ID())
		}
		if len(other.Clustering) > 1 {
			other.Clustering[0], other.Clustering[1] = other.Clustering[1], other.Clustering[0]
			base := func(f model.Field) model.Field { return model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute} }
			if base(other.Clustering[0]) != base(other.Clustering[1]) && table.ID() == other.ID() {
				t.Fatalf("%s and %s have one ID", table, other)
			}
		}
	})
}

// renumber swaps the numbers of occurrences, and starts the tree elsewhere.
func renumber(t *rapid.T, g *model.Graph, table *model.Table) *model.Table {
	numbers := map[*model.Entity]int{}
	moved := map[*model.Entity]*model.Entity{}
	for _, e := range rapid.Permutation(table.Tree.Entities).Draw(t, "order") {
		numbers[e.Base()]++
		moved[e] = g.Occurrence(e, numbers[e.Base()])
	}
	var edges []*model.Relationship
	for _, r := range table.Tree.Edges {
		edges = append(edges, g.Between(r, moved[r.From], moved[r.To]))
	}
	tree, err := model.NewTree(moved[rapid.SampledFrom(table.Tree.Entities).Draw(t, "root")], edges...)
	if err != nil {
		t.Fatal(err)
	}
	move := func(fields []model.Field) []model.Field {
		var list []model.Field
		for _, f := range fields {
			list = append(list, model.Field{Entity: moved[f.Entity], Attribute: f.Attribute})
		}
		return list
	}
	return &model.Table{Tree: tree, Partition: move(table.Partition), Clustering: move(table.Clustering), Values: move(table.Values)}
}
