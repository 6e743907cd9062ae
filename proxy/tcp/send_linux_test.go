package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A peer that reads slowly, or in small pieces, gets all that was sent in its order.
func TestSenderSendsAll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		near, far := pair(t)
		_ = near.SetWriteBuffer(64 << 10) // so that it has to wait
		s := NewSender(near)
		if s.direct == nil {
			t.Fatal("a TCP connection is written to by the long way")
		}
		var sent []byte
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 5_000, 70_000, 500_000}), 1, 4).Draw(r, "sizes")
		pause := rapid.IntRange(0, 1).Draw(r, "pause")
		var got bytes.Buffer
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b := make([]byte, 60_000)
			for {
				n, err := far.Read(b)
				got.Write(b[:n])
				if err != nil {
					return
				}
				time.Sleep(time.Duration(pause) * 100 * time.Microsecond)
			}
		}()
		for _, size := range sizes {
			b := make([]byte, size)
			for i := range b {
				b[i] = byte(rand.Uint32()) //nolint:gosec // what it is does not matter
			}
			sent = append(sent, b...)
			if n, err := s.WriteBusy(b); n != size || err != nil {
				r.Fatalf("%d of %d bytes, %v", n, size, err)
			}
		}
		near.Close()
		<-ended
		if !bytes.Equal(got.Bytes(), sent) {
			r.Fatalf("%d bytes came of %d", got.Len(), len(sent))
		}
		far.Close()
	})
}

// What goes wrong is told as Go's own Write tells it: who gives a connection up reads that.
func TestSenderFails(t *testing.T) {
	much := make([]byte, 64<<20)
	for name, c := range map[string]struct {
		before func(near, far *net.TCPConn)
		want   error
	}{
		"the write deadline passes while the peer takes nothing": {func(near, _ *net.TCPConn) { _ = near.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)) }, os.ErrDeadlineExceeded},
		"the write deadline has passed":                          {func(near, _ *net.TCPConn) { _ = near.SetWriteDeadline(time.Now().Add(-time.Second)) }, os.ErrDeadlineExceeded},
		"closed while it waits":                                  {func(near, _ *net.TCPConn) { time.AfterFunc(20*time.Millisecond, func() { near.Close() }) }, net.ErrClosed},
		"closed before":                                          {func(near, _ *net.TCPConn) { near.Close() }, net.ErrClosed},
		"the peer resets":                                        {func(_, far *net.TCPConn) { _ = far.SetLinger(0); far.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			c.before(near, far)
			n, err := NewSender(near).WriteBusy(much)
			e := (*net.OpError)(nil)
			switch {
			case err == nil, n == len(much):
				t.Fatalf("%d bytes written, %v", n, err)
			case !errors.As(err, &e) || e.Op != "write" || e.Addr == nil || e.Addr.String() != far.LocalAddr().String():
				t.Errorf("%#v", err)
			case c.want != nil && !errors.Is(err, c.want):
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestSenderDoesNotAllocate(t *testing.T) {
	near, far := pair(t)
	go func() { _, _ = io.Copy(io.Discard, struct{ io.Reader }{far}) }()
	s, b := NewSender(near), make([]byte, 1000)
	if n := testing.AllocsPerRun(1000, func() { _, _ = s.WriteBusy(b) }); n >= 1 && !raceDetected {
		t.Errorf("%v allocations a write", n)
	}
}
