package timeline

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// What a sweep looks at.
const (
	fewTables  = 300        // candidates that are all looked at, without a sweep
	sweepGap   = 0.1        // how good its designs are: it is their tables that are wanted (decision 30)
	sweepRise  = 4          // from one price of space to the next
	sweepMost  = 7          // prices
	sweepSteps = 4          // steps of different weights
	sweepArcs  = 10_000_000 // arcs that the first search of each design may look at: bounds suggest choices that are as good
)

// sweepPrices returns the candidates of the best designs, and those designs, as space gets dearer, for the mean weights, and, at the price at which
// those fit, for the weights of some steps; without a limit, of the best designs of each step.
//
// With a limit on space all of a design hangs together, and of thousands of candidates neither bounds nor an integer program
// find the good ones in time; with a price the problem falls into parts, each of a few statements, which package choice
// settles quickly. Designs at all prices are the corners of the lower convex hull of what designs cost and take; those within
// a limit lie between, and are made of much the same tables: each statement's own trade of space for time, at its own
// weight. A step at which a group of statements runs nine times as often weighs space a ninth for them, which is why the
// prices go far beyond the one at which the mean design fits.
func (t *task) sweepPrices(ctx context.Context) (in []bool, corners [][]bool, err error) {
	in = make([]bool, len(t.tables))
	if len(t.tables) <= fewTables || ablation.Without(ablation.Sweep) {
		for n := range in {
			in[n] = true
		}
		return in, nil, nil
	}
	type ask struct {
		step  int
		price float64
	}
	// The weights of all steps add up: prices are for a design that is kept throughout, and a step's share of that is by its
	// length.
	within, cancel := withShare(ctx, sweepShare)
	defer cancel()
	run := func(asks []ask) ([]*choice.Result, error) {
		results, errs := make([]*choice.Result, len(asks)), make([]error, len(asks))
		guard.Each(guard.Advice, sideBySide, len(asks), func(i int) {
			p := t.staticProblem(t.weightsAt(asks[i].step), 0)
			for n := range p.Tables {
				if !p.Tables[n].Free {
					p.Tables[n].Upkeep += asks[i].price * p.Tables[n].Size
				}
			}
			results[i], errs[i] = choice.Solve(within, p, choice.Options{Branching: -1, Searching: sweepArcs, Limits: solve.Limits{Gap: sweepGap}})
		})
		found := results[:0:0]
		for i, err := range errs {
			if err = t.explainError(err, max(0, asks[i].step), t.space); outOfTime(within, err) {
				t.partial = true
				continue
			}
			if err != nil {
				return nil, err
			}
			corners = append(corners, results[i].Open)
			for n, open := range results[i].Open {
				in[n] = in[n] || open
			}
			found = append(found, results[i])
		}
		return found, nil
	}
	defer func() {
		if t.partial && err == nil {
			corners = append(corners, t.addGreedy(in)...)
		}
	}()
	if t.space == 0 && t.options.SpaceShare == 0 {
		asks := []ask{{-1, 0}}
		for _, step := range t.distinctSteps() {
			asks = append(asks, ask{step, 0})
		}
		_, err = run(asks)
		return in, corners, err
	}
	free, err := run([]ask{{-1, 0}})
	if err != nil || t.partial {
		return in, corners, err
	}
	size := t.bytesOf(free[0].Open)
	limit := t.space
	if t.options.SpaceShare > 0 {
		limit = t.options.SpaceShare * size
	}
	if limit >= size {
		limit = size
	}
	unit := math.Max(free[0].Cost, 1e-9) / size
	var asks []ask
	for k := range sweepMost - 3 {
		asks = append(asks, ask{-1, unit * math.Pow(sweepRise, float64(k+1))})
	}
	fits := asks[len(asks)-1].price
	results, err := run(asks)
	if err != nil || t.partial {
		return in, corners, err
	}
	for i := len(asks) - 1; i >= 0; i-- {
		if t.bytesOf(results[i].Open) <= limit {
			fits = asks[i].price
		}
	}
	asks = []ask{{-1, fits / 2}}
	for _, step := range evenlySpread(t.distinctSteps(), sweepSteps) { // what a step would have more of than the mean, and what still less
		asks = append(asks, ask{step, fits / float64(t.steps)}, ask{step, fits / 2 / float64(t.steps)})
	}
	_, err = run(asks)
	return in, corners, err
}

// evenlySpread are so many of a list at most, the first and the last among them and the others evenly between.
func evenlySpread(list []int, most int) (some []int) {
	if len(list) <= most {
		return list
	}
	for i := range most {
		some = append(some, list[i*(len(list)-1)/(most-1)])
	}
	return some
}

// distinctSteps are the steps whose weights no step before has, one of each.
func (t *task) distinctSteps() []int {
	var list []int
	met := map[string]bool{}
	for step := range t.steps {
		if key := t.weightsKey(step); !met[key] {
			met[key] = true
			list = append(list, step)
		}
	}
	return list
}
