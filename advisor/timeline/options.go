package timeline

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Options say how to choose. Only Solver is required.
type Options struct {
	Cost   cost.Model // nil: cost.Default
	Solver solve.Solver
	Limits solve.Limits // of each solve; zero: as package design. Wall holds for the whole
	Exact  bool         // look at all candidates; else the workload summary tree, or a sweep, picks promising ones first (W-20 to W-25), and the bound speaks of these

	Allow         func(*model.Table) bool // restricts the candidates; nil: all
	Candidates    []*model.Table          // besides those enumerated
	NoEnumeration bool
	MostTables    int  // candidates proposed at most; 0: 6000
	Once          bool // propose what one cut of each query gives alone (W-17), as is done where that comes to MostTables

	Space      float64 // bytes that new tables may take at each step; 0: the workload's own limit
	SpaceShare float64 // the same as a share of what the best design for the mean weights takes without a limit (W-45); 0: Space counts

	InitialLoad bool            // the tables of the first step cost their loading, too (W-12)
	Overlap     bool            // while tables are filled they take space besides those of the step
	Windows     []bool          // by step, whether tables may be created for it; nil: for all. The first is always open
	Most        int             // tables created for one step at most, but for the first; 0: no limit
	Life        int             // steps for which a created table is kept at least; 0: no limit
	Drop        float64         // what dropping a table costs, in the model's unit
	Interval    []time.Duration // how long steps are, one for all or one for each; nil: what the workload says

	NoBaselines bool // leave Calendar.Baselines empty
	Progress    func(sequence.Progress)
}

// InputError says what is wrong with what was asked for.
type InputError struct{ Reason string }

func (e *InputError) Error() string { return "timeline: " + e.Reason }

func inputError(format string, args ...any) error { return &InputError{fmt.Sprintf(format, args...)} }

// validate returns what is wrong with options for a workload of so many steps.
func (o *Options) validate(steps int) error {
	number := func(what string, v, most float64) error {
		if !(v >= 0 && v <= most) {
			return inputError("%s of %g", what, v)
		}
		return nil
	}
	switch {
	case o.Solver == nil:
		return errors.New("timeline: no solver given")
	case steps == 0:
		return inputError("no statement has weights over time: give some a list of steps")
	case len(o.Windows) > 0 && len(o.Windows) != steps:
		return inputError("windows for %d steps: there are %d", len(o.Windows), steps)
	case len(o.Interval) > 1 && len(o.Interval) != steps:
		return inputError("%d intervals for %d steps", len(o.Interval), steps)
	case o.MostTables < 0:
		return inputError("at most %d candidates", o.MostTables)
	case o.Most < 0:
		return inputError("at most %d tables at once", o.Most)
	case o.Life < 0:
		return inputError("a least life of %d steps", o.Life)
	case o.Space > 0 && o.SpaceShare > 0:
		return inputError("space is limited twice: by bytes and by a share")
	}
	for _, d := range o.Interval {
		if d <= 0 {
			return inputError("an interval of %v: a step lasts longer than that", d)
		}
	}
	return errors.Join(number("a space limit", o.Space, math.MaxFloat64), number("a share of space", o.SpaceShare, 100), number("a cost of dropping", o.Drop, math.MaxFloat64))
}

// StatementError says that a statement can not be part of a calendar.
type StatementError struct {
	Statement, Reason string
}

func (e *StatementError) Error() string {
	return fmt.Sprintf("timeline: statement %s: %s", e.Statement, e.Reason)
}

// SpaceError says that at a step no tables that answer every statement fit into the space.
type SpaceError struct {
	Step     int
	Limit    float64 // bytes allowed
	Smallest float64 // bytes of the smallest choice found
	Proven   bool    // nothing smaller will do
}

func (e *SpaceError) Error() string {
	word := "the smallest choice that answers every statement takes"
	if !e.Proven {
		word = "one that answers every statement is known which takes"
	}
	return fmt.Sprintf("timeline: no tables fit into %.0f bytes at step %d: %s %.0f", e.Limit, e.Step, word, math.Ceil(e.Smallest))
}

// checkedRates checks the weights and returns them, by step and statement.
func checkedRates(w *workload.Workload, steps int) ([][]float64, error) {
	list := make([][]float64, steps)
	for t := range list {
		some := false
		for _, s := range w.Statements {
			if n := len(s.Steps); n > 0 && n != steps {
				return nil, &StatementError{s.ID, fmt.Sprintf("it has weights for %d steps, others for %d", n, steps)}
			}
			x := s.WeightAt(t)
			if !workload.IsWeight(x) {
				return nil, &StatementError{s.ID, fmt.Sprintf("weight %g at step %d is not a rate", x, t)}
			}
			list[t], some = append(list[t], x), some || x > 0
		}
		if !some {
			return nil, inputError("no statement is left in step %d: all weights there are 0", t)
		}
	}
	return list, nil
}
