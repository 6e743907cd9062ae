package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// withheld is a Cassandra that answers QUERYs when it is told to.
type withheld struct {
	mu   sync.Mutex
	list []*proxytest.Request
}

func (w *withheld) handle(r *proxytest.Request) {
	if r.Conn.Driver() == "Helenus" || (r.Header.Opcode != wire.OpQuery && r.Header.Opcode != wire.OpExecute && r.Header.Opcode != wire.OpBatch) {
		proxytest.Default(r)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, r)
}

func (w *withheld) requests() []*proxytest.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// wait returns the n-th request that came.
func (w *withheld) wait(t testing.TB, n int) *proxytest.Request {
	t.Helper()
	await(t, func() bool { return len(w.requests()) >= n })
	return w.requests()[n-1]
}

// numbered is a RESULT that only one request can have.
func numbered(n int) []byte {
	return wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), fmt.Sprint("answer ", n))
}

// manual is a clock that a test turns.
type manual struct{ at atomic.Int64 }

func (m *manual) now() int64              { return m.at.Load() }
func (m *manual) advance(d time.Duration) { m.at.Add(int64(d)) }

func send(t testing.TB, c *proxytest.Client, stream int16, opcode byte, body []byte) {
	t.Helper()
	if err := c.Send(stream, opcode, 0, body); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, c *proxytest.Client) (wire.Header, []byte) {
	t.Helper()
	h, body, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	return h, body
}

const timeout = time.Second

// TestRequestTimeout: a request that Cassandra does not answer is answered, its stream id is usable at once, and the late
// answer reaches nobody.
func TestRequestTimeout(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		k, clock, recorder := &withheld{}, &manual{}, &tally{}
		s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now, Recorder: recorder})
		c := connect(t, s, version)
		clock.advance(time.Hour)
		send(t, c, 7, wire.OpQuery, proxytest.QueryBody(version, "\n select one"))
		send(t, c, 8, wire.OpQuery, proxytest.QueryBody(version, "INSERT"))
		send(t, c, 9, wire.OpBatch, batchBody(version, "x", []byte("id")))
		k.wait(t, 3)
		clock.advance(timeout / 2)
		time.Sleep(300 * time.Millisecond) // more than one sweep
		if n := s.Stats().Timeouts; n != 0 {
			t.Errorf("v%d: %d requests timed out before their time", version, n)
		}
		clock.advance(timeout)
		want := map[int16][]byte{
			7: append(wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, 1), 0), 1), 0),
			8: wire.AppendString(wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, 1), 0), 1), "SIMPLE"),
			9: wire.AppendString(wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, 1), 0), 1), "BATCH"),
		}
		for range 3 {
			h, body := read(t, c)
			r := wire.NewReader(body)
			code, message := r.Int(), r.String()
			if wantCode := map[int16]int32{7: wire.ErrReadTimeout, 8: wire.ErrWriteTimeout, 9: wire.ErrWriteTimeout}[h.Stream]; h.Opcode != wire.OpError ||
				code != wantCode || !bytes.Contains(message, []byte("did not answer")) || !bytes.Equal(r.Rest(), want[h.Stream]) {
				t.Errorf("v%d: stream %d was answered %+v %q", version, h.Stream, h, body)
			}
			delete(want, h.Stream)
		}
		if n := s.Stats().Timeouts; n != 3 {
			t.Errorf("v%d: %d requests timed out", version, n)
		}
		await(t, func() bool { return len(recorder.find("INSERT")) > 0 }) // a moment after its client was answered
		if x := recorder.find("INSERT"); len(x) != 1 || !x[0].Failed || x[0].ErrorCode != wire.ErrWriteTimeout || x[0].Rewritten {
			t.Errorf("v%d: counted %+v", version, x)
		}
		// Barrier waits: Cassandra may still carry them out.
		if err := barrier(t, s, 20*time.Millisecond); err == nil {
			t.Errorf("v%d: the barrier does not wait for what Cassandra may still do", version)
		}
		// The client uses the id again: Cassandra sees another.
		long := bytes.Repeat([]byte{'x'}, 300_000)
		for i, text := range []string{"two", "three" + string(long)} {
			send(t, c, 7+int16(i), wire.OpQuery, proxytest.QueryBody(version, text))
			r := k.wait(t, 4+i)
			if r.Header.Stream == 7+int16(i) || r.Header.Stream < 0 || r.Text() != text {
				t.Errorf("v%d: %q reached Cassandra on stream %d", version, r.Text()[:3], r.Header.Stream)
			}
		}
		for i := range 3 {
			k.requests()[i].Reply(wire.OpResult, numbered(i))
		}
		await(t, func() bool { return s.Stats().Late == 3 })
		if err := barrier(t, s, 20*time.Millisecond); err == nil {
			t.Errorf("v%d: the barrier does not wait for aliases", version)
		}
		for i := 3; i < 5; i++ {
			body := numbered(i)
			if i == 4 { // a long answer has to be seen whole
				body = append(wire.AppendInt(wire.AppendNoMetadata(wire.AppendInt(nil, wire.ResultRows), 0), 0), long...)
			}
			k.requests()[i].Reply(wire.OpResult, body)
			h, got := read(t, c)
			if h.Stream != 7+int16(i-3) || !bytes.Equal(got, body) {
				t.Errorf("v%d: answered %+v, %d bytes", version, h, len(got))
			}
		}
		if err := barrier(t, s, time.Minute); err != nil {
			t.Error(err)
		}
		// All is as it was: the id goes to Cassandra as it is.
		send(t, c, 7, wire.OpQuery, proxytest.QueryBody(version, "three"))
		if r := k.wait(t, 6); r.Header.Stream != 7 {
			t.Errorf("v%d: stream %d", version, r.Header.Stream)
		}
	}
}

