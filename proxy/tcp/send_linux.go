package tcp

import (
	"errors"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// direct writes with calls that do not block, and only when one would have is the connection waited for. Go's Write tells
// the scheduler of each call, as it might block: then the monitor takes the processor away from a thread that was preempted in the call, wakes
// another for it, and the first has to queue when it comes back. A write over loopback or to a fast network card takes
// just about as long as the monitor's patience, 20 us.
type direct struct {
	conn *net.TCPConn
	raw  syscall.RawConn
	send func(fd uintptr) bool // s.some, made once
	left []byte                // still to be written
	end  error
}

// newDirect returns nil if the connection has no socket.
func newDirect(c *net.TCPConn) *direct {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{conn: c, raw: raw}
	d.send = d.some
	return d
}

func (d *direct) write(b []byte) (int, error) {
	d.left, d.end = b, nil
	err := d.raw.Write(d.send)
	n := len(b) - len(d.left)
	d.left = nil
	if err == nil {
		err = d.end
	}
	if err == nil {
		return n, nil
	}
	if e := (*net.OpError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return n, &net.OpError{Op: "write", Net: "tcp", Source: d.conn.LocalAddr(), Addr: d.conn.RemoteAddr(), Err: err}
}

// some writes until nothing is left or the call failed (done), or until the peer has to take something first.
func (d *direct) some(fd uintptr) (done bool) {
	if raceDetected {
		_, _ = syscall.Write(int(fd), nil) // tells the detector that what we did before comes before what the peer does with it
	}
	for len(d.left) > 0 {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&d.left[0])), uintptr(len(d.left)), // #nosec G103 -- as package unix calls it
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch e {
		case 0:
			d.left = d.left[n:]
		case unix.EAGAIN:
			return false
		case unix.EINTR:
		default:
			d.end = os.NewSyscallError("sendto", e)
			return true
		}
	}
	return true
}
