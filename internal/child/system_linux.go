package child

import "syscall"

// dieWithParent returns the attributes of a child that the kernel kills when the thread that started it dies.
func dieWithParent() (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}, nil
}
