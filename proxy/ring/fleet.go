package ring

import (
	"crypto/sha256"
	"math"
	"net/netip"
	"slices"
	"strconv"
)

// Cluster is what invented rows take from the real ones; what is not known yet is zero.
type Cluster struct {
	DataCenter, Rack string // of the node that the control connection reached
	Version          string // of Cassandra
	Schema           UUID
}

// HostID is the host id of a proxy that clients see at an address: the same in every process, and on every connection,
// whichever node is behind it. It is a UUID of version 8, made of a hash.
func HostID(at netip.AddrPort) UUID {
	sum := sha256.Sum256([]byte("helenus " + at.String()))
	id := UUID(sum[:16])
	id[6], id[8] = id[6]&0x0F|0x80, id[8]&0x3F|0x80
	return id
}

// identity is what a proxy shows of itself in the place of the node behind it. Connections lead to different nodes, so
// what drivers tell nodes apart by, and choose them by, must not change with the node.
func identity(at netip.AddrPort, c Cluster) Row {
	row := append(place(at), Cell{"host_id", HostID(at)})
	if c.DataCenter != "" {
		row = append(row, Cell{"data_center", c.DataCenter}, Cell{"rack", c.Rack})
	}
	return row
}

// Single is what a client sees in single topology: one node, with the tokens of the node behind it.
func Single(at netip.AddrPort, c Cluster) Sight {
	return Sight{Local: identity(at, c), Invented: true}
}

// ranges is into how many ranges of the ring each member is dealt.
const ranges = 16

// Tokens are those of member i of n: the ring is cut into 16 n equal ranges, which are dealt to the members in turn. A
// member that joins moves the others' ranges; no data moves with them, as every member reaches all of it.
func Tokens(i, n int) []string {
	width := math.MaxUint64 / uint64(n*ranges)
	list := make([]string, ranges)
	for j := range list {
		list[j] = strconv.FormatInt(int64(math.MaxInt64+1+uint64(j*n+i)*width+1), 10) //nolint:gosec // around the ring
	}
	return list
}

// Fleet is what the clients of one member see: itself as the node, and the others as its peers. Tokens follow the
// members' order, which is that of their addresses, whatever order they were given in.
func Fleet(members []netip.AddrPort, self netip.AddrPort, c Cluster) Sight {
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, netip.AddrPort.Compare)
	s := Sight{Invented: true}
	for i, m := range sorted {
		tokens := Tokens(i, len(sorted))
		ip, port := m.Addr(), int32(m.Port())
		if m == self {
			s.Local = append(identity(m, c), Cell{"tokens", tokens}, Cell{"broadcast_address", ip}, Cell{"broadcast_port", port},
				Cell{"listen_address", ip}, Cell{"listen_port", port})
			continue
		}
		s.Peers = append(s.Peers, append(identity(m, c), Cell{"peer", ip}, Cell{"peer_port", port}, Cell{"preferred_ip", nil},
			Cell{"preferred_port", nil}, Cell{"release_version", c.Version}, Cell{"schema_version", c.Schema}, Cell{"tokens", tokens}))
	}
	return s
}
