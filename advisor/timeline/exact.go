package timeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// Exact mode where space is limited and candidates are many. The program of all steps over all candidates is out of reach: with seed 004's workload it has ten million
// columns, and its relaxation bounds by half of what calendars cost. But a single design over all candidates is not (choice, localbranch.go). So
//
//  1. the weights of some steps, and the mean ones, get their best designs over all candidates, which tells of each candidate how far it is from being of use;
//  2. the calendar is looked for over the promising candidates, those designs, and what is near them, with more tries than pruned mode makes;
//  3. all candidates are bounded by the single designs: what the best design costs is a concave function of the weights, and twice the weights cost twice
//     as much, so the bound of a step is that of any sum of other steps' weights which its own are not below (concaveBound).

// singlePeriod is a single design over all candidates, for the weights of a step.
type singlePeriod struct {
	step   int // -1: of all
	result *choice.Result
}

// searchExact looks for the calendar, from one on that pruned mode has found, over some candidates.
func (s *search) searchExact(ctx context.Context, b *baselineDesigns, in []bool) error {
	if err := b.awaitMean(); err != nil {
		return err
	}
	least, near := s.bound, slices.Clone(in)
	singles := s.singlePeriods(ctx, b)
	for _, x := range singles {
		x.addNearTables(near)
		b.takeBetter(s.task, x)
	}
	if singles != nil {
		s.endPhase("designs")
	}
	s.effort = exactEffort
	if err := s.solvePromising(ctx, b, near); err != nil {
		return err
	}
	if s.kept < len(s.tables) {
		s.bound = least // theirs is of some candidates
	}
	s.bound = max(s.bound, s.lowerBound(), s.concaveBound(ctx, singles))
	s.pruned, s.kept, s.proven = false, len(s.tables), s.cost <= s.bound*(1+1e-9)
	return nil
}

// How exact mode looks: at the weights of so many steps, at so many of the nearest candidates of each, and so many times as often by annealing.
const (
	exactSteps  = 4
	exactTables = 100
	exactEffort = 3
)

// singlePeriods are designs over all candidates; none of those that time is not left for.
func (s *search) singlePeriods(ctx context.Context, b *baselineDesigns) (list []singlePeriod) {
	all := make([]bool, len(s.tables))
	for n := range all {
		all[n] = true
	}
	steps := append(evenlySpread(s.distinctSteps(), exactSteps), -1)
	var asks []*restrictedQuestion
	for _, step := range steps {
		start := b.average
		if step >= 0 {
			start = b.ideal[step]
		}
		r := s.restrictQuestion(designQuestion{weights: s.weightsAt(step), space: s.space, in: all, start: start.Open})
		r.options.Distances = true
		asks = append(asks, r)
	}
	found := make([]*choice.Result, len(steps))
	guard.Each(guard.Advice, sideBySide, len(steps), func(i int) {
		if result, err := asks[i].solve(ctx); err == nil {
			found[i] = result
		}
	})
	for i, r := range found {
		if r != nil {
			s.noteFailure(r.Failure)
			list = append(list, singlePeriod{steps[i], r})
		}
	}
	return list
}

// addNearTables adds the tables of a design, and those that are near.
func (x *singlePeriod) addNearTables(in []bool) {
	for n, open := range x.result.Open {
		in[n] = in[n] || open
	}
	far := x.result.Distances
	order := make([]int, 0, len(far))
	for n, v := range far {
		if !math.IsInf(v, 1) {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	for _, n := range order[:min(len(order), exactTables)] {
		in[n] = true
	}
}

// takeBetter takes a design for baselines if it is better than the one that is known.
func (k *baselineDesigns) takeBetter(t *task, x singlePeriod) {
	if x.step < 0 {
		if x.result.Cost < k.average.Cost {
			k.average = x.result
		}
		return
	}
	key, was := t.weightsKey(x.step), k.ideal[x.step].Cost
	for step := range k.ideal {
		if t.weightsKey(step) == key && x.result.Cost < was {
			k.ideal[step] = x.result
		}
	}
	k.first, k.last = k.ideal[0], k.ideal[len(k.ideal)-1]
}

// concaveBound bounds all steps by the single designs: each by the greatest sum of their bounds whose weights it is not below, a linear program of as many columns as
// there are designs.
func (s *search) concaveBound(ctx context.Context, singles []singlePeriod) (sum float64) {
	relaxer, able := s.options.Solver.(choice.Relaxer)
	if !able || singles == nil {
		return 0
	}
	var parts [][]float64 // by single: the weights
	for _, x := range singles {
		parts = append(parts, s.weightsAt(x.step))
	}
	bounds := map[string]float64{}
	for step := range s.steps {
		weights := s.weightsAt(step)
		key := fmt.Sprint(weights)
		if _, known := bounds[key]; !known {
			p := &solve.Problem{Unranged: true}
			for _, x := range singles {
				p.Columns = append(p.Columns, solve.Column{Cost: -max(0, x.result.Bound), Upper: math.Inf(1)})
			}
			for i, w := range weights {
				row := solve.Row{Lower: math.Inf(-1), Upper: w}
				for j := range parts {
					row.Terms = append(row.Terms, solve.Term{Column: j, Coefficient: parts[j][i]})
				}
				p.Rows = append(p.Rows, row)
			}
			r, err := relaxer.Relax(ctx, p)
			if err != nil || r.Status != solve.Optimal {
				return sum // what there is bounds, too
			}
			share := 1.0 // whatever the engine's tolerances are
			for i, w := range weights {
				all := 0.0
				for j := range parts {
					all += max(0, r.Values[j]) * parts[j][i]
				}
				if all > w {
					share = min(share, w/all)
				}
			}
			for j, x := range singles {
				bounds[key] += share * max(0, r.Values[j]) * max(0, x.result.Bound)
			}
		}
		sum += bounds[key]
	}
	return sum
}
