package contest

import (
	"cmp"
	"math"
	"slices"

	"github.com/helenus-db/helenus/internal/chart"
)

// RequestsChart is after figure 17 of seed 003: the mean response time of each kind of request of a mix over each design,
// in ascending order of how often it is sent, and the weighted mean at the end.
func (r *Result) RequestsChart(mix string, entries, names []string) (*chart.Chart, error) {
	var rows []*Row
	for i := range r.Requests {
		if row := &r.Requests[i]; row.Statement == "" && row.Weights[mix] > 0 {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Weights[mix], b.Weights[mix]) })
	groups := make([]string, 0, len(rows)+1)
	for _, row := range rows {
		groups = append(groups, row.Request)
	}
	series := make([]chart.Series, len(entries))
	for i, e := range entries {
		series[i].Name = names[i]
		for _, row := range rows {
			series[i].Y = append(series[i].Y, positive(row.Took[e].Mean))
		}
	}
	for k := range r.Mixes {
		if m := &r.Mixes[k]; m.Name == mix {
			groups = append(groups, "weighted")
			for i, e := range entries {
				series[i].Y = append(series[i].Y, positive(m.Means[e]))
			}
		}
	}
	return chart.Bars(chart.Frame{Title: "Response time of each kind of request, mix " + mix, Y: "mean, ms", LogY: true, Width: 900, Height: 420}, groups, series...)
}

// MixesChart is after figure 18: the weighted mean of each mix over the design for it, and over the others.
func (r *Result) MixesChart(others, names []string) (*chart.Chart, error) {
	series := make([]chart.Series, len(others)+1)
	series[0].Name = "ours, designed for the mix"
	for i := range others {
		series[i+1].Name = names[i]
	}
	var groups []string
	for i := range r.Mixes {
		m := &r.Mixes[i]
		groups = append(groups, m.Name)
		series[0].Y = append(series[0].Y, positive(m.Means[m.Ours]))
		for k, e := range others {
			series[k+1].Y = append(series[k+1].Y, positive(m.Means[e]))
		}
	}
	return chart.Bars(chart.Frame{Title: "Weighted mean response time of each mix", Y: "ms", LogY: true}, groups, series...)
}

// GrowthChart is after figure 19: how long the advisor takes for random workloads.
func (r *Result) GrowthChart() (*chart.Chart, error) {
	var median, least, most chart.Series
	median.Name, least.Name, most.Name = "median", "least", "most"
	for _, g := range r.Growth {
		x := float64(g.Scale)
		for _, p := range []struct {
			s *chart.Series
			y float64
		}{{&median, g.Seconds}, {&least, g.Least}, {&most, g.Most}} {
			p.s.X, p.s.Y = append(p.s.X, x), append(p.s.Y, p.y)
		}
	}
	return chart.Lines(chart.Frame{Title: "Running time of the advisor over random workloads (N-61)", X: "workload scale factor", Y: "s"}, median, least, most)
}

// Charts are what was predicted against what was measured: statements, and designs.
func (p *Prediction) Charts() ([]*chart.Chart, error) {
	var charts []*chart.Chart
	for _, x := range []struct {
		title string
		all   []Foretold
	}{{"Plans of statements", p.Statements}, {"Designs, weighted mean", p.Designs}} {
		points := chart.Series{Name: ""}
		least, most := math.Inf(1), 0.0
		for i := range x.all {
			f := &x.all[i]
			if f.Said > 0 && f.Measured > 0 {
				points.X, points.Y = append(points.X, f.Said), append(points.Y, f.Measured)
				least, most = min(least, f.Said, f.Measured), max(most, f.Said, f.Measured)
			}
		}
		if len(points.X) == 0 {
			continue
		}
		c, err := chart.Scatter(chart.Frame{Title: x.title, X: "predicted, ms", Y: "measured, ms", LogX: true, LogY: true, Width: 400, Height: 380},
			points, chart.Series{Name: "as predicted", X: []float64{least, most}, Y: []float64{least, most}, Guide: true})
		if err != nil {
			return nil, err
		}
		charts = append(charts, c)
	}
	return charts, nil
}

// positive is what a logarithmic axis can show, else nothing.
func positive(x float64) float64 {
	if x > 0 {
		return x
	}
	return math.NaN()
}
