package calendar

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/diagram/svg"
)

// Sizes, in pixels.
const (
	margin      = 28
	leastWidth  = 680 // of time
	mostWidth   = 1150
	usualStep   = 34
	mostGutter  = 230 // for names
	room        = 12  // between names and time
	panel       = 30  // height of a small chart
	panelGap    = 8
	row         = 24
	bar         = 14
	costs       = 170
	sectionGap  = 34
	headingRoom = 18
	sideRoom    = 74 // right of time, for numbers
)

// drawing is a chart on its way to a sheet.
type drawing struct {
	*Chart
	s      svg.Sheet
	gutter float64
	edges  []float64 // x of the beginning of each step, and of the end of the last
	y      float64
}

// SVG draws the chart. A chart without steps, or with lists of other lengths, is an error.
func (c *Chart) SVG(w io.Writer, theme svg.Theme) error {
	if err := c.check(); err != nil {
		return err
	}
	d := &drawing{Chart: c}
	d.measure()
	d.s.Text(margin, margin+16, svg.Start, c.Title, svg.Title)
	d.s.Text(margin, margin+38, svg.Start, c.Subtitle, svg.Subtitle)
	d.y = margin + 62
	d.weights()
	d.tables()
	d.statements()
	d.costs()
	right := max(d.edges[len(d.edges)-1]+sideRoom, margin+svg.Width(c.Subtitle, svg.Subtitle))
	return d.s.Write(w, right+margin/2, d.y+margin/2, c.Title, c.description(), theme)
}

// check says what can not be drawn.
func (c *Chart) check() error {
	n := len(c.Steps)
	if n == 0 {
		return errors.New("calendar: there are no steps to draw")
	}
	fits := func(what string, length int) error {
		if length != n {
			return fmt.Errorf("calendar: %s has %d values for %d steps", what, length, n)
		}
		return nil
	}
	finite := func(what string, values []float64) error {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("calendar: %s has the value %g", what, v)
			}
		}
		return fits(what, len(values))
	}
	var errs []error
	for _, list := range [][]Series{c.Groups, c.Baselines, {{"the cost", c.Cost}}} {
		for _, s := range list {
			errs = append(errs, finite(s.Name, s.Values))
		}
	}
	for _, t := range c.Tables {
		errs = append(errs, fits(t.Name, len(t.Open)), fits(t.Name, len(t.Created)))
	}
	for _, s := range c.Statements {
		errs = append(errs, fits(s.Name, len(s.Changed)), fits(s.Name, len(s.Tables)))
	}
	return errors.Join(errs...)
}

