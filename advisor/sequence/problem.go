package sequence

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
)

// Problem is a question of which tables to keep at each step. Steps, demands and loads share one shape; what differs from
// step to step are weights and costs, so that a longer horizon is longer lists and not a larger graph.
type Problem struct {
	Steps   []Step
	Tables  []Table
	Demands []Demand // that hold at each step
	Loads   []Load   // by table: how it may be filled while the application runs

	Overlap bool // tables that are being filled during a step take space in it, besides those of the step
	Most    int  // greatest number of tables that are created at the start of one step, but the first; 0: no limit
	Life    int  // least number of steps that a created table is kept, or until the end; 0 and 1: no limit
}

// Step is a point in time.
type Step struct {
	Space  float64 // greatest sum of the sizes of kept tables; 0: no limit
	Closed bool    // no table may be created for this step: it is outside the windows in which migrations may run. The first step is never closed
}

// Table is something that may be kept.
type Table struct {
	Name   string
	Size   float64
	Upkeep []float64 // by step: what keeping it costs (writes)
	// Birth is, by step, what it costs that the table is there at the step but was not at the one before: storing it (C^L), and
	// keeping it true while that lasts (C^U, equation 16). That of the first step is the initial load, 0 if that is not asked for.
	Birth []float64
	Drop  float64 // what it costs that it was there at a step and is no longer at the next
	There bool    // it is there before the first step: no birth in that
	Fixed bool    // it must be kept at all steps
	Free  bool    // it takes no space and does not count among the tables: it is the application's own
}

// Demand is something to be satisfied at each step by a path through a graph without circles: as a choice.Demand, with a weight
// for each step. With Needed it is there at the steps where one of those tables is kept. It must be satisfied at weight 0, too:
// every step's tables answer all queries (W-53).
type Demand struct {
	Name    string
	Weights []float64
	States  int
	Arcs    []choice.Arc
	Needed  []int
}

// Load is how a table that is created for a step may be filled: by a path (a migration plan, over the graphs of all its
// source queries side by side, W-29 and W-30) whose arcs read tables of the step before (W-31). Prices are what extracting costs (C^E). A
// table without a path can be created for the first step only. Where several tables are born at once, each pays for itself.
type Load struct {
	States int
	Arcs   []choice.Arc // the table of an arc must be there at the step before
}

// Cost is what a sequence costs, by step and table whether it is kept; +Inf if it leaves something unsatisfied, or breaks a
// limit. With T steps it is equation 1:
//
//	sum over steps t of: Upkeep(t) of what is kept, Weights(t) times the cheapest path of each demand that is there
//	+ sum over t and tables that are kept at t, and were not before: Birth(t), and but for the first step the cheapest path of its Load over
//	  the tables kept at t-1
//	+ Drop of each table kept at t-1 and not at t
//
// A demand is there at t if it is a query, or if one of Needed is kept at t.
func (p *Problem) Cost(open [][]bool) float64 {
	sum := 0.0
	age := make([]int, len(p.Tables)) // steps since it was created
	for t := range p.Steps {
		size, created := 0.0, 0
		for n := range p.Tables {
			x := &p.Tables[n]
			before := x.There
			if t > 0 {
				before = open[t-1][n]
			}
			switch {
			case x.Fixed && !open[t][n]:
				return math.Inf(1)
			case open[t][n] && !before:
				if sum += x.Birth[t]; t > 0 {
					sum += p.Loads[n].cheapestPrice(open[t-1])
					created++
				}
				age[n] = 1
			case open[t][n]:
				if age[n] > 0 {
					age[n]++
				}
			case before:
				if sum += x.Drop; age[n] > 0 && age[n] < p.Life {
					return math.Inf(1)
				}
				age[n] = 0
			}
			if open[t][n] {
				sum += x.Upkeep[t]
			}
			coming := p.Overlap && t+1 < len(p.Steps) && open[t+1][n]
			if (open[t][n] || coming) && !x.Free {
				size += x.Size
			}
		}
		if created > 0 && (p.Steps[t].Closed || p.Most > 0 && created > p.Most) {
			return math.Inf(1)
		}
		if s := p.Steps[t].Space; s > 0 && size > s*(1+1e-12) {
			return math.Inf(1)
		}
		for i := range p.Demands {
			d := &p.Demands[i]
			at := choice.Demand{States: d.States, Arcs: d.Arcs, Needed: d.Needed}
			if !at.Required(open[t]) {
				continue
			}
			_, price := at.CheapestPath(open[t])
			if math.IsInf(price, 1) {
				return price
			}
			sum += d.Weights[t] * price
		}
	}
	return sum
}

// InitialCost is what it costs to come to a first design from what is there before: births of what is not there yet, drops of what goes.
func (p *Problem) InitialCost(design []bool) (sum float64) {
	for n, is := range design {
		switch x := &p.Tables[n]; {
		case is && !x.There:
			sum += x.Birth[0]
		case !is && x.There:
			sum += x.Drop
		}
	}
	return sum
}

// cheapestPrice is the price of the cheapest path over some tables; +Inf if there is none.
func (l *Load) cheapestPrice(open []bool) float64 {
	d := choice.Demand{States: max(2, l.States), Arcs: l.Arcs}
	_, price := d.CheapestPath(open)
	return price
}

// SingleStep is the problem of one step: a choice of tables.
func SingleStep(c *choice.Problem) *Problem {
	p := &Problem{Steps: []Step{{Space: c.Space}}, Loads: make([]Load, len(c.Tables))}
	for _, x := range c.Tables {
		p.Tables = append(p.Tables, Table{Name: x.Name, Upkeep: []float64{x.Upkeep}, Birth: []float64{0}, Size: x.Size, Fixed: x.Fixed, Free: x.Free})
	}
	for _, d := range c.Demands {
		p.Demands = append(p.Demands, Demand{Name: d.Name, Weights: []float64{d.Weight}, States: d.States, Arcs: d.Arcs, Needed: d.Needed})
	}
	return p
}

// Window is a problem over some of its steps, from one on and before another. What there is at the first of them was there before.
func (p *Problem) Window(from, to int) *Problem {
	if from == 0 && to == len(p.Steps) {
		return p
	}
	q := *p
	q.Steps, q.Tables, q.Demands = p.Steps[from:to], slices.Clone(p.Tables), slices.Clone(p.Demands)
	for n := range q.Tables {
		x := &q.Tables[n]
		x.Upkeep, x.Birth = x.Upkeep[from:to], slices.Clone(x.Birth[from:to])
		if from > 0 {
			x.There, x.Birth[0] = false, 0
		}
	}
	for i := range q.Demands {
		q.Demands[i].Weights = q.Demands[i].Weights[from:to]
	}
	return &q
}
