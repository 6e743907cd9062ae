package proxy_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// shape is what a statement looks like when it is prepared.
type shape struct{ variables, results []proxytest.Column }

// memory is a Cassandra that remembers what was prepared, and keeps the texts that were executed.
type memory struct {
	mu       sync.Mutex
	shapes   map[string]shape // by text; columns by default
	prepared map[string]string
	prepares []string
	executed []string
	meta     []string // ids of the result's metadata that came with EXECUTEs
}

// metadataID is what memory gives a text in version 5; as long as proxytest's.
func metadataID(text string) []byte {
	return []byte("metadata-" + string(proxytest.PreparedID(text)[:2]))
}

func (m *memory) handle(r *proxytest.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prepared == nil {
		m.prepared = make(map[string]string)
	}
	switch r.Header.Opcode {
	case wire.OpPrepare:
		text := r.Text()
		s, ok := m.shapes[text]
		if !ok {
			s = shape{columns[:1], columns}
		}
		m.prepares = append(m.prepares, text)
		if s.variables == nil {
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrInvalid, "no such table"))
			return
		}
		m.prepared[string(proxytest.PreparedID(text))] = text
		body := proxytest.PreparedBody(r.Header.Version, text, s.variables, s.results)
		r.Reply(wire.OpResult, bytes.Replace(body, []byte("metadata-id"), metadataID(text), 1))
	case wire.OpExecute:
		var q wire.View
		q.See(r.Header, r.Body)
		q.Whole()
		if !m.execute(r, q.ID()) {
			return
		}
		m.meta = append(m.meta, string(q.MetadataID()))
		r.Reply(wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))
	case wire.OpBatch:
		ok := true
		var q wire.View
		q.See(r.Header, r.Body)
		q.Whole()
		for i := range q.Children() {
			switch c := q.Child(i); {
			case !ok:
			case c.Text != nil:
				m.executed = append(m.executed, string(c.Text))
			default:
				ok = m.execute(r, c.ID)
			}
		}
		if ok {
			r.Reply(wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))
		}
	default:
		proxytest.Default(r)
	}
}

func (m *memory) execute(r *proxytest.Request, id []byte) bool {
	text, ok := m.prepared[string(id)]
	if !ok {
		r.Reply(wire.OpError, wire.AppendString(wire.AppendError(nil, wire.ErrUnprepared, "forgotten"), string(id)))
		return false
	}
	m.executed = append(m.executed, text)
	return true
}

func (m *memory) forget(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.prepared, string(proxytest.PreparedID(text)))
}

func (m *memory) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.executed) == 0 {
		return ""
	}
	return m.executed[len(m.executed)-1]
}

func (m *memory) lastMeta() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.meta[len(m.meta)-1]
}

// prepare prepares a text and returns its id.
func prepare(t *testing.T, c *proxytest.Client, text string) []byte {
	t.Helper()
	h, body := call(t, c, wire.OpPrepare, proxytest.PrepareBody(c.Version, text))
	r := wire.NewReader(body)
	if kind := r.Int(); h.Opcode != wire.OpResult || kind != wire.ResultPrepared {
		t.Fatalf("PREPARE of %q was answered %+v %q", text, h, body)
	}
	return r.String()
}

const (
	own   = "SELECT a, b FROM t WHERE a = ?"
	other = "SELECT a, b FROM lookup WHERE a = ?"
	third = "SELECT a, b FROM another WHERE a = ?"
)

// executeOwn is an EXECUTE as a driver sends it that knows the metadata of its statement.
func executeOwn(version byte) []byte {
	b := proxytest.ExecuteBody(version, proxytest.PreparedID(own), []byte("v"))
	return bytes.Replace(b, []byte("metadata-id"), metadataID(own), 1)
}

