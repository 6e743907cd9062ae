package proxy_test

import (
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// counter is a Recorder that costs nothing, so that what is measured is the relay.
type counter struct{}

func (counter) Statement(string, string) proxy.Record   { return counter{} }
func (counter) Batch(byte, []proxy.Record) proxy.Record { return counter{} }
func (counter) Sampling(*proxy.Client) bool             { return false }
func (counter) Unknown() proxy.Record                   { return counter{} }
func (counter) Mark(*proxy.Client) uint64               { return 0 }
func (counter) Prepared(*proxy.Prepared)                {}
func (counter) Done([]proxy.Exchange)                   {}

// echo is a server without allocations: it answers every frame with a fixed body once the handshake is over.
func echo(t testing.TB, body []byte) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() { l.Close(); work.Wait() })
	work.Add(1)
	go func() {
		defer work.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Add(1)
			go func() {
				defer work.Done()
				defer c.Close()
				echoConn(c, body)
			}()
		}
	}()
	return l.Addr().String()
}

func echoConn(c net.Conn, rows []byte) {
	in, out := make([]byte, 64<<10), make([]byte, 0, 256<<10)
	start, end := 0, 0
	version5 := false
	answers := make([]byte, 0, 64<<10)
	for {
		n, err := c.Read(in[end:])
		if err != nil {
			return
		}
		end += n
		out = out[:0]
		for end-start >= wire.HeaderSize {
			var at, size int
			if version5 {
				length, _, err := wire.ParseSegmentHeader(in[start:])
				if err != nil {
					return
				}
				at, size = start+wire.SegmentHeaderSize, wire.SegmentHeaderSize+length+wire.SegmentTrailerSize
				if end-start < size {
					break
				}
				answers = answers[:0]
				for p := at; p < at+length; {
					h := wire.ParseHeader(in[p:])
					answers = appendAnswer(answers, h, rows)
					p += wire.HeaderSize + h.Length
				}
				out = wire.AppendFrames(out, answers)
			} else {
				h := wire.ParseHeader(in[start:])
				if size = wire.HeaderSize + h.Length; end-start < size {
					break
				}
				out = appendAnswer(out, h, rows)
				version5 = h.Opcode == wire.OpStartup && h.Version == 5
			}
			start += size
		}
		copy(in, in[start:end])
		start, end = 0, end-start
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func appendAnswer(out []byte, h wire.Header, rows []byte) []byte {
	a := wire.Header{Version: h.Version | wire.ResponseBit, Stream: h.Stream, Opcode: wire.OpResult}
	switch h.Opcode {
	case wire.OpStartup, wire.OpRegister:
		a.Opcode = wire.OpReady
		return wire.AppendFrame(out, a, nil)
	case wire.OpPrepare:
		return wire.AppendFrame(out, a, prepared[h.Version])
	case wire.OpQuery:
		return wire.AppendFrame(out, a, nothing)
	}
	return wire.AppendFrame(out, a, rows)
}

var (
	nothing  = proxytest.RowsBody("system", "local", nil, nil)
	prepared = map[byte][]byte{4: proxytest.PreparedBody(4, readText, columns, columns), 5: proxytest.PreparedBody(5, readText, columns, columns)}
)

// pipeline sends a window of requests at a time, and waits for their answers.
type pipeline struct {
	conn     net.Conn
	requests []byte
	answers  []byte // room for them
}

const window = 16

// newPipeline connects to a proxy before a server that costs nothing, with rules in force (none for these statements).
func newPipeline(t testing.TB, version, opcode byte) *pipeline {
	rows := proxytest.RowsBody("k", "t", columns, [][][]byte{{make([]byte, 16), make([]byte, 80)}})
	w := &scripted{}
	w.epoch.Store(1)
	s := startProxy(t, nil, proxy.Options{ContactPoints: []string{echo(t, rows)}, Recorder: counter{}, Rewriter: w})
	c := connect(t, s, version)
	if _, _, err := c.Call(wire.OpPrepare, proxytest.PrepareBody(version, readText)); err != nil {
		t.Fatal(err)
	}
	id := proxytest.PreparedID(readText)
	body := proxytest.ExecuteBody(version, id, make([]byte, 16), make([]byte, 80))
	if opcode == wire.OpBatch {
		body = wire.AppendShort([]byte{1}, 1)
		body = wire.AppendString(append(body, 1), string(id))
		body = wire.AppendShort(wire.AppendBytes(wire.AppendShort(body, 1), make([]byte, 80)), 1)
		body = append(body, make([]byte, map[byte]int{4: 1, 5: 4}[version])...)
	}
	p := &pipeline{conn: c.Conn}
	answer := wire.HeaderSize + len(rows)
	for i := range window {
		f := c.Frame(int16(i), opcode, 0, body)
		if version == 5 {
			f = wire.AppendSegments(nil, f)
		}
		p.requests = append(p.requests, f...)
	}
	if version == 5 {
		answer += wire.SegmentHeaderSize + wire.SegmentTrailerSize
	}
	p.answers = make([]byte, window*answer)
	_ = c.Conn.SetDeadline(time.Now().Add(10 * time.Minute))
	return p
}

func (p *pipeline) round(t testing.TB) {
	if _, err := p.conn.Write(p.requests); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.conn, p.answers); err != nil {
		t.Fatal(err)
	}
}

var traffic = []struct {
	name            string
	version, opcode byte
}{{"EXECUTE v4", 4, wire.OpExecute}, {"EXECUTE v5", 5, wire.OpExecute}, {"BATCH v4", 4, wire.OpBatch}, {"BATCH v5", 5, wire.OpBatch}}

// TestForwardedRequestsDoNotAllocate is the gate on the data path: fewer than 0.1 allocations for each request, with
// counting and rules in force.
func TestForwardedRequestsDoNotAllocate(t *testing.T) {
	if raced {
		t.Skip("pools forget what they are given under the race detector; make test runs it once more without")
	}
	for _, x := range traffic {
		t.Run(x.name, func(t *testing.T) {
			p := newPipeline(t, x.version, x.opcode)
			for range 200 {
				p.round(t)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			const rounds = 1000
			for range rounds {
				p.round(t)
			}
			runtime.ReadMemStats(&after)
			each := float64(after.Mallocs-before.Mallocs) / (rounds * window)
			t.Logf("%.4f allocations for each request", each)
			if each >= 0.1 {
				t.Errorf("%.3f allocations for each request, 0.1 are allowed", each)
			}
		})
	}
}

// BenchmarkRelay is one connection with 16 requests in flight; ns/op is per request, client and echo server included.
func BenchmarkRelay(b *testing.B) {
	for _, x := range traffic {
		b.Run(x.name, func(b *testing.B) {
			p := newPipeline(b, x.version, x.opcode)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += window {
				p.round(b)
			}
		})
	}
}
