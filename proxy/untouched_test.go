package proxy_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// mirrored is a Cassandra that keeps what comes and answers what the test laid out.
type mirrored struct {
	mu            sync.Mutex
	got           proxytest.Request
	opcode, flags byte
	body          []byte
}

func (m *mirrored) handle(r *proxytest.Request) {
	if r.Conn.Driver() == "Helenus" || r.Header.Opcode == wire.OpStartup {
		proxytest.Default(r)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.got = *r
	r.ReplyFlags(m.opcode, m.flags, m.body)
}

// TestWhatIsNotKnownPassesUntouched: opcodes, error codes, types, consistencies and flags that nobody has heard of go through as
// they are, both ways, and the exchange is counted all the same.
func TestWhatIsNotKnownPassesUntouched(t *testing.T) {
	void := wire.AppendInt(nil, wire.ResultVoid)
	failure := func(code int32, more string) []byte {
		return append(wire.AppendError(nil, code, "an error"), more...)
	}
	// Metadata with a type of code 0x00AB, for PREPARED and ROWS.
	strange := []proxytest.Column{{Name: "a", Type: 0x00AB}, {Name: "b", Type: 0x7FFF}}
	for _, version := range []byte{3, 4, 5} {
		query := func(consistency uint16, flags uint32, more string) []byte {
			b := wire.AppendShort(wire.AppendLongString(nil, "counted"), consistency)
			if version >= 5 {
				b = wire.AppendInt(b, int32(flags))
			} else {
				b = append(b, byte(flags))
			}
			return append(b, more...)
		}
		unknownFlags, more := uint32(0x80), "\x00\x02ks" // which Cassandra reads as a keyspace in every version
		if version >= 5 {
			unknownFlags, more = 0x40000000, "more"
		}
		for name, x := range map[string]struct {
			opcode, flags, answer, answerFlags byte
			request, body                      []byte
			failed                             int32
		}{
			"an unknown request":           {opcode: 0x42, request: []byte("whatever"), answer: wire.OpResult, body: void},
			"an unknown answer":            {opcode: wire.OpQuery, request: query(1, 0, ""), answer: 0x77, body: []byte("whatever")},
			"error 0x1600":                 {opcode: wire.OpQuery, request: query(1, 0, ""), body: failure(0x1600, "\x00\x01\x00\x00\x00\x02"), failed: 0x1600},
			"error 0x1700":                 {opcode: wire.OpQuery, request: query(1, 0, ""), body: failure(0x1700, "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02"), failed: 0x1700},
			"error 0x9999":                 {opcode: wire.OpQuery, request: query(1, 0, ""), body: failure(0x9999, "\xff\xfe"), failed: 0x9999},
			"unknown types in rows":        {opcode: wire.OpQuery, request: query(1, 0, ""), answer: wire.OpResult, body: proxytest.RowsBody("k", "t", strange, [][][]byte{{{1}, nil}})},
			"unknown types in a PREPARED":  {opcode: wire.OpPrepare, request: proxytest.PrepareBody(version, "prepared"), answer: wire.OpResult, body: proxytest.PreparedBody(version, "prepared", strange, strange)},
			"an unknown kind of RESULT":    {opcode: wire.OpQuery, request: query(1, 0, ""), answer: wire.OpResult, body: wire.AppendInt(nil, 99)},
			"an unknown consistency":       {opcode: wire.OpQuery, request: query(0x00FF, 0, ""), answer: wire.OpResult, body: void},
			"unknown flags of a QUERY":     {opcode: wire.OpQuery, request: query(1, unknownFlags, more), answer: wire.OpResult, body: void},
			"unknown flags of the headers": {opcode: wire.OpQuery, flags: 0x60, request: query(1, 0, ""), answer: wire.OpResult, answerFlags: 0xA0, body: void},
		} {
			for _, ruled := range []bool{false, true} {
				m, recorder := &mirrored{opcode: x.answer, flags: x.answerFlags, body: x.body}, &tally{}
				o := proxy.Options{Recorder: recorder}
				if ruled {
					w := &scripted{}
					w.set("something else", rule("x"))
					o.Rewriter = w
				}
				s := startProxy(t, startMock(t, m.handle), o)
				c := connect(t, s, version)
				before := s.Stats().Requests
				if err := c.Send(300, x.opcode, x.flags, x.request); err != nil {
					t.Fatal(err)
				}
				h, body := read(t, c)
				at := fmt.Sprintf("v%d, rules %v, %s", version, ruled, name)
				if got := m.got.Header; got.Opcode != x.opcode || got.Flags != x.flags || got.Stream != 300 || !bytes.Equal(m.got.Body, x.request) {
					t.Errorf("%s: Cassandra got %+v %q", at, got, m.got.Body)
				}
				if h.Opcode != x.answer || h.Flags != x.answerFlags || h.Stream != 300 || !bytes.Equal(body, x.body) {
					t.Errorf("%s: the client got %+v %q", at, h, body)
				}
				await(t, func() bool { return s.Stats().Requests > before })
				if x.opcode != wire.OpQuery {
					continue
				}
				await(t, func() bool { return len(recorder.find("counted")) == 1 })
				if got := recorder.find("counted")[0]; got.Failed != (x.failed != 0) || got.ErrorCode != x.failed {
					t.Errorf("%s: counted %+v", at, got)
				}
			}
		}
	}
}

// TestEachConnectionHasItsKeyspace: many clients say USE at once, quoted and not, and each one's next statement is said in its own.
func TestEachConnectionHasItsKeyspace(t *testing.T) {
	recorder := &tally{}
	m := startMock(t, func(r *proxytest.Request) {
		if text := r.Text(); r.Header.Opcode == wire.OpQuery && len(text) > 4 && text[:4] == "USE " {
			name := text[4:]
			if name[0] == '"' {
				name = name[1 : len(name)-1]
			}
			r.Reply(wire.OpResult, wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), name))
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{Recorder: recorder})
	var work sync.WaitGroup
	for i := range 64 {
		work.Go(func() {
			version := []byte{3, 4, 5}[i%3]
			c, err := proxytest.Connect(s.Addrs()[0], version)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for turn := range 5 {
				for _, q := range []struct {
					opcode byte
					body   []byte
				}{
					{wire.OpQuery, proxytest.QueryBody(version, fmt.Sprintf(`USE "Ks%d"`, i))},
					{wire.OpQuery, proxytest.QueryBody(version, fmt.Sprintf("statement %d %d", i, turn))},
					{wire.OpPrepare, proxytest.PrepareBody(version, fmt.Sprintf("prepared %d %d", i, turn))},
				} {
					if h, _, err := c.Call(q.opcode, q.body); err != nil || h.Opcode != wire.OpResult {
						t.Errorf("client %d: %+v %v", i, h, err)
						return
					}
				}
			}
			if version == 5 { // a keyspace of its own wins
				body := wire.AppendShort(wire.AppendLongString(nil, fmt.Sprintf("named %d", i)), 1)
				body = wire.AppendString(wire.AppendInt(body, int32(wire.ParamKeyspace)), "Named")
				if _, _, err := c.Call(wire.OpQuery, body); err != nil {
					t.Error(err)
				}
				body = wire.AppendString(wire.AppendInt(wire.AppendLongString(nil, fmt.Sprintf("named prepared %d", i)), 1), "Named")
				if _, _, err := c.Call(wire.OpPrepare, body); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	for i := range 64 {
		for turn := range 5 {
			for _, text := range []string{fmt.Sprintf("statement %d %d", i, turn), fmt.Sprintf("prepared %d %d", i, turn)} {
				if got, want := recorder.keyspaceOf(text), fmt.Sprintf("Ks%d", i); got != want {
					t.Errorf("%q was said in %q", text, got)
				}
			}
		}
		for _, text := range []string{fmt.Sprintf("named %d", i), fmt.Sprintf("named prepared %d", i)} {
			if got := recorder.keyspaceOf(text); i%3 == 2 && got != "Named" {
				t.Errorf("%q was said in %q", text, got)
			}
		}
	}
}
