package drivers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// Line is one line that a program prints.
type Line struct {
	Check, Ready string
	OK           bool
	Detail       string
	Hosts        []string
	Reads        [][2]string // token, host id
	Traces       [][2]string // token, address
	Down, Up     []string    // host ids

	Took time.Duration `json:"-"` // since the line before it
}

// Program is a program that runs.
type Program struct {
	Name  string
	Lines []Line // of checks

	process *child.Process
	stdin   io.WriteCloser
	errors  bytes.Buffer
	waiting string // the check that waits to be disturbed
	ended   bool
	last    time.Time
}

// said is a line, or the end (line is nil), of one program.
type said struct {
	program *Program
	line    *Line
}

// RunAll runs programs side by side to their end: commands gives each one's command and flags. heard, which may be nil,
// is called with each result as it comes. When all that still run wait, disturb is called with the name of the check, and
// then they go on. Error: a program that could not be started, or the end of ctx, at which all programs are killed.
func RunAll(ctx context.Context, commands map[string][]string, heard func(*Program, Line), disturb func(check string) error) ([]*Program, error) {
	events := make(chan said)
	var programs []*Program
	var readers sync.WaitGroup
	defer func() {
		for _, p := range programs {
			p.process.Kill()
		}
		go func() {
			readers.Wait()
			close(events)
		}()
		for range events { // readers end with their programs
		}
	}()
	for _, name := range Languages {
		command := commands[name]
		if command == nil {
			continue
		}
		p := &Program{Name: name, last: time.Now()}
		if err := p.start(command, events, &readers); err != nil {
			return programs, fmt.Errorf("drivers: starting the %s program: %w", name, err)
		}
		programs = append(programs, p)
	}
	for running := len(programs); running > 0; {
		select {
		case <-ctx.Done():
			return programs, fmt.Errorf("drivers: %w; %s", ctx.Err(), describe(programs))
		case s := <-events:
			switch {
			case s.line == nil:
				s.program.ended = true
				running--
			case s.line.Ready != "":
				s.program.waiting = s.line.Ready
			default:
				s.line.Took = time.Since(s.program.last)
				s.program.last = time.Now()
				s.program.Lines = append(s.program.Lines, *s.line)
				if heard != nil {
					heard(s.program, *s.line)
				}
			}
		}
		if err := goOn(programs, disturb); err != nil {
			return programs, err
		}
	}
	return programs, nil
}

// goOn disturbs, if every program that runs waits for it, and lets them go on.
func goOn(programs []*Program, disturb func(check string) error) error {
	waiting := map[string][]*Program{}
	for _, p := range programs {
		if p.ended {
			continue
		}
		if p.waiting == "" {
			return nil
		}
		waiting[p.waiting] = append(waiting[p.waiting], p)
	}
	for check, list := range waiting {
		if err := disturb(check); err != nil {
			return fmt.Errorf("drivers: disturbing for %s: %w", check, err)
		}
		for _, p := range list {
			p.waiting = ""
			_, _ = io.WriteString(p.stdin, "done\n") // a program that is gone is reported by its end
		}
	}
	return nil
}

func (p *Program) start(command []string, events chan<- said, readers *sync.WaitGroup) error {
	cmd := exec.Command(command[0], command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, write := io.Pipe() // not StdoutPipe, which Wait closes under the reader
	cmd.Stdout, cmd.Stderr, p.stdin = write, &p.errors, stdin
	cmd.WaitDelay = 2 * time.Second // for children of the program that keep its output open
	if p.process, err = child.Start(cmd); err != nil {
		return err
	}
	readers.Add(2)
	go func() {
		defer readers.Done()
		<-p.process.Done()
		_ = write.Close() // never fails
	}()
	go func() {
		defer readers.Done()
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			line := Line{}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				line = Line{Check: "output", Detail: fmt.Sprintf("not a line of JSON: %.200s", lines.Text())}
			}
			events <- said{p, &line}
		}
		_, _ = io.Copy(io.Discard, stdout) // after a line that is too long
		events <- said{p, nil}
	}()
	return nil
}

// Errors returns the end of what the program wrote to its standard error. Call it when the program has ended.
func (p *Program) Errors() string {
	text := p.errors.Bytes()
	return string(text[max(0, len(text)-3000):])
}

func describe(programs []*Program) string {
	text := ""
	for _, p := range programs {
		state := "runs the check after its " + fmt.Sprint(len(p.Lines)) + "th"
		if p.ended {
			state = "has ended"
		} else if p.waiting != "" {
			state = "waits in " + p.waiting
		}
		text += fmt.Sprintf("%s %s; ", p.Name, state)
	}
	return text
}
