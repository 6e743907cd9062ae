package cycle

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// cost is what a set of places at which steps begin costs, counted directly.
func (c *segmentation) cost(starts []int) float64 {
	sum := float64(len(starts)) * c.stepPenalty()
	for i, from := range starts {
		n := c.places
		if len(starts) > 1 {
			n = (starts[(i+1)%len(starts)] - from + c.places) % c.places
		}
		for _, v := range c.values {
			mean := 0.0
			for k := range n {
				mean += v[(from+k)%c.places] / float64(n)
			}
			for k := range n {
				d := v[(from+k)%c.places] - mean
				sum += d * d
			}
		}
	}
	return sum
}

// TestCutsAreTheBest: of all ways to cut, tried one by one, none is better.
func TestCutsAreTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places, least := rapid.IntRange(1, 9).Draw(t, "places"), rapid.IntRange(0, 3).Draw(t, "least")
		c := &segmentation{places: places, round: rapid.Bool().Draw(t, "round")}
		for range rapid.IntRange(0, 3).Draw(t, "statements") {
			v := make([]float64, places)
			for j := range v {
				v[j] = float64(rapid.IntRange(0, 6).Draw(t, "value"))
			}
			c.values, c.noise = append(c.values, v), append(c.noise, rapid.Float64Range(0, 0.3).Draw(t, "noise"))
		}
		got := c.optimalCuts(least)
		best := c.cost([]int{0})
	next:
		for set := uint(1); set < 1<<places; set++ {
			if bits.OnesCount(set) < 2 || !c.round && set&1 == 0 {
				continue
			}
			var starts []int
			for j := range places {
				if set>>j&1 == 1 {
					starts = append(starts, j)
				}
			}
			for i, from := range starts {
				if n := (starts[(i+1)%len(starts)] - from + places) % places; n < least {
					continue next
				}
			}
			best = min(best, c.cost(starts))
		}
		if cost := c.cost(got); math.Abs(cost-best) > 1e-6*(1+best) {
			t.Fatalf("cut at %v costs %g, the best %g", got, cost, best)
		}
	})
}

// TestNoiseIsNotCut: what differs by noise alone is one step, nearly always.
func TestNoiseIsNotCut(t *testing.T) {
	const all = 200
	cut := 0
	for seed := range uint64(all) {
		random := random(seed)
		c := &segmentation{places: perDay, round: true}
		for range 5 {
			v := make([]float64, perDay)
			for j := range v {
				v[j] = 20 + random.NormFloat64()
			}
			c.values, c.noise = append(c.values, v), append(c.noise, 1)
		}
		if len(c.optimalCuts(0)) > 1 {
			cut++
		}
	}
	if cut > all/20 {
		t.Errorf("%d of %d courses of noise are cut", cut, all)
	}
}
