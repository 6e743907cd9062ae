// Command relay measures what it costs to put Helenus between an application and Cassandra, side by side with the least
// that a relay can do: io.Copy each way, which Linux does by splice(2), without the bytes entering the process.
//
//	make bench-proxy              the table; about two minutes
//	bin/relay -quick -json        fewer rounds; for programs
//	bin/relay -profile DIR        and a CPU profile of each Helenus process for each load
//
// It is one program in several processes (process.go): the one that was called is the application; it starts a Cassandra
// that answers out of its head (backend.go), a splice relay, and a Helenus as `helenus run` wires its data path: the
// server, the registry that counts, value windows at their defaults (relays.go). So each one's CPU time is its own.
//
// # How it measures
//
// A load is so many connections with so many EXECUTEs in flight on each. It goes by turns directly, through the splice and
// through Helenus, in rounds of a fraction of a second, so that what else the machine does hits all alike (measure.go). CPU
// time is what getrusage says of the relay's process before and after the round; latency is measured in the application.
// A ratio is the median of the turns' ratios. What Helenus allocates is counted by its own runtime, everything in its
// process included.
//
// Only ratios of one run may be compared between machines. Latencies are the machine's first and the relay's second: with
// fewer processors than processes they say how long one waits for a processor.
//
// # What it does not say
//
// All is on one machine: a network would hide most of the latency and none of the CPU time. The backend does nothing, so
// the proxy's share is as large as it can be. Value windows are open for 2 s in 40 s: most rounds do not meet one, and the
// median does not show them; a row of its own says what they cost while they are open, and another what counting and windows cost
// on average, against the same proxy that counts nothing.
//
// # The gate
//
// Tests run the same processes and fail on ratios of CPU time and on allocations only (gate_test.go): `go test ./bench/relay`,
// without the race detector, which would slow down Helenus and not the kernel that splices.
package main
