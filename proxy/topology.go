package proxy

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/control"
	"github.com/helenus-db/helenus/proxy/handshake"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/ring"
	"github.com/helenus-db/helenus/proxy/wire"
)

// What clients are shown as the ring is package ring's to say; this file asks it, for one connection. In mirror topology
// mirror.go keeps the listeners, and the view that is shown, in step with the cluster; in fleet topology package fleet watches
// the other members.

// shortStatement is the longest request that is waited for whole because it may ask where nodes are, bytes. It is longer
// than the longest text that is looked at, as values come after the text.
const shortStatement = 16 << 10

// ask is a statement that asks where nodes are, with the values bound to it.
type ask struct {
	*ring.Select
	bound []ring.Bound
	fleet bool
}

// ask reads a statement; nil if it does not ask where nodes are.
func (s *Server) ask(keyspace, text string) *ask {
	if !ring.Mentions(keyspace, text) {
		return nil
	}
	q := ring.Parse(keyspace, text)
	if q == nil {
		return nil
	}
	if q.Unread != "" {
		s.unread(text, q.Unread)
	}
	return &ask{Select: q, fleet: s.options.Topology == Fleet}
}

// unread counts an answer about nodes that is passed as it is because nobody can tell where the addresses stand.
func (s *Server) unread(text, why string) {
	if s.stats.unread.Add(1) == 1 {
		s.log.Warn("an answer about the cluster's nodes is passed as it is: a driver that relies on it goes past the proxy (further ones are only counted)",
			"statement", text, "reason", why)
	}
}

// wantsValues tells whether the answer depends on bound values: rows that are invented are selected here.
func (a *ask) wantsValues() bool { return a != nil && a.fleet && a.Markers }

// with is the ask with a request's values.
func (a *ask) with(v *wire.View, body []byte) *ask {
	n := *a
	if v.Whole() {
		v.Values(body, func(name, value []byte, _ int32) {
			n.bound = append(n.bound, ring.Bound{Name: string(name), Value: bytes.Clone(value)})
		})
	}
	return &n
}

// here is the address at which this client reached the proxy.
func (c *conn) here() netip.Addr {
	if a, ok := c.front.LocalAddr().(*net.TCPAddr); ok {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			return ip.Unmap()
		}
	}
	return netip.IPv4Unspecified()
}

// sight is what this client is to see.
func (c *conn) sight() ring.Sight {
	s := c.server
	switch s.options.Topology {
	case Fleet:
		return ring.Fleet(s.members, s.self, s.cluster())
	case Single:
		return ring.Single(ring.At(c.gate.shown, c.here()), s.cluster())
	}
	view, shown := s.view.Load(), c.gate.shown
	if c.gate.node.Load() == nil { // a gate that leads anywhere: the node has one of its own
		if a, err := netip.ParseAddrPort(c.back.RemoteAddr().String()); err == nil {
			if n, ok := view.Find(ring.Key{Address: a.Addr(), Port: int(a.Port())}); ok {
				shown = n.Shown
			}
		}
	}
	return view.Mirror(c.here(), shown)
}

// rewriteTopology rewrites a Rows answer about nodes; body[from:] begins with the RESULT's kind. What does not look as
// expected passes as it is.
func (c *conn) rewriteTopology(h wire.Header, body []byte, from int, p *pending) (pipe.Verdict, []byte) {
	from += 4 // the kind
	a := ring.Answer{Body: body[from:], Bound: p.system.bound}
	if p.prepared != nil {
		for _, column := range p.prepared.Results {
			a.Names = append(a.Names, column.Name)
		}
	}
	sight := c.sight()
	rows, ok := sight.Rewrite(p.system.Select, a)
	if !ok {
		c.server.unread(string(p.system.Table), "the answer has other columns than the statement")
		return pipe.Pass, nil
	}
	out := append(wire.AppendHeader(make([]byte, 0, wire.HeaderSize+from+len(rows)), h), body[:from]...)
	out = append(out, rows...)
	wire.SetLength(out, 0)
	return pipe.Replace, out
}

