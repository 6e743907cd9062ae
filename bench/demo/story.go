package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// story prints the demo as it goes: numbered steps with elapsed time, and what each program said, indented.
type story struct {
	out   io.Writer
	begun time.Time
	step  int
	mu    sync.Mutex // several programs talk at a time
}

func (s *story) heading(format string, args ...any) {
	s.step++
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "\n== %d. %s  [%s]\n", s.step, fmt.Sprintf(format, args...), s.elapsed())
}

func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimRight(fmt.Sprintf(format, args...), "\n"), "\n") {
		fmt.Fprintf(s.out, "   %s\n", line)
	}
}

func (s *story) elapsed() time.Duration { return time.Since(s.begun).Round(time.Second) }

// program is a child process of the demo.
type program struct {
	name string
	*child.Process
}

// programs are the children that run now, so that the demo can stop them all, by id, in reverse order.
type programs struct {
	story *story
	dir   string // where their logs go
	bin   string // where the binaries are
	mu    sync.Mutex
	all   []*program
}

// start runs a binary in the background with its output in a log file.
func (ps *programs) start(name string, args ...string) (*program, error) {
	return ps.startWith(name, nil, args...)
}

// startWith is start with further variables in the environment. Of a program that is started again the log goes on.
func (ps *programs) startWith(name string, env []string, args ...string) (*program, error) {
	logFile, err := os.OpenFile(filepath.Join(ps.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // our own folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }() // the child has its own
	cmd := ps.command(args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	started, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &program{name, started}
	ps.mu.Lock()
	ps.all = append(ps.all, p)
	ps.mu.Unlock()
	return p, nil
}

// run runs a binary to its end and shows what it says.
func (ps *programs) run(ctx context.Context, env []string, args ...string) error {
	_, err := ps.output(ctx, true, env, args...)
	return err
}

// output is run that also returns what was said on standard output; show tells whether it is printed too.
func (ps *programs) output(ctx context.Context, show bool, env []string, args ...string) ([]byte, error) {
	cmd := ps.command(args...)
	cmd.Env = append(os.Environ(), env...)
	var kept, complaint bytes.Buffer
	cmd.Stdout = &kept
	cmd.Stderr = &complaint
	if show {
		reader, writer := io.Pipe()
		cmd.Stdout = io.MultiWriter(&kept, writer)
		cmd.Stderr = writer
		var reading sync.WaitGroup
		reading.Go(func() {
			lines := bufio.NewScanner(reader)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				ps.story.say("%s", lines.Text())
			}
		})
		defer reading.Wait()
		defer func() { _ = writer.Close() }()
	}
	p, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	stop := context.AfterFunc(ctx, func() { p.Stop(grace) })
	defer stop()
	if err := p.Wait(); err != nil {
		return kept.Bytes(), fmt.Errorf("%s: %w %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return kept.Bytes(), nil
}

// grace is how long a program may take to end when asked to.
const grace = 15 * time.Second

func (ps *programs) command(args ...string) *exec.Cmd {
	path := args[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(ps.bin, path)
	}
	return exec.Command(path, args[1:]...) //nolint:gosec // our own binaries, and one from PATH
}

func (ps *programs) stopAll() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i := len(ps.all) - 1; i >= 0; i-- {
		p := ps.all[i]
		p.Stop(grace)
		if err := p.Wait(); err != nil {
			ps.story.say("%s ended with: %v", p.name, err)
		}
	}
	ps.all = nil
}
