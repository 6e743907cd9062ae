package plan

import (
	"iter"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Embedding says which entity of a query each entity of a table is. Trees number the occurrences of an entity as they
// meet them, so the second User of a table may be the first of a query, and a table of users is read for either.
// Entities of the table that are not in it lie beyond the query.
//
// The nil Embedding maps each entity to itself.
type Embedding struct {
	table, query []*model.Entity
}

// Column returns the column that holds a field of the query; the zero Field if there is none.
func (m *Embedding) Column(f model.Field) model.Field {
	if m == nil {
		return f
	}
	if i := slices.Index(m.query, f.Entity); i >= 0 {
		return model.Field{Entity: m.table[i], Attribute: f.Attribute}
	}
	return model.Field{}
}

// Field returns the field of the query that a column holds; the zero Field if it lies beyond.
func (m *Embedding) Field(column model.Field) model.Field {
	if m == nil {
		return column
	}
	if i := slices.Index(m.table, column.Entity); i >= 0 {
		return model.Field{Entity: m.query[i], Attribute: column.Attribute}
	}
	return model.Field{}
}

// Pairs goes over the entities of the table and what they are of the query; over none if they are the same.
func (m *Embedding) Pairs() iter.Seq2[*model.Entity, *model.Entity] {
	return func(yield func(table, query *model.Entity) bool) {
		if m == nil {
			return
		}
		for i := range m.table {
			if !yield(m.table[i], m.query[i]) {
				return
			}
		}
	}
}

// maxEmbeddings is how many ways are looked for to see one table in a query.
const maxEmbeddings = 32

// embeddings returns all ways to see a connected part of a table's tree in a query's, each as large as can be: entities
// and relationships keep what they are occurrences of, and no two are the same of the query. The entities of each are in
// the order in which they are reached. more reports whether there are others beyond maxEmbeddings.
func embeddings(table, query model.Tree) (list []*Embedding, more bool) {
	type key struct{ table, query *model.Entity }
	met := map[key]bool{} // pairs that were grown from
	add := func(m *Embedding) {
		if more = more || len(list) == maxEmbeddings; !more {
			list = append(list, &Embedding{slices.Clone(m.table), slices.Clone(m.query)})
		}
		for i := range m.table {
			met[key{m.table[i], m.query[i]}] = true
		}
	}
	for _, t := range table.Entities {
		for _, q := range query.Entities {
			if t.Base() != q.Base() || met[key{t, q}] && !repeatsEntity(table) && !repeatsEntity(query) {
				continue
			}
			g := grower{table: table, query: query, found: add, full: &more}
			g.growEmbedding(&Embedding{[]*model.Entity{t}, []*model.Entity{q}}, 0, 0)
		}
	}
	return maximal(list), more
}

// grower extends an embedding along edges.
type grower struct {
	table, query model.Tree
	found        func(*Embedding)
	full         *bool // enough are found
}

// growEmbedding takes up the edges of the at-th mapped entity of the table, from a number on.
func (g *grower) growEmbedding(m *Embedding, at, edge int) {
	if at == len(m.table) {
		g.found(m)
		return
	}
	if *g.full {
		return
	}
	if edge == len(g.table.Edges) {
		g.growEmbedding(m, at+1, 0)
		return
	}
	r := g.table.Edges[edge]
	from, to := m.table[at], r.Other(m.table[at])
	if to == nil || slices.Contains(m.table, to) {
		g.growEmbedding(m, at, edge+1)
		return
	}
	ways := 0
	for _, x := range g.query.Edges {
		end := x.Other(m.query[at])
		if end == nil || x.Base() != r.Base() || (x.From == m.query[at]) != (r.From == from) || slices.Contains(m.query, end) {
			continue
		}
		ways++
		n := len(m.table)
		m.table, m.query = append(m.table, to), append(m.query, end)
		g.growEmbedding(m, at, edge+1)
		m.table, m.query = m.table[:n], m.query[:n]
	}
	if ways == 0 || g.hasRival(from, edge) {
		g.growEmbedding(m, at, edge+1)
	}
}

// hasRival reports whether a later edge of the entity could be mapped in an edge's stead.
func (g *grower) hasRival(from *model.Entity, edge int) bool {
	r := g.table.Edges[edge]
	for _, x := range g.table.Edges[edge+1:] {
		if x.Other(from) != nil && x.Base() == r.Base() && (x.From == from) == (r.From == from) {
			return true
		}
	}
	return false
}

// repeatsEntity reports whether a tree meets an entity more than once.
func repeatsEntity(t model.Tree) bool {
	for _, e := range t.Entities {
		if e.Of != nil {
			return true
		}
	}
	return false
}

// maximal drops embeddings that map alike what another maps, or less.
func maximal(list []*Embedding) []*Embedding {
	if len(list) < 2 {
		return list
	}
	within := func(m, n *Embedding) bool {
		for i, e := range m.table {
			if j := slices.Index(n.table, e); j < 0 || n.query[j] != m.query[i] {
				return false
			}
		}
		return true
	}
	var kept []*Embedding
	for i, m := range list {
		covered := false
		for j, n := range list {
			covered = covered || i != j && within(m, n) && (len(m.table) < len(n.table) || j < i)
		}
		if !covered {
			kept = append(kept, m)
		}
	}
	return kept
}

// isIdentity reports whether the embedding maps each entity to itself.
func (m *Embedding) isIdentity() bool { return slices.Equal(m.table, m.query) }
