package proxy_test

import (
	"net"

	"golang.org/x/sys/unix"
)

// deafen makes a socket drop every packet that comes, acknowledgements and probes too: to the other side it is a machine
// that lost its power.
func deafen(c net.Conn) error {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
	}); err != nil {
		return err
	}
	return failed
}
