package main

import (
	"bytes"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
	"github.com/helenus-db/helenus/rewrite"
)

// Ours are nobody's business; another process counts once for each address, whoever comes through it; applications by kind.
func TestOthersSorted(t *testing.T) {
	app := rewrite.Peer{Address: "10.0.0.5", User: "joe", Driver: "gocql"}
	got := sorted([]rewrite.Peer{
		{Owner: "ours", Address: "10.0.0.1", Driver: "gocql"}, app, app, {Address: "10.0.0.6", User: "joe", Driver: "gocql"},
		{Owner: "theirs", Address: "10.0.0.9", Driver: "gocql", User: "ann"}, {Owner: "theirs", Address: "10.0.0.9", Driver: "Helenus"},
		{Owner: "ours", Process: "p1", Address: "10.0.0.1"}, {Owner: "ours", Process: "p2", Address: "10.0.0.1", User: "ann"}, {Owner: "theirs", Process: "p3", Address: "10.0.0.9"},
		{Owner: "check 4711", Address: "10.0.0.9", Driver: "gocql", User: "helenus"}, // nothing is written through it
	}, "ours", func(process string) bool { return process == "" || process == "p1" }, []string{"node a: no", "node b: no"})
	want := rewrite.Others{Unseen: "node a: no; node b: no"}
	want.Helenus = []rewrite.Peer{{Owner: "ours", Process: "p2", Address: "10.0.0.1", Count: 1}, {Owner: "theirs", Address: "10.0.0.9", Count: 3}} // a copied state has the same owner
	want.Clients = []rewrite.Peer{{Address: "10.0.0.5", User: "joe", Driver: "gocql", Count: 2}, {Address: "10.0.0.6", User: "joe", Driver: "gocql", Count: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// sink keeps what is written to it.
type sink struct {
	net.Conn
	got bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) { return s.got.Write(b) }

// STARTUP gets one option more, and nothing else is touched, whatever it looks like.
func TestMemberConn(t *testing.T) {
	options := wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpOptions}, nil)
	said := wire.AppendString(wire.AppendString(wire.AppendShort(nil, 1), "CQL_VERSION"), "3.0.0")
	startup := wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpStartup}, said)
	var into sink
	c := &memberConn{Conn: &into, member: "me"}
	for _, b := range [][]byte{options, startup, startup, {1}} {
		if n, err := c.Write(b); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
	}
	more := wire.AppendString(wire.AppendString(wire.AppendShort(nil, 2), "CQL_VERSION"), "3.0.0")
	more = wire.AppendString(wire.AppendString(more, wire.MemberOption), "me")
	want := append(append([]byte{}, options...), wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpStartup}, more)...)
	want = append(append(want, startup...), 1) // a second one would be a request that looks like it
	if !bytes.Equal(want, into.got.Bytes()) {
		t.Errorf("got  %x\nwant %x", into.got.Bytes(), want)
	}
}

// TestOnlookersFindANodeAgain: who asks a node of its own does so again once that was stopped and started, or nobody would ever see that a member is gone.
func TestOnlookersFindANodeAgain(t *testing.T) {
	node, err := proxytest.Start(proxytest.Default)
	if err != nil {
		t.Fatal(err)
	}
	address := node.Addr
	s := config.Defaults()
	s.ContactPoints = []string{address}
	security, err := secure(s, logger(s))
	if err != nil {
		t.Fatal(err)
	}
	o := &onlookers{nodes: func() []string { return []string{address} }, open: sessions{s, security.dialer()}.asking}
	defer o.close()
	if _, err := o.processes(t.Context()); err != nil {
		t.Fatalf("it runs, and is not seen: %v", err)
	}
	node.Close()
	if _, err := o.processes(t.Context()); err == nil {
		t.Error("it was stopped, and is seen")
	}
	if len(o.sessions) != 0 {
		t.Error("the session that lost its node is kept")
	}
	if node, err = proxytest.StartAt(address, proxytest.Default); err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if _, err := o.processes(t.Context()); err != nil {
		t.Errorf("it runs again, and is not seen: %v", err)
	}
}
