// Package product runs the product as its users do: its programs as processes of their own before a Cassandra, its command line, sessions through it.
package product

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sys/unix"

	"github.com/helenus-db/helenus/internal/child"
)

// Process is one helenus.
type Process struct {
	Name    string
	Program string // the file
	Dir     string // its state; the log is beside it
	Listen  string
	Admin   string
	args    []string
	child   *child.Process
}

// grace is how long a process may take to end when asked to.
const grace = 15 * time.Second

// New chooses ports and a state directory; Start starts it, and may do so again after Kill.
func New(name, program, dir, contactPoint string, args ...string) (*Process, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	p := &Process{Name: name, Program: program, Dir: filepath.Join(dir, name), Listen: ports[0], Admin: ports[1]}
	p.args = append([]string{"run", "--contact-points", contactPoint, "--listen", p.Listen, "--admin", p.Admin, "--state-dir", p.Dir}, args...)
	return p, os.MkdirAll(p.Dir, 0o700)
}

// FreePorts are addresses on loopback that nobody listens on.
func FreePorts(n int) ([]string, error) {
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all stay open until all are chosen
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// Start starts it; Await waits until it is ready.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.Command(p.Program, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	p.child, err = child.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w; `make build` builds it", p.Program, err)
	}
	return nil
}

// Log is the file of its log.
func (p *Process) Log() string { return p.Dir + ".log" }

// Await waits until the process is ready.
func (p *Process) Await(ctx context.Context) error {
	return p.Until(ctx, "it is ready", time.Minute, func() (bool, error) { return p.Ready(ctx), nil })
}

// Stop ends it, if it runs.
func (p *Process) Stop() {
	if p.child.Running() {
		p.child.Stop(grace)
	}
}

// Kill is kill -9.
func (p *Process) Kill() {
	p.child.Kill()
	<-p.child.Done()
}

// Until polls until something holds.
func (p *Process) Until(ctx context.Context, what string, most time.Duration, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-p.child.Done():
			return fmt.Errorf("helenus (%s) ended: %w; its log is %s", p.Name, p.child.Wait(), p.Log())
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for helenus (%s) until %s: %w", p.Name, what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Get reads a page of the admin address that asks for no token.
func (p *Process) Get(ctx context.Context, path string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Admin+path, nil)
	if err != nil {
		return 0, "", err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = a.Body.Close() }()
	var b bytes.Buffer
	_, err = b.ReadFrom(a.Body)
	return a.StatusCode, b.String(), err
}

// Ready tells whether it takes requests.
func (p *Process) Ready(ctx context.Context) bool {
	status, _, err := p.Get(ctx, "/readyz")
	return err == nil && status == http.StatusOK
}

// CLI runs a command of the product against the process.
func (p *Process) CLI(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Program, args...)
	cmd.Env = append(os.Environ(), "HELENUS_ADMIN="+p.Admin, "HELENUS_STATE_DIR="+p.Dir)
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if err := cmd.Run(); err != nil {
		return said.Bytes(), fmt.Errorf("helenus %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()+said.String()))
	}
	return said.Bytes(), nil
}

// Change is what is read of an approved one.
type Change struct {
	ID     string `json:"change_id"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// Changes are all changes that were approved.
func (p *Process) Changes(ctx context.Context) ([]Change, error) {
	text, err := p.CLI(ctx, "changes", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var all []Change
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("helenus changes: %w", err)
	}
	return all, nil
}

// InState tells whether all of the changes are in a state. One that has stopped for good is an error.
func (p *Process) InState(ctx context.Context, state string, ids []string) (bool, error) {
	all, err := p.Changes(ctx)
	if err != nil {
		return false, err
	}
	there := 0
	for _, c := range all {
		for _, id := range ids {
			switch {
			case c.ID != id:
			case c.State == state:
				there++
			case c.State == "failed" || c.State == "suspended":
				return false, fmt.Errorf("change %s is %s: %s", id, c.State, c.Reason)
			}
		}
	}
	return there == len(ids), nil
}

// CPU is the processor time that the process has used, all its threads together.
func (p *Process) CPU() (time.Duration, error) {
	// The kernel's name for the process's clock: the complement of the id, and below it which clock of the process (2: as scheduled).
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^p.child.Pid()<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("the processor time of helenus (%s): %w", p.Name, err)
	}
	return time.Duration(t.Nano()), nil
}

// Connect opens an ordinary session at one address.
func Connect(address string, stamped bool) (*gocql.Session, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c := gocql.NewCluster(host)
	if c.Port, err = strconv.Atoi(text); err != nil {
		return nil, err
	}
	c.ProtoVersion, c.NumConns, c.Consistency = 4, 2, gocql.Quorum
	c.Timeout, c.ConnectTimeout, c.WriteCoalesceWaitTime = 30*time.Second, 10*time.Second, 0
	c.DisableInitialHostLookup, c.DefaultTimestamp = true, stamped
	c.Logger = quiet{}
	s, err := c.CreateSession()
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	return s, nil
}

// quiet keeps gocql's own remarks out of the report.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
