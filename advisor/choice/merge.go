package choice

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
)

// merged is a problem in which demands that are alike are taken together. A cost model may have each table pay for itself what a
// write must know to change it, even if another table's is the same. Then there are as many demands as tables, most of them the same
// graph at the same prices, each needed by one table. Their relaxation is large and weak: of tables that exclude each
// other each is taken by a fraction, and all their demands are satisfied by the same fraction of one more table.
//
// A demand's cheapest path with all tables, its floor, is paid in any case; it becomes part of the upkeep of the table that
// needs it. What a path costs beyond that, its excess, is asked of all demands of a class only once: by one demand, which
// any of their tables raises. That is at most what each of them pays by itself. So a bound on the merged problem is one on
// the problem; and a choice costs the same in both if of each class no more than one table is kept, or the path has no
// excess. Where that is not so for the best choice of the merged problem, the classes concerned are split between the
// tables of that choice, and the merged problem is solved again. Each time there are more classes; at the latest when each
// has one demand both problems are the same.
type merged struct {
	whole   *Problem
	problem *Problem
	members [][]int // by demand of problem: those of whole that it stands for, in the order of Needed
}

// mergeDemands returns the merged problem; nil if there is little to merge.
func mergeDemands(p *Problem) *merged {
	m := &merged{whole: p, problem: &Problem{Tables: slices.Clone(p.Tables), Space: p.Space}}
	classes := map[uint64][]int{} // numbers of merged demands, by a digest of what must be the same
	before, after := 0, 0
	for i := range p.Demands {
		d := &p.Demands[i]
		before += len(d.Arcs)
		if len(d.Needed) != 1 {
			m.addDemand(*d, i)
			after += len(d.Arcs)
			continue
		}
		digest := d.graphDigest()
		at := slices.IndexFunc(classes[digest], func(k int) bool {
			return d.sameGraph(&p.Demands[m.members[k][0]]) && !slices.Contains(m.problem.Demands[k].Needed, d.Needed[0])
		})
		if at >= 0 {
			k := classes[digest][at]
			m.members[k] = append(m.members[k], i)
			m.problem.Demands[k].Needed = append(m.problem.Demands[k].Needed, d.Needed[0])
			continue
		}
		classes[digest] = append(classes[digest], len(m.members))
		c := *d
		c.Needed = slices.Clone(d.Needed)
		m.addDemand(c, i)
		after += len(d.Arcs)
	}
	if after*2 > before {
		return nil
	}
	for k, members := range m.members {
		if len(members) > 1 {
			m.moveFloorToUpkeep(k)
		}
	}
	return m
}

func (m *merged) addDemand(d Demand, member int) {
	m.problem.Demands = append(m.problem.Demands, d)
	m.members = append(m.members, []int{member})
}

// moveFloorToUpkeep moves a class's floor into the upkeep of its tables. With the price of the cheapest path on from a state as its
// height, an arc's excess is its price less what it descends: never negative, and a path's are together its price less the
// height of Source.
func (m *merged) moveFloorToUpkeep(k int) {
	d := &m.problem.Demands[k]
	height := make([]float64, d.States)
	for i := range height {
		height[i] = math.Inf(1)
	}
	height[Sink] = 0
	for again := true; again; {
		again = false
		for i := range d.Arcs {
			a := &d.Arcs[i]
			if v := height[a.To] + a.Price; v < height[a.From] {
				height[a.From], again = v, true
			}
		}
	}
	if math.IsInf(height[Source], 1) {
		return // no path: the tables will be closed
	}
	arcs := make([]Arc, 0, len(d.Arcs))
	for _, a := range d.Arcs {
		if math.IsInf(height[a.To], 1) { // it leads nowhere, but keeps its number
			height[a.From] = min(height[a.From], math.MaxFloat64)
			a.Price = 0
		} else {
			a.Price = max(0, a.Price+height[a.To]-height[a.From])
		}
		arcs = append(arcs, a)
	}
	d.Arcs = arcs
	for _, n := range d.Needed {
		m.problem.Tables[n].Upkeep += d.Weight * height[Source]
	}
}

// splitClasses divides the classes that cost more than they do in the merged problem under a choice, so that each of their kept tables
// has one of its own. Others go with the one that is most like them: what is read for the same purposes will hardly be kept
// with it. It reports whether there were any.
func (m *merged) splitClasses(choice []bool) bool {
	readers := make([][]int, len(m.problem.Tables)) // ascending
	for k := range m.problem.Demands {
		for _, a := range m.problem.Demands[k].Arcs {
			if a.Table == None {
				continue
			}
			if r := readers[a.Table]; len(r) == 0 || r[len(r)-1] != k {
				readers[a.Table] = append(r, k)
			}
		}
	}
	again := false
	for k := range len(m.members) {
		d := m.problem.Demands[k]
		var kept []int
		for _, n := range d.Needed {
			if choice[n] {
				kept = append(kept, n)
			}
		}
		if len(m.members[k]) < 2 || len(kept) < 2 {
			continue
		}
		if _, excess := d.CheapestPath(choice); excess*d.Weight == 0 {
			continue
		}
		needed, members := make([][]int, len(kept)), make([][]int, len(kept))
		for i, n := range d.Needed {
			to := slices.Index(kept, n)
			if to < 0 {
				most := -1.0
				for j, other := range kept {
					if v := jaccardIndex(readers[n], readers[other]); v > most {
						to, most = j, v
					}
				}
			}
			needed[to], members[to] = append(needed[to], n), append(members[to], m.members[k][i])
		}
		for j := range kept {
			part := d
			part.Needed = needed[j]
			if j == 0 {
				m.problem.Demands[k], m.members[k] = part, members[j]
				continue
			}
			m.problem.Demands, m.members = append(m.problem.Demands, part), append(m.members, members[j])
		}
		again = true
	}
	return again
}

// jaccardIndex is the share of what is in both of two ascending lists in what is in either.
func jaccardIndex(a, b []int) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// sameGraph reports whether two demands have the same graph at the same prices.
func (d *Demand) sameGraph(other *Demand) bool {
	return d.Weight == other.Weight && d.States == other.States && (len(d.Arcs) == 0 || len(d.Arcs) == len(other.Arcs) && &d.Arcs[0] == &other.Arcs[0] || slices.Equal(d.Arcs, other.Arcs))
}

// graphDigest is the same for demands that are alike.
func (d *Demand) graphDigest() uint64 {
	h := fnv.New64a()
	var b [8]byte
	put := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		_, _ = h.Write(b[:])
	}
	put(math.Float64bits(d.Weight))
	put(uint64(d.States))    //nolint:gosec // not negative
	put(uint64(len(d.Arcs))) //nolint:gosec // not negative
	for i := 0; i < len(d.Arcs); i += 1 + len(d.Arcs)/16 {
		a := &d.Arcs[i]
		put(math.Float64bits(a.Price))
		put(uint64(a.Table)) //nolint:gosec // only to tell apart
	}
	return h.Sum64()
}
