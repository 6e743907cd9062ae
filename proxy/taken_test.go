package proxy_test

import (
	"bytes"
	"context"
	"math"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

const (
	readText  = "SELECT a, b FROM t WHERE a = ?"
	writeText = "INSERT INTO t (a, b) VALUES (?, ?)"
)

var columns = []proxytest.Column{{Name: "a", Type: 9}, {Name: "b", Type: 13}}

// kept keeps the requests that reach Cassandra on clients' connections.
type kept struct {
	mu   sync.Mutex
	list []proxytest.Request
}

func (k *kept) handle(r *proxytest.Request) {
	if r.Conn.Driver() != "Helenus" && r.Header.Opcode != wire.OpStartup {
		k.mu.Lock()
		k.list = append(k.list, *r)
		k.mu.Unlock()
	}
	if r.Header.Opcode == wire.OpPrepare {
		results := columns
		if r.Text()[0] != 'S' {
			results = nil
		}
		r.Reply(wire.OpResult, proxytest.PreparedBody(r.Header.Version, r.Text(), columns[:1], results))
		return
	}
	proxytest.Default(r)
}

func (k *kept) last() proxytest.Request {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list[len(k.list)-1]
}

func (k *kept) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.list)
}

func call(t *testing.T, c *proxytest.Client, opcode byte, body []byte) (wire.Header, []byte) {
	t.Helper()
	h, answer, err := c.Call(opcode, body)
	if err != nil {
		t.Fatal(err)
	}
	return h, answer
}

