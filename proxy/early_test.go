package proxy_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestNobodyAsksBeforeLoggingIn: what comes before Cassandra let a client in is offered to nobody who would answer it, or write for it, with rights of
// his own, and does not reach Cassandra.
func TestNobodyAsksBeforeLoggingIn(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, c *proxytest.Client) []byte{
		"without STARTUP":           func(*testing.T, *proxytest.Client) []byte { return nil },
		"in one write with STARTUP": func(_ *testing.T, c *proxytest.Client) []byte { return c.Frame(0, wire.OpStartup, 0, startupBody()) },
		"instead of the password":   func(t *testing.T, c *proxytest.Client) []byte { hello(t, c); return nil },
		"after a password was refused": func(t *testing.T, c *proxytest.Client) []byte {
			hello(t, c)
			if h, body := call(t, c, wire.OpAuthResponse, wire.AppendBytes(nil, []byte("\x00app\x00wrong"))); h.Opcode != wire.OpError {
				t.Fatalf("%+v %q", h, body)
			}
			return nil
		},
	} {
		for opcode, body := range map[byte][]byte{
			wire.OpQuery:   proxytest.QueryBody(4, readText, []byte("key4")),
			wire.OpExecute: proxytest.ExecuteBody(4, proxytest.PreparedID(readText), []byte("key4")),
			wire.OpPrepare: proxytest.PrepareBody(4, readText),
		} {
			t.Run(fmt.Sprintf("%s, opcode %#x", name, opcode), func(t *testing.T) {
				k, w, s := startAskable(t, proxy.Options{})
				call(t, logIn(t, s, 4), wire.OpPrepare, proxytest.PrepareBody(4, readText)) // so that its id is known
				var taken atomic.Int64
				w.takes(func(r *proxy.Request) bool {
					taken.Add(1)
					r.Answer(proxy.Rows{{[]byte("secret"), nil}})
					return true
				})
				c, err := proxytest.Dial(s.Addrs()[0], 4)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				before := k.count()
				if err := c.SendRaw(append(begin(t, c), c.Frame(1, opcode, 0, body)...)); err != nil {
					t.Fatal(err)
				}
				for {
					h, answer, err := c.Read()
					if err != nil {
						t.Fatalf("no answer: %v", err)
					}
					if h.Stream != 1 {
						continue
					}
					if r := wire.NewReader(answer); h.Opcode != wire.OpError || r.Int() != wire.ErrProtocol {
						t.Errorf("%+v %q", h, answer)
					}
					break
				}
				if taken.Load() != 0 || k.count() != before {
					t.Errorf("%d were taken, Cassandra got %d", taken.Load(), k.count()-before)
				}
			})
		}
	}
}

// hello says STARTUP to a Cassandra that asks for a password.
func hello(t *testing.T, c *proxytest.Client) {
	t.Helper()
	if h, _, err := c.Hello(); err != nil || h.Opcode != wire.OpAuthenticate {
		t.Fatalf("%+v %v", h, err)
	}
}

// callers notes which of them it was asked to tell apart.
type callers struct {
	tally
	told sync.Map
}

func (r *callers) Mark(c *proxy.Client) uint64 {
	r.told.Store(c.Application, true)
	return 1
}

// TestNobodyIsToldApartBeforeLoggingIn: callers are told apart by names that they give themselves, and only so many: who may not come in uses none up.
func TestNobodyIsToldApartBeforeLoggingIn(t *testing.T) {
	r := &callers{}
	_, _, s := startAskable(t, proxy.Options{Recorder: r})
	for _, name := range []string{"stranger", "app"} {
		if r.told.Clear(); name == "app" {
			logIn(t, s, 4, "APPLICATION_NAME", name)
		} else {
			c, err := proxytest.Dial(s.Addrs()[0], 4)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			if _, _, err := c.Hello("APPLICATION_NAME", name); err != nil {
				t.Fatal(err)
			}
		}
		if _, told := r.told.Load(name); told != (name == "app") {
			t.Errorf("%s: told apart %v", name, told)
		}
	}
}
