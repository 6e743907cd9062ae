package solve

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const pidFile = "HELENUS_SOLVE_TEST_PIDFILE"

func init() {
	modes["parent"], modes["note"], modes["chatter"] = parentMode, noteMode, chatterMode
}

// parentMode is this test binary as a parent that hangs in a solve, its child noting its process id.
func parentMode() {
	_, _ = New(Config{Env: []string{misbehave + "=note", pidFile + "=" + os.Getenv(pidFile)}}).Solve(context.Background(), cover(), Limits{})
	os.Exit(1)
}

func noteMode() {
	name := os.Getenv(pidFile)
	_ = os.WriteFile(name+".new", []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Rename(name+".new", name)
	time.Sleep(time.Hour)
}

// TestChildDiesWithItsParent kills a parent in the middle of a solve.
func TestChildDiesWithItsParent(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), misbehave+"=parent", pidFile+"="+name)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	wait(t, "the child's process id", func() bool {
		b, err := os.ReadFile(name)
		pid = string(b)
		return err == nil
	})
	if !running(pid) {
		t.Errorf("process %s is not running", pid)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	wait(t, "the child's end", func() bool { return !running(pid) })
}

func running(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// TestPrintsDoNotSpoilReplies: a worker whose libraries print to standard output is still understood.
func TestPrintsDoNotSpoilReplies(t *testing.T) {
	s, err := New(Config{Env: []string{misbehave + "=chatter"}}).Solve(context.Background(), cover(), Limits{})
	if err != nil || s.Objective != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// chatterMode is a worker that prints to its descriptor 1 once it has begun.
func chatterMode() {
	request := &pipeThatPrints{in: os.Stdin}
	if Worker(request, os.Stdout, fake{}) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

type pipeThatPrints struct{ in *os.File }

func (p *pipeThatPrints) Read(b []byte) (int, error) {
	if f, err := os.OpenFile("/proc/self/fd/1", os.O_WRONLY, 0); err == nil { // whatever descriptor 1 is by now
		_, _ = f.Write(bytes.Repeat([]byte("Welcome to the solver\n"), 3))
		_ = f.Close()
	}
	return p.in.Read(b)
}

func TestEnvironmentIsShort(t *testing.T) {
	t.Setenv("CASSANDRA_PASSWORD", "secret")
	if e := strings.Join(workerEnvironment(), "\n"); strings.Contains(e, "secret") || !strings.Contains(e, workerVariable) {
		t.Error(e)
	}
}
