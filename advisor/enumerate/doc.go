// Package enumerate proposes candidate tables for a workload (seed 003, section 4.1 and algorithms 1, 2 and 4).
//
// For each query: its materialised view; then, cutting its graph at each edge, the views of the prefix query, and the
// same for the remainder; each also with conditions relaxed (a condition's field becomes one that is read and filtered by),
// and split into keys and attributes by key. Then the support queries that the writes need for those tables, twice over.
// Then unions of tables with the same partition key and no clustering key. With existing tables also verified look-up
// tables.
//
// A view's primary key must tell the rows of the join apart. The paper's figures differ in how: two forms are proposed,
// with the keys of all entities, and with those only that the others do not determine. They also differ in which
// conditions go into the partition key: those of each one entity are tried, and all.
//
// Tables are the same if their whole content is (model.Table.ID). The order of the pool depends on the workload's order
// alone. It imports advisor/model, advisor/workload and advisor/plan. Thin today: support queries are not relaxed; a
// query is not relaxed in more than five fields at once; ORDER BY comes after range conditions, as in algorithm 1.
package enumerate
