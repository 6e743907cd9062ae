package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// dialect is a way in which a client speaks.
type dialect struct {
	name        string
	version     byte
	compression string
	strip       bool // Options.StripCompression
}

var dialects = []dialect{
	{"v3", 3, "", false}, {"v4", 4, "", false}, {"v5", 5, "", false},
	{"v3 lz4", 3, "lz4", false}, {"v4 lz4", 4, "lz4", false}, {"v5 lz4", 5, "lz4", false},
	{"v3 snappy", 3, "snappy", false}, {"v4 snappy", 4, "snappy", false},
	{"v4 lz4 stripped", 4, "lz4", true}, {"v3 snappy stripped", 3, "snappy", true}, {"v5 lz4 stripped", 5, "lz4", true},
}

func (d dialect) options() []string {
	if d.compression == "" {
		return nil
	}
	return []string{"COMPRESSION", d.compression}
}

func (d dialect) connect(t testing.TB, s *proxy.Server) *proxytest.Client {
	t.Helper()
	return connect(t, s, d.version, d.options()...)
}

const longText = "SELECT a, b FROM t WHERE a > ?"

// longRows is an answer that is long, and becomes short when it is compressed.
func longRows(n int) []byte {
	row := [][]byte{[]byte("key"), bytes.Repeat([]byte("text "), 20)}
	return proxytest.RowsBody("k", "t", columns, slices.Repeat([][][]byte{row}, n))
}

// TestCompressionChangesNothingThatIsCounted: whatever a client speaks, the same conversation is counted the same.
func TestCompressionChangesNothingThatIsCounted(t *testing.T) {
	want := make(map[byte][]string)
	for _, d := range dialects {
		k, w, recorder := &kept{}, &scripted{}, &tally{}
		m := startMock(t, func(r *proxytest.Request) {
			if r.Header.Opcode == wire.OpExecute && bytes.Contains(r.Body, proxytest.PreparedID(longText)) {
				r.Reply(wire.OpResult, longRows(8000))
				return
			}
			if r.Text() == "fail" {
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrOverloaded, strings.Repeat("no ", 100)))
				return
			}
			k.handle(r)
		})
		s := startProxy(t, m, proxy.Options{Recorder: recorder, Rewriter: w, StripCompression: d.strip})
		c := d.connect(t, s)
		for _, text := range []string{readText, writeText, longText} {
			call(t, c, wire.OpPrepare, proxytest.PrepareBody(d.version, text))
		}
		for _, sampling := range []bool{false, true} {
			recorder.sampling.Store(sampling)
			execute := func(text string, values ...[]byte) {
				call(t, c, wire.OpExecute, proxytest.ExecuteBody(d.version, proxytest.PreparedID(text), values...))
			}
			execute(readText, []byte("key"))
			execute(writeText, bytes.Repeat([]byte("a"), 300), []byte("b"))
			execute(writeText, bytes.Repeat([]byte("long "), 100_000)) // streamed, unless sampled
			execute(longText, nil)
			call(t, c, wire.OpQuery, proxytest.QueryBody(d.version, "query", bytes.Repeat([]byte("v"), 200)))
			call(t, c, wire.OpQuery, proxytest.QueryBody(d.version, "fail"))
			call(t, c, wire.OpBatch, batchBody(d.version, writeText, proxytest.PreparedID(writeText)))
		}
		var got []string
		batch := "BATCH 0 | " + writeText + " | " + writeText
		await(t, func() bool { return len(recorder.find(batch)) == 2 })
		for _, text := range []string{readText, writeText, longText, "query", "fail", batch} {
			for _, x := range recorder.find(text) {
				x.Client, x.Start, x.End, x.Prepared, x.Hash = nil, 0, 0, nil, 0 // the key of hashes is each server's own
				x.Response = x.Response[:min(len(x.Response), 1000)]             // of a streamed one, as much as was shown
				got = append(got, fmt.Sprintf("%s: %+v", text, x))
			}
			if p := recorder.prepared(text); p != nil {
				got = append(got, fmt.Sprintf("%+v", *p))
			}
		}
		if d.compression == "" {
			want[d.version] = got
			if x := recorder.find(longText); len(x) != 2 || x[0].Rows != 8000 || len(x[1].Response) < 50_000 {
				t.Errorf("%s: the long answer is counted %.500v", d.name, x)
			}
		}
		if len(got) != len(want[d.version]) {
			t.Errorf("%s: %d lines are counted, want %d", d.name, len(got), len(want[d.version]))
			continue
		}
		for i, line := range got {
			if line != want[d.version][i] {
				t.Errorf("%s: counted\n%.2000s\nwant\n%.2000s", d.name, line, want[d.version][i])
			}
		}
		if w.opaque.Load() != 0 {
			t.Errorf("%s: a connection is not read", d.name)
		}
	}
}

