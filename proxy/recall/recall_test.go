package recall

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

var columns = []proxytest.Column{{Name: "prepared_id", Type: 3}, {Name: "logged_keyspace", Type: 13}, {Name: "query_string", Type: 13}}

// node holds n statements; in version 4 it wants USE first. Those whose number ends in 7 can not be prepared any more.
type node struct {
	n        int
	versions []byte
	mu       sync.Mutex
	keyspace map[*proxytest.Conn]string
	prepared []string // "keyspace text"
}

func text(i int) string     { return fmt.Sprintf("SELECT %d FROM t", i) }
func keyspace(i int) string { return []string{"", "a", `My"Ks`}[i/10%3] }

func (n *node) row(i int) [][]byte {
	return [][]byte{proxytest.PreparedID(keyspace(i) + text(i)), []byte(keyspace(i)), []byte(text(i))}
}

func (n *node) handle(r *proxytest.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.versions, r.Header.Version) {
		r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrProtocol, "Invalid or unsupported protocol version"))
		return
	}
	said := r.Text()
	switch {
	case r.Header.Opcode == wire.OpPrepare:
		ks := n.keyspace[r.Conn]
		if r.Header.Version >= 5 {
			p, _ := wire.ParsePrepare(5, 0, r.Body)
			ks = string(p.Keyspace)
		}
		if strings.HasSuffix(strings.TrimSuffix(said, " FROM t"), "7") {
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrInvalid, "no such table"))
			return
		}
		n.prepared = append(n.prepared, ks+" "+said)
		r.Reply(wire.OpResult, proxytest.PreparedBody(r.Header.Version, said, nil, nil))
	case strings.HasPrefix(said, "USE "):
		n.keyspace[r.Conn] = strings.ReplaceAll(strings.Trim(said[4:], `"`), `""`, `"`)
		proxytest.Default(r)
	case strings.Contains(said, "WHERE prepared_id = 0x"):
		var rows [][][]byte
		for i := range n.n {
			if strings.HasSuffix(said, fmt.Sprintf("%x", n.row(i)[0])) {
				rows = append(rows, n.row(i))
			}
		}
		r.Reply(wire.OpResult, proxytest.RowsBody("system", "prepared_statements", columns, rows))
	case strings.Contains(said, "system.prepared_statements"):
		var q wire.View
		q.See(r.Header, r.Body)
		q.Whole()
		from := len(q.PagingState())
		to := min(n.n, from+int(q.PageSize))
		var rows [][][]byte
		for i := from; i < to; i++ {
			rows = append(rows, n.row(i))
		}
		body := proxytest.RowsBody("system", "prepared_statements", columns, rows)
		if to < n.n {
			body[7] |= byte(wire.MetaMorePages)
			state := wire.AppendBytes(nil, make([]byte, to))
			body = slices.Insert(body, 12, state...)
		}
		r.Reply(wire.OpResult, body)
	default:
		proxytest.Default(r)
	}
}

func start(t *testing.T, n *node) (string, Options) {
	t.Helper()
	n.keyspace = make(map[*proxytest.Conn]string)
	s, err := proxytest.Start(n.handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var d net.Dialer
	return s.Addr, Options{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", address)
	}}
}

func TestAllThatANodeHoldsIsPreparedAgain(t *testing.T) {
	for _, versions := range [][]byte{{4, 5}, {4}} {
		n := &node{n: 1234, versions: versions}
		address, o := start(t, n)
		seen := map[string]bool{}
		err := All(t.Context(), o, address, func(s Statement) {
			if s.Version != slices.Max(versions) || len(s.Answer) == 0 || !bytes.Equal([]byte(s.ID), proxytest.PreparedID(s.Keyspace+s.Text)) {
				t.Errorf("%+v", s)
			}
			seen[s.Text] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1234-123 || len(n.prepared) != len(seen) {
			t.Errorf("v%d: %d statements, %d PREPAREs", versions, len(seen), len(n.prepared))
		}
		for i := range 1234 {
			want := keyspace(i) + " " + text(i)
			if versions[len(versions)-1] < 5 && i/10%3 == 0 { // after a USE there is no way back
				continue
			}
			if i%10 != 7 && !slices.Contains(n.prepared, want) {
				t.Fatalf("v%d: %q was not prepared", versions, want)
			}
		}
	}
}

func TestAllIsBounded(t *testing.T) {
	n := &node{n: 700, versions: []byte{5}}
	address, o := start(t, n)
	o.Most = 620
	if err := All(t.Context(), o, address, func(Statement) {}); err != nil || len(n.prepared) != 620-62 {
		t.Errorf("%d PREPAREs, %v", len(n.prepared), err)
	}
}

func TestSomeAreFoundByTheirIDs(t *testing.T) {
	n := &node{n: 30, versions: []byte{4, 5}}
	address, o := start(t, n)
	var got []string
	ids := []string{string(n.row(12)[0]), "not there", string(n.row(17)[0]), string(n.row(29)[0])}
	if err := Some(t.Context(), o, address, ids, func(s Statement) { got = append(got, s.Text) }); err != nil || !slices.Equal(got, []string{text(12), text(29)}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestWhatIsNoCassandra answers with all sorts of things: an error comes, in time.
func TestWhatIsNoCassandra(t *testing.T) {
	for name, answer := range map[string][]byte{
		"nothing": {}, "http": []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "requests": wire.AppendFrame(nil, wire.Header{Version: 4}, nil),
		"too long": wire.AppendHeader(nil, wire.Header{Version: 0x84, Opcode: wire.OpReady, Length: 1 << 31}),
		"half":     wire.AppendHeader(nil, wire.Header{Version: 0x84, Opcode: wire.OpReady, Length: 1 << 20}),
	} {
		o := Options{Dial: func(context.Context, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				_, _ = there.Read(make([]byte, 1000))
				_, _ = there.Write(answer)
				there.Close()
			}()
			return here, nil
		}}
		if err := All(t.Context(), o, "there", func(Statement) { t.Error("a statement") }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzRows(f *testing.F) {
	body := proxytest.RowsBody("system", "prepared_statements", columns, [][][]byte{{[]byte("id"), nil, []byte("SELECT")}})
	f.Add(body[4:])
	f.Add(wire.AppendInt(wire.AppendNoMetadata(nil, 3), 1<<30))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _, err := readRows(wire.NewReader(b))
		if err == nil && len(list) > len(b) {
			t.Errorf("%d statements out of %d bytes", len(list), len(b))
		}
	})
}
