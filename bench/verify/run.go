package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// The kinds of designs. Any other name is that of a schema of the workload's file, with or without the workload's name before
// it; rubis's rubis_baseline is called normalized too, as seed 003 does.
const (
	Ours   = "ours"
	Given  = "given"  // every schema of the file, and the tables that it says are there
	Random = "random" // feasible ones
)

// randomPrefix begins the name of a random workload, or design, before its number.
const randomPrefix = "random:"

// Options say what is compared, and how much.
type Options struct {
	Cluster *gocql.ClusterConfig
	Seed    uint64
	Names   []string // workloads: files, or random:NUMBER
	Mix     string   // of those that have any; "": all statements
	Designs []string // kinds, schemas, or random:NUMBER; nil: ours, given and random
	Random  int      // random designs of each workload
	Rows    int      // of the largest entity of a file's model; the others have fewer in proportion to its logarithm
	Draws   int      // parameters of each query
	Updates int      // of each design
	Every   int      // updates between comparisons of tables
	Wait    time.Duration
	// Choose bounds the search for our design.
	Choose time.Duration
	// Progress, if set, is told now and then. left is a guess, 0 while there is none.
	Progress func(p Progress)

	spoil func(exec.Session) exec.Session // in tests: a session that makes mistakes
}

// Progress says how far a run is.
type Progress struct {
	Workload, Design string
	Done, Of         int // designs
	Updates, Answers int
	Differences      int
	Elapsed, Left    time.Duration
	Waiting          string // for Cassandra, and why; else empty
}

// mostRestarts is how often a design is begun anew because Cassandra went away.
const mostRestarts = 5

// task is one design of one workload.
type task struct {
	workload string
	design   string
}

type runner struct {
	Options
	on     *premises
	report *Report
	began  time.Time
	folder string // of the references
	// references made so far
	references int
	tasks      []task
	done       int
}

// Run compares. The error is that the options are no good (*InputError), that Cassandra is away (ErrUnreachable), or that this
// program is at fault; differences are in the report. A run that the context ends has a report, too.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	r := &runner{Options: o, began: time.Now(), report: &Report{Seed: o.Seed, ByDesign: map[string]int{}, Differences: []Difference{}}}
	if r.tasks, err = tasks(o); err != nil {
		return nil, err
	}
	if r.folder, err = os.MkdirTemp("", "helenus-verify-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	if r.on, err = open(ctx, o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.on.close()) }()
	r.report.Swept = r.on.Swept
	last := ""
	for i, t := range r.tasks {
		r.done = i
		if t.workload != last {
			r.report.Workloads++
			last = t.workload
		}
		if err = r.task(ctx, t); err != nil {
			break
		}
	}
	r.report.Seconds = time.Since(r.began).Seconds()
	if ctx.Err() != nil {
		r.report.Interrupted, err = true, nil
	}
	return r.report, err
}

// InputError says what is wrong with what was asked for.
type InputError struct{ error }

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.error }

// tasks lists the designs to compare, and with that checks what was asked for.
func tasks(o Options) ([]task, error) {
	kinds := o.Designs
	if len(kinds) == 0 {
		kinds = []string{Ours, Given, Random}
	}
	var list []task
	for _, name := range o.Names {
		w, err := opened(name, o.Mix)
		if err != nil {
			return nil, &InputError{err}
		}
		for _, kind := range kinds {
			switch {
			case kind == Ours:
				list = append(list, task{name, Ours})
			case kind == Given:
				for _, schema := range schemas(w) {
					list = append(list, task{name, schema})
				}
			case kind == Random:
				for n := range o.Random {
					list = append(list, task{name, randomPrefix + strconv.Itoa(n+1)})
				}
			case strings.HasPrefix(kind, randomPrefix):
				if _, err := numbered(kind); err != nil {
					return nil, &InputError{fmt.Errorf("design %s: %w", kind, err)}
				}
				list = append(list, task{name, kind})
			case schemaOf(w, kind) != nil:
				list = append(list, task{name, kind})
			case strings.HasPrefix(name, randomPrefix): // they have no schemas
			default:
				return nil, &InputError{fmt.Errorf("%s: %w", name, &model.NameError{What: "design", Name: kind, Known: append([]string{Ours, Given, Random}, schemas(w)...)})}
			}
		}
	}
	if len(list) == 0 {
		return nil, &InputError{errors.New("there is nothing to compare: name workloads (files, or --random N)")}
	}
	return list, nil
}

func numbered(name string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, randomPrefix), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q has no number after %s", name, randomPrefix)
	}
	return n, nil
}

