package cassandra

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child that cannot outlive this program: see the package comment.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child is gone and reaped
	err  error         // of exec.Cmd.Wait; read it only after done is closed
}

// supervise starts cmd as a child in a process group of its own (so that a Ctrl-C in a terminal reaches us alone, and
// we end the child in good order), to be killed by the kernel when we die.
func supervise(cmd *exec.Cmd) (*process, error) {
	attr, err := dieWithParent()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr
	p := &process{cmd: cmd, done: make(chan struct{})}
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

// running reports whether the child has not ended yet.
func (p *process) running() bool {
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

// terminate asks the child to end (SIGTERM); kill ends it at once. A child that is already gone is no error.
func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }
func (p *process) kill()      { _ = p.cmd.Process.Signal(os.Kill) }

func (p *process) pid() int { return p.cmd.Process.Pid }
