package choice

import (
	"maps"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/graph"
)

// The states of a table during the search.
const (
	free int8 = iota
	open
	closed
)

// group is a condition that ties a demand to one that its tables raise: of the tables in it a path uses at most one, each
// needs the other demand, so the sum of what is used is at most whether that demand is there. Without it half of one
// table and half of another would raise but half a demand: the relaxation of examples/designs/hotel.yaml gains a quarter.
//
// As a demand loses arcs, more tables exclude each other, and groups grow together. The multiplier of what comes of two is the
// sum of theirs: the other demand is paid as much as before, and the tables in it pay no less, so no bound gets worse.
type group struct {
	raised int          // in instance.demands
	number int          // of that demand
	id     int          // among the groups that the demand has had
	from   []int        // the ids of those that it comes of
	roles  []int32      // the arcs' table numbers
	names  []graph.Role // the same as they are in the problem
}

// instance is a compiled Problem, as far as it is not settled yet.
type instance struct {
	problem *Problem
	demands []demand
	upkeep  []float64
	size    []float64
	unit    float64 // of space, in which the multiplier of the limit is
	status  []int8
	readers [][]place // by table: the demands that can read it
	needers [][]place // by table: the demands that it raises
	asked   []uint64  // by table, as many words as words: the set of demands that can read it
	words   int
	count   int // multipliers of the demands
	paths   graph.Paths
	done    <-chan struct{} // closed when searches are to end with what they have; nil: never
}

// place is a demand, and the multiplier of one of its tables.
type place struct{ demand, at int32 }

// compileProblem weighs prices, and orders states and arcs. An error is an *UnsatisfiableError.
func compileProblem(p *Problem) (*instance, error) {
	in := &instance{problem: p, unit: 1, status: make([]int8, len(p.Tables))}
	if p.Space > 0 {
		// Were it bytes, the limit's violation would count a million times that of any other condition, and steps along it would
		// leave the other multipliers where they are.
		in.unit = p.Space
	}
	for n, t := range p.Tables {
		in.upkeep = append(in.upkeep, t.Upkeep)
		size := t.Size
		if t.Free {
			size = 0
		}
		in.size = append(in.size, size)
		if t.Fixed {
			in.status[n] = open
		}
	}
	for i := range p.Demands {
		in.demands = append(in.demands, compileDemand(i, &p.Demands[i]))
	}
	if bad := in.presolve(); bad >= 0 {
		return nil, &UnsatisfiableError{in.demands[bad].number}
	}
	if p.Space > 0 && len(in.status) >= dominatedFrom && !ablation.Without(ablation.Domination) && in.closeDominated() {
		in.presolve()
	}
	return in, nil
}

// presolve leaves out arcs over closed tables and what then leads nowhere, closes tables that raise a demand without a path
// or that nothing can read, and drops demands that are never there. It returns the number of a demand that can not be
// satisfied, or -1. Multipliers must be placed anew.
func (in *instance) presolve() int {
	isClosed, isOpen := func(n int32) bool { return in.status[n] == closed }, func(n int32) bool { return in.status[n] == open }
	for again := true; again; {
		again = false
		read := make([]bool, len(in.status))
		for i := range in.demands {
			d := &in.demands[i]
			d.applyStatus(in.status)
			d.Reduce(isClosed, isOpen)
			if len(d.Edges) == 0 {
				if d.always {
					return i
				}
				for _, n := range d.needed {
					in.status[n], again = closed, true
				}
				d.needed = nil
			}
			for _, r := range d.Roles[1:] {
				read[r.Table] = true
			}
		}
		for n := range in.status {
			if in.status[n] == free && !read[n] {
				in.status[n], again = closed, true
			}
		}
	}
	kept := in.demands[:0]
	for _, d := range in.demands {
		if d.always || len(d.needed) > 0 {
			kept = append(kept, d)
		}
	}
	in.demands = kept
	in.buildIndex()
	return -1
}

// tolerance keeps rounding from leaving out what is as good.
func tolerance(v float64) float64 { return 2e-9 * math.Abs(v) }

// buildIndex numbers each demand's tables, places multipliers, and lists readers and needers.
func (in *instance) buildIndex() {
	in.readers = make([][]place, len(in.status))
	in.needers = make([][]place, len(in.status))
	at := 0
	for i := range in.demands {
		d := &in.demands[i]
		d.at = at
		at += len(d.Roles) + len(d.needed)
		d.full = make([]float64, len(d.Roles))
		in.paths.Fit(d.States)
		for j, r := range d.Roles[1:] {
			in.readers[r.Table] = append(in.readers[r.Table], place{int32(i), int32(d.at + 1 + j)})
		}
		for j, n := range d.needed {
			in.needers[n] = append(in.needers[n], place{int32(i), int32(d.at + len(d.Roles) + j)})
		}
	}
	in.count = in.placeGroups(at)
	in.words = (len(in.demands) + 63) / 64
	in.asked = make([]uint64, in.words*len(in.status))
	for n, list := range in.readers {
		for _, r := range list {
			in.asked[n*in.words+int(r.demand)/64] |= 1 << (r.demand % 64)
		}
	}
}

