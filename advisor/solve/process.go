package solve

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
)

// Errors that a caller may decide on.
var (
	// ErrMemory: the solve needed more than Config.Memory. Allow more, or solve a smaller problem.
	ErrMemory = errors.New("solve: out of memory")
	// ErrNoSimplex: there is no helenus-solver (*MissingError says why), so no linear programming. Relaxations are not to be had.
	ErrNoSimplex = errors.New("solve: no linear programming")
	// ErrNested: a worker was asked to start a worker: the program does not call Worker when started
	// as one, and began its ordinary work instead.
	ErrNested = errors.New("solve: a solver worker may not start another: the program must call coin.ServeIfWorker first")

	errWorker = errors.New("solve: the engine failed")
)

// WorkerError says that the child process failed: it did not start, died, or answered with a failure. The parent is
// unharmed, and no other solve is.
type WorkerError struct {
	Path  string // the program
	What  string // what happened
	Words string // the end of what the child wrote to standard error
	Err   error  // the cause: ErrMemory, ErrNoSimplex, *exec.ExitError, ...
	// Found is the best solution that it had told of by then, checked; nil: none. It holds whatever became of the child.
	Found *Solution
}

func (e *WorkerError) Error() string {
	text := fmt.Sprintf("solve: worker %s: %s: %v", e.Path, e.What, e.Err)
	if e.Words != "" {
		text += "; it last said: " + e.Words
	}
	return text
}

// Unwrap returns the cause.
func (e *WorkerError) Unwrap() error { return e.Err }

// Config says how workers are started. The zero value finds helenus-solver by itself, and gives it 2 GiB.
type Config struct {
	Path   string   // the program; empty to look for it, see Ready
	Env    []string // additions to its environment, NAME=value
	Memory int64    // bytes it may take beyond what it has when it starts; zero for 2 GiB, negative for no limit
}

// Process is the Solver that does each solve in a child process. It may be used by several goroutines at once: each
// solve has its own child. Without a helenus-solver, the Heuristic answers in this process.
type Process struct {
	config Config

	mu      sync.Mutex
	path    string        // of the solver, once it was found
	missing *MissingError // why there is none, once it was looked for in vain, or refused
}

// New returns a Process. Nothing is looked for or started yet.
func New(config Config) *Process { return &Process{config: config} }

const (
	defaultMemory = 2 << 30
	// grace is what a worker gets beyond Limits.Wall to come back by itself, before it is killed. It stops within a
	// tenth of a second, unless it is inside one long linear program.
	grace = 3 * time.Second
	// patience is how long a worker that is asked to stop may take before it is killed.
	patience = 300 * time.Millisecond
)

// Solve implements Solver. When ctx ends the child is asked to come back with what it has, and killed soon after.
func (w *Process) Solve(ctx context.Context, p *Problem, limits Limits) (*Solution, error) {
	return w.Watch(ctx, p, limits, func(Progress) {})
}

// Watch implements Watched.
func (w *Process) Watch(ctx context.Context, p *Problem, limits Limits, watch func(Progress)) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := limits.validate(); err != nil {
		return nil, err
	}
	began := time.Now()
	inner := ctx
	if limits.Wall > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limits.Wall+grace)
		defer cancel()
	}
	last, incumbent, err := w.callWorker(inner, &request{Problem: *p, Limits: limits}, watch)
	left := limits
	if left.Wall > 0 {
		left.Wall = max(left.Wall-time.Since(began), time.Millisecond)
	}
	if none := (*MissingError)(nil); errors.As(err, &none) {
		return w.solveWithoutEngine(ctx, p, left)
	}
	if engineCrashed(err) && inner.Err() == nil {
		former := incumbent
		if last, incumbent, err = w.callWorker(inner, &request{Problem: *p, Limits: left, Preprocess: true}, watch); incumbent == nil {
			incumbent = former
		}
	}
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		// Past the wall and the grace: the incumbent that it sent before it got stuck is what there is.
		s := NewSolution(p, Stopped, nil, p.Floor(), EngineHeuristic)
		if incumbent != nil {
			s = NewSolution(p, Stopped, incumbent.Values, p.Floor(), EngineHeuristic)
		}
		s.Limit = LimitWall
		return checkSolution(p, s)
	}
	if err != nil && ctx.Err() != nil && incumbent != nil && incumbent.Values != nil {
		s := NewSolution(p, Stopped, incumbent.Values, p.Floor(), EngineHeuristic)
		s.Limit = LimitCancelled
		return checkSolution(p, s)
	}
	if err != nil {
		var fault *WorkerError
		if errors.As(err, &fault) && incumbent != nil && incumbent.Values != nil && p.Check(incumbent.Values) == nil {
			fault.Found = NewSolution(p, Stopped, incumbent.Values, p.Floor(), EngineHeuristic)
		}
		return nil, err
	}
	if last.Solution == nil {
		return nil, w.workerError("answered without a solution", "", errWorker)
	}
	if s := last.Solution; ctx.Err() != nil && s.Status == Stopped && s.Limit == LimitWall {
		if s.Limit = LimitCancelled; s.Values == nil {
			return nil, fmt.Errorf("solve: stopped: %w", ctx.Err())
		}
	}
	return checkSolution(p, last.Solution)
}