func TestTakenRequests(t *testing.T) {
	for _, d := range dialects {
		k, w, recorder, version := &kept{}, &scripted{}, &tally{}, d.version
		s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w, Recorder: recorder, StripCompression: d.strip})
		c := d.connect(t, s)
		w.set(readText, rule(""))
		w.set(writeText, rule(""))
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, readText))
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, writeText))
		execute := func(text string, values ...[]byte) []byte {
			return proxytest.ExecuteBody(version, proxytest.PreparedID(text), values...)
		}
		name := func(s string) string { return d.name + " " + s }

		t.Run(name("answer"), func(t *testing.T) {
			w.take = func(r *proxy.Request) bool {
				if r.Text != readText || len(r.Values) != 1 || string(r.Values[0].Bytes) != "key" || r.Prepared == nil || r.Version != version {
					t.Errorf("taken %+v", r)
				}
				go r.Answer(proxy.Rows{{[]byte("key"), nil}, {[]byte("key"), []byte("x")}})
				return true
			}
			n := k.count()
			h, body := call(t, c, wire.OpExecute, execute(readText, []byte("key")))
			want := proxytest.RowsBody("k", "t", columns, [][][]byte{{[]byte("key"), nil}, {[]byte("key"), []byte("x")}})
			if h.Opcode != wire.OpResult || !bytes.Equal(body, want) {
				t.Errorf("answered %+v %q, want %q", h, body, want)
			}
			skip := execute(readText, []byte("key"))
			skip[bytes.Index(skip, []byte{1, 0, 1, 0, 0, 0, 3})] |= byte(wire.ParamSkipMetadata)
			_, body = call(t, c, wire.OpExecute, skip)
			want = wire.AppendRows(nil, wire.AppendInt(wire.AppendInt(nil, wire.MetaNoMetadata|wire.MetaGlobalTable), 2), [][][]byte{{[]byte("key"), nil}, {[]byte("key"), []byte("x")}})
			if !bytes.Equal(body, want) {
				t.Errorf("without metadata answered %q, want %q", body, want)
			}
			if k.count() != n {
				t.Error("Cassandra was asked")
			}
			await(t, func() bool { return len(recorder.find(readText)) == 2 })
			if x := recorder.find(readText)[0]; !x.Rewritten || x.Rows != 2 || x.Failed {
				t.Errorf("counted %+v", x)
			}
		})
		t.Run(name("fail"), func(t *testing.T) {
			w.take = func(r *proxy.Request) bool { r.Fail(wire.ErrOverloaded, "not now"); return true }
			h, body := call(t, c, wire.OpExecute, execute(readText, []byte("key")))
			if h.Opcode != wire.OpError || !bytes.Equal(body, wire.AppendError(nil, wire.ErrOverloaded, "not now")) {
				t.Errorf("answered %+v %q", h, body)
			}
		})
		t.Run(name("not taken"), func(t *testing.T) {
			w.take = func(*proxy.Request) bool { return false }
			call(t, c, wire.OpExecute, execute(readText, []byte("key")))
			if got := k.last(); !bytes.Equal(got.Body, execute(readText, []byte("key"))) {
				t.Errorf("Cassandra got %q", got.Body)
			}
		})
		t.Run(name("forwarded as it came"), func(t *testing.T) {
			done := make(chan proxy.Response, 1)
			w.take = func(r *proxy.Request) bool {
				go r.Forward(proxy.Forward{Done: func(x proxy.Response) {
					x.Body = bytes.Clone(x.Body)
					done <- x
				}})
				return true
			}
			query := append(wire.AppendLongString(nil, writeText), params(version, wire.ParamValues|wire.ParamSerial, 0)...)
			own := append(wire.AppendLongString(nil, writeText), params(version, wire.ParamValues|wire.ParamSerial|wire.ParamTimestamp, 77)...)
			batch := batchBody(version, writeText, proxytest.PreparedID(writeText))
			for _, q := range []struct {
				opcode byte
				sent   []byte
			}{{wire.OpQuery, query}, {wire.OpQuery, own}, {wire.OpBatch, batch}} {
				call(t, c, q.opcode, q.sent)
				if got := k.last(); got.Header.Opcode != q.opcode || !bytes.Equal(got.Body, q.sent) {
					t.Errorf("Cassandra got %q, want %q", got.Body, q.sent)
				}
				if x := <-done; x.Lost || x.Failed || x.Opcode != proxy.OpResult || !bytes.Equal(x.Body, wire.AppendInt(nil, wire.ResultVoid)) {
					t.Errorf("done with %+v", x)
				}
			}
		})
		t.Run(name("a long one"), func(t *testing.T) {
			w.take = func(r *proxy.Request) bool { r.Forward(proxy.Forward{}); return true }
			long := execute(writeText, make([]byte, 500_000))
			call(t, c, wire.OpExecute, long)
			if got := k.last(); !bytes.Equal(got.Body, long) {
				t.Errorf("Cassandra got %d bytes, %d were sent", len(got.Body), len(long))
			}
		})
		t.Run(name("batch"), func(t *testing.T) {
			w.take = func(r *proxy.Request) bool {
				if len(r.Children) != 2 || r.Children[0].Text != "TRUNCATE x" || r.Children[0].Rule != nil || r.Children[1].Text != writeText ||
					r.Children[1].Rule == nil || string(r.Children[1].Values[0].Bytes) != "value" || r.Consistency != 1 {
					t.Errorf("taken %+v", r)
				}
				r.Fail(wire.ErrInvalid, "seen")
				return true
			}
			h, _ := call(t, c, wire.OpBatch, batchBody(version, "TRUNCATE x", proxytest.PreparedID(writeText)))
			if h.Opcode != wire.OpError {
				t.Error("the batch was not offered")
			}
		})
	}
}

// params are consistency LOCAL_ONE, flags, one value, a serial consistency and perhaps a timestamp.
func params(version byte, flags uint32, timestamp int64) []byte {
	b := wire.AppendShort(nil, 10)
	if version >= 5 {
		b = wire.AppendInt(b, int32(flags))
	} else {
		b = append(b, byte(flags))
	}
	b = wire.AppendBytes(wire.AppendShort(b, 1), []byte("v"))
	b = wire.AppendShort(b, 9)
	if flags&wire.ParamTimestamp != 0 {
		b = wire.AppendLong(b, timestamp)
	}
	return b
}

