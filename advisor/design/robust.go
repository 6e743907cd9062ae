package design

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Robust is what designs for several mixes cost under each (Options.Mixes).
//
// The mean design is the best for the mean of the weights. The worst-case design makes the greatest regret least: what a
// mix costs over what it would cost with tables of its own. It is relative, because mixes differ in how much they do at
// all: the greatest cost would be that of the busiest mix, and the others would have no say.
//
// The worst case is found by weights of the mixes. For any weights that sum up to 1 the best design for the weighted sum of
// regrets is one solve like any other, and what that costs is a bound: the greatest regret is never below a weighted mean.
// The weights that raise the bound most are those of a matrix game against the choices found so far, a linear program with a
// variable for each mix; solving for them finds a new choice, or the bound is the best that weights can give. The choice is
// the one of all found whose greatest regret is least, improved by tables added, dropped and exchanged. Between it and the
// bound there may be a gap that no weights close (a choice may be good for all mixes, but the best for no weights): then
// Proven is false and Bound says how much less regret there might be.
type Robust struct {
	Worst  bool // the design is the worst-case one; else the mean one
	Mixes  []MixCost
	Regret [2]float64 // greatest, of the mean design and of the worst-case one
	Bound  float64    // no choice has a smaller greatest regret
	Proven bool       // the worst-case design's is the least
	Rounds int        // solves for weights
	Tables [2]int     // how many
	// Only are the tables of the mean design alone, and of the worst-case one alone.
	Only [2][]string
}

// MixCost is what one mix costs.
type MixCost struct {
	Mix   string
	Own   float64    // with tables of its own
	Exact bool       // that is proven
	Costs [2]float64 // over the mean design, and over the worst-case one
}

// Regret is the cost over the mean design (0) or the worst-case one (1) by that with tables of the mix's own.
func (m *MixCost) Regret(design int) float64 { return m.Costs[design] / scaleOf(m.Own) }

// scaleOf is what costs of a mix are divided by. A mix that costs nothing at best has no relative regret: its cost is.
func scaleOf(own float64) float64 {
	if own <= 0 {
		return 1
	}
	return own
}

// meanOf returns the statements that are part of any of the mixes, with the mean weights, the IDs of the others, and the
// weights by mix and statement.
func meanOf(w *workload.Workload, mixes []string) (*workload.Workload, []string, [][]float64, error) {
	for i, mix := range mixes {
		if !slices.Contains(w.Mixes, mix) {
			return nil, nil, nil, &model.NameError{What: "mix", Name: mix, Known: w.Mixes}
		}
		if slices.Contains(mixes[:i], mix) {
			return nil, nil, nil, fmt.Errorf("mix %s is named twice", mix)
		}
	}
	own, others := w.In(mixes...)
	own.Mix = "mean of " + strings.Join(mixes, ", ")
	rates := make([][]float64, len(mixes))
	for i, s := range own.Statements {
		mean := *s
		mean.Weight = 0
		for k, mix := range mixes {
			rates[k] = append(rates[k], s.WeightIn(mix))
			mean.Weight += rates[k][i] / float64(len(mixes))
		}
		own.Statements[i] = &mean
	}
	return own, others, rates, nil
}

// mostRounds is how many weights of mixes are tried.
const mostRounds = 40

// regretSearch is the search for the least greatest regret.
type regretSearch struct {
	*Study
	scale   []float64 // by mix
	found   []selection
	regrets [][]float64 // by choice found and mix
	best    int         // of found
	robust  *Robust
}

