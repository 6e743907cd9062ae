package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/proxy/proxytest/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// pair is a connection through a relay, both its ends.
func pair(t *testing.T, o fault.Options) (r *fault.Relay, client, server *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if r, err = fault.Start(l.Addr().String(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, dial(t, r), accept(t, l)
}

func dial(t *testing.T, r *fault.Relay) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", r.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

func accept(t *testing.T, l net.Listener) *net.TCPConn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

func write(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c net.Conn, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// silent tells that nothing comes for a moment. It can only fail to see what comes late.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		t.Fatalf("%d bytes came, %v", n, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func TestItRelays(t *testing.T) {
	r, client, server := pair(t, fault.Options{})
	long := bytes.Repeat([]byte("0123456789"), 30_000)
	go func() { _, _ = client.Write(long); _ = client.CloseWrite() }()
	if got, err := io.ReadAll(server); err != nil || !bytes.Equal(got, long) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	write(t, server, []byte("after the client's end")) // one way's end leaves the other
	server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "after the client's end" {
		t.Fatalf("%q, %v", got, err)
	}
	if r.Passed(fault.Up) != int64(len(long)) || r.Passed(fault.Down) != 22 {
		t.Errorf("%d and %d bytes are counted", r.Passed(fault.Up), r.Passed(fault.Down))
	}
}

// TestPieces: split and throttled bytes are written in pieces of the size that was asked for; with a delay the peer also
// reads them so.
func TestPieces(t *testing.T) {
	var pieces atomic.Int32
	var asleep atomic.Int64
	r, client, server := pair(t, fault.Options{
		Tap:   func(connection int, way fault.Way, b []byte) { pieces.Add(1) },
		Sleep: func(_ context.Context, d time.Duration) { asleep.Add(int64(d)) },
	})
	text := []byte("0123456789")
	r.Split(fault.Up, 3)
	write(t, client, text)
	if got := read(t, server, 10); !bytes.Equal(got, text) || pieces.Load() != 4 {
		t.Errorf("%q in %d pieces", got, pieces.Load())
	}
	r.Split(fault.Up, 0)
	r.Delay(fault.Up, time.Second)
	r.Throttle(fault.Up, 200) // 2 bytes in 10 ms
	pieces.Store(0)
	write(t, client, text)
	read(t, server, 10)
	r.Delay(fault.Up, 0)
	r.Throttle(fault.Up, 0)
	write(t, client, text[:1])
	read(t, server, 1) // the last piece's sleep is over
	if pieces.Load() != 6 || time.Duration(asleep.Load()) != 5*time.Second+50*time.Millisecond {
		t.Errorf("%d pieces, asleep for %v", pieces.Load(), time.Duration(asleep.Load()))
	}
}

func TestDelayKeepsPiecesApart(t *testing.T) {
	r, client, server := pair(t, fault.Options{})
	r.Split(fault.Down, 1)
	r.Delay(fault.Down, 5*time.Millisecond)
	write(t, server, []byte("abc"))
	b := make([]byte, 10)
	if n, err := client.Read(b); n != 1 || err != nil {
		t.Errorf("%d bytes in one read, %v", n, err)
	}
	read(t, client, 2)
}

func TestStallAndResume(t *testing.T) {
	r, client, server := pair(t, fault.Options{})
	r.Stall(fault.Down)
	write(t, server, []byte("x"))
	silent(t, client)
	write(t, client, []byte("up is not stalled"))
	read(t, server, 17)
	// The writer meets a full socket.
	_ = server.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	n, err := server.Write(make([]byte, 64<<20))
	if !isTimeout(err) {
		t.Errorf("64 MB went into a stalled relay: %d, %v", n, err)
	}
	r.Resume(fault.Down)
	read(t, client, 1+n)
}

func TestDrop(t *testing.T) {
	r, client, server := pair(t, fault.Options{})
	r.Drop(fault.Up)
	write(t, client, []byte("lost"))
	silent(t, server)
	r.Resume(fault.Up)
	write(t, client, []byte("kept"))
	if got := read(t, server, 4); string(got) != "kept" {
		t.Errorf("%q arrived", got)
	}
}

func TestCut(t *testing.T) {
	for _, at := range []int64{1, 5, 10} {
		for _, split := range []int{0, 1, 3} {
			r, client, server := pair(t, fault.Options{})
			r.Split(fault.Up, split)
			r.CutAfter(fault.Up, at, fault.Finish)
			write(t, client, []byte("0123456789"))
			if got, err := io.ReadAll(server); err != nil || string(got) != "0123456789"[:at] {
				t.Errorf("cut at %d, split at %d: %q arrived, %v", at, split, got, err)
			}
			write(t, server, []byte("the other way"))
			read(t, client, 13)
		}
	}
}

func TestCutBeforeTheFirstByte(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := fault.Start(l.Addr().String(), fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.CutAfter(fault.Up, 0, fault.Finish)
	dial(t, r)
	if got, err := io.ReadAll(accept(t, l)); err != nil || len(got) != 0 {
		t.Errorf("%q arrived, %v", got, err)
	}
	r.Mend(fault.Up)
	client := dial(t, r)
	server := accept(t, l)
	write(t, client, []byte("mended"))
	read(t, server, 6)
}

func TestReset(t *testing.T) {
	r, client, server := pair(t, fault.Options{})
	r.CutAfter(fault.Up, 4, fault.Reset)
	write(t, client, []byte("0123456789"))
	for _, c := range []net.Conn{client, server} {
		if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("an end was told %v", err)
		}
	}
	for r.Connections() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestAServerThatIsNotThere resets the client.
func TestAServerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r, err := fault.Start(l.Addr().String(), fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := net.Dial("tcp", r.Addr) // may itself see the reset
	if err == nil {
		defer c.Close()
		_, err = io.ReadAll(c)
	}
	if err == nil {
		t.Error("the client was told that the stream ended in good order")
	}
}

// TestCloseEndsEverything: stalled, delayed and idle connections.
func TestCloseEndsEverything(t *testing.T) {
	r, client, _ := pair(t, fault.Options{})
	r.Stall(fault.Up)
	r.Delay(fault.Down, time.Hour)
	write(t, client, []byte("x"))
	r.Close()
	if r.Connections() != 0 {
		t.Error("a connection is left")
	}
}
