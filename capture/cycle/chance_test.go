package cycle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
)

// stationary are series in which there is no cycle.
var stationary = map[string]func(random *rand.Rand) func(int, time.Time) float64{
	"poisson": func(random *rand.Rand) func(int, time.Time) float64 {
		return constant(math.Exp(random.Float64()*12 - 3)) // 0.05 to 8,000 an hour
	},
	"random walk": func(random *rand.Rand) func(int, time.Time) float64 {
		level, step := math.Exp(3+random.Float64()*5), 0.02+0.2*random.Float64()
		return func(int, time.Time) float64 {
			level *= math.Exp(step * random.NormFloat64())
			level = min(max(level, 1), 1e7)
			return level
		}
	},
	"bursts": func(random *rand.Rand) func(int, time.Time) float64 {
		base, chance, left := 20*random.Float64(), 0.005+0.1*random.Float64(), 0.0
		return func(int, time.Time) float64 {
			if random.Float64() < chance {
				left = math.Exp(random.Float64() * 9)
			}
			left *= 0.6
			return base + left
		}
	},
	"mean reverting": func(random *rand.Rand) func(int, time.Time) float64 {
		level, keep, base := 0.0, random.Float64(), math.Exp(2+random.Float64()*5)
		return func(int, time.Time) float64 {
			level = keep*level + 0.4*random.NormFloat64()
			return base * math.Exp(level)
		}
	},
}

// TestNoCycleIsInvented: of 1,000 random stationary series at most 1 % are taken for cycles, by the default thresholds. There are 240, unless
// HELENUS_TEST_SERIES says how many of each of the four kinds: 250 are seconds, and minutes with the race detector.
func TestNoCycleIsInvented(t *testing.T) {
	each := uint64(60)
	if n, err := strconv.ParseUint(os.Getenv("HELENUS_TEST_SERIES"), 10, 32); err == nil {
		each = n
	}
	accepted, all := map[string]int{}, 0
	for name, make := range stationary {
		for seed := range each {
			random := rand.New(rand.NewPCG(seed, 7))
			m := newMade([]int{5, 9, 14, 21, 30}[seed%5], seed)
			r := m.say(make(random)).find(t, cycle.Options{Seed: seed})
			all++
			for _, p := range r.Statements[0].Patterns {
				if p.Verdict == cycle.Reliable {
					accepted[name+" "+p.Name]++
				}
				if p.Name != cycle.Trend && p.Verdict != cycle.Short && p.Chance <= 0.005 {
					accepted[name+" "+p.Name+" by chance alone"]++
				}
			}
			if r.Cycle != nil {
				accepted["any"]++
			}
		}
	}
	t.Log(all, accepted)
	if accepted["any"] > all/100 {
		t.Errorf("%d of %d random series are cycles: %v", accepted["any"], all, fmt.Sprint(accepted))
	}
}
