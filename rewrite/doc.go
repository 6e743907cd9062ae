// Package rewrite answers statements from look-ups that a person approved, and keeps those look-ups true. Engine is its
// face: it implements proxy.Rewriter for the relay, and takes the orders of people (Approve, Rollback, Resume, Drop).
//
// It may import proxy, capture and what is below it, advisor/plan and the packages below rewrite: match (what a statement
// means to a look-up), exec (reading through it), maintain (its entries), verify (comparing it) and migrate (its states).
//
// # A request
//
// The relay asks for a Rule once per statement and epoch. Nearly every statement has none and is never seen here again.
// What has one comes to Take:
//
//   - A read whose migration is serving is run as a plan, off the relay's goroutine. Whatever is unusual about it (a
//     paging state, tracing, a serial consistency, an authenticated client, an empty value, more rows than a page) or
//     goes wrong makes it run as it was written. In shadow, and for one in a thousand while serving, it runs as written
//     and the two answers are compared afterwards.
//   - A write that sets the column has its entry written first, with an explicit timestamp, and is then sent on with the
//     same timestamp. If the entry can not be written because Cassandra can not do it now, the client is told so and its
//     statement is not sent: it may try again. If the entry can not be written for any other reason, or what the write does
//     to the column can not be known, the reads of the migration are turned back before the write goes on.
//
// # Why that is safe
//
// Reads are turned back by one atomic flag that Take looks at, so from the moment it falls no read is answered from the
// look-up, whatever rules connections still hold. Reads already under way overlap with the write that made it fall, so
// either answer is right for them. Dual writing begins by an epoch: a statement that was sent before its connection saw
// the epoch is waited for by migrate (Traffic.Barrier) before T0 is taken.
//
// # Where it is thin today
//
// Literal QUERY reads run as written, since there is no metadata to answer with. The reads of authenticated clients run as
// written too (C21): whether they may see a row is Cassandra's to say, and our own session would be asked instead. A
// connection whose requests can not be read (one that agreed with Cassandra on a compression other than lz4 and snappy)
// can write unseen, so it suspends all migrations while it lasts. What an
// unreadable statement did is judged by Cassandra's answer to it; a crash of this process between the two would forget it.
package rewrite
