package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/helenus-db/helenus/internal/words"
)

// Frame is what stands around the data: texts, and how the axes go. The zero Width and Height are those of the style.
type Frame struct {
	Title, X, Y   string
	LogX, LogY    bool    // LogX is of no use to bars
	Width, Height float64 // points (1/72 inch)
}

// Series is what has one colour, and its name in the legend (an empty one is not in it). Bars take one Y for each group, NaN
// where there is none, and no X. Guide is drawn as a thin broken line in either of the others: an expectation, a fit.
type Series struct {
	Name  string
	X, Y  []float64
	Guide bool
}

// Chart is drawn by SVG.
type Chart struct {
	plot          *plot.Plot
	width, height vg.Length
	legend        []entry
}

// entry is a line of the legend.
type entry struct {
	name  string
	thumb plot.Thumbnailer
}

// Bars returns a chart with a bar for each series in each group. On a logarithmic axis bars begin at the decade below the
// least of them.
func Bars(f Frame, groups []string, series ...Series) (*Chart, error) {
	c := begin(f)
	f.LogX = false
	if len(groups) == 0 || len(series) == 0 {
		return nil, errors.New("chart: there is nothing to draw")
	}
	b := &bars{log: f.LogY, values: make([][]float64, len(series))}
	var all []float64
	for i, s := range series {
		if len(s.Y) != len(groups) {
			return nil, fmt.Errorf("chart: series %q has %d values for %d groups", s.Name, len(s.Y), len(groups))
		}
		b.values[i] = s.Y
		all = append(all, slices.DeleteFunc(slices.Clone(s.Y), math.IsNaN)...)
		if s.Name != "" {
			c.legend = append(c.legend, entry{words.Printable(s.Name), swatch(i)})
		}
	}
	if err := check("", all, f.LogY); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("chart: there is nothing to draw")
	}
	names := make([]plot.Tick, len(groups))
	widest := vg.Length(0)
	for i, g := range groups {
		names[i] = plot.Tick{Value: float64(i), Label: words.Printable(g)}
		widest = max(widest, c.plot.X.Tick.Label.Width(names[i].Label))
	}
	c.plot.Add(horizontal(), b)
	c.plot.X.Tick.Marker = plot.ConstantTicks(names)
	c.plot.X.Tick.Length, c.plot.X.Padding, c.plot.Y.Padding = 0, 0, 0
	c.plot.X.Min, c.plot.X.Max = -0.5, float64(len(groups))-0.5
	if widest > c.width*0.85/vg.Length(len(groups)) {
		for i := range names { // viewers whose letters are wider must not write over the axis
			names[i].Label += strings.Repeat(" ", 1+len(names[i].Label)/6)
		}
		c.plot.X.Tick.Label.Rotation = tilt
		c.plot.X.Tick.Label.XAlign, c.plot.X.Tick.Label.YAlign = text.XRight, text.YTop
	}
	if f.LogY {
		c.plot.Y.Min, c.plot.Y.Max = decades(all, 1.2) // at the edge a bar would vanish
		logarithmic(&c.plot.Y)
	} else {
		c.plot.Y.Min, c.plot.Y.Max = min(0, slices.Min(all)), max(0, slices.Max(all))
		if c.plot.Y.Min == c.plot.Y.Max {
			c.plot.Y.Max = 1
		}
		c.plot.Y.Max += (c.plot.Y.Max - c.plot.Y.Min) * 0.05 // room for values
	}
	return c, nil
}

// Lines returns a chart of points that are joined in the order given.
func Lines(f Frame, series ...Series) (*Chart, error) { return points(f, true, series) }

// Scatter returns a chart of points.
func Scatter(f Frame, series ...Series) (*Chart, error) { return points(f, false, series) }

