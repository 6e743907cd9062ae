package layered

import (
	"cmp"
	"slices"
)

// sweeps is how often the order is improved, half of them downwards.
const sweeps = 24

// order brings the boxes of each layer into an order with few crossings.
func (p *part) order() {
	p.begin()
	best, fewest := p.snapshot(), p.crossings()
	for i := 0; i < sweeps && fewest > 0; i++ {
		p.medians(i%2 == 0)
		p.exchange()
		if n := p.crossings(); n < fewest {
			best, fewest = p.snapshot(), n
		}
	}
	p.layers = best
	for l := range p.layers {
		p.number(l)
	}
}

// begin orders each layer as a search in depth meets its boxes.
func (p *part) begin() {
	met := make([]int, len(p.boxes))
	count := 0
	var stack []int
	for v := range p.boxes {
		stack = append(stack[:0], v)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if met[v] > 0 {
				continue
			}
			count++
			met[v] = count
			for _, list := range [][]int{p.boxes[v].up, p.boxes[v].down} {
				for _, s := range slices.Backward(list) {
					stack = append(stack, p.segments[s].from, p.segments[s].to)
				}
			}
		}
	}
	for l, layer := range p.layers {
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(met[a], met[b]) })
		p.number(l)
	}
}

// number tells the boxes of a layer where they are.
func (p *part) number(layer int) {
	for i, v := range p.layers[layer] {
		p.boxes[v].pos = i
	}
}

func (p *part) snapshot() [][]int {
	copied := make([][]int, len(p.layers))
	for i, layer := range p.layers {
		copied[i] = slices.Clone(layer)
	}
	return copied
}

// neighbours are the positions of what a box is joined to in the layer above or below, ascending.
func (p *part) neighbours(v int, above bool) []int {
	segments := p.boxes[v].down
	if above {
		segments = p.boxes[v].up
	}
	list := make([]int, len(segments))
	for i, s := range segments {
		other := p.segments[s].to
		if above {
			other = p.segments[s].from
		}
		list[i] = p.boxes[other].pos
	}
	slices.Sort(list)
	return list
}

// medians orders each layer by its neighbours in the layer before.
func (p *part) medians(down bool) {
	for i := range p.layers {
		l := i
		if !down {
			l = len(p.layers) - 1 - i
		}
		layer := p.layers[l]
		value := map[int]float64{}
		var moving []int
		for _, v := range layer {
			if m := median(p.neighbours(v, down)); m >= 0 {
				value[v] = m
				moving = append(moving, v)
			}
		}
		slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(value[a], value[b]) })
		next := 0
		for j, v := range layer { // what has no neighbours stays where it is
			if _, ok := value[v]; ok {
				layer[j] = moving[next]
				next++
			}
		}
		p.number(l)
	}
}

// median is the weighted median of positions, -1 of none.
func median(list []int) float64 {
	n := len(list)
	m := n / 2
	switch {
	case n == 0:
		return -1
	case n%2 == 1:
		return float64(list[m])
	case n == 2:
		return float64(list[0]+list[1]) / 2
	}
	left, right := float64(list[m-1]-list[0]), float64(list[n-1]-list[m])
	if left+right == 0 {
		return float64(list[m-1]+list[m]) / 2
	}
	return (float64(list[m-1])*right + float64(list[m])*left) / (left + right)
}

// exchange swaps neighbours as long as that makes fewer crossings, a few times over.
func (p *part) exchange() {
	for range 4 {
		better := false
		for l, layer := range p.layers {
			for i := 0; i+1 < len(layer); i++ {
				a, b := layer[i], layer[i+1]
				if p.between(a, b) > p.between(b, a) {
					layer[i], layer[i+1] = b, a
					p.number(l)
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// between counts the crossings of the segments of two boxes of a layer, a left of b.
func (p *part) between(a, b int) int {
	n := 0
	for _, above := range []bool{true, false} {
		left, right := p.neighbours(a, above), p.neighbours(b, above)
		for i, j := 0, 0; i < len(left); i++ {
			for j < len(right) && right[j] < left[i] {
				j++
			}
			n += j
		}
	}
	return n
}

// crossings counts all.
func (p *part) crossings() int {
	n := 0
	for _, layer := range p.layers {
		var ends []int
		for _, v := range layer {
			ends = append(ends, p.neighbours(v, false)...)
		}
		n += inversions(ends)
	}
	return n
}

// inversions counts the pairs that are in descending order, and sorts.
func inversions(list []int) int {
	if len(list) < 2 {
		return 0
	}
	left, right := slices.Clone(list[:len(list)/2]), slices.Clone(list[len(list)/2:])
	n := inversions(left) + inversions(right)
	for i, j, k := 0, 0, 0; k < len(list); k++ {
		if j == len(right) || i < len(left) && left[i] <= right[j] {
			list[k] = left[i]
			n += j
			i++
		} else {
			list[k] = right[j]
			j++
		}
	}
	return n
}
