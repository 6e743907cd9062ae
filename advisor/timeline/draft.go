package timeline

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
)

// How single designs are drafted: with so many seeds, of so many changes each.
const (
	draftSeeds   = 2
	draftChanges = 60_000
)

// draftDesigns are designs for the weights of some steps (-1: for those of all), found by annealing: for each the best of all that were met, as what is good for a step is good
// for those that are like it. They are within 2 % of the best mostly, and an integer program that begins from them takes half as long to be proven. nil: there is none.
func (t *task) draftDesigns(ctx context.Context, steps []int, in []bool, corners [][]bool) []*choice.Result {
	begin := in // heat is measured by what it costs
	for _, open := range corners {
		if t.bytesOf(open) <= t.space {
			begin = open
		}
	}
	var asks []*restrictedQuestion
	var met [][]bool
	for _, step := range steps {
		r := t.restrictQuestion(designQuestion{weights: t.weightsAt(step), space: t.space, in: in})
		asks = append(asks, r)
		o := sequence.AnnealOptions{Start: toRestricted([][]bool{begin}, r.keep), Changes: draftChanges}
		for _, open := range annealSeeds(ctx, sequence.SingleStep(r.problem), 0, draftSeeds, o) {
			met = append(met, open[0])
		}
	}
	drafts := make([]*choice.Result, len(steps))
	for i, r := range asks {
		var best []bool
		least := math.Inf(1)
		for _, open := range met {
			if c := r.problem.Cost(open); c < least {
				best, least = open, c
			}
		}
		if best != nil {
			drafts[i] = &choice.Result{Open: fromRestricted([][]bool{best}, r.keep, r.tables)[0], Cost: least, Bound: math.Inf(-1), Engine: "annealing"}
		}
	}
	return drafts
}