// TestStrippedCompression: Cassandra neither offers nor hears of it, the client gets what it asked for.
func TestStrippedCompression(t *testing.T) {
	for _, d := range dialects {
		m := startMock(t, nil)
		m.Keep = true
		s := startProxy(t, m, proxy.Options{StripCompression: d.strip})
		asking, err := proxytest.Dial(s.Addrs()[0], d.version)
		if err != nil {
			t.Fatal(err)
		}
		defer asking.Close()
		want := proxytest.SupportedBody
		if d.strip {
			want = bytes.Replace(want, []byte("\x00\x02\x00\x06snappy\x00\x03lz4"), []byte{0, 0}, 1)
		}
		if h, body := call(t, asking, wire.OpOptions, nil); h.Opcode != wire.OpSupported || !bytes.Equal(body, want) {
			t.Errorf("%s: SUPPORTED is %q, want %q", d.name, body, want)
		}
		c := connect(t, s, d.version, append(d.options(), "DRIVER_NAME", "test", "X", "y")...)
		text := strings.Repeat("SELECT the same ", 40)
		call(t, c, wire.OpQuery, proxytest.QueryBody(d.version, text, bytes.Repeat([]byte("long "), 60_000)))
		conns := m.Conns()
		upstream := conns[slices.IndexFunc(conns, func(x *proxytest.Conn) bool { return x.Driver() == "test" })]
		if asked := upstream.Compression(); (asked != "") != (d.compression != "" && !d.strip) {
			t.Errorf("%s: Cassandra was asked for %q", d.name, asked)
		}
		if plain := bytes.Contains(upstream.Received(), []byte(text)); plain != (d.compression == "" || d.strip) {
			t.Errorf("%s: Cassandra got plain text: %v", d.name, plain)
		}
	}
}

// TestUnknownCompressionIsLeftToCassandra, whether known ones are taken out or not.
func TestUnknownCompressionIsLeftToCassandra(t *testing.T) {
	for _, strip := range []bool{false, true} {
		for _, x := range []struct {
			version byte
			options []string
		}{{4, []string{"COMPRESSION", "zstd"}}, {5, []string{"COMPRESSION", "snappy"}}, {4, []string{"COMPRESSION", ""}},
			{4, []string{"COMPRESSION", "lz4", "compression", "snappy"}}} {
			w, m := &scripted{}, startMock(t, nil)
			s := startProxy(t, m, proxy.Options{Rewriter: w, StripCompression: strip})
			c, err := proxytest.Dial(s.Addrs()[0], x.version)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if h, _ := call(t, c, wire.OpStartup, startupBody(append(x.options, "DRIVER_NAME", "test")...)); h.Opcode != wire.OpReady {
				t.Fatalf("%v: %+v", x, h)
			}
			if w.opaque.Load() != 1 {
				t.Errorf("%v: the Rewriter was not told", x)
			}
			c.Close()
			await(t, func() bool { return w.opaque.Load() == 0 })
		}
	}
}