// searchRegret finds what the mixes cost over the mean design's choice and over the worst-case one, and returns that.
func (s *Study) searchRegret(ctx context.Context, mean selection) (*Robust, selection, error) {
	means := s.weights
	defer func() { s.weights = means }()
	x := &regretSearch{Study: s, robust: &Robust{Proven: true}}
	x.scale = make([]float64, len(s.rates))
	starts := []selection{mean}
	for k, rates := range s.rates {
		s.weights = rates
		c, r, err := s.task.solveInTime(ctx, s.options, s.choiceProblem(), mean)
		if err != nil {
			return nil, nil, err
		}
		own := r.Cost + s.existingWrites()
		x.scale[k] = scaleOf(own)
		x.robust.Mixes = append(x.robust.Mixes, MixCost{Mix: s.options.Mixes[k], Own: own, Exact: r.Proven})
		x.robust.Proven = x.robust.Proven && r.Proven
		x.robust.Bound = max(x.robust.Bound, (r.Bound+s.existingWrites())/x.scale[k])
		starts = append(starts, c)
	}
	for _, c := range starts {
		x.addFound(c)
	}
	if err := x.raiseBound(ctx); err != nil {
		return nil, nil, err
	}
	x.improveBest()
	if err := x.raiseBound(ctx); err != nil { // with what the improvement has found
		return nil, nil, err
	}
	worst := x.found[x.best]
	r := x.robust
	for k := range r.Mixes {
		r.Mixes[k].Costs = [2]float64{x.regrets[0][k] * x.scale[k], x.regrets[x.best][k] * x.scale[k]}
	}
	r.Regret = [2]float64{slices.Max(x.regrets[0]), slices.Max(x.regrets[x.best])}
	r.Bound = min(r.Bound, r.Regret[1])
	r.Proven = r.Proven && r.Bound >= r.Regret[1]*(1-1e-7)
	for n, table := range s.candidates {
		for i, c := range []selection{mean, worst} {
			if !c[n] {
				continue
			}
			r.Tables[i]++
			if other := []selection{worst, mean}[i]; !other[n] {
				r.Only[i] = append(r.Only[i], table.String())
			}
		}
	}
	return r, worst, nil
}

// addFound adds a choice to those found; false if it was there.
func (x *regretSearch) addFound(c selection) bool {
	for _, f := range x.found {
		if slices.Equal(f, c) {
			return false
		}
	}
	g := x.regretsOf(c)
	x.found, x.regrets = append(x.found, c), append(x.regrets, g)
	if slices.Max(g) < slices.Max(x.regrets[x.best])*(1-1e-12) {
		x.best = len(x.found) - 1
	}
	return true
}

// regretsOf is what a choice costs by mix, by the mix's own cost; infinite if it does not answer everything.
func (x *regretSearch) regretsOf(c selection) []float64 {
	g := make([]float64, len(x.rates))
	for k, rates := range x.rates {
		x.weights = rates
		total, ok := x.totalWork(c)
		if g[k] = (total + x.existingWrites()) / x.scale[k]; !ok {
			g[k] = math.Inf(1)
		}
	}
	return g
}

// raiseBound raises the bound by weights of the mixes until they give no new choice.
func (x *regretSearch) raiseBound(ctx context.Context) error {
	weights := make([]float64, len(x.work.Statements))
	for ; x.robust.Rounds < mostRounds && ctx.Err() == nil; x.robust.Rounds++ {
		if x.robust.Bound >= slices.Max(x.regrets[x.best])*(1-1e-9) {
			return nil
		}
		lambda, value := x.solveGame(ctx)
		if lambda == nil {
			return nil
		}
		if x.robust.Bound >= value*(1-1e-9) {
			return nil // no weights give more
		}
		unit := slices.Max(x.scale) // so that costs stay of the size that they are
		for i := range weights {
			weights[i] = 0
			for k, rates := range x.rates {
				weights[i] += lambda[k] * rates[i] * (unit / x.scale[k])
			}
		}
		x.weights = weights
		c, r, err := x.task.solveInTime(ctx, x.options, x.choiceProblem(), x.found[x.best])
		if err != nil {
			return err
		}
		x.robust.Bound = max(x.robust.Bound, (r.Bound+x.existingWrites())/unit)
		if !x.addFound(c) {
			x.robust.Rounds++
			return nil // the best for these weights is known already: the bound is as far as it goes
		}
	}
	return nil
}

