// Package cassandra resolves, starts, awaits and stops real Apache Cassandra clusters of one to three nodes on
// this machine, for the demo, the integration tests and the benches. No container is involved.
//
// What lives here: the download (Maven Central, by mvn, into a cache that all runs share), the configuration of
// a throw-away node, its life as a child process, and a nodetool helper. It imports nothing else of the project.
// Secure makes a cluster demand TLS, passwords and client certificates; package authority, below, issues them. The
// command internal/cassandra/with runs any other command against a fresh node; the package
// internal/cassandra/cassandratest gives a test its own keyspace on that node.
//
// How a start works:
//
//  1. Resolve finds the jars in the cache or downloads them, once, under a file lock.
//  2. Ports are reserved: a socket is bound to each port exclusively, then marked as sharable, and kept. A second
//     socket that wants to listen (Cassandra's) may then bind beside it, while the kernel gives the port to
//     nobody else, neither to another cluster nor as the local port of an outgoing connection. The reservation
//     outlives a crash of the node, so that a restart finds its ports free.
//  3. Nodes start one after the other, each with its own evenly spaced token, and each is awaited: the native
//     port opens a moment before the node is worth talking to, so a SELECT on system.local must answer, and in a
//     cluster every node must list all its peers with one schema version.
//  4. Later a node may join (Cluster.Add: it streams its part of the ring) and leave (Node.Decommission).
//
// No process is left behind. Every child asks the kernel to be killed when the thread that started it dies
// (PR_SET_PDEATHSIG), and that thread is locked to a goroutine that lives as long as the child. So a kill -9 of the
// Go program takes its nodes with it, without anybody's help.
//
// Where the link is thin: only Linux has the parent death signal and the whole of 127.0.0.0/8 on the loopback
// interface, so on other systems Start returns an error. Only Java 17 is supported. Nodes of one cluster share a
// version, a heap size and extra settings. A killed node loses the writes of its last tenth of a second, as any
// Cassandra with a periodic commit log does, unless the cluster was started with Durable. A process that is kill -9ed
// leaves its temporary data directory in os.TempDir, until the next Start sweeps it up.
package cassandra
