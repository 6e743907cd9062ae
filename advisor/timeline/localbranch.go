package timeline

import (
	"context"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// localBranching looks for the best calendars near the best so far, by the integer program of those in which few tables come and go (sequence.LocalBranch): those that do in the best
// so far, and those of which the relaxation keeps more in one run than in another (moves). The others are there at all times or never, and of these the large ones stay what
// they are. First the runs that weigh the same have the same design, where they come again; then, of few runs, each has its own. It reports whether there is a better one.
func (s *search) localBranching(ctx context.Context, in, moves []bool, runs []run) bool {
	if s.options.Life > 1 || s.open == nil || ablation.Without(ablation.LocalBranching) {
		return false
	}
	was := s.cost
	weights := s.firstRunsOf(runs).weights
	alike, again := make([]int, len(runs)), false // by run: the first that weighs the same
	for i, key := range weights {
		alike[i] = slices.Index(weights, key)
		again = again || alike[i] < i
	}
	if again {
		s.branchNear(ctx, in, moves, runs, s.tiedDesigns(runs, alike), alike)
	}
	if len(runs) <= localBranchRuns {
		s.branchNear(ctx, in, moves, runs, designsOfRuns(s.open, runs), nil)
	}
	return s.cost < was
}

// tiedDesigns are designs that come again with their weights: those of the best calendar, from some run on.
func (s *search) tiedDesigns(runs []run, alike []int) (designs [][]bool) {
	least := math.Inf(1)
	for from := range runs {
		list := make([][]bool, len(runs))
		for k := range runs {
			i := (from + k) % len(runs)
			if first := alike[i]; list[first] == nil {
				list[first] = s.open[runs[i].from]
			}
		}
		for i, first := range alike {
			list[i] = list[first]
		}
		if cost, _ := s.trueCost(designsOfSteps(list, runs)); cost < least {
			designs, least = list, cost
		}
	}
	return designs
}

// branchNear looks near the designs of some runs.
func (s *search) branchNear(ctx context.Context, in, moves []bool, runs []run, designs [][]bool, alike []int) {
	if designs == nil || ctx.Err() != nil {
		return
	}
	left, changing, fixed := slices.Clone(in), slices.Clone(moves), make([]bool, len(s.tables))
	for n, is := range in {
		comes := slices.ContainsFunc(designs, func(open []bool) bool { return open[n] != designs[0][n] })
		if changing[n] = is && (moves[n] || comes); is && !changing[n] && s.problem.Tables[n].Size > largeTable*s.space {
			left[n], fixed[n] = designs[0][n], designs[0][n]
		}
	}
	p, keep := s.wholeProblem(left)
	q := problemByRun(p, runs)
	for i, n := range keep {
		q.Tables[i].Fixed = q.Tables[i].Fixed || fixed[n]
	}
	found, failure, err := sequence.LocalBranch(ctx, q, sequence.Neighbourhood{
		Start: toRestricted(designs, keep), Changing: toRestricted([][]bool{changing}, keep)[0], Alike: alike,
		Solver: s.options.Solver, Limits: s.localBranchLimits(),
	})
	if s.noteFailure(failure); err != nil {
		return // what there is stays
	}
	list := fromRestricted(found, keep, len(s.tables))
	s.designs = append(s.designs, list...)
	s.offerCalendar(designsOfSteps(list, runs))
}

// localBranchLimits are the caller's, or, if there are none, what is enough mostly.
func (s *search) localBranchLimits() solve.Limits {
	limits := s.solverLimits()
	if s.options.Limits == (solve.Limits{}) {
		limits.Gap, limits.Iterations = localBranchGap, localBranchIterations*s.effort
	}
	return limits
}

// What takes more than largeTable of the space is large; of so many runs each may have its own design; and calendars near one are looked for until none is better by nearGap, or so many steps
// of the simplex method have been made.
const (
	largeTable            = 0.03
	localBranchRuns       = 6
	localBranchGap        = 3e-3
	localBranchIterations = 12_000
)
