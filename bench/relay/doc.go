// Package relay measures what it costs to put Helenus between an application and Cassandra, against no relay and against
// the least that a relay can do (io.Copy each way, which Linux does by splice, without the bytes entering the process).
//
//	go test -bench . ./bench/relay
//
// Eight connections keep sixteen EXECUTEs each in flight, protocol version 4, against proxytest's Cassandra on the
// loopback: directly, through the bare relay, and through proxy.Server with a capture.Registry that counts (its value
// windows closed) and a Rewriter that has no rules. The three take turns in short rounds, so that what else the machine
// does hits all alike, and what is reported of each is the median of its rounds.
//
// # What the numbers mean
//
// Client, relay and server are one process, as a benchmark must be that anybody can run; getrusage can not tell them
// apart. The relay's own CPU time is therefore what the process used less what the direct round next to it used, and the
// same for allocations. That is what the relay adds: system calls and scheduling that it causes on both its sides included,
// less what it saves them, as a relay that is slower hands over more requests at a time. Only ratios of one run may be
// compared between machines.
//
// It is thin in that all is on one machine and in one version of the protocol, no answer is longer than a packet, and
// nothing is said of latency.
package relay
