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

// ideal is the best design for a step; no tables if there was no time for it.
func (s *solver) ideal(t int) []bool {
	first := 0
	for first < t && !s.p.same(first, t) {
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
		if r, err := choice.Solve(s.ctx, s.p.static(first), choice.Options{Limits: solve.Limits{Gap: idealGap}}); err == nil {
			one.design = r.Open
		}
	})
	return one.design
}

// same tells whether two steps ask the same for the same.
func (p *Problem) same(s, t int) bool {
	return p.alike(s, t) && p.Steps[s].Space == p.Steps[t].Space && !slices.ContainsFunc(p.Tables, func(x Table) bool { return x.Upkeep[s] != x.Upkeep[t] })
}

// separate is each step's ideal, one after the other.
func (s *solver) separate() [][]bool {
	list := make([][]bool, len(s.p.Steps))
	for t := range list {
		list[t] = s.ideal(t)
	}
	return list
}
