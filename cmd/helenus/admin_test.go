package main

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy/proxytest"
)

// startLimited is start with a limit of open files.
func (p *process) startLimited(files int) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command("sh", append([]string{"-c", "ulimit -n " + strconv.Itoa(files) + ` && exec "$0" "$@"`, self}, p.args...)...) //nolint:gosec // ourselves
	p.cmd.Env = append(os.Environ(), asHelenus+"=1")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.output = &output{}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended, cmd := make(chan struct{}), p.cmd
	p.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
}

// TestIdleAdminConnections is case 28: they do not keep clients out, nor a person.
func TestIdleAdminConnections(t *testing.T) {
	m := startMock(t, nil)
	p := newProcess(t, m.Addr)
	p.startLimited(200)
	await(t, "it forwards", p.serves)
	for range 300 {
		c, err := net.DialTimeout("tcp", p.admin, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	await(t, "the connections were met", func() bool {
		return strings.Contains(p.page("/metrics"), `helenus_admin_closed_connections_total{reason="idle"}`)
	})
	for i := range 50 {
		c, err := proxytest.Connect(p.listen, 4)
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		defer c.Close()
	}
	if page := p.page("/healthz"); page != "ok\n" {
		t.Errorf("healthz: %q", page)
	}
	if log := p.output.String(); strings.Contains(log, "too many open files") {
		t.Error("there were too few descriptors")
	}
}
