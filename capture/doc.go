// Package capture counts what the applications say. Registry implements proxy.Recorder: it knows each statement by its
// fingerprint (capture/cql), counts its executions without locks, hands values to who looks at them in short windows
// (capture/window; values.go is what lies between), and gives out pictures (Snapshot) and Prometheus metrics.
//
// It imports proxy for the hook types, and packages under capture. Next to it live capture/cql, capture/histogram,
// capture/window with what learns from values (capture/feed, capture/profile, capture/burst, on capture/sketch, capture/value,
// capture/literal and capture/trace), capture/slow (the log of slow requests), capture/schema (the live schema, and how a statement reaches its
// rows) and capture/store (documents and history on disk).
//
// Everything is bounded: fingerprints beyond Options.Fingerprints share one record, "other", and are counted as dropped; texts
// are remembered by a keyed hash in a cache of two generations, so the literals that an application writes into
// its statements are kept nowhere; only the normalised text is.
//
// Where the link is thin: a fingerprint is never forgotten while the process lives, so an application that makes up table
// names fills the registry and the rest goes to "other"; a PREPARE that is slow is not logged, nor is a request whose
// statement is not known;
// a statement prepared through another proxy is counted as "other" unless the proxy says its text.
package capture
