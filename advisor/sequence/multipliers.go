package sequence

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// multipliers are the multipliers of what ties steps together (Decompose). Steps of one kind have the same.
type multipliers struct {
	in     *instance
	kind   []int         // by step
	first  []int         // by kind: its first step
	least  []float64     // by table: of filling it, +Inf: it can not be
	change [][]float64   // by kind and table: what a table costs more at the step, and less at the one before
	cuts   [][]cut       // by table: sets of tables; what fills it needs one of each
	fill   [][][]float64 // by kind, table and cut: what creating a table pays to each table of the cut that is there at the step before
	s      *scratch
}

// cut is a set of tables, in order.
type cut []int32

// alikeFrom is from how many steps on those of one kind share their prices: of fewer each may as well have its own.
const alikeFrom = 7

func newMultipliers(p *Problem) (*multipliers, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	x := &multipliers{in: in, cuts: make([][]cut, len(in.size)), s: newScratch(in.states)}
	kinds := map[string]int{}
	for t := range p.Steps {
		key := string(binary.LittleEndian.AppendUint64(nil, uint64(t)))
		if t > 0 && len(p.Steps) >= alikeFrom {
			key = p.stepKey(t)
		}
		k, known := kinds[key]
		if !known {
			k = len(x.first)
			kinds[key] = k
			x.first = append(x.first, t)
			x.change, x.fill = append(x.change, make([]float64, len(in.size))), append(x.fill, make([][]float64, len(in.size)))
		}
		x.kind = append(x.kind, k)
	}
	for n := range in.size {
		g := in.loads[n]
		if x.least = append(x.least, math.Inf(1)); len(g.arcs) > 0 {
			x.least[n] = g.floor
		}
	}
	return x, nil
}

// stepKey is the same for steps at which, and before which, everything weighs and costs the same.
func (p *Problem) stepKey(t int) string {
	var b []byte
	put := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	for s := t - 1; s <= t; s++ {
		put(p.Steps[s].Space)
		for n := range p.Tables {
			put(p.Tables[n].Upkeep[s])
		}
		for i := range p.Demands {
			put(p.Demands[i].Weights[s])
		}
	}
	for n := range p.Tables {
		put(p.Tables[n].Birth[t])
	}
	if p.Steps[t].Closed {
		b = append(b, 1)
	}
	return string(b)
}

// relaxRounds is how often the relaxation is solved with further cuts.
const relaxRounds = 4

// setFromRelaxation sets prices to the multipliers of the linear relaxation, of as many steps as have one of each kind.
func (x *multipliers) setFromRelaxation(ctx context.Context, s choice.Relaxer) error {
	in := x.in
	last := slices.Max(x.first)
	if last+1 < len(x.kind) {
		last++ // what comes after it counts, too
	}
	if last+1 < len(x.kind) {
		var err error
		if in, err = newInstance(in.p.Window(0, last+1)); err != nil {
			return err
		}
	}
	lean := in.withLeastLoads()
	for range relaxRounds {
		p := newProgram(lean)
		rows := x.addCuts(p)
		r, err := p.solveRelaxation(ctx, s)
		if err != nil {
			return err
		}
		x.readDuals(p, rows, r)
		if x.separateCuts(p, r) == 0 {
			break
		}
	}
	return nil
}

// setByStep sets prices to what they are by step: of a kind's steps to the mean.
func (x *multipliers) setByStep(list [][]float64) {
	count := make([]float64, len(x.change))
	for _, k := range x.kind {
		count[k]++
	}
	for t, k := range x.kind {
		for n, v := range list[t] {
			x.change[k][n] += v / count[k]
		}
	}
}

// addCuts adds to a program what the cuts say, and returns the rows by step, table and cut.
func (x *multipliers) addCuts(p *program) [][][]int {
	rows := make([][][]int, len(p.kept))
	for t := 1; t < len(rows); t++ {
		rows[t] = make([][]int, len(x.cuts))
		for n, cuts := range x.cuts {
			for _, cut := range cuts {
				if p.created[t][n] < 0 {
					rows[t][n] = append(rows[t][n], -1)
					continue
				}
				row := rowBuilder{lower: math.Inf(-1), upper: 0}
				row.addTerm(p.created[t][n], 1)
				for _, m := range cut {
					p.addKept(&row, t-1, int(m), -1)
				}
				rows[t][n] = append(rows[t][n], p.addRow(row))
			}
		}
	}
	return rows
}

