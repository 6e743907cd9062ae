// Package child starts processes that do not outlive this one, however it ends: rounds of advice, the demo's programs, the tests'
// Cassandra nodes. The kernel is asked to kill the child when the thread that started it dies (PR_SET_PDEATHSIG), and that thread
// is locked to a goroutine that lives as long as the child; so kill -9 of the parent takes its children with it.
//
// It imports nothing of ours. Only Linux has the parent death signal; elsewhere Start returns an error.
package child

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a child that was started.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child is gone and reaped
	err  error         // of exec.Cmd.Wait; read it only after done is closed
}

// Start starts cmd in a process group of its own, so that a Ctrl-C in a terminal reaches the parent alone, which then ends
// its children in good order. cmd's SysProcAttr is replaced.
func Start(cmd *exec.Cmd) (*Process, error) {
	attr, err := dieWithParent()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The death signal fires when the *thread* that forked ends, and Go ends threads as it likes. Locked, this
		// one lives until the child is reaped.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the child has ended, and returns what exec.Cmd.Wait would.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Running reports whether the child has not ended yet; false for a nil Process.
func (p *Process) Running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Terminate asks the child to end (SIGTERM); Kill ends it at once. A child that is already gone is no error.
func (p *Process) Terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Kill ends the child at once (SIGKILL).
func (p *Process) Kill() { _ = p.cmd.Process.Signal(os.Kill) }

// Stop asks the child to end, kills it if it has not within grace, and waits for it.
func (p *Process) Stop(grace time.Duration) {
	p.Terminate()
	select {
	case <-p.done:
	case <-time.After(grace):
		p.Kill()
		<-p.done
	}
}

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }
