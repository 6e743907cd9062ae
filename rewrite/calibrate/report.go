package calibrate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	align "github.com/jedib0t/go-pretty/v6/text"

	"github.com/helenus-db/helenus/internal/chart"
	"github.com/helenus-db/helenus/internal/words"
)

// WriteParameters writes the parameters as cost.ReadCassandra reads them: what --cost of `helenus design` and `cost` of `helenus run`
// take. What is known of the cluster and of the fit stands beside them as comments.
func (r *Result) WriteParameters(w io.Writer) error {
	var b strings.Builder
	f := &r.Cluster
	for _, line := range []string{
		"Parameters of the cost model cassandra, fitted by `helenus calibrate`; use: helenus design --cost FILE, or cost: FILE in",
		"the configuration of helenus run. Times are milliseconds. docs/calibrate.md explains them.",
		"",
		"cluster:  " + f.String(),
		fmt.Sprintf("measured: %s, %d rounds in %.0f s, seed %d, by %s", f.Date, f.Rounds, f.Seconds, f.Seed, f.Machine),
		fmt.Sprintf("fit:      %s", r.quality()),
	} {
		comment(&b, line)
	}
	for _, n := range r.Notes {
		comment(&b, "note:     "+n)
	}
	fmt.Fprintf(&b, "model: cassandra\nconsistency: %s\n", f.Consistency)
	for _, p := range r.Parameters {
		if p.Value == 0 {
			continue // the default, which is none
		}
		fmt.Fprintf(&b, "%s: %s # %s\n", p.Key, number(p.Value), p.remark())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// comment writes a line that may hold anything.
func comment(b *strings.Builder, line string) {
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			return ' '
		}
		return r
	}, line)
	b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
}

// number writes a value in four digits.
func number(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// remark says how far a parameter is to be believed.
func (p *Parameter) remark() string {
	var parts []string
	if p.Error > 0 && !math.IsInf(p.Error, 0) {
		parts = append(parts, "+- "+number(p.Error))
	} else if p.Fitted {
		parts = append(parts, "fitted")
	}
	if p.Why != "" {
		parts = append(parts, p.Why)
	}
	return strings.Join(parts, "; ")
}

func (r *Result) quality() string {
	return fmt.Sprintf("R2 %.3f (of logarithms), relative error of %d shapes: median %.0f %%, worst %.0f %%", r.R2, len(r.Shapes), 100*r.MedianOff, 100*r.MostOff)
}

// JSON writes the result with all measurements.
func (r *Result) JSON(w io.Writer) error {
	return words.JSON(w, r)
}

// Text writes the result for a person.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.Cluster.String(), r.quality())
	for _, n := range r.Notes {
		fmt.Fprintln(&b, n)
	}
	style := func(t table.Writer, right ...int) string {
		t.SetStyle(table.StyleLight)
		t.Style().Options = table.Options{}
		t.Style().Format.Header = align.FormatUpper
		var columns []table.ColumnConfig
		for _, n := range right {
			columns = append(columns, table.ColumnConfig{Number: n, Align: align.AlignRight, AlignHeader: align.AlignRight})
		}
		t.SetColumnConfigs(columns)
		return "\n" + t.Render() + "\n"
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"parameter", "value", "+-", ""})
	for _, p := range r.Parameters {
		off := "-"
		if p.Error > 0 {
			off = number(p.Error)
		}
		t.AppendRow(table.Row{p.Key, number(p.Value), off, p.Why})
	}
	b.WriteString(style(t, 2, 3))
	t = table.NewWriter()
	t.AppendHeader(table.Row{"measured", "times", "p25 ms", "p50 ms", "p75 ms", "predicted", "off"})
	for i := range r.Shapes {
		s := &r.Shapes[i]
		t.AppendRow(table.Row{s.Name, s.Count, ms(s.Low), ms(s.Median), ms(s.High), ms(s.Predicted), fmt.Sprintf("%+.0f %%", 100*s.Error())})
	}
	b.WriteString(style(t, 2, 3, 4, 5, 6, 7))
	_, err := io.WriteString(w, b.String())
	return err
}

func ms(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

const chartWidth = 640

// Plot draws the fit against the measurements as SVG: all together, then family by family.
func (r *Result) Plot(w io.Writer) error {
	frame := func(title string) chart.Frame {
		return chart.Frame{Title: title, X: "measured (median), ms", Y: "predicted, ms", LogX: true, LogY: true, Width: chartWidth}
	}
	var families []string
	points := map[string]*chart.Series{}
	least, most := math.Inf(1), 0.0
	for i := range r.Shapes {
		s := &r.Shapes[i]
		if points[s.Family] == nil {
			families = append(families, s.Family)
			points[s.Family] = &chart.Series{Name: s.Family}
		}
		p := points[s.Family]
		p.X, p.Y = append(p.X, s.Median), append(p.Y, s.Predicted)
		least, most = min(least, s.Median, s.Predicted), max(most, s.Median, s.Predicted)
	}
	all := []chart.Series{{Name: "as predicted", X: []float64{least, most}, Y: []float64{least, most}, Guide: true}}
	for _, f := range families {
		all = append(all, *points[f])
	}
	fit, err := chart.Scatter(frame(fmt.Sprintf("Fit against measurement: R2 %.3f, median error %.0f %%", r.R2, 100*r.MedianOff)), all...)
	if err != nil {
		return fmt.Errorf("calibrate: plot: %w", err)
	}
	charts := []*chart.Chart{fit}
	for _, f := range families {
		var names []string
		measured, predicted := chart.Series{Name: "measured (median)"}, chart.Series{Name: "predicted"}
		for i := range r.Shapes {
			if s := &r.Shapes[i]; s.Family == f {
				names = append(names, s.Name)
				measured.Y, predicted.Y = append(measured.Y, s.Median), append(predicted.Y, s.Predicted)
			}
		}
		c, err := chart.Bars(chart.Frame{Title: f, Y: "ms", LogY: true, Width: chartWidth}, names, measured, predicted)
		if err != nil {
			return fmt.Errorf("calibrate: plot: %w", err)
		}
		charts = append(charts, c)
	}
	return chart.SVG(w, 2, charts...)
}
