package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/fill"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Writes go on while tables are filled (W-5, W-39). One after the other they are applied to the calendar's tables, to each rival's and to SQLite's, so that at every step the answers must be those of all writes so far.
//
// Tables that are being filled are written too, from before their sources are read on. What is read is written at a timestamp of
// before that (load.Options.Timestamp), so a value that was written meanwhile wins over the one that was read, and a row that
// was deleted meanwhile stays so. What a write needs to know is asked of the step's own tables, which are whole.

// writer sends the writes of a step.
type writer struct {
	b      *bench
	random *rand.Rand

	mu       sync.Mutex                   // held while a write is under way
	runners  []map[string]contest.Program // of those that are measured, in their order, then of the others
	series   []map[string][]time.Duration // by runner and statement
	applied  int
	dual     int // of them beside a fill
	filling  bool
	refusals int // writes drawn that would have broken the model's word
	tables   []*model.Table
}

// writes are the statements of a workload that change something.
func writesOf(w *workload.Workload) (list []*workload.Statement) {
	for _, s := range w.Statements {
		if s.Write != nil {
			list = append(list, s)
		}
	}
	return list
}

// newWriter writes to the tables of a step, to those of the rivals, and to those that these have for other steps.
func (b *bench) newWriter(s *timeline.Step, rivals, beside []*contest.Runner) (*writer, error) {
	w := &writer{b: b, random: rand.New(rand.NewPCG(b.seed, uint64(s.Number)<<40)), tables: tablesOf(s)} //nolint:gosec // the same seed, the same writes
	own, err := b.maintenance(w.tables, nil)
	if err != nil {
		return nil, err
	}
	w.runners = append(w.runners, own)
	for _, r := range slices.Concat(rivals, beside) {
		w.runners = append(w.runners, r.Programs)
	}
	for range w.runners {
		w.series = append(w.series, map[string][]time.Duration{})
	}
	return w, nil
}

// maintenance makes programs of the writes over tables that are whole and others that are being filled.
func (b *bench) maintenance(whole, filling []*model.Table) (map[string]contest.Program, error) {
	programs := map[string]contest.Program{}
	for _, s := range writesOf(b.work) {
		var plans []*plan.WritePlan
		for _, t := range slices.Concat(whole, filling) {
			if !plan.Modifies(s.Write, t) {
				continue
			}
			p := &plan.WritePlan{Write: s.Write, Table: t, Steps: plan.WriteSteps(s.Write, t)}
			for _, support := range plan.SupportQueries(s.Write, t) {
				space, err := plan.NewSpace(support.Query, whole, nil)
				if err != nil {
					return nil, err
				}
				found, _ := space.Cheapest(func(a *plan.Arc) float64 {
					work := 0.0
					for i := range a.Steps {
						work += b.model.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Work
					}
					return work
				}, func(*model.Table) bool { return true })
				if found == nil {
					return nil, fmt.Errorf("what %s needs to know when %s writes it can not be asked of the step's tables: %s", t.Name, s.ID, support.Query)
				}
				p.Support = append(p.Support, found)
			}
			plans = append(plans, p)
		}
		program, err := planrun.CompileWrite(s.Write, plans)
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", s.ID, err)
		}
		programs[s.ID] = written{program, b.arena.Pool}
	}
	return programs, nil
}

// written is a write over the calendar's tables.
type written struct {
	program *planrun.WriteProgram
	session exec.Session
}

func (w written) Run(ctx context.Context, with contest.Parameters) (contest.Sample, error) {
	return contest.Sample{}, w.program.Run(ctx, w.session, with, planrun.RunOptions{})
}

// beside begins to write tables that are being filled, and returns a timestamp of before the first such write.
func (w *writer) beside(filling []*model.Table) (int64, error) {
	if len(writesOf(w.b.work)) == 0 {
		return 0, nil
	}
	own, err := w.b.maintenance(w.tables, filling)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now().Add(-time.Millisecond).UnixMicro() // timestamps of writes are gocql's, of this machine's clock too
	w.runners[0], w.filling = own, true
	return at, nil
}

// run sends writes until the context ends.
func (w *writer) run(ctx context.Context) error {
	list := writesOf(w.b.work)
	for n := 0; len(list) > 0 && ctx.Err() == nil; n++ {
		if err := w.one(context.WithoutCancel(ctx), list[n%len(list)]); err != nil {
			return err
		}
	}
	return nil
}

// one draws a write and applies it everywhere.
func (w *writer) one(ctx context.Context, s *workload.Statement) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	with, err := w.b.truth.Draw(s, w.random)
	if errors.Is(err, reference.ErrNothing) {
		w.refusals++
		return nil
	}
	if err != nil {
		return fmt.Errorf("drawing parameters of %s: %w", s.ID, err)
	}
	for _, breach := range s.Write.Breaches(w.b.work.Graph) {
		if breach.Query == nil {
			return &usageError{fmt.Errorf("statement %s: %s", s.ID, breach.Reason)}
		}
		rows, err := w.b.truth.Answer(breach.Query, with)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			w.refusals++
			return nil
		}
	}
	cells, err := with.Cells(s.Write.Parameters())
	if err != nil {
		return err
	}
	for i, programs := range w.runners {
		began := time.Now()
		if _, err := programs[s.ID].Run(ctx, cells); err != nil {
			return fmt.Errorf("statement %s: %w", s.ID, err)
		}
		w.series[i][s.ID] = append(w.series[i][s.ID], time.Since(began))
	}
	if err := w.b.truth.Apply(s.Write, with); err != nil {
		return fmt.Errorf("statement %s in SQLite: %w", s.ID, err)
	}
	if w.applied++; w.filling {
		w.dual++
	}
	return nil
}

// add adds what the writes took to a step's figures.
func (w *writer) add(s *timeline.Step, x *step) {
	x.Writes, x.Dual = w.applied, w.dual
	for i, series := range w.series[:len(x.Latency)] {
		for _, p := range s.Plans {
			all := series[p.Statement.Statement.ID]
			sum := time.Duration(0)
			for _, d := range all {
				sum += d
			}
			if len(all) > 0 {
				x.Latency[i] += p.Rate * float64(sum.Microseconds()) / 1000 / float64(len(all))
			}
		}
	}
}

// compare compares a table that was filled, and written meanwhile, with what it must hold.
func (b *bench) compare(ctx context.Context, t *model.Table, x *migration) (err error) {
	has := map[string]int{}
	if err := b.truth.Contents(t, func(row []any) error { has[fmt.Sprint(row)]++; x.Held++; return nil }); err != nil {
		return err
	}
	rows, err := fill.Read(ctx, b.arena.Pool, t, []fill.Source{{Table: t}}, fill.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if err := rows.Contents(t, func(row []any) error { has[fmt.Sprint(row)]--; return nil }); err != nil {
		return err
	}
	for row, n := range has {
		if n != 0 {
			if x.Differ++; x.Differ <= 3 {
				x.Sample = append(x.Sample, fmt.Sprintf("%+d %s", -n, row))
			}
		}
	}
	slices.Sort(x.Sample)
	return nil
}
