package cycle

import (
	"math"
	"slices"
)

// segmentation is what is to be cut into steps: for each statement a value in each place, and the variance of the noise in it. If round, the
// last place is followed by the first.
type segmentation struct {
	values [][]float64 // by statement
	noise  []float64   // by statement: variance of one value
	places int
	round  bool
}

// material is the share of all variance that a further step must explain at least.
const material = 0.02

// stepPenalty is what a step must explain to be worth it: more than the best of all cuts through pure noise would (the sum of weighted
// chi-squares is beyond s + 2 sqrt(s2 x) + 2 m x with a chance below e^-x, where s, s2 and m are the sum, the sum of squares
// and the greatest of the weights: Laurent and Massart 2000; x is log of the squared number of places), and more than a little.
func (c *segmentation) stepPenalty() float64 {
	sum, square, most := 0.0, 0.0, 0.0
	for _, v := range c.noise {
		sum, square, most = sum+v, square+v*v, max(most, v)
	}
	x := 2 * math.Log(float64(c.places))
	return max(sum+2*math.Sqrt(square*x)+2*most*x, material*c.totalSquares(), 1e-12)
}

// totalSquares is the sum of squares about the means of the whole.
func (c *segmentation) totalSquares() float64 {
	sum := 0.0
	for _, v := range c.values {
		mean := 0.0
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			sum += (x - mean) * (x - mean)
		}
	}
	return sum
}

// stepSquares is the sum of squares within a step from each place, by its length: inside[from][length-1].
func (c *segmentation) stepSquares() [][]float64 {
	out := make([][]float64, c.places)
	sums := make([]float64, len(c.values))
	for from := range out {
		most := c.places
		if !c.round {
			most -= from
		}
		out[from] = make([]float64, most)
		clear(sums)
		squares := 0.0
		for n := range most {
			at, about := (from+n)%c.places, 0.0
			for m, v := range c.values {
				x := v[at]
				sums[m] += x
				squares += x * x
				about += sums[m] * sums[m]
			}
			out[from][n] = max(0, squares-about/float64(n+1))
		}
	}
	return out
}

// optimalCuts returns the places at which steps begin, so that the squares within the steps and a penalty for each are least (Bellman's
// optimal partition, exact). None is shorter than least. A round course is cut at its best beginning; one that is not worth
// cutting has one step, from 0. Of equal cuts it is the one with fewest steps, then that which begins earliest.
func (c *segmentation) optimalCuts(least int) []int {
	least = max(1, least)
	whole := []int{0}
	if c.places < 2*least || len(c.values) == 0 {
		return whole
	}
	inside, penalty := c.stepSquares(), c.stepPenalty()
	best, starts := inside[0][c.places-1]+penalty, whole
	begins := 1
	if c.round {
		begins = c.places
	}
	cost, from := make([]float64, c.places+1), make([]int, c.places+1)
	for begin := range begins {
		cost[0] = 0
		for end := 1; end <= c.places; end++ {
			cost[end] = math.Inf(1)
			for at := 0; at <= end-least; at++ {
				if x := cost[at] + inside[(begin+at)%c.places][end-at-1] + penalty; x < cost[end] {
					cost[end], from[end] = x, at
				}
			}
		}
		if from[c.places] == 0 || cost[c.places] >= best-1e-9*math.Abs(best) { // a round course with one cut is one step
			continue
		}
		best, starts = cost[c.places], nil
		for end := c.places; end > 0; end = from[end] {
			starts = append(starts, (begin+from[end])%c.places)
		}
	}
	slices.Sort(starts)
	return starts
}
