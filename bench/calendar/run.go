package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/internal/cassandra"
)

// bench is a run.
type bench struct {
	options
	out     io.Writer
	begun   time.Time
	cluster *cassandra.Cluster // ours, or nil
	arena   *contest.Arena

	work     *workload.Workload
	model    cost.Model
	calendar *timeline.Calendar
	rivals   []*rival // the baselines, in their order
	world    *data.World
	truth    *reference.Reference
	requests []*contest.Request
	keyspace string // of the calendar's tables
	report   *report
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	b := &bench{options: o, out: out, begun: time.Now()}
	if err := b.design(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	failed := b.live(ctx)
	if failed != nil {
		b.report.Incomplete = failed.Error()
	}
	if len(b.report.Steps) == 0 {
		return failed
	}
	return errors.Join(failed, b.write())
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.out, "%6.0fs  %s\n", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

// read reads the workload, and shrinks or stretches it to so many entities in its largest set.
func (o *options) read() (*workload.Workload, error) {
	path := o.file
	switch o.file {
	case "cycles":
		path = filepath.Join(o.files, "tpch.yaml")
	case "evolution", "spikes":
		path = filepath.Join(o.files, "tpch-"+o.file+".yaml")
	}
	if !(o.rows >= 1) || !(o.share >= 0) || o.checks < 0 {
		return nil, &usageError{errors.New("-rows must be 1 or more, -space and -checks not negative")}
	}
	w, err := workload.Load(path)
	if err != nil {
		return nil, &usageError{err}
	}
	w.Tables = nil
	largest := 0.0
	for _, e := range w.Graph.Entities {
		largest = max(largest, e.Count)
	}
	contest.Scale(w, o.rows/largest)
	return w, nil
}

// design chooses the calendar and the baselines.
func (b *bench) design(ctx context.Context) (err error) {
	if b.work, err = b.read(); err != nil {
		return err
	}
	if b.model, err = cost.NewCassandra(cost.CassandraParameters{Nodes: 1, Replication: 1, Consistency: "ONE"}); err != nil {
		return err
	}
	label := "cassandra, its defaults for one node"
	if b.parameters != "" {
		if b.model, err = cost.Open(b.parameters); err != nil {
			return &usageError{err}
		}
		label = "cassandra, parameters of " + b.parameters
	}
	k, err := b.recall()
	switch {
	case err == nil && k != nil:
		err = b.revive(ctx, k)
	case err == nil:
		if err = b.choose(ctx); err == nil {
			err = b.keep()
		}
	}
	if err != nil {
		return err
	}
	asked := *b.work // writes are sent beside
	asked.Statements = slices.DeleteFunc(slices.Clone(b.work.Statements), func(s *workload.Statement) bool { return s.Write != nil })
	b.requests = contest.Requests(&asked)
	b.report = &report{Workload: b.work.Name, Pattern: strings.TrimSuffix(filepath.Base(b.file), filepath.Ext(b.file)), Command: b.command, Started: time.Now(), Rows: b.rows, Seed: b.seed, CostModel: label, Entities: map[string]float64{}, Space: b.calendar.Space, Cost: b.calendar.Cost, Bound: max(0, b.calendar.Bound)}
	for _, x := range b.rivals {
		b.report.Said = append(b.report.Said, x.said)
	}
	for _, e := range b.work.Graph.Entities {
		b.report.Entities[e.Name] = e.Count
	}
	return nil
}

// choose looks for the calendar and the baselines.
func (b *bench) choose(ctx context.Context) (err error) {
	b.calendar, err = timeline.Choose(ctx, b.work, timeline.Options{Cost: b.model, Solver: solve.New(solve.Config{}), Limits: b.limits(), Exact: b.exact, SpaceShare: b.share})
	if err != nil {
		return err
	}
	c := b.calendar
	b.say("a calendar of %d steps: cost %.6g, at least %.6g", len(c.Steps), c.Cost, c.Bound)
	for _, note := range c.Notes { // a solver that fails, above all
		b.say("%s", note)
	}
	for _, name := range baselines {
		b.say("%s: %.6g, which the calendar is below by %.1f %%", name, c.Baseline(name).Cost, 100*c.Less(c.Baseline(name)))
	}
	for _, s := range c.Steps[1:] {
		if len(s.Created)+len(s.Dropped) > 0 {
			b.say("step %d: %d tables made, %d dropped", s.Number, len(s.Created), len(s.Dropped))
		}
	}
	for _, name := range baselines {
		x, err := b.rival(ctx, name, c.Baseline(name).Chosen)
		if err != nil {
			return err
		}
		if x == nil {
			continue
		}
		x.said = c.Baseline(name).Cost
		if is := b.cost(x); is > x.said*(1+1e-6) {
			return fmt.Errorf("%s: its plans cost %g, and %g when the calendar was compared with it: it would be no fair comparison", name, is, x.said)
		}
		b.rivals = append(b.rivals, x)
	}
	return nil
}

// limits are those of the solves: what the packages have, which is counted, unless there is a limit of time.
func (b *bench) limits() solve.Limits {
	if b.limit == 0 {
		return solve.Limits{}
	}
	return solve.Limits{Nodes: 5000, Wall: b.limit}
}

// start starts a Cassandra, or finds the one that was named.
func (b *bench) start(ctx context.Context) (err error) {
	machine := contest.ThisMachine()
	machine.Processors, machine.System, machine.Go = runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version()
	point := b.point
	if point == "" {
		settings := map[string]any{"batch_size_warn_threshold": "64KiB", "batch_size_fail_threshold": "640KiB", "unlogged_batch_across_partitions_warn_threshold": 1000}
		if b.cluster, err = cassandra.Start(ctx, cassandra.Options{Heap: b.heap, Extra: settings, Progress: func(line string) { b.say("%s", line) }}); err != nil {
			return err
		}
		point, machine.Heap = b.cluster.ContactPoints()[0], b.heap
	}
	if b.arena, err = contest.Open(point, prefix); err != nil {
		return err
	}
	if b.cluster != nil {
		b.arena.Node, b.arena.Dir = b.cluster.Node(0), b.cluster.Dir()
	}
	machine.Cassandra, err = b.arena.Version(ctx)
	b.report.Machine = machine
	return err
}

func (b *bench) close() (err error) {
	if b.truth != nil {
		err = b.truth.Close()
	}
	if b.arena != nil && b.cluster == nil {
		err = errors.Join(err, b.arena.Close())
	}
	if b.cluster != nil { // its data go with it
		err = errors.Join(err, b.cluster.Stop())
	}
	return err
}

// fill makes the data, and from them the tables of the first step and of the baselines.
func (b *bench) fill(ctx context.Context) (err error) {
	if b.world, err = data.New(b.work.Graph, data.Options{Seed: b.seed, Workload: b.work}); err != nil {
		return err
	}
	if b.truth, err = reference.Create("", b.world); err != nil {
		return err
	}
	first := tablesOf(b.calendar.Steps[0])
	if b.keyspace, err = b.put(ctx, ours, first); err != nil {
		return err
	}
	for _, x := range b.rivals {
		for _, e := range x.designs {
			if _, err := b.put(ctx, x.name, e.Tables); err != nil {
				return err
			}
		}
	}
	return nil
}

// put makes a keyspace of tables, filled out of the world.
func (b *bench) put(ctx context.Context, name string, tables []*model.Table) (string, error) {
	keyspace, err := b.arena.Create(ctx, tables)
	if err != nil {
		return "", err
	}
	loaded, err := load.Tables(ctx, b.arena.Session, keyspace, tables, b.world, load.Options{})
	if err != nil {
		return "", err
	}
	rows := 0
	for _, l := range loaded {
		rows += l.Rows
	}
	b.say("filled %d tables of %s: %d rows", len(tables), name, rows)
	return keyspace, b.arena.Settle(ctx, keyspace)
}

// tablesOf are the tables of a step, under the names that the calendar has for them.
func tablesOf(s *timeline.Step) []*model.Table {
	var list []*model.Table
	for _, t := range s.Tables {
		t.Table.Name = t.Name
		list = append(list, t.Table)
	}
	return list
}

// created are those of a step that were not there in the one before.
func created(s *timeline.Step) []*model.Table {
	return slices.DeleteFunc(tablesOf(s), func(t *model.Table) bool { return !slices.Contains(s.Created, t.Name) })
}

// prefix begins the names of our keyspaces, by which the next run finds those that a killed one left.
const prefix = "helenus_calendar"
