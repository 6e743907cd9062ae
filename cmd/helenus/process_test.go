package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// asHelenus makes the test binary the program itself, so that tests can kill it.
const asHelenus = "HELENUS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	round.ServeIfWorker(recommend.JudgeFunc(disturbed))
	if os.Getenv(asHelenus) != "" {
		os.Exit(execute())
	}
	port.Store(rand.Uint32N(12_000)) // others that test this package at the same time begin elsewhere
	code := m.Run()
	if err := stopPasswordNodes(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// process is a helenus that runs as a process of its own.
type process struct {
	t      *testing.T
	listen string
	admin  string
	state  string
	args   []string
	cmd    *exec.Cmd
	ended  chan struct{}
	output *output
}

// output is what processes wrote, one after the other or, in a hand-over, side by side.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// String is everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newProcess chooses ports and a state directory; start starts it, and may do so again after kill or stop.
func newProcess(t *testing.T, contactPoint string, args ...string) *process {
	t.Helper()
	p := &process{t: t, listen: freeAddress(t), admin: freeAddress(t), state: t.TempDir()}
	p.args = append([]string{
		"run", "--contact-points", contactPoint, "--listen", p.listen, "--admin", p.admin, "--state-dir", p.state,
		"--log-level", "debug",
	}, args...)
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		if t.Failed() && p.output != nil {
			text := p.output.String()
			t.Logf("end of the log of helenus:\n%s", text[max(0, len(text)-8000):])
		}
	})
	return p
}

// port is the last that was tried: the next is another, so that no two addresses are the same.
var port atomic.Uint32

// freeAddress is one whose port the kernel gives nobody who asks for any, as the tests that run beside do all the time: a process that is killed finds it
// free when it is started again.
func freeAddress(t *testing.T) string {
	t.Helper()
	var err error
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+port.Add(1)%12_000)); err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatal(err)
	return ""
}

func (p *process) start(more ...string) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(self, append(append([]string{}, p.args...), more...)...) //nolint:gosec // ourselves
	p.cmd.Env = append(os.Environ(), asHelenus+"=1")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.output == nil {
		p.output = &output{}
	}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	cmd := p.cmd
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	p.cmd = nil
}

// stop asks it to end, and returns its exit code.
func (p *process) stop() int {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
	code := p.cmd.ProcessState.ExitCode()
	p.cmd = nil
	return code
}

func (p *process) client() *admin.Client {
	token, err := admin.ReadToken(p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	return &admin.Client{Address: p.admin, Token: token}
}

// await polls until done, or fails the test after a long time.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	awaitFor(t, 3*time.Minute, what, done)
}

// awaitFor is await for what may take longer.
func awaitFor(t *testing.T, long time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(long)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", long, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (p *process) ready() bool {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+p.admin+"/readyz", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = a.Body.Close()
	return a.StatusCode == http.StatusOK
}

func (p *process) awaitReady() {
	p.t.Helper()
	await(p.t, "helenus is ready", p.ready)
}

func (p *process) migration(id string) migrate.Change {
	var m migrate.Change
	_ = p.client().Get(context.Background(), "migrations/"+url.PathEscape(id), &m) // not there yet, or it was killed: the zero state
	return m
}

func (p *process) awaitState(id string, states ...migrate.State) migrate.Change {
	p.t.Helper()
	var m migrate.Change
	await(p.t, fmt.Sprintf("change %s is %v", id, states), func() bool {
		m = p.migration(id)
		for _, s := range states {
			if m.State == s {
				return true
			}
		}
		switch m.State {
		case migrate.Suspended, migrate.Failed:
			p.t.Fatalf("change is %s: %s (events %+v)", m.State, m.Reason, m.Events)
		}
		return false
	})
	return m
}

// advice works the advice out now and returns the look-up table proposed.
func (p *process) advice() recommend.Recommendation {
	p.t.Helper()
	var found recommend.Recommendation
	var all admin.Recommendations
	var err error
	p.t.Cleanup(func() {
		if found.ID == "" {
			p.t.Logf("the last advice: %v %+v", err, all)
		}
	})
	await(p.t, "a look-up table is proposed", func() bool {
		if err = p.client().Post(context.Background(), "advise", admin.Decision{}, &all); err != nil {
			return false
		}
		for _, r := range all.Recommendations {
			if r.Kind == recommend.LookUpTable && r.Eligible {
				found = r
				return true
			}
		}
		return false
	})
	return found
}

func (p *process) approve(id string) error {
	return p.client().Post(context.Background(), "recommendations/"+id+"/approve", admin.Decision{Actor: "test"}, &migrate.Change{})
}

