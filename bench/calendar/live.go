package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/fill"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// live lives through the steps. The tables of the next one are filled while the statements of this one are measured.
func (b *bench) live(ctx context.Context) error {
	if err := b.connect(); err != nil {
		return err
	}
	var filled []*migration // for the step at hand
	for i, s := range b.calendar.Steps {
		x := &step{Number: i, Created: s.Created, Dropped: s.Dropped, Said: s.Cost, SaidMigration: s.MigrationCost, Migrations: filled}
		runner, err := b.runner(s)
		if err != nil {
			return err
		}
		if err := b.check(ctx, s, x); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		for _, m := range filled {
			if err := b.compare(ctx, m.target, m); err != nil {
				return fmt.Errorf("step %d: table %s: %w", i, m.Table, err)
			}
		}
		rivals, beside := b.at(i)
		writing, err := b.newWriter(s, rivals, beside)
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		last := i+1 == len(b.calendar.Steps)
		ahead := make(chan error, 1)
		filled = nil
		go func() {
			var err error
			if !last {
				filled, err = b.migrate(ctx, b.calendar.Steps[i+1], writing)
			}
			ahead <- err
		}()
		until, enough := context.WithCancel(ctx)
		wrote := make(chan error, 1)
		go func() { wrote <- writing.run(until) }()
		err = errors.Join(b.measured(ctx, s, append([]*contest.Runner{runner}, rivals...), x), <-ahead)
		enough()
		if err := errors.Join(err, <-wrote); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		writing.add(s, x)
		b.report.Steps = append(b.report.Steps, x)
		b.say("step %d: %s", i, x.line(b.names()))
		if last {
			break
		}
		if err := b.drop(ctx, s, b.calendar.Steps[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// names are those that are measured, ours first.
func (b *bench) names() []string {
	list := []string{ours}
	for _, x := range b.rivals {
		list = append(list, x.name)
	}
	return list
}

// runner runs the plans of a step.
func (b *bench) runner(s *timeline.Step) (*contest.Runner, error) {
	e := &contest.Entry{Name: ours, Tables: tablesOf(s), Statements: map[string]*design.Statement{}}
	for _, t := range e.Tables {
		t.Keyspace = b.keyspace
	}
	for _, p := range s.Plans {
		e.Statements[p.Statement.Statement.ID] = p.Statement
	}
	return e.Runner(b.arena.Pool, planrun.RunOptions{})
}

// measured measures all statements, and adds them up by their weights in the step.
func (b *bench) measured(ctx context.Context, s *timeline.Step, runners []*contest.Runner, x *step) error {
	draws := contest.NewDraws(b.world)
	loop := &contest.Loop{Requests: b.requests, Runners: runners, Seed: b.seed + uint64(s.Number)<<32, Draw: draws.Draw, WarmUp: 1, Most: 1000, For: b.measure / time.Duration(len(b.calendar.Steps)), Awaken: b.arena.Awaken} //nolint:gosec // not negative
	tally, err := loop.Run(ctx)
	if err != nil {
		return err
	}
	x.Failures = tally.Failures
	for _, name := range b.names() {
		sum, count := 0.0, 0
		for _, p := range s.Plans {
			id := p.Statement.Statement.ID
			for _, q := range b.requests {
				if series := tally.Statements[name][contest.Step{Request: q.Name, Statement: id}]; series != nil {
					f := series.Figures()
					sum += p.Rate * f.Mean
					count += f.Count
				}
			}
		}
		x.Latency, x.Counted = append(x.Latency, sum), count
	}
	return nil
}

// check compares answers of all statements with the reference's: at every step all are right (W-53).
func (b *bench) check(ctx context.Context, s *timeline.Step, x *step) error {
	for i, p := range s.Plans {
		st := p.Statement.Statement
		if st.Query == nil {
			continue
		}
		program, err := planrun.Compile(p.Plan)
		if err != nil {
			return fmt.Errorf("statement %s: %w", st.ID, err)
		}
		for n := range b.checks {
			with, err := b.truth.Draw(st, rand.New(rand.NewPCG(b.seed, uint64(s.Number)<<48|uint64(i)<<16|uint64(n)))) //nolint:gosec // the same seed, the same parameters
			if errors.Is(err, reference.ErrNothing) {
				break
			}
			if err != nil {
				return err
			}
			cells, err := with.Cells(st.Query.Parameters())
			if err != nil {
				return err
			}
			answer, err := program.Run(ctx, b.arena.Pool, cells, planrun.RunOptions{})
			if err != nil {
				return fmt.Errorf("statement %s: %w", st.ID, err)
			}
			rows, err := answer.Values()
			if err != nil {
				return err
			}
			var wrong *reference.WrongError
			switch err := b.truth.Check(st.Query, with, rows); {
			case errors.As(err, &wrong):
				x.Wrong = append(x.Wrong, fmt.Sprintf("%s: %s", st.ID, wrong.Reason))
			case err != nil:
				return err
			}
			if x.Answers++; len(rows) > 0 {
				x.Filled++
			}
		}
	}
	return nil
}

// migrate makes and fills the tables that a step needs and the one before it has not, out of those of that one.
func (b *bench) migrate(ctx context.Context, to *timeline.Step, writing *writer) (made []*migration, err error) {
	tables := created(to)
	if err := load.Define(ctx, b.arena.Session, b.keyspace, tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.Keyspace = b.keyspace
	}
	at, err := writing.beside(tables)
	if err != nil {
		return nil, err
	}
	for _, m := range to.Migrations {
		x, err := b.refill(ctx, m, at)
		if err != nil {
			return made, err
		}
		made = append(made, x)
	}
	return made, nil
}

// refill fills one table, with what is there at a timestamp.
func (b *bench) refill(ctx context.Context, m *timeline.Migration, at int64) (made *migration, err error) {
	begun := time.Now()
	made = &migration{target: m.Target, Table: m.Table, Said: m.Extract + m.Load + m.Keep, Estimated: m.Estimated.Seconds()}
	var sources []fill.Source
	for _, s := range m.Sources {
		sources = append(sources, fill.Source{Table: s.Table, As: s.As, On: s.On})
		made.Sources = append(made.Sources, s.Name)
	}
	rows, err := fill.Read(ctx, b.arena.Pool, m.Target, sources, fill.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	made.Scanned = rows.Scanned
	loaded, err := load.Tables(ctx, b.arena.Session, b.keyspace, []*model.Table{m.Target}, rows, load.Options{Writers: 8, Readers: 1, Timestamp: at})
	if err != nil {
		return nil, err
	}
	made.Rows, made.Seconds = loaded[0].Rows, time.Since(begun).Seconds()
	return made, nil
}

// drop drops the tables of a step that the next does without.
func (b *bench) drop(ctx context.Context, from, to *timeline.Step) error {
	for _, t := range tablesOf(from) {
		for _, name := range to.Dropped {
			if t.Name != name {
				continue
			}
			if err := b.arena.Session.Query("DROP TABLE " + model.Quote(b.keyspace) + "." + model.Quote(name)).WithContext(ctx).Exec(); err != nil {
				return fmt.Errorf("dropping %s: %w", name, err)
			}
		}
	}
	return nil
}
