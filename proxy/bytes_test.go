package proxy_test

import (
	"bytes"
	"io"
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// frames draws a conversation of requests of all sorts, malformed bodies and unknown opcodes among them; no stream id is
// used twice.
func drawFrames(t *rapid.T, version byte, response bool) [][]byte {
	n := rapid.IntRange(1, 30).Draw(t, "frames")
	seed := rapid.Int64().Draw(t, "seed")
	random := rand.New(rand.NewSource(seed))
	var list [][]byte
	for i := range n {
		text := "SELECT a FROM t WHERE b = " + string(rune('a'+i%26))
		var opcode, flags byte
		var body []byte
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			opcode, body = wire.OpPrepare, proxytest.PrepareBody(version, text)
		case 1:
			opcode, body = wire.OpQuery, proxytest.QueryBody(version, text, []byte("v"), nil)
		case 2:
			opcode, body = wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text), []byte("v"))
		case 3:
			opcode, body = wire.OpBatch, batchBody(version, text, proxytest.PreparedID(text))
		case 4: // anything
			opcode = []byte{wire.OpQuery, wire.OpPrepare, wire.OpExecute, wire.OpBatch, 0x33, 0xFF}[random.Intn(6)]
			body = make([]byte, random.Intn(60))
			random.Read(body)
		case 5: // long
			opcode = []byte{wire.OpQuery, wire.OpExecute, 0x33}[random.Intn(3)]
			body = make([]byte, random.Intn(400_000))
			random.Read(body[:min(len(body), 50)])
		case 6: // prefix by flags
			opcode, flags = wire.OpQuery, wire.FlagCustomPayload|wire.FlagTracing
			body = wire.AppendBytes(wire.AppendString(wire.AppendShort(nil, 1), "key"), []byte("payload"))
			body = append(body, proxytest.QueryBody(version, text)...)
		case 7:
			opcode, flags, body = wire.OpExecute, wire.FlagCompressed, []byte("not readable")
		case 8:
			opcode, body = wire.OpRegister, wire.AppendString(wire.AppendShort(nil, 1), "SCHEMA_CHANGE")
		}
		if response {
			opcode = []byte{wire.OpResult, wire.OpError, wire.OpEvent, 0x33}[random.Intn(4)]
			if opcode == wire.OpError {
				body = wire.AppendError(nil, []int32{0x1600, 0x1700, 0x7777}[random.Intn(3)], "unknown") // codes that codecs stumble over
			}
			version |= wire.ResponseBit
		}
		list = append(list, wire.AppendFrame(nil, wire.Header{Version: version, Flags: flags, Stream: int16(1 + i), Opcode: opcode}, body))
		version &^= wire.ResponseBit
	}
	return list
}

func batchBody(version byte, text string, id []byte) []byte {
	b := wire.AppendShort([]byte{0}, 2)
	b = wire.AppendShort(wire.AppendLongString(append(b, 0), text), 0)
	b = wire.AppendString(append(b, 1), string(id))
	b = wire.AppendBytes(wire.AppendShort(b, 1), []byte("value"))
	b = wire.AppendShort(b, 1)
	if version >= 5 {
		return wire.AppendInt(b, 0)
	}
	return append(b, 0)
}

// pack puts frames on the wire: as they are or compressed or in segments, sometimes several frames in one.
func pack(t *rapid.T, framing proxytest.Framing, list [][]byte) []byte {
	var out, run []byte
	for _, f := range list {
		if framing.Segments == 0 && framing.Algorithm != compress.None {
			f[1] &^= wire.FlagCompressed // here it would mean something
		}
		run = append(run, f...)
		switch rapid.IntRange(0, 3).Draw(t, "pack") {
		case 0:
			out, run = framing.Append(out, run), nil
		case 1:
			out, run = framing.AppendPlain(out, run), nil
		}
	}
	return framing.Append(out, run)
}