// TestAliasIsUsedByItsOwner: the client itself comes to the stream id that stands for another of its requests.
func TestAliasIsUsedByItsOwner(t *testing.T) {
	k, clock := &withheld{}, &manual{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now})
	c := connect(t, s, 4)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "one"))
	k.wait(t, 1)
	clock.advance(2 * timeout)
	read(t, c)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "two"))
	alias := k.wait(t, 2).Header.Stream
	send(t, c, alias, wire.OpQuery, proxytest.QueryBody(4, "three"))
	if r := k.wait(t, 3); r.Header.Stream == alias || r.Header.Stream == 1 {
		t.Errorf("stream %d means two requests", r.Header.Stream)
	}
	for i, stream := range map[int]int16{2: alias, 1: 1} {
		k.requests()[i].Reply(wire.OpResult, numbered(i))
		if h, body := read(t, c); h.Stream != stream || !bytes.Equal(body, numbered(i)) {
			t.Errorf("answered %+v %q", h, body)
		}
	}
	// Using an id whose request is in flight under an alias is as wrong as ever.
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "four"))
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "five"))
	if h, _ := read(t, c); h.Opcode != wire.OpError {
		t.Errorf("answered %+v", h)
	}
}

// TestTooManyLateAnswers: a connection that Cassandra does not answer is closed, and until then answers.
func TestTooManyLateAnswers(t *testing.T) {
	k, clock := &withheld{}, &manual{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now})
	c := connect(t, s, 4)
	var frames []byte
	for stream := range int16(1001) {
		frames = append(frames, c.Frame(stream, wire.OpQuery, 0, proxytest.QueryBody(4, "x"))...)
	}
	if err := c.SendRaw(frames); err != nil {
		t.Fatal(err)
	}
	k.wait(t, 1001)
	clock.advance(2 * timeout)
	for range 1001 {
		if _, _, err := c.Read(); err != nil {
			break
		}
	}
	if _, _, err := c.Read(); err == nil {
		t.Error("the connection lives on")
	}
	await(t, func() bool { return s.Stats().Stuck == 1 })

	c = connect(t, s, 4)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "x"))
	k.wait(t, 1002)
	clock.advance(2 * timeout)
	read(t, c)
	clock.advance(2 * time.Minute)
	if _, _, err := c.Read(); err == nil {
		t.Error("the connection lives on")
	}
	await(t, func() bool { return s.Stats().Stuck == 2 })
}

