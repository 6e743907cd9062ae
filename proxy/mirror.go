package proxy

import (
	"cmp"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"

	"github.com/helenus-db/helenus/proxy/ring"
)

// In mirror topology each node has a gate, and keeps it whatever happens to its address: gates belong to host ids.
//
//	a node                          its gate
//	at the first reading            the k-th by (data centre, address) gets slot k; before it, slot 0 leads to any node
//	joins (it is listed)            the lowest free slot; clients are told NEW_NODE and UP once it listens
//	has another address             keeps it; new connections go to the new address
//	is replaced at its address      goes over to the new host id, of which clients are told as of one that joins
//	is down                         stays; connections to it are reset at once while it can not be reached
//	left (said, and not listed; or  listener closed, clients told REMOVED_NODE and drained, slot free. Slot 0, which
//	not listed for goneAfter)       applications are configured with, stays open and leads to any node again
//	can not have a listener         none, and clients do not see it; tried again at every reading
//
// All of it runs on the control connection's goroutine. Nodes that are merely not listed are given time, as a node that
// just started lists its peers one by one.

// goneAfter is how long a node may be missing from the readings of the system tables before it is taken to have left.
const goneAfter = 5 * time.Second

// follow is told the cluster's nodes, the one that the control connection reached first.
func (s *Server) follow(nodes []Node) {
	if len(nodes) > 0 {
		n := nodes[0]
		s.home.Store(&ring.Cluster{DataCenter: n.DataCenter, Rack: n.Rack, Version: n.Version, Schema: uuid(n.Schema)})
	}
	if s.options.Topology != Mirror {
		return
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.DataCenter, b.DataCenter), compareAddresses(a.Address, b.Address))
	})
	retired, replaced := s.assign(nodes)
	opened, taken := s.admit(nodes)
	for _, g := range replaced {
		opened = append(opened, g.seen())
	}
	s.publish()
	for _, g := range retired {
		s.retire(g)
	}
	if taken {
		s.dismiss(false, (*conn).astray)
	}
	for _, n := range opened {
		at := func(c *conn) netip.AddrPort { return c.eventAddress(n) }
		s.tell(ring.TopologyChange, ring.NewNode, at)
		s.tell(ring.StatusChange, ring.Up, at)
	}
}

func compareAddresses(a, b string) int {
	x, _ := netip.ParseAddrPort(a)
	y, _ := netip.ParseAddrPort(b)
	return cmp.Or(x.Compare(y), cmp.Compare(a, b))
}

// assign brings the gates' nodes up to date and returns the gates whose nodes left, or were replaced.
func (s *Server) assign(nodes []Node) (retired, replaced []*gate) {
	free := make(map[string]*Node) // by host id: listed, without a gate
	for i := range nodes {
		free[nodes[i].HostID] = &nodes[i]
	}
	var lost []*gate
	for _, g := range s.allGates() {
		n := g.node.Load()
		switch {
		case n == nil:
		case free[n.HostID] != nil:
			g.node.Store(free[n.HostID])
			g.missing, g.removed = 0, false
			delete(free, n.HostID)
		default:
			lost = append(lost, g)
		}
	}
	now := s.now()
	for _, g := range lost {
		n := g.node.Load()
		for id, other := range free {
			if other.Address == n.Address {
				g.node.Store(other)
				delete(free, id)
				g.missing, g.removed = 0, false
				break
			}
		}
		if g.node.Load() != n {
			replaced = append(replaced, g)
			continue
		}
		if g.missing == 0 {
			g.missing = max(now, 1)
		}
		if g.removed || now-g.missing >= int64(goneAfter) {
			retired = append(retired, g)
		}
	}
	return retired, replaced
}

// admit opens gates for the nodes that have none, and returns what is shown of them; taken tells that one of them got the
// gate that led to any node, whose clients may be at another one.
func (s *Server) admit(nodes []Node) (opened []ring.Node, taken bool) {
	left := 0
	for i := range nodes {
		n := &nodes[i]
		if s.gateOf(n.HostID) != nil {
			continue
		}
		g, err := s.gateFor(n)
		if err != nil {
			left++
			s.log.Error("no listener for a node: clients do not see it; tried again", "node", n.Address, "error", err)
			continue
		}
		taken = taken || g.slot == 0
		_, listen := g.name()
		s.log.Info("listening for a node", "node", n.Address, "listen", listen)
		opened = append(opened, g.seen())
	}
	s.stats.unlistened.Store(int64(left))
	return opened, taken
}

// gateFor gives a node the lowest free slot.
func (s *Server) gateFor(n *Node) (*gate, error) {
	slot := 0
	for _, g := range s.allGates() { // sorted by slot
		if g.slot == slot && g.node.Load() == nil {
			g.removed, g.missing = false, 0
			g.node.Store(n)
			return g, nil
		}
		if g.slot == slot {
			slot++
		}
	}
	return s.open(s.ctx, slot, n)
}

// seen is what clients see of the gate's node.
func (g *gate) seen() ring.Node {
	n := g.node.Load()
	a, _ := netip.ParseAddrPort(n.Address)
	peer, _ := netip.ParseAddr(n.Peer)
	return ring.Node{HostID: uuid(n.HostID), Peer: peer.Unmap(), Address: a, Shown: g.shown}
}

func uuid(digits string) (id ring.UUID) {
	_, _ = hex.Decode(id[:], []byte(digits[:min(len(digits), 2*len(id))]))
	return id
}

// publish shows clients the nodes that have gates.
func (s *Server) publish() {
	var list []ring.Node
	for _, g := range s.allGates() {
		if g.node.Load() != nil && !g.retired.Load() {
			list = append(list, g.seen())
		}
	}
	s.view.Store(ring.NewView(list))
}

// left is told that Cassandra said that a node left.
func (s *Server) left(address string) {
	for _, g := range s.allGates() {
		if n := g.node.Load(); n != nil && n.Address == address {
			g.removed = true
			if g.missing != 0 {
				s.retire(g)
			}
		}
	}
}

// retire closes the gate of a node that left, tells clients so, and drains the gate's own.
func (s *Server) retire(g *gate) {
	node, listen := g.name()
	s.log.Info("a node left: its clients are drained", "node", node, "listen", listen)
	gone := g.seen()
	if g.slot == 0 {
		g.node.Store(nil)
	} else {
		g.retired.Store(true)
		g.listener.Close()
		s.mu.Lock()
		s.gates = slices.DeleteFunc(s.gates, func(o *gate) bool { return o == g })
		s.mu.Unlock()
	}
	s.publish()
	told := s.tell(ring.TopologyChange, ring.RemovedNode, func(c *conn) netip.AddrPort { return c.eventAddress(gone) })
	s.dismiss(told > 0, func(c *conn) bool { return c.gate == g })
}

// astray tells whether a connection leads to another node than its gate now does, or its gate is gone.
func (c *conn) astray() bool {
	n := c.gate.node.Load()
	return c.gate.retired.Load() || (c.server.options.Topology == Mirror && n != nil && c.back.RemoteAddr().String() != n.Target())
}

func (s *Server) allGates() []*gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gates)
}

// gateOf returns the gate of a node; nil if it has none.
func (s *Server) gateOf(hostID string) *gate {
	for _, g := range s.allGates() {
		if n := g.node.Load(); n != nil && n.HostID == hostID {
			return g
		}
	}
	return nil
}
