package layered

import "slices"

// rank opens cycles, gives each box a layer of at most about that width, and puts points where segments span several.
func (p *part) rank(width float64) {
	p.open()
	order := p.topological()
	step := 1
	if p.labels {
		step = 2 // the layers between are those of labels
	}
	var widths []float64
	for _, v := range order {
		b := &p.boxes[v]
		b.layer = 0
		for _, s := range b.up {
			b.layer = max(b.layer, p.boxes[p.segments[s].from].layer+1)
		}
		if b.label || b.small {
			continue
		}
		b.layer = (b.layer + step - 1) / step * step
		for ; ; b.layer += step {
			for len(widths) <= b.layer {
				widths = append(widths, 0)
			}
			if widths[b.layer] == 0 || widths[b.layer]+b.width <= width {
				break
			}
		}
		widths[b.layer] += b.width + p.o.NodeGap
	}
	p.tighten(order, step)
	p.points()
}

// open turns the segments of edges that lead back, both halves of a labelled one.
func (p *part) open() {
	const (
		fresh = iota
		open
		done
	)
	state := make([]int, len(p.boxes))
	type frame struct{ box, next int }
	visit := func(v int) {
		stack := []frame{{v, 0}}
		state[v] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(p.boxes[f.box].down) {
				state[f.box] = done
				stack = stack[:len(stack)-1]
				continue
			}
			s := p.boxes[f.box].down[f.next]
			f.next++
			switch to := p.segments[s].to; state[to] {
			case open:
				p.turned[p.segments[s].edge] = true
			case fresh:
				state[to] = open
				stack = append(stack, frame{to, 0})
			}
		}
	}
	for v := range p.boxes { // sources first
		if len(p.boxes[v].up) == 0 {
			visit(v)
		}
	}
	for v := range p.boxes {
		if state[v] == fresh {
			visit(v)
		}
	}
	for i := range p.segments {
		if s := &p.segments[i]; p.turned[s.edge] {
			s.from, s.to = s.to, s.from
		}
	}
	p.link()
}

// topological lists the boxes, none before those that lead to it, and otherwise as they were made.
func (p *part) topological() []int {
	waiting := make([]int, len(p.boxes))
	var order, ready []int
	for v := range p.boxes {
		if waiting[v] = len(p.boxes[v].up); waiting[v] == 0 {
			ready = append(ready, v)
		}
	}
	for len(ready) > 0 {
		v := ready[0]
		ready = ready[1:]
		order = append(order, v)
		for _, s := range p.boxes[v].down {
			if to := p.segments[s].to; waiting[to] > 1 {
				waiting[to]--
			} else {
				ready = append(ready, to)
			}
		}
	}
	return order
}

// tighten moves boxes down to what they lead to, where that makes edges shorter.
func (p *part) tighten(order []int, step int) {
	for _, v := range slices.Backward(order) {
		b := &p.boxes[v]
		if len(b.down) == 0 || len(b.down) <= len(b.up) && !b.label {
			continue
		}
		low := -1
		for _, s := range b.down {
			if to := p.boxes[p.segments[s].to].layer; low < 0 || to < low {
				low = to
			}
		}
		if b.label || b.small {
			b.layer = max(b.layer, low-1)
			continue
		}
		b.layer = max(b.layer, (low-1)/step*step)
	}
}

// points cuts the segments that span layers, and fills the layers.
func (p *part) points() {
	n := len(p.segments)
	for i := range n {
		for {
			s := p.segments[i]
			if p.boxes[s.to].layer-p.boxes[s.from].layer <= 1 {
				break
			}
			mid := len(p.boxes)
			p.boxes = append(p.boxes, box{node: -1, layer: p.boxes[s.to].layer - 1})
			p.segments[i].to = mid
			p.segments = append(p.segments, segment{from: mid, to: s.to, edge: s.edge})
		}
	}
	p.link()
	// A layer that nothing is on would be a gap.
	used := map[int]bool{}
	last := 0
	for i := range p.boxes {
		used[p.boxes[i].layer] = true
		last = max(last, p.boxes[i].layer)
	}
	number := make([]int, last+1)
	count := 0
	for i := range number {
		number[i] = count
		if used[i] {
			count++
		}
	}
	p.layers = make([][]int, count)
	for i := range p.boxes {
		b := &p.boxes[i]
		b.layer = number[b.layer]
		p.layers[b.layer] = append(p.layers[b.layer], i)
	}
}
