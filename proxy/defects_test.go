package proxy_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/proxytest/fault"
	"github.com/helenus-db/helenus/proxy/wire"
)

// These are the defects that were reproduced in other proxies (cql-proxy, zdm-proxy), each as a test.

// TestAStalledReader: a client that stops reading, or reads slowly, or is gone without a word, stalls nobody else; and what
// it asked for is there when it reads again. Elsewhere the neighbour's requests time out.
func TestAStalledReader(t *testing.T) {
	big := wire.AppendBytes(wire.AppendInt(nil, wire.ResultVoid), make([]byte, 1<<20))
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "big" {
			r.Reply(wire.OpResult, big)
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Recorder: &tally{}})
	neighbour := connect(t, s, 4)
	for name, harm := range map[string]func(*fault.Relay){
		"stalled":   func(r *fault.Relay) { r.Stall(fault.Down) },
		"slow":      func(r *fault.Relay) { r.Throttle(fault.Down, 1000) },
		"half open": func(r *fault.Relay) { r.Drop(fault.Down); r.Drop(fault.Up) },
	} {
		relay, err := fault.Start(s.Addrs()[0], fault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client, err := proxytest.Connect(relay.Addr, 4)
		if err != nil {
			t.Fatal(err)
		}
		const asked = 40
		for i := range asked {
			if err := client.Send(int16(i), wire.OpQuery, 0, proxytest.QueryBody(4, "big")); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				harm(relay)
			}
		}
		for range 1000 {
			call(t, neighbour, wire.OpQuery, proxytest.QueryBody(4, "x"))
		}
		if name == "stalled" {
			relay.Resume(fault.Down)
			for range asked {
				if _, body, err := client.Read(); err != nil || len(body) != len(big) {
					t.Fatalf("%s: %d bytes, %v", name, len(body), err)
				}
			}
		}
		client.Close()
		relay.Close()
	}
	neighbour.Close()
	await(t, func() bool { return s.Stats().Connections == 0 })
}

// TestManyKeyspacesAtOnce: 64 clients say USE at the same time, again and again, and each statement is counted under the
// keyspace in which it was said. Elsewhere the process dies of a map that is written concurrently.
func TestManyKeyspacesAtOnce(t *testing.T) {
	const clients, times = 64, 10
	recorder := &tally{}
	s := startProxy(t, startMock(t, nil), proxy.Options{Recorder: recorder})
	var work sync.WaitGroup
	for i := range clients {
		c := connect(t, s, byte(3+i%3))
		work.Go(func() {
			for j := range times {
				for _, text := range []string{fmt.Sprintf("USE k%d_%d", i, j), fmt.Sprintf("SELECT %d_%d", i, j)} {
					if h, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(c.Version, text)); err != nil || h.Opcode != wire.OpResult {
						t.Errorf("%s: %+v %q %v", text, h, body, err)
						return
					}
				}
			}
		})
	}
	work.Wait()
	for i := range clients {
		for j := range times {
			if r := recorder.at("", fmt.Sprintf("SELECT %d_%d", i, j)); r.keyspace != fmt.Sprintf("k%d_%d", i, j) {
				t.Fatalf("client %d's statement %d was counted under %q", i, j, r.keyspace)
			}
		}
	}
}

// TestManyRequestsInFlight: 64 clients with 64 requests in flight each get no error. Elsewhere the streams of the few
// connections to Cassandra run out.
func TestManyRequestsInFlight(t *testing.T) {
	const clients, window, times = 64, 64, 5
	var waiting sync.WaitGroup // of the first round, all requests are there before any is answered
	waiting.Add(clients * window)
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "first" {
			waiting.Done()
			go func() { waiting.Wait(); proxytest.Default(r) }()
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Recorder: counter{}})
	var work sync.WaitGroup
	for i := range clients {
		c := connect(t, s, byte(3+i%3))
		work.Go(func() {
			for n := range times {
				text := "later"
				if n == 0 {
					text = "first"
				}
				var frames []byte
				for stream := range window {
					frames = append(frames, c.Frame(int16(stream), wire.OpQuery, 0, proxytest.QueryBody(c.Version, text))...)
				}
				if err := c.SendRaw(frames); err != nil {
					t.Error(err)
					return
				}
				for range window {
					if h, body, err := c.Read(); err != nil || h.Opcode != wire.OpResult {
						t.Errorf("client %d: %+v %q %v", i, h, body, err)
						return
					}
				}
			}
		})
	}
	work.Wait()
}

