package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestEveryForwardedRequestIsCounted: whatever clients say through the proxy (texts, prepared ids, ids prepared elsewhere, batches,
// bodies that can not be read, failures), the sum over the registry is the number of requests that were forwarded and
// answered, while statements are being forgotten.
func TestEveryForwardedRequestIsCounted(t *testing.T) {
	server, err := proxytest.Start(func(r *proxytest.Request) {
		switch r.Header.Opcode {
		case wire.OpExecute, wire.OpBatch:
			r.Reply(wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))
		case wire.OpQuery:
			if text := r.Text(); text == "SELECT a FROM gone" {
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrInvalid, "unconfigured table gone"))
				return
			}
			proxytest.Default(r)
		default:
			proxytest.Default(r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := capture.New(capture.Options{Fingerprints: 16, Texts: 64, Windows: window.Options{Off: true}})
	defer r.Close()
	p, err := proxy.New(proxy.Options{ContactPoints: []string{server.Addr}, Listen: "127.0.0.1:0", Recorder: r})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Shutdown(context.Background()) }()
	const clients, rounds = 3, 60
	var said [clients]uint64
	var work sync.WaitGroup
	for n := range clients {
		work.Go(func() {
			c, err := proxytest.Connect(p.Addrs()[0], 4, "APPLICATION_NAME", fmt.Sprint("app", n))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			call := func(opcode byte, body []byte) {
				if _, _, err := c.Call(opcode, body); err != nil {
					t.Error(err)
				}
				if opcode != wire.OpPrepare {
					said[n]++
				}
			}
			text := fmt.Sprintf("INSERT INTO t%d (a) VALUES (?)", n)
			call(wire.OpPrepare, proxytest.PrepareBody(4, text))
			for i := range rounds {
				call(wire.OpQuery, proxytest.QueryBody(4, fmt.Sprintf("SELECT a FROM u%d WHERE b = %d", i%40, i)))
				call(wire.OpQuery, proxytest.QueryBody(4, "SELECT a FROM gone"))
				call(wire.OpQuery, []byte{0, 0, 0, 9, 'x'}) // cut short
				call(wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(text), []byte("v")))
				call(wire.OpExecute, proxytest.ExecuteBody(4, []byte("prepared elsewhere"), []byte("v")))
				call(wire.OpBatch, []byte{0, 0, 2})
				call(wire.OpBatch, batchOf(proxytest.PreparedID(text), []byte("unheard of")))
			}
		})
	}
	work.Wait()
	var requests uint64
	for _, n := range said {
		requests += n
	}
	var s *capture.Snapshot
	await(t, "all are counted", func() bool { // the last answers are counted after they were sent
		s = r.Counts()
		return s.Requests() >= requests
	})
	if s.Requests() != requests {
		t.Errorf("%d requests are counted of %d", s.Requests(), requests)
	}
	// Unknown: those that are cut short (QUERY, BATCH), the EXECUTE of an id from elsewhere, and one child of each batch.
	if want := uint64(clients * rounds); s.Unknown.Count != 4*want || s.Unknown.InBatch != want || s.Unknown.Callers[0].Application == "" {
		t.Errorf("unknown: %d, %d of them in batches, want %d and %d; said by %+v", s.Unknown.Count, s.Unknown.InBatch, 4*want, want, s.Unknown.Callers)
	}
}

// batchOf is a body of a BATCH of two prepared ids.
func batchOf(ids ...[]byte) []byte {
	b := wire.AppendShort([]byte{0}, uint16(len(ids)))
	for _, id := range ids {
		b = wire.AppendShort(wire.AppendString(append(b, 1), string(id)), 0)
	}
	return append(wire.AppendShort(b, 1), 0)
}
