package proxy_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// These tests are about frames that are longer than a buffer, and are streamed, while something else happens.

// TestAnAnswerOfTheProxyWaitsForAStreamedOne: what the proxy itself answers does not go into the middle of Cassandra's.
func TestAnAnswerOfTheProxyWaitsForAStreamedOne(t *testing.T) {
	long := wire.AppendBytes(wire.AppendInt(nil, wire.ResultVoid), bytes.Repeat([]byte("long"), 100_000))
	rest := make(chan struct{})
	for _, version := range []byte{4, 5} {
		w, begun := &scripted{}, make(chan struct{})
		m := startMock(t, func(r *proxytest.Request) {
			if r.Text() != "long" {
				proxytest.Default(r)
				return
			}
			frame := wire.AppendFrame(nil, wire.Header{Version: version | wire.ResponseBit, Stream: r.Header.Stream, Opcode: wire.OpResult}, long)
			if version == 5 {
				frame = wire.AppendSegments(nil, frame)
			}
			r.Conn.SendRaw(frame[:150_000])
			close(begun)
			go func() { <-rest; r.Conn.SendRaw(frame[150_000:]) }()
		})
		s := startProxy(t, m, proxy.Options{Rewriter: w})
		c := connect(t, s, version)
		w.set("mine", rule(""))
		w.take = func(r *proxy.Request) bool { r.Fail(wire.ErrInvalid, "taken"); rest <- struct{}{}; return true }
		if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(version, "long")); err != nil {
			t.Fatal(err)
		}
		<-begun
		time.Sleep(50 * time.Millisecond) // its beginning reaches the client; if it does not, less is tested
		if err := c.Send(2, wire.OpQuery, 0, proxytest.QueryBody(version, "mine")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			h, body, err := c.Read()
			switch {
			case err != nil:
				t.Fatalf("v%d: %v", version, err)
			case h.Stream == 1 && !bytes.Equal(body, long):
				t.Errorf("v%d: the long answer arrived changed", version)
			case h.Stream == 2 && !bytes.Equal(body, wire.AppendError(nil, wire.ErrInvalid, "taken")):
				t.Errorf("v%d: the proxy's answer arrived changed", version)
			}
		}
	}
}

// TestALongRequestWhileDraining: it is refused once, like any other.
func TestALongRequestWhileDraining(t *testing.T) {
	for _, version := range []byte{4, 5} {
		release := make(chan struct{})
		m := startMock(t, func(r *proxytest.Request) {
			if r.Text() == "slow" {
				go func() { <-release; proxytest.Default(r) }()
				return
			}
			proxytest.Default(r)
		})
		s := startProxy(t, m, proxy.Options{})
		c := connect(t, s, version)
		if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(version, "slow")); err != nil {
			t.Fatal(err)
		}
		call(t, c, wire.OpQuery, proxytest.QueryBody(version, "quick"))
		await(t, s.Ready)
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		await(t, func() bool { return !s.Ready() })
		h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, []byte("id"), make([]byte, 300_000)))
		if r := wire.NewReader(body); h.Opcode != wire.OpError || r.Int() != wire.ErrOverloaded {
			t.Errorf("v%d: answered %+v %q", version, h, body)
		}
		close(release)
		if h, _, err := c.Read(); err != nil || h.Stream != 1 {
			t.Errorf("v%d: then came %+v %v", version, h, err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// flipping is a Rewriter whose first rule comes between two looks at its epoch.
type flipping struct {
	scripted
	looks atomic.Int32 // at which the epoch is still 0, once armed
	armed atomic.Bool
}

func (f *flipping) Epoch() uint64 {
	if !f.armed.Load() || f.looks.Add(-1) >= 0 {
		return 0
	}
	return 1
}

// TestTheFirstRuleComesWhileALongWriteIsRead: at whatever look the new epoch is seen, the write is offered, or unknown.
func TestTheFirstRuleComesWhileALongWriteIsRead(t *testing.T) {
	for _, version := range []byte{4, 5} {
		for looks := range int32(3) {
			k, w := &kept{}, &flipping{}
			s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w})
			c := connect(t, s, version)
			call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, writeText))
			w.set(writeText, rule(""))
			w.take = func(r *proxy.Request) bool { r.Fail(wire.ErrInvalid, "taken"); return true }
			w.looks.Store(looks)
			w.armed.Store(true)
			for _, id := range [][]byte{proxytest.PreparedID(writeText), []byte("unknown")} {
				h, _ := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, id, make([]byte, 300_000)))
				if h.Opcode != wire.OpError {
					t.Errorf("v%d: rules came after %d looks, and %q went by: %+v", version, looks, id, h)
				}
			}
			call(t, c, wire.OpOptions, nil)
		}
	}
}
