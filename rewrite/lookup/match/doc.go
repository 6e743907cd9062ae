// Package match decides what may be done with a statement, and compiles what it decided. For a verified look-up
// (docs/design/mapping.md 3.3, R1) there are two questions:
//
//   - may this SELECT be answered from the look-up? (Read, or a Refusal that names a condition; checks.go)
//   - what does this INSERT, UPDATE, DELETE or BATCH do to the column that the look-up is keyed by? (Write)
//
// They are not alike. A SELECT that is refused runs as it was written, and nothing is lost. A write can not be refused:
// the application's data outrank the look-up. When its effect can not be known before it is carried out (a function in
// the place of the value, INSERT JSON, a condition) its Guard says why, and whoever serves reads has to stop before the
// write goes on.
//
// A Read is compiled by appending the base's primary key to the application's own WHERE clause; everything else stays
// as the application wrote it. So what is equal, greater or contained remains Cassandra's own affair.
//
// It may import rewrite/kind, rewrite/condition, capture, capture/cql, capture/schema, advisor/plan and proxy.
//
// # Where it is thin today
//
// One column, which must be a regular column of a type whose equality is equality of bytes. No relation on key columns
// beside it, no ORDER BY, aggregates, DISTINCT or PER PARTITION LIMIT. Literal QUERY texts are not answered: without a
// PREPARE there is no result metadata to answer with.
package match
