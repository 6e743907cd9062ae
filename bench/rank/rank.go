package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Options say how to measure.
type Options struct {
	Point    string        // host:port of a node
	Rows     float64       // entities of the largest kind; others are scaled as it is
	For      time.Duration // time for the measurements
	Seed     uint64
	Progress func(string) // nil: nobody is told
}

// prefix begins the names of the keyspaces.
const prefix = "helenus_options"

// ErrUnreachable says that there is no Cassandra.
var ErrUnreachable = errors.New("no Cassandra answers")

// Bench is a place on a Cassandra to measure in.
type Bench struct {
	o     Options
	arena *contest.Arena
}

// Open connects. Close drops what was made, and disconnects.
func Open(o Options) (*Bench, error) {
	arena, err := contest.Open(o.Point, prefix)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return &Bench{o, arena}, nil
}

// Close drops all keyspaces that were made, also after the context of their making has ended.
func (b *Bench) Close() error { return b.arena.Close() }

func (b *Bench) say(format string, args ...any) {
	if b.o.Progress != nil {
		b.o.Progress(fmt.Sprintf(format, args...))
	}
}

// Measure measures designs, in the order of their computed ranks. It changes the counts of the workload's entities. What was
// measured comes back with an error, too, if it is enough for a ranking.
func (b *Bench) Measure(ctx context.Context, w *workload.Workload, list []*options.Option) (m *Measured, err error) {
	most := 1.0
	for _, e := range w.Graph.Entities {
		most = max(most, e.Count)
	}
	contest.Scale(w, min(1, b.o.Rows/most))
	m = &Measured{Rows: min(b.o.Rows, most), Left: map[string]string{}}
	entries, err := plans(ctx, w, list, m)
	if err != nil {
		return nil, err
	}
	world, err := data.New(w.Graph, data.Options{Seed: b.o.Seed, Workload: w})
	if err != nil {
		return nil, fmt.Errorf("making data: %w", err)
	}
	if m.Cassandra, err = b.arena.Version(ctx); err != nil {
		return nil, err
	}
	var runners []*contest.Runner
	for _, e := range entries {
		if err := b.fill(ctx, e, world); err != nil {
			return nil, fmt.Errorf("filling the tables of %s: %w", e.Name, err)
		}
		r, err := e.Runner(b.arena.Pool, planrun.RunOptions{})
		if err != nil {
			return nil, err
		}
		runners = append(runners, r)
	}
	requests := contest.Requests(w)
	b.say("measuring %d kinds of requests over %d designs for %v", len(requests), len(runners), b.o.For)
	loop := &contest.Loop{Requests: requests, Runners: runners, Seed: b.o.Seed, Draw: contest.NewDraws(world).Draw, WarmUp: 20, Most: 100_000, For: b.o.For, Awaken: b.arena.Awaken}
	tally, err := loop.Run(ctx)
	enter(m, w, list, requests, tally)
	return m, err
}

// fill makes a design's tables in a keyspace of its own, and fills them.
func (b *Bench) fill(ctx context.Context, e *contest.Entry, world *data.World) error {
	began := time.Now()
	keyspace, err := b.arena.Create(ctx, e.Tables)
	if err != nil {
		return err
	}
	made := time.Since(began)
	loaded, err := load.Tables(ctx, b.arena.Session, keyspace, e.Tables, world, load.Options{Patience: time.Minute})
	if err != nil {
		return err
	}
	rows := 0
	for _, l := range loaded {
		rows += l.Rows
	}
	b.say("made %d tables of %s in %.1f s, and filled them with %d rows in %.1f s", len(e.Tables), e.Name, made.Seconds(), rows, (time.Since(began) - made).Seconds())
	return b.arena.Settle(ctx, keyspace)
}

// plans plans the workload over each design's tables, and leaves out what one of them has no plan for.
func plans(ctx context.Context, w *workload.Workload, list []*options.Option, m *Measured) ([]*contest.Entry, error) {
	o := design.Options{Cost: cost.Default(), Solver: solve.New(solve.Config{})}
	var entries []*contest.Entry
	for _, x := range list {
		e, err := contest.Over(ctx, w, x.Name, tables(x), o)
		if err != nil {
			return nil, err
		}
		maps.Copy(m.Left, e.Missing)
		entries = append(entries, e)
	}
	contest.Without(w, m.Left)
	if len(w.Statements) == 0 {
		return nil, errors.New("no statement has a plan over the tables of every option")
	}
	return entries, nil
}

// tables are an option's tables as Cassandra has them, each its own, with names.
func tables(o *options.Option) []*model.Table {
	var list []*model.Table
	for i, t := range o.Physical() {
		own := *t
		own.Name, own.Keyspace, own.Existing = fmt.Sprintf("t%d", i+1), "", false
		list = append(list, &own)
	}
	return list
}

// enter makes the ranking of a tally.
func enter(m *Measured, w *workload.Workload, list []*options.Option, requests []*contest.Request, tally *contest.Tally) {
	r := contest.Result{}
	r.Enter(requests, []string{w.Mix}, tally, nil)
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = x.Name
	}
	means := r.Weigh(w.Mix, "", names, nil).Means
	for _, x := range list {
		if mean, ok := means[x.Name]; ok {
			m.Options = append(m.Options, MeasuredOption{Name: x.Name, Computed: len(m.Options) + 1, Score: x.Score, MeanMs: mean, ErrorMs: deviation(&r, w.Mix, x.Name)})
		}
	}
	order := slices.Clone(m.Options)
	slices.SortStableFunc(order, func(a, b MeasuredOption) int { return cmp.Compare(a.MeanMs, b.MeanMs) })
	for i := range m.Options {
		m.Options[i].Measured = 1 + slices.IndexFunc(order, func(x MeasuredOption) bool { return x.Name == m.Options[i].Name })
	}
	for i := range r.Requests {
		row := &r.Requests[i]
		if row.Statement == "" {
			for name, f := range row.Took {
				m.Requests += f.Count
				if k := slices.IndexFunc(m.Options, func(x MeasuredOption) bool { return x.Name == name }); k >= 0 {
					if m.Options[k].Requests == nil {
						m.Options[k].Requests = map[string]float64{}
					}
					m.Options[k].Requests[row.Request] = f.Mean
				}
			}
		}
	}
	m.Tau = Tau(m.Options)
	m.Apart, m.TauApart = TauApart(m.Options)
}

// deviation is the standard error of an option's mean over all requests.
func deviation(r *contest.Result, mix, name string) float64 {
	sum, weights := 0.0, 0.0
	for i := range r.Requests {
		if row := &r.Requests[i]; row.Statement == "" {
			x := row.Weights[mix]
			sum += x * x * row.Took[name].Error * row.Took[name].Error
			weights += x
		}
	}
	if weights == 0 {
		return 0
	}
	return math.Sqrt(sum) / weights
}
