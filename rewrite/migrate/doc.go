// Package migrate takes an approved change, of whatever kind, through its states, and back. It may import capture/schema, advisor/plan and
// the packages below rewrite but those of single kinds.
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
//   - A state that asks more of the proxy is saved before the proxy is told; one that asks less is told first. So
//     whatever a crash leaves in the store, the proxy did at most that, and Restore puts it in force again before the
//     first connection is accepted.
//   - All work is idempotent and starts again from its checkpoint: backfill writes the entry of a cell at that cell's own
//     timestamp, range by range, and marks a range done after its entries were acknowledged. Members of a fleet share the ranges (together.go).
//   - The table is filled after dual-write was seen by every connection (a barrier of the relay) and a settling time.
//   - What was proven before a process began is proven again: it begins in verify, and serves after a clean pass.
//   - An order that can not be stored is in force, is said to be pending, and is stored again until it is (pending.go).
//   - What Cassandra can not do now (nodes down, time-outs) is waited for, with the reason shown; it never fails a
//     change. What would fail again fails it once.
//
// # Where it is thin today
//
// Verification is the work of one process, also in a fleet. A write that
// timed out before dual-write began, and that a hint completes after backfill passed its row, has no entry until the
// next sweep finds it; backfill writes at ALL, so with a node down it waits. Writers that bypass the proxy are found by
// sweeps only. A change without tables of its own has no comment to keep an order that could not be stored.
package migrate
