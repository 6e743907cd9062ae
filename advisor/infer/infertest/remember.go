package infertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/helenus-db/helenus/advisor/solve"
)

// Remember is a solver that solves every problem once: tests that vary what is made of a design, not the design, need not
// wait for the same child processes again and again.
type Remember struct {
	Solver solve.Solver

	mu    sync.Mutex
	known map[string]*solve.Solution
}

// Solve implements solve.Solver.
func (r *Remember) Solve(ctx context.Context, p *solve.Problem, limits solve.Limits) (*solve.Solution, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprintf("%+v %+v", *p, limits)
	if s := r.known[key]; s != nil {
		again := *s
		again.Values = append([]float64(nil), s.Values...)
		return &again, nil
	}
	s, err := r.Solver.Solve(ctx, p, limits)
	if err != nil {
		return nil, err
	}
	if r.known == nil {
		r.known = map[string]*solve.Solution{}
	}
	kept := *s
	kept.Values = append([]float64(nil), s.Values...)
	r.known[key] = &kept
	return s, nil
}