// solveGame finds the weights whose weighted regret is greatest over the choices found, and that regret. Nil: the solver can not
// say.
func (x *regretSearch) solveGame(ctx context.Context) (lambda []float64, value float64) {
	n := len(x.scale)
	p := &solve.Problem{}
	sum := solve.Row{Name: "weights", Lower: 1, Upper: 1}
	for k := range n {
		p.Columns = append(p.Columns, solve.Column{Name: fmt.Sprintf("weight %d", k), Upper: 1})
		sum.Terms = append(sum.Terms, solve.Term{Column: k, Coefficient: 1})
	}
	most := 0.0
	for _, g := range x.regrets {
		row := solve.Row{Lower: 0, Upper: math.Inf(1), Terms: []solve.Term{{Column: n, Coefficient: -1}}}
		if math.IsInf(slices.Max(g), 1) {
			continue
		}
		for k, v := range g {
			row.Terms = append(row.Terms, solve.Term{Column: k, Coefficient: v})
		}
		most = max(most, slices.Max(g))
		p.Rows = append(p.Rows, row)
	}
	p.Columns = append(p.Columns, solve.Column{Name: "regret", Cost: -1, Upper: most})
	p.Rows = append(p.Rows, sum)
	solution, err := x.options.Solver.Solve(ctx, p, solve.Limits{})
	if err != nil || solution.Status != solve.Optimal {
		return nil, 0 // the bound stays where it is, and says so
	}
	total := 0.0
	for _, v := range solution.Values[:n] {
		total += max(0, v)
	}
	for _, v := range solution.Values[:n] {
		lambda = append(lambda, max(0, v)/total)
	}
	return lambda, -solution.Objective
}

// improveBest adds, drops and exchanges tables among those of the choices found while the greatest regret falls.
func (x *regretSearch) improveBest() {
	var tables []int
	for n := range x.candidates {
		if slices.ContainsFunc(x.found, func(c selection) bool { return c[n] }) && !x.fixed[n] {
			tables = append(tables, n)
		}
	}
	c := append(selection(nil), x.found[x.best]...)
	least := slices.Max(x.regrets[x.best])
	try := func(flips ...int) bool {
		for _, n := range flips {
			c[n] = !c[n]
		}
		if v := slices.Max(x.regretsOf(c)); v < least*(1-1e-9) {
			least = v
			return true
		}
		for _, n := range flips {
			c[n] = !c[n]
		}
		return false
	}
	const most = 20_000 // tries
	for again, tries := true, 0; again && tries < most; {
		again = false
		for i, n := range tables {
			again = try(n) || again
			for _, m := range tables[i+1:] {
				if c[n] != c[m] && tries < most {
					again = try(n, m) || again
					tries++
				}
			}
		}
	}
	x.addFound(x.dropUnused(c))
}

// writeText writes what the mixes cost.
func (r *Robust) writeText(b *strings.Builder, what string) {
	fmt.Fprintf(b, "\nSeveral mixes (%s; regret: by the cost with tables of the mix's own)\n\n  %-20s %12s %12s %8s %12s %8s\n", what, "", "own tables", "mean", "regret", "worst case", "regret")
	for i := range r.Mixes {
		m := &r.Mixes[i]
		fmt.Fprintf(b, "  %-20s %12.5g %12.5g %8.4f %12.5g %8.4f%s\n", m.Mix, m.Own, m.Costs[0], m.Regret(0), m.Costs[1], m.Regret(1), notProvenText(m.Exact))
	}
	fmt.Fprintf(b, "  %-20s %12s %12s %8.4f %12s %8.4f\n", "greatest regret", "", "", r.Regret[0], "", r.Regret[1])
	if r.Proven {
		b.WriteString("  proof: no choice of the candidates has a smaller greatest regret than the worst-case design\n")
	} else {
		fmt.Fprintf(b, "  no proof: a choice might have a greatest regret as small as %.6g\n", r.Bound)
	}
	for i, name := range []string{"mean", "worst-case"} {
		for _, t := range r.Only[i] {
			fmt.Fprintf(b, "  only in the %s design: %s\n", name, t)
		}
	}
	fmt.Fprintf(b, "  the design below is the %s one; weights and costs are means over the mixes\n", []string{"mean", "worst-case"}[oneIf(r.Worst)])
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
