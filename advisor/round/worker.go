package round

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
)

// version begins both sides' words, so that a worker is told from a program that merely prints.
const version = "helenus advice worker 4"

// What a worker can be asked to do.
const (
	toAdvise = "advise"
	toLint   = "lint"
	toWeigh  = "weigh"
	// toCompare is infer.Compare.
	toCompare = "compare"
)

// workerVariable is set in the environment of every worker.
const workerVariable = "HELENUS_ADVISE_WORKER"

// request is a recommend.Input as data. The statements of its snapshots follow it, one by one.
type request struct {
	Version    string
	Task       string
	Snapshot   *capture.Snapshot
	Statements int // of Snapshot
	Schema     *schema.Schema
	Statistics []schema.Stats
	Nodes      int
	Driver     string
	Judged     bool
	Cost       *cost.CassandraParameters
	Limits     solve.Limits
	Thresholds recommend.Thresholds
	At         time.Time
	// DataKeyspace is that of recommend.Input.
	DataKeyspace string
	Past         *past
	Page         recommend.CacheState
	// Corrections are a correction.List as YAML, File is the model file to compare with.
	Corrections string
	File        string
	Shown       []string
	Declined    []string
	Memory      int64  // bytes that a solver may take
	Solver      string // its path, as of solve.Config
}

// past is a recommend.Past.
type past struct {
	Report     *cycle.Report
	Counts     *capture.Snapshot
	Statements int // of Counts
	Statistics []schema.Stats
}

// answer is what became of it. The dismissals of the advice follow it, one by one.
type answer struct {
	Version    string
	Report     *lint.Report      // of linting
	Workload   string            // of weighing
	Empty      bool              // of weighing: infer.ErrNoStatement
	Comparison *infer.Comparison // of comparing
	Invalid    string            // of comparing: infer.InvalidError
	Advice     *recommend.Advice
	Dismissals int
	Page       recommend.CacheState
	Failure    string // why there is neither
	Panic      string // what a defect of ours said
	Stack      string
}

// send writes a request.
func send(to io.Writer, task string, in *recommend.Input, file string, c Config) error {
	corrections, err := in.Corrections.YAML()
	if err != nil {
		return err
	}
	r := request{
		Corrections: string(corrections), File: file, Shown: in.Shown, Declined: in.Declined,
		Version: version, Task: task, Snapshot: without(in.Snapshot), Statements: len(in.Snapshot.Statements), Schema: in.Schema, Statistics: in.Statistics, Nodes: in.Nodes, Driver: in.Driver,
		Judged: in.Judge != nil, Limits: in.Limits, Thresholds: in.Thresholds, At: in.At, DataKeyspace: in.DataKeyspace, Page: in.Cache.State(in.Past), Memory: c.Memory, Solver: c.Solver,
	}
	if in.Cost != nil {
		p := in.Cost.Parameters()
		r.Cost = &p
	}
	snapshots := []*capture.Snapshot{in.Snapshot}
	if in.Past != nil {
		r.Past = &past{in.Past.Report, without(in.Past.Counts), 0, in.Past.Statistics}
		if in.Past.Counts != nil {
			r.Past.Statements = len(in.Past.Counts.Statements)
			snapshots = append(snapshots, in.Past.Counts)
		}
	}
	out := buffered(to)
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(r); err != nil {
		return err
	}
	for _, s := range snapshots {
		if err := each(encoder, s.Statements); err != nil {
			return err
		}
	}
	return out.Flush()
}

// without is a snapshot without its statements.
func without(s *capture.Snapshot) *capture.Snapshot {
	if s == nil {
		return nil
	}
	own := *s
	own.Statements = nil
	return &own
}