// TestPreparedIDsStayValid: whatever rules come and go, a client has one id for its text, and what runs follows the rules.
func TestPreparedIDsStayValid(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		m, w := &memory{}, &scripted{}
		s := startProxy(t, startMock(t, m.handle), proxy.Options{Rewriter: w})
		c := connect(t, s, version)
		w.set(own, rule(other))
		run := func() string {
			t.Helper()
			if h, body := call(t, c, wire.OpExecute, executeOwn(version)); h.Opcode != wire.OpResult {
				t.Fatalf("v%d: EXECUTE was answered %+v %q", version, h, body)
			}
			return m.last()
		}
		eventually := func(want string) {
			t.Helper()
			await(t, func() bool { return run() == want })
		}
		if id := prepare(t, c, own); !bytes.Equal(id, proxytest.PreparedID(own)) {
			t.Errorf("v%d: the client got the id %x", version, id)
		}
		if got := run(); got != own {
			t.Errorf("v%d: while the replacement is not prepared %q ran", version, got)
		}
		eventually(other)
		if version == 5 && m.lastMeta() != string(metadataID(other)) {
			t.Errorf("the id of the metadata is %q", m.lastMeta())
		}
		// Another connection to the same node does not prepare it again.
		n := len(m.prepares)
		d := connect(t, s, version)
		call(t, d, wire.OpExecute, executeOwn(version))
		if m.last() != other || len(m.prepares) != n {
			t.Errorf("v%d: another connection ran %q, prepares %q", version, m.last(), m.prepares)
		}
		// The rule changes, and goes: the next request follows, the id stays.
		w.set(own, rule(third))
		if got := run(); got != own && got != third {
			t.Errorf("v%d: after a change of rules %q ran", version, got)
		}
		eventually(third)
		w.set(own, rule(""))
		if got := run(); got != own {
			t.Errorf("v%d: without a text %q ran", version, got)
		}
		if version == 5 && m.lastMeta() != string(metadataID(own)) {
			t.Errorf("the id of the metadata is %q", m.lastMeta())
		}
		w.set(own, rule(other))
		if got := run(); got != other { // it is prepared already
			t.Errorf("v%d: %q ran", version, got)
		}
		if id := prepare(t, c, own); !bytes.Equal(id, proxytest.PreparedID(own)) {
			t.Errorf("v%d: preparing again gave the id %x", version, id)
		}
		// Cassandra forgets the replacement: the client is told that its own id is forgotten, and gets the same again.
		m.forget(other)
		h, body := call(t, c, wire.OpExecute, executeOwn(version))
		r := wire.NewReader(body)
		if code, _, id := r.Int(), r.String(), r.String(); h.Opcode != wire.OpError || code != wire.ErrUnprepared || !bytes.Equal(id, proxytest.PreparedID(own)) || r.Bad() {
			t.Errorf("v%d: a forgotten replacement is answered %+v %q", version, h, body)
		}
		if id := prepare(t, c, own); !bytes.Equal(id, proxytest.PreparedID(own)) {
			t.Errorf("v%d: preparing again gave the id %x", version, id)
		}
		eventually(other)
		// The client's own id forgotten is passed on as it is.
		w.set(own, rule(""))
		m.forget(own)
		h, body = call(t, c, wire.OpExecute, executeOwn(version))
		r = wire.NewReader(body)
		if code, message := r.Int(), r.String(); h.Opcode != wire.OpError || code != wire.ErrUnprepared || string(message) != "forgotten" {
			t.Errorf("v%d: a forgotten id is answered %+v %q", version, h, body)
		}
		if x := s.Rules(); len(x) != 1 || x[0].Name != "unnamed" || x[0].Replaced == 0 || x[0].Hits <= x[0].Replaced || len(x[0].Refused) != 0 {
			t.Errorf("v%d: counted %+v", version, x)
		}
	}
}

// namedRule is a rule with a name.
type namedRule struct{ rule }

func (namedRule) Name() string { return "r1" }

// TestUnfitReplacementsAreRefused: what would make the client misread something is not run.
func TestUnfitReplacementsAreRefused(t *testing.T) {
	a, b := columns[0], columns[1]
	for reason, x := range map[string]shape{
		"variables": {[]proxytest.Column{b}, columns},
		"columns":   {[]proxytest.Column{a}, []proxytest.Column{a, {Name: "b", Type: 9}}},
		"error":     {},
	} {
		for more, y := range map[string]shape{"": x, " one more": {append(slices.Clone(x.variables), a), append(slices.Clone(x.results), a)}} {
			if more != "" && reason == "error" {
				continue
			}
			m, w := &memory{shapes: map[string]shape{other: y}}, &scripted{}
			s := startProxy(t, startMock(t, m.handle), proxy.Options{Rewriter: w})
			c := connect(t, s, 5)
			w.set(own, namedRule{other})
			prepare(t, c, own)
			run := func() {
				t.Helper()
				if h, _ := call(t, c, wire.OpExecute, executeOwn(5)); h.Opcode != wire.OpResult || m.last() != own {
					t.Errorf("%s%s: %+v, %q ran", reason, more, h, m.last())
				}
			}
			run()
			await(t, func() bool { x := s.Rules(); return len(x) == 1 && len(x[0].Refused) == 1 })
			for range 5 {
				run()
			}
			got := s.Rules()[0]
			if more == "" && got.Refused[reason] != 1 || got.Name != "r1" || got.Hits != 6 || got.Replaced != 0 || got.Last == "" {
				t.Errorf("%s%s: counted %+v", reason, more, got)
			}
			if n := len(m.prepares); n != 2 {
				t.Errorf("%s%s: %d PREPAREs", reason, more, n)
			}
		}
	}
}

