package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// pair is the two ends of a connection.
func pair(t testing.TB) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); d.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

// following is a Follow that goes on.
type following struct {
	got   bytes.Buffer // once ended
	ended chan error
}

// follow begins one that takes the connection for a busy one, or not.
func follow(c net.Conn, space int, busily bool) *following {
	f := &following{ended: make(chan error, 1)}
	b := make([]byte, space)
	time := int64(0)
	clock := func() int64 {
		if !busily {
			time += busy
		}
		return time
	}
	go func() {
		f.ended <- Follow(c, clock, func() []byte { return b }, func(n int, _ int64) error { f.got.Write(b[:n]); return nil }, func() {})
	}()
	return f
}

func (f *following) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-f.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("Follow waits for what has come")
		return nil
	}
}

func TestFollowReadsAllThatWasSent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		near, far := pair(t)
		f := follow(near, rapid.IntRange(1, 5000).Draw(r, "space"), rapid.Bool().Draw(r, "busy"))
		var sent []byte
		for range rapid.IntRange(0, 20).Draw(r, "writes") {
			b := make([]byte, rapid.IntRange(1, 10_000).Draw(r, "size"))
			for i := range b {
				b[i] = byte(rand.Uint32()) //nolint:gosec // what it is does not matter
			}
			sent = append(sent, b...)
			if _, err := far.Write(b); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rapid.IntRange(0, 3).Draw(r, "pause")) * 100 * time.Microsecond)
		}
		far.Close() // right after the last write, so that both may come as one
		if err := f.end(t); !errors.Is(err, io.EOF) {
			r.Fatal(err)
		}
		if !bytes.Equal(f.got.Bytes(), sent) {
			r.Fatalf("read %d bytes of %d", f.got.Len(), len(sent))
		}
		near.Close()
	})
}

// A reset that comes with data is the one thing that neither the poller nor recvmsg tells.
func TestResetCloseUponDataIsFoundOut(t *testing.T) {
	for i := range 100 {
		near, far := pair(t)
		var f *following
		if i%2 == 0 {
			f = follow(near, 100, true)
		}
		_ = far.SetLinger(0)
		_, _ = far.Write([]byte("x"))
		far.Close()
		if f == nil {
			time.Sleep(100 * time.Microsecond) // both are there
			f = follow(near, 100, true)
		}
		if err := f.end(t); err == nil || errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		near.Close()
	}
}

// A busy connection costs one call a read, and one each time that the word of Linux is not taken any more.
func TestFollowSparesCalls(t *testing.T) {
	near, far := pair(t)
	s := newSparing(near, func() int64 { return 0 })
	if s == nil {
		t.Fatal("Linux does not tell how much waits")
	}
	b := make([]byte, 100)
	for range 10 {
		if _, err := far.Write([]byte("12345")); err != nil {
			t.Fatal(err)
		}
		err := s.raw.Read(func(fd uintptr) bool {
			n, waiting, e := s.receive(fd, b)
			if e == unix.EAGAIN {
				return false
			}
			if n != 5 || waiting || e != 0 {
				t.Errorf("%d bytes, more wait: %v, %v", n, waiting, e)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = far.Write([]byte("12345"))
		_ = s.raw.Control(func(fd uintptr) { _, _, _ = s.receive(fd, b) })
	}); n > 1 && !raceDetected { // the closure
		t.Errorf("%v allocations a read", n)
	}
}

func TestFollowEnds(t *testing.T) {
	near, far := pair(t)
	f := follow(near, 100, true)
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * trust) // it takes a word and mistrusts it again
	near.Close()
	if err := f.end(t); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}

	near, far = pair(t)
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	clock := func() int64 { return 0 }
	if err := Follow(near, clock, func() []byte { return make([]byte, 9) }, func(int, int64) error { return enough }, func() {}); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// A peer that sends without a pause does not keep its connection from being closed.
func TestFollowEndsThoughMoreComes(t *testing.T) {
	near, far := pair(t)
	f := follow(near, 100, true)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for many := make([]byte, 1<<20); ; {
			if _, err := far.Write(many); err != nil {
				return
			}
		}
	}()
	time.Sleep(20 * time.Millisecond)
	closed := make(chan struct{})
	go func() { near.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("it can not be closed")
	}
	far.Close()
	if err := f.end(t); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	<-closed
	<-sent
}

// What is not from TCP is read as ever.
func TestFollowAnyReader(t *testing.T) {
	var got []byte
	b := make([]byte, 3)
	err := Follow(bytes.NewReader([]byte("abcdefgh")), func() int64 { return 0 }, func() []byte { return b }, func(n int, _ int64) error { got = append(got, b[:n]...); return nil }, func() { t.Error("it waits for what is there") })
	if !errors.Is(err, io.EOF) || string(got) != "abcdefgh" {
		t.Error(err, string(got))
	}
}
