package proxy_test

import (
	"encoding/hex"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func TestWhatCanNotBeUnderstoodIsRefused(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{MaxFrame: 1 << 20})
	badCRC := wire.AppendSegments(nil, wire.AppendFrame(nil, wire.Header{Version: 5, Opcode: wire.OpOptions}, nil))
	badPayload := append([]byte(nil), badCRC...)
	badPayload[8] ^= 1
	badCRC[0] ^= 1
	cases := map[string]struct {
		connect byte // 0: no handshake
		send    []byte
		want    string // of the ERROR's message
	}{
		"version 6":                      {0, []byte{6, 0, 0, 7, 5, 0, 0, 0, 0}, "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"},
		"version 6 beta":                 {0, []byte{6, 0x10, 0, 7, 5, 0, 0, 0, 0}, "Invalid or unsupported protocol version (6); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"},
		"version 2":                      {0, []byte{2, 0, 0, 7, 5, 0, 0, 0, 0}, "Invalid or unsupported protocol version (2)"},
		"HTTP":                           {0, []byte("GET / HTTP/1.0\r\n\r\n"), "Invalid or unsupported protocol version (71)"},
		"TLS":                            {0, []byte{22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3}, "does not speak TLS"},
		"a response":                     {0, []byte{0x84, 0, 0, 7, 5, 0, 0, 0, 0}, "Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode 5"},
		"300 MB before authentication":   {0, []byte{4, 0, 0, 7, 5, 0x11, 0xe1, 0xa3, 0}, "Request is too big: length 300000000 exceeds maximum allowed length 65536"},
		"4 GB":                           {4, []byte{4, 0, 0, 7, 7, 0xff, 0xff, 0xff, 0xff}, "Request is too big: length 4294967295 exceeds maximum allowed length 1048576"},
		"a negative stream":              {4, []byte{4, 0, 0xff, 0xff, 5, 0, 0, 0, 0}, "Invalid stream id -1"},
		"a damaged segment header":       {5, badCRC, "checksum of a segment's header"},
		"a damaged segment payload":      {5, badPayload, "checksum of a segment's payload"},
		"a cut frame in a segment":       {5, wire.AppendSegments(nil, []byte{5, 0, 0}), "do not fit together"},
		"a frame longer than segment":    {5, wire.AppendSegments(nil, []byte{5, 0, 0, 1, 5, 0, 0, 0, 9, 1}), "do not fit together"},
		"no segments in version 5":       {5, []byte{5, 0, 0, 1, 5, 0, 0, 0, 0}, "checksum of a segment's header"},
		"another version in a segment":   {5, wire.AppendSegments(nil, []byte{9, 0, 0, 1, 5, 0, 0, 0, 0}), "unsupported protocol version (9)"},
		"a new frame amid another's":     {5, append(wire.AppendSegments(nil, append([]byte{5, 0, 0, 1, 0x33, 0, 2, 0, 0}, make([]byte, 0x20000)...))[:wire.MaxSegmentSize], aFrame()...), "do not fit together"},
		"a long frame that ends at once": {5, notSelfContained([]byte{5, 0, 0, 1, 5, 0, 0, 0, 0}), "do not fit together"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var client *proxytest.Client
			var err error
			if c.connect == 0 {
				client, err = proxytest.Dial(s.Addrs()[0], 4)
			} else {
				client, err = proxytest.Connect(s.Addrs()[0], c.connect)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Conn.Write(c.send); err != nil {
				t.Fatal(err)
			}
			h, body, err := client.Read()
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			r := wire.NewReader(body)
			if code, message := r.Int(), string(r.String()); h.Opcode != wire.OpError || code != wire.ErrProtocol || !strings.Contains(message, c.want) {
				t.Errorf("answered %+v %#x %q", h, code, message)
			}
			if h, _, err := client.Read(); err == nil {
				t.Errorf("the connection goes on: %+v", h)
			}
		})
	}
}

func aFrame() []byte {
	return wire.AppendSegments(nil, []byte{5, 0, 0, 2, 5, 0, 0, 0, 0})
}

// notSelfContained is one segment without the self-contained bit: the last of a payload that needs two.
func notSelfContained(payload []byte) []byte {
	return wire.AppendSegments(nil, append(make([]byte, wire.MaxSegmentPayload), payload...))[wire.MaxSegmentSize:]
}

// TestVersionAnswerBytes holds the very bytes that Cassandra 5.0.8 answers.
func TestVersionAnswerBytes(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{})
	c, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Conn.Write([]byte{7, 0, 0, 7, 5, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(proxytest.Patience))
	got, _ := io.ReadAll(c.Conn)
	want := "8500000000000000670000000a0061" + hex.EncodeToString([]byte("Invalid or unsupported protocol version (7); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"))
	if hex.EncodeToString(got) != want {
		t.Errorf("answered %x, want %s", got, want)
	}
}

// TestOversizeLeavesMemoryFlat: peers buffer a frame of 300 MB from a client that never authenticated.
func TestOversizeLeavesMemoryFlat(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 20 {
		c, err := proxytest.Dial(s.Addrs()[0], 4)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Conn.Write([]byte{4, 0, 0, 7, 1, 0x11, 0xe1, 0xa3, 0})
		junk := make([]byte, 1<<16)
		_ = c.Conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		for range 40 {
			if _, err := c.Conn.Write(junk); err != nil {
				break
			}
		}
		c.Close()
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("20 clients that announced 300 MB each made the process allocate %d bytes", grown)
	}
}

func TestTruncatedRequestsHangNobody(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{})
	for n := range 9 {
		c, err := proxytest.Dial(s.Addrs()[0], 4)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Conn.Write([]byte{4, 0, 0, 7, 5, 0, 0, 0, 50}[:n])
		c.Close()
	}
	await(t, func() bool { return s.Stats().Accepted >= 9 && s.Stats().Connections == 0 })
}

func TestAStreamIDInUseIsRefused(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode != wire.OpExecute { // never answered
			proxytest.Default(r)
		}
	})
	c := connect(t, startProxy(t, m, proxy.Options{}), 4)
	for range 2 {
		if err := c.Send(5, wire.OpExecute, 0, proxytest.ExecuteBody(4, []byte("id"))); err != nil {
			t.Fatal(err)
		}
	}
	h, body, err := c.Read()
	if err != nil || h.Opcode != wire.OpError || !strings.Contains(string(body), "used again") {
		t.Errorf("answered %+v %q %v", h, body, err)
	}
}

// TestAProtocolErrorOnAnotherStream: Cassandra answers some requests on stream 0; nothing may wait for their own for ever.
func TestAProtocolErrorOnAnotherStream(t *testing.T) {
	for _, version := range []byte{4, 5} {
		m := startMock(t, func(r *proxytest.Request) {
			if r.Text() == "unreadable" {
				r.Header.Stream = 0
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrProtocol, "can not read"))
				return
			}
			proxytest.Default(r)
		})
		s := startProxy(t, m, proxy.Options{})
		c := connect(t, s, version)
		if err := c.Send(9, wire.OpQuery, 0, proxytest.QueryBody(version, "unreadable")); err != nil {
			t.Fatal(err)
		}
		if h, _, err := c.Read(); err != nil || h.Opcode != wire.OpError {
			t.Errorf("v%d: answered %+v %v", version, h, err)
		}
		if err := s.Barrier(t.Context()); err != nil {
			t.Error(err)
		}
		if _, _, err := c.Read(); err == nil {
			t.Errorf("v%d: the connection goes on", version)
		}
	}
}
