// Package memory runs CQL on tables in memory: what a SELECT answers, and what a write leaves, as Cassandra says it, on a few rows.
//
// It knows partitions and their order by a hash of the key (not Cassandra's own: between partitions an order is no promise), clustering
// orders, static columns, rows that are there by an INSERT or by their columns only, sets, lists and maps, WHERE with =, IN, ranges over
// one column or several, CONTAINS and CONTAINS KEY, m[k] = v, ORDER BY, DISTINCT, PER PARTITION LIMIT, LIMIT, count(*), IF NOT EXISTS, IF EXISTS
// and conditions on whole columns. All is filtered: whether a server would want ALLOW FILTERING is schema.VerdictOf's business.
//
// A value is nil, a string, or a Set, List or Map of strings: order and equality are those of the strings, which is right wherever two ways to ask
// for the same values are compared, and for that it is made (package trial).
//
// Thin: no timestamps and no times to live, one statement after the other; no counters, functions, aggregates but count(*), GROUP BY, JSON, LIKE, token(),
// and tuples and user-defined types are single values. What it does not know it refuses with an *UnknownError, and guesses nothing.
//
// TestTwin says statements at random to it and to a real Cassandra. Other than Cassandra it finds no partition by elements of a static collection that were deleted.
//
// It imports capture/cql and capture/schema.
package memory
