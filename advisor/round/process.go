// Package round works a round of advice out in a process of its own, so that no number of statements or tables, and no defect of what advises, can fill
// the memory of the process that applications' requests go through, or take its processors:
//
//	relay's process                           child (the same program, nice 10, GOMEMLIMIT)
//	  recommend.Input, as data    --stdin-->    recommend.Make, with a Judge and a solver of its own
//	  recommend.Advice            <--stdout--   advice and cache,  as data
//	  looks at the child's memory and at the clock, and kills it beyond the bounds
//
// Both sides speak JSON: what advice is kept and told in, so it is the same advice either way (a test compares the bytes). Long lists go one element
// at a time, so that neither side holds the whole text. The child ends with its parent (internal/child).
//
// A child that dies, hangs, takes too much or says something else is an Error; what was advised before is the caller's to keep. Linting what was
// captured, which tries its fixes on made rows, and making a workload of it are done in the same way.
//
// It imports advisor/recommend, what recommend.Input is made of, advisor/infer, advisor/lint, internal/child and internal/guard.
package round

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/child"
	"github.com/helenus-db/helenus/internal/guard"
)

// Why a round failed, if it was not the advice itself.
var (
	ErrMemory = errors.New("it took more memory than it may")
	ErrTime   = errors.New("it took longer than it may")
	ErrWorker = errors.New("its process failed")
)

// Error says what became of a round. It is ErrMemory, ErrTime or ErrWorker.
type Error struct {
	Is    error
	What  string // in one sentence, with what to do
	Words string // what the child wrote to standard error, or where it panicked; lines
}

func (e *Error) Error() string {
	text := e.What
	if first, _, _ := strings.Cut(e.Words, "\n"); first != "" {
		text += "; it said: " + first
	}
	return text
}

// Unwrap returns what it is.
func (e *Error) Unwrap() error { return e.Is }

// Config bounds rounds. The zero value starts the running program again with the argument "advise-worker".
type Config struct {
	Path   string        // the program; empty for the running one, also where its file was replaced since
	Args   []string      // its arguments; nil for "advise-worker"
	Env    []string      // additions to its environment, NAME=value
	Memory int64         // bytes that it may take, and each of its solvers beside; 0: 512 MiB
	Time   time.Duration // that a round may take; 0: 10 minutes
	Solver string        // the path of solve.Config
}

// Process works rounds out, each in a child of its own.
type Process struct{ config Config }

// New returns a Process. Nothing is started yet.
func New(c Config) *Process {
	if c.Path == "" {
		c.Path = "/proc/self/exe"
	}
	if c.Args == nil {
		c.Args = []string{"advise-worker"}
	}
	if c.Memory <= 0 {
		c.Memory = 512 << 20
	}
	if c.Time <= 0 {
		c.Time = 10 * time.Minute
	}
	return &Process{c}
}

// Possible says why rounds can not have a process of their own here; nil: they can.
func Possible() error { return child.Watched() }

const (
	niceness = 10                    // a busy processor has nine shares for the relay to one for a round
	look     = 20 * time.Millisecond // between looks at the child's memory
	grace    = time.Second           // for a child to end that has answered
)

// Make is recommend.Make in a process of its own. The Judge and the Solver of in are not asked: the worker has its own, the Judge if in has one.
func (p *Process) Make(ctx context.Context, in recommend.Input) (*recommend.Advice, error) {
	if in.Snapshot == nil || in.Schema == nil {
		return nil, errors.New("round: snapshot and schema are required")
	}
	if in.Cache == nil {
		in.Cache = &recommend.CalendarCache{}
	}
	a, err := p.ask(ctx, toAdvise, &in, "")
	if err != nil {
		return nil, fmt.Errorf("no advice: %w", err)
	}
	in.Cache.Restore(a.Page, in.Past)
	return a.Advice, nil
}

// Lint is lint.LiveCorrected in a process of its own.
func (p *Process) Lint(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, said correction.List) (*lint.Report, error) {
	a, err := p.ask(ctx, toLint, &recommend.Input{Snapshot: snapshot, Schema: s, Statistics: stats, Corrections: said, Cache: &recommend.CalendarCache{}}, "")
	if err != nil {
		return nil, fmt.Errorf("not linted: %w", err)
	}
	return a.Report, nil
}

// Weigh is infer.WeighedCorrected in a process of its own.
func (p *Process) Weigh(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, said correction.List, c *cycle.Cycle) (string, error) {
	past := &recommend.Past{Report: &cycle.Report{Cycle: c}}
	a, err := p.ask(ctx, toWeigh, &recommend.Input{Snapshot: snapshot, Schema: s, Statistics: stats, Corrections: said, Past: past, Cache: &recommend.CalendarCache{}}, "")
	switch {
	case err != nil:
		return "", fmt.Errorf("not weighed: %w", err)
	case a.Empty:
		return "", infer.ErrNoStatement
	}
	return a.Workload, nil
}

// Compare is infer.Compare in a process of its own.
func (p *Process) Compare(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, inForce correction.List, file string) (*infer.Comparison, error) {
	a, err := p.ask(ctx, toCompare, &recommend.Input{Snapshot: snapshot, Schema: s, Statistics: stats, Corrections: inForce, Cache: &recommend.CalendarCache{}}, file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no model file: %w", err)
	case a.Invalid != "":
		return nil, &infer.InvalidError{Text: a.Invalid}
	}
	return a.Comparison, nil
}

