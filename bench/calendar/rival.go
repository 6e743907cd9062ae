package main

import (
	"context"
	"slices"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// ours is what the calendar is called beside its rivals.
const ours = "calendar"

// baselines are those that a calendar is compared with, in the order of the report.
var baselines = []string{timeline.Average, timeline.First, timeline.Last, timeline.Ideal}

// mostDesigns is of how many designs a baseline is lived through at most: all of them stand filled beside each other, and where weights drift the ideal has another at each step.
const mostDesigns = 4

// rival is a baseline that answers the same statements: one design that stays; or the ideal, which has the best one at each step, all of them there from the begin on, as if changing were
// free.
type rival struct {
	name    string
	said    float64 // what it costs by the model
	designs []*contest.Entry
	runners []*contest.Runner // of the designs
	at      []int             // by step: which of them
}

// rival makes plans over the tables that the calendar was compared with when it was chosen: others may be much worse, and it is the best that is known that has to be
// beaten. nil: it has more designs than can stand beside each other.
func (b *bench) rival(ctx context.Context, name string, steps [][]*model.Table) (*rival, error) {
	x := &rival{name: name}
	var chosen [][]*model.Table
	for _, tables := range steps {
		i := slices.IndexFunc(chosen, func(list []*model.Table) bool { return slices.Equal(list, tables) })
		if i < 0 {
			i, chosen = len(chosen), append(chosen, tables)
		}
		x.at = append(x.at, i)
	}
	if len(chosen) > mostDesigns {
		b.say("%s: %d designs, more than the %d that can stand beside each other: it is not lived through", name, len(chosen), mostDesigns)
		return nil, nil //nolint:nilnil // none is none
	}
	for i, tables := range chosen {
		e, err := b.entry(ctx, x, i, tables)
		if err != nil {
			return nil, err
		}
		x.designs = append(x.designs, e)
		b.say("%s: %d tables", name, len(e.Tables))
	}
	return x, nil
}

// entry makes plans over the tables of a rival's design, for the weights of the steps that it is for.
func (b *bench) entry(ctx context.Context, x *rival, i int, tables []*model.Table) (*contest.Entry, error) {
	o := design.Options{Cost: b.model, Solver: solve.New(solve.Config{}), NoEnumeration: true}
	for _, t := range tables {
		own := *t // it has a name and a keyspace of its own
		o.Candidates = append(o.Candidates, &own)
	}
	w := *b.work
	w.Statements = nil
	for _, s := range b.work.Statements {
		own, sum, steps := *s, 0.0, 0
		for t, of := range x.at {
			if of == i {
				sum, steps = sum+s.WeightAt(t), steps+1
			}
		}
		own.Weight = sum / float64(steps)
		w.Statements = append(w.Statements, &own)
	}
	return contest.Ours(ctx, &w, x.name, "", o)
}

// cost is what a rival's plans cost over all steps, by the model.
func (b *bench) cost(x *rival) float64 {
	sum := 0.0
	for i, s := range b.calendar.Steps {
		for _, p := range s.Plans {
			sum += p.Rate * s.Duration.Seconds() * x.designs[x.at[i]].Statements[p.Statement.Statement.ID].Cost.Work
		}
	}
	return sum
}

// connect gives the rivals their runners.
func (b *bench) connect() error {
	for _, x := range b.rivals {
		for _, e := range x.designs {
			r, err := e.Runner(b.arena.Pool, planrun.RunOptions{})
			if err != nil {
				return err
			}
			x.runners = append(x.runners, r)
		}
	}
	return nil
}

// at are the rivals' runners of a step, one of each, and those that stand beside them.
func (b *bench) at(step int) (now, beside []*contest.Runner) {
	for _, x := range b.rivals {
		for i, r := range x.runners {
			if i == x.at[step] {
				now = append(now, r)
			} else {
				beside = append(beside, r)
			}
		}
	}
	return now, beside
}