// opened reads a workload, anew each time: what is done with it changes it.
func opened(name, mix string) (*workload.Workload, error) {
	if strings.HasPrefix(name, randomPrefix) {
		n, err := numbered(name)
		if err != nil {
			return nil, err
		}
		return generate.Varied(n), nil
	}
	w, err := workload.Load(name)
	if err != nil {
		return nil, err
	}
	switch {
	case len(w.Mixes) == 0: // as most files
		return w, nil
	case mix != "":
		if err := w.SetMix(mix); err != nil {
			return nil, fmt.Errorf("%s: --mix: %w", name, err)
		}
		part, _ := w.In(mix)
		return part, nil
	}
	w.Mix, w.Mixes = "", nil // all statements, of whatever mix
	for _, s := range w.Statements {
		for _, weight := range s.Weights {
			s.Weight = max(s.Weight, weight)
		}
	}
	return w, nil
}

// existing is the name of the tables that a file says are there.
const existing = "existing"

// schemas are the names of the hand-made schemas of a workload.
func schemas(w *workload.Workload) []string {
	var list []string
	for name := range w.Schemas {
		list = append(list, strings.TrimPrefix(name, w.Name+"_"))
	}
	slices.Sort(list)
	if len(w.Tables) > 0 {
		list = append(list, existing)
	}
	return list
}

// schemaOf returns the tables of a hand-made schema, nil if there is none of that name.
func schemaOf(w *workload.Workload, name string) []*model.Table {
	if name == "normalized" && w.Schemas[w.Name+"_"+name] == nil {
		name = "baseline"
	}
	switch {
	case name == existing:
		return w.Tables
	case w.Schemas[name] != nil:
		return w.Schemas[name]
	}
	return w.Schemas[w.Name+"_"+name]
}

// task compares one design, again from the start if Cassandra went away meanwhile.
func (r *runner) task(ctx context.Context, t task) error {
	for n := 0; ; n++ {
		counted := *r.report
		counted.ByDesign, counted.Met = maps.Clone(counted.ByDesign), maps.Clone(counted.Met)
		err := r.design(ctx, t, &counted)
		if err == nil {
			*r.report = counted
			return nil
		}
		if ctx.Err() != nil {
			*r.report = counted
			return ctx.Err()
		}
		if !away(err) {
			return fmt.Errorf("%s, design %s: %w", t.workload, t.design, err)
		}
		if n == mostRestarts {
			return fmt.Errorf("%w: it went away %d times while %s, design %s, was compared: %w", ErrUnreachable, n+1, t.workload, t.design, err)
		}
		r.tell(t, 0, nil, err.Error())
		if err := r.on.await(ctx, r.Wait); err != nil {
			return err
		}
		if err := r.on.Clear(ctx); err != nil && !away(err) {
			return err
		}
		r.report.Restarts++
	}
}

// away tells whether an error only says that Cassandra can not be reached now.
func away(err error) bool {
	var (
		request gocql.RequestError
		network net.Error
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return false
	case errors.Is(err, planrun.ErrUnavailable), errors.Is(err, planrun.ErrTimeout), errors.Is(err, exec.ErrNoConnection):
		return true
	case errors.As(err, &request):
		return exec.Down(err) && !exec.Internal(err)
	}
	for _, of := range []error{gocql.ErrNoConnections, gocql.ErrConnectionClosed, gocql.ErrTimeoutNoResponse, gocql.ErrUnavailable, io.EOF} {
		if errors.Is(err, of) {
			return true
		}
	}
	return errors.As(err, &network)
}

