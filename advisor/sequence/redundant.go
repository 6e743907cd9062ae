package sequence

import (
	"cmp"
	"math"
	"slices"
)

// DropRedundant leaves out of a sequence what it is not dearer without: the largest tables first, for as long as they are kept in a row, then at single
// steps. So of sequences that cost the same it answers one of fewer and smaller tables (equations 17 and 18, W-41), if not always the one of the fewest. A sequence
// that is not within the limits comes back as it is.
func DropRedundant(p *Problem, open [][]bool) ([][]bool, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	s := newAnnealing(in, 0)
	if s.setSequence(open); s.best == nil {
		return open, nil
	}
	s.dropRedundant()
	return s.best, nil
}

// dropRedundant is DropRedundant of the best sequence.
func (s *annealing) dropRedundant() {
	s.setSequence(s.best)
	order := make([]int32, len(s.in.size))
	for n := range order {
		order[n] = int32(n)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.p.Tables[b].Size, s.p.Tables[a].Size) })
	for again := true; again; {
		again = false
		for _, n := range order {
			if s.p.Tables[n].Free {
				continue
			}
			for from := 0; from < len(s.open); from++ {
				if !s.open[from][n] {
					continue
				}
				to := from
				for to+1 < len(s.open) && s.open[to+1][n] {
					to++
				}
				if s.closeIfNotDearer(n, from, to) {
					again = true
				} else if to > from {
					for t := from; t <= to; t++ {
						again = s.closeIfNotDearer(n, t, t) || again
					}
				}
				from = to
			}
		}
	}
	s.best, s.least = cloneBools(s.open), s.cost
}

// closeIfNotDearer closes a table for an interval of steps if nothing is dearer without it, and reports whether it was so.
func (s *annealing) closeIfNotDearer(n int32, from, to int) bool {
	s.journal = s.journal[:0]
	m := s.mark()
	for t := from; t <= to; t++ {
		if s.in.status[t][n] == free && s.open[t][n] {
			s.flipTable(t, n)
		}
	}
	done := len(s.journal) > 0 && s.broken <= m.broken && s.cost <= m.cost+1e-12*math.Abs(m.cost)
	for t := range s.size {
		done = done && s.fitsSpace(t) // one that is created later may take space earlier
	}
	if !done {
		s.rollback(m)
	}
	return done
}