// ask has a child work out what is asked of in.
func (p *Process) ask(ctx context.Context, task string, in *recommend.Input, file string) (*answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	said := &words{}
	c, to, from, err := p.start(said)
	if err != nil {
		return nil, &Error{ErrWorker, "the process for it could not be started: " + err.Error(), ""}
	}
	c.Nice(niceness)
	var (
		sent, read        = make(chan struct{}), make(chan struct{})
		sending, received error
		a                 *answer
	)
	guard.Go(guard.Advice, func() {
		defer close(sent)
		sending = errors.Join(guard.Do(guard.Advice, func() error { return send(to, task, in, file, p.config) }), to.Close())
	}, nil)
	guard.Go(guard.Advice, func() {
		defer close(read)
		received = guard.Do(guard.Advice, func() (err error) {
			a, err = receive(&bounded{from, p.config.Memory / 8})
			return err
		})
	}, nil)
	killed := p.watch(ctx, c, read)
	if killed != nil {
		c.Kill()
	}
	<-read
	if received != nil && !cutOff(received) {
		c.Kill() // it may go on forever: a program that is no worker
	}
	byOther := true
	select {
	case <-c.Done():
	case <-time.After(grace):
		c.Kill()
		<-c.Done()
		byOther = false
	}
	_ = from.Close()
	<-sent
	switch {
	case killed != nil:
		return nil, killed
	case received != nil && sending != nil && !errors.Is(sending, syscall.EPIPE):
		return nil, &Error{ErrWorker, "what it is made of could not be sent: " + sending.Error(), said.String()}
	case received != nil:
		return nil, death(c.Wait(), byOther, received, said.String())
	case a.Panic != "":
		return nil, &Error{ErrWorker, "working it out panicked; this is a defect, please report it with the log: the proxy is not affected", a.Panic + "\n" + a.Stack}
	case a.Failure != "":
		return nil, errors.New(a.Failure)
	}
	return a, nil
}

// start starts the child, and returns the ends of the pipes to it and from it.
func (p *Process) start(words io.Writer) (c *child.Process, to, from *os.File, err error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() { _ = in.Close() }()
	from, out, err := os.Pipe()
	if err != nil {
		_ = to.Close()
		return nil, nil, nil, err
	}
	defer func() { _ = out.Close() }()
	command := exec.Command(p.config.Path, p.config.Args...) // #nosec G204 -- the operator's own program
	command.Env = append(p.environment(), p.config.Env...)
	command.Stdin, command.Stdout, command.Stderr = in, out, words
	command.WaitDelay = grace // should a grandchild hold standard error
	if c, err = child.Start(command); err != nil {
		_, _ = to.Close(), from.Close()
		return nil, nil, nil, err
	}
	return c, to, from, nil
}

// environment is what a worker needs and no more: the parent's may hold passwords. The collector works harder from four fifths of the bound on: what is not the heap's, the program itself and
// what the collector is late with on a busy machine, is counted by the bound, too.
func (p *Process) environment() []string {
	env := []string{workerVariable + "=1", fmt.Sprintf("GOMEMLIMIT=%d", p.config.Memory/10*8), "GOTRACEBACK=single"}
	if os.Getenv("GORACE") == "" {
		env = append(env, "GORACE=atexit_sleep_ms=0") // a worker under the race detector would sleep a second at its end
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "TZ", "ZONEINFO", "GOCOVERDIR", "GORACE", solve.Variable} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// watch waits until the child has said all that it will: nil. Or until it may not go on: why.
func (p *Process) watch(ctx context.Context, c *child.Process, answered <-chan struct{}) error {
	end := time.NewTimer(p.config.Time)
	defer end.Stop()
	looks := time.NewTicker(look)
	defer looks.Stop()
	for {
		select {
		case <-answered:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stopped: %w", ctx.Err())
		case <-end.C:
			return &Error{ErrTime, fmt.Sprintf("the round was ended after %v: allow it more (advise-time), or advise on fewer keyspaces (keyspaces)", p.config.Time), ""}
		case <-looks.C:
			if n, err := c.Resident(); err == nil && n > p.config.Memory {
				return &Error{ErrMemory, fmt.Sprintf("the round was ended when it took %d MiB of memory, more than %d: allow it more (advise-memory), or advise on fewer keyspaces (keyspaces)",
					n>>20, p.config.Memory>>20), ""}
			}
		}
	}
}

// cutOff tells whether an answer ended before its end.
func cutOff(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// death names the cause of the end of a child that did not answer.
func death(ended error, byOther bool, read error, words string) error {
	for _, sign := range []string{"out of memory", "cannot allocate memory"} { // the Go runtime's words
		if strings.Contains(words, sign) {
			return &Error{ErrMemory, "the process for it found no more memory: give the machine more, or bound the round (advise-memory)", words}
		}
	}
	if !cutOff(read) {
		return &Error{ErrWorker, "the process for it answered what is no answer: " + read.Error(), words}
	}
	var exit *exec.ExitError
	if byOther && errors.As(ended, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return &Error{ErrWorker, "the process for it was killed by another; of the kernel's killing because the machine has no more memory the kernel's log tells", words}
		}
	}
	return &Error{ErrWorker, fmt.Sprintf("the process for it ended without an answer (%v)", ended), words}
}

// bounded is a reader that says so when it has read too much.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(to []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the answer is longer than an eighth of the memory that a round may take (advise-memory)")
	}
	n, err := b.from.Read(to[:min(int64(len(to)), b.left)])
	b.left -= int64(n)
	return n, err
}

// words keeps the first kilobytes of what is written to it: the first words of a crash say why.
type words struct{ text []byte }

const most = 4 << 10

// Write implements io.Writer.
func (w *words) Write(b []byte) (int, error) {
	w.text = append(w.text, b[:min(most-len(w.text), len(b))]...)
	return len(b), nil
}

// String is what is kept. The child has ended.
func (w *words) String() string { return strings.ToValidUTF8(strings.TrimSpace(string(w.text)), "?") }

// buffered is a writer in larger pieces.
func buffered(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }
