package proxy_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// These are connections of which nobody takes what is to be written: they end, and hold nobody else up.

// TestRefusedWithoutEndAndUnread: a client that sends what the proxy answers itself, and reads no answer, is given up when too much waits for it; meanwhile others'
// requests time out as ever, and the proxy ends.
func TestRefusedWithoutEndAndUnread(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			w := &scripted{}
			m := startMock(t, func(r *proxytest.Request) {
				if r.Text() != "never" {
					proxytest.Default(r)
				}
			})
			s := startProxy(t, m, proxy.Options{Rewriter: w, RequestTimeout: 2 * time.Second}) // much more than it takes to connect
			w.set("ruled", rule(""))                                                           // so that an EXECUTE of an id that nobody knows is refused
			neighbour, c := connect(t, s, version), connect(t, s, version)
			if err := c.Send(2, wire.OpQuery, 0, proxytest.QueryBody(version, "never")); err != nil {
				t.Fatal(err)
			}
			var many []byte
			for range 1000 {
				many = append(many, c.Frame(1, wire.OpExecute, 0, proxytest.ExecuteBody(version, []byte("unknown")))...)
			}
			for n := 0; c.SendRaw(many) == nil; n++ {
				if n > 2000 {
					t.Fatal("it may send without end")
				}
			}
			if h, body := call(t, neighbour, wire.OpQuery, proxytest.QueryBody(version, "never")); h.Opcode != wire.OpError {
				t.Errorf("%+v %q", h, body)
			}
			await(t, func() bool { return s.Stats().Connections == 1 })
		})
	}
}

// TestCassandraTakesNothing: a node that is there and reads no more does not keep the proxy from ending.
func TestCassandraTakesNothing(t *testing.T) {
	a := newAuthority(t)
	for name, secured := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			reached, hang := make(chan struct{}), make(chan struct{})
			arrived := sync.OnceFunc(func() { close(reached) })
			handler := func(r *proxytest.Request) {
				if r.Header.Opcode == wire.OpExecute {
					arrived()
					<-hang
				}
				proxytest.Default(r)
			}
			m, o := startMock(t, handler), proxy.Options{DrainTimeout: 100 * time.Millisecond}
			if secured {
				m = startMockTLS(t, serverTLS(t, a, false), handler)
				o.Front, o.Back = serverTLS(t, a, false), always(clientTLS(t, a, ""))
			}
			s := startProxy(t, m, o)
			t.Cleanup(func() { close(hang) })
			var c *proxytest.Client
			if secured {
				c = connectTLS(t, s, 4, clientTLS(t, a, ""))
			} else {
				c = connect(t, s, 4)
			}
			long := proxytest.ExecuteBody(4, []byte("id"), make([]byte, 1<<20))
			if err := c.Send(0, wire.OpExecute, 0, long); err != nil {
				t.Fatal(err)
			}
			<-reached // one is under way, however long a busy machine takes for the next
			for i := int16(1); ; i++ {
				_ = c.Conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
				if _, err := c.Conn.Write(c.Frame(i, wire.OpExecute, 0, long)); err != nil {
					break // all that is between is full
				}
			}
			began := time.Now()
			if err := s.Shutdown(context.Background()); err == nil {
				t.Error("nothing was cut off")
			}
			if took := time.Since(began); took > proxytest.Patience {
				t.Errorf("it took %v to end", took)
			}
		})
	}
}

// halting is a Recorder that stops at a statement.
type halting struct {
	tally
	reached, goOn chan struct{}
}

func (r *halting) Statement(keyspace, text string) proxy.Record {
	if text == "last" {
		r.reached <- struct{}{}
		<-r.goOn
	}
	return r.tally.Statement(keyspace, text)
}

// TestReadRequestOutlivesItsClient: what was read of a client's reaches Cassandra, though the client is found gone, by an answer that it does not take,
// before that is sent on.
func TestReadRequestOutlivesItsClient(t *testing.T) {
	a := newAuthority(t)
	for name, secured := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			const unread = 3 // the first answer that is written to a client that reset is told so, those after it fail
			asked, last := make(chan *proxytest.Request, unread), make(chan struct{}, 1)
			m := startMock(t, func(r *proxytest.Request) {
				switch r.Text() {
				case "unread":
					asked <- r
				case "last":
					last <- struct{}{}
				default:
					proxytest.Default(r)
				}
			})
			recorder := &halting{reached: make(chan struct{}), goOn: make(chan struct{})}
			o := proxy.Options{Recorder: recorder}
			if secured {
				o.Front = serverTLS(t, a, false)
			}
			s := startProxy(t, m, o)
			var c *proxytest.Client
			var socket net.Conn
			if secured {
				c = connectTLS(t, s, 4, clientTLS(t, a, ""))
				socket = c.Conn.(*tls.Conn).NetConn()
			} else {
				c = connect(t, s, 4)
				socket = c.Conn
			}
			for i := range unread {
				if err := c.Send(int16(i), wire.OpQuery, 0, proxytest.QueryBody(4, "unread")); err != nil {
					t.Fatal(err)
				}
			}
			var list []*proxytest.Request
			for range unread {
				list = append(list, <-asked)
			}
			if err := c.Send(unread, wire.OpQuery, 0, proxytest.QueryBody(4, "last")); err != nil {
				t.Fatal(err)
			}
			<-recorder.reached
			if err := reset(socket); err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				proxytest.Default(r)
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			close(recorder.goOn)
			select {
			case <-last:
			case <-time.After(proxytest.Patience):
				t.Error("it did not reach Cassandra")
			}
			await(t, func() bool { return s.Stats().Connections == 0 })
		})
	}
}
