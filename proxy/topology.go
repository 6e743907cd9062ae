package proxy

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// The answers about system.local, system.peers and system.peers_v2 are rewritten column by column, by name, as their
// metadata gives them: a node's address for clients becomes the address at which this client reached the proxy, its port
// becomes the port of the node's listener. Everything else (tokens, host ids, schema versions, the address among the
// nodes) is the cluster's own. In single topology the peers' rows are left out; in mirror topology only those of nodes
// that have no listener.
//
// system.peers has no port, so in mirror topology drivers that do not read peers_v2 see every node at one address and
// the port that they were configured with.

// addressColumns names, for each table, the columns with a node's address and port for clients.
var addressColumns = map[string]struct{ address, port string }{
	"local":    {"rpc_address", "rpc_port"},
	"peers":    {"rpc_address", ""},
	"peers_v2": {"native_address", "native_port"},
}

// isSystem tells whether a prepared statement's answer says where nodes are.
func isSystem(results []Column) bool {
	if len(results) == 0 || results[0].Keyspace != "system" {
		return false
	}
	_, ok := addressColumns[results[0].Table]
	return ok
}

// mentionsSystem tells whether a text may ask where nodes are. The answer's metadata decides, this only spares reading it.
func mentionsSystem(keyspace string, text []byte) bool {
	if len(text) > 2000 {
		return false
	}
	if keyspace == "system" {
		return true
	}
	const word = "system"
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && bytes.EqualFold(text[i:i+len(word)], []byte(word)) {
			return true
		}
	}
	return false
}

// place is where a client sees a node.
type place struct {
	ip   netip.Addr
	port int
}

func (p place) cell() []byte { return p.ip.AsSlice() }

// frontIP is the address at which this client reached the proxy.
func (c *conn) frontIP() netip.Addr {
	if a, ok := c.front.LocalAddr().(*net.TCPAddr); ok {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			return ip.Unmap()
		}
	}
	return netip.IPv4Unspecified()
}

// placeOf returns where this client sees a node; ok is false if it does not. port 0 stands for a port that is not known.
func (c *conn) placeOf(ip netip.Addr, port int) (place, bool) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, g := range c.server.gates {
		node := g.node.Load()
		if node == nil {
			continue
		}
		a, err := netip.ParseAddrPort(*node)
		if err == nil && a.Addr().Unmap() == ip.Unmap() && (port == 0 || int(a.Port()) == port) {
			return place{c.frontIP(), g.port}, true
		}
	}
	return place{}, false
}

// rewriteTopology rewrites a Rows answer about nodes; body[from:] begins with the RESULT's kind. What does not look as
// expected passes as it is.
func (c *conn) rewriteTopology(h wire.Header, body []byte, from int, known *Prepared) (pipe.Verdict, []byte) {
	r := wire.NewReader(body[from:])
	r.Int()
	m := wire.ReadMetadata(&r)
	columns := readColumns(&r, m)
	if m.Flags&wire.MetaNoMetadata != 0 && known != nil {
		columns = known.Results
	}
	if r.Bad() || !isSystem(columns) || len(columns) != int(m.Columns) {
		return pipe.Pass, nil
	}
	table := columns[0].Table
	names := addressColumns[table]
	address, port := -1, -1
	for i, column := range columns {
		switch column.Name {
		case names.address:
			address = i
		case names.port:
			port = i
		}
	}
	countAt := wire.HeaderSize + from + r.Offset()
	n := int(r.Int())
	out := append(wire.AppendHeader(nil, h), body[:from+r.Offset()]...)
	kept := 0
	cells := make([][]byte, len(columns))
	for ; n > 0 && !r.Bad(); n-- {
		for i := range cells {
			cells[i] = r.Bytes()
		}
		if !c.relocate(table, cells, address, port) {
			continue
		}
		kept++
		for _, cell := range cells {
			out = wire.AppendBytes(out, cell)
		}
	}
	if r.Bad() {
		return pipe.Pass, nil
	}
	binary.BigEndian.PutUint32(out[countAt:], uint32(kept))
	wire.SetLength(out, 0)
	return pipe.Replace, out
}

// relocate changes the address in one row; false leaves the row out.
func (c *conn) relocate(table string, cells [][]byte, address, port int) bool {
	p, known := place{c.frontIP(), c.gate.port}, true
	if table != "local" {
		if c.server.options.Topology == Single {
			return false
		}
		if address < 0 || cells[address] == nil {
			return true // the row does not say which node it is of
		}
		ip, _ := netip.AddrFromSlice(cells[address])
		number := 0
		if port >= 0 && len(cells[port]) == 4 {
			number = int(binary.BigEndian.Uint32(cells[port]))
		}
		p, known = c.placeOf(ip, number)
	}
	if !known {
		return false
	}
	if address >= 0 && cells[address] != nil {
		cells[address] = p.cell()
	}
	if port >= 0 && len(cells[port]) == 4 {
		cells[port] = binary.BigEndian.AppendUint32(nil, uint32(p.port))
	}
	return true
}

// onEvent rewrites the address in an event. Events of nodes that this client does not see are dropped.
func (c *conn) onEvent(h wire.Header, body []byte) (pipe.Verdict, []byte, error) {
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	kind := string(r.String())
	if kind != "STATUS_CHANGE" && kind != "TOPOLOGY_CHANGE" {
		return pipe.Pass, nil, nil
	}
	r.String()
	at := r.Offset()
	ip, ok := netip.AddrFromSlice(r.Take(int(r.Byte())))
	port := int(r.Int())
	if r.Bad() || !ok {
		return pipe.Pass, nil, nil
	}
	if c.server.options.Topology == Single {
		return pipe.Drop, nil, nil // one node is shown, and while this connection is there it is up
	}
	p, known := c.placeOf(ip, port)
	if !known {
		return pipe.Drop, nil, nil
	}
	out := append(wire.AppendHeader(nil, h), body[:at]...)
	cell := p.cell()
	out = append(append(out, byte(len(cell))), cell...)
	out = wire.AppendInt(out, int32(p.port))
	out = append(out, r.Rest()...)
	wire.SetLength(out, 0)
	return pipe.Replace, out, nil
}