// readDuals takes prices from the multipliers of a program's rows: of a kind's steps the mean.
func (x *multipliers) readDuals(p *program, rows [][][]int, r *solve.Relaxation) {
	count := make([]float64, len(x.change))
	for k := range x.change {
		clear(x.change[k])
		for n := range x.fill[k] {
			x.fill[k][n] = make([]float64, len(x.cuts[n]))
		}
	}
	for t := range p.kept {
		count[x.kind[t]]++
	}
	for t := range p.kept {
		k := x.kind[t]
		for n, row := range p.changes[t] {
			if row >= 0 {
				x.change[k][n] -= r.Duals[row] / count[k]
			}
			if t == 0 {
				continue
			}
			for c, row := range rows[t][n] {
				if row >= 0 {
					x.fill[k][n][c] += math.Abs(r.Duals[row]) / count[k]
				}
			}
		}
	}
}

// little is how little of a table counts as nothing in a relaxation.
const little = 0.05

// separateCuts adds cuts that a relaxation breaks, and says how many.
func (x *multipliers) separateCuts(p *program, r *solve.Relaxation) (added int) {
	value := func(c int) float64 {
		if c < 0 {
			return 0
		}
		return r.Values[c]
	}
	there := make([]bool, len(x.cuts))
	for t := 1; t < len(p.kept); t++ {
		for n, c := range p.created[t] {
			created := value(c)
			if created < little {
				continue
			}
			for m := range there {
				there[m] = p.in.status[t-1][m] == open || value(p.kept[t-1][m]) >= little*created
			}
			if x.addCut(n, there) {
				added++
			}
		}
	}
	return added
}

// cutDesigns adds cuts that designs break.
func (x *multipliers) cutDesigns(list [][]bool) {
	for t := 1; t < len(list); t++ {
		for n, is := range list[t] {
			if is && !list[t-1][n] {
				x.addCut(n, list[t-1])
			}
		}
	}
}

// addCut adds a cut of a table's paths of which nothing is there. False: there is a path.
func (x *multipliers) addCut(n int, there []bool) bool {
	g := x.in.loads[n]
	if len(g.arcs) == 0 {
		return false
	}
	has := func(a *arc) bool { return a.role == 0 || there[g.roles[a.role].table] }
	front, back := make([]bool, g.states), make([]bool, g.states)
	front[choice.Source], back[choice.Sink] = true, true
	for i := range g.arcs {
		if a := &g.arcs[i]; front[a.from] && has(a) {
			front[a.to] = true
		}
	}
	if front[choice.Sink] {
		return false
	}
	for i := len(g.arcs) - 1; i >= 0; i-- {
		if a := &g.arcs[i]; back[a.to] && has(a) {
			back[a.from] = true
		}
	}
	var best cut
	for _, across := range []func(a *arc) bool{
		func(a *arc) bool { return front[a.from] && !front[a.to] },
		func(a *arc) bool { return !back[a.from] && back[a.to] },
	} {
		var set cut
		for i := range g.arcs {
			if a := &g.arcs[i]; across(a) {
				set = append(set, g.roles[a.role].table)
			}
		}
		slices.Sort(set)
		if set = slices.Compact(set); best == nil || len(set) < len(best) {
			best = set
		}
	}
	for _, cut := range x.cuts[n] {
		if slices.Equal(cut, best) {
			return false
		}
	}
	x.cuts[n] = append(x.cuts[n], best)
	for k := range x.fill {
		x.fill[k][n] = append(x.fill[k][n], 0)
	}
	return true
}

// cutCount is how many cuts there are.
func (x *multipliers) cutCount() (sum int) {
	for _, cuts := range x.cuts {
		sum += len(cuts)
	}
	return sum
}

// creationCost is what creating a table costs at a step; +Inf: it can not be created.
func (x *multipliers) creationCost(k, n int) float64 {
	t := x.first[k]
	if x.in.unborn[t][n] {
		return math.Inf(1)
	}
	sum := x.in.p.Tables[n].Birth[t]
	if t == 0 {
		return sum
	}
	for _, v := range x.fill[k][n] {
		sum += v
	}
	return sum + x.least[n]
}