// command runs the program to its end, as a person would.
func command(t *testing.T, p *process, args ...string) (code int, output string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asHelenus+"=1")
	if p != nil {
		cmd.Env = append(cmd.Env, "HELENUS_STATE_DIR="+p.state)
	}
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited { //nolint:errorlint // exec returns it bare
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestExitCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "helenus.yaml")
	if err := os.WriteFile(file, []byte("listn: 127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := &process{admin: freeAddress(t), state: t.TempDir()}
	for file, text := range map[string]string{admin.TokenFile: "x\n", admin.AddressFile: nobody.admin + "\n"} { // whatever listens where it usually does
		if err := os.WriteFile(filepath.Join(nobody.state, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"version", 0, "helenus"},
		{"help", 0, "Exit codes"},
		{"config check", 0, `topology: "mirror"`},
		{"config check --config " + file, exitUsage, `helenus.yaml:1:1: unknown key "listn"; the nearest known key is "listen"`},
		{"config check --topology ring", exitUsage, "it may be mirror, single"},
		{"run --config " + file, exitUsage, "unknown key"},
		{"run --no-such-flag", exitUsage, "unknown flag"},
		{"nonsense", exitUsage, "nonsense"},
		{"explain", exitUsage, "explain --help"},
		{"statements --sort nonsense", exitUsage, "it may be time, p50"},
		{"statements --class nonsense", exitUsage, "multi-partition"},
		{"statements --kind nonsense", exitUsage, "it may be unknown, select, insert"},
		{"statements --diff 1h", exitUsage, "--diff needs --since"},
		{"statements --watch 2s --since 1h", exitUsage, "neither --since nor"},
		{"statements --since -5m", exitUsage, "such as 10s, 90m or 30d"},
		{"statements --since 5", exitUsage, "such as 10s, 90m or 30d"},
		{"statements --limit -1", exitUsage, "--limit -1: it may be 0"},
		{"tables --until x", exitUsage, "such as 10s, 90m or 30d"},
		{"statement", exitUsage, "statement --help"},
		{"statement abcd1234", exitUnreachable, "can not be reached"},
		{"trace abcd1234", exitUnreachable, "can not be reached"},
		{"tables --since 1h", exitUnreachable, "can not be reached"},
		{"history export --state-dir " + t.TempDir(), exitUsage, "there is no history in"},
		{"history export --since -1h", exitUsage, "such as 10s, 90m or 30d"},
		{"history import /nonexistent.jsonl", exitUsage, "/nonexistent.jsonl"},
		{"history import " + file + " --state-dir " + t.TempDir(), exitUsage, "line 1 does not begin a history as `helenus history export` writes it"},
		{"flows --limit -3", exitUsage, "it may be 0, which lists all, or more"},
		{"connections --limit -3", exitUsage, "it may be 0, which lists all, or more"},
		{"connections --limit some", exitUsage, "it may be 0, which lists all, or more"},
		{"cycles --limit -1", exitUsage, "--limit"},
		{"trace abcd --wait -1s", exitUsage, "such as 10s, 90m or 30d"},
		{"capture record /nonexistent/f", exitUsage, "/nonexistent/f"},
		{"completion nosuch", exitUsage, `unknown command "nosuch" for "helenus completion"`},
		{"help nosuch", exitUsage, `unknown command "nosuch"`},
		{"help config nosuch", exitUsage, `unknown command "nosuch" for "helenus config"`},
		{"help config check", 0, "Read the configuration"},
		{"capture record f --for -1s", exitUsage, "such as 10s, 90m or 30d"},
		{"approve r-1 --changes-per-day -3", exitUsage, "it may be 0, which is no limit, or more"},
		{"statements --server nowhere", exitUsage, "not host:port"},
		{"statements", exitUnreachable, "can not be reached"},
		{"statements --state-dir /nonexistent --server 127.0.0.1:1", exitUsage, "--state-dir"},
		{"design /nonexistent.yaml", exitUsage, "nonexistent.yaml"},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, out := command(t, nobody, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d, want %d; it said %q, want %q in it", code, c.code, out, c.says)
			}
		})
	}
}

// TestNoCassandra: Helenus starts without a backend, says so, is not ready, and closes clients cleanly.
func TestNoCassandra(t *testing.T) {
	p := newProcess(t, freeAddress(t))
	p.start()
	await(t, "the admin API answers", func() bool {
		c, err := net.Dial("tcp", p.admin)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	if p.ready() {
		t.Error("ready without Cassandra")
	}
	c, err := net.Dial("tcp", p.listen)
	switch {
	case errors.Is(err, syscall.ECONNRESET): // so quick was the answer that nobody is there
	case err != nil:
		t.Fatal(err)
	default:
		defer func() { _ = c.Close() }()
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("a client got %d bytes from nobody", n)
		}
	}
	code, out := command(t, p, "recommendations", "--now")
	if code == 0 || !strings.Contains(out, "no traffic seen yet") {
		t.Errorf("recommendations: %d %s", code, out)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := p.output.String(); !strings.Contains(log, "connect") {
		t.Errorf("the log does not say that Cassandra is away: %s", log)
	}
}

// TestTakenPortsAndState: each is refused with what is taken and what to do.
func TestTakenPortsAndState(t *testing.T) {
	p := newProcess(t, freeAddress(t))
	p.start()
	await(t, "it listens", func() bool {
		c, err := net.Dial("tcp", p.listen)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	other := newProcess(t, freeAddress(t))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"listen": {[]string{"run", "--contact-points", freeAddress(t), "--listen", p.listen, "--admin", other.admin, "--state-dir", t.TempDir()}, p.listen},
		"admin":  {[]string{"run", "--contact-points", freeAddress(t), "--listen", other.listen, "--admin", p.admin, "--state-dir", t.TempDir()}, "--admin"},
		"state":  {[]string{"run", "--contact-points", freeAddress(t), "--listen", other.listen, "--admin", other.admin, "--state-dir", p.state}, p.state},
	} {
		if code, out := command(t, nil, c.args...); code != exitFailed || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
	}
}

func jsonOf(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
