package tcp

import (
	"net"
	"syscall"
	"time"
)

// userTimeout is TCP_USER_TIMEOUT of <linux/tcp.h>, which package syscall does not name.
const userTimeout = 18

func giveUpAfter(c *net.TCPConn, d time.Duration) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(d.Milliseconds()))
	}); err != nil {
		return err
	}
	return failed
}