// TestBadCompressionIsRefused with a ProtocolError and the end of the connection, before and after authentication.
func TestBadCompressionIsRefused(t *testing.T) {
	small := proxytest.Compress(compress.LZ4, make([]byte, 1000))
	announce := func(n uint32, b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, n), b[4:]...) }
	flagged := func(body []byte) []byte {
		return wire.AppendFrame(nil, wire.Header{Version: 4, Flags: wire.FlagCompressed, Stream: 3, Opcode: wire.OpExecute}, body)
	}
	for name, x := range map[string]struct {
		version     byte
		compression string
		send        []byte
		want        string
	}{
		"announces 2 GB":           {4, "lz4", flagged(announce(1<<31-1, small)), "Request is too big: length 2147483647 exceeds maximum allowed length 1048576"},
		"announces 1 MB and more":  {4, "lz4", flagged(announce(1<<20+1, small)), "Request is too big"},
		"announces less":           {4, "lz4", flagged(announce(999, small)), "can not be decompressed"},
		"announces more":           {4, "lz4", flagged(announce(1001, small)), "can not be decompressed"},
		"is another algorithm's":   {4, "snappy", flagged(small), "can not be decompressed"},
		"is cut":                   {4, "lz4", flagged(small[:6]), "can not be decompressed"},
		"a segment announces less": {5, "lz4", wire.LZ4Segments.Append(nil, small[4:], 999, true), "can not be decompressed"},
		"a segment of garbage":     {5, "lz4", wire.LZ4Segments.Append(nil, []byte("garbage"), 999, true), "can not be decompressed"},
		"plain segments":           {5, "lz4", aFrame(), "checksum of a segment's header"},
	} {
		for _, strip := range []bool{false, true} {
			s := startProxy(t, startMock(t, nil), proxy.Options{MaxFrame: 1 << 20, StripCompression: strip})
			c := connect(t, s, x.version, "COMPRESSION", x.compression)
			if _, err := c.Conn.Write(x.send); err != nil {
				t.Fatal(err)
			}
			h, body, err := c.Read()
			r := wire.NewReader(body)
			code, message := r.Int(), string(r.String())
			if err != nil || h.Opcode != wire.OpError || code != wire.ErrProtocol || !strings.Contains(message, x.want) {
				t.Errorf("%s: answered %+v %q %v", name, h, body, err)
			}
			if x.version == 4 && h.Stream != 3 {
				t.Errorf("%s: answered on stream %d", name, h.Stream)
			}
			if h, _, err := c.Read(); err == nil {
				t.Errorf("%s: the connection goes on: %+v", name, h)
			}
		}
	}
}

// TestTheBoundBeforeAuthentication: what is small on the wire and large after does not pass.
func TestTheBoundBeforeAuthentication(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpStartup && r.Conn.Driver() != "Helenus" {
			r.Reply(wire.OpAuthenticate, wire.AppendString(nil, "PasswordAuthenticator"))
			r.Conn.Agree(r.Header.Version)
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{})
	for _, version := range []byte{4, 5} {
		c, err := proxytest.Dial(s.Addrs()[0], version)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if h, _ := call(t, c, wire.OpStartup, startupBody("COMPRESSION", "lz4")); h.Opcode != wire.OpAuthenticate {
			t.Fatalf("%+v", h)
		}
		c.Agree("lz4")
		h, body := call(t, c, wire.OpAuthResponse, make([]byte, 100_000))
		if r := wire.NewReader(body); h.Opcode != wire.OpError || r.Int() != wire.ErrProtocol || !strings.Contains(string(body), "65536") {
			t.Errorf("v%d: answered %+v %q", version, h, body)
		}
	}
}

// TestCompressedTooEarly: before the server agreed nobody knows what a compressed request is; it does not go by unread.
func TestCompressedTooEarly(t *testing.T) {
	k := &kept{}
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode != wire.OpStartup || r.Conn.Driver() == "Helenus" {
			k.handle(r)
		}
	})
	s := startProxy(t, m, proxy.Options{})
	c, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := c.Frame(1, wire.OpStartup, 0, startupBody("COMPRESSION", "snappy"))
	b = append(b, c.Frame(2, wire.OpQuery, wire.FlagCompressed, proxytest.Compress(compress.Snappy, proxytest.QueryBody(4, writeText)))...)
	if err := c.SendRaw(b); err != nil {
		t.Fatal(err)
	}
	h, body, err := c.Read()
	if r := wire.NewReader(body); err != nil || h.Stream != 2 || r.Int() != wire.ErrProtocol || k.count() != 0 {
		t.Errorf("answered %+v %q %v, %d requests went on", h, body, err, k.count())
	}
}

// TestRatiosPass: the runs that other proxies take for bombs.
func TestRatiosPass(t *testing.T) {
	for _, d := range dialects {
		k, recorder := &kept{}, &tally{}
		s := startProxy(t, startMock(t, k.handle), proxy.Options{Recorder: recorder, StripCompression: d.strip})
		c := d.connect(t, s)
		var lengths []int
		for _, n := range []int{1000, 60_000, 1_000_000} {
			body := proxytest.QueryBody(d.version, "run", bytes.Repeat([]byte("a"), n))
			if h, _ := call(t, c, wire.OpQuery, body); h.Opcode != wire.OpResult || !bytes.Equal(k.last().Body, body) {
				t.Errorf("%s: a run of %d: %+v", d.name, n, h)
			}
			lengths = append(lengths, len(body))
		}
		await(t, func() bool { return len(recorder.find("run")) == 3 })
		var counted []int
		for _, x := range recorder.find("run") {
			counted = append(counted, x.RequestBytes)
		}
		if !reflect.DeepEqual(counted, lengths) {
			t.Errorf("%s: counted %v bytes, %v were sent", d.name, counted, lengths)
		}
	}
}