func (c *Chart) description() string {
	var names []string
	for _, t := range c.Tables {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("%s. A calendar of %d steps with %d tables: %s.", c.Subtitle, len(c.Steps), len(c.Tables), strings.Join(names, ", "))
}

// measure finds the width of names and steps.
func (d *drawing) measure() {
	widest := func(name string) { d.gutter = max(d.gutter, min(svg.Width(name, svg.Body), mostGutter)) }
	for _, g := range d.Groups {
		widest(g.Name)
	}
	for _, t := range d.Tables {
		widest(t.Name)
	}
	for _, s := range d.Statements {
		widest(s.Name)
	}
	total := time.Duration(0)
	for _, l := range d.Steps {
		total += max(l, 1)
	}
	width := min(max(float64(len(d.Steps))*usualStep, leastWidth), mostWidth)
	x := margin + d.gutter + room
	d.edges = append(d.edges, x)
	for _, l := range d.Steps {
		x += width * float64(max(l, 1)) / float64(total)
		d.edges = append(d.edges, x)
	}
}

func (d *drawing) left() float64  { return d.edges[0] }
func (d *drawing) right() float64 { return d.edges[len(d.edges)-1] }

// name writes what a row is called, before it.
func (d *drawing) name(text string, base float64) {
	fitted, _ := svg.Fit(text, svg.Body, d.gutter)
	d.s.Text(d.left()-room, base, svg.Finish, fitted, svg.Body)
}

func (d *drawing) heading(text string) {
	d.s.Text(margin, d.y+11, svg.Start, text, svg.Heading)
	d.y += headingRoom
}

// steps writes the numbers of steps, as many as there is room for, and lines between steps down to a height.
func (d *drawing) steps(height float64) {
	last := math.Inf(-1)
	for i := range d.Steps {
		text := fmt.Sprint(i)
		middle, width := (d.edges[i]+d.edges[i+1])/2, svg.Width(text, svg.Tick)
		if middle-width/2 > last+6 {
			d.s.Text(middle, d.y+10, svg.Middle, text, svg.Tick)
			last = middle + width/2
		}
	}
	d.y += 16
	path := &svg.Path{}
	for _, x := range d.edges {
		path.Move(x, d.y).Line(x, d.y+height)
	}
	d.s.Path(path, svg.Grid)
}

// weights draws the small charts.
func (d *drawing) weights() {
	if len(d.Groups) == 0 {
		return
	}
	d.heading("Weights, executions per second")
	for _, g := range d.Groups {
		most := 0.0
		for _, v := range g.Values {
			most = max(most, v)
		}
		base := d.y + panel
		line, area := &svg.Path{}, (&svg.Path{}).Move(d.left(), base)
		for i, v := range g.Values {
			y := base
			if most > 0 {
				y -= max(0, v) / most * (panel - 2)
			}
			if i == 0 {
				line.Move(d.edges[i], y)
			} else {
				line.Line(d.edges[i], y)
			}
			line.Line(d.edges[i+1], y)
			area.Line(d.edges[i], y).Line(d.edges[i+1], y)
		}
		d.s.Group("weights", g.Name, func() {
			d.s.Path(area.Line(d.right(), base).Close(), svg.Area)
			d.s.Path((&svg.Path{}).Move(d.left(), base).Line(d.right(), base), svg.Grid)
			d.s.Path(line, svg.First)
			d.name(g.Name, d.y+panel/2+5)
			d.s.Text(d.right()+8, d.y+11, svg.Start, "max "+short(most), svg.Tick)
		})
		d.y += panel + panelGap
	}
	d.y += sectionGap - panelGap
}

// tables draws the bars.
func (d *drawing) tables() {
	d.heading("Tables")
	d.steps(float64(len(d.Tables)) * row)
	for _, t := range d.Tables {
		top := d.y + (row-bar)/2
		class := svg.Kept
		detail := t.Name + "\n" + t.Detail
		if t.There {
			class = svg.Same
			detail += "\nthe application's own"
		}
		d.s.Group("table", detail, func() {
			d.name(t.Name, top+bar-3)
			for i := 0; i < len(t.Open); i++ {
				if t.Created[i] && i > 0 {
					d.s.Hatched(d.edges[i-1]+1, top, d.edges[i]-d.edges[i-1]-1, bar, svg.Making)
				}
				if !t.Open[i] {
					continue
				}
				end := i
				for end < len(t.Open) && t.Open[end] {
					end++
				}
				d.s.Rect(d.edges[i]+1, top, d.edges[end]-d.edges[i]-2, bar, 3, class)
				if end < len(t.Open) {
					x, y := d.edges[end]+6, top+bar/2
					d.s.Path((&svg.Path{}).Move(x-4, y-4).Line(x+4, y+4).Move(x+4, y-4).Line(x-4, y+4), svg.Dropped)
				}
				i = end - 1
			}
		})
		d.y += row
	}
	d.y += 8
	d.key()
	d.y += sectionGap - 8
}

// key explains the bars.
func (d *drawing) key() {
	x, y := d.left(), d.y
	write := func(text string) {
		d.s.Text(x+24, y+10, svg.Start, text, svg.Tick)
		x += 24 + svg.Width(text, svg.Tick) + 22
	}
	d.s.Rect(x, y, 18, 11, 3, svg.Kept)
	write("kept")
	d.s.Hatched(x, y, 18, 11, svg.Making)
	write("being filled")
	d.s.Path((&svg.Path{}).Move(x+5, y+1.5).Line(x+13, y+9.5).Move(x+13, y+1.5).Line(x+5, y+9.5), svg.Dropped)
	write("dropped")
	for _, t := range d.Tables {
		if t.There {
			d.s.Rect(x, y, 18, 11, 3, svg.Same)
			write("the application's own")
			break
		}
	}
	d.y += 12
}

// statements draws where plans change.
func (d *drawing) statements() {
	if len(d.Statements) == 0 {
		return
	}
	d.heading("Statements whose plans change")
	d.steps(float64(len(d.Statements)) * row)
	for _, s := range d.Statements {
		middle := d.y + row/2
		d.s.Group("statement", "", func() {
			d.name(s.Name, middle+4)
			d.s.Rect(d.left()+1, middle-2, d.right()-d.left()-2, 4, 2, svg.Same)
			for i, changed := range s.Changed {
				if !changed {
					continue
				}
				x := d.edges[i]
				d.s.Group("change", fmt.Sprintf("step %d: %s\nbefore: %s", i, s.Tables[i], s.Tables[i-1]), func() {
					d.s.Path((&svg.Path{}).Move(x, middle-6).Line(x+6, middle).Line(x, middle+6).Line(x-6, middle).Close(), svg.Change)
				})
			}
		})
		d.y += row
	}
	d.y += sectionGap
}

// costs draws the cost of each step, and the baselines'.
func (d *drawing) costs() {
	heading := "Cost of each step"
	if d.Unit != "" {
		heading += ", " + d.Unit
	}
	d.heading(heading)
	d.steps(costs)
	all := append([]Series{{"this calendar", d.Cost}}, d.Baselines...)
	most := 0.0
	for _, s := range all {
		for _, v := range s.Values {
			most = max(most, v)
		}
	}
	if most <= 0 {
		most = 1
	}
	base := d.y + costs
	unit := tick(most)
	top := math.Ceil(most/unit) * unit
	for v := 0.0; v <= top+unit/2; v += unit {
		y := base - v/top*costs
		d.s.Path((&svg.Path{}).Move(d.left(), y).Line(d.right(), y), svg.Grid)
		d.s.Text(d.left()-8, y+4, svg.Finish, short(v), svg.Tick)
	}
	class := func(i int) svg.Class {
		if i == 0 {
			return svg.Own
		}
		return svg.Series[i%len(svg.Series)]
	}
	for i := len(all) - 1; i >= 0; i-- { // the calendar over the others
		line := &svg.Path{}
		for j, v := range all[i].Values {
			y := base - max(0, v)/top*costs
			if j == 0 {
				line.Move(d.edges[j], y)
			} else {
				line.Line(d.edges[j], y)
			}
			line.Line(d.edges[j+1], y)
		}
		d.s.Group("cost", all[i].Name, func() { d.s.Path(line, class(i)) })
	}
	d.y = base + 14
	x := d.left()
	for i, s := range all {
		width := 24 + svg.Width(s.Name, svg.Tick) + 22
		if x > d.left() && x+width > d.right()+sideRoom {
			x, d.y = d.left(), d.y+18
		}
		d.s.Path((&svg.Path{}).Move(x, d.y+6).Line(x+18, d.y+6), class(i))
		d.s.Text(x+24, d.y+10, svg.Start, s.Name, svg.Tick)
		x += width
	}
	d.y += 16
}

// tick is a round number of which there are three to six up to most.
func tick(most float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, n := range []float64{0.2, 0.25, 0.5, 1} {
		if most/(unit*n) <= 6 {
			return unit * n
		}
	}
	return unit * 2
}
