package sequence

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/internal/guard"
)

// DecomposeOptions says how to take a problem apart.
type DecomposeOptions struct {
	Relaxer choice.Relaxer // for the first prices; nil: they begin at Prices
	Prices  [][]float64    // by step and table, as Relaxed.Prices; nil: they begin at nothing
	Start   [][]bool       // by step, a design to begin from; nil: none
	Design  choice.Options // of the steps' designs
	Rounds  int            // how often prices are moved and designs made
	Known   float64        // what the best sequence costs that is known, +Inf: none is
	// Found is told of the sequence that comes of each round, if one does; it may break Most and Life. It says what the best one costs that is
	// known now.
	Found func(open [][]bool) float64
}

// Decomposition is what came of it.
type Decomposition struct {
	Bound   float64 // no sequence costs less
	Rounds  int
	Cuts    int   // conditions on what fills what
	Failure error // of the solver, if it failed at a design: a *solve.WorkerError
}

// Decompose bounds what sequences cost by designing each step by itself, and proposes what those designs are together.
//
// Steps hang together by equation 4 alone, which says what is created and dropped, and by what fills what is created. Both get
// multipliers (Lagrangian decomposition): a table pays at a step for being there, and is paid at the step before, so that a
// design is charged its share of creating what it has, and given what it saves the next one. What is left is a problem of package
// choice for each step, with its space, solved as a whole number. Any multipliers give a bound. The first ones are the
// linear relaxation's: so the bound is never below that, and above by what the relaxation gains by keeping three quarters of a
// table. Then they move along the subgradient: a table that a design has and the one before lacks, though it is not worth creating, gets dearer
// in the one and more welcome in the other.
//
// What fills a table is looked at in two parts. What that costs is at least what its cheapest path does; and it needs something of each
// set of tables that cuts all of its paths (a cut; multipliers.go). Cuts are found as they are broken, which is Benders' method, and keep
// the program small: seed 004's loads have ten times as many arcs as its demands.
//
// Life, Most and Overlap are not looked at: the bound holds all the same, as they only forbid.
func Decompose(ctx context.Context, p *Problem, o DecomposeOptions) (*Decomposition, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	x, err := newMultipliers(p)
	if err != nil {
		return nil, err
	}
	if o.Relaxer != nil {
		if err := x.setFromRelaxation(ctx, o.Relaxer); err != nil {
			return nil, err
		}
	}
	if o.Prices != nil {
		x.setByStep(o.Prices)
	}
	found := &Decomposition{Bound: math.Inf(-1)}
	length := 1.0
	start := o.Start
	for range o.Rounds {
		x.clampPrices()
		m := &stepProblems{o.Design, map[string]*stepProblem{}}
		bound, open, err := x.designSteps(ctx, m, start, nil)
		if err != nil {
			if found.Rounds > 0 && ctx.Err() != nil {
				break
			}
			return nil, err
		}
		found.Failure = m.firstFailure(found.Failure)
		if found.Rounds++; bound > found.Bound {
			found.Bound = bound
		} else {
			length /= 2
		}
		start = open
		if list := x.repairDesigns(ctx, m, open); list != nil && o.Found != nil {
			o.Known = o.Found(list)
		}
		x.cutDesigns(open)
		if !x.subgradientStep(open, length*(o.Known-bound)) {
			break
		}
	}
	found.Cuts = x.cutCount()
	return found, ctx.Err()
}

// stepProblem is the problem of a step, and its answer.
type stepProblem struct {
	q    *choice.Problem
	r    *choice.Result
	err  error
	plus float64
}

// stepProblems are the steps' problems by their keys: those that are the same are solved once.
type stepProblems struct {
	options choice.Options
	met     map[string]*stepProblem
}

// designSteps solves the steps' problems, side by side; fixed are tables that they must have, by step. The bound is without these.
func (x *multipliers) designSteps(ctx context.Context, m *stepProblems, start, fixed [][]bool) (bound float64, open [][]bool, err error) {
	list := make([]*stepProblem, len(x.kind))
	var wait guard.Group
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for t := range list {
		q, plus := x.pricedStep(t)
		if fixed != nil {
			for n, is := range fixed[t] {
				q.Tables[n].Fixed = q.Tables[n].Fixed || is
			}
		}
		key := stepProblemKey(q, plus)
		if list[t] = m.met[key]; list[t] != nil {
			continue
		}
		y := &stepProblem{q: q, plus: plus}
		list[t], m.met[key] = y, y
		o := m.options
		if start != nil {
			o.Start = start[t]
		}
		wait.Go(guard.Advice, func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			y.r, y.err = choice.Solve(ctx, y.q, o)
		})
	}
	wait.Wait()
	for _, y := range list {
		if y.err != nil {
			return 0, nil, y.err
		}
		bound += y.r.Bound + y.plus
		open = append(open, y.r.Open)
	}
	return bound, open, nil
}

