package layered

import (
	"math"
	"slices"
)

// place gives every box an x, that of its middle (Brandes and Köpf 2001, with widths).
func (p *part) place() {
	conflicts := p.conflicts()
	var all [4][]float64
	for i := range all {
		all[i] = p.aligned(i&1 == 1, i&2 == 2, conflicts)
	}
	narrowest, least := 0, math.Inf(1)
	var low, high [4]float64
	for i, xs := range all {
		low[i], high[i] = math.Inf(1), math.Inf(-1)
		for v, x := range xs {
			low[i], high[i] = min(low[i], x-p.boxes[v].solid/2), max(high[i], x+p.boxes[v].width-p.boxes[v].solid/2)
		}
		if w := high[i] - low[i]; w < least {
			narrowest, least = i, w
		}
	}
	for i, xs := range all { // the left ones to the left border of the narrowest, the right ones to its right
		shift := low[narrowest] - low[i]
		if i&2 == 2 {
			shift = high[narrowest] - high[i]
		}
		for v := range xs {
			xs[v] += shift
		}
	}
	for v := range p.boxes {
		four := []float64{all[0][v], all[1][v], all[2][v], all[3][v]}
		slices.Sort(four)
		p.boxes[v].x = math.Round((four[1]+four[2])/2*2) / 2
	}
	if least > page && least > 1.6*p.narrowest() {
		p.narrow()
	}
}

// page is how wide a part may be before straight edges are given up for a narrower one.
const page = 3200

// narrowest is the width of the widest layer when its boxes stand as near as they may.
func (p *part) narrowest() float64 {
	widest := 0.0
	for _, layer := range p.layers {
		w := 0.0
		for i, v := range layer {
			if i > 0 {
				w += p.apart(layer[i-1], v, false)
			}
		}
		widest = max(widest, w)
	}
	return widest
}

// narrow places boxes anew where straight edges would need too much room, as those from one box to very many do: each layer
// as near as it may be to the neighbours of its boxes, in turn downwards and upwards.
func (p *part) narrow() {
	const turns = 30
	offsets := make([][]float64, len(p.layers))
	for l, layer := range p.layers {
		at := 0.0
		for i, v := range layer {
			if i > 0 {
				at += p.apart(layer[i-1], v, false)
			}
			offsets[l] = append(offsets[l], at)
		}
		for i, v := range layer {
			p.boxes[v].x = offsets[l][i] - at/2
		}
	}
	for turn := range turns {
		for i := range p.layers {
			l := i
			if turn%2 == 1 {
				l = len(p.layers) - 1 - i
			}
			layer := p.layers[l]
			wishes, weights := make([]float64, len(layer)), make([]float64, len(layer))
			for j, v := range layer {
				b, sum := &p.boxes[v], 0.0
				for _, s := range b.up {
					sum += p.boxes[p.segments[s].from].x
				}
				for _, s := range b.down {
					sum += p.boxes[p.segments[s].to].x
				}
				if n := len(b.up) + len(b.down); n > 0 {
					wishes[j] = sum/float64(n) - offsets[l][j]
				}
				if weights[j] = 1; p.virtual(v) {
					weights[j] = 5 // long edges rather than boxes
				}
			}
			for j, at := range ascending(wishes, weights) {
				p.boxes[layer[j]].x = math.Round((at+offsets[l][j])*2) / 2
			}
		}
	}
}

// virtual tells whether a box is a label or a point of an edge.
func (p *part) virtual(v int) bool { return p.boxes[v].node < 0 }

// conflicts are the segments that cross one between two points: long edges stay straight, and the others give way.
func (p *part) conflicts() []bool {
	list := make([]bool, len(p.segments))
	for l := 1; l < len(p.layers); l++ {
		layer, before := p.layers[l], len(p.layers[l-1])
		k0, scan := 0, 0
		for i, v := range layer {
			k1, inner := before, false
			if p.virtual(v) {
				for _, s := range p.boxes[v].up {
					if w := p.segments[s].from; p.virtual(w) {
						k1, inner = p.boxes[w].pos, true
					}
				}
			}
			if !inner && i+1 < len(layer) {
				continue
			}
			for ; scan <= i; scan++ {
				for _, s := range p.boxes[layer[scan]].up {
					u := p.segments[s].from
					if at := p.boxes[u].pos; (at < k0 || at > k1) && (!p.virtual(u) || !p.virtual(layer[scan])) {
						list[s] = true
					}
				}
			}
			k0 = k1
		}
	}
	return list
}

