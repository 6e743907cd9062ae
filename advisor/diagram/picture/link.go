package picture

import (
	"math"

	"github.com/helenus-db/helenus/advisor/diagram/layered"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
)

// What the ends of links are made of, in pixels.
const (
	tipLength = 9
	tipHalf   = 4.5
	footReach = 12 // how long a crow's foot is
	footHalf  = 7
	ringOff   = 17 // middle of the ring, or of the second bar
)

// draw draws a link without its label.
func (l *Link) draw(s *svg.Sheet, r *layered.Route, dx, dy float64) {
	if len(r.Points) < 2 {
		return
	}
	points := make([]layered.Point, len(r.Points))
	for i, q := range r.Points {
		points[i] = layered.Point{X: q.X + dx, Y: q.Y + dy}
	}
	class := svg.Line
	switch {
	case l.Double:
		class = svg.Heavy
	case l.Broken:
		class = svg.Broken
	}
	s.Group("link", l.Detail, func() {
		line := points
		if l.Finish == Arrow {
			line = shortened(points, tipLength-1)
		}
		s.Path(rounded(line), class)
		n := len(points)
		end(s, l.Start, points[0], points[1], -9)
		end(s, l.Finish, points[n-1], points[n-2], 17)
	})
}

// shortened ends a way a little before its end, where the tip of an arrow is.
func shortened(points []layered.Point, by float64) []layered.Point {
	n := len(points)
	list := append([]layered.Point(nil), points...)
	dx, dy := direction(points[n-1], points[n-2])
	list[n-1] = layered.Point{X: points[n-1].X + dx*by, Y: points[n-1].Y + dy*by}
	return list
}

// direction is the unit vector from one point to another.
func direction(from, to layered.Point) (dx, dy float64) {
	dx, dy = to.X-from.X, to.Y-from.Y
	if d := math.Hypot(dx, dy); d > 0 {
		return dx / d, dy / d
	}
	return 0, 0
}

// rounded is the way through points with round corners.
func rounded(points []layered.Point) *svg.Path {
	p := (&svg.Path{}).Move(points[0].X, points[0].Y)
	for i := 1; i < len(points)-1; i++ {
		before, at, after := points[i-1], points[i], points[i+1]
		r := min(bend, math.Hypot(at.X-before.X, at.Y-before.Y)/2, math.Hypot(after.X-at.X, after.Y-at.Y)/2)
		bx, by := direction(at, before)
		ax, ay := direction(at, after)
		p.Line(at.X+bx*r, at.Y+by*r).Curve(at.X, at.Y, at.X+ax*r, at.Y+ay*r)
	}
	last := points[len(points)-1]
	return p.Line(last.X, last.Y)
}

// end draws what is at an end: at is on the border of the box, from where the link comes. The cardinality stands beside a
// vertical line, and so far below or above a horizontal one.
func end(s *svg.Sheet, e End, at, from layered.Point, below float64) {
	dx, dy := direction(at, from)
	nx, ny := -dy, dx // across
	bar := func(off float64) {
		s.Path((&svg.Path{}).Move(at.X+dx*off+nx*footHalf*0.8, at.Y+dy*off+ny*footHalf*0.8).Line(at.X+dx*off-nx*footHalf*0.8, at.Y+dy*off-ny*footHalf*0.8), svg.Line)
	}
	foot := func() {
		s.Path((&svg.Path{}).Move(at.X+nx*footHalf, at.Y+ny*footHalf).Line(at.X+dx*footReach, at.Y+dy*footReach).Line(at.X-nx*footHalf, at.Y-ny*footHalf), svg.Line)
	}
	switch e {
	case Arrow:
		s.Path((&svg.Path{}).Move(at.X, at.Y).Line(at.X+dx*tipLength+nx*tipHalf, at.Y+dy*tipLength+ny*tipHalf).
			Line(at.X+dx*tipLength-nx*tipHalf, at.Y+dy*tipLength-ny*tipHalf).Close(), svg.Tip)
		return
	case One:
		bar(7)
		bar(11)
	case ZeroOrOne:
		bar(8)
		s.Circle(at.X+dx*ringOff, at.Y+dy*ringOff, 4, svg.Ring)
	case Many:
		foot()
		bar(footReach + 3)
	case ZeroOrMany:
		foot()
		s.Circle(at.X+dx*ringOff, at.Y+dy*ringOff, 4, svg.Ring)
	default:
		return
	}
	number := map[End]string{One: "1", ZeroOrOne: "0..1", Many: "1..n", ZeroOrMany: "n"}[e]
	if dx != 0 {
		s.Text(at.X+dx*13, at.Y+below, svg.Middle, number, svg.End)
		return
	}
	s.Text(at.X+10, at.Y+dy*16+4, svg.Start, number, svg.End)
}
