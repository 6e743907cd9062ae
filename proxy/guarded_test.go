package proxy_test

import (
	"sync/atomic"
	"testing"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// faulty is a Recorder, and its Record, that panics whatever it is asked.
type faulty struct{}

func (faulty) Statement(string, string) proxy.Record   { panic("statement") }
func (faulty) Batch(byte, []proxy.Record) proxy.Record { panic("batch") }
func (faulty) Unknown() proxy.Record                   { panic("unknown") }
func (faulty) Mark(*proxy.Client) uint64               { panic("mark") }
func (faulty) Sampling(*proxy.Client) bool             { panic("sampling") }
func (faulty) Prepared(*proxy.Prepared)                { panic("prepared") }
func (faulty) Done([]proxy.Exchange)                   { panic("done") }

// late is a Recorder whose Records panic.
type late struct{ faulty }

func (late) Statement(string, string) proxy.Record { return faulty{} }

// TestPanicsOfHooks: whatever panics, each request is answered by Cassandra as it was said, on the same connection.
func TestPanicsOfHooks(t *testing.T) {
	for name, recorder := range map[string]proxy.Recorder{"recorder": faulty{}, "record": late{}} {
		t.Run(name, func(t *testing.T) {
			k, w := &kept{}, &scripted{}
			var told atomic.Int64
			s := startProxy(t, startMock(t, k.handle), proxy.Options{Rewriter: w, Recorder: recorder, OnPanic: func(error) { told.Add(1) }})
			before := guard.Count(guard.Recorder)
			c, err := proxytest.Connect(s.Addrs()[0], 4)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			w.set(readText, rule(""))
			w.set(writeText, rule(""))
			var finish atomic.Bool
			w.takes(func(r *proxy.Request) bool {
				if finish.Load() {
					r.Forward(proxy.Forward{Done: func(proxy.Response) { panic("done") }})
					return true
				}
				panic("take")
			})
			for round := range 2 {
				for _, text := range []string{readText, writeText} {
					if h, _ := call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, text)); h.Opcode != wire.OpResult {
						t.Errorf("PREPARE was answered by %#x", h.Opcode)
					}
					n := k.count()
					if h, _ := call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(text), []byte("v"))); h.Opcode != wire.OpResult || k.count() != n+1 {
						t.Errorf("EXECUTE was answered by %#x, and sent %d times", h.Opcode, k.count()-n)
					}
				}
				call(t, c, wire.OpQuery, proxytest.QueryBody(4, "SELECT x"))
				finish.Store(round == 0)
			}
			if guard.Count(guard.Recorder) == before {
				t.Error("the recorder's panics are not counted")
			}
			await(t, func() bool { return told.Load() >= 4 }) // two of Take, two of Done
		})
	}
}
