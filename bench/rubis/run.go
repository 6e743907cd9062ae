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
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// bench is a run.
type bench struct {
	options
	out     io.Writer
	begun   time.Time
	cluster *cassandra.Cluster // ours, or nil
	arena   *contest.Arena
	machine contest.Machine
	model   *cost.Cassandra
	label   string // of the model
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	chosen, err := chooseCases(o.workloads)
	if err != nil {
		return err
	}
	if o.smoke {
		for i, k := range chosen {
			few := *k
			few.mixes = few.mixes[:min(2, len(few.mixes))]
			few.must = slices.DeleteFunc(slices.Clone(few.must), func(m target) bool { return !slices.Contains(few.mixes, m.mix) })
			chosen[i] = &few
		}
	}
	if o.scale <= 0 || o.eacScale <= 0 || o.studyScale <= 0 || o.most < 1 {
		return &usageError{errors.New("scales and -most must be above 0")}
	}
	b := &bench{options: o, out: out, begun: time.Now()}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.calibrate(ctx); err != nil {
		return err
	}
	for _, k := range chosen {
		if err := b.run(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

func chooseCases(names string) (chosen []*kase, err error) {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(cases, func(k *kase) bool { return k.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, &usageError{fmt.Errorf("-workloads: there is no %q; there are rubis and eac", name)}
		}
		chosen = append(chosen, cases[i])
	}
	return chosen, nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.out, "%6.0fs  %s\n", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

// settings of our Cassandra: loading sends large batches of many partitions, which are no fault on one node, and what is not in files
// may take a quarter of the heap (which is Cassandra's own default; our nodes have less), so that there are fewer files to compact.
var settings = map[string]any{
	"batch_size_warn_threshold": "64KiB", "batch_size_fail_threshold": "640KiB", "unlogged_batch_across_partitions_warn_threshold": 1000,
	"memtable_heap_space": nil, "memtable_offheap_space": nil,
}

// start starts a Cassandra, or finds the one that was named.
func (b *bench) start(ctx context.Context) (err error) {
	b.machine = contest.ThisMachine()
	b.machine.Processors, b.machine.System, b.machine.Go = runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version()
	point := b.point
	if point == "" {
		b.cluster, err = cassandra.Start(ctx, cassandra.Options{Heap: b.heap, Extra: settings, Progress: func(line string) { b.say("%s", line) }})
		if err != nil {
			return err
		}
		point, b.machine.Heap = b.cluster.ContactPoints()[0], b.heap
	}
	b.arena, err = contest.Open(point, prefix)
	if err != nil {
		return err
	}
	if b.cluster != nil {
		b.arena.Node, b.arena.Dir = b.cluster.Node(0), b.cluster.Dir()
		b.arena.Tell = func(text string) { b.say("%s", text) }
	}
	b.machine.Cassandra, err = b.arena.Version(ctx)
	return err
}

func (b *bench) close() (err error) {
	if b.arena != nil && b.cluster == nil {
		err = b.arena.Close()
	}
	if b.cluster != nil { // its data go with it
		err = errors.Join(err, b.cluster.Stop())
	}
	return err
}

func (b *bench) scaleOf(k *kase) float64 {
	if k.name == "eac" {
		return b.eacScale
	}
	return b.scale
}

// load reads a workload and scales it.
func (b *bench) load(k *kase, scale float64) (*workload.Workload, error) {
	w, err := workload.Load(filepath.Join(b.files, k.file))
	if err != nil {
		return nil, &usageError{err}
	}
	w.Tables = nil
	contest.Scale(w, scale)
	if k.main != "" {
		err = w.SetMix(k.main)
	}
	return w, err
}

// design are the options of all designs.
func (b *bench) design() design.Options {
	return design.Options{Solver: solve.New(solve.Config{}), Cost: b.model}
}

// run runs one workload and writes the report, also if it comes to no good end.
func (b *bench) run(ctx context.Context, k *kase) error {
	r := &contest.Result{
		Workload: k.name, Command: b.command, Started: time.Now(), Scale: b.scaleOf(k), Seed: b.seed, Machine: b.machine, CostModel: b.label,
		Entities: map[string]float64{}, Left: map[string]string{},
	}
	err := b.measureCase(ctx, k, r)
	r.Seconds = time.Since(r.Started).Seconds()
	if err != nil {
		r.Incomplete = err.Error()
		if len(r.Requests) == 0 {
			return err // there is nothing to tell
		}
	}
	return errors.Join(err, b.report(k, r))
}

func (b *bench) measureCase(ctx context.Context, k *kase, r *contest.Result) error {
	w, err := b.load(k, r.Scale)
	if err != nil {
		return err
	}
	for _, e := range w.Graph.Entities {
		r.Entities[e.Name] = e.Count
	}
	entries, err := b.entries(ctx, k, w, r)
	if err != nil {
		return err
	}
	requests, err := b.requests(ctx, k, w, entries)
	if err != nil {
		return err
	}
	world, err := data.New(w.Graph, data.Options{Seed: b.seed, Workload: w})
	if err != nil {
		return err
	}
	// Our designs share the tables that are the same: they are one keyspace.
	groups := [][]*contest.Entry{entries[:len(k.mixes)]}
	for _, e := range entries[len(k.mixes):] {
		groups = append(groups, []*contest.Entry{e})
	}
	for _, g := range groups {
		sides, err := b.fill(ctx, g, world)
		if err != nil {
			return err
		}
		r.Entries = append(r.Entries, sides...)
	}
	var runners []*contest.Runner
	for _, e := range entries {
		runner, err := e.Runner(b.arena.Pool, b.running())
		if err != nil {
			return err
		}
		runners = append(runners, runner)
	}
	for _, e := range entries {
		if k.main == "" || e.Mix != k.main && e.Mix != "" {
			continue
		}
		o := b.running()
		o.Parallel = 1
		runner, err := e.Runner(b.arena.Pool, o)
		if err != nil {
			return err
		}
		runner.Name += oneByOne
		runners = append(runners, runner)
	}
	share := time.Duration(1)
	if k.name == "eac" {
		share = 3
	}
	before := b.arena.Disk()
	tally, measured := b.measured(ctx, requests, runners, world, b.measure/share)
	if after := b.arena.Disk(); before != nil && after != nil && after.Read >= before.Read { // else it was started again meanwhile
		r.Disk = &contest.Disk{Read: after.Read - before.Read, Written: after.Written - before.Written}
	}
	r.Enter(requests, k.mixes, tally, func(entry, statement string) (contest.Said, bool) {
		i := slices.IndexFunc(entries, func(e *contest.Entry) bool { return e.Name == entry })
		if i < 0 { // one by one: the model speaks of the executor as it is
			return contest.Said{}, false
		}
		return entries[i].Said(b.model, statement)
	})
	b.weigh(k, r, entries)
	if measured != nil {
		return measured
	}
	if r.Splits, err = b.traced(ctx, k, requests, entries, world); err != nil {
		return err
	}
	if k.main != "" && b.study > 0 {
		if r.Prediction, err = b.foretell(ctx, k); err != nil {
			return err
		}
	}
	if k.name == "rubis" {
		r.Growth, err = b.growth(ctx)
	}
	return err
}

func (b *bench) running() planrun.RunOptions { return planrun.RunOptions{Parallel: b.parallel} }

// ours is what our design for a mix is called.
func ours(mix string) string {
	if mix == "" {
		return "ours"
	}
	return "ours for " + mix
}

// entries are the designs. What a schema made by hand has no plan for is left out for all.
func (b *bench) entries(ctx context.Context, k *kase, w *workload.Workload, r *contest.Result) (entries []*contest.Entry, err error) {
	var made []*contest.Entry
	for _, s := range k.made {
		e, err := contest.Made(ctx, w, s.name, s.schema, b.design())
		if err != nil {
			return nil, err
		}
		for id, reason := range e.Missing {
			r.Left[id] = reason
		}
		made = append(made, e)
	}
	contest.Without(w, r.Left)
	for _, mix := range mainFirst(k) { // the first draws the parameters that the others' tables get
		e, err := contest.Ours(ctx, w, ours(mix), mix, b.design())
		if err != nil {
			return nil, err
		}
		b.say("designed %s: %d tables, proven %v", e.Name, len(e.Tables), e.Proven)
		entries = append(entries, e)
	}
	return append(entries, made...), nil
}

// mainFirst are a case's mixes, the main one first.
func mainFirst(k *kase) []string {
	mixes := slices.Clone(k.mixes)
	slices.SortStableFunc(mixes, func(a, b string) int {
		switch {
		case a == k.main && b != k.main:
			return -1
		case b == k.main && a != k.main:
			return 1
		}
		return 0
	})
	return mixes
}

// requests are the workload's, and those that others ran otherwise.
func (b *bench) requests(ctx context.Context, k *kase, w *workload.Workload, entries []*contest.Entry) ([]*contest.Request, error) {
	all := contest.Requests(w)
	for _, l := range k.likes {
		i := slices.IndexFunc(all, func(q *contest.Request) bool { return q.Name == l.request })
		if i < 0 {
			return nil, fmt.Errorf("there is no request %q", l.request)
		}
		q := &contest.Request{Name: l.name}
		var more []*workload.Statement
		add := func(id, text string) error {
			s, err := workload.Parse(w.Graph, text)
			if err != nil {
				return err
			}
			s.ID = id + " as run there"
			more, q.Statements = append(more, s), append(q.Statements, s)
			return nil
		}
		for _, s := range all[i].Statements {
			text, other := l.statements[s.ID]
			if !other {
				q.Statements = append(q.Statements, s)
			} else if err := add(s.ID, text); err != nil {
				return nil, err
			}
		}
		for n, text := range l.more {
			if err := add(fmt.Sprintf("%s %d", l.request, n+2), text); err != nil {
				return nil, err
			}
		}
		for _, e := range entries {
			if !l.of(e.Name) || !answers(e, all[i]) {
				continue
			}
			if err := e.Also(ctx, w.Graph, more, b.design()); err != nil {
				return nil, err
			}
		}
		all = append(all, q)
	}
	return all, nil
}

// answers tells whether an entry has plans for all of a request.
func answers(e *contest.Entry, q *contest.Request) bool {
	for _, s := range q.Statements {
		if e.Statements[s.ID] == nil {
			return false
		}
	}
	return true
}

// fill makes a keyspace for entries and fills their tables.
func (b *bench) fill(ctx context.Context, entries []*contest.Entry, world *data.World) (sides []*contest.Side, err error) {
	shared := contest.Share(entries)
	keyspace, err := b.arena.Create(ctx, shared.Tables)
	if err != nil {
		return nil, err
	}
	shared.Join()
	loaded, err := b.put(ctx, keyspace, shared.Tables, world)
	if err != nil {
		return nil, err
	}
	sizes, err := b.arena.Sizes(keyspace)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		side := &contest.Side{Name: e.Name, Mix: e.Mix, Said: e.Bytes}
		for _, t := range e.Tables {
			size := &contest.TableSize{Name: t.Name, Table: t.String(), Rows: float64(loaded[t.Name].Rows), Bytes: sizes[t.Name], Said: cost.Arithmetic(b.model).TableBytes(t)}
			side.Tables = append(side.Tables, size)
			side.Rows += size.Rows
			side.Bytes += size.Bytes
			side.Seconds += loaded[t.Name].Took.Seconds()
		}
		for id := range e.Missing {
			side.Missing = append(side.Missing, id)
		}
		sides = append(sides, side)
	}
	return sides, nil
}

// reloads is how often tables are filled anew before it is given up.
const reloads = 2

// put fills tables and brings them to rest.
func (b *bench) put(ctx context.Context, keyspace string, tables []*model.Table, world *data.World) (map[string]load.Loaded, error) {
	told, begun := time.Now(), time.Now()
	server, client := b.processor()
	o := load.Options{Patience: -1, Progress: func(p load.Progress) {
		if time.Since(told) > 15*time.Second {
			told = time.Now()
			b.say("  %s", p)
		}
	}}
	list, err := load.Tables(ctx, b.arena.Session, keyspace, tables, world, o)
	// What is not on disk is lost with a Cassandra that dies (nothing is logged while one of ours is filled): nothing goes on from where it
	// was, all is written again.
	for again := 0; err != nil && again < reloads; again++ {
		var stopped *load.StoppedError
		if ctx.Err() != nil || !errors.As(err, &stopped) {
			return nil, err
		}
		b.say("%v", err)
		if err := b.arena.Awaken(ctx, stopped.Cause); err != nil {
			return nil, err
		}
		list, err = load.Tables(ctx, b.arena.Session, keyspace, tables, world, o)
	}
	if err != nil {
		return nil, err
	}
	rows := 0
	loaded := map[string]load.Loaded{}
	for _, l := range list {
		loaded[l.Table] = l
		rows += l.Rows
	}
	took := time.Since(begun)
	if err := b.arena.Settle(ctx, keyspace); err != nil {
		return nil, err
	}
	serverAfter, clientAfter := b.processor()
	b.say("filled %d tables of %s: %d rows in %.0f s (%.0f a second), at rest after %.0f s; %.0f s of Cassandra's processor time, %.0f s of ours",
		len(tables), keyspace, rows, took.Seconds(), float64(rows)/took.Seconds(), time.Since(begun).Seconds(),
		(serverAfter - server).Seconds(), (clientAfter - client).Seconds())
	return loaded, nil
}

// processor is the processor time of Cassandra, if it is ours, and of this process.
func (b *bench) processor() (server, client time.Duration) {
	return contest.Processors(func() int {
		if b.cluster == nil {
			return 0
		}
		return b.cluster.Node(0).Pid()
	})()
}

// measured runs the loop.
func (b *bench) measured(ctx context.Context, requests []*contest.Request, runners []*contest.Runner, world *data.World, during time.Duration) (*contest.Tally, error) {
	told := time.Now()
	loop := &contest.Loop{
		Requests: requests, Runners: runners, Seed: b.seed, Draw: contest.NewDraws(world).Draw,
		WarmUp: b.warmUp, Most: b.most, For: during, Awaken: b.arena.Awaken, Processor: b.processor,
		Progress: func(done float64, count int) {
			if time.Since(told) > 15*time.Second {
				told = time.Now()
				b.say("  measuring: %.0f %%, %d rounds", 100*done, count)
			}
		},
	}
	b.say("measuring %d kinds of requests over %d designs for %v", len(requests), len(runners), during)
	return loop.Run(ctx)
}

// traced says where the time of each request goes, over our design for the main mix and over the others'.
func (b *bench) traced(ctx context.Context, k *kase, requests []*contest.Request, entries []*contest.Entry, world *data.World) ([]contest.Split, error) {
	if b.trace == 0 {
		return nil, nil
	}
	t := &contest.Tracer{Requests: requests, Seed: b.seed + 1, Draw: contest.NewDraws(world).Draw, Times: b.trace}
	for _, e := range entries {
		if e.Mix == "" || e.Mix == k.main {
			t.Entries = append(t.Entries, e)
		}
	}
	b.say("tracing %d executions of each kind of request over %d designs", b.trace, len(t.Entries))
	return b.arena.Trace(ctx, t)
}

// How figures of the same mix and designs were come by, besides as they are.
const (
	asRunThere = " (as run there)"
	oneByOne   = " (one request at a time)"
)

// weigh makes the means of the mixes: as they are, with requests as the authors ran them, and of the main mix with one CQL
// request at a time, as the authors' engine sends them.
func (b *bench) weigh(k *kase, r *contest.Result, entries []*contest.Entry) {
	made := k.substitutes(entries)
	for _, mix := range k.mixes {
		names := []string{ours(mix)}
		for _, s := range k.made {
			names = append(names, s.name)
		}
		for _, suffix := range []string{"", asRunThere, oneByOne, oneByOne + asRunThere} {
			if strings.HasSuffix(suffix, asRunThere) && len(made) == 0 || strings.HasPrefix(suffix, oneByOne) && (mix != k.main || k.main == "") {
				continue
			}
			var all []string
			for _, n := range names {
				all = append(all, n+suffix)
			}
			m := r.Weigh(mix, all[0], all, made)
			m.Name += suffix
			r.Mixes = append(r.Mixes, m)
		}
	}
}

// prefix begins the names of our keyspaces.
const prefix = "helenus_rubis"
