// Package capture counts what the applications say. Registry implements proxy.Recorder: it knows each statement by its
// fingerprint (capture/cql), counts its executions without locks, hands values to who looks at them in short windows
// (capture/window; values.go is what lies between), and gives out snapshots (Snapshot) and Prometheus metrics.
//
// It imports proxy for the hook types, and packages under capture. Next to it live capture/cql, capture/histogram,
// capture/heavy (which of very many statements weigh much), capture/window with what learns from values (capture/feed,
// capture/profile, capture/burst, on capture/decoy, capture/sketch, capture/value, capture/literal and capture/trace), capture/slow (the log of slow requests),
// capture/schema (the live schema, and how a statement reaches its rows), capture/store (documents and windows on disk),
// capture/history (what was counted by minutes, hours and days), capture/report (what people ask of a snapshot) and
// capture/tracer (one statement said again, traced).
//
// # What is counted
//
// Every request that the proxy forwards and that is answered is counted once: under its statement, under "other" (its statement has
// no record of its own) or under "unknown" (nobody can tell what it says: an id prepared elsewhere, until the proxy has looked it
// up in system.prepared_statements; a body that can not be read). Children of a batch are counted as well, and say that they
// are (InBatch). So the sum over a snapshot is the number of exchanges reported, and tests assert it wherever they count.
// A second level tells callers apart (role, application, driver), at most seven of a statement and processor, and the rest.
//
// # Bounds
//
// Records take at most half of Options.Memory, and there are at most Options.Fingerprints; who keeps one is decided by weight
// (admit.go). Texts are remembered by a keyed hash in a cache of two generations, so the literals that an application writes
// into its statements are kept nowhere; only the normalised text is. Strangers in that cache take some 0.3 KB each. Snapshots
// come on top while they are made and held: some 1.3 KB a statement. The latest is held: what was not executed since looks the same in the
// next.
//
// Where it is thin: requests whose connection ended before the answer are not counted; a PREPARE is not, nor one that
// is slow or refused logged; whether a repetition was the
// driver's or the application's is not known (repeat.go), and for what is executed speculatively the number is an estimate; callers beyond
// 1,000 in the life of the process are the rest; warnings are told apart by words of Cassandra 4.0 to 5.0; the serial consistency of an
// EXECUTE that is longer than what the proxy reads at once is not seen.
package capture