func TestTextIsReplaced(t *testing.T) {
	for _, d := range dialects {
		k, w, version := &kept{}, &scripted{}, d.version
		s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w, StripCompression: d.strip})
		c := d.connect(t, s)
		w.set("SELECT 1", rule("SELECT 22"))
		call(t, c, wire.OpQuery, proxytest.QueryBody(version, "SELECT 1", []byte("v")))
		if got := k.last(); !bytes.Equal(got.Body, proxytest.QueryBody(version, "SELECT 22", []byte("v"))) {
			t.Errorf("v%d: queried %q", version, got.Body)
		}
		// In one packet, among others that are not replaced: all arrive, in order.
		n := k.count()
		frames := c.Frame(1, wire.OpQuery, 0, proxytest.QueryBody(version, "a"))
		frames = append(frames, c.Frame(2, wire.OpQuery, 0, proxytest.QueryBody(version, "SELECT 1"))...)
		frames = append(frames, c.Frame(3, wire.OpQuery, 0, proxytest.QueryBody(version, "b"))...)
		if err := c.SendRaw(frames); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, _, err := c.Read(); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{"a", "SELECT 22", "b"} {
			if got := k.list[n+i].Text(); got != want {
				t.Errorf("v%d: request %d is %q, want %q", version, i, got, want)
			}
		}
	}
}

// TestUnknownIDs: before any rule an unknown id is forwarded; with rules it is answered Unprepared; and an id prepared on
// another connection of the proxy is known.
func TestUnknownIDs(t *testing.T) {
	for _, version := range []byte{4, 5} {
		k, w, recorder := &kept{}, &scripted{}, &tally{}
		s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w, Recorder: recorder})
		c := connect(t, s, version)
		id := proxytest.PreparedID(readText)
		body := proxytest.ExecuteBody(version, id, []byte("v"))
		if h, _ := call(t, c, wire.OpExecute, body); h.Opcode != wire.OpResult {
			t.Errorf("v%d: an unknown id is not forwarded: %+v", version, h)
		}
		w.epoch.Store(1)
		for opcode, body := range map[byte][]byte{wire.OpExecute: body, wire.OpBatch: batchBody(version, "x", id)} {
			h, answer := call(t, c, opcode, body)
			r := wire.NewReader(answer)
			code, _, got := r.Int(), r.String(), r.String()
			if h.Opcode != wire.OpError || code != wire.ErrUnprepared || !bytes.Equal(got, id) || r.Bad() {
				t.Errorf("v%d: an unknown id is answered %+v %q", version, h, answer)
			}
		}
		other := connect(t, s, version)
		call(t, other, wire.OpPrepare, proxytest.PrepareBody(version, readText))
		if h, _ := call(t, c, wire.OpExecute, body); h.Opcode != wire.OpResult {
			t.Errorf("v%d: an id of another connection is not known: %+v", version, h)
		}
		await(t, func() bool { return len(recorder.find(readText)) == 1 })
		w.set(readText, rule("")) // a new epoch is noticed for an id that is bound already
		w.take = func(r *proxy.Request) bool { r.Fail(wire.ErrInvalid, "taken"); return true }
		if h, _ := call(t, c, wire.OpExecute, body); h.Opcode != wire.OpError {
			t.Errorf("v%d: the new rule is not asked for", version)
		}
	}
}

