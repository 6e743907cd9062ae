// Package correction says in which words people correct what was inferred: the `corrections:` of a model file. Each line is one of
//
//	same: [ks.a, ks.b]                  tables hold the same entity; or columns hold the same attribute
//	different: [ks.a.x, ks.b.y]         they do not
//	entity: ks.a, name: User, key: [x]  the entity of a table: what it is called, what identifies it
//	relationship: ks.a.x, to: ks.b      a column holds the key of another table's entity; to: none: of no entity
//	copy: ks.a, of: ks.b                a table holds the rows of another one, whole; of: none: it does not
//	join: accept, from: x, to: y        the application joins by hand from column x to column y; reject: it does not
//	rename: ks.a, to: Account           the entity of a table, or the role (else the attribute) of a column, is called so
//	weight: 91c0, per_second: 2         a statement counts as often as that; times: 0.1: as a tenth of what it is executed
//	pin: ks.a                           what is inferred of a table, or a column, now: an import writes it down as one of these
//
// with because, why, and question, the id of the question that it answers. Tables are keyspace.table, columns keyspace.table.column.
// They name what is in Cassandra, never what was inferred: that may change with the traffic.
//
// Lists are checked for lines that contradict each other. What lines mean is package infer's business, which is given a List.
// It imports advisor/model, of which it has how files are read.
package correction
