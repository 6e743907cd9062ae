// Package fleet lets several processes of Helenus before one cluster act as one: who belongs to it, what each has taken on, who leads, and when a read
// may be answered by a change. The truth itself is in the state (internal/keyspace); here is what members say of themselves, and what follows from it.
//
// # What is kept where
//
//	register   a document for each member (kind "member"), by compare and set: in the epoch
//	leader     one document (kind "leader"): who, and the term
//	beats      what each member says every Interval: its counter, and which epoch it has applied. No transaction, no time to live
//
// # A member's states, and its moves
//
//	outside    --- state followed, two beats acknowledged ---->  registered   (its document stored; then the state is followed once more, then it takes traffic)
//	registered --- its document is gone ---------------------->  outside      (somebody took it off: it serves nothing, has all changes verified, and begins anew)
//	registered --- shutdown: drained, nothing left to store -->  left         (its document removed)
//
// # Going up: acknowledgements
//
// What a member does for a change grows with the change's state: nothing, entries for writes, answers to reads. A state is left upwards only when every registered member has
// acknowledged the epoch by which it was entered (Barrier): the member has followed the state up to it, put its rules in force, and every request under way by
// earlier ones has ended. So of two adjacent states only both are in force at a time, each safe beside the other. A member that can not follow goes on writing by the highest state
// it knows, which is more than needed and harmless: no lease guards writing.
//
// What all members are known to have followed (Followed) is more than what one has: a look finds an epoch, and later ones find beats by which each has followed it. By that a member knows that none is
// ahead of it, or behind an order that turned reads back.
//
// # Serving: leases
//
// A read may be answered by a change while, for each registered member, the asker knows that it was not withholding at some moment less than Lease ago. No two
// clocks are compared; only that clocks run equally fast, to 2 %, is assumed. They run also while a machine is suspended (Elapsed): what a member knew before is too old when it wakes.
// (One whose hypervisor stops even that clock is as if it had not slept: it may answer by what it knew for the rest of Lease.)
//
//	A member decides on beat k under a lock, only when beat k-1 was acknowledged, and none while it withholds.
//	Who sees beat k knows: k-1 was acknowledged before k was decided on. The beginning of the last look that did not show k-1 yet is before that
//	acknowledgement, so it is before the decision: from then Lease counts.
//
// So it does not matter when a beat that timed out arrives after all; one that proves nothing but itself would (TestALateBeatGrantsNothing). A look reads the beats first,
// then the epoch, and follows it before anything is concluded from the beats: what a member stored before it beat is in force at whoever counts on the beat.
//
// A member that must turn reads back everywhere before it forwards a write (an entry could not be written, it is not known what the write changes) stores the order and
// withholds its beats until it is stored; Quiet returns when all have acknowledged it, or when Lease is over: then nobody serves who does not know of it.
//
// # The leader
//
// drives changes and advises. It leads while the document names it and its own beats are acknowledged; whoever sees no new beat of it for Takeover takes its place by
// compare and set. Two that think they lead for a moment do no harm: every move of a change is a compare and set of its own, all work can be done twice.
//
// # Who is taken off
//
// A silent member keeps everybody from serving and changes from going up. It is taken off by a person, or by the leader when no node lists a connection of it (one that is paused keeps its
// connections, and may yet write). Before that all changes are stored to be verified, because of what it may have written last.
package fleet