// aligned is one of the four alignments: with the medians of the layers above, or of those below if up; as far to the left
// as can be, or to the right.
func (p *part) aligned(up, right bool, conflicts []bool) []float64 {
	layers := p.snapshot()
	if up {
		slices.Reverse(layers)
	}
	pos := make([]int, len(p.boxes))
	for _, layer := range layers {
		if right {
			slices.Reverse(layer)
		}
		for i, v := range layer {
			pos[v] = i
		}
	}
	root, next := make([]int, len(p.boxes)), make([]int, len(p.boxes))
	for v := range root {
		root[v], next[v] = v, v
	}
	for _, layer := range layers {
		last := -1
		for _, v := range layer {
			segments := p.boxes[v].up
			if up {
				segments = p.boxes[v].down
			}
			type neighbour struct{ box, segment int }
			var list []neighbour
			for _, s := range segments {
				w := p.segments[s].from
				if up {
					w = p.segments[s].to
				}
				list = append(list, neighbour{w, s})
			}
			slices.SortStableFunc(list, func(a, b neighbour) int { return pos[a.box] - pos[b.box] })
			for m := (len(list) - 1) / 2; len(list) > 0 && m <= len(list)/2; m++ {
				if w := list[m]; next[v] == v && last < pos[w.box] && !conflicts[w.segment] {
					next[w.box], root[v] = v, root[w.box]
					next[v] = root[v]
					last = pos[w.box]
				}
			}
		}
	}
	xs := p.compact(layers, root, right)
	for v := range xs {
		if right {
			xs[v] = -xs[v]
		}
	}
	return xs
}

// apart is how far the middles of two boxes beside each other must be.
func (p *part) apart(left, right int, mirrored bool) float64 {
	a, b := &p.boxes[left], &p.boxes[right]
	gap := p.o.NodeGap
	if p.virtual(left) || p.virtual(right) || a.small || b.small {
		gap = p.o.NodeGap * 0.6
	}
	if p.virtual(left) && p.virtual(right) {
		gap = p.o.PortGap
	}
	if mirrored {
		a, b = b, a
	}
	return a.width - a.solid/2 + gap + b.solid/2
}

// compact gives the blocks of aligned boxes their places: each as far to the left as those beside it allow, and then to
// the right as far as that takes nothing from others.
func (p *part) compact(layers [][]int, root []int, mirrored bool) []float64 {
	type edge struct {
		to    int
		apart float64
	}
	after, before := make([][]edge, len(p.boxes)), make([][]edge, len(p.boxes))
	waiting := make([]int, len(p.boxes))
	for _, layer := range layers {
		for i := 1; i < len(layer); i++ {
			a, b := root[layer[i-1]], root[layer[i]]
			d := p.apart(layer[i-1], layer[i], mirrored)
			after[a], before[b] = append(after[a], edge{b, d}), append(before[b], edge{a, d})
			waiting[b]++
		}
	}
	var order []int
	for v := range p.boxes {
		if root[v] == v && waiting[v] == 0 {
			order = append(order, v)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, e := range after[order[i]] {
			if waiting[e.to]--; waiting[e.to] == 0 {
				order = append(order, e.to)
			}
		}
	}
	xs := make([]float64, len(p.boxes))
	for _, v := range order {
		for _, e := range before[v] {
			xs[v] = max(xs[v], xs[e.to]+e.apart)
		}
	}
	for _, v := range slices.Backward(order) {
		room := math.Inf(1)
		for _, e := range after[v] {
			room = min(room, xs[e.to]-e.apart)
		}
		if !math.IsInf(room, 1) {
			xs[v] = max(xs[v], room)
		}
	}
	for v := range xs {
		xs[v] = xs[root[v]]
	}
	return xs
}
