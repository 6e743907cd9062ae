package solve

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/helenus-db/helenus/internal/guard"
)

// The messages between parent and worker: one request, then replies, each side one gob stream. The first reply is a
// greeting, so that the parent knows a worker from a program that merely prints; then, perhaps, an incumbent; then the
// result.
const greeting = "helenus solve worker 1"

type request struct {
	Version    string // greeting, too
	Problem    Problem
	Limits     Limits
	Relax      bool
	Preprocess bool  // by the engine itself, which died of the problem as it is
	Memory     int64 // bytes, zero for no limit
}

// stop is what the parent may send after the request: come back with what there is.
type stop struct{ Now bool }

type reply struct {
	Greeting   string
	Incumbent  *Solution
	Progress   *Progress
	Solution   *Solution
	Relaxation *Relaxation
	Failure    string
	Cause      cause
}

// cause carries a sentinel error over to the parent.
type cause int

const (
	causeOther cause = iota
	causeMemory
	causeNoSimplex
)

var causes = [...]error{causeOther: errWorker, causeMemory: ErrMemory, causeNoSimplex: ErrNoSimplex}

// workerVariable is set in the environment of every worker.
const workerVariable = "HELENUS_SOLVE_WORKER"

// Worker is the other side of New: it reads one request from in, solves, and writes the replies to out. The hidden
// command calls it with the standard input and output. If out is a file, its descriptor is given a new number and the
// old one is pointed at standard error, for good: the libraries print to standard output where they should not, which
// must not end up among the replies. An error means that no reply could be given, since in was no request or out
// failed; a failed solve is a reply.
func Worker(in io.Reader, out io.Writer) error {
	if f, ok := out.(*os.File); ok {
		clean, err := divert(f)
		if err != nil {
			return fmt.Errorf("solve: worker cannot set its output aside: %w", err)
		}
		defer func() { _ = clean.Close() }()
		out = clean
	}
	buffered := bufio.NewWriter(out)
	encoder := gob.NewEncoder(buffered)
	var sending sync.Mutex // progress comes from another goroutine
	send := func(r reply) error {
		sending.Lock()
		defer sending.Unlock()
		if err := encoder.Encode(r); err != nil {
			return fmt.Errorf("solve: worker cannot answer: %w", err)
		}
		return buffered.Flush()
	}
	if err := send(reply{Greeting: greeting}); err != nil {
		return err
	}
	decoder := gob.NewDecoder(in)
	r, err := decodeRequest(decoder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	guard.Go(guard.Advice, func() { // ends with the process at the latest
		var s stop
		if decoder.Decode(&s) == nil && s.Now {
			cancel()
		}
	}, nil)
	if err := limitMemory(r.Memory); err != nil {
		return send(failed(fmt.Errorf("solve: worker cannot limit its memory to %d bytes: %w", r.Memory, err)))
	}
	return send(answer(ctx, r, func(s *Solution) error { return send(reply{Incumbent: s}) }, func(p Progress) {
		_ = send(reply{Progress: &p}) // the answer will fail, too, and say so
	}))
}

// ServeIfWorker is for programs without a hidden command, tests above all: called first thing in main or TestMain, it
// does nothing in an ordinary process, and in one that New started it works and exits.
func ServeIfWorker() {
	if os.Getenv(workerVariable) == "" {
		return
	}
	if err := Worker(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func decodeRequest(in *gob.Decoder) (*request, error) {
	var r request
	if err := in.Decode(&r); err != nil {
		return nil, fmt.Errorf("solve: worker was sent no request: %w", err)
	}
	if r.Version != greeting {
		return nil, fmt.Errorf("solve: worker %q was sent a request for %q: parent and worker must be the same program", greeting, r.Version)
	}
	return &r, nil
}

// answer turns a request into a reply, whatever happens.
func answer(ctx context.Context, r *request, incumbent func(*Solution) error, watch func(Progress)) (out reply) {
	defer func() {
		if v := recover(); v != nil { // a fault of ours or a binding's: tell it apart from a crash
			out = failed(fmt.Errorf("solve: worker panicked: %v", v))
		}
	}()
	if err := r.Problem.Validate(); err != nil {
		return failed(err)
	}
	if err := r.Limits.validate(); err != nil {
		return failed(err)
	}
	if r.Relax {
		x, err := relax(&r.Problem)
		if err != nil {
			return failed(err)
		}
		return reply{Relaxation: x}
	}
	s, err := solveHere(ctx, r, incumbent, watch)
	if err != nil {
		return failed(err)
	}
	return reply{Solution: s}
}

func failed(err error) reply {
	out := reply{Failure: err.Error()}
	for c, e := range causes {
		if errors.Is(err, e) {
			out.Cause = cause(c)
		}
	}
	return out
}

// solveHere solves in this process: the heuristic first, for a start, then the exact engine if the build has one.
func solveHere(ctx context.Context, r *request, incumbent func(*Solution) error, watch func(Progress)) (*Solution, error) {
	p, limits := &r.Problem, r.Limits
	if limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limits.Wall)
		defer cancel()
	}
	if s := trivial(p); s != nil {
		return s, nil
	}
	start, feasible := search(ctx, p, effort)
	if !feasible {
		return newSolution(p, Infeasible, nil, 0, EngineHeuristic), nil
	}
	if start != nil {
		if err := incumbent(newSolution(p, Unproven, start, p.floor(), EngineHeuristic)); err != nil {
			return nil, err
		}
	}
	return exact(ctx, r, start, watch)
}
