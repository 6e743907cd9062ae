// Package reference keeps a copy of an application's data in SQLite and answers conceptual statements by it: an engine that
// shares nothing with Helenus says what is right.
//
// There is a table for each entity and one for each relationship. A query is translated to SQL from workload.Query alone
// (query.go); nothing of package plan is imported, and nothing here knows of column families but Contents, which computes what
// a table must hold by its definition: a row for each row of the join over its tree, but none where a column of its key has no
// value.
//
// What a query asks is a bag (N-5): the rows of the join that satisfy all conditions; then groups; one of each if DISTINCT; in
// order, null before everything else; so many of each parent; so many of all. Nothing is equal or unequal to null. Null is a
// group of its own. Of values count and sum say 0 where there is none, min, max and avg null. The sum of whole numbers is a
// bigint, of floating ones a double, and so is every mean (aggregate.go of rewrite/exec says why).
//
// Where limits cut among rows that the order does not tell apart, several answers are right. Check accepts exactly those
// (check.go); Answer gives one of them.
//
// Values are stored so that SQLite orders and compares them as Cassandra does (cell.go): UUIDs of either kind with what they
// are ordered by in front, times as numbers. Thin: decimals have four digits after the point at most and fit 64 bits with
// them, and so do varints; the sum of whole numbers does not wrap; the mean of decimals is a floating number.
//
// It imports bench/data, advisor/model, advisor/workload, and of rewrite/exec how a value is encoded, of which buckets are made.
package reference
