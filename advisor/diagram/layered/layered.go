package layered

import (
	"cmp"
	"math"
	"slices"
)

// Node is a box, by its size. A Small one may lie between the layers of boxes, where labels do.
type Node struct {
	Width, Height float64
	Small         bool
}

// Edge leads from one node to another, by their numbers. Width and Height are the size of its label, 0 without one.
type Edge struct {
	From, To      int
	Width, Height float64
}

// Point is a place, from the upper left corner.
type Point struct{ X, Y float64 }

// Rect is a box with its place.
type Rect struct{ X, Y, Width, Height float64 }

// Route is how an edge runs: from the border of From to that of To, at right angles.
type Route struct {
	Points []Point
	Label  Rect // where the label is; of an edge without one a rectangle of no size
}

// Layout is where everything is. All coordinates are from 0 on.
type Layout struct {
	Width, Height float64
	Nodes         []Rect
	Routes        []Route
}

// Options are distances. The zero value of each is a usual one.
type Options struct {
	NodeGap  float64 // between boxes of one layer
	LayerGap float64 // between layers, at least
	TrackGap float64 // between edges beside each other
	PortGap  float64 // between the ends of edges at one box
	EndRoom  float64 // free of bends before and behind a box: for what is drawn at the ends of edges
	Aspect   float64 // of the whole, width by height
}

func (o Options) filled() Options {
	for _, d := range []struct {
		at    *float64
		usual float64
	}{{&o.NodeGap, 36}, {&o.LayerGap, 40}, {&o.TrackGap, 10}, {&o.PortGap, 18}, {&o.EndRoom, 18}, {&o.Aspect, 1.5}} {
		if *d.at <= 0 {
			*d.at = d.usual
		}
	}
	return o
}

// Place lays a graph out. Edges whose ends are no nodes have empty routes.
func Place(nodes []Node, edges []Edge, o Options) *Layout {
	o = o.filled()
	l := &Layout{Nodes: make([]Rect, len(nodes)), Routes: make([]Route, len(edges))}
	var parts []*part
	area := 0.0
	for _, members := range components(nodes, edges) {
		p := &part{o: o, l: l, members: members}
		p.build(nodes, edges)
		parts = append(parts, p)
	}
	for _, p := range parts {
		for _, v := range p.members {
			area += (p.boxes[p.at[v]].width + o.NodeGap) * (nodes[v].Height + o.LayerGap)
		}
	}
	for _, p := range parts {
		p.rank(math.Sqrt(area*o.Aspect) * 1.3)
		p.order()
		p.place()
		p.route(edges)
	}
	l.pack(parts, edges)
	return l
}