// TestTakenRequestsTimeOut: one that the Rewriter holds is answered, not sent, and lost to whoever carries it on; one that it
// forwarded is late like any other, and its Done hears the truth.
func TestTakenRequestsTimeOut(t *testing.T) {
	k, clock, w := &withheld{}, &manual{}, &scripted{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now, Rewriter: w})
	c := connect(t, s, 4)
	held := make(chan *proxy.Request, 1)
	done := make(chan proxy.Response, 2)
	w.take = func(r *proxy.Request) bool { held <- r; return true }
	w.set("x", rule(""))
	for _, carryOn := range []func(*proxy.Request){
		func(r *proxy.Request) { r.Forward(proxy.Forward{Done: func(x proxy.Response) { done <- x }}) },
		func(r *proxy.Request) { r.Fail(wire.ErrInvalid, "no"); done <- proxy.Response{Lost: true} },
	} {
		send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "x"))
		r := <-held
		clock.advance(2 * timeout)
		h, body := read(t, c)
		answer := wire.NewReader(body)
		if code := answer.Int(); h.Stream != 1 || h.Opcode != wire.OpError || code != wire.ErrOverloaded {
			t.Errorf("answered %+v %q", h, body)
		}
		carryOn(r)
		if x := <-done; !x.Lost || len(done) > 0 {
			t.Errorf("done with %+v", x)
		}
	}
	if n := len(k.requests()); n != 0 {
		t.Errorf("%d requests reached Cassandra after their client was answered", n)
	}
	if err := barrier(t, s, time.Minute); err != nil {
		t.Error(err)
	}
	w.take = func(r *proxy.Request) bool {
		go r.Forward(proxy.Forward{Done: func(x proxy.Response) { done <- x }})
		return true
	}
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "x"))
	k.wait(t, 1)
	clock.advance(2 * timeout)
	read(t, c)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "x")) // travels under an alias
	for i := range 2 {
		k.wait(t, 1+i).Reply(wire.OpResult, numbered(i))
		if x := <-done; x.Lost || x.Opcode != wire.OpResult || !bytes.Equal(x.Body, numbered(i)) {
			t.Errorf("done with %+v", x)
		}
	}
	if h, body := read(t, c); h.Stream != 1 || !bytes.Equal(body, numbered(1)) {
		t.Errorf("answered %+v %q", h, body)
	}
}

// TestShutdownDoesNotWaitForLateAnswers: their clients have answers.
func TestShutdownDoesNotWaitForLateAnswers(t *testing.T) {
	k, clock := &withheld{}, &manual{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now})
	c := connect(t, s, 4)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "x"))
	k.wait(t, 1)
	clock.advance(2 * timeout)
	read(t, c)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLateUSEIsFollowed: Cassandra carried it out, so that is the keyspace from then on.
func TestLateUSEIsFollowed(t *testing.T) {
	k, clock, recorder := &withheld{}, &manual{}, &tally{}
	s := startProxy(t, startMock(t, k.handle), proxy.Options{RequestTimeout: timeout, Clock: clock.now, Recorder: recorder})
	c := connect(t, s, 4)
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "USE late"))
	r := k.wait(t, 1)
	clock.advance(2 * timeout)
	read(t, c)
	r.Reply(wire.OpResult, wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), "late"))
	await(t, func() bool { return s.Stats().Late == 1 })
	send(t, c, 1, wire.OpQuery, proxytest.QueryBody(4, "next"))
	k.wait(t, 2)
	await(t, func() bool { return recorder.keyspaceOf("next") == "late" })
}