// firstFailure is a former failure of the solver, else the first at a part.
func (m *stepProblems) firstFailure(former error) error {
	for _, key := range slices.Sorted(maps.Keys(m.met)) {
		if y := m.met[key]; former == nil && y.r != nil {
			former = y.r.Failure
		}
	}
	return former
}

// maxRepairs is how often designs are made anew with what their tables are filled from.
const maxRepairs = 6

// repairDesigns makes designs a sequence: where a table has nothing that fills it, that table, or what would fill it, whichever is smaller, has to be there
// before, and the designs that have to have it are made anew. What they lack is small mostly: names of customers. nil: it could not be.
func (x *multipliers) repairDesigns(ctx context.Context, m *stepProblems, open [][]bool) [][]bool {
	var fixed [][]bool
	for range maxRepairs {
		s := newAnnealing(x.in, 0)
		if s.setSequence(open); !s.openMissingSources() {
			return open
		}
		if fixed == nil {
			for range open {
				fixed = append(fixed, make([]bool, len(x.cuts)))
			}
		}
		for t := range open {
			for n := range open[t] {
				fixed[t][n] = fixed[t][n] || s.open[t][n] && !open[t][n]
			}
		}
		var err error
		if _, open, err = x.designSteps(ctx, m, nil, fixed); err != nil {
			return nil // what they must have does not fit, or the context ended
		}
	}
	return nil
}

// openMissingSources opens what tables lack that are created and have nothing that fills them. False: there is no such table.
func (s *annealing) openMissingSources() (lacking bool) {
	for t := len(s.open) - 1; t > 0; t-- {
		for n, is := range s.open[t] {
			if !is || s.open[t-1][n] || !math.IsInf(s.load[t][n], 1) && !s.in.unborn[t][n] {
				continue
			}
			lacking = true
			if s.in.unborn[t][n] { // its load may be larger than what is made room for
				s.openIfFree(t-1, int32(n))
				continue
			}
			g := s.in.loads[n]
			u := s.u[:len(g.roles)]
			for j, r := range g.roles {
				switch {
				case j == 0 || s.open[t-1][r.table]:
					u[j] = 0
				case s.in.status[t-1][r.table] == closed:
					u[j] = math.Inf(1)
				default:
					u[j] = s.in.size[r.table]
				}
			}
			if g.shortestPath(0, u, s.s) >= s.in.size[n] {
				s.openIfFree(t-1, int32(n))
				continue
			}
			var path []int32 // turning a table over looks for other paths, in the same scratch
			g.walkPath(s.s, func(_ int32, a *arc) {
				if m := g.roles[a.role].table; a.role != 0 && !s.open[t-1][m] {
					path = append(path, m)
				}
			})
			for _, m := range path {
				if !s.open[t-1][m] {
					s.flipTable(t-1, m)
				}
			}
		}
	}
	return lacking
}

// openIfFree opens a table at a step if it can be.
func (s *annealing) openIfFree(t int, n int32) {
	if s.in.status[t][n] == free {
		s.flipTable(t, n)
	}
}

// stepProblemKey is the same for the same problem of a step: of one problem these differ in weights, upkeep, and gains alone.
func stepProblemKey(q *choice.Problem, plus float64) string {
	var b []byte
	put := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	put(q.Space)
	put(plus)
	for n := range q.Tables {
		put(q.Tables[n].Upkeep)
		if q.Tables[n].Fixed {
			b = append(b, 1)
		}
	}
	for i := range q.Demands {
		d := &q.Demands[i]
		put(d.Weight)
		if last := len(d.Arcs) - 1; last >= 0 {
			put(d.Arcs[last].Price)
			put(float64(d.Arcs[0].Table))
		}
	}
	return string(b)
}
