package ring

import (
	"net/netip"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Kinds of events about nodes, and what may happen to one.
const (
	StatusChange   = "STATUS_CHANGE"
	TopologyChange = "TOPOLOGY_CHANGE"

	Up          = "UP"
	Down        = "DOWN"
	NewNode     = "NEW_NODE"
	RemovedNode = "REMOVED_NODE"
	MovedNode   = "MOVED_NODE"
)

// Event is an EVENT message about a node.
type Event struct {
	Kind, Change string
	Address      netip.AddrPort

	at, end int // of the address in the body
}

// ReadEvent reads the body of an EVENT message whose header has flags; ok is false if it is not about a node.
func ReadEvent(flags byte, body []byte) (e Event, ok bool) {
	r := wire.NewReader(body)
	r.SkipResponsePrefix(flags)
	if e.Kind = string(r.String()); e.Kind != StatusChange && e.Kind != TopologyChange {
		return e, false
	}
	e.Change = string(r.String())
	e.at = r.Offset()
	ip, ok := netip.AddrFromSlice(r.Take(int(r.Byte())))
	e.Address = netip.AddrPortFrom(ip.Unmap(), uint16(r.Int()))
	e.end = r.Offset()
	return e, ok && !r.Bad()
}

// Moved is the body that the event was read from, with another address.
func (e Event) Moved(body []byte, to netip.AddrPort) []byte {
	out := append(make([]byte, 0, len(body)+12), body[:e.at]...)
	return append(appendInet(out, to), body[e.end:]...)
}

// Append appends the body of the EVENT message.
func (e Event) Append(b []byte) []byte {
	return appendInet(wire.AppendString(wire.AppendString(b, e.Kind), e.Change), e.Address)
}

func appendInet(b []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap().AsSlice()
	return wire.AppendInt(append(append(b, byte(len(ip))), ip...), int32(a.Port()))
}
