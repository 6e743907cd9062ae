// Command change measures what serving changes cost: the application's other statements, the writes that keep a look-up, the reads that
// are answered from it, and the process itself after kill -9. One table, made side by side in one run, goes to the terminal and, with
// change.json, into docs/results; the command ends with exit code 1 if a figure misses what it must be by more than -tolerance.
//
//	make bench-change            some minutes, best on a machine that does nothing else
//	make bench-change QUICK=1    fewer and shorter rounds, into bin/results
//
// It sees the product from outside alone: bin/helenus is started as its users start it, changes come to serve by its own advice and
// `helenus approve`, and what it does is counted on its connections to Cassandra.
//
//	gocql --> helenus with changes    --\
//	gocql --> helenus without changes ---+--> relay (counts) --> Cassandra
//	gocql --> (directly) ---------------/
//
// The relay listens at the address that the node is told to give as its own (broadcast_rpc_address), so nothing goes past it. It tells
// reads from writes, leaves PREPARE and system tables out, and stands in for the mock: once it has seen the answers to a load it can
// give them again without asking Cassandra, so that the same processes with the same changes are measured before a server that costs
// nothing and never varies.
//
// Processor time is the Helenus process's own (its CPU clock), over a fixed number of operations and until what follows their answers
// has come to rest; rounds of all loads take turns, and what is shown is the median, of ratios the median of the rounds' ratios.
//
// It imports internal/cassandra, internal/child and proxy/wire. Thin: one node, which shares the machine with client and Helenus.
package main
