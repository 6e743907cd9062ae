package timeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// A search whose time ends, or that is interrupted, has a calendar all the same: the best so far. Each phase has a share of the time, as
// those after it do more for the calendar than its own last per cent; what a phase does not use is left to the next. If not even single designs were found
// in time, there is one that takes no search (choice.Greedy).

// The shares of what is left of the time: of the sweep, of the single designs after it, and of pruned mode's calendar that exact mode begins with.
const (
	sweepShare    = 0.3
	baselineShare = 0.4
	prunedShare   = 0.4
)

// errWall ends a search whose limit of time is reached.
var errWall = errors.New("timeline: the time limit is reached")

// withWall is a context that ends when the time is over that the whole may take, counted from when it began.
func (t *task) withWall(ctx context.Context, began time.Time) (context.Context, context.CancelFunc) {
	if t.options.Limits.Wall <= 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, began.Add(t.options.Limits.Wall), errWall)
}

// withShare is a context that ends earlier by what is to be left for later phases; without a limit of time it is the same.
func withShare(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, time.Duration(part*float64(time.Until(end))), errWall)
}

// outOfTime reports whether an error says no more than that the time was over. That no tables fit is only said by what has
// been proven.
func outOfTime(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() == nil {
		return false
	}
	var (
		none  *design.UnanswerableError
		space *SpaceError
	)
	return !errors.As(err, &none) && (!errors.As(err, &space) || !space.Proven)
}

// stopReason says what ended a search, in the words of Calendar.Stopped; "": nothing did.
func stopReason(ctx context.Context) string {
	switch {
	case ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(ctx), errWall):
		return solve.LimitWall
	}
	return sequence.StoppedCancelled
}

// mustStop reports whether the search has to end with the calendar that there is.
func (s *search) mustStop(ctx context.Context) bool {
	if s.stopped = stopReason(ctx); s.stopped == "" || s.open == nil {
		return false
	}
	s.bound, s.kept = s.lowerBound(), len(s.tables)
	return true
}

// addGreedy are designs of buying for all steps together, out of all candidates; what they have is put among those that count.
func (t *task) addGreedy(in []bool) [][]bool {
	designs := choice.Greedy(t.staticProblem(t.weightsAt(-1), t.space))
	for _, open := range designs {
		for n, is := range open {
			in[n] = in[n] || is
		}
	}
	return designs
}

// allCandidates are all candidates.
func (t *task) allCandidates() []bool { return slices.Repeat([]bool{true}, len(t.tables)) }

// fallbackDesign is the best for a step's weights, or all steps' (-1), of designs that are known, and of those that are bought.
func (t *task) fallbackDesign(ctx context.Context, step int, in []bool, designs [][]bool) (*choice.Result, error) {
	p := t.staticProblem(t.weightsAt(step), t.space)
	r := &choice.Result{Cost: math.Inf(1), Bound: math.Inf(-1), Engine: "buying", Stopped: stopReason(ctx)}
	for _, open := range slices.Concat(designs, choice.Greedy(p)) {
		if c := p.Cost(open); c < r.Cost {
			r.Open, r.Cost = open, c
		}
	}
	if r.Open == nil {
		return nil, fmt.Errorf("timeline: no tables were found within the space before the time was over: allow more of either: %w", ctx.Err())
	}
	for n, open := range r.Open {
		in[n] = in[n] || open
	}
	return r, nil
}

// lowerBound is what no calendar costs less than, found without a search: every statement is answered from all candidates that there are, and none of
// them costs anything.
func (s *search) lowerBound() float64 {
	all := s.allCandidates()
	sum := 0.0
	for i := range s.problem.Demands {
		d := &s.problem.Demands[i]
		if d.Needed != nil {
			continue // it may not be there
		}
		at := choice.Demand{States: d.States, Arcs: d.Arcs}
		_, price := at.CheapestPath(all)
		for _, weight := range d.Weights {
			sum += weight * price
		}
	}
	return sum
}
