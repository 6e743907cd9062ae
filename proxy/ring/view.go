package ring

import (
	"net/netip"
	"slices"
)

// Node is a node of the cluster that has a listener.
type Node struct {
	HostID  UUID
	Peer    netip.Addr     // its address among the nodes
	Address netip.AddrPort // its address for clients
	// Shown is where clients see it. An unspecified IP stands for the one at which the client reached the proxy.
	Shown netip.AddrPort
}

// View is the cluster's nodes that clients see. It is immutable; a change makes a new one. The zero View has none.
type View struct{ nodes []Node }

// NewView returns a View of nodes.
func NewView(nodes []Node) *View { return &View{slices.Clone(nodes)} }

// Nodes returns the nodes; the slice is not to be changed.
func (v *View) Nodes() []Node { return v.nodes }

// Find returns the node that a row or an event is about: by its host id, or else by its address for clients (with the
// port, if that is known), or else by its address among the nodes.
func (v *View) Find(k Key) (Node, bool) {
	for _, n := range v.nodes {
		switch {
		case len(k.HostID) == len(n.HostID):
			if string(k.HostID) == string(n.HostID[:]) {
				return n, true
			}
		case k.Address.IsValid():
			if k.Address.Unmap() == n.Address.Addr() && (k.Port == 0 || k.Port == int(n.Address.Port())) {
				return n, true
			}
		case k.Peer.IsValid():
			if k.Peer.Unmap() == n.Peer {
				return n, true
			}
		}
	}
	return Node{}, false
}

// At is where a client that reached the proxy at here sees what is shown at an address.
func At(shown netip.AddrPort, here netip.Addr) netip.AddrPort {
	if !shown.Addr().IsValid() || shown.Addr().IsUnspecified() {
		return netip.AddrPortFrom(here, shown.Port())
	}
	return shown
}

// place is where clients find a node, under the columns' names of all three tables.
func place(a netip.AddrPort) Row {
	ip, port := a.Addr(), int32(a.Port())
	return Row{{"rpc_address", ip}, {"rpc_port", port}, {"native_address", ip}, {"native_port", port}}
}

// Mirror is what a client sees in mirror topology, that reached the proxy at here and whose node is shown at self.
// Peers that have no listener are left out.
func (v *View) Mirror(here netip.Addr, self netip.AddrPort) Sight {
	return Sight{Local: place(At(self, here)), Peer: func(k Key) (Row, bool) {
		n, ok := v.Find(k)
		if !ok {
			return nil, false
		}
		return place(At(n.Shown, here)), true
	}}
}
