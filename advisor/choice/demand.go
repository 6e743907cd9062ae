package choice

import (
	"math"
	"sort"
)

// arc is an Arc of a compiled demand: with its weighted price, and the number of its table among the demand's tables (0:
// none).
type arc struct {
	from, to, table int32
	depth           int32 // how many arcs over the same table may come before it in a path
	price           float64
	origin          int32 // in Demand.Arcs
}

// demand is a compiled Demand. Its arcs are in an order in which a path's arcs follow each other; those between the same two
// states are next to each other (a bundle), the cheapest first. As multipliers only add to prices, a bundle is left at the
// first arc whose bare price is too much: mostly after a few of very many. A table that a path may
// use twice (in two roles) has a number, and with it a multiplier, for each depth: of the arcs of one number a path takes
// at most one.
type demand struct {
	number   int // in Problem.Demands
	states   int
	arcs     []arc
	bundles  []bundle
	tables   []int32 // by the arcs' table numbers; the first is None
	depths   []int32 // by the arcs' table numbers: of those arcs
	needed   []int32
	always   bool
	groups   []group
	grouped  int       // how many arcs there were when groups were last looked for
	marks    int       // how many groups there have been
	groupsAt int       // of the groups' multipliers
	at       int       // of its multipliers: one for each of tables (the first not used), then of needed
	full     []float64 // by the arcs' table numbers: what multipliers add to the prices

	price []float64 // by state: of the cheapest path from Source
	back  []float64 // by state: to Sink
	over  []int32   // by state: the last arc of that path

	looked int // arcs that the last search for a path looked at
}

// bundle is a stretch of a demand's arcs: those from one state to another.
type bundle struct{ from, to, begin, end int32 }

// role is what has a multiplier in a demand: a table, at a depth.
type role struct{ table, depth int32 }

// compileDemand numbers states so that arcs lead to greater numbers; of arcs between the same states over the same table
// it keeps the cheapest.
func compileDemand(number int, d *Demand) demand {
	out := make([][]int, d.States)
	in := make([]int, d.States)
	for i, a := range d.Arcs {
		out[a.From] = append(out[a.From], i)
		in[a.To]++
	}
	rank := make([]int32, d.States)
	var queue []int
	for s := range in {
		if in[s] == 0 {
			queue = append(queue, s)
		}
	}
	for next := int32(0); len(queue) > 0; next++ {
		s := queue[0]
		queue = queue[1:]
		rank[s] = next
		for _, i := range out[s] {
			if to := d.Arcs[i].To; in[to] > 1 {
				in[to]--
			} else {
				queue = append(queue, to)
			}
		}
	}
	c := demand{number: number, states: d.States, always: d.Needed == nil}
	for _, n := range d.Needed {
		c.needed = append(c.needed, int32(n))
	}
	order := make([]int, len(d.Arcs))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := &d.Arcs[order[i]], &d.Arcs[order[j]]
		if rank[a.From] != rank[b.From] {
			return rank[a.From] < rank[b.From]
		}
		if rank[a.To] != rank[b.To] {
			return rank[a.To] < rank[b.To]
		}
		if a.Table != b.Table {
			return a.Table < b.Table
		}
		return a.Price < b.Price
	})
	last := Arc{From: -1}
	for _, i := range order {
		a := d.Arcs[i]
		if a.From == last.From && a.To == last.To && a.Table == last.Table {
			continue
		}
		last = a
		c.arcs = append(c.arcs, arc{from: int32(a.From), to: int32(a.To), table: int32(a.Table), price: d.Weight * a.Price, origin: int32(i)})
	}
	sort.SliceStable(c.arcs, func(i, j int) bool {
		a, b := &c.arcs[i], &c.arcs[j]
		if a.from != b.from {
			return rank[a.from] < rank[b.from]
		}
		if a.to != b.to {
			return rank[a.to] < rank[b.to]
		}
		return a.price < b.price
	})
	c.computeDepths()
	return c
}

