package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// machine is a Debian of its own in a folder, with nothing but what every Debian has: what a person has before he installs Helenus. It has the network of
// this machine, and processes, users and files of its own.
type machine struct {
	root   string
	leader int // its first process, seen from here; 0 if it was not started
}

// bare is the Debian that all machines are copies of, made once. With HELENUS_BARE=DIR it is kept there for the next time.
var bare = sync.OnceValues(func() (string, error) {
	dir := os.Getenv("HELENUS_BARE")
	if dir == "" {
		dir = filepath.Join(shelf, "bare")
	}
	if _, err := os.Stat(filepath.Join(dir, "usr/bin/systemctl")); err == nil {
		return dir, nil
	}
	out, err := exec.Command("debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus", "bookworm", dir).CombinedOutput() //nolint:gosec // the test's own
	if err != nil {
		return "", fmt.Errorf("debootstrap: %w\n%s", err, out)
	}
	return dir, nil
})

// another makes a machine, or skips where there can be none.
func another(t *testing.T) *machine {
	t.Helper()
	if os.Getenv("HELENUS_TEST_LONG") == "" {
		t.Skip("installs a Debian: part of make test-long")
	}
	for _, tool := range []string{"debootstrap", "systemd-nspawn", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skipf("needs root, and %s (.ci/setup long installs it)", tool)
		}
	}
	from, err := bare()
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{root: filepath.Join(t.TempDir(), "machine")}
	here(t, "cp", "-a", from, m.root)
	return m
}

// here runs a command on this machine.
func here(t *testing.T, args ...string) string {
	t.Helper()
	return said(t, exec.Command(args[0], args[1:]...)) //nolint:gosec // the test's own
}

func said(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

// contained is a command in the machine as it lies there, with options of systemd-nspawn before it.
func (m *machine) contained(options []string, args ...string) *exec.Cmd {
	all := append([]string{"-q", "-D", m.root, "--register=no", "--keep-unit", "--pipe", "--resolv-conf=replace-host", "--setenv=DEBIAN_FRONTEND=noninteractive"}, options...)
	return exec.Command("systemd-nspawn", append(all, args...)...) //nolint:gosec // the test's own
}

// run runs a command in the machine, started or not.
func (m *machine) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.try(args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// try is run of what may fail.
func (m *machine) try(args ...string) (string, error) {
	c := m.contained(nil, args...)
	if m.leader != 0 {
		c = exec.Command("nsenter", append([]string{"-t", fmt.Sprint(m.leader), "-m", "-u", "-i", "-p", "-r", "-w", "env", "-i", //nolint:gosec // the test's own
			"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}, args...)...)
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// start starts the machine, with its own systemd.
func (m *machine) start(t *testing.T) {
	t.Helper()
	c := exec.Command("systemd-nspawn", "-q", "-D", m.root, "--register=no", "--keep-unit", "--console=pipe", "--resolv-conf=replace-host", "--kill-signal=SIGRTMIN+3", "--boot") //nolint:gosec // the test's own
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Error("the machine does not go down")
			_ = c.Process.Kill()
			<-over
		}
	})
	soon(t, "the machine starts", func() error {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", c.Process.Pid, c.Process.Pid))
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(children), &m.leader); err != nil {
			return errors.New("it has no process yet")
		}
		if out, err := m.try("systemctl", "is-system-running", "--wait"); err != nil && !strings.Contains(out, "degraded") {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// soon waits until something holds, for a minute and a half.
func soon(t *testing.T, what string, holds func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = holds(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// install has apt install what is on this machine, and what that needs.
func (m *machine) install(t *testing.T, files ...string) {
	t.Helper()
	m.run(t, "apt-get", "update", "-qq")
	args := []string{"apt-get", "install", "-y", "-qq", "--no-install-recommends"}
	for _, file := range files {
		if filepath.Base(file) != file {
			here(t, "cp", file, filepath.Join(m.root, "root"))
			file = "/root/" + filepath.Base(file)
		}
		args = append(args, file)
	}
	m.run(t, args...)
}

// write writes a file of the machine.
func (m *machine) write(t *testing.T, path, text string) {
	t.Helper()
	full := filepath.Join(m.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil { //nolint:gosec // as an administrator does
		t.Fatal(err)
	}
}

// has tells whether the machine has a file.
func (m *machine) has(path string) bool {
	_, err := os.Lstat(filepath.Join(m.root, path))
	return err == nil
}

// shipped is the one file of dist that fits a pattern.
func shipped(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "dist", pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("make dist first: %v, %v", files, err)
	}
	return files[0]
}
