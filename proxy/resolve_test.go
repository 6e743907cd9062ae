package proxy_test

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// library is a memory whose system.prepared_statements can be read.
type library struct {
	memory
	hang chan struct{} // if set, reading it waits for that
}

func (l *library) handle(r *proxytest.Request) {
	said := r.Text()
	if !strings.Contains(said, "system.prepared_statements") {
		l.memory.handle(r)
		return
	}
	if l.hang != nil {
		<-l.hang
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var rows [][][]byte
	for id, text := range l.prepared {
		if !strings.Contains(said, "0x") || strings.HasSuffix(said, fmt.Sprintf("%x", id)) {
			rows = append(rows, [][]byte{[]byte(id), []byte("k"), []byte(text)})
		}
	}
	r.Reply(wire.OpResult, proxytest.RowsBody("system", "prepared_statements",
		[]proxytest.Column{{Name: "prepared_id", Type: 3}, {Name: "logged_keyspace", Type: 13}, {Name: "query_string", Type: 13}}, rows))
}

func (l *library) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.prepares)
}

// know makes it know m statements that this proxy never saw.
func (l *library) know(m int) (texts []string) {
	l.prepared = make(map[string]string)
	for i := range m {
		text := fmt.Sprintf("SELECT a, b FROM t%d WHERE a = ?", i)
		l.prepared[string(proxytest.PreparedID(text))] = text
		texts = append(texts, text)
	}
	return texts
}

// TestRestartCausesNoStormOfPREPAREs: clients with ids from before the proxy's restart execute them, all at once, and none is told to prepare
// again; each statement is prepared once, by the proxy.
func TestRestartCausesNoStormOfPREPAREs(t *testing.T) {
	for _, topology := range []proxy.Topology{proxy.Single, proxy.Mirror} {
		for _, version := range []byte{4, 5} {
			l, w, recorder := &library{}, &scripted{}, &tally{}
			const statements, clients = 40, 8
			texts := l.know(statements)
			w.set("anything", rule(""))
			s := startProxy(t, startMock(t, l.handle), proxy.Options{Topology: topology, Rewriter: w, Recorder: recorder})
			var work sync.WaitGroup
			for range clients {
				work.Go(func() {
					c, err := proxytest.Connect(s.Addrs()[0], version)
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Close()
					for _, text := range texts {
						h, body, err := c.Call(wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text), []byte("v")))
						if err != nil || h.Opcode != wire.OpResult {
							t.Errorf("%s was answered %+v %q %v", text, h, body, err)
						}
					}
				})
			}
			work.Wait()
			if n := l.count(); n != statements {
				t.Errorf("%s v%d: %d PREPAREs for %d statements", topology, version, n, statements)
			}
			for _, text := range texts {
				await(t, func() bool { return len(recorder.find(text)) == clients })
				if p := recorder.prepared(text); p == nil || p.Keyspace != "k" || len(p.Results) != 2 || len(p.Variables) != 1 {
					t.Errorf("%s is known as %+v", text, p)
				}
			}
			if st := s.Stats(); st.Unresolved != 0 || st.Resolved != statements {
				t.Errorf("%+v", st)
			}
		}
	}
}

// TestUnknownIDsAreResolvedInTheBackground: without rules an unknown id goes to Cassandra at once, and is counted under its text
// from some time on.
func TestUnknownIDsAreResolvedInTheBackground(t *testing.T) {
	l, recorder := &library{}, &tally{}
	texts := l.know(3)
	s := startProxy(t, startMock(t, l.handle), proxy.Options{Recorder: recorder})
	c := connect(t, s, 4)
	n := 0
	run := func(text string) {
		t.Helper()
		n++
		if h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(text), []byte("v"))); h.Opcode != wire.OpResult {
			t.Fatalf("answered %+v %q", h, body)
		}
	}
	for range 5 {
		run(texts[0])
	}
	call(t, c, wire.OpBatch, batchBody(4, "x", proxytest.PreparedID(texts[1])))
	run(texts[1])
	await(t, func() bool { return s.Stats().Resolved >= 2 })
	// Who found an id unknown just before it was looked up asks once more: each of the two may be looked up twice.
	before, resolved := s.Stats().Unresolved, s.Stats().Resolved
	if before < 1 || before > uint64(n+1) || l.count() > 4 {
		t.Errorf("%d unresolved of %d, %d PREPAREs", before, n, l.count())
	}
	run(texts[0])
	run(texts[1])
	for _, text := range texts[:2] {
		await(t, func() bool { return len(recorder.find(text)) > 0 })
	}
	if got := s.Stats().Unresolved; got != before {
		t.Errorf("%d more are unresolved", got-before)
	}
	// What nobody knows is passed on and stays unresolved, and is not asked for again and again.
	for i := range 2000 {
		unknown := proxytest.ExecuteBody(4, fmt.Appendf(nil, "unknown %d", i))
		if _, body := call(t, c, wire.OpExecute, unknown); !bytes.Contains(body, []byte("forgotten")) {
			t.Fatalf("answered %q", body)
		}
	}
	if got := s.Stats(); got.Unresolved != before+2000 || got.Resolved < resolved || got.Resolved > 4 {
		t.Errorf("%+v", got)
	}
}

// TestClientsAreLetIn though what the nodes hold can not be read: not at all, or not in time.
func TestClientsAreLetIn(t *testing.T) {
	l, w := &library{hang: make(chan struct{})}, &scripted{}
	defer close(l.hang)
	w.set("anything", rule(""))
	s := startProxy(t, startMock(t, l.handle), proxy.Options{Rewriter: w})
	c := connect(t, s, 4) // after some seconds
	if h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, []byte("id"))); h.Opcode != wire.OpError || !bytes.Contains(body, []byte("not found")) {
		t.Errorf("answered %+v %q", h, body)
	}
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := refusing.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	defer refusing.Close()
	s = startProxy(t, nil, proxy.Options{ContactPoints: []string{refusing.Addr().String()}, Rewriter: w})
	d, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, _, err := d.Call(wire.OpOptions, nil); err == nil {
		t.Error("answered without Cassandra")
	}
}
