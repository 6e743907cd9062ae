package proxy_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestHeldRequestsAreBounded: what a Rewriter has taken and not yet dealt with is refused beyond a bound, not kept and not
// let by; and there is room again when it was dealt with.
func TestHeldRequestsAreBounded(t *testing.T) {
	const limit = 128 << 10
	k, w := &kept{}, &scripted{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w, MaxFrame: limit / 4})
	c := connect(t, s, 4)
	taken := make(chan *proxy.Request, 1000)
	w.take = func(r *proxy.Request) bool { taken <- r; return true }
	w.set(writeText, rule(""))
	body := proxytest.QueryBody(4, writeText, make([]byte, 10<<10))
	for i := range 40 {
		if err := c.Send(int16(i), wire.OpQuery, 0, body); err != nil {
			t.Fatal(err)
		}
	}
	fits := limit / len(body)
	for range 40 - fits {
		_, answer, err := c.Read()
		if r := wire.NewReader(answer); err != nil || r.Int() != wire.ErrOverloaded {
			t.Fatalf("answered %q %v", answer, err)
		}
	}
	for range fits {
		(<-taken).Forward(proxy.Forward{})
		if h, _, err := c.Read(); err != nil || h.Opcode != wire.OpResult {
			t.Fatalf("%+v %v", h, err)
		}
	}
	if err := c.Send(1, wire.OpQuery, 0, body); err != nil {
		t.Fatal(err)
	}
	(<-taken).Fail(wire.ErrInvalid, "seen")
	if h, _, err := c.Read(); err != nil || h.Opcode != wire.OpError || k.count() != fits {
		t.Errorf("%+v %v, %d of %d reached Cassandra", h, err, k.count(), fits)
	}
}

// TestARecreatedTableIsNoticed: the same text prepared again has the same id and other variables.
func TestARecreatedTableIsNoticed(t *testing.T) {
	var second atomic.Bool
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpPrepare {
			variables := []proxytest.Column{{Name: "a", Type: 9}}
			if second.Load() {
				variables[0].Type = 12
			}
			r.Reply(wire.OpResult, proxytest.PreparedBody(4, r.Text(), variables, nil))
			return
		}
		proxytest.Default(r)
	})
	w := &scripted{}
	s := startProxy(t, m, proxy.Options{Rewriter: w})
	c, other := connect(t, s, 4), connect(t, s, 4)
	w.set(writeText, rule(""))
	var of uint16
	w.take = func(r *proxy.Request) bool {
		of = r.Prepared.Variables[0].Type.Code
		r.Fail(wire.ErrInvalid, "seen")
		return true
	}
	for _, want := range []uint16{9, 12} {
		second.Store(want == 12)
		call(t, other, wire.OpPrepare, proxytest.PrepareBody(4, writeText))
		call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(writeText), []byte("v")))
		if of != want {
			t.Errorf("the variable is of type %d, want %d", of, want)
		}
	}
}

// TestBarrierWaitsForDone: a forwarded request is over when its Rewriter was told of the answer.
func TestBarrierWaitsForDone(t *testing.T) {
	w, told := &scripted{}, make(chan struct{})
	s := startProxy(t, startMock(t, nil), proxy.Options{Rewriter: w})
	c := connect(t, s, 4)
	var done atomic.Bool
	w.take = func(r *proxy.Request) bool {
		r.Forward(proxy.Forward{Done: func(proxy.Response) {
			close(told)
			time.Sleep(20 * time.Millisecond)
			done.Store(true)
		}})
		return true
	}
	w.set(writeText, rule(""))
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, writeText)); err != nil {
		t.Fatal(err)
	}
	<-told
	if err := s.Barrier(t.Context()); err != nil || !done.Load() {
		t.Errorf("the barrier did not wait: %v", err)
	}
}

