// Package exec carries plans out against Cassandra with the bytes as they are: values that a client bound are bound
// again, cells that Cassandra answered are handed on, and nothing in between decodes them. So a look-up can not change a
// value by misunderstanding its type.
//
// It may import package proxy (the row and value types of the hook), capture/cql and gocql.
//
// # A verified look-up read
//
//  1. entries := SELECT <primary key of the base> FROM <look-up> WHERE <column> = ?      (at the request's consistency)
//     More than the cap (1,000 by default): the original statement is cheaper than it looks, run that.
//  2. for each entry, a bounded number at a time: the application's own SELECT, narrowed to that one row by its primary
//     key. Cassandra itself evaluates every predicate of the application again, on the base row, with its own semantics,
//     and answers in the application's own projection. A stale entry yields no row; that is all it does.
//  3. order the rows by the token of the base's partition key, then by its bytes. That is the order of a filtering scan
//     and of a secondary index read; inside a partition the look-up is clustered as the base is, so a stable sort keeps it.
//  4. cut to LIMIT.
//
// # A conceptual write
//
// Find out by support queries what the statement does not say; make of that the deletes and puts of all tables that the
// write changes; send them. See WriteProgram, which also says what it takes for true, and what an error leaves behind.
//
// # Where it is thin today
//
// Nothing keeps two writes of one entity apart: each finds out and writes as if it were alone. What a support query read may
// be old once the puts arrive; of two increments at once one may be lost. A logged batch is bounded (100 statements, 32 KiB),
// and what is more goes in several. Existing tables are not written. Static columns of a partition whose last row is deleted
// stay behind: readers here pass over them, and the next row of the partition writes all of them anew.
//
// Rows of one partition are fetched one by one, not grouped. The partitioner must be Murmur3. A served read is not a
// snapshot: between steps 1 and 2 rows may change, as they may while a scan of several seconds runs.
package exec
