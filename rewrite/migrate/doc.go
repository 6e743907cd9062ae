// Package migrate takes an approved look-up through its states, and back. It may import capture/schema, advisor/plan and
// the packages below rewrite.
//
// # The machine
//
//	approved -> created -> dual-write -> backfill -> verify -> shadow -> serving
//
// A state is the name of the work that is being done; the table `phases` says for each what that work is, which state
// follows, and what the proxy does meanwhile with the application's statements (Mode). Three states stand beside:
// suspended (reads run as they were written; entries are still written, unless the look-up can no longer be trusted to
// exist), failed, and rolling-back -> rolled-back -> dropped, which can be ordered from everywhere.
//
// # What makes it survive
//
//   - A state that asks more of the proxy is saved before the proxy is told; one that asks less is told first, and holds
//     though it can not be saved (pending.go). Restore puts what was saved in force again before the first connection is
//     accepted, but serves nothing: whoever wrote while no process followed it is found by a pass first.
//   - All work is idempotent and starts again from its checkpoint: backfill writes entries at one constant timestamp T0,
//     range by range, and marks a range done after its entries were acknowledged.
//   - T0 is taken after dual-write was seen by every connection (a barrier of the relay) and a settling time.
//   - What Cassandra can not do now (nodes down, time-outs) is waited for, with the reason shown; it never fails a
//     migration. What would fail again fails it once.
//
// # Why entries of backfill are written at max(T0, WRITETIME)
//
// At T0 rather than "now": an entry that backfill writes late for a value that was replaced meanwhile is older than the
// replacement, so reconciling may remove it. At the cell's own WRITETIME if that is later: a clock ahead of ours must
// not make the entry look overwritten by the very cell it stands for.
//
// # Where it is thin today
//
// One proxy drives its own migrations; there is no lease yet, so two proxies on one store must not run. A write that
// timed out before dual-write began, and that a hint completes after backfill passed its row, has no entry until the
// next sweep finds it; backfill writes at ALL, so with a node down it waits. Writers that bypass the proxy are found by
// sweeps only.
package migrate
