package relay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

const (
	connections = 8
	inFlight    = 16
	text        = "SELECT id, name, city FROM shop.customers WHERE id = ?"
)

var (
	variables = []proxytest.Column{{Name: "id", Type: 12}}
	results   = []proxytest.Column{{Name: "id", Type: 12}, {Name: "name", Type: 13}, {Name: "city", Type: 13}}
	answer    = proxytest.RowsBody("shop", "customers", results, [][][]byte{{make([]byte, 16), make([]byte, 30), make([]byte, 50)}})
)

// backend answers every EXECUTE with the same row.
func backend(tb testing.TB) string {
	s, err := proxytest.Start(func(r *proxytest.Request) {
		switch r.Header.Opcode {
		case wire.OpExecute:
			r.Reply(wire.OpResult, answer)
		case wire.OpPrepare:
			r.Reply(wire.OpResult, proxytest.PreparedBody(r.Header.Version, r.Text(), variables, results))
		default:
			proxytest.Default(r)
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s.Addr
}

// splice is the least relay: it copies each way.
func splice(tb testing.TB, backend string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var work sync.WaitGroup
	tb.Cleanup(func() { l.Close(); work.Wait() })
	work.Go(func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", backend)
			if err != nil {
				front.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{front, back}, {back, front}} {
				work.Go(func() {
					_, _ = io.Copy(way[1], way[0])
					front.Close()
					back.Close()
				})
			}
		}
	})
	return l.Addr().String()
}

// idle is a Rewriter without rules.
type idle struct{}

func (idle) Epoch() uint64                  { return 0 }
func (idle) Rule(string, string) proxy.Rule { return nil }
func (idle) Take(*proxy.Request) bool       { return false }
func (idle) Opaque(*proxy.Client) func()    { return func() {} }

func helenus(tb testing.TB, backend string) (string, *proxy.Server) {
	registry := capture.New(capture.Options{Feeds: feed.Options{Off: true}})
	tb.Cleanup(registry.Close)
	s, err := proxy.New(proxy.Options{ContactPoints: []string{backend}, Listen: "127.0.0.1:0", Recorder: registry, Rewriter: idle{}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
	})
	return s.Addrs()[0], s
}

// client keeps a window of requests in flight on one connection. It does not allocate.
type client struct {
	conn     net.Conn
	lz4      bool             // version 5 with lz4, not version 4
	requests [inFlight][]byte // by stream
	plain    [4 << 10]byte    // room for a decompressed segment
	out, in  []byte
}

func dial(tb testing.TB, address string, lz4 bool) *client {
	version, options := byte(4), []string(nil)
	if lz4 {
		version, options = 5, []string{"COMPRESSION", "lz4"}
	}
	c, err := proxytest.Connect(address, version, options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	if h, body, err := c.Call(wire.OpPrepare, proxytest.PrepareBody(version, text)); err != nil || h.Opcode != wire.OpResult {
		tb.Fatalf("PREPARE: %+v %q %v", h, body, err)
	}
	_ = c.Conn.SetDeadline(time.Time{})
	n := &client{conn: c.Conn, lz4: lz4, in: make([]byte, 64<<10)}
	for stream := range n.requests {
		frame := c.Frame(int16(stream), wire.OpExecute, 0, proxytest.ExecuteBody(version, proxytest.PreparedID(text), make([]byte, 16)))
		n.requests[stream] = c.Framing().Append(nil, frame)
	}
	return n
}

// next reads an answer from the beginning of b, which has a segment to itself if there are segments; size is 0 if it is not
// all there.
func (c *client) next(b []byte) (h wire.Header, size int, err error) {
	if !c.lz4 {
		if len(b) < wire.HeaderSize {
			return h, 0, nil
		}
		if h = wire.ParseHeader(b); len(b) < wire.HeaderSize+h.Length {
			return h, 0, nil
		}
		return h, wire.HeaderSize + h.Length, nil
	}
	if len(b) < int(wire.LZ4Segments) {
		return h, 0, nil
	}
	s, err := wire.LZ4Segments.Parse(b)
	size = int(wire.LZ4Segments) + s.Length + wire.SegmentTrailerSize
	if err != nil || len(b) < size {
		return h, 0, err
	}
	frame, err := wire.LZ4Segments.Payload(b[:size])
	if err == nil && s.Decompressed > 0 {
		payload := frame
		frame = c.plain[:s.Decompressed]
		err = compress.Block(frame, payload)
	}
	if err != nil {
		return h, 0, err
	}
	return wire.ParseHeader(frame), size, nil
}

// run asks n times and sees that each is answered by the row.
func (c *client) run(n int) error {
	c.out = c.out[:0]
	asked := min(n, inFlight)
	for i := range asked {
		c.out = append(c.out, c.requests[i]...)
	}
	start, end := 0, 0
	for answered := 0; answered < n; {
		if len(c.out) > 0 {
			if _, err := c.conn.Write(c.out); err != nil {
				return err
			}
			c.out = c.out[:0]
		}
		k, err := c.conn.Read(c.in[end:])
		if err != nil {
			return err
		}
		for end += k; ; answered++ {
			h, size, err := c.next(c.in[start:end])
			if err != nil {
				return err
			}
			if size == 0 {
				break
			}
			if h.Opcode != wire.OpResult || h.Length != len(answer) {
				return fmt.Errorf("answered %+v", h)
			}
			start += size
			if asked < n {
				c.out = append(c.out, c.requests[h.Stream]...)
				asked++
			}
		}
		copy(c.in, c.in[start:end])
		start, end = 0, end-start
	}
	return nil
}

// cost is what a round cost, for each request.
type cost struct {
	wall, cpu time.Duration
	allocs    float64
	requests  int
}

func (c cost) wallEach() float64 { return float64(c.wall.Nanoseconds()) / float64(c.requests) }
func (c cost) cpuEach() float64  { return float64(c.cpu.Nanoseconds()) / float64(c.requests) / 1000 }

func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// path is one of the three ways, with its connections.
type path struct {
	name    string
	clients []*client
	rounds  []cost
}

func newPath(tb testing.TB, name, address string, lz4 bool) *path {
	p := &path{name: name}
	for range connections {
		p.clients = append(p.clients, dial(tb, address, lz4))
	}
	return p
}

// round sends n requests, shared among the connections.
func (p *path) round(tb testing.TB, n int) cost {
	var before, after runtime.MemStats
	errs := make([]error, len(p.clients))
	each := max(1, n/len(p.clients))
	var work sync.WaitGroup
	runtime.ReadMemStats(&before)
	used, start := cpu(tb), time.Now()
	for i, c := range p.clients {
		work.Go(func() { errs[i] = c.run(each) })
	}
	work.Wait()
	wall, usedBy := time.Since(start), cpu(tb)
	runtime.ReadMemStats(&after)
	for _, err := range errs {
		if err != nil {
			tb.Fatalf("%s: %v", p.name, err)
		}
	}
	requests := each * len(p.clients)
	return cost{wall: wall, cpu: usedBy - used, requests: requests, allocs: float64(after.Mallocs-before.Mallocs) / float64(requests)}
}

// median of what f says of each round.
func median(n int, f func(int) float64) float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	slices.SortFunc(v, cmp.Compare[float64])
	return (v[(n-1)/2] + v[n/2]) / 2
}

// paths connects all three to one backend; server is the proxy of the last.
func paths(tb testing.TB, lz4 bool) (direct, spliced, relayed *path, server *proxy.Server) {
	b := backend(tb)
	address, server := helenus(tb, b)
	return newPath(tb, "direct", b, lz4), newPath(tb, "splice", splice(tb, b), lz4), newPath(tb, "helenus", address, lz4), server
}

// BenchmarkRelay sends b.N requests each of the three ways, in rounds of 4,000 by turns.
func BenchmarkRelay(b *testing.B) {
	b.Run("v4", func(b *testing.B) { benchmark(b, false) })
	b.Run("v5 lz4", func(b *testing.B) { benchmark(b, true) })
}

func benchmark(b *testing.B, lz4 bool) {
	direct, spliced, relayed, _ := paths(b, lz4)
	all := []*path{direct, spliced, relayed}
	for _, p := range all {
		p.round(b, 4_000) // warm: buffers grow, records and prepared ids are met
	}
	b.ResetTimer()
	for left := b.N; left > 0; left -= 4_000 {
		for _, p := range all {
			p.rounds = append(p.rounds, p.round(b, min(left, 4_000)))
		}
	}
	b.StopTimer()
	n := len(direct.rounds)
	if n < 2 {
		return // the testing package feels its way
	}
	b.ReportMetric(0, "ns/op") // three requests of three sorts
	table := fmt.Sprintf("%d rounds of each, medians\n%-8s %12s %22s %14s %22s\n", n, "", "ns/request", "added CPU-us/request", "allocs added", "CPU-us of the process")
	for _, p := range all {
		wall := median(n, func(i int) float64 { return p.rounds[i].wallEach() })
		used := median(n, func(i int) float64 { return p.rounds[i].cpuEach() })
		added := median(n, func(i int) float64 { return p.rounds[i].cpuEach() - direct.rounds[i].cpuEach() })
		allocs := median(n, func(i int) float64 { return p.rounds[i].allocs - direct.rounds[i].allocs })
		table += fmt.Sprintf("%-8s %12.0f %22.2f %14.4f %22.2f\n", p.name, wall, added, allocs, used)
		b.ReportMetric(wall, p.name+"-ns/req")
		if p != direct {
			b.ReportMetric(added, p.name+"-cpu-us/req")
			b.ReportMetric(allocs, p.name+"-allocs/req")
		}
	}
	wall := median(n, func(i int) float64 { return relayed.rounds[i].wallEach() / spliced.rounds[i].wallEach() })
	used := median(n, func(i int) float64 { return relayed.rounds[i].cpuEach() / spliced.rounds[i].cpuEach() })
	b.ReportMetric(wall, "helenus/splice")
	b.ReportMetric(used, "helenus/splice-cpu")
	b.Logf("%shelenus/splice: %.2f in time, %.2f in CPU time of the process", table, wall, used)
}

// TestForwardingDoesNotAllocate is the gate: less than 0.1 allocations for each request beyond what client and server
// make, with a real registry counting.
func TestForwardingDoesNotAllocate(t *testing.T) {
	t.Run("v4", func(t *testing.T) { forwarding(t, false) })
	t.Run("v5 lz4", func(t *testing.T) { forwarding(t, true) })
}

func forwarding(t *testing.T, lz4 bool) {
	direct, _, relayed, server := paths(t, lz4)
	const requests, rounds = 8_000, 7
	direct.round(t, requests)
	relayed.round(t, requests)
	before := server.Stats().Requests
	added := median(rounds, func(int) float64 { return relayed.round(t, requests).allocs - direct.round(t, requests).allocs })
	if got := server.Stats().Requests - before; got < requests*(rounds-1) {
		t.Fatalf("only %d requests went through the proxy", got)
	}
	t.Logf("%.4f allocations added to each request", added)
	if added >= 0.1 {
		t.Errorf("forwarding adds %.3f allocations to each request, 0.1 are allowed", added)
	}
}