// readTogether reports whether some demand can read both of two tables.
func (in *instance) readTogether(n, k int) bool {
	a, b := in.asked[n*in.words:][:in.words], in.asked[k*in.words:][:in.words]
	for w := range a {
		if a[w]&b[w] != 0 {
			return true
		}
	}
	return false
}

// placeGroups places the groups' multipliers after all others.
func (in *instance) placeGroups(at int) int {
	number := map[int]int{}
	for i := range in.demands {
		number[in.demands[i].number] = i
	}
	for i := range in.demands {
		d := &in.demands[i]
		if ablation.Without(ablation.Groups) {
			continue
		}
		in.shrinkGroups(d, number)
		if d.grouped == 0 || len(d.Edges) < d.grouped {
			in.growGroups(i)
			d.grouped = max(1, len(d.Edges))
		}
		d.groupsAt = at
		at += len(d.groups)
	}
	return at
}

// shrinkGroups takes out of a demand's groups what is no longer there.
func (in *instance) shrinkGroups(d *demand, number map[int]int) {
	if len(d.groups) == 0 {
		return
	}
	at := make(map[graph.Role]int32, len(d.Roles))
	for j, r := range d.Roles[1:] {
		at[r] = int32(j + 1)
	}
	var kept []group
	for _, g := range d.groups {
		to, ok := number[g.number]
		if !ok || in.demands[to].always {
			continue
		}
		next := group{raised: to, number: g.number, id: g.id, from: []int{g.id}}
		for _, name := range g.names {
			if j, ok := at[name]; ok {
				next.roles, next.names = append(next.roles, j), append(next.names, name)
			}
		}
		if len(next.roles) > 0 {
			kept = append(kept, next)
		}
	}
	d.groups = kept
}

// growGroups lets a demand's groups grow: together, and by tables that are in none.
func (in *instance) growGroups(i int) {
	d := &in.demands[i]
	classes := map[int][]group{}  // by demand
	member := map[[2]int32]bool{} // demand and table number
	for _, g := range d.groups {
		classes[g.raised] = append(classes[g.raised], g)
		for _, j := range g.roles {
			member[[2]int32{int32(g.raised), j}] = true
		}
	}
	several := false
	for j, r := range d.Roles[1:] {
		for _, k := range in.needers[r.Table] {
			if in.demands[k.demand].always || int(k.demand) == i || member[[2]int32{k.demand, int32(j + 1)}] {
				continue
			}
			to := int(k.demand)
			classes[to] = append(classes[to], group{raised: to, number: in.demands[to].number, roles: []int32{int32(j + 1)}, names: []graph.Role{r}})
		}
	}
	for _, list := range classes {
		several = several || len(list) > 1
	}
	if !several {
		return
	}
	follows := d.Follows()
	d.groups = nil
	for _, to := range slices.Sorted(maps.Keys(classes)) {
		var merged []group
	next:
		for _, g := range classes[to] {
			for c := range merged {
				m := &merged[c]
				if !slices.ContainsFunc(g.roles, func(j int32) bool { return sharesPath(follows, m.roles, j) }) {
					m.roles, m.names, m.from = append(m.roles, g.roles...), append(m.names, g.names...), append(m.from, g.from...)
					continue next
				}
			}
			merged = append(merged, g)
		}
		for _, m := range merged {
			if len(m.roles) > 1 || len(m.from) > 0 {
				m.id = d.marks
				d.marks++
				d.groups = append(d.groups, m)
			}
		}
	}
}

// clone is an instance that can be reduced further by itself.
func (in *instance) clone() *instance {
	own := &instance{problem: in.problem, upkeep: in.upkeep, size: in.size, unit: in.unit, done: in.done, status: slices.Clone(in.status)}
	for _, d := range in.demands {
		d.Edges, d.needed = slices.Clone(d.Edges), slices.Clone(d.needed)
		own.demands = append(own.demands, d)
	}
	own.presolve() // nothing goes; it makes what the copy needs of its own
	return own
}

// multiplierCount is how many there are: those of the demands, and that of the space.
func (in *instance) multiplierCount() int { return in.count + 1 }

// arcCount is how many arcs are left.
func (in *instance) arcCount() int {
	sum := 0
	for i := range in.demands {
		sum += len(in.demands[i].Edges)
	}
	return sum
}
