package sequence

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/graph"
)

// How annealing goes on from a sequence that is good already: how warm each round is at first, as a share of what a step costs; how much colder where
// what it held may go again; how much dearer, as a share, a round's sequence may be for the next to begin from it, at first; and what
// space is taken to cost where a round looks for the path to hold.
const (
	mild     = 0.015
	milder   = 1.0 / 30
	loose    = 0.02
	favoured = 0.1
)

// neighbourhoodSearch makes so many changes in rounds. A sequence that no small change makes better has its space full of what goes well together, and what is better
// takes half a dozen tables out to let one in; heat that comes so far has forgotten the rest by then. So each round opens, at some steps, the
// tables of a path that one demand would like if space were cheap, and holds them for its first half: the rest makes room for them as best it can, at a low
// heat. In the second half they may go again. The next round begins from what came of it, if that is not much dearer than the best. (Large
// neighbourhood search, after Shaw, with annealing as what repairs.)
func (s *annealing) neighbourhoodSearch(ctx context.Context, changes, rounds int) {
	s.initSpaceRates()
	best, least := s.best, s.least
	from := s.least // what the present round's beginning costs
	begin := s.best
	for r := range rounds {
		if ctx.Err() != nil {
			break
		}
		s.moveTo(begin)
		rate := append([]float64(nil), s.rate...)
		s.favourPath()
		s.best, s.least = nil, math.Inf(1)
		half := changes / rounds / 2
		s.annealBetween(ctx, half, mild, mild*milder)
		for t := range s.held {
			clear(s.held[t])
		}
		s.annealBetween(ctx, half, mild*milder, cold)
		slack := loose * (1 - float64(r)/float64(rounds)) * math.Abs(least)
		if s.best != nil && s.least < from+slack {
			begin, from = s.best, s.least
		} else {
			copy(s.rate, rate)
		}
		if s.best != nil && better(s.least, least) {
			best, least = s.best, s.least
		}
	}
	s.best, s.least = best, least
	s.moveTo(best)
}

// moveTo makes another sequence the present one.
func (s *annealing) moveTo(list [][]bool) {
	for t := range s.open {
		for n := range s.open[t] {
			if s.open[t][n] != list[t][n] {
				s.flipTable(t, int32(n))
			}
		}
	}
	s.journal = s.journal[:0]
}

// favourPath opens, and holds, at some steps the tables of a path that a demand would like: every second time any demand's, else the more likely the more the
// demand costs.
func (s *annealing) favourPath() {
	s.chooseSteps()
	s.touched = s.touched[:0]
	first := s.chosen[0]
	prices := s.price[first]
	i := s.random.IntN(len(prices))
	if s.random.IntN(2) == 0 {
		sum := 0.0
		for _, p := range prices {
			sum += p
		}
		i = 0
		for at := s.random.Float64() * sum; i+1 < len(prices) && at >= prices[i]; i++ {
			at -= prices[i]
		}
	}
	if !s.in.demandPresent(i, s.open[first]) {
		return
	}
	path, ok := s.randomDetour(first, int32(i), graph.None, favoured)
	if !ok {
		return
	}
	for _, t := range s.chosen {
		for _, n := range path.list[:path.count] {
			s.openTable(t, n)
			s.held[t][n] = s.open[t][n]
		}
	}
}