// clampPrices bounds what tables cost more by what creating and dropping them costs: beyond that, creating would be worth more than it costs.
func (x *multipliers) clampPrices() {
	for k := range x.change {
		for n, v := range x.change[k] {
			x.change[k][n] = min(max(v, -x.in.p.Tables[n].Drop), x.creationCost(k, n))
		}
	}
}

// pricedStep is the problem of one step at these prices, and what is to be added to its cost.
func (x *multipliers) pricedStep(t int) (q *choice.Problem, plus float64) {
	in := x.in
	q = in.p.staticProblem(t)
	more := slices.Clone(x.change[x.kind[t]])
	if t == 0 {
		for n := range more {
			if in.p.Tables[n].There {
				plus -= more[n]
			}
		}
	}
	if t+1 < len(x.kind) {
		next := x.kind[t+1]
		for n := range more {
			more[n] -= x.change[next][n]
			for c, cut := range x.cuts[n] {
				for _, m := range cut {
					more[m] -= x.fill[next][n][c]
				}
			}
		}
	}
	for n := range q.Tables {
		y := &q.Tables[n]
		y.Upkeep += more[n]
		if y.Upkeep >= 0 {
			continue
		}
		// Package choice knows no gains. A table that has one raises a demand that has it for nothing, and costs as much without.
		gain := -y.Upkeep
		y.Upkeep = 0
		plus -= gain
		if !y.Fixed {
			q.Demands = append(q.Demands, choice.Demand{Weight: 1, States: 2, Arcs: []choice.Arc{{From: choice.Source, To: choice.Sink, Table: n}, {From: choice.Source, To: choice.Sink, Price: gain, Table: choice.None}}})
		}
	}
	return q, plus
}

// subgradientStep changes prices along the subgradient, so far that the bound would rise by an amount if it were linear. False: nothing is left to
// change, the designs are a sequence that costs what the bound says.
func (x *multipliers) subgradientStep(list [][]bool, rise float64) bool {
	change, fill := make([][]float64, len(x.change)), make([][][]float64, len(x.fill))
	for k := range change {
		change[k], fill[k] = make([]float64, len(x.cuts)), make([][]float64, len(x.cuts))
		for n := range fill[k] {
			fill[k][n] = make([]float64, len(x.cuts[n]))
		}
	}
	for t := range list {
		k := x.kind[t]
		for n, is := range list[t] {
			before := x.in.p.keptBefore(list, t, n)
			v := 0.0
			switch created := 0.0; {
			case is && !before:
				// It is created if that is not too dear: then the change is as it should be, and what counts is whether it can be filled.
				if most := x.creationCost(k, n); !math.IsInf(most, 1) && x.change[k][n] >= most*(1-1e-9) {
					created = 1
				} else {
					v = 1
				}
				if t > 0 {
					for c, cut := range x.cuts[n] {
						fill[k][n][c] += created - cut.keptCount(list[t-1])
					}
				}
				change[k][n] += v
				continue
			case before && !is && x.change[k][n] > -x.in.p.Tables[n].Drop:
				v = -1
			}
			change[k][n] += v
			if t > 0 {
				for c, cut := range x.cuts[n] {
					if x.fill[k][n][c] > 0 {
						fill[k][n][c] -= cut.keptCount(list[t-1])
					}
				}
			}
		}
	}
	norm := 0.0
	for k := range change {
		for n, v := range change[k] {
			norm += v * v
			for c, v := range fill[k][n] {
				if v < 0 && x.fill[k][n][c] == 0 {
					fill[k][n][c], v = 0, 0
				}
				norm += v * v
			}
		}
	}
	if norm == 0 || rise <= 0 || math.IsInf(rise, 1) {
		return false
	}
	for k := range change {
		for n := range change[k] {
			x.change[k][n] += rise / norm * change[k][n]
			for c := range fill[k][n] {
				x.fill[k][n][c] = max(0, x.fill[k][n][c]+rise/norm*fill[k][n][c])
			}
		}
	}
	return true
}

// keptCount is how many tables of a cut are there.
func (c cut) keptCount(open []bool) (sum float64) {
	for _, n := range c {
		if open[n] {
			sum++
		}
	}
	return sum
}