// TestBytesPassUnchanged is the relay's promise: without a rule, what goes in comes out, byte for byte, both ways, however
// it is cut into packets.
func TestBytesPassUnchanged(t *testing.T) {
	for _, d := range dialects {
		for _, observed := range []bool{false, true} {
			if d.strip || !observed && d.compression != "" {
				continue
			}
			t.Run(d.name+map[bool]string{true: " observed", false: " bare"}[observed], func(t *testing.T) {
				version := d.version
				m, err := proxytest.Start(func(r *proxytest.Request) {
					if op := r.Header.Opcode; op == wire.OpStartup || r.Conn.Driver() == "Helenus" {
						proxytest.Default(r)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				m.Keep = true
				t.Cleanup(m.Close)
				o := proxy.Options{}
				if observed {
					o.Recorder, o.Rewriter = &tally{}, &scripted{}
				}
				s := startProxy(t, m, o)
				rapid.Check(t, func(rt *rapid.T) {
					c, err := proxytest.Connect(s.Addrs()[0], version, append(d.options(), "DRIVER_NAME", "test")...)
					if err != nil {
						rt.Fatal(err)
					}
					defer c.Close()
					var conn *proxytest.Conn
					await(t, func() bool {
						n := 0
						for _, x := range m.Conns() {
							if x.Driver() == "test" {
								conn = x
								n++
							}
						}
						return n == 1
					})
					before := len(conn.Received())

					up := pack(rt, c.Framing(), drawFrames(rt, version, false))
					go trickle(c.Conn, up, rapid.IntRange(1, 5000).Draw(rt, "packet"))
					await(t, func() bool { return len(conn.Received()) >= before+len(up) })
					if got := conn.Received()[before:]; !bytes.Equal(got, up) {
						rt.Fatalf("%d bytes went up, %d other bytes came out", len(up), len(got))
					}
					down := pack(rt, c.Framing(), drawFrames(rt, version, true))
					conn.SendRaw(down)
					got := make([]byte, len(down))
					_ = c.Conn.SetReadDeadline(time.Now().Add(proxytest.Patience))
					if _, err := io.ReadFull(c.Conn, got); err != nil || !bytes.Equal(got, down) {
						rt.Fatalf("%d bytes went down, other bytes came out: %v", len(down), err)
					}
					conn.Close()
					await(t, func() bool { return s.Stats().Connections == 0 })
				})
			})
		}
	}
}

func trickle(w io.Writer, b []byte, packet int) {
	for len(b) > 0 {
		n := min(packet, len(b))
		if len(b) > 100_000 { // not for minutes
			n = min(len(b), 60_000)
		}
		if _, err := w.Write(b[:n]); err != nil {
			return
		}
		b = b[n:]
	}
}

// TestKnownThingsPass names what other proxies stumble over.
func TestKnownThingsPass(t *testing.T) {
	var code atomic.Int32
	m := startMock(t, func(r *proxytest.Request) {
		switch {
		case r.Header.Opcode == wire.OpQuery && r.Conn.Driver() != "Helenus":
			r.Reply(wire.OpError, wire.AppendError(nil, code.Load(), "vendor"))
		case r.Header.Opcode == 0x7F:
			r.Reply(0x7E, []byte("answer"))
		default:
			proxytest.Default(r)
		}
	})
	recorder := &tally{}
	s := startProxy(t, m, proxy.Options{Recorder: recorder})
	for _, version := range []byte{4, 5} {
		c := connect(t, s, version)
		for _, want := range []int32{0x1600, 0x1700, 0x6666} {
			code.Store(want)
			h, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(version, "q"))
			r := wire.NewReader(body)
			if err != nil || h.Opcode != wire.OpError || r.Int() != want {
				t.Errorf("error code %#x came as %+v %q %v", want, h, body, err)
			}
		}
		if h, body, err := c.Call(0x7F, []byte("question")); err != nil || h.Opcode != 0x7E || string(body) != "answer" {
			t.Errorf("an unknown opcode was answered %+v %q %v", h, body, err)
		}
		// CASSGO-98: gocql sets the compressed flag inside segments without meaning it.
		if version == 5 {
			if err := c.Send(0, wire.OpQuery, wire.FlagCompressed, proxytest.QueryBody(version, "flagged")); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Read(); err != nil {
				t.Fatal(err)
			}
			await(t, func() bool { return len(recorder.find("flagged")) == 1 })
		}
	}
	await(t, func() bool { return len(recorder.find("q")) == 6 })
	if x := recorder.find("q")[1]; !x.Failed || x.ErrorCode != 0x1700 || x.Rows != -1 {
		t.Errorf("counted %+v", x)
	}
}