// TestUnknownErrorCodes: CDC_WRITE_FAILURE, CAS_WRITE_UNKNOWN and codes that nobody knows yet reach the client as they are.
// Elsewhere nothing comes at all.
func TestUnknownErrorCodes(t *testing.T) {
	for _, code := range []int32{0x1600, 0x1700, 0x7FFF, -1} {
		want := append(wire.AppendError(nil, code, "message"), "and what belongs to it"...)
		m := startMock(t, func(r *proxytest.Request) {
			if op := r.Header.Opcode; op == wire.OpExecute || op == wire.OpBatch || r.Text() == "failing" {
				r.Reply(wire.OpError, want)
				return
			}
			proxytest.Default(r)
		})
		s := startProxy(t, m, proxy.Options{Recorder: &tally{}, Rewriter: &scripted{}})
		for _, version := range []byte{3, 4, 5} {
			c := connect(t, s, version)
			for opcode, body := range map[byte][]byte{
				wire.OpExecute: proxytest.ExecuteBody(version, proxytest.PreparedID("failing")),
				wire.OpPrepare: proxytest.PrepareBody(version, "failing"),
				wire.OpQuery:   proxytest.QueryBody(version, "failing"),
				wire.OpBatch:   batchBody(version, "failing", proxytest.PreparedID("failing")),
			} {
				if h, got := call(t, c, opcode, body); h.Opcode != wire.OpError || !bytes.Equal(got, want) {
					t.Errorf("v%d, opcode %#x: %+v %q", version, opcode, h, got)
				}
			}
		}
	}
}

// TestAHugeFrameBeforeAuthentication: 300 MB from a client that has not said who it is are refused at the header. Elsewhere
// they are kept in memory.
func TestAHugeFrameBeforeAuthentication(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpStartup && r.Conn.Driver() != "Helenus" {
			r.Reply(wire.OpAuthenticate, wire.AppendString(nil, "org.apache.cassandra.auth.PasswordAuthenticator"))
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Recorder: counter{}})
	await(t, s.Ready)
	junk := make([]byte, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, version := range []byte{3, 4} { // version 5 sends segments by now, which hold 128 kB at most
		for _, authenticating := range []bool{false, true} {
			c, err := proxytest.Dial(s.Addrs()[0], version)
			if err != nil {
				t.Fatal(err)
			}
			if authenticating {
				if h, _, err := c.Call(wire.OpStartup, startupBody("CQL_VERSION", "3.0.0")); err != nil || h.Opcode != wire.OpAuthenticate {
					t.Fatalf("%+v %v", h, err)
				}
			}
			if _, err := c.Conn.Write([]byte{version, 0, 0, 7, wire.OpAuthResponse, 0x11, 0xe1, 0xa3, 0}); err != nil {
				t.Fatal(err)
			}
			refused := make(chan error, 1)
			go func() {
				h, body, err := c.Read()
				if err == nil && h.Opcode != wire.OpError {
					err = fmt.Errorf("answered %+v %q", h, body)
				}
				refused <- err
			}()
			for range 300 { // until the proxy has had enough
				if _, err := c.Conn.Write(junk); err != nil {
					break
				}
			}
			if err := <-refused; err != nil {
				t.Errorf("v%d: 300 MB were not refused: %v", version, err)
			}
			c.Close()
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("four clients that sent 300 MB each made the process allocate %d bytes", grown)
	}
}
