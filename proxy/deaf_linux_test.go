package proxy_test

import (
	"net"
	"syscall"
)

// deafen makes a socket drop every packet that comes, acknowledgements and probes too: to the other side it is a machine
// that lost its power.
func deafen(c net.Conn) error {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = syscall.AttachLsf(int(fd), []syscall.SockFilter{*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 0)})
	}); err != nil {
		return err
	}
	return failed
}