// TestReplacementsInBatches: texts and ids of children are replaced, and nothing else.
func TestReplacementsInBatches(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, version := range []byte{3, 4, 5} {
			m, w := &memory{}, &scripted{}
			if taken {
				w.take = func(r *proxy.Request) bool { go r.Forward(proxy.Forward{}); return true }
			}
			s := startProxy(t, startMock(t, m.handle), proxy.Options{Rewriter: w})
			c := connect(t, s, version)
			w.set(own, rule(other))
			w.set("TEXT", rule("a longer TEXT"))
			prepare(t, c, own)
			prepare(t, c, third)
			batch := func() []string {
				b := wire.AppendShort([]byte{1}, 4)
				b = wire.AppendBytes(wire.AppendShort(wire.AppendString(append(b, 1), string(proxytest.PreparedID(third))), 1), []byte("x"))
				b = wire.AppendShort(wire.AppendLongString(append(b, 0), "TEXT"), 0)
				b = wire.AppendBytes(wire.AppendShort(wire.AppendString(append(b, 1), string(proxytest.PreparedID(own))), 1), []byte("y"))
				b = wire.AppendShort(wire.AppendLongString(append(b, 0), "plain"), 0)
				b = wire.AppendShort(b, 1)
				if version == 5 {
					b = append(b, 0, 0, 0)
				}
				b = append(b, 0)
				m.mu.Lock()
				m.executed = nil
				m.mu.Unlock()
				if h, body := call(t, c, wire.OpBatch, b); h.Opcode != wire.OpResult {
					r := wire.NewReader(body)
					if code, _, id := r.Int(), r.String(), r.String(); code != wire.ErrUnprepared || !bytes.Equal(id, proxytest.PreparedID(own)) {
						t.Fatalf("v%d: answered %+v %q", version, h, body)
					}
					return nil
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				return m.executed
			}
			if got := batch(); !slices.Equal(got, []string{third, "a longer TEXT", own, "plain"}) {
				t.Errorf("v%d: %q ran", version, got)
			}
			await(t, func() bool { return slices.Equal(batch(), []string{third, "a longer TEXT", other, "plain"}) })
			m.forget(other)
			if got := batch(); got != nil {
				t.Errorf("v%d: %q ran", version, got)
			}
			await(t, func() bool { return slices.Equal(batch(), []string{third, "a longer TEXT", other, "plain"}) })
		}
	}
}

// TestBypass: from the next request on every connection it is as if there were no Rewriter; and then again as if there were.
func TestBypass(t *testing.T) {
	for _, version := range []byte{4, 5} {
		m, w := &memory{}, &scripted{}
		s := startProxy(t, startMock(t, m.handle), proxy.Options{Rewriter: w})
		var clients []*proxytest.Client
		for range 4 {
			clients = append(clients, connect(t, s, version))
		}
		w.set(own, rule(other))
		w.set("query", rule("other query"))
		w.set(third, rule(""))
		w.take = func(r *proxy.Request) bool {
			if r.Text == third {
				r.Fail(wire.ErrInvalid, "taken")
				return true
			}
			return false
		}
		prepare(t, clients[0], own)
		prepare(t, clients[0], third)
		execute := func(c *proxytest.Client, text string) string {
			t.Helper()
			h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text), []byte("v")))
			if h.Opcode == wire.OpError {
				return string(body[6:])
			}
			return m.last()
		}
		await(t, func() bool { return execute(clients[0], own) == other })
		for range 3 {
			for i, c := range clients {
				if execute(c, own) != other || execute(c, third) != "taken" {
					t.Errorf("v%d: connection %d does not follow the rules", version, i)
				}
			}
			s.Bypass(true)
			for i, c := range clients {
				if a, b := execute(c, own), execute(c, third); a != own || b != third {
					t.Errorf("v%d: bypassed, connection %d ran %q and %q", version, i, a, b)
				}
				unknown := proxytest.ExecuteBody(version, []byte("an unknown id"))
				if _, body := call(t, c, wire.OpExecute, unknown); !bytes.Contains(body, []byte("forgotten")) {
					t.Errorf("v%d: bypassed, an unknown id is answered %q", version, body)
				}
			}
			if !s.Stats().Bypassed {
				t.Error("it does not say so")
			}
			s.Bypass(false)
		}
	}
}
