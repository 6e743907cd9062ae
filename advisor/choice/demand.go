package choice

import (
	"math"

	"github.com/helenus-db/helenus/advisor/graph"
)

// demand is a compiled Demand: its graph, weighed. Each role has a multiplier.
type demand struct {
	graph.Graph
	number   int // in Problem.Demands
	needed   []int32
	always   bool
	groups   []group
	grouped  int       // how many arcs there were when groups were last looked for
	marks    int       // how many groups there have been
	groupsAt int       // of the groups' multipliers
	at       int       // of its multipliers: one for each role (the first not used), then of needed
	full     []float64 // by role: what multipliers add to the prices
}

func compileDemand(number int, d *Demand) demand {
	g, ok := graph.Compile(d.States, d.Arcs, d.Weight)
	if !ok {
		panic("choice: a demand's arcs go in a circle")
	}
	c := demand{Graph: *g, number: number, always: d.Needed == nil}
	for _, n := range d.Needed {
		c.needed = append(c.needed, int32(n))
	}
	return c
}

// bar has roles over closed tables cost more than anything.
func (d *demand) bar(pay []float64, status []int8) {
	for j, r := range d.Roles[1:] {
		if status[r.Table] == closed {
			pay[j+1] = math.Inf(1)
		}
	}
}

// barred are no multipliers, but for closed tables.
func (d *demand) barred(status []int8) []float64 {
	pay := make([]float64, len(d.Roles))
	d.bar(pay, status)
	return pay
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
		d.Edges = nil
	}
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
