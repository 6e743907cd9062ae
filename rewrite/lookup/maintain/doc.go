// Package maintain keeps the entries of a verified look-up: it puts them before the base is written, and removes them once
// they can be shown to be garbage. It may import rewrite/kind, rewrite/exec, match, capture/schema and gocql.
//
// # What it promises
//
//   - G1: no statement of the application is stamped or altered. What it does to its own tables, values and timestamps, is
//     what it would do without us.
//   - I1: at every moment, a base row that can be seen with value v in the column has a live entry (v, key).
//
// Both hold whatever any clock shows: no step compares the clocks of two machines. Entries without such a row are
// allowed. They cost a read that finds nothing, since each read checks the base again. So correctness is one-sided:
// entries are put early and removed late, and when in doubt they stay.
//
// # The protocol (docs/design/maintenance.md, "H": an entry per write, in the base's own time)
//
// The look-up is PRIMARY KEY ((v), base key..., kind, id), id unique per write. A write is stamped if the application gives
// its timestamp ts (in the frame or by USING TIMESTAMP); Cassandra chooses that of all others, and of conditional ones.
//
//  1. Put. A stamped write puts (v, key, Stamped, id) at ts; any other (v, key, Unstamped, id) at the constant 1. Beside
//     it the former value f is read: a hint for stamped writes, evidence (at QUORUM) for others.
//  2. The base statement is forwarded unchanged once the puts were acknowledged, and its answer passed on. The rest is after it.
//  3. Refused, or [applied] = false: exactly the own entry is deleted. Lost: it stays, for D3.
//  4. D2, acknowledged and stamped: the former value's stamped entries are deleted up to ts-1 (up to ts by a delete),
//     blindly. They stood for writes below ts; ts is in the base, so those are dead, also where they have yet to arrive.
//  5. Acknowledged, not stamped: the base is read once, (u, T). D1: if u is another value, the own entry goes, by its id: the write
//     was in the base and something above it is there now. If u is the own value, the entry is settled: moved to (Stamped, id) at T.
//     The former value goes by D2 at T-1, or, if it was seen and nothing is there now, at its own timestamp.
//  6. Anybody, at any time, may apply D2 at T-1 from a QUORUM read (u, T) of the base. Sweeps do.
//  7. D3, the only rule with time, for what crashed, was lost or was not found by a hint: an entry seen twice, a horizon apart on the
//     sweeper's own monotonic clock (visits.go), with the same writetime, while the base shows another value, in the end at ALL, goes by its id and writetime.
//
// Why a removal hits no live write: a delete touches the entry of w only if (D1) w was acknowledged, so it is in every later
// quorum read, and one shows another value; (D2) something above w's timestamp is in the base; (D3) w's life is over. An
// unstamped entry is never below a D2, as those are of the other kind. The exhaustive tests of package rewrite drive this very
// code through every interleaving of two writers, a crash, time-outs that are completed late, and a sweep; and its mutants.
//
// Rewriting the same value under one proxy puts again under the proxy's own id (own.go): one request, no tombstone.
//
// # Evidence that expires
//
// A winner with a time to live, once expired, is a tombstone as long as gc_grace_seconds of the base lasts. Where that is
// below an hour (Settings.Grace) an expiring or absent winner proves nothing, and its loser waits for D3.
//
// An acknowledgement at a level that does not reach a quorum (ONE with three replicas) proves nothing either: the base is read,
// at QUORUM for D2 and at ALL for D1.
//
// # Times to live
//
// An entry of a cell with a time to live lives longer than its cell by Settings.Margin (an hour), which is what clocks of
// coordinators may be apart by, twice. It has none where the base has default_time_to_live, where the request brings a time of its
// own (now_in_seconds), near Cassandra's limit of 2038, or where an id is put again.
//
// # Pending rows
//
// Where the new value can not be known (a function, arithmetic), the row's key is put, durably, into the table of pending rows
// first (pending.go). Every served read takes those keys as candidates, and its check on the base decides.
//
// # Rows without room
//
// A base key that is too long for the look-up has an entry (v, the key that stands for all of them, Elsewhere, id) in place of its own
// (noroom.go). Who finds one asks the base. It goes if its own write was refused, or by D3: not before it is older than the horizon
// when a sweep begins that finds no such row of the value in the base.
package maintain
