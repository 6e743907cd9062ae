package design

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/model"
)

// weightSensitivity finds the weights of a statement at which the best choice changes.
//
// The least total work is, as a function of one weight f, the lower envelope of lines a + b*f, one for each choice: b is
// the statement's work under it. From a weight far off, whose line is found by solving there, go to where that line
// meets the present one, and solve again; the answer's line is the present one (then this is the edge) or a new one (then
// go on with it). Each step is a whole integer program, so the edges are exact. Between the weights of which the ranging of
// the linear relaxation proves that the present choice stays the best (choice.WeightRange), nothing has to be solved.
func (t *task) weightSensitivity(ctx context.Context, o Options, best selection, id string) (*Sensitivity, error) {
	statement := -1
	for i, s := range t.work.Statements {
		if s.ID == id {
			statement = i
		}
	}
	if statement < 0 {
		return nil, fmt.Errorf("design: sensitivity: no statement is called %q", id)
	}
	weight := t.weights[statement]
	defer func() { t.weights[statement] = weight }()
	s := &Sensitivity{Statement: id, Weight: weight, Rises: math.Inf(1), Proven: true}
	known := t.weightRange(ctx, o, statement, best)
	if weight > 0 {
		edge, other, err := t.nextBreakpoint(ctx, o, statement, best, 0, known, s)
		if err != nil {
			return nil, err
		}
		s.Falls = edge
		s.Below = t.differenceText(best, other)
	}
	far := max(1, weight) * 1e4
	edge, other, err := t.nextBreakpoint(ctx, o, statement, best, far, known, s)
	if err != nil {
		return nil, err
	}
	if other != nil {
		s.Rises = edge
		s.Above = t.differenceText(best, other)
	}
	return s, nil
}

// line is what a choice costs as a function of a statement's weight.
type line struct{ fixed, slope float64 }

func (l line) at(weight float64) float64 { return l.fixed + l.slope*weight }

func (t *task) lineOf(c selection, statement int) line {
	keep := t.weights[statement]
	t.weights[statement] = 0
	fixed, _ := t.totalWork(c)
	t.weights[statement] = 1
	whole, _ := t.totalWork(c)
	t.weights[statement] = keep
	return line{fixed, whole - fixed}
}

// nextBreakpoint looks for the weight between the present one and far at which another choice becomes better. It returns far and
// nil if there is none. known are weights between which there is none.
func (t *task) nextBreakpoint(ctx context.Context, o Options, statement int, best selection, far float64, known [2]float64, s *Sensitivity) (float64, selection, error) {
	present := t.lineOf(best, statement)
	at := far
	var other selection
	for range 30 {
		if known[0] <= at && at <= known[1] {
			return at, other, nil
		}
		t.weights[statement] = at
		c, solution, err := t.solveInTime(ctx, o, t.choiceProblem(), best)
		if err != nil {
			return 0, nil, err
		}
		s.Proven = s.Proven && solution.Proven
		l := t.lineOf(c, statement)
		if l.at(at) >= present.at(at)-1e-7*(1+math.Abs(present.at(at))) {
			return at, other, nil // nothing is better here than the present choice: the last one met it here
		}
		other = c
		at = (l.fixed - present.fixed) / (present.slope - l.slope)
	}
	return at, other, nil
}

// weightRange asks the relaxation between which weights of a statement the best choice stays the best; only the present one if
// the choice is not known to be that, or the solver knows no relaxations.
func (t *task) weightRange(ctx context.Context, o Options, statement int, best selection) [2]float64 {
	weight := t.weights[statement]
	relaxer, ok := o.Solver.(choice.Relaxer)
	if !ok {
		return [2]float64{weight, weight}
	}
	share := choice.Share{Weight: weight, Upkeep: t.puts[statement]}
	for _, d := range t.demands {
		times := 0.0
		if d.statement == statement {
			times = d.times
		}
		share.Demands = append(share.Demands, times)
	}
	from, to := choice.WeightRange(ctx, relaxer, t.choiceProblem(), best, share)
	return [2]float64{from, to}
}

// differenceText says which tables come and go.
func (t *task) differenceText(from, to selection) string {
	if to == nil {
		return ""
	}
	var parts []string
	for _, side := range []struct {
		word string
		in   selection
		out  selection
	}{{"without ", from, to}, {"with ", to, from}} {
		var tables []*model.Table
		for n, table := range t.candidates {
			if side.in[n] && !side.out[n] {
				tables = append(tables, table)
			}
		}
		for _, table := range tables {
			parts = append(parts, side.word+table.String())
		}
	}
	return strings.Join(parts, ", ")
}
