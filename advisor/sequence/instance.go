package sequence

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/graph"
)

// What is known of a table at a step.
const (
	free int8 = iota
	open
	closed
)

// instance is a compiled Problem, as far as it is not settled yet.
type instance struct {
	p       *Problem
	status  [][]int8       // by step and table
	unborn  [][]bool       // by step and table: it is not created for that step
	demands []*graph.Graph // by demand
	needed  [][]int32      // by demand; nil: it is there always
	loads   []*graph.Graph // by table
	size    []float64      // by table: 0 if it takes no space
	states  int            // of the largest graph
}

// newInstance compiles a problem that is valid. The error is an *UnsatisfiableError or an *InvalidError.
//
// Tables go for good that nothing reads and that are not there before (nothing gets worse without them), and those that raise a
// demand which has no path.
func newInstance(p *Problem) (*instance, error) {
	in := &instance{p: p}
	for range p.Steps {
		in.status = append(in.status, make([]int8, len(p.Tables)))
		in.unborn = append(in.unborn, make([]bool, len(p.Tables)))
	}
	for n := range p.Tables {
		x := &p.Tables[n]
		in.size = append(in.size, x.Size)
		if x.Free {
			in.size[n] = 0
		}
	}
	dead := make([]bool, len(p.Tables))
	fixed := func(n int) bool { return p.Tables[n].Fixed }
	isDead, isFixed := func(n int32) bool { return dead[n] }, func(n int32) bool { return p.Tables[n].Fixed }
	demands, err := p.compileGraphs(in)
	if err != nil {
		return nil, err
	}
	for again := true; again; {
		again = false
		read := make([]bool, len(p.Tables))
		mark := func(g *graph.Graph) {
			for _, r := range g.Roles[1:] {
				read[r.Table] = true
			}
		}
		for i := range p.Demands {
			d := &p.Demands[i]
			g := demands[i]
			g.Reduce(isDead, isFixed)
			if len(g.Edges) == 0 {
				if d.Needed == nil || slices.ContainsFunc(d.Needed, fixed) {
					return nil, &UnsatisfiableError{Demand: i, Name: d.Name}
				}
				for _, n := range d.Needed {
					again = again || !dead[n]
					dead[n] = true
				}
				continue
			}
			if d.Needed == nil || slices.ContainsFunc(d.Needed, func(n int) bool { return !dead[n] }) {
				mark(g)
			}
		}
		for n := range p.Tables {
			if in.loads[n].Reduce(isDead, isFixed); !dead[n] {
				mark(in.loads[n])
			}
		}
		for n := range p.Tables {
			if !dead[n] && !read[n] && !p.Tables[n].There && !p.Tables[n].Fixed {
				dead[n], again = true, true
			}
		}
	}
	for n := range p.Tables {
		for t := range p.Steps {
			switch {
			case p.Tables[n].Fixed:
				in.status[t][n] = open
			case dead[n]:
				in.status[t][n] = closed
			}
			in.unborn[t][n] = dead[n] || t > 0 && (p.Steps[t].Closed || len(in.loads[n].Edges) == 0)
		}
		in.states = max(in.states, in.loads[n].States)
	}
	for i, g := range demands {
		d := &p.Demands[i]
		in.demands = append(in.demands, g)
		in.states = max(in.states, g.States)
		var needed []int32
		if d.Needed != nil && !slices.ContainsFunc(d.Needed, fixed) {
			needed = []int32{}
			for _, n := range d.Needed {
				if !dead[n] && !slices.Contains(needed, int32(n)) {
					needed = append(needed, int32(n))
				}
			}
		}
		in.needed = append(in.needed, needed)
	}
	return in, nil
}

// compileGraphs compiles the graphs of demands, which it returns, and of loads.
func (p *Problem) compileGraphs(in *instance) (demands []*graph.Graph, err error) {
	for i := range p.Demands {
		g, ok := graph.Compile(p.Demands[i].States, p.Demands[i].Arcs, 1)
		if !ok {
			return nil, &InvalidError{"demand", i, "its arcs go in a circle"}
		}
		demands = append(demands, g)
	}
	for n := range p.Loads {
		g, ok := graph.Compile(max(2, p.Loads[n].States), p.Loads[n].Arcs, 1)
		if !ok {
			return nil, &InvalidError{"load", n, "its arcs go in a circle"}
		}
		in.loads = append(in.loads, g)
	}
	return demands, nil
}

// newPaths has room for the paths of a graph of so many states.
func newPaths(states int) *graph.Paths {
	p := &graph.Paths{}
	p.Fit(states)
	return p
}

// floorPrice is the price of a graph's cheapest path with all tables.
func floorPrice(g *graph.Graph) float64 {
	return g.Shortest(1, make([]float64, len(g.Roles)), newPaths(g.States))
}

// lowerToCheapest lowers, by table, to what the cheapest path costs that reads the table, whatever else is open.
func lowerToCheapest(g *graph.Graph, list []float64, p *graph.Paths) {
	free := make([]float64, len(g.Roles))
	g.Shortest(1, free, p)
	g.ShortestBack(1, free, p)
	for i := range g.Edges {
		e := &g.Edges[i]
		if n := g.Roles[e.Role].Table; n != graph.None {
			list[n] = min(list[n], p.Price[e.From]+e.Price+p.Back[e.To])
		}
	}
}

// sameWeights reports whether two steps weigh all demands the same.
func (p *Problem) sameWeights(s, t int) bool {
	for i := range p.Demands {
		if p.Demands[i].Weights[s] != p.Demands[i].Weights[t] {
			return false
		}
	}
	return true
}

// alwaysThere reports whether a demand is there at all steps.
func (in *instance) alwaysThere(i int) bool { return in.needed[i] == nil }

// staticProblem is the choice at one step.
func (p *Problem) staticProblem(t int) *choice.Problem {
	c := &choice.Problem{Space: p.Steps[t].Space}
	for n := range p.Tables {
		x := &p.Tables[n]
		c.Tables = append(c.Tables, choice.Table{Name: x.Name, Upkeep: x.Upkeep[t], Size: x.Size, Fixed: x.Fixed, Free: x.Free})
	}
	for i := range p.Demands {
		d := &p.Demands[i]
		c.Demands = append(c.Demands, choice.Demand{Name: d.Name, Weight: d.Weights[t], States: d.States, Arcs: d.Arcs, Needed: d.Needed})
	}
	return c
}

// demandPresent reports whether a demand must be satisfied by a step's tables.
func (in *instance) demandPresent(i int, open []bool) bool {
	return in.alwaysThere(i) || slices.ContainsFunc(in.needed[i], func(n int32) bool { return open[n] })
}

// mayBeBorn reports whether a table may be created for any step but the first.
func (in *instance) mayBeBorn(n int) bool {
	for t := 1; t < len(in.unborn); t++ {
		if !in.unborn[t][n] {
			return true
		}
	}
	return false
}
