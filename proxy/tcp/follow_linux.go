package tcp

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sparing reads with recvmsg, to which Linux adds how many bytes wait after it (TCP_INQ). If none do, the next thing is to
// wait, and not to find out by a read that fails.
//
// # Why no wake-up is lost
//
// Go's poller is edge-triggered: it hears of data once. A call of RawConn.Read forgets what it was woken for only at its
// beginning, and follow waits in the call in which it read last, so what arrives after a recvmsg ends the wait that comes next. What had arrived before
// the poller looked came with the same edge, but then recvmsg counts it; an end of the stream too (Linux counts it as a
// byte). A reset alone is not counted. If one comes so close upon data that both make one edge, the wait would not end. So it has
// an end of its own, trust; and only a connection that is busy, which it pays for, is waited for like that: a timer that goes off costs
// some 3 us, a read that finds nothing 0.2 us, so there should be 15 reads or more to a trust.
type sparing struct {
	conn    *net.TCPConn
	raw     syscall.RawConn
	clock   func() int64
	last    int64 // when something was read
	trusted bool  // the read deadline is set
	message unix.Msghdr
	vector  unix.Iovec
	control [32]byte // more than unix.CmsgSpace(4)
}

const (
	busy  = int64(3 * time.Millisecond) // of a connection: the longest pause between two reads
	trust = 50 * time.Millisecond       // how long the word of Linux is taken that nothing waits
)

// newSparing returns nil if Linux does not tell.
func newSparing(c *net.TCPConn, clock func() int64) *sparing {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	if err := raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1)
	}); err != nil || refused != nil {
		return nil
	}
	s := &sparing{conn: c, raw: raw, clock: clock}
	s.message.Iov, s.message.Control = &s.vector, &s.control[0]
	s.message.SetIovlen(1)
	return s
}

func (s *sparing) follow(space func() []byte, took func(n int, now int64) error, rest func()) error {
	defer s.mistrust()
	var end error
	read := func(fd uintptr) (done bool) {
		var wait bool
		if wait, end = s.all(fd, space, took); wait {
			rest()
		}
		return !wait
	}
	for {
		err := s.raw.Read(read)
		switch {
		case end != nil:
			return end
		case err == nil: // more waits
			continue
		case !s.trusted || !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
		s.mistrust()
	}
}

// all reads until nothing waits, and then is to be called again when something does; or until the end. While more waits it is to be called again at
// once, from outside: only there is it found out that the connection was closed, and whoever closes it waits for that.
func (s *sparing) all(fd uintptr, space func() []byte, took func(n int, now int64) error) (wait bool, end error) {
	for {
		n, waiting, e := s.receive(fd, space())
		switch {
		case e == unix.EAGAIN:
			return true, nil
		case e == unix.EINTR:
			continue
		case e != 0:
			return false, &net.OpError{Op: "read", Net: "tcp", Source: s.conn.LocalAddr(), Addr: s.conn.RemoteAddr(),
				Err: os.NewSyscallError("recvmsg", e)}
		case n == 0:
			return false, io.EOF
		}
		now := s.clock()
		if err := took(n, now); err != nil {
			return false, err
		}
		pause := now - s.last
		s.last = now
		switch {
		case waiting:
			return false, nil
		case pause < busy:
			s.trust()
			return true, nil
		}
	}
}

// trust sees that a wait which begins now ends.
func (s *sparing) trust() {
	if !s.trusted {
		s.trusted = s.conn.SetReadDeadline(time.Now().Add(trust)) == nil
	}
}

func (s *sparing) mistrust() {
	if s.trusted {
		s.trusted = false
		_ = s.conn.SetReadDeadline(time.Time{})
	}
}

// receive reads into b. waiting is false if nothing is left, and the stream has not ended. The call does not block, so the
// scheduler is not told of it.
func (s *sparing) receive(fd uintptr, b []byte) (n int, waiting bool, e unix.Errno) {
	s.vector.Base = &b[0]
	s.vector.SetLen(len(b))
	s.message.SetControllen(len(s.control))
	got, _, e := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.message)), unix.MSG_DONTWAIT) // #nosec G103 -- as package unix calls it
	if raceDetected {
		_, _ = syscall.Read(int(fd), nil) // tells the detector that what the peer did before it wrote comes first
	}
	if e != 0 {
		return 0, false, e
	}
	// A control message ends with its level, its type, and here a number; all are 32 bits long.
	head, number := unix.CmsgLen(0), binary.NativeEndian.Uint32
	if int(s.message.Controllen) < unix.CmsgLen(4) || number(s.control[head-8:]) != unix.IPPROTO_TCP || number(s.control[head-4:]) != unix.TCP_CM_INQ {
		return int(got), true, 0
	}
	return int(got), number(s.control[head:]) != 0, 0
}