// TestBatchesAreSampled: each child is told its own values.
func TestBatchesAreSampled(t *testing.T) {
	for _, version := range []byte{4, 5} {
		recorder := &tally{}
		s := startProxy(t, startMock(t, nil), proxy.Options{Recorder: recorder})
		c := connect(t, s, version)
		text := fmt.Sprintf("INSERT v%d", version)
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, text))
		for _, sampled := range []bool{false, true} {
			recorder.sampling.Store(sampled)
			call(t, c, wire.OpBatch, batchBody(version, "plain", proxytest.PreparedID(text)))
		}
		await(t, func() bool { return len(recorder.find(text)) == 2 && len(recorder.find("plain")) == 2 })
		if x := recorder.find(text); len(x[0].Values) != 0 || len(x[1].Values) != 1 || string(x[1].Values[0].Bytes) != "value" || !x[1].InBatch {
			t.Errorf("v%d: the prepared child is told %+v", version, x)
		}
		if x := recorder.find("plain"); len(x[1].Values) != 0 {
			t.Errorf("v%d: the child without values is told %+v", version, x)
		}
		if x := recorder.find("BATCH 0 | plain | " + text); len(x) != 2 || len(x[1].Values) != 0 {
			t.Errorf("v%d: the batch is told %+v", version, x)
		}
	}
}

// TestAnAnswerWithOtherColumnsIsAnError, not a stream that the client can not follow.
func TestAnAnswerWithOtherColumnsIsAnError(t *testing.T) {
	k, w := &kept{}, &scripted{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w})
	c := connect(t, s, 4)
	call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, readText))
	w.take = func(r *proxy.Request) bool { r.Answer(proxy.Rows{{nil, nil}, {nil}}); return true }
	w.set(readText, rule(""))
	h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(readText), []byte("v")))
	if r := wire.NewReader(body); h.Opcode != wire.OpError || r.Int() != wire.ErrServer {
		t.Errorf("answered %+v %q", h, body)
	}
}

// TestAPreparedIDBehindLongWarnings is known like any other.
func TestAPreparedIDBehindLongWarnings(t *testing.T) {
	warnings := wire.AppendShort(nil, 3)
	for range 3 {
		warnings = wire.AppendString(warnings, strings.Repeat("w", 60_000))
	}
	for _, version := range []byte{4, 5} {
		m := startMock(t, func(r *proxytest.Request) {
			if r.Header.Opcode == wire.OpPrepare {
				r.ReplyFlags(wire.OpResult, wire.FlagWarnings, append(warnings, proxytest.PreparedBody(version, r.Text(), columns, columns)...))
				return
			}
			proxytest.Default(r)
		})
		w := &scripted{}
		s := startProxy(t, m, proxy.Options{Rewriter: w})
		c := connect(t, s, version)
		w.epoch.Store(1)
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, readText))
		if h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(readText))); h.Opcode != wire.OpResult {
			t.Errorf("v%d: the id is not known: %q", version, body)
		}
	}
}

// TestVersionsShareAPreparedID: Cassandra gives a text the same id in every version, but says less of it in earlier ones.
// A client of either must not look to the Rewriter as if it knew other columns.
func TestVersionsShareAPreparedID(t *testing.T) {
	k, w := &kept{}, &scripted{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w})
	c := map[byte]*proxytest.Client{3: connect(t, s, 3), 4: connect(t, s, 4), 5: connect(t, s, 5)}
	w.take = func(r *proxy.Request) bool {
		if r.Unusual || (r.Version >= 4 && len(r.Prepared.PartitionKey) != 1) {
			t.Errorf("v%d: taken %+v of %+v", r.Version, r, r.Prepared)
		}
		r.Fail(wire.ErrInvalid, "seen")
		return true
	}
	w.set(readText, rule(""))
	for _, order := range [][]byte{{3, 4, 5}, {5, 4, 3}, {4, 5, 3}} {
		for _, version := range order {
			call(t, c[version], wire.OpPrepare, proxytest.PrepareBody(version, readText))
		}
		for version, c := range c {
			call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(readText), []byte("v")))
		}
	}
}
