// Package infer concludes from what was said (capture.Snapshot) and what the tables look like (schema.Schema) what the application
// means: an entity graph, its tables expressed over it, and a conceptual workload (docs/design/mapping.md 2.2 to 2.7).
//
//	entities       every table is an entity named by its noun, unless it is another table's entity asked for otherwise
//	               (hotels_by_city) or nothing but two entities' keys (m:n). An entity's key is the part of the primary
//	               key that names it (room_id of rooms), else the whole primary key.
//	relationships  for every other column and every entity with a key of one column of the same type: the log-odds of
//	               name, type, sizes and feeds, each group capped, on a prior of -1; accepted from 0.70 on, and called
//	               proven from 0.95 on.
//	workload       a statement becomes a conceptual one. Statements joined by feeds become one path query: the feeds are cut to an
//	               acyclic graph; of each statement's executions a share is attributed to each producer, the rest come from
//	               outside; what comes from outside is followed down the graph and unified into paths.
//
// Weight is conserved: for every fingerprint, the sum over conceptual statements of weight times uses is the observed rate.
// What can not be expressed is listed as Unexplained with a reason, never dropped.
//
// It imports advisor/model, advisor/workload, capture, capture/cql, capture/feed and capture/schema. Thin today: functional and
// inclusion dependencies are not tested on values (only distinct counts are compared); dual writes and bursts are not
// mined, so that each table's writes stand for themselves; an entity that needs its parent's key (room number within
// hotel) keeps a copy of it, and existing tables are not read across that relationship; self references and second
// relationships to one entity stay plain attributes; there is no override file yet.
package infer
