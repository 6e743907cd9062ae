package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

const line = "%-20s %-19s %10s %10s %10s %8s %8s %9s %9s %7s %9s %8s %8s  %s\n"

// heading prints the names of the columns.
func heading(out io.Writer) {
	fmt.Fprintf(out, line, "workload", "cost model", "cost", "NoSE", "must", "gap", "time", "processor", "NoSE's", "memory", "solver's", "tables", "of", "phases (ms), columns x rows")
}

// row prints a published workload, or a size of random ones: the medians over its seeds.
func row(out io.Writer, group []result) {
	r := median(group)
	verdict := ""
	for k := range group {
		if f := group[k].failed(); f != "" {
			verdict += "  FAILED: " + f
		}
	}
	model := r.Cost
	if model == "" {
		model = "ours (ms)"
	}
	fmt.Fprintf(out, line, r.Name, model, number(r.Value), number(r.NoSE), atMost(r.Most), gap(r), seconds(r.Took), seconds(r.Processor), seconds(r.NoSESeconds), megabytes(r.Peak), megabytes(r.ChildPeak),
		fmt.Sprint(r.Tables), fmt.Sprint(r.Candidates), r.phases()+verdict)
}

// median takes each figure's median over the seeds.
func median(group []result) result {
	r := group[0]
	r.Phases = map[string]float64{}
	r.Value, r.GapLeft = middle(group, func(x *result) float64 { return x.Value }), middle(group, func(x *result) float64 { return x.GapLeft })
	r.Took, r.Peak = middle(group, func(x *result) float64 { return x.Took }), middle(group, func(x *result) float64 { return x.Peak })
	r.ChildPeak, r.Processor = middle(group, func(x *result) float64 { return x.ChildPeak }), middle(group, func(x *result) float64 { return x.Processor })
	for of, figure := range map[*int]func(x *result) float64{
		&r.Tables:     func(x *result) float64 { return float64(x.Tables) },
		&r.Candidates: func(x *result) float64 { return float64(x.Candidates) },
		&r.Columns:    func(x *result) float64 { return float64(x.Columns) },
		&r.Rows:       func(x *result) float64 { return float64(x.Rows) },
	} {
		*of = int(middle(group, figure))
	}
	for _, phase := range r.Order {
		r.Phases[phase] = middle(group, func(x *result) float64 { return x.Phases[phase] })
	}
	r.Proven = true
	for i := range group {
		r.Proven = r.Proven && group[i].Proven
	}
	return r
}

func middle(group []result, figure func(*result) float64) float64 {
	list := make([]float64, len(group))
	for i := range group {
		list[i] = figure(&group[i])
	}
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

func (r *result) phases() string {
	parts := make([]string, 0, len(r.Order))
	for _, p := range r.Order {
		parts = append(parts, fmt.Sprintf("%s %.0f", p, 1000*r.Phases[p]))
	}
	return fmt.Sprintf("%s; %d x %d", strings.Join(parts, ", "), r.Columns, r.Rows)
}

// growth prints how time and candidates grow from scale to scale: the exponent of the straight line through the logarithms
// of the medians, and the worst gap and time of the largest scale.
func growth(out io.Writer, results []result) {
	byScale := map[int][]result{}
	var scales []int
	for _, r := range results {
		if r.Scale == 0 || r.Dense {
			continue
		}
		if len(byScale[r.Scale]) == 0 {
			scales = append(scales, r.Scale)
		}
		byScale[r.Scale] = append(byScale[r.Scale], r)
	}
	if len(scales) < 2 {
		return
	}
	for _, what := range []struct {
		name   string
		figure func(*result) float64
	}{
		{"time", func(r *result) float64 { return r.Took }},
		{"processor time", func(r *result) float64 { return r.Processor }},
		{"candidates", func(r *result) float64 { return float64(r.Candidates) }},
		{"memory", func(r *result) float64 { return r.Peak }},
	} {
		fmt.Fprintf(out, "random workloads: median %s grows with n^%.2f (n: the scale)\n", what.name, exponent(scales, func(scale int) float64 { return middle(byScale[scale], what.figure) }))
	}
	last := byScale[scales[len(scales)-1]]
	slowest, widest := 0.0, 0.0
	for i := range last {
		slowest, widest = max(slowest, last[i].Took), max(widest, last[i].GapLeft)
	}
	fmt.Fprintf(out, "random workloads at %dx: slowest %s, widest gap %.2g %%\n", scales[len(scales)-1], seconds(slowest), 100*widest)
}

// exponent is the slope of the least-squares line through (log scale, log value).
func exponent(scales []int, value func(int) float64) float64 {
	var n, x, y, xx, xy float64
	for _, s := range scales {
		a, b := math.Log(float64(s)), math.Log(max(value(s), 1e-9))
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

func number(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}

func atMost(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("<=%.5g", v)
}

func gap(r result) string {
	if r.Proven {
		return "proven"
	}
	return fmt.Sprintf("%.2g %%", 100*r.GapLeft)
}

func seconds(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.2f s", v)
	}
	return fmt.Sprintf("%.0f s", v)
}

func megabytes(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MB", v)
}