// components are the nodes that edges connect, each in ascending order.
func components(nodes []Node, edges []Edge) [][]int {
	root := make([]int, len(nodes))
	for i := range root {
		root[i] = i
	}
	find := func(v int) int {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	for _, e := range edges {
		if !e.within(len(nodes)) {
			continue
		}
		a, b := find(e.From), find(e.To)
		root[max(a, b)] = min(a, b)
	}
	var list [][]int
	number := make([]int, len(nodes))
	for v := range nodes {
		r := find(v)
		if r == v {
			number[v] = len(list)
			list = append(list, nil)
		}
		list[number[r]] = append(list[number[r]], v)
	}
	return list
}

func (e Edge) within(nodes int) bool {
	return e.From >= 0 && e.To >= 0 && e.From < nodes && e.To < nodes
}

func (e Edge) labelled() bool { return e.Width > 0 && e.Height > 0 }

// box is a node in a part, a label, or a point of an edge that spans layers.
type box struct {
	width, height float64
	solid         float64 // of width, what is the box itself: loops are to the right of it
	node          int     // -1: none
	label, small  bool
	loops         int
	slot          float64 // height that a loop needs
	layer         int
	pos           int // in its layer
	x, y          float64
	up, down      []int // segments
}

// segment joins two boxes of neighbouring layers, once there are points; before that, of any.
type segment struct {
	from, to int // boxes
	edge     int
	out, in  float64 // x of the ports
}

// part is what edges connect.
type part struct {
	o        Options
	l        *Layout
	members  []int
	at       []int // box by node
	boxes    []box
	segments []segment
	turned   []bool // by edge: it runs upwards
	loops    []int
	layers   [][]int
	labels   bool

	// The part's own place, once it is laid out.
	left, top, right, bottom float64
}

// Loops are below each other at the right side of a box, which is made higher if they have no room.
const (
	loopReach = 26 // how far they go
	loopGap   = 12 // between their labels
)

// build makes boxes of nodes and labels.
func (p *part) build(nodes []Node, edges []Edge) {
	p.at = make([]int, len(nodes))
	for i := range p.at {
		p.at[i] = -1
	}
	for _, v := range p.members {
		p.at[v] = len(p.boxes)
		p.boxes = append(p.boxes, box{width: nodes[v].Width, solid: nodes[v].Width, height: nodes[v].Height, node: v, small: nodes[v].Small})
	}
	p.turned = make([]bool, len(edges))
	for i, e := range edges {
		if !e.within(len(nodes)) || p.at[e.From] < 0 {
			continue
		}
		from, to := p.at[e.From], p.at[e.To]
		switch {
		case from == to:
			p.loops = append(p.loops, i)
			b := &p.boxes[from]
			b.loops++
			b.width = max(b.width, b.solid+loopReach+e.Width)
			b.slot = max(b.slot, e.Height+loopGap)
			b.height = max(b.height, float64(b.loops)*b.slot)
		case e.labelled():
			p.labels = true
			mid := len(p.boxes)
			p.boxes = append(p.boxes, box{width: e.Width, solid: e.Width, height: e.Height, node: -1, label: true})
			p.segments = append(p.segments, segment{from: from, to: mid, edge: i}, segment{from: mid, to: to, edge: i})
		default:
			p.segments = append(p.segments, segment{from: from, to: to, edge: i})
		}
	}
	p.link()
}

// link notes at each box which segments lead there and on.
func (p *part) link() {
	for i := range p.boxes {
		p.boxes[i].up, p.boxes[i].down = nil, nil
	}
	for i, s := range p.segments {
		p.boxes[s.from].down = append(p.boxes[s.from].down, i)
		p.boxes[s.to].up = append(p.boxes[s.to].up, i)
	}
}

// pack sets the parts in rows, the highest first; what is low is stacked in the columns of a row.
func (l *Layout) pack(parts []*part, edges []Edge) {
	gap, area, widest := 0.0, 0.0, 0.0
	for _, p := range parts {
		gap = p.o.NodeGap * 1.3
		w, h := p.right-p.left, p.bottom-p.top
		area += (w + gap) * (h + gap)
		widest = max(widest, w)
	}
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(b.bottom-b.top, a.bottom-a.top) })
	room := 0.0
	if len(parts) > 0 {
		room = max(widest, math.Sqrt(area*parts[0].o.Aspect)) * 1.02
	}
	var row, column Rect // the latter as far as it is filled
	for _, p := range parts {
		w, h := p.right-p.left, p.bottom-p.top
		below := column.Height > 0 && w <= column.Width && column.Y+column.Height+gap+h <= row.Y+row.Height
		switch {
		case below:
		case column.Width > 0 && column.X+column.Width+gap+w > room: // a new row
			row = Rect{Y: row.Y + row.Height + gap, Height: h}
			column = Rect{Y: row.Y, Width: w}
		case column.Width > 0:
			column = Rect{X: column.X + column.Width + gap, Y: row.Y, Width: w}
		default:
			row.Height, column.Width = h, w
		}
		if below {
			column.Height += gap
		}
		x, y := column.X+(column.Width-w)/2, column.Y+column.Height
		p.move(x-p.left, y-p.top, edges)
		l.Width, l.Height = max(l.Width, x+w), max(l.Height, y+h)
		column.Height += h
	}
}

// move shifts all that belongs to the part.
func (p *part) move(dx, dy float64, edges []Edge) {
	for _, v := range p.members {
		p.l.Nodes[v].X += dx
		p.l.Nodes[v].Y += dy
	}
	for i, e := range edges {
		if !e.within(len(p.at)) || p.at[e.From] < 0 {
			continue
		}
		r := &p.l.Routes[i]
		for j := range r.Points {
			r.Points[j].X += dx
			r.Points[j].Y += dy
		}
		r.Label.X += dx
		r.Label.Y += dy
	}
}
