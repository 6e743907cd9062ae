package layered

import (
	"cmp"
	"math"
	"slices"
)

// route gives layers their heights, and edges their ways.
func (p *part) route(edges []Edge) {
	p.ports()
	tracks := make([][]int, len(p.layers)) // of the segments below a layer
	y := 0.0
	type band struct{ top, bottom float64 }
	bands := make([]band, len(p.layers))
	crossing := make([]float64, len(p.segments)) // y of the track
	for l, layer := range p.layers {
		height, nodes := 0.0, false
		for _, v := range layer {
			height = max(height, p.boxes[v].height)
			nodes = nodes || !p.virtual(v)
			tracks[l] = append(tracks[l], p.boxes[v].down...)
		}
		bands[l] = band{y, y + height}
		for _, v := range layer {
			p.boxes[v].y = y
			if p.virtual(v) {
				p.boxes[v].y = y + (height-p.boxes[v].height)/2
			}
		}
		of, count := p.tracks(tracks[l])
		channel := p.o.LayerGap
		if l+1 < len(p.layers) && !(nodes && slices.ContainsFunc(p.layers[l+1], func(v int) bool { return !p.virtual(v) })) {
			channel *= 0.7
		}
		channel = max(channel, 2*p.o.EndRoom+float64(count-1)*p.o.TrackGap)
		first := y + height + (channel-float64(max(0, count-1))*p.o.TrackGap)/2
		for i, s := range tracks[l] {
			crossing[s] = math.Round((first+float64(of[i])*p.o.TrackGap)*2) / 2
		}
		y += height + channel
	}
	p.left, p.right, p.top, p.bottom = math.Inf(1), math.Inf(-1), 0, 0
	include := func(r Rect) {
		p.left, p.right = min(p.left, r.X), max(p.right, r.X+r.Width)
		p.bottom = max(p.bottom, r.Y+r.Height)
	}
	for _, v := range p.members {
		b := &p.boxes[p.at[v]]
		p.l.Nodes[v] = Rect{b.x - b.solid/2, b.y, b.solid, b.height}
		include(Rect{b.x - b.solid/2, b.y, b.width, b.height})
	}
	for _, layer := range p.layers { // edges begin at nodes
		for _, v := range layer {
			if p.virtual(v) {
				continue
			}
			for _, s := range p.boxes[v].down {
				include(p.walk(s, crossing, func(layer int) float64 { return bands[layer].top }))
			}
		}
	}
	p.loop(edges)
}

// walk follows an edge down from a node's segment and writes its route. It returns what the route is within.
func (p *part) walk(s int, crossing []float64, top func(int) float64) Rect {
	edge := p.segments[s].edge
	from := &p.boxes[p.segments[s].from]
	points := []Point{{p.segments[s].out, from.y + from.height}}
	var label Rect
	for {
		g := p.segments[s]
		to := &p.boxes[g.to]
		if math.Abs(g.out-g.in) > 0.01 {
			points = append(points, Point{g.out, crossing[s]}, Point{g.in, crossing[s]})
		}
		if to.node >= 0 {
			points = append(points, Point{g.in, top(to.layer)})
			break
		}
		if to.label {
			label = Rect{to.x - to.solid/2, to.y, to.solid, to.height}
		}
		s = to.down[0]
	}
	if p.turned[edge] {
		slices.Reverse(points)
	}
	if label.Width == 0 {
		label = Rect{X: points[len(points)/2].X, Y: points[len(points)/2].Y}
	}
	p.l.Routes[edge] = Route{Points: points, Label: label}
	within := label
	for _, q := range points {
		right, bottom := max(within.X+within.Width, q.X), max(within.Y+within.Height, q.Y)
		within.X, within.Y = min(within.X, q.X), min(within.Y, q.Y)
		within.Width, within.Height = right-within.X, bottom-within.Y
	}
	return within
}

// loop leads the edges from boxes to themselves.
func (p *part) loop(edges []Edge) {
	number := map[int]int{}
	for _, i := range p.loops {
		b := &p.boxes[p.at[edges[i].From]]
		slot := b.height / float64(b.loops)
		middle := b.y + slot*(float64(number[b.node])+0.5)
		number[b.node]++
		reach := min(slot*0.28, 22)
		right := b.x + b.solid/2
		p.l.Routes[i] = Route{
			Points: []Point{{right, middle - reach}, {right + loopReach - 8, middle - reach}, {right + loopReach - 8, middle + reach}, {right, middle + reach}},
			Label:  Rect{right + loopReach - 2, middle - edges[i].Height/2, edges[i].Width, edges[i].Height},
		}
	}
}

