package plan

import "github.com/helenus-db/helenus/advisor/model"

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