func each[T any](to *json.Encoder, list []T) error {
	for i := range list {
		if err := to.Encode(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func all[T any](from *json.Decoder, n int) ([]T, error) {
	list := []T{} // which grows with what is there, whatever n says
	for range n {
		var one T
		if err := from.Decode(&one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// receive reads an answer.
func receive(from io.Reader) (*answer, error) {
	decoder := json.NewDecoder(from)
	var a answer
	if err := decoder.Decode(&a); err != nil {
		return nil, err
	}
	if a.Version != version {
		return nil, fmt.Errorf("it is %q, not %q", a.Version, version)
	}
	if a.Advice == nil {
		if a.Failure == "" && a.Panic == "" && a.Report == nil && a.Workload == "" && !a.Empty && a.Comparison == nil && a.Invalid == "" {
			return nil, errors.New("it has neither an answer nor a reason why there is none")
		}
		return &a, nil
	}
	var err error
	a.Advice.Dismissed, err = all[recommend.Dismissal](decoder, a.Dismissals)
	return &a, err
}

// Worker is the other side of Process: it reads a request from in, works out what is asked, with a judge, and writes the answer to out. An error means that
// no answer could be given.
func Worker(in io.Reader, out io.Writer, judge recommend.Judge) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // should the machine run out of memory, this is the first to go
	task, file, from, err := readRequest(json.NewDecoder(in), judge)
	if err != nil {
		return fmt.Errorf("round: the worker was sent no request: %w", err)
	}
	a := made(task, file, from)
	a.Version = version
	to := buffered(out)
	encoder := json.NewEncoder(to)
	var dismissed []recommend.Dismissal
	if a.Advice != nil {
		dismissed, a.Advice.Dismissed = a.Advice.Dismissed, nil
		a.Dismissals = len(dismissed)
	}
	if err := errors.Join(encoder.Encode(a), each(encoder, dismissed), to.Flush()); err != nil {
		return fmt.Errorf("round: the worker can not answer: %w", err)
	}
	return nil
}

// ServeIfWorker is for programs without a hidden command, tests above all: called first thing in main or TestMain, it does nothing in an ordinary
// process, and in one that a Process started it works and exits.
func ServeIfWorker(judge recommend.Judge) {
	if os.Getenv(workerVariable) == "" {
		return
	}
	if err := Worker(os.Stdin, os.Stdout, judge); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// readRequest reads what a round is made of, with a solver.
func readRequest(from *json.Decoder, judge recommend.Judge) (task, file string, in *recommend.Input, err error) {
	var r request
	if err := from.Decode(&r); err != nil {
		return "", "", nil, err
	}
	if r.Version != version || r.Snapshot == nil {
		return "", "", nil, fmt.Errorf("it is for %q, this is %q: parent and worker must be the same program", r.Version, version)
	}
	in = &recommend.Input{
		Snapshot: r.Snapshot, Schema: r.Schema, Statistics: r.Statistics, Nodes: r.Nodes, Driver: r.Driver, Limits: r.Limits, Thresholds: r.Thresholds, At: r.At, DataKeyspace: r.DataKeyspace,
		Cache: &recommend.CalendarCache{}, Solver: solve.New(solve.Config{Path: r.Solver, Memory: r.Memory}), Shown: r.Shown, Declined: r.Declined,
	}
	if in.Corrections, err = correction.Parse("corrections", []byte(r.Corrections)); err != nil {
		return "", "", nil, err
	}
	if r.Judged {
		in.Judge = judge
	}
	if r.Cost != nil {
		if in.Cost, err = cost.NewCassandra(*r.Cost); err != nil {
			return "", "", nil, err
		}
	}
	if in.Snapshot.Statements, err = all[capture.Statement](from, r.Statements); err != nil {
		return "", "", nil, err
	}
	if p := r.Past; p != nil {
		in.Past = &recommend.Past{Report: p.Report, Counts: p.Counts, Statistics: p.Statistics}
		if p.Counts != nil {
			if p.Counts.Statements, err = all[capture.Statement](from, p.Statements); err != nil {
				return "", "", nil, err
			}
		}
	}
	in.Cache.Restore(r.Page, in.Past)
	return r.Task, r.File, in, nil
}

// made works out what is asked, whatever happens.
func made(task, file string, in *recommend.Input) (a *answer) {
	defer func() {
		if v := recover(); v != nil {
			a = &answer{Panic: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	var err error
	a = &answer{}
	switch task {
	case toLint:
		a.Report, err = lint.LiveCorrected(context.Background(), in.Snapshot, in.Schema, in.Statistics, in.Corrections)
	case toWeigh:
		a.Workload, err = infer.WeighedCorrected(context.Background(), in.Snapshot, in.Schema, in.Statistics, in.Corrections, in.Past.Report.Cycle)
		a.Empty = errors.Is(err, infer.ErrNoStatement)
	case toCompare:
		a.Comparison, err = infer.Compare(context.Background(), in.Snapshot, in.Schema, in.Statistics, in.Corrections, file)
		if invalid := new(infer.InvalidError); errors.As(err, &invalid) {
			return &answer{Invalid: invalid.Text}
		}
	default:
		a.Advice, err = recommend.Make(context.Background(), *in)
		a.Page = in.Cache.State(in.Past)
	}
	if err != nil && !a.Empty {
		return &answer{Failure: err.Error()}
	}
	return a
}