// computeDepths finds the arcs' depths.
func (d *demand) computeDepths() {
	words := (d.states + 63) / 64
	reach := make([]uint64, d.states*words) // by state, a set of states
	for s := range d.states {
		reach[s*words+s/64] |= 1 << (s % 64)
	}
	byTable := map[int32][]int{}
	for i := len(d.arcs) - 1; i >= 0; i-- {
		a := &d.arcs[i]
		from, to := reach[int(a.from)*words:][:words], reach[int(a.to)*words:][:words]
		for w := range from {
			from[w] |= to[w]
		}
	}
	for i := range d.arcs {
		a := &d.arcs[i]
		if a.table == None {
			continue
		}
		for _, j := range byTable[a.table] {
			b := &d.arcs[j]
			if reach[int(b.to)*words+int(a.from)/64]&(1<<(a.from%64)) != 0 {
				a.depth = max(a.depth, b.depth+1)
			}
		}
		byTable[a.table] = append(byTable[a.table], i)
	}
}

// useGlobalTables replaces the arcs' table numbers by those of the problem, numberTablesLocally does the reverse and numbers anew.
func (d *demand) useGlobalTables() {
	if d.tables == nil {
		return
	}
	for i := range d.arcs {
		d.arcs[i].table = d.tables[d.arcs[i].table]
	}
	d.tables = nil
}

func (d *demand) numberTablesLocally() {
	number := map[role]int32{}
	d.tables, d.depths = append(d.tables[:0:0], None), append(d.depths[:0:0], 0)
	for i := range d.arcs {
		a := &d.arcs[i]
		if a.table == None {
			a.table = 0
			continue
		}
		n, ok := number[role{a.table, a.depth}]
		if !ok {
			n = int32(len(d.tables))
			number[role{a.table, a.depth}] = n
			d.tables, d.depths = append(d.tables, a.table), append(d.depths, a.depth)
		}
		a.table = n
	}
}

// applyStatus drops closed tables from needed, and makes a demand that an open one needs one that is there always.
func (d *demand) applyStatus(status []int8) {
	if d.always {
		return
	}
	kept := d.needed[:0]
	for _, n := range d.needed {
		switch status[n] {
		case open:
			d.always = true
		case free:
			kept = append(kept, n)
		}
	}
	d.needed = kept
	if d.always {
		d.needed = nil
	}
	if !d.always && len(kept) == 0 {
		d.arcs = nil
	}
}

// dropUselessArcs leaves out arcs over closed tables, and those that are on no path. Tables are those of the problem here.
func (d *demand) dropUselessArcs(status []int8) {
	reached, leads := make([]bool, d.states), make([]bool, d.states)
	reached[Source], leads[Sink] = true, true
	for i := range d.arcs {
		a := &d.arcs[i]
		if reached[a.from] && (a.table == None || status[a.table] != closed) {
			reached[a.to] = true
		}
	}
	for i := len(d.arcs) - 1; i >= 0; i-- {
		a := &d.arcs[i]
		if leads[a.to] && (a.table == None || status[a.table] != closed) {
			leads[a.from] = true
		}
	}
	kept := d.arcs[:0]
	for _, a := range d.arcs {
		if reached[a.from] && leads[a.to] && (a.table == None || status[a.table] != closed) {
			if a.table != None && status[a.table] == open {
				a.table = None // it is there
			}
			kept = append(kept, a)
		}
	}
	d.arcs = kept
	d.dropDominatedArcs()
}

// dropDominatedArcs leaves out arcs over which every path is dearer than one that needs no table that is to be chosen. No best
// choice uses them: whatever is kept, that path is there, too.
func (d *demand) dropDominatedArcs() {
	to, unaided, back := make([]float64, d.states), make([]float64, d.states), make([]float64, d.states)
	for i := range to {
		to[i], unaided[i], back[i] = math.Inf(1), math.Inf(1), math.Inf(1)
	}
	to[Source], unaided[Source], back[Sink] = 0, 0, 0
	for _, a := range d.arcs {
		to[a.to] = min(to[a.to], to[a.from]+a.price)
		if a.table == None {
			unaided[a.to] = min(unaided[a.to], unaided[a.from]+a.price)
		}
	}
	limit := unaided[Sink]
	if math.IsInf(limit, 1) {
		return
	}
	for i := len(d.arcs) - 1; i >= 0; i-- {
		a := &d.arcs[i]
		back[a.from] = min(back[a.from], back[a.to]+a.price)
	}
	kept := d.arcs[:0]
	for _, a := range d.arcs {
		if to[a.from]+a.price+back[a.to] <= limit+tolerance(limit) {
			kept = append(kept, a)
		}
	}
	d.arcs = kept
}

