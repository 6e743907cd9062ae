package contest

import (
	"math"
	"slices"
	"sort"
)

// Prediction is how well a cost model foretold what was measured.
type Prediction struct {
	Model string `json:"model"`
	// Tau is Kendall's over Designs: 1 if the model ranks them as the measurement does, -1 if the other way round.
	Tau     float64    `json:"kendall_tau"`
	Designs []Foretold `json:"designs"`
	// MedianError is the median over Statements of how far the prediction is off, as a share of what was measured.
	MedianError float64    `json:"median_relative_error"`
	P90Error    float64    `json:"p90_relative_error"`
	Statements  []Foretold `json:"statements"`
}

// Foretold is a prediction beside what was measured, milliseconds.
type Foretold struct {
	Name      string  `json:"name"`
	Plan      string  `json:"plan,omitempty"`
	Said      float64 `json:"predicted_ms"`
	Work      float64 `json:"predicted_work_ms"`
	Measured  float64 `json:"measured_ms"`
	Processor float64 `json:"measured_cpu_ms,omitempty"` // of both processes
	Count     int     `json:"count,omitempty"`
}

// Off is how far the prediction is off, as a share of what was measured.
func (f *Foretold) Off() float64 { return math.Abs(f.Said-f.Measured) / f.Measured }

// Judge fills in the figures.
func (p *Prediction) Judge() {
	p.Tau = KendallTau(p.Designs)
	var off []float64
	for i := range p.Statements {
		if p.Statements[i].Measured > 0 {
			off = append(off, p.Statements[i].Off())
		}
	}
	slices.Sort(off)
	if len(off) > 0 {
		p.MedianError, p.P90Error = quantile(off, 0.5), quantile(off, 0.9)
	}
	sort.SliceStable(p.Designs, func(i, j int) bool { return p.Designs[i].Measured < p.Designs[j].Measured })
}

// KendallTau is Kendall's tau-b of what was said and what was measured: pairs that are in the same order less those in the
// opposite one, by the geometric mean of the pairs that are not tied in either. Pairs that differ by less than a
// millionth are tied. It is 0 where everything is.
func KendallTau(all []Foretold) float64 {
	var sum, said, measured float64
	for i := range all {
		for j := range all[:i] {
			a, b := order(all[i].Said, all[j].Said), order(all[i].Measured, all[j].Measured)
			sum += a * b
			said += a * a
			measured += b * b
		}
	}
	if said == 0 || measured == 0 {
		return 0
	}
	return sum / math.Sqrt(said*measured)
}

func order(a, b float64) float64 {
	switch d := a - b; {
	case math.Abs(d) <= 1e-6*max(math.Abs(a), math.Abs(b)):
		return 0
	case d < 0:
		return -1
	default:
		return 1
	}
}