// ports says where edges leave and enter boxes: as straight as can be, in the order of what they lead to, and apart.
func (p *part) ports() {
	for _, layer := range p.layers {
		for _, v := range layer {
			b := &p.boxes[v]
			for _, s := range b.down {
				p.segments[s].out = b.x
			}
			for _, s := range b.up {
				p.segments[s].in = b.x
			}
		}
	}
	aim := p.toward
	for range 3 { // where one end is moves the other
		for _, layer := range p.layers {
			for _, v := range layer {
				if p.virtual(v) {
					continue
				}
				b := &p.boxes[v]
				p.spread(b, b.down, func(s int) (int, float64) { return p.boxes[p.segments[s].to].pos, aim(b, s) }, func(s int, x float64) { p.segments[s].out = x })
				p.spread(b, b.up, func(s int) (int, float64) { return p.boxes[p.segments[s].from].pos, p.segments[s].out }, func(s int, x float64) { p.segments[s].in = x })
			}
		}
		aim = func(_ *box, s int) float64 { return p.segments[s].in }
	}
}

// toward is where a segment would best leave a box: above what it leads to, or else as near as that box goes.
func (p *part) toward(b *box, s int) float64 {
	to := &p.boxes[p.segments[s].to]
	if p.virtual(p.segments[s].to) {
		return to.x
	}
	return min(max(b.x, to.x-to.solid/2+p.o.PortGap), max(to.x, to.x+to.solid/2-p.o.PortGap))
}

// spread places the ends of segments at a box: wished for where each is, at least a gap apart, and with the least squares
// of differences, which pooling of those that are too near finds.
func (p *part) spread(b *box, segments []int, wish func(int) (int, float64), set func(int, float64)) {
	n := len(segments)
	if n == 0 {
		return
	}
	list := slices.Clone(segments)
	slices.SortStableFunc(list, func(x, y int) int {
		px, wx := wish(x)
		py, wy := wish(y)
		return cmp.Or(cmp.Compare(px, py), cmp.Compare(wx, wy), cmp.Compare(x, y))
	})
	margin := min(16, b.solid/4)
	if b.small && b.solid < p.o.PortGap { // all at one point
		margin = b.solid / 2
	}
	low, high := b.x-b.solid/2+margin, b.x+b.solid/2-margin
	gap := 0.0
	if n > 1 {
		gap = min(p.o.PortGap, (high-low)/float64(n-1))
	}
	wishes, weights := make([]float64, n), make([]float64, n)
	for i, s := range list {
		_, w := wish(s)
		wishes[i], weights[i] = w-float64(i)*gap, 1
	}
	for i, at := range ascending(wishes, weights) {
		at = min(max(at, low), high-float64(n-1)*gap) + float64(i)*gap
		set(list[i], math.Round(at*2)/2)
	}
}

// ascending returns the numbers nearest to those wished for, by weighted squares, that do not descend: neighbours that
// would are pooled.
func ascending(wishes, weights []float64) []float64 {
	type pool struct {
		sum, weight float64
		count       int
	}
	var pools []pool
	for i, w := range wishes {
		pools = append(pools, pool{w * weights[i], weights[i], 1})
		for k := len(pools) - 1; k > 0 && pools[k-1].sum/pools[k-1].weight > pools[k].sum/pools[k].weight; k-- {
			pools[k-1].sum += pools[k].sum
			pools[k-1].weight += pools[k].weight
			pools[k-1].count += pools[k].count
			pools = pools[:k]
		}
	}
	list := make([]float64, 0, len(wishes))
	for _, q := range pools {
		for range q.count {
			list = append(list, q.sum/q.weight)
		}
	}
	return list
}

// tracks numbers the tracks of a channel's segments from above, and counts them. Segments that go straight down need none.
// Of those that go the same way, the one that begins further on that way lies above, which saves crossings; and above
// another's track must be what comes down where that one ends.
func (p *part) tracks(segments []int) (of []int, count int) {
	of = make([]int, len(segments))
	type run struct {
		index     int
		out, in   float64
		low, high float64
	}
	var runs []run
	for i, s := range segments {
		if g := p.segments[s]; math.Abs(g.out-g.in) > 0.01 {
			runs = append(runs, run{i, g.out, g.in, min(g.out, g.in), max(g.out, g.in)})
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		rightA, rightB := a.in > a.out, b.in > b.out
		switch {
		case rightA != rightB && rightA:
			return -1
		case rightA != rightB:
			return 1
		case rightA:
			return cmp.Compare(b.out, a.out)
		}
		return cmp.Compare(a.out, b.out)
	})
	const near = 6.0 // verticals nearer than that look like one
	placed := make([]bool, len(runs))
	for range runs {
		next := -1
		for i, r := range runs { // the first that need not wait for another
			if placed[i] {
				continue
			}
			if next < 0 {
				next = i
			}
			waits := false
			for j, other := range runs {
				waits = waits || !placed[j] && i != j && math.Abs(other.out-r.in) < near
			}
			if !waits {
				next = i
				break
			}
		}
		r := runs[next]
		track := 0
		for j, other := range runs {
			if placed[j] && (math.Abs(other.out-r.in) < near || other.low < r.high+near && r.low < other.high+near) {
				track = max(track, of[other.index]+1)
			}
		}
		placed[next] = true
		of[r.index] = track
		count = max(count, track+1)
	}
	return of, count
}
