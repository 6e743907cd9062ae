package sequence

import (
	"fmt"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
)

// UnsatisfiableError says that a demand has no path at a step even if all tables are kept. As steps share their paths, it has none at
// any other either; Step is the first at which it must be satisfied.
type UnsatisfiableError struct {
	Demand int
	Name   string
	Step   int
}

func (e *UnsatisfiableError) Error() string {
	return fmt.Sprintf("sequence: demand %d (%q) can not be satisfied by any tables at step %d: add a table that it can be answered from", e.Demand, e.Name, e.Step+1)
}

// SpaceError says that no tables that satisfy all demands fit into the space of a step. Space that suffices for one design suffices
// for a sequence: the smallest one, kept throughout.
type SpaceError struct {
	Step     int     // the one with the least space
	Space    float64 // what it has
	Smallest float64 // the least that will do
	Proven   bool    // Smallest is exact; otherwise it will do, but less may, too
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("sequence: no tables that answer everything fit into the space of step %d, which is %g: give it %g", e.Step+1, e.Space, e.Smallest)
}

// InvalidError says which part of a problem is not well formed.
type InvalidError struct {
	Part   string // "problem", "step", "table", "demand" or "load"
	Index  int
	Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("sequence: problem not valid: %s %d: %s", e.Part, e.Index, e.Reason)
}

// Validate returns an *InvalidError for the first part that is not well formed: a list that is not as long as there are steps, a
// number that is negative or none, an arc of no table or state, arcs in a circle. A well-formed problem may still be impossible to solve.
func (p *Problem) Validate() error {
	if len(p.Steps) == 0 {
		return &InvalidError{"problem", 0, "it has no steps"}
	}
	if p.Most < 0 || p.Life < 0 {
		return &InvalidError{"problem", 0, "Most and Life must not be negative"}
	}
	if len(p.Loads) != len(p.Tables) {
		return &InvalidError{"problem", 0, fmt.Sprintf("%d loads for %d tables", len(p.Loads), len(p.Tables))}
	}
	for t, s := range p.Steps {
		if invalidCost(s.Space) {
			return &InvalidError{"step", t, "the space must be a number that is not negative"}
		}
	}
	if p.Steps[0].Closed {
		return &InvalidError{"step", 0, "the first step is never closed: tables must come from somewhere"}
	}
	for n := range p.Tables {
		x := &p.Tables[n]
		switch {
		case len(x.Upkeep) != len(p.Steps) || len(x.Birth) != len(p.Steps):
			return &InvalidError{"table", n, fmt.Sprintf("upkeep for %d and birth for %d of %d steps", len(x.Upkeep), len(x.Birth), len(p.Steps))}
		case invalidCost(x.Size) || invalidCost(x.Drop) || anyInvalidCost(x.Upkeep) || anyInvalidCost(x.Birth):
			return &InvalidError{"table", n, "size and costs must be numbers that are not negative"}
		}
		if reason := p.graphFault(max(2, p.Loads[n].States), p.Loads[n].Arcs); reason != "" {
			return &InvalidError{"load", n, reason}
		}
	}
	for i := range p.Demands {
		d := &p.Demands[i]
		if len(d.Weights) != len(p.Steps) || anyInvalidCost(d.Weights) {
			return &InvalidError{"demand", i, fmt.Sprintf("%d weights for %d steps, or one that is negative or no number", len(d.Weights), len(p.Steps))}
		}
		if d.States < 2 {
			return &InvalidError{"demand", i, "it needs the states Start and Answered"}
		}
		for _, n := range d.Needed {
			if n < 0 || n >= len(p.Tables) {
				return &InvalidError{"demand", i, fmt.Sprintf("there is no table %d to need it", n)}
			}
		}
		if reason := p.graphFault(d.States, d.Arcs); reason != "" {
			return &InvalidError{"demand", i, reason}
		}
	}
	return nil
}

// graphFault says what is wrong with a graph.
func (p *Problem) graphFault(states int, arcs []choice.Arc) string {
	for i, a := range arcs {
		switch {
		case a.From < 0 || a.From >= states || a.To < 0 || a.To >= states || a.From == choice.Sink || a.To == choice.Source:
			return fmt.Sprintf("arc %d leads from %d to %d, but the states are %d, of which 0 is the first and 1 the last", i, a.From, a.To, states)
		case a.Table != choice.None && (a.Table < 0 || a.Table >= len(p.Tables)):
			return fmt.Sprintf("arc %d is over table %d, which there is not", i, a.Table)
		case invalidCost(a.Price):
			return fmt.Sprintf("the price of arc %d must be a number that is not negative", i)
		}
	}
	return ""
}

func invalidCost(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }

func anyInvalidCost(list []float64) bool {
	for _, v := range list {
		if invalidCost(v) {
			return true
		}
	}
	return false
}
