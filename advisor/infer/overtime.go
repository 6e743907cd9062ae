package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
)

// OverTime is the workload with a weight for each step of a cycle (W-1), and the steps' lengths. The model should be inferred from the
// counts of the time that the cycle was found in, so that it has the statements of all steps. missing are fingerprints that the cycle has,
// and no statement of the workload stands for, those of most work first.
//
// A statement stands for a share of the executions of the one that it begins with, and keeps it in every step: a path query happens
// as often as its producer goes on to it. What is executed alone is what the steps' executions leave of it. A statement that the cycle
// counted with the rest goes as the rest does. A step in which nothing is executed at all gets a millionth of the mean weights, since
// tables must answer everything at all times, and a workload without weights says nothing of what that may cost.
func (m *Model) OverTime(c *cycle.Cycle) (w *workload.Workload, missing []string) {
	o := &overTime{m: m, c: c, rates: c.Rates(), executed: map[string]float64{}, joined: map[string][]float64{}}
	for _, s := range m.said {
		o.executed[s.statement.Fingerprint] = s.rate
	}
	own := *m.Workload
	own.Name = "observed, over a " + c.Period
	own.Interval = c.Intervals()
	own.Notes = append(slices.Clone(own.Notes), o.notes()...)
	own.Statements = make([]*workload.Statement, len(m.Workload.Statements))
	for _, paths := range []bool{true, false} { // what is alone is known when all paths are
		for i, s := range m.Workload.Statements {
			uses := m.UsesOf(s.ID)
			if len(uses) == 0 || isPath(uses) != paths {
				continue
			}
			timed := *s
			timed.Steps = o.steps(s, uses)
			timed.Weight = sum(timed.Steps) / float64(len(timed.Steps))
			own.Statements[i] = &timed
		}
	}
	busy(own.Statements, len(c.Steps))
	return &own, o.missing()
}

func isPath(uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool { return u.Joined })
}

// overTime is one call of OverTime.
type overTime struct {
	m        *Model
	c        *cycle.Cycle
	rates    map[string][]float64 // by fingerprint: executions per second, by step
	executed map[string]float64   // by fingerprint: executions per second that the model's weights are made of
	joined   map[string][]float64 // by fingerprint: those of rates that are parts of paths, though not their beginning
}

// rate is what a fingerprint is executed in each step.
func (o *overTime) rate(fingerprint string) []float64 {
	if r := o.rates[fingerprint]; r != nil {
		return r
	}
	out := make([]float64, len(o.c.Steps))
	rest, own := o.rates[cycle.Rest], o.executed[fingerprint]
	mean, length := 0.0, 0.0
	for k, d := range o.c.Intervals() {
		if rest != nil {
			mean += rest[k] * d.Seconds()
		}
		length += d.Seconds()
	}
	mean /= length
	for k := range out {
		if out[k] = own; mean > 0 {
			out[k] = own * rest[k] / mean
		}
	}
	return out
}

// steps are the weights of one statement.
func (o *overTime) steps(s *workload.Statement, uses []Use) []float64 {
	from := uses[0]
	rate, share := o.rate(from.Fingerprint), 1.0
	if executed := o.executed[from.Fingerprint]; executed > 0 {
		share = s.Weight / executed
	}
	out := make([]float64, len(rate))
	for k := range out {
		out[k] = rate[k] * share
		if joined := o.joined[from.Fingerprint]; joined != nil && !isPath(uses) && s.Query != nil {
			out[k] = max(0, rate[k]-joined[k])
		}
	}
	if isPath(uses) {
		for _, u := range uses {
			if o.joined[u.Fingerprint] == nil {
				o.joined[u.Fingerprint] = make([]float64, len(out))
			}
			for k := range out {
				o.joined[u.Fingerprint][k] += out[k] * u.PerExecution
			}
		}
	}
	return out
}

// busy gives steps in which nothing is executed something.
func busy(list []*workload.Statement, steps int) {
	for k := range steps {
		all := 0.0
		for _, s := range list {
			all += s.Steps[k]
		}
		for _, s := range list {
			if all == 0 {
				s.Steps[k] = 1e-6 * s.Weight
			}
		}
	}
}

func (o *overTime) missing() []string {
	known := map[string]bool{cycle.Rest: true}
	for _, s := range o.m.Workload.Statements {
		for _, f := range s.Sources {
			known[f] = true
		}
	}
	var out []string
	for i := range o.c.Members {
		if x := &o.c.Members[i]; !known[x.Fingerprint] && sum(x.Weights) > 0 {
			out = append(out, x.Fingerprint)
		}
	}
	return out
}

// notes say in the file what the steps are.
func (o *overTime) notes() []string {
	out := []string{fmt.Sprintf("Weights are executions per second in the steps of a %s, by the clock of %s.", o.c.Period, o.c.Zone)}
	if o.c.Period == cycle.Trend {
		out[0] = fmt.Sprintf("Weights are executions per second in steps of the recorded time (%s), which need not go on so.", o.c.Zone)
	}
	for k, s := range o.c.Steps {
		out = append(out, fmt.Sprintf("Step %d begins at %s and lasts %v.", k+1, o.c.When(k), s.Length))
	}
	return out
}

func sum(list []float64) float64 {
	total := 0.0
	for _, x := range list {
		total += x
	}
	if math.IsNaN(total) {
		return 0
	}
	return total
}

// SinglesOverTime gives the statements of Singles, or some of them, a weight for each step of a cycle.
func (m *Model) SinglesOverTime(singles *workload.Workload, c *cycle.Cycle) *workload.Workload {
	o := &overTime{m: m, c: c, rates: c.Rates(), executed: map[string]float64{}}
	for _, s := range m.said {
		o.executed[s.statement.Fingerprint] = s.rate
	}
	own := *singles
	own.Interval = c.Intervals()
	own.Statements = make([]*workload.Statement, len(singles.Statements))
	for i, s := range singles.Statements {
		timed := *s
		timed.Steps = o.steps(s, []Use{{Fingerprint: s.Sources[0], PerExecution: 1}})
		timed.Weight = sum(timed.Steps) / float64(len(timed.Steps))
		own.Statements[i] = &timed
	}
	busy(own.Statements, len(c.Steps))
	return &own
}

// ErrNoStatement is that there is nothing to give weights to.
var ErrNoStatement = errors.New("none of the statements could be expressed over the schema; `helenus model` says why")

// WeighedCorrected writes the workload that was captured, with a weight for each step of a cycle, as a file that workload.Read reads; said is what people said
// about the model, and what the model has no place for is in the file's notes. The error is ErrNoStatement if that is all.
func WeighedCorrected(_ context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, said correction.List, c *cycle.Cycle) (string, error) {
	m, err := WithCorrections(snapshot, s, stats, said)
	if err != nil {
		return "", err
	}
	w, missing := m.OverTime(c)
	if len(missing) > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("Not in the workload, since the model has no place for them: %s.", strings.Join(missing, ", ")))
	}
	if len(w.Statements) == 0 {
		return "", ErrNoStatement
	}
	var b strings.Builder
	if err := workload.Save(&b, readable(w)); err != nil {
		return "", err
	}
	if _, err := workload.Read("cycles", []byte(b.String())); err != nil { // rather here than when a design is asked for
		return "", errors.Join(errors.New("the workload that was made can not be read again (please report this)"), err)
	}
	return b.String(), nil
}