// design makes a design and compares it.
func (r *runner) design(ctx context.Context, t task, counted *Report) error {
	r.tell(t, 0, counted, "")
	w, err := opened(t.workload, r.Mix)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(r.Seed, hashed(t.design))) // #nosec G404 -- the same seed, the same designs
	d, err := r.make(ctx, w, t.design, rng)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errTooMany) {
			counted.Skipped = append(counted.Skipped, Left{Workload: t.workload, Design: t.design, Reason: err.Error()})
		} else { // every statement has a table that answers it: that none is found is a fault of whoever looked
			counted.Differences = append(counted.Differences, Difference{Workload: t.workload, Design: t.design, Kind: "error", Reason: "there is no design: " + err.Error(), Again: r.again(t)})
		}
		return nil
	}
	counted.Designs++
	kind, _, _ := strings.Cut(t.design, ":")
	counted.ByDesign[kind]++
	counted.Tables += len(d.Tables)
	for _, m := range d.Missing {
		counted.Missing = append(counted.Missing, Left{t.workload, t.design, m.Statement, m.Reason})
	}
	world, err := data.New(w.Graph, data.Options{Seed: r.Seed, Counts: counts(w, r.Rows, t.workload), Workload: w})
	if err != nil {
		return fmt.Errorf("making data: %w", err)
	}
	c := &check{design: d, graph: w.Graph, seed: r.Seed, draws: r.Draws, updates: r.Updates, every: r.Every, report: counted}
	keyspace := ""
	c.told = func(done float64) { r.tell(t, done, counted, "") }
	c.fresh = func(ctx context.Context) (*place, error) {
		if keyspace != "" {
			if err := r.on.Drop(ctx, keyspace); err != nil {
				return nil, err
			}
		}
		r.references++
		made, err := reference.Create(filepath.Join(r.folder, fmt.Sprintf("%d.db", r.references)), world)
		if err != nil {
			return nil, fmt.Errorf("making the reference: %w", err)
		}
		if keyspace, err = r.on.keyspace(ctx); err != nil {
			return nil, errors.Join(err, made.Close())
		}
		d.name(keyspace, "t")
		if err = load.Define(ctx, r.on.session.Load(), keyspace, d.Tables); err == nil {
			var loaded []load.Loaded
			loaded, err = load.Tables(ctx, r.on.session.Load(), keyspace, d.Tables, made, load.Options{Patience: -1})
			for _, l := range loaded {
				counted.Loaded += l.Rows
			}
		}
		if err == nil {
			err = load.Match(ctx, r.on.session.Load(), keyspace, d.Tables)
		}
		if err != nil {
			return nil, errors.Join(err, made.Close())
		}
		session := exec.Session(r.on.pool)
		if r.spoil != nil {
			session = r.spoil(session)
		}
		return &place{made, session}, nil
	}
	err = c.run(ctx)
	if keyspace != "" && ctx.Err() == nil {
		err = errors.Join(err, r.on.Drop(ctx, keyspace))
	}
	if err == nil {
		for _, m := range c.untried() {
			counted.Untried = append(counted.Untried, Left{t.workload, t.design, m.Statement, m.Reason})
		}
	}
	for i := range c.found {
		c.found[i].Workload = t.workload
		c.found[i].Again = r.again(t)
	}
	counted.Differences = append(counted.Differences, c.found...)
	r.tell(t, 1, counted, "")
	return err
}

// make makes the design of a name.
func (r *runner) make(ctx context.Context, w *workload.Workload, name string, rng *rand.Rand) (*Design, error) {
	switch {
	case name == Ours:
		return ours(ctx, w, r.Choose, rng)
	case strings.HasPrefix(name, randomPrefix):
		return random(name, w, rng)
	}
	return given(name, w, schemaOf(w, name), rng)
}

// again are the arguments that compare a design once more.
func (r *runner) again(t task) string {
	text := fmt.Sprintf("--seed %d --designs %s --draws %d --updates %d --every %d --rows %d", r.Seed, t.design, r.Draws, r.Updates, r.Every, r.Rows)
	if r.Mix != "" {
		text += " --mix " + r.Mix
	}
	return text + " " + t.workload
}

// counts are numbers of entities for a small world: of the largest as many as asked for, of the others fewer by the same power.
// So small ones stay as they are nearly, and each has some partners. Random workloads are small already.
func counts(w *workload.Workload, rows int, name string) map[string]int {
	if strings.HasPrefix(name, randomPrefix) {
		return nil
	}
	most := 1.0
	for _, e := range w.Graph.Entities {
		most = max(most, e.Count)
	}
	made := map[string]int{}
	power := min(1, math.Log(float64(max(2, rows)))/math.Log(max(2, most)))
	for _, e := range w.Graph.Entities {
		made[e.Name] = int(math.Ceil(math.Pow(e.Count, power)))
	}
	return made
}

// hashed makes a number of a name (FNV-1a).
func hashed(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// tell reports how far the run is.
func (r *runner) tell(t task, done float64, counted *Report, waiting string) {
	if r.Progress == nil {
		return
	}
	if counted == nil {
		counted = r.report
	}
	p := Progress{Workload: t.workload, Design: t.design, Done: r.done, Of: len(r.tasks), Updates: counted.Updates, Answers: counted.Answers,
		Differences: len(counted.Differences), Elapsed: time.Since(r.began), Waiting: waiting}
	if share := (float64(r.done) + done) / float64(len(r.tasks)); share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - share) / share)
	}
	r.Progress(p)
}
