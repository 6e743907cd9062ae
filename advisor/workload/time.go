package workload

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/helenus-db/helenus/advisor/model"
)

// DefaultInterval is how long a time step is that nobody gave a length.
const DefaultInterval = time.Hour

// WeightAt is the weight at a time step; a statement without weights over time has the same at each.
func (s *Statement) WeightAt(step int) float64 {
	if step < len(s.Steps) {
		return s.Steps[step]
	}
	return s.Weight
}

// TimeSteps is the number of time steps; 0 if no statement speaks of any.
func (w *Workload) TimeSteps() int {
	for _, s := range w.Statements {
		if len(s.Steps) > 0 {
			return len(s.Steps)
		}
	}
	return 0
}

// IntervalOf is how long a time step is.
func (w *Workload) IntervalOf(step int) time.Duration {
	switch {
	case step < len(w.Interval):
		return w.Interval[step]
	case len(w.Interval) == 1:
		return w.Interval[0]
	}
	return DefaultInterval
}

// TimeError says what is wrong with a workload's time steps.
type TimeError struct {
	Statement int // index of the statement concerned; -1: the intervals
	Reason    string
}

func (e *TimeError) Error() string { return "workload: " + e.Reason }

// CheckTime returns a *TimeError if statements speak of different numbers of time steps, if nothing runs in one, in the
// workload's mix or another, or if the intervals do not fit.
func (w *Workload) CheckTime() error {
	steps, first := 0, -1
	for i, s := range w.Statements {
		lists := [][]float64{s.Steps}
		for _, mix := range w.Mixes {
			lists = append(lists, s.MixSteps[mix])
		}
		for _, list := range lists {
			switch {
			case len(list) == 0:
			case steps == 0:
				steps, first = len(list), i
			case len(list) != steps:
				return &TimeError{i, fmt.Sprintf("statement %s has weights for %d time steps, %s for %d", s.ID, len(list), w.Statements[first].ID, steps)}
			}
		}
	}
	if err := w.checkIntervals(steps); err != nil {
		return err
	}
	mixes := w.Mixes
	if len(mixes) == 0 {
		mixes = []string{""}
	}
	for _, mix := range mixes {
		for step := range steps {
			if w.idle(mix, step) {
				of := ""
				if mix != "" {
					of = " of mix " + mix
				}
				return &TimeError{first, fmt.Sprintf("no statement is left in time step %d%s: all weights there are 0", step, of)}
			}
		}
	}
	return nil
}

// idle tells whether nothing runs in a time step of a mix that has time steps at all.
func (w *Workload) idle(mix string, step int) bool {
	timed := false
	for _, s := range w.Statements {
		list := s.Steps
		if own, ok := s.MixSteps[mix]; ok {
			list = own
		} else if len(s.Weights) > 0 {
			list = nil
		}
		switch {
		case step < len(list):
			timed = true
			if list[step] > 0 {
				return false
			}
		case s.WeightIn(mix) > 0:
			return false
		}
	}
	return timed
}

func (w *Workload) checkIntervals(steps int) error {
	for _, d := range w.Interval {
		if d <= 0 {
			return &TimeError{-1, fmt.Sprintf("an interval of %v: a time step lasts longer than that", d)}
		}
	}
	if n := len(w.Interval); n > 1 && n != steps {
		return &TimeError{-1, fmt.Sprintf("there are %d intervals for %d time steps", n, steps)}
	}
	return nil
}

// intervals are the lengths of time steps in a file: a number of seconds, or a list of one for each step.
type intervals []model.Number

// maxInterval is the longest a time step can be in a file, seconds: ten years.
const maxInterval = 10 * 365 * 24 * 3600

// UnmarshalYAML takes a number or a list.
func (l *intervals) UnmarshalYAML(node ast.Node) error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		list = &ast.SequenceNode{Values: []ast.Node{node}}
	}
	for _, value := range list.Values {
		var n model.Number
		if err := n.UnmarshalYAML(value); err != nil {
			return err
		}
		*l = append(*l, n)
	}
	return nil
}

// MarshalYAML writes a single number as such.
func (l intervals) MarshalYAML() (any, error) {
	if len(l) == 1 {
		return l[0], nil
	}
	return []model.Number(l), nil
}

// durations are the intervals as such.
func (l intervals) durations(file string) ([]time.Duration, error) {
	var list []time.Duration
	for _, n := range l {
		if !(n.Value > 0 && n.Value <= maxInterval) {
			return nil, n.Wrong(file, "an interval of %g seconds: it must be above 0 and at most %d", n.Value, maxInterval)
		}
		list = append(list, time.Duration(n.Value*float64(time.Second)))
	}
	return list, nil
}

func newIntervals(list []time.Duration) (l intervals) {
	for _, d := range list {
		l = append(l, model.Number{Value: d.Seconds()})
	}
	return l
}

// time checks the time steps of a file, and says where they are wrong.
func (d *document) time(file string, w *Workload) error {
	var err error
	if w.Interval, err = d.Interval.durations(file); err != nil {
		return err
	}
	var wrong *TimeError
	if err := w.CheckTime(); !errors.As(err, &wrong) {
		return err
	}
	if at := wrong.Statement; at >= 0 {
		return d.Statements[at].ID.Wrong(file, "%s", wrong.Reason)
	}
	return d.Interval[0].Wrong(file, "%s", strings.TrimPrefix(wrong.Reason, "workload: "))
}
