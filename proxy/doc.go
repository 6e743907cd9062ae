// Package proxy is the wire: a transparent relay between CQL clients and Cassandra that counts what it passes on and
// lets a [Rewriter] answer in Cassandra's place. It imports proxy/... and nothing else of Helenus; hooks.go is what it
// asks of the rest.
//
// # The relay
//
// Each client connection has its own upstream connection and two goroutines, one a direction (package pipe), which show
// every frame in place to upward.go or downward.go and forward the bytes of those that nobody changed as received. Only
// frames that must be read whole (a PREPARE, a QUERY, a BATCH, an EXECUTE that a rule or a value sample needs) are
// waited for, up to Options.MaxFrame; longer others are streamed. A slow reader stalls its own two goroutines and nobody
// else: connections share nothing on the data path but the table of prepared ids, and the hooks.
//
// Compressed requests and answers (lz4, snappy) are decompressed for looking at, and go on as they came (package handshake says how that is agreed).
// A connection that agrees with Cassandra on anything else is relayed unread.
//
// # Requests in flight
//
// streams.go remembers what was asked on each stream id, so that the answer can be counted, and so that
// [Server.Barrier] can wait for everything that was under way at one moment. One that Cassandra does not answer in time is answered
// by a sweeper (timeout.go); its stream id is the client's again at once, which may need another id towards Cassandra
// (streams.go).
//
// # Statements
//
// A prepared id is known from the answer to its PREPARE, or is looked up in Cassandra (package recall). A rule's text stands for
// a prepared statement without changing its id (replace.go).
//
// # Requests taken over
//
// A request that the Rewriter takes is copied, so that the relay reads on, and is carried on by taken.go. Whatever is
// sent by another goroutine than the direction's own goes through the direction's pipe.Writer, which never
// blocks the sender. A request that was accepted is answered, or its connection is closed.
//
// # The ring
//
// Package ring says what clients are shown as the cluster's nodes. topology.go asks it for each connection, gate.go has the
// listeners and finds the nodes behind them, mirror.go keeps both in step with the cluster, advertise.go says where clients find it, and watches other proxies (package fleet).
// Where clients do not see every node (single, fleet), topology.go holds the answers to changes of the schema back until the nodes agree.
//
// # Where it is thin
//
// TLS ends here on either side (secure.go, package certs): Cassandra never sees a client's certificate. An EXECUTE of a
// statement about nodes that was prepared before this process started is answered as Cassandra does, with the nodes' own
// addresses. Executions of an id that was prepared past this process are counted together, as unresolved, until its text was looked up.
//
// The keyspace in use is what Cassandra last answered to a USE. Cassandra runs one connection's requests side by side, so
// for those that a client sends before the answer to its USE nobody can tell which keyspace they met: they are counted, and their
// rules looked for, under the keyspace before. No driver does so by itself. Barrier waits as long as a client neither reads its answers nor closes its connection: its caller sets the limit.
package proxy
