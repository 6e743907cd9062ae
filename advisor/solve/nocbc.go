//go:build !cgo || nocbc

package solve

import "context"

// effort is for the final answer.
const effort = heuristicEffort

// exactEngine: this build can prove an optimum.
const exactEngine = false

// exact is not to be had in this build: the heuristic's solution is the answer, unproven.
func exact(_ context.Context, r *request, start []float64, _ func(Progress)) (*Solution, error) {
	p := &r.Problem
	return newSolution(p, Unproven, start, p.floor(), EngineHeuristic), nil
}

// relax is not to be had in this build.
func relax(*Problem) (*Relaxation, error) { return nil, ErrNoSimplex }
