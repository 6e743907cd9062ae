// Package maintain keeps the entries of a verified look-up: it writes them before the base is written, and removes what
// has become garbage. It may import rewrite/match, rewrite/exec and gocql.
//
// # The invariant
//
// I1: at every moment, a base row that can be seen with value v in the column has a live entry (v, key).
//
// Entries without such a row are allowed. They cost a read that finds nothing, and no more, since each read checks the
// base again. So correctness is one-sided: entries are written early and removed late, and when in doubt they stay.
//
// # Writing
//
// Every write has an explicit timestamp ts: the client's, else one of ours. Before the base is written, each new value's
// entry is, at the write's own consistency, at the timestamp
//
//	vt = max(ts, now - horizon/8)
//
// which is ts for all clients but those that keep a time of their own (version numbers as timestamps, say).
//
// # Removing
//
// An entry is removed by a row tombstone at exactly its own writetime w, so an entry written later, at a larger
// timestamp, is never hurt. What has to be shown is that no write of v at or below w can be seen in the base again. It
// can not if (read at QUORUM) the base does not hold v, and one of these holds:
//
//   - overwritten: the base's column has a WRITETIME above w. Whatever v was written at or below w has lost for ever.
//   - deleted: a DELETE or a null of ours was acknowledged by the base at a timestamp d >= w. Likewise. The latest such
//     deletes are remembered, so that a sweep can show it too.
//   - settled: w is older than the horizon (4 hours). The entry was then written at least 7/8 of the horizon ago, which
//     is longer than hints live (3 hours), so no write that it announced is still on its way; and whatever arrives from
//     now on has an entry at vt >= now - horizon/8 > w.
//
// Otherwise the entry stays for the sweeper. CQL can not read a tombstone's timestamp, which is why "the row is gone"
// alone is no reason: a write at or below w that timed out may still be completed by a hint.
//
// An entry of a write with a time to live expires a margin (60 s) after its cell, if it has its cell's own timestamp (see
// EntryTTL). With default_time_to_live on the base entries do not expire at all. The sweeper removes what does not expire.
//
// # Where it is thin today
//
// The former value is read as a hint before a write. For keys that stood as literals in a QUERY text there is no hint,
// so their garbage waits for the sweeper, as it does when the queue is full or the process ends. Writes that were refused
// or lost leave their entry to the sweeper too. Timestamps that run backwards by more than an eighth of the horizon (a stepped
// clock of this machine) are not detected.
package maintain
