package drivers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// Helenus is the real binary, running as a process of its own.
type Helenus struct {
	Listen string // host:port of the first listener

	binary, admin string
	args          []string
	process       *child.Process
	log           buffer
}

// buffer is what a process prints, to be read while it runs.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Build builds helenus into a directory, with the race detector or without.
func Build(ctx context.Context, dir string, race bool) (binary string, err error) {
	binary = filepath.Join(dir, "helenus")
	args := []string{"build", "-o", binary}
	if race {
		args = append(args, "-race")
	}
	return binary, run(ctx, "", "go", append(args, "github.com/helenus-db/helenus/cmd/helenus")...)
}

// Through prepares a helenus in front of contact points, with further flags; Start starts it.
func Through(binary, state string, contactPoints []string, flags ...string) (*Helenus, error) {
	first, err := ports(8)
	if err != nil {
		return nil, err
	}
	h := &Helenus{binary: binary, Listen: address(first), admin: address(first + 7)}
	h.args = append([]string{"run", "--contact-points", strings.Join(contactPoints, ","), "--listen", h.Listen, "--admin", h.admin,
		"--state-dir", state, "--log-level", "debug"}, flags...)
	return h, nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// ports finds ports that follow one another and are free now.
func ports(n int) (first int, err error) {
	for range 50 {
		var held []net.Listener
		first = 0
		for i := range n {
			at := 0
			if i > 0 {
				at = first + i
			}
			var l net.Listener
			if l, err = net.Listen("tcp", address(at)); err != nil {
				break
			}
			held = append(held, l)
			if i == 0 {
				first = l.Addr().(*net.TCPAddr).Port
			}
		}
		for _, l := range held {
			l.Close()
		}
		if err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("drivers: no %d free ports in a row: %w", n, err)
}

// Start starts it and waits until it is ready.
func (h *Helenus) Start(ctx context.Context) error {
	cmd := exec.Command(h.binary, h.args...)
	cmd.Stdout, cmd.Stderr = &h.log, &h.log
	var err error
	if h.process, err = child.Start(cmd); err != nil {
		return fmt.Errorf("drivers: starting helenus: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("drivers: helenus is not ready: %w", ctx.Err())
		case <-h.process.Done():
			return fmt.Errorf("drivers: helenus has ended: %w\n%s", h.process.Wait(), h.Log())
		case <-time.After(50 * time.Millisecond):
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.admin+"/readyz", nil)
		if err != nil {
			return err
		}
		if a, err := http.DefaultClient.Do(r); err == nil {
			_ = a.Body.Close() // nothing is read from it
			if a.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// Stop asks it to end, as an operator does, and waits. Error: it ended with another status than 0, or had to be killed,
// or the race detector found something.
func (h *Helenus) Stop() error {
	if !h.process.Running() {
		return nil
	}
	h.process.Terminate()
	var err error
	select {
	case <-h.process.Done():
		err = h.process.Wait()
	case <-time.After(time.Minute):
		h.process.Kill()
		err = errors.New("helenus did not end within a minute of SIGTERM")
	}
	if log := h.log.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") {
		at := max(strings.Index(log, "DATA RACE"), strings.Index(log, "panic:"))
		err = errors.Join(err, fmt.Errorf("helenus: %.4000s", log[at:]))
	}
	return err
}

// Log returns the end of what it printed.
func (h *Helenus) Log() string {
	text := h.log.String()
	return text[max(0, len(text)-6000):]
}
