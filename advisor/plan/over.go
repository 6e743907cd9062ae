package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Over returns the space of those plans alone that read allowed tables.
func (s *Space) Over(allowed func(*model.Table) bool) *Space {
	over := &Space{Query: s.Query, States: s.States, Truncated: s.Truncated, out: make([][]*Arc, s.States)}
	for _, a := range s.Arcs {
		if !allowed(a.Table) {
			continue
		}
		own := *a
		own.Number = len(over.Arcs)
		over.Arcs = append(over.Arcs, &own)
		over.out[a.From] = append(over.out[a.From], &own)
	}
	return over
}

// Beside returns the space with a plan without steps for each of some tables: where such a table is kept, the answer is at hand,
// as more is asked for it.
func (s *Space) Beside(tables []*model.Table) *Space {
	beside := &Space{Query: s.Query, States: s.States, Truncated: s.Truncated, Arcs: slices.Clone(s.Arcs), out: slices.Clone(s.out)}
	beside.out[Start] = slices.Clone(s.out[Start])
	for _, t := range tables {
		a := &Arc{Number: len(beside.Arcs), From: Start, To: Answered, Table: t}
		beside.Arcs, beside.out[Start] = append(beside.Arcs, a), append(beside.out[Start], a)
	}
	return beside
}

// Holds reports whether the answer of a support query holds that of another: both ask by the same, for no less, and of as many rows,
// as what the larger tree has besides is there exactly once. Of queries that ask the same neither holds the other.
func Holds(more, less *workload.Query) bool {
	return len(more.Select) > len(less.Select) && within(less.Select, more.Select) && slices.Equal(more.Where, less.Where) &&
		len(more.Known) == len(less.Known) && within(more.Known, less.Known) && extends(less.Tree, more.Tree)
}

// extends reports whether each row of the join over a tree is in exactly one of that over another.
func extends(small, large model.Tree) bool {
	if !within(small.Entities, large.Entities) || !within(small.Edges, large.Edges) {
		return false
	}
	reached := large.Reach(small.Entities[0], func(r *model.Relationship, from *model.Entity) bool {
		return small.HasEdge(r) || !small.Has(r.Other(from)) && exactlyOne(r, from)
	})
	return len(reached.Entities) == len(large.Entities)
}
