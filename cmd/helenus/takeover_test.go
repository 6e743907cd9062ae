package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/handover"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func startMock(t *testing.T, h proxytest.Handler) *proxytest.Server {
	t.Helper()
	m, err := proxytest.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func (p *process) serves() bool {
	c, err := proxytest.Connect(p.listen, 4)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// visitors connect, ask and leave, over and over, until stop is called; it returns how many were answered.
func visitors(t *testing.T, address string, n int) (stop func() int64) {
	var answered atomic.Int64
	var work sync.WaitGroup
	ended := make(chan struct{})
	for i := range n {
		work.Go(func() {
			version := byte(3 + i%3)
			for {
				select {
				case <-ended:
					return
				default:
				}
				c, err := proxytest.Connect(address, version)
				var refused *net.OpError
				if errors.As(err, &refused) && refused.Op == "dial" {
					t.Errorf("refused: %v", err)
					return
				}
				if err != nil {
					continue // it came in while the process was leaving, and was told so or closed
				}
				if h, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(version, "SELECT x")); err == nil && h.Opcode == wire.OpResult {
					answered.Add(1)
				}
				c.Close()
			}
		})
	}
	return func() int64 {
		close(ended)
		work.Wait()
		return answered.Load()
	}
}

// TestTakeOverUnderLoad replaces the process twice while clients come and go: none is refused.
func TestTakeOverUnderLoad(t *testing.T) {
	m := startMock(t, nil)
	p := newProcess(t, m.Addr, "--drain-timeout", "5s")
	p.start()
	await(t, "it serves", p.serves)
	stop := visitors(t, p.listen, 4)
	lasting, err := proxytest.Connect(p.listen, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer lasting.Close()
	for i := range 2 {
		old, ended := p.cmd, p.ended
		await(t, "the admin API is there", p.adminAnswers)
		p.start("--take-over")
		<-ended
		if code := old.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("process %d ended with code %d", i, code)
		}
		await(t, "the next one serves", p.serves)
		await(t, "the next one can be taken over from", func() bool {
			_, err := os.Stat(filepath.Join(p.state, handover.File))
			return err == nil
		})
	}
	if n := stop(); n == 0 {
		t.Error("nobody was answered")
	} else {
		t.Logf("%d clients were answered", n)
	}
	if h, body, err := lasting.Read(); err == nil {
		t.Errorf("a connection of the first process got %+v %q", h, body)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	log := p.output.String()
	for _, want := range []string{`msg="handing over"`, `msg="handed over"`, `msg="taken over"`} {
		if n := strings.Count(log, want); n != 2 {
			t.Errorf("the log says %s %d times", want, n)
		}
	}
}

func (p *process) adminAnswers() bool {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+p.admin+"/healthz", nil)
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

// TestTakeOverWaitsForRequests: what is under way is answered by the old process, and what comes meanwhile by the new one.
func TestTakeOverWaitsForRequests(t *testing.T) {
	release := make(chan struct{})
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "slow" {
			go func() { <-release; proxytest.Default(r) }()
			return
		}
		proxytest.Default(r)
	})
	p := newProcess(t, m.Addr, "--drain-timeout", "60s")
	p.start()
	await(t, "it serves", p.serves)
	c, err := proxytest.Connect(p.listen, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "slow")); err != nil {
		t.Fatal(err)
	}
	if h, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "x")); err != nil || h.Opcode != wire.OpResult {
		t.Fatalf("%+v %v", h, err)
	}
	ended := p.ended
	await(t, "it can be taken over from", func() bool {
		_, err := os.Stat(filepath.Join(p.state, handover.File))
		return err == nil
	})
	p.start("--take-over")
	await(t, "new requests are refused", func() bool {
		_, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "x"))
		if err != nil {
			t.Fatal(err)
		}
		r := wire.NewReader(body)
		return r.Int() == wire.ErrOverloaded
	})
	meanwhile := make(chan error, 1)
	go func() {
		late, err := proxytest.Connect(p.listen, 4)
		if err == nil {
			late.Close()
		}
		meanwhile <- err
	}()
	close(release)
	if h, _, err := c.Read(); err != nil || h.Stream != 1 || h.Opcode != wire.OpResult {
		t.Errorf("the request under way was answered %+v %v", h, err)
	}
	<-ended
	if err := <-meanwhile; err != nil {
		t.Errorf("who came meanwhile: %v", err)
	}
}

