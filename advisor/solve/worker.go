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

// Protocol is what both sides must speak. The messages between parent and worker: one request, then replies, each side one gob stream. The first reply is a
// greeting, which is this, so that the parent knows a worker from a program that merely prints, and from one of another release; then, perhaps, an incumbent; then the
// result. Its number changes with the messages, and with what a problem means (TestProtocol).
const Protocol = "helenus-solver protocol 2"

// Engine is what helenus-solver adds to this package: package coin.
type Engine interface {
	// Solve solves an integer program to the optimum or a limit; the wall is in ctx. start is nil or a feasible solution. preprocess is asked for where the engine died of
	// the problem as it is.
	Solve(ctx context.Context, p *Problem, limits Limits, preprocess bool, start []float64, watch func(Progress)) (*Solution, error)
	// Relax solves p without its integer conditions.
	Relax(p *Problem) (*Relaxation, error)
}

// startEffort is the heuristic's when it only makes a start: the engine takes it from there.
const startEffort = 2_000_000

type request struct {
	Version    string // Protocol, too
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
)

var causes = [...]error{causeOther: errWorker, causeMemory: ErrMemory}

// workerVariable is set in the environment of every worker.
const workerVariable = "HELENUS_SOLVE_WORKER"

// IsWorker reports whether this process was started as a worker.
func IsWorker() bool { return os.Getenv(workerVariable) != "" }

// Worker is the other side of New: it reads one request from in, solves, and writes the replies to out. If out is a file, its descriptor is given a new number and the
// old one is pointed at standard error, for good: the libraries print to standard output where they should not, which
// must not end up among the replies. An error means that no reply could be given, since in was no request or out
// failed; a failed solve is a reply.
func Worker(in io.Reader, out io.Writer, engine Engine) error {
	if f, ok := out.(*os.File); ok {
		clean, err := divertOutput(f)
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
	if err := send(reply{Greeting: Protocol}); err != nil {
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
		return send(failureReply(fmt.Errorf("solve: worker cannot limit its memory to %d bytes: %w", r.Memory, err)))
	}
	return send(answerRequest(ctx, engine, r, func(s *Solution) error { return send(reply{Incumbent: s}) }, func(p Progress) {
		_ = send(reply{Progress: &p}) // the answer will fail, too, and say so
	}))
}

func decodeRequest(in *gob.Decoder) (*request, error) {
	var r request
	if err := in.Decode(&r); err != nil {
		return nil, fmt.Errorf("solve: worker was sent no request: %w", err)
	}
	if r.Version != Protocol {
		return nil, fmt.Errorf("solve: worker %q was sent a request for %q: helenus and helenus-solver must be of one release", Protocol, r.Version)
	}
	return &r, nil
}

// answerRequest turns a request into a reply, whatever happens.
func answerRequest(ctx context.Context, engine Engine, r *request, incumbent func(*Solution) error, watch func(Progress)) (out reply) {
	defer func() {
		if v := recover(); v != nil { // a fault of ours or a binding's: tell it apart from a crash
			out = failureReply(fmt.Errorf("solve: worker panicked: %v", v))
		}
	}()
	if err := r.Problem.Validate(); err != nil {
		return failureReply(err)
	}
	if err := r.Limits.validate(); err != nil {
		return failureReply(err)
	}
	if r.Relax {
		x, err := engine.Relax(&r.Problem)
		if err != nil {
			return failureReply(err)
		}
		return reply{Relaxation: x}
	}
	s, err := solveHere(ctx, engine, r, incumbent, watch)
	if err != nil {
		return failureReply(err)
	}
	return reply{Solution: s}
}

func failureReply(err error) reply {
	out := reply{Failure: err.Error()}
	for c, e := range causes {
		if errors.Is(err, e) {
			out.Cause = cause(c)
		}
	}
	return out
}

// solveHere solves in this process: the heuristic first, for a start, then the engine.
func solveHere(ctx context.Context, engine Engine, r *request, incumbent func(*Solution) error, watch func(Progress)) (*Solution, error) {
	p, limits := &r.Problem, r.Limits
	if limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limits.Wall)
		defer cancel()
	}
	if s := solveTrivial(p); s != nil {
		return s, nil
	}
	start, feasible := searchSolution(ctx, p, startEffort)
	if !feasible {
		return NewSolution(p, Infeasible, nil, 0, EngineHeuristic), nil
	}
	if start != nil {
		if err := incumbent(NewSolution(p, Unproven, start, p.Floor(), EngineHeuristic)); err != nil {
			return nil, err
		}
	}
	return engine.Solve(ctx, p, limits, r.Preprocess, start, watch)
}
