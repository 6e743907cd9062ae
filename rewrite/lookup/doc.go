// Package lookup is the kind of change that answers statements from verified look-ups: a derived table that finds the primary keys of
// base rows by one column, after which the base rows are read again and re-checked by Cassandra (docs/design/mapping.md 3.3, R1). It is one
// of rewrite/kinds, and all that is known of look-ups is below this folder: match (what a statement means to one, its tables and
// conditions), maintain (its entries), verify (comparing it with its base), and here what reads through it (Reader) and what fills it.
//
// # A look-up read
//
//  1. entries := SELECT <primary key of the base> FROM <look-up> WHERE <column> = ?      (at the request's consistency)
//     More than the cap (1,000 by default): the original statement is cheaper than it looks, run that.
//  2. for each entry, a bounded number at a time: the application's own SELECT, narrowed to that one row by its
//     primary key. Cassandra itself evaluates every predicate of the application again, on the base row, with its own
//     semantics, and answers in the application's own projection. A stale entry yields no row; that is all it does.
//  3. order the rows by the token of the base's partition key, then by its bytes. That is the order of a filtering scan
//     and of a secondary index read; inside a partition the look-up is clustered as the base is, so a stable sort keeps it.
//  4. cut to LIMIT.
//
// # Where it is thin today
//
// Rows of one partition are fetched one by one, not grouped. The partitioner must be Murmur3. A served read is not a snapshot: between
// steps 1 and 2 rows may change, as they may while a scan of several seconds runs.
package lookup