func points(f Frame, joined bool, series []Series) (*Chart, error) {
	c := begin(f)
	c.plot.Add(grid())
	var xs, ys []float64
	number := 0 // of those with colours
	for _, s := range series {
		if len(s.X) != len(s.Y) {
			return nil, fmt.Errorf("chart: series %q has %d x and %d y", s.Name, len(s.X), len(s.Y))
		}
		if err := errors.Join(check(s.Name+" (x)", s.X, f.LogX), check(s.Name+" (y)", s.Y, f.LogY)); err != nil {
			return nil, err
		}
		if len(s.X) == 0 {
			continue
		}
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
		xy := make(plotter.XYs, len(s.X))
		for i := range xy {
			xy[i] = plotter.XY{X: s.X[i], Y: s.Y[i]}
		}
		e := entry{name: words.Printable(s.Name)}
		switch {
		case s.Guide:
			l := &plotter.Line{XYs: xy, LineStyle: guideLine()}
			c.plot.Add(l)
			e.thumb = l
		case joined:
			l := &plotter.Line{XYs: xy, LineStyle: line(number)}
			p := &plotter.Scatter{XYs: xy, GlyphStyle: glyph(number)}
			c.plot.Add(l, p)
			e.thumb = both{l, p}
			number++
		default:
			p := &plotter.Scatter{XYs: xy, GlyphStyle: glyph(number)}
			c.plot.Add(p)
			e.thumb = p
			number++
		}
		if s.Name != "" {
			c.legend = append(c.legend, e)
		}
	}
	if len(xs) == 0 {
		return nil, errors.New("chart: there is nothing to draw")
	}
	for _, a := range []struct {
		axis   *plot.Axis
		log    bool
		values []float64
	}{{&c.plot.X, f.LogX, xs}, {&c.plot.Y, f.LogY, ys}} {
		if a.log {
			a.axis.Min, a.axis.Max = decades(a.values, 1)
			logarithmic(a.axis)
			continue
		}
		a.axis.Min, a.axis.Max = min(0, slices.Min(a.values)), max(0, slices.Max(a.values))
		if a.axis.Min == a.axis.Max {
			a.axis.Max = 1
		}
	}
	return c, nil
}

func begin(f Frame) *Chart {
	c := &Chart{plot: styled(f), width: vg.Length(f.Width), height: vg.Length(f.Height)}
	if f.Width <= 0 {
		c.width = width
	}
	if f.Height <= 0 {
		c.height = height
	}
	return c
}

// check refuses what has no place on an axis.
func check(name string, values []float64, log bool) error {
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("chart: series %s has a value that is no number: %g", name, v)
		case math.Abs(v) > 1e100:
			return fmt.Errorf("chart: series %s has a value beyond all axes: %g", name, v)
		case log && v < 1e-100:
			return fmt.Errorf("chart: series %s has the value %g, which has no place on a logarithmic axis", name, v)
		}
	}
	return nil
}

// decades are the powers of ten around values; the least value over room is above the lower one.
func decades(values []float64, room float64) (least, most float64) {
	low := int(math.Floor(math.Log10(slices.Min(values) * 1.001 / room)))
	high := int(math.Ceil(math.Log10(slices.Max(values) * 0.999)))
	return math.Pow10(low), math.Pow10(max(high, low+1))
}

func logarithmic(a *plot.Axis) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(least, most float64) []plot.Tick {
		var ticks []plot.Tick
		for e := int(math.Round(math.Log10(least))); math.Pow10(e) <= most; e++ {
			ticks = append(ticks, plot.Tick{Value: math.Pow10(e), Label: strconv.FormatFloat(math.Pow10(e), 'g', -1, 64)})
			for i := 2.0; i < 10 && i*math.Pow10(e) <= most; i++ {
				ticks = append(ticks, plot.Tick{Value: i * math.Pow10(e)})
			}
		}
		return ticks
	})
}

// SVG writes the chart alone.
func (c *Chart) SVG(w io.Writer) error { return SVG(w, 1, c) }

// SVG writes charts on one sheet, so many beside each other, row by row. The error is the writer's.
func SVG(w io.Writer, columns int, charts ...*Chart) error {
	columns = max(1, min(columns, len(charts)))
	var widths, heights []vg.Length
	for i, c := range charts {
		if i < columns {
			widths = append(widths, 0)
		}
		if i%columns == 0 {
			heights = append(heights, 0)
		}
		widths[i%columns] = max(widths[i%columns], c.width+2*margin)
		heights[i/columns] = max(heights[i/columns], c.height+2*margin)
	}
	sheet := vgsvg.New(sum(widths)+1, sum(heights)+1) // at least a point, of nothing
	whole := draw.New(sheet)
	whole.SetColor(paper)
	whole.Fill(whole.Rectangle.Path())
	for i, c := range charts {
		column, row := i%columns, i/columns
		left, top := sum(widths[:column]), whole.Max.Y-sum(heights[:row])
		c.draw(draw.Canvas{Canvas: sheet, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left + margin, Y: top - c.height - margin}, Max: vg.Point{X: left + c.width + margin, Y: top - margin},
		}})
	}
	var out bytes.Buffer
	if _, err := sheet.WriteTo(&out); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	// Text is escaped, so that this begins an attribute wherever it stands.
	const attribute = `style="font-family:`
	_, err := w.Write(bytes.ReplaceAll(out.Bytes(), []byte(attribute+family), []byte(attribute+fallbacks)))
	return err
}

func sum(list []vg.Length) (total vg.Length) {
	for _, l := range list {
		total += l
	}
	return total
}
