package timeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Given is the calendar of tables that somebody has chosen for each step, as Choose did before: how statements are answered from them, how each
// step's are filled out of those of the step before, and what it costs. Nothing is chosen but plans. A table that no statement could make use of, with
// the other candidates there, is left out, and named in Notes: so the options should be those that it was chosen by. The calendar is not proven, and has no baselines. Space, if it is limited, holds in bytes: a share has nothing to be a share of.
//
// The error is an *InputError where a step does not answer a statement or does not fit, or a table can not be filled; else as Choose's.
func Given(ctx context.Context, w *workload.Workload, o Options, tables [][]*model.Table) (*Calendar, error) {
	if o.SpaceShare > 0 {
		return nil, inputError("a share of space, of tables that are given: say bytes")
	}
	o.NoBaselines = true
	met := map[string]bool{}
	for _, list := range tables {
		for _, table := range list {
			if id := table.ID(); !met[id] {
				met[id] = true
				o.Candidates = append(o.Candidates, table)
			}
		}
	}
	t, err := prepareTask(ctx, w, o)
	if err != nil {
		return nil, err
	}
	if len(tables) != t.steps {
		return nil, inputError("tables are given for %d steps: there are %d", len(tables), t.steps)
	}
	number := map[string]int{}
	for n, table := range t.tables {
		number[table.ID()] = n
	}
	s := t.newSearch()
	s.loader.tables = nil
	for _, table := range t.tables {
		if met[table.ID()] {
			s.loader.tables = append(s.loader.tables, table)
		}
	}
	s.problem, s.bounds = t.sequenceProblem(), slices.Repeat([]float64{math.NaN()}, len(t.tables))
	s.problem.Loads = make([]sequence.Load, len(t.tables))
	for n, table := range t.tables {
		if met[table.ID()] {
			s.problem.Loads[n] = s.loader.arcsOf(n, s.bounds[n])
		}
	}
	useless := map[string]bool{}
	for step, list := range tables {
		open := make([]bool, len(t.tables))
		for n, table := range t.tables {
			open[n] = table.Kept || t.study.Must(n)
		}
		for _, table := range list {
			if n, ok := number[table.ID()]; ok {
				open[n] = true
			} else if id := table.ID(); !useless[id] {
				useless[id] = true
				t.notes = append(t.notes, fmt.Sprintf("table %s (%s) is left out: with the other candidates there no statement makes use of it", table.Name, table))
			}
		}
		if s.open = append(s.open, open); math.IsInf(s.workloadCost(step, open), 1) {
			return nil, inputError("step %d: its tables do not answer every statement", step)
		}
		for n, is := range open {
			if step == 0 || !is || s.open[step-1][n] {
				continue
			}
			if _, price := s.cheapestFilling(n, s.open[step-1]); math.IsInf(price, 1) {
				return nil, inputError("step %d: nothing in step %d fills table %s", step, step-1, t.tables[n])
			}
		}
	}
	if s.cost, _ = s.trueCost(s.open); math.IsInf(s.cost, 1) {
		return nil, inputError("the tables do not keep what was asked for: space, windows, how many at once, or how long they live")
	}
	s.bound = s.lowerBound()
	c := s.readCalendar(nil)
	c.Engine = "given"
	return c, nil
}
