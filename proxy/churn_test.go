package proxy_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/proxytest/fault"
	"github.com/helenus-db/helenus/proxy/wire"
)

// churnFor is how long the churn goes on; HELENUS_CHURN (60s in `make churn`) makes it longer.
const churnFor = 2 * time.Second

// TestChurn has clients come and go, in good order and not, while rules and sampling are switched and Barrier is called.
// With the race detector it finds what the other tests do not do at once. Afterwards nothing may be left: no connection, no
// taken request that was not dealt with; and the proxy must still work.
func TestChurn(t *testing.T) {
	duration := churnFor
	if text := os.Getenv("HELENUS_CHURN"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	const clients, statements = 12, 5
	text := func(i int) string { return fmt.Sprintf("INSERT %d", i) }

	recorder, w := &counting{}, &scripted{}
	var taken, settled, done atomic.Int64
	random := func(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }
	w.take = func(r *proxy.Request) bool {
		n := taken.Add(1)
		answer := func() {
			if n%3 == 0 {
				r.Fail(wire.ErrInvalid, "taken")
			} else {
				r.Forward(proxy.Forward{Done: func(proxy.Response) { done.Add(1) }})
			}
			settled.Add(1)
		}
		if n%2 == 0 {
			go answer()
		} else {
			answer()
		}
		return true
	}
	s := startProxy(t, startMock(t, nil), proxy.Options{Recorder: recorder, Rewriter: w, HandshakeTimeout: time.Second})
	relay, err := fault.Start(s.Addrs()[0], fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()

	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var work sync.WaitGroup
	var sessions, requests atomic.Int64
	for i := range clients {
		work.Go(func() {
			random := random(int64(i))
			address := []string{s.Addrs()[0], relay.Addr}[i%2]
			for ctx.Err() == nil {
				if n, whole := live(address, random, text, statements); whole {
					sessions.Add(1)
					requests.Add(int64(n))
				}
			}
		})
	}
	work.Go(func() { // whoever changes rules
		random := random(100)
		for ctx.Err() == nil {
			i := random.Intn(statements)
			if random.Intn(2) == 0 {
				w.set(text(i), rule(""))
			} else {
				w.set(text(i), nil)
			}
			recorder.sampling.Store(random.Intn(4) == 0)
			waiting, cancel := context.WithTimeout(context.Background(), proxytest.Patience)
			if err := s.Barrier(waiting); err != nil {
				t.Errorf("the barrier is never over: %v", err)
			}
			cancel()
			time.Sleep(time.Millisecond)
		}
	})
	work.Go(func() { // whoever breaks connections
		random := random(200)
		for ctx.Err() == nil {
			way := fault.Way(random.Intn(2))
			relay.CutAfter(way, int64(random.Intn(3000)), fault.End(random.Intn(2)))
			relay.Split(fault.Way(random.Intn(2)), random.Intn(50))
			time.Sleep(20 * time.Millisecond)
			relay.Mend(way)
			time.Sleep(5 * time.Millisecond)
			if random.Intn(10) == 0 {
				relay.Cut()
			}
		}
		relay.Cut() // a client whose bytes vanish would wait
	})
	work.Wait()
	await(t, func() bool { return s.Stats().Connections == 0 })
	await(t, func() bool { return settled.Load() == taken.Load() })
	if taken.Load() == 0 || sessions.Load() == 0 || recorder.done.Load() == 0 || done.Load() == 0 {
		t.Errorf("too little happened: %d sessions came to their end, %d requests taken, %d counted, %d told", sessions.Load(), taken.Load(), recorder.done.Load(), done.Load())
	}
	c, _ := inTime(t, func() (*proxytest.Client, error) { return proxytest.Connect(s.Addrs()[0], 5) })
	call(t, c, wire.OpQuery, proxytest.QueryBody(5, "still there"))
	t.Logf("%d sessions with %d requests came to their end, %d requests were taken", sessions.Load(), requests.Load(), taken.Load())
}

// live is one client's life. It returns how many requests were answered, and whether it ended by itself.
func live(address string, random *rand.Rand, text func(int) string, statements int) (answered int, whole bool) {
	version := byte(3 + random.Intn(3))
	c, err := proxytest.Connect(address, version)
	if err != nil {
		return 0, false
	}
	defer c.Close()
	for range random.Intn(20) {
		n := 1 + random.Intn(16)
		var frames []byte
		for stream := range n {
			t := text(random.Intn(statements))
			id := proxytest.PreparedID(t)
			var opcode byte
			var body []byte
			switch random.Intn(6) {
			case 0:
				opcode, body = wire.OpQuery, proxytest.QueryBody(version, fmt.Sprintf("USE k%d", random.Intn(5)))
			case 1:
				opcode, body = wire.OpPrepare, proxytest.PrepareBody(version, t)
			case 2:
				opcode, body = wire.OpBatch, batchBody(version, t, id)
			case 3:
				opcode, body = wire.OpQuery, proxytest.QueryBody(version, t, make([]byte, random.Intn(50)))
			default:
				opcode, body = wire.OpExecute, proxytest.ExecuteBody(version, id, make([]byte, random.Intn(50)))
			}
			frames = append(frames, c.Frame(int16(stream), opcode, 0, body)...)
		}
		if c.SendRaw(frames) != nil {
			return answered, false
		}
		if random.Intn(30) == 0 { // it goes without its answers
			return answered, false
		}
		for range n {
			if _, _, err := c.Read(); err != nil {
				return answered, false
			}
			answered++
		}
	}
	return answered, true
}

// counting is a Recorder that only counts.
type counting struct {
	sampling atomic.Bool
	done     atomic.Int64
	values   atomic.Int64
}

func (r *counting) Statement(string, string) proxy.Record   { return r }
func (r *counting) Batch(byte, []proxy.Record) proxy.Record { return r }
func (r *counting) Sampling(*proxy.Client) bool             { return r.sampling.Load() }
func (r *counting) Unknown() proxy.Record                   { return r }
func (r *counting) Mark(*proxy.Client) uint64               { return 0 }
func (r *counting) Prepared(*proxy.Prepared)                {}
func (r *counting) Done(xs []proxy.Exchange) {
	r.done.Add(int64(len(xs)))
	for _, x := range xs {
		for _, v := range x.Values { // read what was handed out, for the race detector
			for _, b := range v.Bytes {
				r.values.Add(int64(b))
			}
		}
	}
}
