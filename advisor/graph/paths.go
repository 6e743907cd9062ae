package graph

import "math"

// Paths is what a search for cheapest paths writes into. One serves any number of graphs, one after the other.
type Paths struct {
	Price []float64 // by state: of the cheapest path from Source
	Back  []float64 // by state: of the cheapest path to Sink
	Over  []int32   // by state: the last edge of the cheapest path from Source
	Work  int       // edges looked at
}

// Fit makes room for graphs of so many states.
func (p *Paths) Fit(states int) {
	if len(p.Price) < states {
		p.Price, p.Back, p.Over = make([]float64, states), make([]float64, states), make([]int32, states)
	}
}

// Shortest finds the cheapest path, with prices times a weight and what is to be paid by role added, and returns its price. A role at +Inf is not to be had.
func (g *Graph) Shortest(weight float64, pay []float64, p *Paths) float64 {
	price := p.Price[:g.States]
	for i := range price {
		price[i] = math.Inf(1)
	}
	price[Source] = 0
	looked := len(g.Bundles)
	for _, b := range g.Bundles {
		before, best := price[b.From], price[b.To]
		for i := b.Begin; i < b.End; i++ {
			e := &g.Edges[i]
			v := before + weight*e.Price
			if v >= best {
				break
			}
			looked++
			if v += pay[e.Role]; v < best {
				best, p.Over[b.To] = v, i
			}
		}
		price[b.To] = best
	}
	p.Work += looked
	return price[Sink]
}

// ShortestBack fills in the prices from each state to Sink, as Shortest does those from Source.
func (g *Graph) ShortestBack(weight float64, pay []float64, p *Paths) {
	back := p.Back[:g.States]
	for i := range back {
		back[i] = math.Inf(1)
	}
	back[Sink] = 0
	for n := len(g.Bundles) - 1; n >= 0; n-- {
		b := g.Bundles[n]
		after, best := back[b.To], back[b.From]
		for i := b.Begin; i < b.End; i++ {
			e := &g.Edges[i]
			v := after + weight*e.Price
			if v >= best {
				break
			}
			best = min(best, v+pay[e.Role])
		}
		back[b.From] = best
	}
}

// Cheapest is the price of the cheapest path over open tables; +Inf if there is none.
func (g *Graph) Cheapest(open []bool, p *Paths) float64 {
	price := p.Price[:g.States]
	for i := range price {
		price[i] = math.Inf(1)
	}
	price[Source] = 0
	looked := len(g.Bundles)
	for _, b := range g.Bundles {
		before, best := price[b.From], price[b.To]
		for i := b.Begin; i < b.End; i++ {
			e := &g.Edges[i]
			v := before + e.Price
			if v >= best {
				break
			}
			if looked++; e.Role == 0 || open[g.Roles[e.Role].Table] {
				price[b.To], p.Over[b.To] = v, i // no other of the bundle is cheaper
				break
			}
		}
	}
	p.Work += looked
	return price[Sink]
}

// Walk calls do for each edge of the path that Shortest or Cheapest found last, from its end.
func (g *Graph) Walk(p *Paths, do func(i int32, e *Edge)) {
	for at := int32(Sink); at != Source; {
		i := p.Over[at]
		e := &g.Edges[i]
		do(i, e)
		at = e.From
	}
}
