//go:build cgo

package coin

/*
#cgo pkg-config: cbc
#cgo CXXFLAGS: -O2 -Wno-deprecated-declarations
#include "cbc.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// cbcMutex keeps CBC to one solve at a time: Cbc_solve parses its parameters with global state, and two at once give
// wrong objectives.
var cbcMutex sync.Mutex

// Engine is COIN-OR's two solvers.
type Engine struct{}

var _ solve.Engine = Engine{}

// Solve implements solve.Engine.
func (Engine) Solve(ctx context.Context, p *solve.Problem, limits solve.Limits, preprocess bool, start []float64, watch func(solve.Progress)) (*solve.Solution, error) {
	if over(ctx) {
		return stoppedByWall(p, start), nil
	}
	if !p.Integers() {
		return linear(p, start)
	}
	if start != nil {
		if better := polish(p, start); p.Check(better) == nil && p.Objective(better) < p.Objective(start) {
			start = better
		}
	}
	manner := C.HELENUS_CBC_AS_IT_IS
	switch {
	case preprocess:
		manner = C.HELENUS_CBC_PREPROCESSED
	case p.Bare:
		manner = C.HELENUS_CBC_BARE
	}
	step := 0.0 // see Problem.Bare
	if start != nil && p.Bare {
		step = limits.Gap * math.Abs(p.Objective(start))
	}
	raw, values := runCBC(ctx, p, limits, start, manner, step, watch)
	if raw.infeasible != 0 && !over(ctx) {
		// CBC 2.10.8 calls some feasible problems infeasible, from probing with continuous columns above all.
		// Nothing hangs on a start here: it must find a solution by itself.
		raw, values = runCBC(ctx, p, limits, nil, C.HELENUS_CBC_PLAIN, 0, watch)
	}
	s, err := judge(p, limits, start, raw, values)
	if err == nil && step > 0 && s.Values != nil && (s.Status == solve.Optimal || s.Status == solve.Stopped) {
		s = stepwise(p, s, step)
	}
	return s, err
}

// stepwise is a solution when what costs no more than a step less was not looked for.
func stepwise(p *solve.Problem, s *solve.Solution, step float64) *solve.Solution {
	t := solve.NewSolution(p, solve.Stopped, s.Values, min(s.Bound, s.Objective-step), s.Engine)
	if t.Nodes, t.Limit = s.Nodes, s.Limit; t.Limit == "" {
		t.Limit = solve.LimitGap
	}
	return t
}

// over reports whether the wall was reached. That is not an error: there is an answer, a worse one.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// linear solves a problem without integer columns. CBC is no good at it (no status, no solution, prints).
func linear(p *solve.Problem, start []float64) (*solve.Solution, error) {
	r, err := relax(p)
	if err != nil {
		return fallback(p, start, err)
	}
	return solve.NewSolution(p, r.Status, r.Values, math.Inf(-1), solve.EngineCLP), nil
}

// judge makes a solution of what CBC says. CBC is believed as far as the values can be checked: values that break a row,
// or "infeasible" in the face of a feasible start, end in the start, and that as solve.Unproven.
func judge(p *solve.Problem, limits solve.Limits, start []float64, raw C.helenus_cbc_result, values []float64) (*solve.Solution, error) {
	const ( // secondary statuses
		bySearch, byCutoff, byGap, byNodes, byTime, byEvent, unboundedBelow = 0, 1, 2, 3, 4, 5, 7
	)
	switch {
	case raw.status == C.HELENUS_CBC_MEMORY:
		return nil, solve.ErrMemory
	case raw.status == C.HELENUS_CBC_FAULT:
		return fallback(p, start, errors.New("coin: cbc failed with an exception"))
	case raw.unbounded != 0 || raw.secondary == unboundedBelow:
		return solve.NewSolution(p, solve.Unbounded, nil, math.Inf(-1), solve.EngineCBC), nil
	case raw.infeasible != 0:
		if start != nil {
			return fallback(p, start, nil)
		}
		return solve.NewSolution(p, solve.Infeasible, nil, math.Inf(1), solve.EngineCBC), nil
	case raw.status != 0 && raw.status != 1 && raw.status != 5:
		return fallback(p, start, fmt.Errorf("coin: cbc gave up (status %d, secondary status %d)", raw.status, raw.secondary))
	}

	engine := solve.EngineCBC
	if values != nil {
		values = polish(p, values)
		if err := p.Check(values); err != nil {
			return fallback(p, start, fmt.Errorf("coin: cbc's answer does not hold: %w", err))
		}
	}
	if start != nil && (values == nil || p.Objective(start) < p.Objective(values)) {
		values, engine = start, solve.EngineHeuristic
	}
	bound := float64(raw.bound)
	if !solve.Finite(bound) {
		bound = math.Inf(-1)
	}
	s := solve.NewSolution(p, solve.Stopped, values, max(bound, p.Floor()), engine)
	s.Nodes = int(raw.nodes)
	switch raw.secondary {
	case bySearch, byCutoff, byGap: // byCutoff: nothing is better than the start
		if values != nil && (raw.secondary != byGap || limits.Gap == 0 || s.Gap <= solve.Tolerance*solve.Tolerance) {
			s.Status, s.Bound, s.Gap = solve.Optimal, s.Objective, 0
		} else {
			s.Limit = solve.LimitGap
		}
	case byNodes:
		s.Limit = solve.LimitNodes
	case byTime, byEvent:
		if s.Limit = solve.LimitWall; raw.exhausted != 0 {
			s.Limit = solve.LimitIterations
		}
	}
	return s, nil
}

// stoppedByWall is the answer when the time is up and start, or nothing, is all there is.
func stoppedByWall(p *solve.Problem, start []float64) *solve.Solution {
	s := solve.NewSolution(p, solve.Stopped, start, p.Floor(), solve.EngineHeuristic)
	s.Limit = solve.LimitWall
	return s
}

// fallback answers with the start, unproven, if there is one, and else with the error.
func fallback(p *solve.Problem, start []float64, err error) (*solve.Solution, error) {
	if start == nil {
		return nil, err
	}
	return solve.NewSolution(p, solve.Unproven, start, p.Floor(), solve.EngineHeuristic), nil
}

// polish rounds the integer columns and chooses the others anew, at least cost, around the rounded ones: rounding alone
// may break a row (a large coefficient makes much of a millionth), and a start has continuous columns put anyhow.
func polish(p *solve.Problem, values []float64) []float64 {
	fixed := &solve.Problem{Columns: append([]solve.Column(nil), p.Columns...), Rows: p.Rows}
	whole := true
	for i, c := range p.Columns {
		whole = whole && c.Integer
		if c.Integer {
			v := min(max(math.Round(values[i]), c.Lower), c.Upper)
			fixed.Columns[i].Lower, fixed.Columns[i].Upper = v, v
		}
	}
	if !whole {
		if r, err := relax(fixed); err == nil && r.Status == solve.Optimal && p.Check(r.Values) == nil {
			return p.Snap(r.Values)
		}
	}
	return p.Snap(values)
}

// runCBC hands the problem over in compressed columns. Costs are scaled by a power of two, which is exact, so that
// CBC's absolute tolerances are small beside them.
func runCBC(ctx context.Context, p *solve.Problem, limits solve.Limits, start []float64, manner int, step float64, watch func(solve.Progress)) (C.helenus_cbc_result, []float64) {
	n, m := len(p.Columns), len(p.Rows)
	scale := p.Scale()
	starts, index, value := compress(p)
	lower, upper, cost := make([]C.double, n), make([]C.double, n), make([]C.double, n)
	integer := make([]C.char, n)
	for j, c := range p.Columns {
		lower[j], upper[j], cost[j] = bound(c.Lower), bound(c.Upper), C.double(c.Cost*scale)
		if c.Integer {
			integer[j] = 1
		}
	}
	rowLower, rowUpper := make([]C.double, m+1), make([]C.double, m+1) // one more: never empty
	for i, r := range p.Rows {
		rowLower[i], rowUpper[i] = bound(r.Lower), bound(r.Upper)
	}
	var incumbent *C.double
	if start != nil {
		values := make([]C.double, n)
		for j, v := range start {
			values[j] = C.double(v)
		}
		incumbent = &values[0]
	}
	found := make([]C.double, n)
	var result C.helenus_cbc_result

	cbcMutex.Lock()
	defer cbcMutex.Unlock()
	C.helenus_cbc_stop(0)
	done, watched := make(chan struct{}), make(chan struct{})
	guard.Go(guard.Advice, func() {
		defer close(watched)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		stop := ctx.Done()
		for {
			select {
			case <-stop:
				C.helenus_cbc_stop(1)
				stop = nil
			case <-done:
				return
			case <-tick.C:
				var cost, bound C.double
				if nodes := C.helenus_cbc_seen(&cost, &bound); nodes >= 0 {
					watch(progress(float64(cost)/scale, float64(bound)/scale, int(nodes)))
				}
			}
		}
	}, nil)
	C.helenus_cbc_solve(C.int(n), C.int(m), &starts[0], &index[0], &value[0], &lower[0], &upper[0], &cost[0], &integer[0],
		&rowLower[0], &rowUpper[0], incumbent, C.int(limits.Nodes), C.int(limits.Iterations), C.double(limits.Gap), C.double(step*scale), C.int(manner), &found[0], &result)
	close(done)
	<-watched

	result.bound /= C.double(scale)
	if result.solved == 0 {
		return result, nil
	}
	values := make([]float64, n)
	for j := range values {
		values[j] = float64(found[j])
	}
	return result, values
}

// watchEvery is how often a solve's progress is looked at.
const watchEvery = 200 * time.Millisecond

// progress is what CBC says of itself; 1e50 and more stands for nothing.
func progress(cost, bound float64, nodes int) solve.Progress {
	p := solve.Progress{Objective: cost, Bound: bound, Nodes: nodes}
	if !solve.Finite(cost) {
		p.Objective = math.Inf(1)
	}
	if !solve.Finite(bound) {
		p.Bound = math.Inf(-1)
	}
	return p
}

// compress returns the rows' terms by column.
func compress(p *solve.Problem) (starts, index []C.int, value []C.double) {
	starts = make([]C.int, len(p.Columns)+1)
	for _, r := range p.Rows {
		for _, t := range r.Terms {
			starts[t.Column+1]++
		}
	}
	for j := range p.Columns {
		starts[j+1] += starts[j]
	}
	next := append([]C.int(nil), starts...)
	terms := starts[len(p.Columns)]
	index, value = make([]C.int, terms+1), make([]C.double, terms+1) // one more: never empty
	for i, r := range p.Rows {
		for _, t := range r.Terms {
			at := next[t.Column]
			next[t.Column]++
			index[at], value[at] = C.int(i), C.double(t.Coefficient)
		}
	}
	return starts, index, value
}

// bound writes infinity as CBC does, as the greatest double.
func bound(v float64) C.double {
	return C.double(min(max(v, -math.MaxFloat64), math.MaxFloat64))
}
