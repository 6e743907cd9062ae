package options

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Measured is what the best options took on a real Cassandra (B-40, B-41, B-52; package bench/rank measures).
type Measured struct {
	Cassandra string           `json:"cassandra"` // version
	Rows      float64          `json:"rows"`      // entities of the largest kind
	Requests  int              `json:"requests"`  // that were sent and counted, over all options
	Options   []MeasuredOption `json:"options"`   // by computed rank
	Tau       *float64         `json:"kendall_tau,omitempty"`
	// Apart is how many pairs of options differ by more than the noise, twice the standard error of their difference; TauApart is Kendall's
	// tau of these alone.
	Apart    int               `json:"pairs_apart"`
	TauApart *float64          `json:"kendall_tau_apart,omitempty"`
	Costs    *Costs            `json:"costs_ms,omitempty"` // metrics 3a and 3b, measured
	Left     map[string]string `json:"left_out,omitempty"` // statements that no option was asked, and why
	// Incomplete says why it ended before its time; "": it did not.
	Incomplete string `json:"incomplete,omitempty"`
}

// MeasuredOption is one of the options that were measured.
type MeasuredOption struct {
	Name     string             `json:"name"`
	Computed int                `json:"computed_rank"` // among those measured
	Measured int                `json:"measured_rank"`
	Score    float64            `json:"score"`
	MeanMs   float64            `json:"mean_ms"`              // of a request, weighted as the workload says
	ErrorMs  float64            `json:"standard_error_ms"`    // of the mean
	Requests map[string]float64 `json:"request_ms,omitempty"` // mean of each kind of request
}

// Tau is Kendall's: 1 if the measured ranking is the computed one, -1 if it is that reversed; nil of less than two options.
func Tau(list []MeasuredOption) *float64 {
	_, tau := kendall(list, func(_, _ MeasuredOption) bool { return true })
	return tau
}

// TauApart is Kendall's tau of the pairs that differ by more than the noise, and how many these are.
func TauApart(list []MeasuredOption) (pairs int, tau *float64) {
	return kendall(list, func(a, b MeasuredOption) bool {
		return math.Abs(a.MeanMs-b.MeanMs) > 2*math.Hypot(a.ErrorMs, b.ErrorMs)
	})
}

func kendall(list []MeasuredOption, counts func(a, b MeasuredOption) bool) (pairs int, tau *float64) {
	sum := 0
	for i, a := range list {
		for _, b := range list[:i] {
			if !counts(a, b) {
				continue
			}
			pairs++
			switch ahead := (a.Computed - b.Computed) * (a.Measured - b.Measured); {
			case ahead > 0:
				sum++
			case ahead < 0:
				sum--
			}
		}
	}
	if pairs == 0 {
		return 0, nil
	}
	t := float64(sum) / float64(pairs)
	return pairs, &t
}

// Physical are the option's tables as Cassandra has them.
func (o *Option) Physical() []*model.Table {
	if o.Given {
		return o.given
	}
	list := make([]*model.Table, len(o.Tables))
	for i, t := range o.Tables {
		list[i] = t.Physical()
	}
	return list
}

func (p printer) measured(m *Measured) {
	p.say("\n## measured\n")
	p.say("on Cassandra %s, %.0f of the most frequent entity, %d requests", m.Cassandra, m.Rows, m.Requests)
	p.say("\n%-14s %9s %9s %10s %10s %8s", "option", "computed", "measured", "score", "mean ms", "+-")
	for _, o := range m.Options {
		p.say("%-14s %9d %9d %10.4f %10.3f %8.3f", o.Name, o.Computed, o.Measured, o.Score, o.MeanMs, 2*o.ErrorMs)
	}
	if m.Tau != nil {
		p.say("\nKendall's tau of the two rankings: %.2f (1: the same, -1: reversed)", *m.Tau)
	}
	switch n := len(m.Options); {
	case m.TauApart != nil:
		p.say("of the %d of %d pairs that differ by more than the noise: %.2f", m.Apart, n*(n-1)/2, *m.TauApart)
	case m.Tau != nil:
		p.say("no pair differs by more than the noise: the options are as good as each other, or --for is too short")
	}
	if c := m.Costs; c != nil {
		p.say("\na row by its key %.3f ms, by an index %.3f ms (metric 3a); a kilobyte more of it %.4f ms (metric 3b)", c.Key, c.Index, 1024*c.Byte)
	}
	var left []string
	for _, id := range slices.Sorted(maps.Keys(m.Left)) {
		left = append(left, fmt.Sprintf("%s: %s", id, m.Left[id]))
	}
	p.list("not measured", left)
	if m.Incomplete != "" {
		p.say("\nincomplete: %s", m.Incomplete)
	}
}
