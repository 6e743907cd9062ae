package choice

import "slices"

// part is a piece of an instance that has nothing to do with the rest.
type part struct {
	in     *instance
	tables []int // the free tables in it
}

// independentParts splits an instance into pieces that share no free table, and adds up what is settled: the upkeep of open tables,
// and the demands that no free table concerns. A space limit ties everything together.
func (in *instance) independentParts() (list []*part, settled float64) {
	parent := make([]int, len(in.status))
	for n := range parent {
		parent[n] = n
	}
	root := func(n int) int {
		for parent[n] != n {
			parent[n] = parent[parent[n]]
			n = parent[n]
		}
		return n
	}
	first := make([]int, len(in.demands))
	for i := range in.demands {
		d := &in.demands[i]
		first[i] = -1
		tie := func(n int32) {
			if first[i] < 0 {
				first[i] = int(n)
			}
			parent[root(int(n))] = root(first[i])
		}
		for _, r := range d.Roles[1:] {
			tie(r.Table)
		}
		for _, n := range d.needed {
			tie(n)
		}
	}
	last := -1
	if in.problem.Space > 0 {
		for n, s := range in.status {
			if s == free {
				if last >= 0 {
					parent[root(n)] = root(last)
				}
				last = n
			}
		}
	}
	for n, s := range in.status {
		if s == open {
			settled += in.upkeep[n]
		}
	}
	at := map[int]*part{}
	whole := *in.problem
	if whole.Space > 0 {
		for n, s := range in.status {
			if s == open {
				whole.Space -= in.size[n]
			}
		}
		whole.Space = max(whole.Space, 1e-300)
	}
	for n, s := range in.status {
		if s != free {
			continue
		}
		r := root(n)
		if at[r] == nil {
			at[r] = &part{in: &instance{problem: &whole, upkeep: in.upkeep, size: in.size, unit: in.unit, done: in.done, status: make([]int8, len(in.status))}}
			for k := range in.status {
				at[r].in.status[k] = closed
			}
			list = append(list, at[r])
		}
		at[r].tables = append(at[r].tables, n)
		at[r].in.status[n] = free
	}
	for i := range in.demands {
		d := &in.demands[i]
		if first[i] < 0 {
			settled += d.Cheapest(nil, &in.paths) // over no tables: it reads none
			continue
		}
		p := at[root(first[i])]
		c := *d
		c.Edges = slices.Clone(d.Edges)
		c.needed = slices.Clone(d.needed)
		p.in.demands = append(p.in.demands, c)
	}
	for _, p := range list {
		if p.in.presolve() >= 0 {
			panic("choice: a part without a choice") // the whole has one
		}
	}
	return list, settled
}
