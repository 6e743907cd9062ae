// Package verify compares a look-up with its base table, in both directions, and puts right what it finds. It may
// import rewrite/kind, rewrite/exec, and of this kind match and maintain.
//
// # A pass
//
//  1. Scan the base, then the look-up. Each row becomes a 128-bit hash of (column, key) and is added to one of 2^16
//     buckets, which hold a count and two sums: their order does not matter, and 3 MB hold any table. The base goes
//     first: a row seen there has its entry already, so a row written meanwhile is seldom taken for a missing one.
//  2. Buckets that differ are scanned for once more, both tables, and only their rows are kept and compared. If they hold
//     more rows than fit (200,000), as many buckets as fit are done, and then the next.
//  3. Every difference is checked by point reads. A base row without entry is *missing* if the base holds the same value
//     with the same WRITETIME before and after the entry was found absent: in between, I1 did not hold. It is repaired by
//     an entry, and counted. An entry without base row is an *orphan* and is left to
//     maintain.Reconcile, which removes it only if that is safe.
//
// # Lives
//
// An entry that expires before the value of its row is as good as none: one of an earlier write of the same value, which was to live for a while. Clocks and delays make no two
// expirations equal, so what is summed up is which write a row, and the entry that lives longest, are of: their writetimes, of those that expire. Where these differ, by
// the same buckets, the times to live are looked at by point reads. A row with too short an entry is given one that lasts, and is not missing: it was found until now.
// Not told apart are two writes of one value at one and the same timestamp.
//
// A pass is clean if it found nothing missing. Orphans are no fault.
//
// # Where it is thin today
//
// A bucket's sums could agree by chance though its rows differ; with 128 bits that is not a practical concern. The whole
// of both tables is read at each pass; there is no tree of hashes that is kept between passes. The buckets are 2^16 however large the table is:
// of a table of hundreds of millions of rows one bucket holds thousands, so that orphans spread over all buckets make
// step 2 scan both tables once for every few dozen of them.
package verify
