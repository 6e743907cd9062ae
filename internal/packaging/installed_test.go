package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInstalled installs the deb that `make dist` has made into this system, starts what its unit starts, removes and purges it, and finds nothing left.
func TestInstalled(t *testing.T) {
	if os.Getenv("HELENUS_TEST_LONG") == "" {
		t.Skip("installs a package: part of make test-long")
	}
	if _, err := exec.LookPath("dpkg"); err != nil || os.Getuid() != 0 {
		t.Skip("needs Debian, and root")
	}
	files, err := filepath.Glob("../../dist/helenus_*.deb")
	if err != nil || len(files) != 1 {
		t.Fatalf("make dist first: %v, %v", files, err)
	}
	if _, err := os.Stat("/usr/bin/helenus"); err == nil {
		t.Skip("helenus is installed here already: it is left alone")
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput() //nolint:gosec // the test's own
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	installed := strings.Fields(run("dpkg-deb", "--contents", files[0]))
	t.Cleanup(func() { _ = exec.Command("dpkg", "--purge", "helenus").Run() })
	run("dpkg", "--install", files[0])

	if out := run("/usr/bin/helenus", "--version"); !strings.HasPrefix(out, "helenus ") || strings.Contains(out, "devel") {
		t.Errorf("version: %s", out)
	}
	run("/usr/bin/helenus", "config", "check", "--config", "/etc/helenus/helenus.yaml")
	if out, err := exec.Command("systemd-analyze", "verify", "/usr/lib/systemd/system/helenus.service", "/usr/lib/systemd/system/helenus.socket").CombinedOutput(); err != nil {
		t.Errorf("units: %v\n%s", err, out)
	}
	started(t)

	run("dpkg", "--remove", "helenus")
	if _, err := os.Stat("/etc/helenus/helenus.yaml"); err != nil {
		t.Errorf("removed, the configuration is to stay: %v", err)
	}
	run("dpkg", "--purge", "helenus")
	for _, word := range installed {
		if file, ok := strings.CutPrefix(word, "./"); ok && strings.Contains(file, "helenus") {
			if _, err := os.Lstat("/" + file); err == nil {
				t.Errorf("/%s is left", file)
			}
		}
	}
	for _, dir := range []string{"/etc/helenus", "/var/lib/helenus"} {
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
	if exec.Command("getent", "passwd", "helenus").Run() == nil || exec.Command("getent", "group", "helenus").Run() == nil {
		t.Error("the user, or its group, is left")
	}
}

// started does what systemd would: makes the state directory, runs the unit's line as its user, and hears READY=1 and WATCHDOG=1.
func started(t *testing.T) {
	t.Helper()
	unit, err := os.ReadFile("/usr/lib/systemd/system/helenus.service")
	if err != nil {
		t.Fatal(err)
	}
	var line []string
	for l := range strings.Lines(string(unit)) {
		if text, ok := strings.CutPrefix(l, "ExecStart="); ok {
			line = strings.Fields(text)
		}
	}
	if len(line) == 0 {
		t.Fatal("the unit starts nothing")
	}
	if out, err := exec.Command("install", "-d", "-m", "0700", "-o", "helenus", "-g", "helenus", "/var/lib/helenus").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, err := os.MkdirTemp("", "helenus-notify-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "socket")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // another user writes to the socket
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // the same
		t.Fatal(err)
	}
	c := exec.Command("setpriv", append([]string{"--reuid=helenus", "--regid=helenus", "--clear-groups", "--no-new-privs"}, line...)...)
	// On ports of its own, and before no Cassandra: those of the configuration may be somebody else's here.
	c.Env = []string{"PATH=/usr/bin:/bin", "NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=600000",
		"HELENUS_LISTEN=" + free(t), "HELENUS_ADMIN=" + free(t), "HELENUS_CONTACT_POINTS=" + free(t)}
	c.Dir = "/"
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	heard := map[string]bool{}
	buffer := make([]byte, 4096)
	_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
	for !heard["READY=1"] || !heard["WATCHDOG=1"] {
		n, err := socket.Read(buffer)
		if err != nil {
			t.Errorf("heard %v: %v", heard, err)
			break
		}
		for said := range strings.Lines(string(buffer[:n])) {
			heard[strings.TrimSpace(said)] = true
		}
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Errorf("its end: %v\n%s", err, log.String())
	}
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
