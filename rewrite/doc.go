// Package rewrite answers statements by changes that a person approved, and keeps their tables true. Engine is its
// face: it implements proxy.Rewriter for the relay, and takes the orders of people (Approve, Rollback, Resume, Drop).
//
// What a change does is its kind's: the engine knows it through rewrite/kind only, and finds it in rewrite/kinds. There is one today, the
// look-up (rewrite/lookup), whose words "entry" and "look-up" stand below for what any kind keeps.
//
// It may import proxy, capture and what is below it, advisor/plan and the packages below rewrite but those of single kinds.
//
// # A request
//
// The relay asks for a Rule once per statement and epoch. Nearly every statement has none and is never seen here again.
// What has one comes to Take:
//
//   - A read whose change is serving is run as a plan, off the relay's goroutine. Whatever is unusual about it (a
//     paging state, tracing, a serial consistency, an authenticated client, an empty value, more rows than a page) or
//     goes wrong makes it run as it was written. In shadow, and for one in a thousand while serving, it runs as written
//     and the two answers are compared afterwards.
//   - A write that sets the column has its entry put first, and is then sent on unchanged; package lookup/maintain says how, and what
//     follows its answer. A write whose new value can not be known has its row noted as pending first. Where an entry can not be put,
//     reads are turned back, the write goes on, and the look-up is verified before it serves again; or, if the person who approved
//     wanted it so, the client is told and its statement is not sent. Where not even the rows of a write can be known, reads are
//     turned back until its answer, and verified unless it was refused.
//
// # Why that is safe
//
// Reads are turned back by one atomic flag that Take looks at, so from the moment it falls no read is answered from the
// look-up, whatever rules connections still hold. Reads already under way overlap with the write that made it fall, so
// either answer is right for them. Dual writing begins by an epoch: a statement that was sent before its connection saw
// the epoch is waited for by migrate (Traffic.Barrier) before the look-up is filled.
//
// # Where it is thin today
//
// Literal QUERY reads run as written, since there is no metadata to answer with. The reads of authenticated clients run as
// written too (condition.Rights): whether they may see a row is Cassandra's to say, and our own session would be asked instead. A
// connection whose requests can not be read (one that agreed with Cassandra on a compression other than lz4 and snappy)
// can write unseen: nothing is served while it lasts, and all look-ups are verified after it.
package rewrite