func TestBarrier(t *testing.T) {
	release := make(chan struct{})
	w := &scripted{}
	held := make(chan *proxy.Request, 1)
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "slow" {
			go func() { <-release; proxytest.Default(r) }()
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Rewriter: w})
	barrier := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return s.Barrier(ctx)
	}
	if err := barrier(time.Minute); err != nil {
		t.Errorf("nothing is in flight: %v", err)
	}
	c := connect(t, s, 4)
	send := func(stream int16, text string) {
		t.Helper()
		if err := c.Send(stream, wire.OpQuery, 0, proxytest.QueryBody(4, text)); err != nil {
			t.Fatal(err)
		}
	}
	n := s.Stats().Requests
	send(1, "slow")
	send(2, "quick") // answered, so the slow one before it is in flight
	if _, _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return s.Stats().Requests > n })
	if err := barrier(20 * time.Millisecond); err == nil {
		t.Error("the barrier does not wait for a request in flight")
	}
	passed := make(chan error, 1)
	go func() { passed <- barrier(time.Minute) }()
	time.Sleep(5 * time.Millisecond)
	send(3, "quick") // later requests are not waited for, answered or not
	close(release)
	if err := <-passed; err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, _, err := c.Read(); err != nil {
			t.Fatal(err)
		}
	}
	// A taken request is in flight until it is answered.
	w.set("taken", rule(""))
	w.take = func(r *proxy.Request) bool { held <- r; return true }
	send(4, "taken")
	r := <-held
	if err := barrier(20 * time.Millisecond); err == nil {
		t.Error("the barrier does not wait for a taken request")
	}
	r.Fail(wire.ErrInvalid, "now")
	if err := barrier(time.Minute); err != nil {
		t.Error(err)
	}
	// A closed connection has nothing in flight.
	send(5, "taken")
	r = <-held
	c.Close()
	if err := barrier(time.Minute); err != nil {
		t.Error(err)
	}
	lost := make(chan proxy.Response, 1)
	await(t, func() bool { return s.Stats().Connections == 0 })
	r.Forward(proxy.Forward{Done: func(x proxy.Response) { lost <- x }})
	if x := <-lost; !x.Lost {
		t.Errorf("forwarded on a closed connection: %+v", x)
	}
}

func TestForwardedRequestIsLostWithItsConnection(t *testing.T) {
	w := &scripted{}
	arrived := make(chan struct{}, 1)
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "lose me" {
			arrived <- struct{}{}
			r.Conn.Close()
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Rewriter: w})
	c := connect(t, s, 4)
	w.set("lose me", rule(""))
	lost := make(chan proxy.Response, 2)
	w.take = func(r *proxy.Request) bool {
		r.Forward(proxy.Forward{Done: func(x proxy.Response) { lost <- x }})
		return true
	}
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "lose me")); err != nil {
		t.Fatal(err)
	}
	<-arrived
	if x := <-lost; !x.Lost {
		t.Errorf("done with %+v", x)
	}
	if _, _, err := c.Read(); err == nil {
		t.Error("the client's connection lives on")
	}
	await(t, func() bool { return s.Stats().Connections == 0 })
	if len(lost) != 0 {
		t.Error("Done was called twice")
	}
}

func reset(c net.Conn) error {
	if err := c.(*net.TCPConn).SetLinger(0); err != nil {
		return err
	}
	return c.Close()
}

