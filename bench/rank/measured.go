package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/options"
)

// Measured is what the best options took on a real Cassandra (B-40, B-41, B-52).
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
	Costs    *options.Costs    `json:"costs_ms,omitempty"` // metrics 3a and 3b, measured
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

// Text writes it.
func (m *Measured) Text(w io.Writer) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("\n## measured\n")
	say("on Cassandra %s, %.0f of the most frequent entity, %d requests", m.Cassandra, m.Rows, m.Requests)
	say("\n%-14s %9s %9s %10s %10s %8s", "option", "computed", "measured", "score", "mean ms", "+-")
	for _, o := range m.Options {
		say("%-14s %9d %9d %10.4f %10.3f %8.3f", o.Name, o.Computed, o.Measured, o.Score, o.MeanMs, 2*o.ErrorMs)
	}
	if m.Tau != nil {
		say("\nKendall's tau of the two rankings: %.2f (1: the same, -1: reversed)", *m.Tau)
	}
	switch n := len(m.Options); {
	case m.TauApart != nil:
		say("of the %d of %d pairs that differ by more than the noise: %.2f", m.Apart, n*(n-1)/2, *m.TauApart)
	case m.Tau != nil:
		say("no pair differs by more than the noise: the options are as good as each other, or -for is too short")
	}
	if c := m.Costs; c != nil {
		say("\na row by its key %.3f ms, by an index %.3f ms (metric 3a); a kilobyte more of it %.4f ms (metric 3b)", c.Key, c.Index, 1024*c.Byte)
	}
	for _, id := range slices.Sorted(maps.Keys(m.Left)) {
		say("not measured: %s: %s", id, m.Left[id])
	}
	if m.Incomplete != "" {
		say("\nincomplete: %s", m.Incomplete)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
