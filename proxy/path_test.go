package proxy

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// BenchmarkPath is what following a request and its answer costs, without a socket, a pipe, or who counts: sixteen EXECUTEs
// are asked, then answered by a row each. cpu-ns/op is for one; ns/op is the machine's.
func BenchmarkPath(b *testing.B) {
	const window = 16
	text := "SELECT id, name, city FROM shop.customers WHERE id = ?"
	columns := []proxytest.Column{{Name: "id", Type: 12}, {Name: "name", Type: 13}, {Name: "city", Type: 13}}
	rows := proxytest.RowsBody("k", "t", columns, [][][]byte{{make([]byte, 16), make([]byte, 30), make([]byte, 30)}})
	start := time.Now()
	s, err := New(Options{ContactPoints: []string{"127.0.0.1:1"}, Listen: "127.0.0.1:0", Recorder: deaf{},
		Clock: func() int64 { return int64(time.Since(start)) }})
	if err != nil {
		b.Fatal(err)
	}
	front, _ := net.Pipe()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c := s.newConn(&gate{server: s, listener: l}, front, s.guests.Join(netip.Addr{}))
	see := func(h pipe.Handler, opcode byte, stream int, body []byte) {
		version := byte(4)
		if _, down := h.(downward); down {
			version |= wire.ResponseBit
		}
		header := wire.Header{Version: version, Stream: int16(stream), Opcode: opcode, Length: len(body)}
		if err := h.Admit(header); err != nil {
			b.Fatal(err)
		}
		if v, _, err := h.Frame(header, body, true, 1); v != pipe.Pass || err != nil {
			b.Fatal(v, err)
		}
	}
	up, down := pipe.Handler(upward{c}), pipe.Handler(downward{c})
	see(up, wire.OpPrepare, 0, proxytest.PrepareBody(4, text))
	see(down, wire.OpResult, 0, proxytest.PreparedBody(4, text, columns[:1], columns))
	down.Written()
	request := proxytest.ExecuteBody(4, proxytest.PreparedID(text), make([]byte, 16))
	b.ReportAllocs()
	b.ResetTimer()
	used := cpuTime()
	for n := 0; n < b.N; n += window {
		for i := range window {
			see(up, wire.OpExecute, i, request)
		}
		for i := range window {
			see(down, wire.OpResult, i, rows)
		}
		down.Written()
	}
	b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op")
	if got := s.Stats().Requests; got < uint64(b.N) {
		b.Fatalf("%d requests were followed", got)
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