// What a client sent before it went reaches Cassandra, as it would without us, though it was held; whether it went in good order, or
// without having read its answers.
func TestHeldRequestOutlivesItsClient(t *testing.T) {
	const unread = 3 // the first answer that is written to a client that reset is told so, those after it fail
	for name, leave := range map[string]func(net.Conn) error{"in good order": net.Conn.Close, "reset": reset} {
		t.Run(name, func(t *testing.T) {
			w := &scripted{}
			asked, written := make(chan *proxytest.Request, unread), make(chan struct{}, 1)
			m := startMock(t, func(r *proxytest.Request) {
				switch r.Text() {
				case "unread":
					asked <- r
				case "held":
					written <- struct{}{}
				default:
					proxytest.Default(r)
				}
			})
			s := startProxy(t, m, proxy.Options{Rewriter: w})
			c := connect(t, s, 4)
			w.set("held", rule(""))
			taken := make(chan *proxy.Request, 1)
			w.take = func(r *proxy.Request) bool { taken <- r; return true }
			send := func(stream int16, text string) {
				t.Helper()
				if err := c.Send(stream, wire.OpQuery, 0, proxytest.QueryBody(4, text)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range unread {
				send(int16(i), "unread")
			}
			send(unread, "held")
			r := <-taken
			if err := leave(c.Conn); err != nil {
				t.Fatal(err)
			}
			for range unread {
				proxytest.Default(<-asked)
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			r.Forward(proxy.Forward{})
			select {
			case <-written:
			case <-time.After(proxytest.Patience):
				t.Error("it did not reach Cassandra")
			}
			await(t, func() bool { return s.Stats().Connections == 0 })
		})
	}
}

// TestRulesChangeUnderLoad proves the handshake of Barrier and Epoch: after the barrier no request that saw the old rules
// is under way.
func TestRulesChangeUnderLoad(t *testing.T) {
	w := &scripted{}
	var mu sync.Mutex
	untaken := 0 // requests that reached Cassandra past the rewriter, which lets none through
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == writeText {
			mu.Lock()
			untaken++
			mu.Unlock()
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Rewriter: w})
	w.take = func(r *proxy.Request) bool { go r.Fail(wire.ErrOverloaded, "taken"); return true }
	stop := make(chan struct{})
	var work sync.WaitGroup
	for range 4 {
		c := connect(t, s, 4)
		work.Add(1)
		go func() {
			defer work.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, writeText)); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 20 {
		time.Sleep(2 * time.Millisecond)
		w.set(writeText, rule(""))
		if err := s.Barrier(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		before := untaken
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		if untaken != before {
			t.Errorf("%d requests went by the old rules after the barrier", untaken-before)
		}
		mu.Unlock()
		w.mu.Lock()
		delete(w.rules, writeText)
		w.mu.Unlock()
		w.epoch.Add(1)
	}
	close(stop)
	work.Wait()
}

// TestOptionsAsSent: the Rewriter is told of a page size of 0, of an empty paging state, of the least timestamp, and of a serial consistency that is none, which Cassandra refuses, apart from none.
func TestOptionsAsSent(t *testing.T) {
	w := &scripted{}
	s := startProxy(t, startMock(t, (&kept{}).handle), proxy.Options{Rewriter: w})
	c := connect(t, s, 4)
	w.set(readText, rule(""))
	call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, readText))
	size, state, stamp, serial := byte(wire.ParamPageSize), byte(wire.ParamPagingState), byte(wire.ParamTimestamp), byte(wire.ParamSerial)
	for _, sent := range []struct {
		flags          byte
		rest           []byte
		unusual, state bool
	}{
		{0, nil, false, false},
		{size, wire.AppendInt(nil, 100), false, false},
		{size, wire.AppendInt(nil, -1), false, false},
		{size, wire.AppendInt(nil, 0), true, false},
		{state, wire.AppendInt(nil, 0), false, true},
		{state, wire.AppendInt(nil, -1), false, false}, // null
		{size | state, append(wire.AppendInt(nil, 100), 0, 0, 0, 1, 'x'), false, true},
		{stamp, wire.AppendLong(nil, math.MinInt64), true, false},
		{stamp, wire.AppendLong(nil, math.MinInt64+1), false, false},
		{serial, wire.AppendShort(nil, 77), true, false},
		{serial, wire.AppendShort(nil, wire.LocalSerial), false, false},
	} {
		taken := 0
		w.take = func(r *proxy.Request) bool {
			if taken++; r.Unusual != sent.unusual || (r.PagingState != nil) != sent.state {
				t.Errorf("flags %#x, %v: unusual %t, state %q", sent.flags, sent.rest, r.Unusual, r.PagingState)
			}
			r.Fail(wire.ErrInvalid, "seen")
			return true
		}
		body := append(wire.AppendShort(wire.AppendString(nil, string(proxytest.PreparedID(readText))), 1), sent.flags|byte(wire.ParamValues))
		body = append(wire.AppendInt(wire.AppendShort(body, 1), 1), 'v')
		call(t, c, wire.OpExecute, append(body, sent.rest...))
		if taken != 1 {
			t.Errorf("flags %#x: taken %d times", sent.flags, taken)
		}
	}
}
