package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// OverTables returns the space of those plans alone that read allowed tables.
func (s *Space) OverTables(allowed func(*model.Table) bool) *Space {
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

// WithAnswers returns the space with a plan without steps for each of some tables: where such a table is kept, the answer is at hand,
// as more is asked for it.
func (s *Space) WithAnswers(tables []*model.Table) *Space {
	beside := &Space{Query: s.Query, States: s.States, Truncated: s.Truncated, Arcs: slices.Clone(s.Arcs), out: slices.Clone(s.out)}
	beside.out[SourceState] = slices.Clone(s.out[SourceState])
	for _, t := range tables {
		a := &Arc{Number: len(beside.Arcs), From: SourceState, To: SinkState, Table: t}
		beside.Arcs, beside.out[SourceState] = append(beside.Arcs, a), append(beside.out[SourceState], a)
	}
	return beside
}

// AnswerHolds reports whether the answer of a support query holds that of another: both ask by the same, for no less, and of as many rows,
// as what the larger tree has besides is there exactly once. Of queries that ask the same neither holds the other.
func AnswerHolds(more, less *workload.Query) bool {
	return len(more.Select) > len(less.Select) && containsAll(less.Select, more.Select) && slices.Equal(more.Where, less.Where) &&
		len(more.Known) == len(less.Known) && containsAll(more.Known, less.Known) && extendsTree(less.Tree, more.Tree)
}

// extendsTree reports whether each row of the join over a tree is in exactly one of that over another.
func extendsTree(small, large model.Tree) bool {
	if !containsAll(small.Entities, large.Entities) || !containsAll(small.Edges, large.Edges) {
		return false
	}
	reached := large.Reach(small.Entities[0], func(r *model.Relationship, from *model.Entity) bool {
		return small.HasEdge(r) || !small.Has(r.Other(from)) && exactlyOne(r, from)
	})
	return len(reached.Entities) == len(large.Entities)
}