// TestTakeOverFromADyingProcess: the old one agrees and is killed before it has handed over; the new one opens its own.
func TestTakeOverFromADyingProcess(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() != "never" {
			proxytest.Default(r)
		}
	})
	p := newProcess(t, m.Addr, "--drain-timeout", "10m")
	p.start()
	await(t, "it serves", p.serves)
	c, err := proxytest.Connect(p.listen, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "never")); err != nil {
		t.Fatal(err)
	}
	await(t, "it can be taken over from", func() bool {
		_, err := os.Stat(filepath.Join(p.state, handover.File))
		return err == nil
	})
	old, ended := p.cmd, p.ended
	p.start("--take-over")
	await(t, "the old one agrees", func() bool { return strings.Contains(p.output.String(), "handing over") })
	_ = old.Process.Kill()
	<-ended
	await(t, "the new one serves", p.serves)
	if log := p.output.String(); !strings.Contains(log, "opening sockets of our own") {
		t.Errorf("the log does not say what happened: %s", log)
	}
}

// TestTakeOverFromNobody starts afresh, and without --take-over a second process is told about it.
func TestTakeOverFromNobody(t *testing.T) {
	p := newProcess(t, startMock(t, nil).Addr)
	p.start("--take-over")
	await(t, "it serves", p.serves)
	if code, out := command(t, nil, p.args...); code != exitFailed || !strings.Contains(out, "--take-over") || !strings.Contains(out, p.state) {
		t.Errorf("exit code %d: %s", code, out)
	}
	p.kill() // its socket stays behind
	p.start("--take-over")
	await(t, "it serves again", p.serves)
	if log := p.output.String(); strings.Count(log, "starting afresh") != 2 {
		t.Errorf("the log does not say that nobody was there: %s", log)
	}
}

// TestSecondSignalEndsAtOnce: a drain that takes too long can be ended by asking again. Who says the same twice at a time, as timeout(1) does, does not ask again.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() != "never" {
			proxytest.Default(r)
		}
	})
	p := newProcess(t, m.Addr, "--drain-timeout", "10m")
	p.start()
	await(t, "it serves", p.serves)
	c, err := proxytest.Connect(p.listen, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "never")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "x")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	await(t, "it drains", func() bool { return !p.serves() })
	select {
	case <-p.ended:
		t.Errorf("it did not drain: %v", p.cmd.ProcessState)
	case <-time.After(time.Until(began.Add(3 * time.Second / 2))):
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", p.cmd.ProcessState)
	}
}

// TestSocketActivation starts helenus on sockets that somebody else opened; they outlive it.
func TestSocketActivation(t *testing.T) {
	p := newProcess(t, startMock(t, nil).Addr)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for _, address := range []*string{&p.listen, &p.admin} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		files = append(files, f)
		*address = l.Addr().String()
	}
	stop := visitors(t, p.listen, 1)
	for i := range 2 {
		// The settings name other addresses: the sockets' names decide.
		cmd := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, self}, p.args...)...) //nolint:gosec // ourselves
		cmd.Env = append(os.Environ(), asHelenus+"=1", "LISTEN_FDS=2", "LISTEN_FDNAMES=cql:admin")
		cmd.ExtraFiles = files
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = cmd.Wait() }()
		await(t, "it serves", p.serves)
		await(t, "the admin API is there", p.adminAnswers)
		if i == 1 { // with nobody left to serve, they would wait
			if n := stop(); n == 0 {
				t.Error("nobody was answered")
			}
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
}
