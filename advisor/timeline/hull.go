package timeline

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// hull are the best designs for one set of weights as space gets dearer: all that are best at some price of space, which are
// the corners of the lower convex hull of what designs cost and take. What is best within a limit lies between two of
// them, or is one.
//
// At a price of space there is no limit, so that the problem falls into parts, which package choice proves best in a moment,
// where a limit ties all together: the integer program of seed 004's workloads does not get there in a minute. So corners
// are the promising tables of a step, and a bound on what the step can cost.
type hull struct {
	corners []corner
	bound   float64 // no design within the limit costs less
}

type corner struct {
	open       []bool
	cost, size float64
}

// hullGap is how good a corner is: what is known of the others does not depend on it.
const hullGap = 1e-4

// mostCorners is how many corners are looked for.
const mostCorners = 12

// hullOf looks for the corners around a limit: the segment that the limit cuts is divided until there is no corner within.
func (t *task) hullOf(ctx context.Context, weights []float64, limit float64) (*hull, error) {
	plain := t.static(weights, 0)
	h := &hull{bound: math.Inf(-1)}
	at := func(price float64) (corner, error) {
		p := *plain
		p.Tables = append([]choice.Table(nil), plain.Tables...)
		for n := range p.Tables {
			if !p.Tables[n].Free {
				p.Tables[n].Upkeep += price * p.Tables[n].Size
			}
		}
		r, err := choice.Solve(ctx, &p, choice.Options{Limits: solve.Limits{Gap: hullGap}})
		if err != nil {
			return corner{}, t.explained(err, 0, limit)
		}
		c := corner{open: r.Open, cost: plain.Cost(r.Open), size: t.bytes(r.Open)}
		h.corners = append(h.corners, c)
		if debugHull != nil {
			debugHull(price, c, r.Proven)
		}
		h.bound = max(h.bound, r.Bound-price*limit)
		return c, nil
	}
	large, err := at(0)
	if err != nil || limit == 0 || large.size <= limit {
		return h, err
	}
	// The smallest: space so dear that nothing else counts much.
	price := math.Max(large.cost, 1) / limit
	small := large
	for range 40 {
		if small, err = at(price); err != nil {
			return nil, err
		}
		if small.size <= limit {
			break
		}
		price *= 16
	}
	for small.size <= limit && len(h.corners) < mostCorners {
		price := (small.cost - large.cost) / (large.size - small.size)
		next, err := at(price)
		if err != nil {
			return nil, err
		}
		value := func(c corner) float64 { return c.cost + price*c.size }
		if value(next) >= value(large)*(1-1e-9) || next.size == large.size || next.size == small.size {
			break
		}
		if next.size <= limit {
			small = next
		} else {
			large = next
		}
	}
	return h, nil
}

var debugHull func(price float64, c corner, proven bool)