// solveWithoutEngine is the heuristic's answer. What it panics with is an error, as it is of a child.
func (w *Process) solveWithoutEngine(ctx context.Context, p *Problem, limits Limits) (s *Solution, err error) {
	defer guard.RecoverTo(guard.Advice, &err)
	if err := w.checkMemory(p); err != nil {
		return nil, err
	}
	return Heuristic{}.Solve(ctx, p, limits)
}

// Relax solves p without its integer conditions, in a child process like Solve, and returns duals and ranges. The error
// may be ErrNoSimplex: a *MissingError then.
func (w *Process) Relax(ctx context.Context, p *Problem) (*Relaxation, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	last, _, err := w.callWorker(ctx, &request{Problem: *p, Relax: true}, func(Progress) {})
	if err != nil {
		return nil, err
	}
	if last.Relaxation == nil {
		return nil, w.workerError("answered without a relaxation", "", errWorker)
	}
	return last.Relaxation, nil
}

// checkSolution checks the values once more on this side: what is acted on is never worse than feasible.
func checkSolution(p *Problem, s *Solution) (*Solution, error) {
	if s.Values == nil {
		return s, nil
	}
	if err := p.Check(s.Values); err != nil {
		return nil, fmt.Errorf("solve: the worker's answer does not hold: %w", err)
	}
	return s, nil
}

// callWorker runs one child from start to end and returns its last reply, and the incumbent if one came, also with an error.
func (w *Process) callWorker(ctx context.Context, r *request, watch func(Progress)) (last reply, incumbent *Solution, err error) {
	if os.Getenv(workerVariable) != "" {
		return reply{}, nil, ErrNested
	}
	if err := ctx.Err(); err != nil {
		return reply{}, nil, fmt.Errorf("solve: not begun: %w", err)
	}
	r.Version, r.Memory = Protocol, w.memoryBound()
	if err := w.checkMemory(&r.Problem); err != nil {
		return reply{}, nil, err
	}
	path, missing := w.programPath()
	if missing != nil {
		return reply{}, nil, missing
	}
	// The child dies with the thread that started it (its parent death signal), so this thread stays until the end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	words := &tail{}
	command := w.workerCommand(ctx, path, words)
	in, err := command.StdinPipe()
	if err != nil {
		return reply{}, nil, w.workerError("could not be started", "", err)
	}
	sent := make(chan *gob.Encoder, 1) // once the request is with the child
	command.Cancel = func() error {
		select {
		case encoder := <-sent:
			return encoder.Encode(stop{Now: true})
		default:
			return command.Process.Kill()
		}
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return reply{}, nil, w.workerError("could not be started", "", err)
	}
	if err := command.Start(); err != nil {
		return reply{}, nil, w.rememberMissing(&MissingError{path, "can not be started: " + err.Error()})
	}
	lowerPriority(command.Process.Pid)

	guard.Go(guard.Advice, func() { // the child may die without reading; what it says or does not say then tells
		encoder := gob.NewEncoder(in)
		if encoder.Encode(r) == nil {
			sent <- encoder
		}
	}, nil)

	last, incumbent, readErr := readReplies(out, watch)
	_ = in.Close()
	if readErr != nil {
		_ = command.Process.Kill() // it may go on forever: a program that is no worker
	}
	late := time.AfterFunc(grace, func() { _ = command.Process.Kill() }) // it has answered, and has only to end
	defer late.Stop()
	waitErr := command.Wait()
	var stranger *strangerError
	switch {
	case ctx.Err() != nil && readErr != nil:
		return reply{}, incumbent, fmt.Errorf("solve: stopped: %w", ctx.Err())
	case last.Failure != "":
		return reply{}, incumbent, w.workerError("reports", words.String(), &reported{last.Failure, causes[knownCause(last.Cause)]})
	case errors.As(readErr, &stranger):
		return reply{}, nil, w.rememberMissing(stranger.missingError(path, words.String(), waitErr))
	case readErr != nil:
		return reply{}, incumbent, w.workerError("died", words.String(), causeOfDeath(waitErr, readErr, words.String()))
	}
	return last, incumbent, nil
}

