package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstalled installs the debs that `make dist` has made on a bare Debian, whose own systemd starts them: the unit with its sandbox, the watchdog, the socket that starts it, an
// upgrade; then removes and purges them, and finds nothing left. With a Cassandra (HELENUS_TEST_CASSANDRA) what runs is healthy, too.
func TestInstalled(t *testing.T) {
	m := another(t)
	m.start(t)
	deb, solver := shipped(t, "helenus_*.deb"), shipped(t, "helenus-solver_*.deb")
	m.install(t, deb, solver)
	if out := m.run(t, "/usr/bin/helenus", "--version"); !strings.HasPrefix(out, "helenus ") || strings.Contains(out, "devel") {
		t.Errorf("version: %s", out)
	}
	m.run(t, "helenus", "config", "check", "--config", "/etc/helenus/helenus.yaml")

	// On ports of its own: those of the configuration may be somebody else's here.
	listen, admin := free(t), free(t)
	cassandra := os.Getenv("HELENUS_TEST_CASSANDRA")
	if cassandra == "" {
		cassandra = free(t)
	}
	m.write(t, "/etc/helenus/environment", fmt.Sprintf("HELENUS_LISTEN=%s\nHELENUS_ADMIN=%s\nHELENUS_CONTACT_POINTS=%s\n", listen, admin, cassandra))
	m.run(t, "systemctl", "enable", "--now", "helenus") // ends once it has said READY=1
	pid := m.unit(t)
	if _, err := net.Dial("tcp", listen); err != nil {
		t.Errorf("it says that it is ready, and does not listen: %v", err)
	}
	if os.Getenv("HELENUS_TEST_CASSANDRA") != "" {
		m.healthy(t)
	}
	status := m.run(t, "cat", "/proc/"+pid+"/status")
	for _, want := range []string{"NoNewPrivs:\t1", "CapBnd:\t0000000000000000", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("what the unit starts has no %q:\n%s", want, status)
		}
	}

	// What is stuck is ended, and started anew.
	m.write(t, "/etc/systemd/system/helenus.service.d/soon.conf", "[Service]\nWatchdogSec=3\nTimeoutAbortSec=2\n")
	m.run(t, "systemctl", "daemon-reload")
	m.run(t, "systemctl", "restart", "helenus")
	stuck := m.unit(t)
	m.run(t, "sh", "-c", "kill -STOP "+stuck)
	soon(t, "the watchdog", func() error {
		if now, err := m.main(); err != nil || now == stuck || now == "0" {
			return fmt.Errorf("still %s (%w)", now, err)
		}
		return nil
	})

	// The socket listens while the process is not there, and starts it.
	m.write(t, "/etc/systemd/system/helenus.socket.d/port.conf", "[Socket]\nListenStream=\nListenStream="+listen+"\n")
	m.run(t, "systemctl", "daemon-reload")
	m.run(t, "systemctl", "stop", "helenus")
	m.run(t, "systemctl", "start", "helenus.socket")
	client, err := net.Dial("tcp", listen)
	if err != nil {
		t.Fatalf("systemd does not listen: %v", err)
	}
	defer func() { _ = client.Close() }()
	soon(t, "the socket starts it", func() error {
		_, err := m.try("systemctl", "is-active", "helenus")
		return err
	})

	before := m.unit(t)
	m.run(t, "dpkg", "--install", "/root/"+filepath.Base(deb)) // as an upgrade
	if after := m.unit(t); after == before {
		t.Error("an upgrade leaves the old process running")
	}
	m.leaves(t)
}

// leaves removes and purges what is installed.
func (m *machine) leaves(t *testing.T) {
	t.Helper()
	installed := strings.Fields(m.run(t, "dpkg", "--listfiles", "helenus"))
	m.run(t, "dpkg", "--remove", "helenus", "helenus-solver")
	if _, err := m.try("systemctl", "is-active", "helenus.service"); err == nil {
		t.Error("it still runs")
	}
	if _, err := m.try("systemctl", "is-active", "helenus.socket"); err == nil {
		t.Error("systemd still listens for it")
	}
	for _, path := range []string{"/etc/helenus/helenus.yaml", "/etc/helenus/environment", "/var/lib/helenus/helenus.db"} {
		if !m.has(path) {
			t.Errorf("removed, %s is to stay", path)
		}
	}
	m.run(t, "dpkg", "--purge", "helenus", "helenus-solver")
	for _, path := range append(installed, "/etc/helenus", "/var/lib/helenus", "/etc/systemd/system/multi-user.target.wants/helenus.service") {
		if strings.Contains(path, "helenus") && m.has(path) {
			t.Errorf("%s is left", path)
		}
	}
	if out, err := m.try("getent", "passwd", "helenus"); err == nil {
		t.Errorf("the user is left: %s", out)
	}
	if out, err := m.try("getent", "group", "helenus"); err == nil {
		t.Errorf("the group is left: %s", out)
	}
}

// main is the process of the unit, as the machine numbers it.
func (m *machine) main() (string, error) {
	out, err := m.try("systemctl", "show", "--value", "-p", "MainPID", "helenus")
	return strings.TrimSpace(out), err
}

// unit is the process of the unit, which runs as its user.
func (m *machine) unit(t *testing.T) string {
	t.Helper()
	pid, err := m.main()
	if err != nil || pid == "0" {
		t.Fatalf("the unit has no process (%v):\n%s", err, m.run(t, "journalctl", "-u", "helenus", "--no-pager"))
	}
	if user := strings.TrimSpace(m.run(t, "stat", "-c", "%U", "/proc/"+pid)); user != "helenus" {
		t.Errorf("the unit runs as %s", user)
	}
	return pid
}

// healthy asks what runs how it is, as root does who was told nothing but where its state is.
func (m *machine) healthy(t *testing.T) {
	t.Helper()
	soon(t, "it is healthy", func() error {
		out, err := m.try("helenus", "status", "--state-dir", "/var/lib/helenus")
		if err != nil || !strings.HasPrefix(out, "Healthy.") {
			return errors.Join(err, errors.New(out))
		}
		return nil
	})
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