// onEvent deals with an event from Cassandra. In mirror topology a node's coming and going is not passed on: this server
// tells it itself (tell), once the node's listener is open, or closed. Whether a node is up is passed on with the address
// where this client sees it, unless it does not. In the other topologies the nodes are nobody's business.
func (c *conn) onEvent(h wire.Header, body []byte) (pipe.Verdict, []byte, error) {
	e, ok := ring.ReadEvent(h.Flags, body)
	if !ok {
		return pipe.Pass, nil, nil
	}
	if c.server.options.Topology != Mirror || e.Change == ring.NewNode || e.Change == ring.RemovedNode {
		return pipe.Drop, nil, nil
	}
	n, known := c.server.view.Load().Find(ring.Key{Address: e.Address.Addr(), Port: int(e.Address.Port())})
	if !known {
		return pipe.Drop, nil, nil
	}
	out := append(wire.AppendHeader(nil, h), e.Moved(body, c.eventAddress(n))...)
	wire.SetLength(out, 0)
	return pipe.Replace, out, nil
}

// eventAddress is the address that an event about a node carries for this client: where it sees the node. Drivers of the
// gocql family look nodes of events up by their address among the nodes, which is not rewritten, and by no port: with
// several nodes at one address they would take the wrong one for down.
func (c *conn) eventAddress(n ring.Node) netip.AddrPort {
	shown := ring.At(n.Shown, c.here())
	if n.Peer.IsValid() && isGocql(c.client.Load().Driver) {
		return netip.AddrPortFrom(n.Peer, shown.Port())
	}
	return shown
}

func isGocql(driver string) bool { return strings.Contains(driver, "gocql") }

// tell sends an event to every client that registered for its kind and returns how many; at says which address it carries
// for a client.
func (s *Server) tell(kind, change string, at func(*conn) netip.AddrPort) (told int) {
	want := handshake.Status
	if kind == ring.TopologyChange {
		want = handshake.Topology
	}
	for _, c := range s.connections() {
		if c.registered.Load()&want == 0 || c.over() || c.leaving.Load() {
			continue
		}
		body := ring.Event{Kind: kind, Change: change, Address: at(c)}.Append(nil)
		c.down.out.Send(wire.AppendFrame(nil, wire.Header{Version: c.client.Load().Version | wire.ResponseBit, Stream: -1,
			Opcode: wire.OpEvent}, body))
		s.stats.told.Add(1)
		told++
	}
	return told
}

// agreement is how long the answer to a change of the schema is held back at most: as long as drivers wait. So many are at
// a time, each with a connection to Cassandra; further ones are answered as they come.
const (
	agreement  = 10 * time.Second
	agreements = 16
)

// holdBack answers a statement that changed the schema once all nodes have the change. Drivers wait for that by comparing
// the versions of the nodes that they see; in topology single they see one, in fleet not all, while their next statement may
// meet another node, which knows the table not yet. It is false if the answer is not held back.
func (c *conn) holdBack(stream int16, h wire.Header, body []byte) bool {
	s := c.server
	select {
	case s.agreeing <- struct{}{}:
	default:
		return false
	}
	answer := wire.AppendFrame(nil, h, body)
	wire.SetStream(answer, 0, stream)
	s.work.Add(1) // the connection's own count is above zero
	guard.Go(guard.Relay, func() {
		defer func() { <-s.agreeing; s.work.Done() }()
		ctx, cancel := context.WithTimeout(s.ctx, agreement)
		defer cancel()
		if err := control.Agree(ctx, s.own(), c.back.RemoteAddr().String()); err != nil {
			s.log.Debug("an answer to a change of the schema is not held back any longer", "error", err)
		}
		c.down.out.Send(answer)
	}, nil)
	return true
}
