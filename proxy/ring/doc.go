// Package ring is what the proxy's clients are shown as the ring: which nodes, at which addresses. It reads the
// statements that ask for it (SELECTs from system.local, system.peers, system.peers_v2), rewrites their answers, and
// rewrites the events about nodes. Everything here is a pure function of immutable values; sockets, listeners and
// connections are proxy's. It imports proxy/wire only.
//
// # From a statement to its answer
//
//  1. [Mentions] spares ordinary statements everything else: a scan of the text, no allocation.
//  2. [Parse] reads the SELECT by hand, as far as it says which column each result column shows and how: names quoted
//     or not, aliases, JSON, DISTINCT, functions, casts, comments, a keyspace in use. The answer's metadata can not say
//     it: there an alias stands in the column's place. A prepared statement is parsed once, from the text prepared.
//  3. [Sight] is what this client is to see: cells that replace those of the row of system.local, and for the peers
//     either the same by node (mirror), or other rows altogether (single: none; fleet: the members).
//  4. [Sight.Rewrite] walks the answer's rows and replaces exactly those cells, or those values inside a row's JSON
//     text, and leaves every other byte.
//
// Only where clients connect is changed in mirror: rpc_address and rpc_port of system.local, rpc_address of
// system.peers, native_address and native_port of system.peers_v2. The addresses among the nodes (peer,
// broadcast_address, listen_address, preferred_ip) stay the cluster's: they are keys. The Java driver looks a node up
// by WHERE peer = ..., and both Go drivers find the node of an event by them.
//
// # Where it is thin
//
// A shape that is not understood (an address inside a function other than cast or toJson; arithmetic) passes as it
// is, and is counted: [Select.Unread]. WHERE is evaluated for a fleet's invented rows only, equality and IN of plain
// values; other conditions select every row. GROUP BY and ORDER BY of invented rows are not.
package ring
