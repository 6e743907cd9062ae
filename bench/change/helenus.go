package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// helenus is one process of the product, and sessions through it.
type helenus struct {
	name      string
	program   string // the file
	dir       string // its state; the log is beside it
	args      []string
	listen    string
	admin     string
	child     *child.Process
	stamped   *gocql.Session // its driver sends timestamps
	unstamped *gocql.Session // it does not: the coordinator stamps
}

// grace is how long a process may take to end when asked to.
const grace = 15 * time.Second

// newHelenus chooses ports and a state directory; start starts it, and may do so again after kill.
func newHelenus(name, program, dir, contactPoint string, args ...string) (*helenus, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	h := &helenus{name: name, program: program, dir: filepath.Join(dir, name), listen: ports[0], admin: ports[1]}
	h.args = append([]string{
		"run", "--contact-points", contactPoint, "--listen", h.listen, "--admin", h.admin, "--state-dir", h.dir,
		"--advise-every", "1h", "--min-saved", "1ms", "--min-executions", strconv.Itoa(executions), "--sample-values=false", "--settle", "200ms", "--backfill-rate", "0", "--backfill-ranges", "16",
		"--shadow-reads", "10", "--shadow-for", "1s", "--shadow-probes", "10", "--pprof",
	}, args...)
	return h, os.MkdirAll(h.dir, 0o700)
}

func freePorts(n int) ([]string, error) {
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

func (h *helenus) start() error {
	log, err := os.OpenFile(h.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.Command(h.program, h.args...)
	cmd.Stdout, cmd.Stderr = log, log
	h.child, err = child.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w; `make build` builds it", h.program, err)
	}
	return nil
}

func (h *helenus) log() string { return h.dir + ".log" }

// open waits until the process is ready, and connects.
func (h *helenus) open(ctx context.Context) error {
	if err := h.until(ctx, "it is ready", time.Minute, func() (bool, error) { return h.ready(ctx), nil }); err != nil {
		return err
	}
	return h.connect()
}

func (h *helenus) connect() (err error) {
	if h.stamped, err = connect(h.listen, true); err != nil {
		return err
	}
	h.unstamped, err = connect(h.listen, false)
	return err
}

// disconnect closes the sessions.
func (h *helenus) disconnect() {
	for _, s := range []**gocql.Session{&h.stamped, &h.unstamped} {
		if *s != nil {
			(*s).Close()
			*s = nil
		}
	}
}

func (h *helenus) stop() {
	h.disconnect()
	if h.child.Running() {
		h.child.Stop(grace)
	}
}

// kill is kill -9.
func (h *helenus) kill() {
	h.child.Kill()
	<-h.child.Done()
}

// until polls until something holds.
func (h *helenus) until(ctx context.Context, what string, most time.Duration, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-h.child.Done():
			return fmt.Errorf("helenus (%s) ended: %w; its log is %s", h.name, h.child.Wait(), h.log())
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for helenus (%s) until %s: %w", h.name, what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// get reads a page of the admin address that asks for no token.
func (h *helenus) get(ctx context.Context, path string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.admin+path, nil)
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

func (h *helenus) ready(ctx context.Context) bool {
	status, _, err := h.get(ctx, "/readyz")
	return err == nil && status == http.StatusOK
}

// served is how many reads were answered from look-ups since the process began.
func (h *helenus) served(ctx context.Context) (sum float64, err error) {
	_, text, err := h.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "helenus_change_reads_total{") && strings.Contains(line, `result="served"`) {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, fmt.Errorf("metrics say %q: %w", line, err)
			}
			sum += v
		}
	}
	return sum, nil
}

// unserved says, as its metrics do, why reads were not answered from look-ups; "" if it cannot be asked.
func (h *helenus) unserved(ctx context.Context) string {
	_, text, _ := h.get(ctx, "/metrics")
	var said []string
	for line := range strings.SplitSeq(text, "\n") {
		if (strings.HasPrefix(line, "helenus_change_reads_") || strings.HasPrefix(line, "helenus_change_touched_total")) && !strings.HasSuffix(line, " 0") {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// cli runs a command of the product against the process.
func (h *helenus) cli(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Env = append(os.Environ(), "HELENUS_ADMIN="+h.admin, "HELENUS_STATE_DIR="+h.dir)
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if err := cmd.Run(); err != nil {
		return said.Bytes(), fmt.Errorf("helenus %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()+said.String()))
	}
	return said.Bytes(), nil
}

// advice is what the bench reads of one.
type advice struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Kind     string `json:"kind"`
	Table    string `json:"table"`
	Column   string `json:"column"`
	Eligible bool   `json:"eligible"`
}

// lookUps are the look-ups that are advised now and could be approved, by table.column.
func (h *helenus) lookUps(ctx context.Context) (map[string]string, error) {
	text, err := h.cli(ctx, "recommendations", "--now", "--json")
	if err != nil {
		return nil, err
	}
	var all struct {
		Recommendations []advice `json:"recommendations"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("helenus recommendations: %w", err)
	}
	ids := map[string]string{}
	for _, a := range all.Recommendations {
		if a.Kind == "look-up table" && a.Eligible && a.State == "open" {
			ids[a.Table+"."+a.Column] = a.ID
		}
	}
	return ids, nil
}

// change is what the bench reads of an approved one.
type change struct {
	ID     string `json:"change_id"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

func (h *helenus) changes(ctx context.Context) ([]change, error) {
	text, err := h.cli(ctx, "changes", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var all []change
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("helenus changes: %w", err)
	}
	return all, nil
}

// inState tells whether all of the changes are in a state. One that has stopped for good is an error.
func (h *helenus) inState(ctx context.Context, state string, ids []string) (bool, error) {
	all, err := h.changes(ctx)
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

// cpu is the processor time that the process has used, all its threads together.
func (h *helenus) cpu() (time.Duration, error) {
	// The kernel's name for the process's clock: the complement of the id, and below it which clock of the process (2: as scheduled).
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^h.child.Pid()<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("the processor time of helenus (%s): %w", h.name, err)
	}
	return time.Duration(t.Nano()), nil
}

// connect opens an ordinary session at one address.
func connect(address string, stamped bool) (*gocql.Session, error) {
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

var errNoAdvice = errors.New("no look-up was advised")
