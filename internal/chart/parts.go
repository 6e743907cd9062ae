package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// draw draws the chart: its plot, and below it the legend, in rows.
func (c *Chart) draw(on draw.Canvas) {
	style := text.Style{Color: color.Black, Font: sans(textSize), Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
	const (
		thumb  = vg.Length(18)
		gap    = vg.Length(6)
		across = vg.Length(15) // between entries
		row    = vg.Length(textSize + 5)
	)
	type placed struct {
		entry
		x   vg.Length
		row int
	}
	var all []placed
	x, rows := vg.Length(0), 0
	for i, e := range c.legend {
		wide := thumb + gap + style.Width(e.name)*widened
		if i == 0 {
			rows = 1
		} else if x+wide > on.Max.X-on.Min.X {
			x, rows = 0, rows+1
		}
		all = append(all, placed{e, x, rows - 1})
		x += wide + across
	}
	foot := row * vg.Length(rows)
	if rows > 0 {
		foot += gap
	}
	c.plot.Draw(draw.Crop(on, 0, 0, foot, 0))
	for _, e := range all {
		y := on.Min.Y + row*vg.Length(rows-e.row) - row
		e.thumb.Thumbnail(&draw.Canvas{Canvas: on.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: on.Min.X + e.x, Y: y + 2}, Max: vg.Point{X: on.Min.X + e.x + thumb, Y: y + row - 3},
		}})
		on.FillText(style, vg.Point{X: on.Min.X + e.x + thumb + gap, Y: y + row/2}, e.name)
	}
}

// bars draws groups of bars: values by series and group.
type bars struct {
	values [][]float64
	log    bool
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	foot := max(0, p.Y.Min) // zero, or where a logarithmic axis begins
	each := barShare / float64(len(b.values))
	style := text.Style{Color: color.Black, Font: sans(smallSize), Handler: plot.DefaultTextHandler, XAlign: text.XCenter, YAlign: text.YBottom}
	for i, series := range b.values {
		for group, v := range series {
			if math.IsNaN(v) {
				continue
			}
			left := float64(group) - barShare/2 + each*float64(i)
			box := vg.Rectangle{Min: vg.Point{X: x(left), Y: y(min(v, foot))}, Max: vg.Point{X: x(left + each*0.94), Y: y(max(v, foot))}}
			c.SetColor(colours[i%len(colours)])
			c.Fill(box.Path())
			if len(b.values)*len(series) <= valuedBars {
				c.FillText(style, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: box.Max.Y + 1}, short(v))
			}
		}
	}
}

// swatch is the legend's sample of the bars of a series.
type swatch int

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.SetColor(colours[int(s)%len(colours)])
	c.Fill(c.Rectangle.Path())
}

// both is a line with marks.
type both [2]plot.Thumbnailer

// Thumbnail implements plot.Thumbnailer.
func (b both) Thumbnail(c *draw.Canvas) {
	b[0].Thumbnail(c)
	b[1].Thumbnail(c)
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = faint, faint
	return g
}

func horizontal() *plotter.Grid {
	g := grid()
	g.Vertical.Color = nil
	return g
}

// short is a value in three digits, without an exponent where that is readable.
func short(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