// TestEveryRequestIsAnsweredOnce draws requests, timeouts, answers in any order and late ones, changes of rules and taken requests, and
// holds what the client gets against a model: each request one answer, its own or an error, or the connection closed.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		version := rapid.SampledFrom([]byte{3, 4, 5}).Draw(rt, "version")
		k, clock, w := &withheld{}, &manual{}, &scripted{}
		m, err := proxytest.Start(k.handle)
		if err != nil {
			rt.Fatal(err)
		}
		defer m.Close()
		s, err := proxy.New(proxy.Options{ContactPoints: []string{m.Addr}, Listen: "127.0.0.1:0", RequestTimeout: 100 * time.Millisecond, Clock: clock.now, Rewriter: w})
		if err != nil {
			rt.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Shutdown(cancelled(t)) }()
		c, err := proxytest.Connect(s.Addrs()[0], version)
		if err != nil {
			rt.Fatal(err)
		}
		defer c.Close()
		w.take = func(r *proxy.Request) bool {
			if r.Text == "taken" {
				go r.Forward(proxy.Forward{})
				return true
			}
			return false
		}
		w.set("taken", rule(""))
		w.set("query", rule("another query"))

		waiting := map[int16]int{}                 // by the client's stream id: the number of its request, which awaits an answer
		unanswered := map[int]*proxytest.Request{} // requests that Cassandra has
		number, arrived := 0, 0
		expect := func(want func(h wire.Header, body []byte) bool) {
			h, body, err := c.Read()
			if err != nil {
				rt.Fatal(err)
			}
			if _, ok := waiting[h.Stream]; !ok || !want(h, body) {
				rt.Fatalf("stream %d (%v) got %+v %q", h.Stream, waiting, h, body)
			}
			delete(waiting, h.Stream)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"request": func(rt *rapid.T) {
				stream := rapid.OneOf(rapid.Int16Range(0, 6), rapid.Int16Range(1<<15-1026, 1<<15-1020)).Draw(rt, "stream")
				if _, ok := waiting[stream]; ok || len(unanswered) > 500 {
					rt.Skip()
				}
				number++
				waiting[stream] = number
				text := rapid.SampledFrom([]string{"plain", "taken", "query"}).Draw(rt, "text")
				body := proxytest.QueryBody(version, text, binary.BigEndian.AppendUint32(nil, uint32(number)), make([]byte, rapid.SampledFrom([]int{0, 0, 0, 70_000}).Draw(rt, "length")))
				if err := c.Send(stream, wire.OpQuery, 0, body); err != nil {
					rt.Fatal(err)
				}
				arrived++
				r := k.wait(t, arrived)
				var q wire.View
				q.See(r.Header, r.Body)
				q.Whole()
				first := true
				q.Values(r.Body, func(_, v []byte, _ int32) {
					if first && binary.BigEndian.Uint32(v) != uint32(number) {
						rt.Fatal("another request arrived")
					}
					first = false
				})
				for n, o := range unanswered {
					if o.Header.Stream == r.Header.Stream {
						rt.Fatalf("requests %d and %d have one stream id, %d", n, number, r.Header.Stream)
					}
				}
				unanswered[number] = r
			},
			"answer": func(rt *rapid.T) {
				if len(unanswered) == 0 {
					rt.Skip()
				}
				var list []int
				for n := range unanswered {
					list = append(list, n)
				}
				slices.Sort(list)
				n := rapid.SampledFrom(list).Draw(rt, "number")
				r := unanswered[n]
				delete(unanswered, n)
				body := append(numbered(n), make([]byte, rapid.SampledFrom([]int{0, 0, 0, 70_000}).Draw(rt, "length"))...)
				late := true
				for _, awaited := range waiting {
					late = late && awaited != n
				}
				before := s.Stats().Late
				r.Reply(wire.OpResult, body)
				if late {
					await(t, func() bool { return s.Stats().Late == before+1 })
					return
				}
				expect(func(h wire.Header, got []byte) bool { return waiting[h.Stream] == n && bytes.Equal(got, body) })
			},
			"timeout": func(*rapid.T) {
				clock.advance(250 * time.Millisecond)
				for len(waiting) > 0 {
					expect(func(h wire.Header, _ []byte) bool { return h.Opcode == wire.OpError })
				}
			},
			"rules": func(rt *rapid.T) {
				w.set("query", rule(rapid.SampledFrom([]string{"", "another query"}).Draw(rt, "rule")))
			},
			"bypass": func(rt *rapid.T) { s.Bypass(rapid.Bool().Draw(rt, "bypass")) },
		})
		for n, r := range unanswered {
			before, late := s.Stats().Late, true
			for _, awaited := range waiting {
				late = late && awaited != n
			}
			r.Reply(wire.OpResult, numbered(n))
			if late {
				await(t, func() bool { return s.Stats().Late == before+1 })
			} else {
				expect(func(h wire.Header, got []byte) bool { return waiting[h.Stream] == n && bytes.Equal(got, numbered(n)) })
			}
		}
		if err := barrier(t, s, time.Minute); err != nil {
			rt.Fatal(err)
		}
	})
}
