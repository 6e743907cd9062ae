package proxy_test

import (
	"math/rand"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestGarbageIsSurvived sends requests and answers with bytes changed at random, while rules are in force and values are
// sampled: the proxy goes on serving others, and no connection is left behind.
func TestGarbageIsSurvived(t *testing.T) {
	valid := [][]byte{
		proxytest.PreparedBody(5, readText, columns, columns), proxytest.LocalBody(tcp("127.0.0.1:9042")), proxytest.SupportedBody,
		proxytest.RowsBody("system", "peers_v2", columns, [][][]byte{{[]byte("1"), nil}}), wire.AppendError(nil, wire.ErrProtocol, "x"),
		wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), "k"),
	}
	m := startMock(t, func(r *proxytest.Request) {
		if r.Conn.Driver() != "garbage" || r.Header.Opcode == wire.OpStartup {
			proxytest.Default(r)
			return
		}
		seed := int64(len(r.Body))
		for _, b := range r.Body {
			seed = seed*31 + int64(b)
		}
		random := rand.New(rand.NewSource(seed))
		opcode := []byte{wire.OpResult, wire.OpResult, wire.OpResult, wire.OpError, wire.OpSupported, wire.OpEvent, wire.OpAuthSuccess}[random.Intn(7)]
		r.ReplyFlags(opcode, byte(random.Intn(2)*random.Intn(16)), damage(random, valid[random.Intn(len(valid))]))
	})
	w, recorder := &scripted{}, &tally{}
	recorder.sampling.Store(true)
	w.set(readText, rule("SELECT a, b FROM other"))
	w.take = func(r *proxy.Request) bool {
		switch len(r.Values) {
		case 0:
			return false
		case 1:
			r.Forward(proxy.Forward{})
		default:
			r.Answer(proxy.Rows{})
		}
		return true
	}
	s := startProxy(t, m, proxy.Options{Recorder: recorder, Rewriter: w})
	good := connect(t, s, 4)
	call(t, good, wire.OpPrepare, proxytest.PrepareBody(4, readText))
	rapid.Check(t, func(rt *rapid.T) {
		version := rapid.SampledFrom([]byte{3, 4, 5}).Draw(rt, "version")
		random := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		c, err := proxytest.Connect(s.Addrs()[0], version, "DRIVER_NAME", "garbage")
		if err != nil {
			rt.Fatal(err)
		}
		defer c.Close()
		requests := []struct {
			opcode byte
			body   []byte
		}{
			{wire.OpPrepare, proxytest.PrepareBody(version, readText)}, {wire.OpQuery, proxytest.QueryBody(version, readText, []byte("v"))},
			{wire.OpQuery, proxytest.QueryBody(version, "SELECT * FROM system.peers_v2")}, {wire.OpQuery, proxytest.QueryBody(version, readText, []byte("v"), nil)},
			{wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(readText), []byte("v"))},
			{wire.OpBatch, batchBody(version, readText, proxytest.PreparedID(readText))}, {wire.OpOptions, nil},
		}
		for i := range 20 {
			q := requests[random.Intn(len(requests))]
			if c.Send(int16(i), q.opcode, byte(random.Intn(2)*random.Intn(16)), damage(random, q.body)) != nil {
				break
			}
		}
		_ = c.Conn.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		for buffer := make([]byte, 1<<16); ; {
			if _, err := c.Conn.Read(buffer); err != nil {
				break
			}
		}
	})
	call(t, good, wire.OpQuery, proxytest.QueryBody(4, "still there"))
	good.Close()
	await(t, func() bool { return s.Stats().Connections == 0 })
}

// damage changes a few bytes, or none.
func damage(random *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range random.Intn(3) {
		if len(b) > 0 {
			b[random.Intn(len(b))] = byte(random.Intn(256))
		}
	}
	if random.Intn(4) == 0 {
		b = b[:random.Intn(len(b)+1)]
	}
	return b
}
