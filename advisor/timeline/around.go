package timeline

import (
	"context"
	"slices"

	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// around looks for the best calendar near the best so far, by the integer program of those in which few tables come and go (sequence.Around): those that do in the best
// so far, and those of which the relaxation keeps more in one run than in another (moves). The others are there at all times or never, and of these the large ones stay what
// they are. Of many runs it is the first, as in hot, and what follows them, lest the last of the first be designed as if nothing did. It tells whether there is a better one.
func (s *search) around(ctx context.Context, in, moves []bool, runs []stretch) bool {
	if s.options.Life > 1 || s.open == nil || ctx.Err() != nil {
		return false
	}
	first := s.first(runs)
	window := min(len(runs), first.count+ahead)
	if window == len(runs) {
		first.count = window
	}
	designs := ofRuns(s.open, runs[:window])
	left, changing, fixed := slices.Clone(in), slices.Clone(moves), make([]bool, len(s.tables))
	for n, is := range in {
		comes := slices.ContainsFunc(designs, func(open []bool) bool { return open[n] != designs[0][n] })
		if changing[n] = is && (moves[n] || comes); is && !changing[n] && s.problem.Tables[n].Size > largeTable*s.space {
			left[n], fixed[n] = designs[0][n], designs[0][n]
		}
	}
	p, keep := s.whole(left)
	q := byRun(p, runs).Window(0, window)
	for i, n := range keep {
		q.Tables[i].Fixed = q.Tables[i].Fixed || fixed[n]
	}
	found, failure, err := sequence.Around(ctx, q, sequence.Surroundings{
		Start: narrowed(designs, keep), Changing: narrowed([][]bool{changing}, keep)[0],
		Solver: s.options.Solver, Limits: s.aroundLimits(),
	})
	if s.failed(failure); err != nil {
		return false // what there is stays
	}
	was, list := s.cost, widened(found, keep, len(s.tables))
	s.designs = append(s.designs, list...)
	s.offer(ofSteps(first.again(list), runs))
	return s.cost < was
}

// aroundLimits are the caller's, or, if there are none, what is enough mostly.
func (s *search) aroundLimits() solve.Limits {
	limits := s.limits()
	if s.options.Limits == (solve.Limits{}) {
		limits.Gap, limits.Iterations = aroundGap, aroundIterations*s.effort
	}
	return limits
}

// What takes more than largeTable of the space is large, and ahead is how many runs are looked at that follow the first. Calendars near one are looked for until none is better by aroundGap, or so
// many steps of the simplex method have been made.
const (
	largeTable       = 0.03
	ahead            = 2
	aroundGap        = 3e-3
	aroundIterations = 30_000
)
