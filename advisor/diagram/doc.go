// Package diagram makes the diagrams of the query-driven method (seed 001; D-3 to D-9 of the acceptance list):
//
//   - the conceptual entity-relationship diagram of a model (ER);
//   - the application workflow: what is asked, and what of that leads to what (Workflow);
//   - Chebotko diagrams of tables with access patterns, logical and physical (Schema.Picture).
//
// All of them are a picture.Picture, which that package draws as SVG and package mermaid writes as text.
//
// # Chebotko's notation
//
// A table is a box with a row for each column, the primary key's first. Behind a column stands its part: K partition key, C
// with an arrow up or down for a clustering column and its order, S static, IDX indexed, ++ a counter. At the logical level the name
// says what kind of value it has: [list], {set}, <map>, *user-defined type*, (tuple); at the physical level the CQL type
// stands beside it. User-defined types and tuples have boxes of their own: at the logical level called after the column with
// its notation, at the physical level after the type, or <column>_type where it has no name (D-6, D-7).
//
// A Schema is read from CQL (ReadCQL), of tables over a model (Tables), or of a cluster (Live). What its boxes hold is all that
// is needed to make the tables again (Schema.CQL, D-4). Everything else that was said of them, such as properties, views and
// functions, is in Schema.Unshown and listed below the picture.
//
// # Access patterns
//
// A query comes to a table from outside (an entry) or from another table: because its own plan reads that one first, or because
// another query has found there what it asks by (D-5). Workloads do not say which screen leads to which, so the latter is
// inferred (Steps): B follows A if every key attribute that B gives a value for was selected or given in A, and one of them was
// not known before A. What B asks by besides, a date say, a person types in. Where statements lead to each other in circles
// that nothing leads into, one of them is entered from outside. That finds the steps that are possible, not
// those that people take.
//
// It imports model, workload, plan, infer, capture/cql and capture/schema.
package diagram
