// Package options makes and ranks the "informed schema options" of seed 000 (Bermbach and others, Informed Schema Design for
// Column Store-based Database Services): every schema in which each known query is one request, merged as far as its tables
// go. It is a second opinion beside advisor/design, which minimises a cost and may read several tables for one query; what
// that chose is one more row of the ranking (Given).
//
// A workload's queries and writes go through the seed's steps (Find):
//
//	1a  variants   each query's filter fields are assigned to the row key and to the secondary indexes in every way
//	1b  product    one variant for each query makes a schema
//	1c  merge      pairs of tables are merged to every fix-point, under five conditions (judgeMerge); a table that is a strict
//	               part of another is dropped
//	1d  distinct   equal schemas are one option
//	1e  look-ups   UPDATEs and DELETEs that do not find their rows get another index or row key, or a look-up table, each its
//	               own option; INSERTs into joined tables get the other entity's values
//	2   rank       metrics 1 to 3, a Score over them, ties by fewest indexes, tables and columns
//
// # Tables
//
// A table is a row key, indexes, and other fields. Key and indexes are concatenations of filter fields; the entity's own key,
// which makes rows unique, is added in the table that Cassandra would have only (Physical): filter fields are its partition,
// ranges and own keys its clustering columns, and each field of a concatenated index gets a storage-attached index. A column
// counts once however many fields it concatenates. Fields that a join makes equal are stored once, as the one that the other
// is a `copy` of; so a join's columns are those of the entity with the parameter, and no part of the joined entity's table.
// The counting and this identity are what reproduces the seed's figures (128 options of Twissandra, Figure 3 first).
//
// # Merging
//
// The conditions are the seed's. Where it leaves a choice:
//
//   - The order of merging matters (128 schemas can have 192 fix-points), so all orders are tried.
//   - Over 1:n and n:m, a table is a subset of another only if both compute the same join: else rows would be repeated, and
//     those without partner be missing. Nothing else is merged there, unless Config.RowGrowth says how many more rows are
//     acceptable.
//   - A table is dropped for a strict superset with the same row key and at least the same indexes. Without any write none is.
//   - The seed's corner case of unrelated entities with common columns can not occur: a column is a field of an entity, and
//     the entities of a query are related.
//
// # Enumeration
//
// Products are generated lazily, those with the fewest indexed fields first, and bounded by Limits. Queries part into groups
// whose tables can never merge with each other's; each group is merged by itself, and options combine what the groups became.
// So the bound concerns single groups first. Whatever is cut off is said in Report.Cut.
//
// # What it reproduces
//
// Twissandra (examples/designs/twissandra.yaml): 128 options, the schema of its authors (Figure 3) first with 15 / 12 = 1.25. With whole tweets in t2 and t3 and
// without t1: 64 options, the one with inlined tweets (Figure 4) first, by the tie-break. Lower scores are better: the seed says "higher", but only ascending order makes
// its own example the best (B-44). Twissandra's t3 is as the seed's table writes it, the user's own tweets, though its text says those of whom the user follows (B-53).
//
// # Thin
//
// Metrics 3a and 3b take Costs for what a benchmark would say, and nothing here runs one: bench/rank does, and measures whole options. Sub-queries and OR are refused where
// the file is read; aggregates, LIMIT PER and queries without a condition are named in Report.Unsupported. ORDER BY is only
// remarked on. The helper tables of INSERTs are those of the relationships that lead from the inserted entity outwards; of an
// entity that a table holds twice, the first occurrence is what a write's filter is taken for. Look-up tables take the first
// two fix-points of merging them with the others. Requests of writes count one row found: the seed's metric.
//
// It imports advisor/model, advisor/workload and advisor/design.
package options
