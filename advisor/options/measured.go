package options

import (
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Measured is what the best options took on a real Cassandra (B-40, B-41, B-52; package bench/rank measures).
type Measured struct {
	Cassandra string            `json:"cassandra"` // version
	Rows      float64           `json:"rows"`      // entities of the largest kind
	Requests  int               `json:"requests"`  // that were sent and counted, over all options
	Options   []MeasuredOption  `json:"options"`   // by computed rank
	Tau       *float64          `json:"kendall_tau,omitempty"`
	Left      map[string]string `json:"left_out,omitempty"` // statements that no option was asked, and why
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
	Requests map[string]float64 `json:"request_ms,omitempty"` // mean of each kind of request
}

// Tau is Kendall's: 1 if the measured ranking is the computed one, -1 if it is that reversed; nil of less than two options.
func Tau(list []MeasuredOption) *float64 {
	pairs, sum := 0, 0
	for i, a := range list {
		for _, b := range list[:i] {
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
		return nil
	}
	tau := float64(sum) / float64(pairs)
	return &tau
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
	p.say("\n%-14s %9s %9s %10s %10s", "option", "computed", "measured", "score", "mean ms")
	for _, o := range m.Options {
		p.say("%-14s %9d %9d %10.4f %10.3f", o.Name, o.Computed, o.Measured, o.Score, o.MeanMs)
	}
	if m.Tau != nil {
		p.say("\nKendall's tau of the two rankings: %.2f (1: the same, -1: reversed)", *m.Tau)
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
