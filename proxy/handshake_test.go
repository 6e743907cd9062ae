package proxy_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func startupBody(options ...string) []byte {
	body := wire.AppendShort(nil, uint16(len(options)/2))
	for _, o := range options {
		body = wire.AppendString(body, o)
	}
	return body
}

// TestHandshakesTakeLittleTime: who does not complete the handshake is cut off, at whatever step it stays; who does, stays.
func TestHandshakesTakeLittleTime(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpStartup && r.Conn.Driver() == "asked" {
			r.Reply(wire.OpAuthenticate, wire.AppendString(nil, "PasswordAuthenticator"))
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{HandshakeTimeout: time.Second})
	patient, late := inTime(t, func() (*proxytest.Client, error) { return proxytest.Connect(s.Addrs()[0], 5) })
	slow := make(map[string]net.Conn)
	for name, said := range map[string][]byte{
		"nothing":     nil,
		"half":        {4, 0, 0},
		"OPTIONS":     wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpOptions}, nil),
		"no password": wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpStartup}, startupBody("DRIVER_NAME", "asked")),
	} {
		c, err := net.Dial("tcp", s.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(said); err != nil {
			t.Fatal(err)
		}
		slow[name] = c
	}
	for name, c := range slow {
		_ = c.SetReadDeadline(time.Now().Add(proxytest.Patience))
		var timeout net.Error
		if _, err := io.ReadAll(c); errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("who says %s stays for ever", name)
		}
	}
	await(t, func() bool { return s.Stats().Connections == 1 && s.Stats().Unfinished == 4+late }) // a connection is forgotten before it is counted
	call(t, patient, wire.OpOptions, nil)
}

// TestUnknownCompressionIsNoticed however STARTUP writes it: Cassandra takes its keys in any case.
func TestUnknownCompressionIsNoticed(t *testing.T) {
	w := &scripted{}
	s := startProxy(t, startMock(t, nil), proxy.Options{Rewriter: w})
	c := connect(t, s, 4, "compression", "zstd")
	await(t, func() bool { return w.opaque.Load() == 1 })
	c.Close()
	await(t, func() bool { return w.opaque.Load() == 0 })

	// Two at once: each answer is to its own STARTUP.
	two, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	frames := two.Frame(1, wire.OpStartup, 0, startupBody("CQL_VERSION", "3.0.0", "COMPRESSION", "zstd"))
	frames = append(frames, two.Frame(2, wire.OpStartup, 0, startupBody("CQL_VERSION", "3.0.0"))...)
	if err := two.SendRaw(frames); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return w.opaque.Load() == 1 })
	// What was asked before and is answered unseen holds nobody up.
	if err := s.Barrier(t.Context()); err != nil {
		t.Error(err)
	}
}