// workerCommand is the solver as a worker.
func (w *Process) workerCommand(ctx context.Context, path string, words io.Writer) *exec.Cmd {
	command := exec.CommandContext(ctx, path) // #nosec G204 -- the operator's own configuration
	command.Env = append(workerEnvironment(), w.config.Env...)
	command.Stderr = words
	command.SysProcAttr = processAttributes()
	command.WaitDelay = patience // also should a grandchild hold the pipes
	return command
}

// memoryBound is the bound on a worker's memory, 0 for none.
func (w *Process) memoryBound() int64 {
	if w.config.Memory == 0 {
		return defaultMemory
	}
	return max(0, w.config.Memory)
}

// checkMemory returns an error for a problem that takes more than the bound by itself.
func (w *Process) checkMemory(p *Problem) error {
	if need, bound := memoryNeed(p), w.memoryBound(); bound > 0 && need > bound {
		return fmt.Errorf("%w: the problem alone takes about %d bytes, the bound is %d", ErrMemory, need, bound)
	}
	return nil
}

// memoryNeed is about what a worker needs before the engine begins, in bytes. With less the Go runtime itself would run
// into the bound, and it dies of that in unclear ways; the engine's own want is told clearly.
func memoryNeed(p *Problem) int64 {
	terms := 0
	for _, r := range p.Rows {
		terms += len(r.Terms)
	}
	return 16<<20 + 128*int64(terms) + 512*int64(len(p.Columns)+len(p.Rows))
}

// workerEnvironment is what a worker needs and no more: the parent's may hold passwords. One thread for the linear algebra,
// as more make answers depend on the machine.
func workerEnvironment() []string {
	env := []string{workerVariable + "=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "GOTRACEBACK=single"}
	if os.Getenv("GORACE") == "" {
		env = append(env, "GORACE=atexit_sleep_ms=0") // a worker under the race detector would sleep a second at its end
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "GOCOVERDIR", "GORACE"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// readReplies reads until the reply that ends the call: a result or a failure.
func readReplies(out io.Reader, watch func(Progress)) (last reply, incumbent *Solution, err error) {
	decoder := gob.NewDecoder(out)
	if err := readGreeting(decoder); err != nil {
		return reply{}, nil, err
	}
	for {
		last = reply{}
		if err := decoder.Decode(&last); err != nil {
			return reply{}, incumbent, err
		}
		switch {
		case last.Incumbent != nil:
			incumbent = last.Incumbent
		case last.Progress != nil:
			watch(*last.Progress)
		default:
			return last, incumbent, nil
		}
	}
}

func (w *Process) workerError(what, words string, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &WorkerError{Path: w.path, What: what, Words: words, Err: err}
}

// causeOfDeath names the cause of a child's end. The Go runtime, the C++ library and the allocator each have their own words
// for a memory limit.
func causeOfDeath(waitErr, readErr error, words string) error {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "bad_alloc", "Cannot allocate memory", "pthread_create failed"} {
		if strings.Contains(words, sign) {
			return ErrMemory
		}
	}
	if waitErr != nil {
		return waitErr
	}
	return readErr
}

// engineCrashed reports whether the engine came upon something that it holds impossible, and ended its process, or touched memory that it may not. CLP 1.17 does so now and then, in one of the
// many linear programs that branching asks for (ClpNonLinearCost: "lowerValue <= upperValue"). The same problem, preprocessed, is solved: two of TPC-H's with 4,200 columns, which were left as they are,
// died after three and six seconds, and were proven in thirteen and eight; without probing one died again, and without perturbation one was not proven. Memory it touched
// once in eight of exact mode's runs, and not again when asked the same.
func engineCrashed(err error) bool {
	var fault *WorkerError
	return errors.As(err, &fault) && (strings.Contains(fault.Words, "Assertion `") || strings.Contains(fault.Words, "SIGSEGV"))
}

// reported is a failure in the worker's words, with its cause.
type reported struct {
	text string
	err  error
}

func (e *reported) Error() string { return e.text }
func (e *reported) Unwrap() error { return e.err }

func knownCause(c cause) cause {
	if c < 0 || int(c) >= len(causes) {
		return causeOther
	}
	return c
}

// tail keeps the first and the last kilobytes of what is written to it: the first words of a crash say why, the last
// where.
type tail struct{ first, last []byte }

const tailSize = 1 << 11

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	room := min(tailSize-len(t.first), len(b))
	t.first, b = append(t.first, b[:room]...), b[room:]
	t.last = append(t.last, b...)
	if excess := len(t.last) - tailSize; excess > 0 {
		t.last = append(t.last[:0], t.last[excess:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	text := string(t.first)
	if len(t.last) > 0 {
		text += " ... " + string(t.last)
	}
	return strings.ToValidUTF8(strings.TrimSpace(text), "?")
}
