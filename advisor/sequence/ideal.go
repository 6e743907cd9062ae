package sequence

import (
	"slices"
	"sync"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// ideals are the best designs for single steps, as if changing cost nothing: sequences to search from are made of them. Steps that weigh the
// same have the same one, which is looked for once.
type ideals struct {
	mutex sync.Mutex
	at    map[int]*ideal // by the first step of those that are alike
}

type ideal struct {
	once   sync.Once
	design []bool
}

// idealGap: it is only where a search begins.
const idealGap = 1e-3

// idealDesign is the best design for a step; no tables if there was no time for it.
func (s *solver) idealDesign(t int) []bool {
	first := 0
	for first < t && !s.p.sameStep(first, t) {
		first++
	}
	s.ideals.mutex.Lock()
	one := s.ideals.at[first]
	if one == nil {
		one = &ideal{}
		s.ideals.at[first] = one
	}
	s.ideals.mutex.Unlock()
	one.once.Do(func() {
		one.design = make([]bool, len(s.p.Tables))
		if r, err := choice.Solve(s.ctx, s.p.staticProblem(first), choice.Options{Limits: solve.Limits{Gap: idealGap}}); err == nil {
			one.design = r.Open
		}
	})
	return one.design
}

// sameStep reports whether two steps ask the same for the same.
func (p *Problem) sameStep(s, t int) bool {
	return p.sameWeights(s, t) && p.Steps[s].Space == p.Steps[t].Space && !slices.ContainsFunc(p.Tables, func(x Table) bool { return x.Upkeep[s] != x.Upkeep[t] })
}

// idealSequence is each step's ideal, one after the other.
func (s *solver) idealSequence() [][]bool {
	list := make([][]bool, len(s.p.Steps))
	for t := range list {
		list[t] = s.idealDesign(t)
	}
	return list
}
