package design

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// panicky is a solver whose engine dies.
type panicky struct{}

func (panicky) Solve(context.Context, *solve.Problem, solve.Limits) (*solve.Solution, error) {
	return nil, &solve.WorkerError{Path: "worker", What: "died", Err: errors.New("signal 11")}
}

func TestEngineDies(t *testing.T) {
	w, err := workload.Load("../../examples/designs/hotel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { return s.Query != nil && s.ID != "arrivals" })
	d, err := Choose(context.Background(), w, Options{Solver: panicky{}, Branching: -1})
	if err != nil {
		t.Fatal(err)
	}
	if d.Proven || d.Stopped != choice.StoppedFailed || len(d.Tables) == 0 || len(d.Truncated) == 0 || d.Bound > d.After {
		t.Errorf("proven %v, %d tables, notes %q, bound %g of %g", d.Proven, len(d.Tables), d.Truncated, d.Bound, d.After)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Choose(ctx, w, Options{Solver: panicky{}}); err == nil {
		t.Error("a cancelled design has an answer")
	}
}
