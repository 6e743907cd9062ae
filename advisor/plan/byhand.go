package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Hand is one of the statements that an application says in place of a query, as often as it says it for one execution.
type Hand struct {
	Statement *workload.Statement
	Space     *Space
	Times     float64
}

// OrByHand returns the space of a query that an application does by hand: its plans are those that read a new table, and those made of a plan of each
// statement, one after the other. A plan over the tables that are there alone is none of them: the statements are what the application does with these.
//
//	source ── plans of the first ──▶ ○ ── plans of the second ──▶ ○ ── ... ──▶ sink
//	source ── no new table so far ──▶ (new table) ──▶ a new table was read ──▶ sink
func (s *Space) OrByHand(isNew func(*model.Table) bool, hands []Hand) *Space {
	both := &Space{Query: s.Query, Truncated: s.Truncated, States: 2 * s.States}
	read := func(state int) int { // the same state, once a new table was read
		if state == SinkState {
			return SinkState
		}
		return s.States + state
	}
	for _, a := range s.Arcs {
		switch {
		case isNew(a.Table):
			both.take(a, a.From, read(a.To), nil)
		case a.To != SinkState:
			both.take(a, a.From, a.To, nil)
		}
		both.take(a, read(a.From), read(a.To), nil)
	}
	at := SourceState
	for i := range hands {
		h := &hands[i]
		first, begin, end := both.States, at, SinkState
		both.States += h.Space.States
		if i < len(hands)-1 {
			end = both.States
			both.States++
		}
		place := func(state int) int {
			switch state {
			case SourceState:
				return begin
			case SinkState:
				return end
			}
			return first + state
		}
		for _, a := range h.Space.Arcs {
			both.take(a, place(a.From), place(a.To), h)
		}
		at = end
	}
	both.out = make([][]*Arc, both.States)
	for _, a := range both.Arcs {
		both.out[a.From] = append(both.out[a.From], a)
	}
	return both
}

// take adds an arc of another space.
func (s *Space) take(a *Arc, from, to int, h *Hand) {
	own := *a
	own.Number, own.From, own.To, own.Hand = len(s.Arcs), from, to, h
	s.Arcs = append(s.Arcs, &own)
}

// ByHand returns the space of what is done by hand alone.
func (s *Space) ByHand() *Space {
	own := &Space{Query: s.Query, Truncated: s.Truncated, States: s.States, out: make([][]*Arc, s.States)}
	for _, a := range s.Arcs {
		if a.Hand != nil {
			own.take(a, a.From, a.To, a.Hand)
			last := own.Arcs[len(own.Arcs)-1]
			own.out[a.From] = append(own.out[a.From], last)
		}
	}
	return own
}
