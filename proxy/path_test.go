package proxy

import (
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// talk is a connection without sockets: what it would have read is shown to it.
type talk struct {
	testing.TB
	*conn
	server *Server
	now    int64 // when what is shown was read
}

func newTalk(t testing.TB, r Recorder) *talk {
	start := time.Now()
	s, err := New(Options{ContactPoints: []string{"127.0.0.1:1"}, Listen: "127.0.0.1:0", Recorder: r,
		Clock: func() int64 { return int64(time.Since(start)) }})
	if err != nil {
		t.Fatal(err)
	}
	front, _ := net.Pipe()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := s.newConn(&gate{server: s, listener: l}, front, s.guests.Join(netip.Addr{}))
	c.authenticated.Store(true) // its handshake is over
	return &talk{TB: t, conn: c, server: s, now: 1}
}

func (t *talk) see(h pipe.Handler, opcode byte, stream int, body []byte) {
	version := byte(4)
	if _, down := h.(downward); down {
		version |= wire.ResponseBit
	}
	header := wire.Header{Version: version, Stream: int16(stream), Opcode: opcode, Length: len(body)}
	if err := h.Admit(header); err != nil {
		t.Fatal(err)
	}
	if v, _, err := h.Frame(header, body, true, t.now); v != pipe.Pass || err != nil {
		t.Fatal(v, err)
	}
}

func (t *talk) ask(opcode byte, stream int, body []byte) { t.see(upward{t.conn}, opcode, stream, body) }
func (t *talk) answer(opcode byte, stream int, body []byte) {
	t.see(downward{t.conn}, opcode, stream, body)
}

// written says that all answers so far were handed to the client's socket.
func (t *talk) written() { downward{t.conn}.Written() }

var shown = []proxytest.Column{{Name: "id", Type: 12}, {Name: "name", Type: 13}, {Name: "city", Type: 13}}

// prepare makes a statement known.
func (t *talk) prepare(text string) {
	t.ask(wire.OpPrepare, 0, proxytest.PrepareBody(4, text))
	t.answer(wire.OpResult, 0, proxytest.PreparedBody(4, text, shown[:1], shown))
	t.written()
}

var (
	aRow      = proxytest.RowsBody("k", "t", shown, [][][]byte{{make([]byte, 16), make([]byte, 30), make([]byte, 30)}})
	customers = "SELECT id, name, city FROM shop.customers WHERE id = ?"
)

// BenchmarkPath is what following a request and its answer costs, without a socket, a pipe, or who counts: sixteen EXECUTEs
// are asked, then answered by a row each. cpu-ns/op is for one; ns/op is the machine's.
func BenchmarkPath(b *testing.B) {
	const window = 16
	t := newTalk(b, deaf{})
	t.prepare(customers)
	request := proxytest.ExecuteBody(4, proxytest.PreparedID(customers), make([]byte, 16))
	b.ReportAllocs()
	b.ResetTimer()
	used := cpuTime()
	for n := 0; n < b.N; n += window {
		t.now++
		for i := range window {
			t.ask(wire.OpExecute, i, request)
		}
		for i := range window {
			t.answer(wire.OpResult, i, aRow)
		}
		t.written()
	}
	b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op")
	if got := t.server.Stats().Requests; got < uint64(b.N) {
		b.Fatalf("%d requests were followed", got)
	}
}

// heard is a Recorder that keeps what it is told of each statement, call by call, and counts how often it is asked for a window.
type heard struct {
	deaf
	open  bool
	asked int
	told  map[string][][]Exchange
}

// hearing is a statement's record.
type hearing struct {
	*heard
	text string
}

func (r *heard) Statement(_, text string) Record { return hearing{r, text} }
func (r *heard) Sampling(*Client) bool           { r.asked++; return r.open }
func (hearing) Prepared(*Prepared)               {}
func (h hearing) Done(xs []Exchange)             { h.told[h.text] = append(h.told[h.text], slices.Clone(xs)) }

// TestAnswersOfOneWriteAreCountedByStatement: neighbours of one statement are told together, those with values alone, nobody's twice or with
// another's; and a window is asked for once for what a read brought.
func TestAnswersOfOneWriteAreCountedByStatement(t *testing.T) {
	r := &heard{told: map[string][][]Exchange{}}
	c := newTalk(t, r)
	a, b := customers, "SELECT id, name, city FROM shop.customers WHERE city = ?"
	q, other := "SELECT name FROM shop.customers", "SELECT city FROM shop.customers"
	c.prepare(a)
	c.prepare(b)
	execute := func(stream int, text string) {
		c.ask(wire.OpExecute, stream, proxytest.ExecuteBody(4, proxytest.PreparedID(text), make([]byte, 16)))
	}
	query := func(stream int, text string) { c.ask(wire.OpQuery, stream, proxytest.QueryBody(4, text)) }
	c.now, r.asked = 2, 0
	for i, text := range []string{a, b, a, b, a, b} {
		execute(i, text)
	}
	query(6, q)
	query(7, q)
	query(11, other)
	c.now, r.open = 3, true
	execute(8, a)
	if r.open = false; r.asked != 2 {
		t.Errorf("asked for a window %d times for two reads", r.asked)
	}
	c.now = 4
	execute(9, a)
	execute(10, a)
	for _, stream := range []int{0, 2, 1, 3, 5, 6, 7, 11, 8, 9, 10} {
		c.answer(wire.OpResult, stream, aRow)
	}
	c.answer(wire.OpError, 4, wire.AppendError(nil, wire.ErrOverloaded, "too much"))
	c.written()
	for text, want := range map[string][]int{a: {2, 1, 3}, b: {3}, q: {2}, other: {1}} {
		var got []int
		for _, xs := range r.told[text] {
			got = append(got, len(xs))
			for _, x := range xs {
				if p := x.Prepared; p != nil && p.Text != text {
					t.Errorf("an execution of %q is told of %q", p.Text, text)
				}
				if (x.Values != nil) != (x.Start == 3) || x.Values != nil && len(xs) > 1 {
					t.Errorf("%d values among %d exchanges of a request that was read at %d", len(x.Values), len(xs), x.Start)
				}
				if x.Failed != (x.Rows < 0) || x.Failed != (x.ErrorCode != 0) {
					t.Errorf("told %+v", x)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is told %v together, want %v", text, got, want)
		}
	}
}

func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// deaf is a Recorder that costs nothing.
type deaf struct{}

func (deaf) Statement(string, string) Record { return deaf{} }
func (deaf) Batch(byte, []Record) Record     { return deaf{} }
func (deaf) Sampling(*Client) bool           { return false }
func (deaf) Unknown() Record                 { return deaf{} }
func (deaf) Mark(*Client) uint64             { return 0 }
func (deaf) Prepared(*Prepared)              {}
func (deaf) Done([]Exchange)                 {}
