package choice

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
)

// splits is how often classes are split before what has been found must do.
const splits = 40

// solveAndSplit solves the merged problem, and again with its classes split, until its best choice costs as much in the problem itself.
func (m *merged) solveAndSplit(ctx context.Context, o Options) (*Result, error) {
	began := time.Now()
	best, known, bound := []bool(nil), math.Inf(1), math.Inf(-1)
	offer := func(choice []bool) {
		if c := m.whole.Cost(choice); better(c, known) {
			best, known = append([]bool(nil), choice...), c
		}
	}
	if o.Start != nil {
		offer(o.Start)
	}
	inner := o
	inner.Limits.Wall = 0 // the context's
	if o.Progress != nil {
		inner.Progress = func(x Progress) {
			o.Progress(Progress{known, min(max(bound, x.Bound), known), time.Since(began)})
		}
	}
	proven := false
	for n := 0; ; n++ {
		inner.Start = best
		// The fewest tables are looked for at once, which is often all; then only once the cost is proven.
		inner.Ties = o.Ties && (n == 0 || proven)
		r, err := solveOnce(ctx, m.problem, inner, offer)
		var none *UnsatisfiableError
		switch {
		case errors.As(err, &none):
			return nil, &UnsatisfiableError{m.members[none.Demand][0]}
		case err != nil && best == nil:
			return nil, err
		case err != nil: // the time is over; what there is stays
			return m.resultOfWhole(ctx, &Result{Open: best, Engine: "dual"}, known, bound, o), nil //nolint:nilerr // the context's
		}
		found := r.Open
		offer(found)
		bound = max(bound, r.Bound)
		cost := m.whole.Cost(found)
		exact := cost <= r.Cost+tolerance(r.Cost)
		if exact && cost <= known+tolerance(known) {
			best, known = found, cost // of those that cost the same it has the fewest tables, if that was asked
		}
		r.Open, r.Fewest = best, r.Fewest && exact
		proven = known-bound <= 2e-9*math.Abs(known)
		if exact && o.Ties && !inner.Ties && proven {
			continue
		}
		enough := known-bound <= max(2e-9, o.Limits.Gap)*math.Abs(known) && (!o.Ties || !proven)
		if exact || enough || ctx.Err() != nil || !r.Proven && r.Stopped != solve.LimitGap || n == splits || !m.splitClasses(found) {
			return m.resultOfWhole(ctx, r, known, bound, o), nil //nolint:nilerr // the context's end is told as Stopped
		}
	}
}

// resultOfWhole is a result of the merged problem as one of the problem.
func (m *merged) resultOfWhole(ctx context.Context, r *Result, known, bound float64, o Options) *Result {
	r.Cost, r.Bound = known, min(bound, known)
	if r.Proven = known-bound <= 2e-9*math.Abs(known); r.Proven {
		r.Bound, r.Stopped = r.Cost, ""
		return r
	}
	switch gap := (known - bound) / max(math.Abs(known), math.Abs(bound)); {
	case errors.Is(context.Cause(ctx), errWall):
		r.Stopped = solve.LimitWall
	case ctx.Err() != nil:
		r.Stopped = StoppedCancelled
	case o.Limits.Gap > 0 && gap <= o.Limits.Gap:
		r.Stopped = solve.LimitGap
	case r.Stopped == "":
		r.Stopped = StoppedNodes
	}
	return r
}
