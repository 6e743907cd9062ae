package choice

import (
	"fmt"
	"math"

	"github.com/helenus-db/helenus/advisor/graph"
)

// Problem is a question of which tables to keep.
type Problem struct {
	Tables  []Table
	Demands []Demand
	Space   float64 // greatest sum of the sizes of kept tables; 0: no limit
}

// Table is something that may be kept, or must be.
type Table struct {
	Name   string
	Upkeep float64 // what keeping it costs, not negative
	Size   float64 // what it takes of Problem.Space
	Fixed  bool    // it must be kept
	Free   bool    // it takes no space and does not count among the tables: it is there already
}

// Demand is something to be satisfied by a path through a graph without circles.
type Demand struct {
	Name   string
	Weight float64 // by which prices are multiplied
	States int
	Arcs   []Arc
	Needed []int // the demand is there if one of these tables is kept; nil: always
}

// Arc leads from one state of a demand to another.
type Arc = graph.Arc

// The states that each demand has, and the table of an arc that reads none which is to be chosen.
const (
	Source = graph.Source
	Sink   = graph.Sink
	None   = graph.None
)

// UnsatisfiableError says that a demand has no path even if all tables are kept.
type UnsatisfiableError struct{ Demand int }

func (e *UnsatisfiableError) Error() string {
	return fmt.Sprintf("choice: demand %d can not be satisfied by any tables", e.Demand)
}

// SpaceError says that no choice satisfies all demands within Problem.Space.
type SpaceError struct {
	Space    float64
	Smallest float64 // the least space that will do
	Proven   bool    // Smallest is exact; otherwise it will do, but less may, too
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("choice: no choice fits into a space of %g; %g is needed", e.Space, e.Smallest)
}

// Cost is what a choice costs; +Inf if it leaves a demand unsatisfied, takes too much space, or does not keep a table
// that must be.
func (p *Problem) Cost(open []bool) float64 {
	sum, size := 0.0, 0.0
	for n, t := range p.Tables {
		if t.Fixed && !open[n] {
			return math.Inf(1)
		}
		if open[n] {
			sum += t.Upkeep
			if !t.Free {
				size += t.Size
			}
		}
	}
	if p.Space > 0 && size > p.Space*(1+1e-12) {
		return math.Inf(1)
	}
	for i := range p.Demands {
		d := &p.Demands[i]
		if !d.Required(open) {
			continue
		}
		_, price := d.CheapestPath(open)
		if math.IsInf(price, 1) {
			return price
		}
		sum += d.Weight * price
	}
	return sum
}

// Required reports whether a demand must be satisfied under a choice.
func (d *Demand) Required(open []bool) bool {
	if d.Needed == nil {
		return true
	}
	for _, n := range d.Needed {
		if open[n] {
			return true
		}
	}
	return false
}

// CheapestPath is the cheapest path under a choice, as numbers of arcs, and its price without the weight; +Inf if there is none.
func (d *Demand) CheapestPath(open []bool) ([]int, float64) {
	best := make([]float64, d.States)
	over := make([]int, d.States)
	for i := range best {
		best[i] = math.Inf(1)
	}
	best[Source] = 0
	for again := true; again; {
		again = false
		for i, a := range d.Arcs {
			if a.Table != None && !open[a.Table] {
				continue
			}
			if v := best[a.From] + a.Price; v < best[a.To] {
				best[a.To], over[a.To], again = v, i, true
			}
		}
	}
	if math.IsInf(best[Sink], 1) {
		return nil, best[Sink]
	}
	var path []int
	for at := Sink; at != Source; at = d.Arcs[over[at]].From {
		path = append(path, over[at])
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path, best[Sink]
}
