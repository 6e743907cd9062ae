// Package merged puts together what the members of a fleet learned, so that whoever advises knows what one process would know that all traffic went through.
// It imports capture, capture/feed, capture/burst, capture/profile, capture/trace, capture/value, capture/window, and internal/guard.
//
// Rows in a Store, which is the fleet's state, carry it:
//
//	counts    a member's: what it counted since it was started, replaced each time
//	values    a member's, a few: what it looked at since the one before, hashed executions, and when it looked (window.Share); the leader empties what it has read
//	left      the leader's, one for each week: the sum of what members counted that left
//	sum       the leader's: what all have counted
//	findings  the leader's: what it found in the values of all
//	secret    of an epoch, from which all make the key that they hash values under
//
// So the leader reads a row of each, and everybody else what the leader wrote: no member's work grows with the fleet but the leader's.
//
// Counts add up exactly (capture.Snapshot.Merge). Findings do not: of a join done by hand whose answer passes one
// member and whose request another neither sees anything. So it is the executions that are put together, and looked through once, by the leader.
//
// # What of the values is looked through
//
// Members look at the same time, each with its part of one process's budget. What they looked at is put in order by a clock that all go by (Options.Skew),
// and only what was said at a time when all of them looked is looked through: of what some saw and others did not, half a join would count as none. A member
// that has not been heard of for a while, or does not look at values, is not waited for. Execution by execution it is then as if one process had looked.
//
// # Members that come and go
//
// A member that ends leaves its row; what it counted goes into the sum of all that left in its week, which stays for Options.Keep. A sum names those that are in it, and the
// row of such a one is not counted again, whenever it comes. A member that finds itself in a sum (it was stopped, and has gone on) counts anew under another name.
// Rates are per second in which somebody listened: the sum begins as long before its end as that was, however long all were down in between.
//
// # What it costs
//
// A row of counts of 5,000 busy statements has some 1 MB. Leaving it and reading the sum takes a quarter of a second of a processor, and the leader a fifth for each row more; so the
// time between exchanges is Options.Every, or a hundred times what the last one took, whichever is longer: learning takes a hundredth of a processor at most, and in a large
// fleet of many statements what is known is some minutes old.
//
// Where the link is thin: rows are of up to that long ago. Two leaders at once, while a lease goes from one to the other, may both put a member into a sum, and one
// of these is lost. Clocks that are further apart than Skew knows of cost joins: a request that seems older than the answer that it came of is fed by nothing.
package merged
