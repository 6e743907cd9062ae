// Package gain measures what a change is worth: how long its statements took before it, how long they take since, and how long they take
// as they were written meanwhile. It knows nothing of kinds of changes, only their latencies, as the client sees them.
//
//	before   what the statements took until the change was approved, as the relay counted it
//	after    what they take while it serves: answers of its own, and reads that it gave back to Cassandra after a try
//	control  what they take as written while it serves: of reads one in a thousand, of writes the part that is theirs alone
//
// # When a change is slower
//
// At two quantiles, the median and the ninth decile, the distributions are compared by bounds that hold 999 times in 1,000 whatever the
// distributions are: of n numbers the q-quantile lies between those of rank nq -/+ 3.09 sqrt(nq(1-q)). A side is slower than
// another if at one of the two its lower bound is above the other's upper bound and a margin, and it is slower in the
// mean of the deciles too, so that a change that helps where it hurts most is not turned back for the rest.
//
// What was before was at another time, when the cluster had other things to do. So it only raises a suspicion. Then for a
// trial one read in four runs as written until there are 50, and the change is judged by these, which ran among the others. A
// change of which nothing was known before is tried that way once it has answered a thousand reads.
// Writes need no trial: each shows what it took alone, and what with the change. Where it is known what they took before, they must be
// slower than that as well: a machine that is short of processors makes the rest of a write wait, with a change or without. And they are judged by no
// less than three minutes: what rolls a change back can not be taken back.
//
// What is judged is a window: 10 minutes and 100 reads at least, so that a change that was good for a month is noticed when it no longer
// is. Recording is a few atomic additions and allocates nothing; a verdict follows from what was recorded and the time that
// it is asked at.
package gain