// followRelation tells of each two table numbers whether a path may use the second after the first.
func (d *demand) followRelation() [][]bool {
	words := (d.states + 63) / 64
	after := make([]uint64, d.states*words) // by state: states that can be reached
	for s := range d.states {
		after[s*words+s/64] |= 1 << (s % 64)
	}
	for i := len(d.arcs) - 1; i >= 0; i-- {
		a := &d.arcs[i]
		from, to := after[int(a.from)*words:][:words], after[int(a.to)*words:][:words]
		for w := range from {
			from[w] |= to[w]
		}
	}
	begins, leads := make([]uint64, len(d.tables)*words), make([]uint64, len(d.tables)*words)
	for i := range d.arcs {
		a := &d.arcs[i]
		begins[int(a.table)*words+int(a.from)/64] |= 1 << (a.from % 64)
		lead, to := leads[int(a.table)*words:][:words], after[int(a.to)*words:][:words]
		for w := range lead {
			lead[w] |= to[w]
		}
	}
	list := make([][]bool, len(d.tables))
	for i := range list {
		list[i] = make([]bool, len(d.tables))
		for j := range list {
			for w := range words {
				list[i][j] = list[i][j] || leads[i*words+w]&begins[j*words+w] != 0
			}
		}
	}
	return list
}

// sharesPath reports whether a path may use j besides one of a class.
func sharesPath(follows [][]bool, class []int32, j int32) bool {
	for _, i := range class {
		if follows[i][j] || follows[j][i] {
			return true
		}
	}
	return false
}

// buildBundles finds the bundles.
func (d *demand) buildBundles() {
	d.bundles = d.bundles[:0:0]
	for i := range d.arcs {
		a := &d.arcs[i]
		if n := len(d.bundles); n > 0 && d.bundles[n-1].from == a.from && d.bundles[n-1].to == a.to {
			d.bundles[n-1].end++
			continue
		}
		d.bundles = append(d.bundles, bundle{a.from, a.to, int32(i), int32(i + 1)})
	}
}

// shortestPath finds the cheapest path with what multipliers add to the prices, along arcs whose tables are not closed, and returns
// its price.
func (d *demand) shortestPath(u []float64, status []int8) float64 {
	price := d.price[:d.states]
	for i := range price {
		price[i] = math.Inf(1)
	}
	price[Source] = 0
	looked := len(d.bundles)
	for _, s := range d.bundles {
		before, best := price[s.from], price[s.to]
		for i := s.begin; i < s.end; i++ {
			a := &d.arcs[i]
			v := before + a.price
			if v >= best {
				break
			}
			looked++
			if v += u[a.table]; v < best && (a.table == 0 || status[d.tables[a.table]] != closed) {
				best, d.over[s.to] = v, i
			}
		}
		price[s.to] = best
	}
	d.looked = looked
	return price[Sink]
}

// shortestToSink fills in the prices from each state to Sink.
func (d *demand) shortestToSink(u []float64, status []int8) {
	back := d.back[:d.states]
	for i := range back {
		back[i] = math.Inf(1)
	}
	back[Sink] = 0
	for n := len(d.bundles) - 1; n >= 0; n-- {
		s := d.bundles[n]
		after, best := back[s.to], back[s.from]
		for i := s.begin; i < s.end; i++ {
			a := &d.arcs[i]
			v := after + a.price
			if v >= best {
				break
			}
			if v += u[a.table]; v < best && (a.table == 0 || status[d.tables[a.table]] != closed) {
				best = v
			}
		}
		back[s.from] = best
	}
}
