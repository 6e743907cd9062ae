// Package infer concludes from what was said (capture.Snapshot) and what the tables look like (schema.Schema) what the application
// means: an entity graph, its tables expressed over it, and a conceptual workload (docs/design/mapping.md 2.2 to 2.7).
//
//	domains        columns are of one domain by what is written together (bursts), by values that travel (feeds), by sketches that contain each other,
//	               and by names and types (domain.go). Each is evidence in log-odds, in groups that are capped, so that what says
//	               the same several times does not pile up: P = 1/(1+exp(-sum)), on a prior of -1.
//	entities       a table holds another table's entity, is a copy, if that one's key is in it, and all of its own primary key says nothing beyond: its
//	               columns are the other's, partners' keys, times, one of few values, or another name that finds it (copies.go). What has a part of the rows is no base of
//	               what has all, and of tables that differ by a number in their names (calls_20261119) none is a copy of the other; of two with the same rows the one with
//	               the smaller key is the base. Numbers are a copy's only if their name says of what, or more than it speaks for that (naming.go). All others have entities of their own, named by
//	               their nouns, or are nothing but two entities' keys (m:n). An entity's key is the part of the primary key that is named after it or
//	               has each value once, else the whole primary key but what a partner, or the time of a row, determines (derive.go).
//	relationships  for every other column, key columns too, and every entity with a key of one column of the same type, or of which texts are made (relationship.go, made.go);
//	               by several columns, by what travels together, or is of one partner anyway, as all of a tenant is (passage.go), by rows that share a value (composite.go), or by texts with all of them (joined.go); what leads nowhere by
//	               itself leads where its values go on to (led.go), or what it is called like does (naming.go); not where a column has values of two domains: accepted from
//	               0.70 on, and called proven from 0.95 on. If several are equally likely none is: that is a Question. Each relationship of an
//	               entity has an occurrence of the partner of its own, so that a message has a sender and a recipient.
//	workload       a statement becomes a conceptual one, over the table that it reads. Statements joined by feeds become one path query
//	               (flow.go, join.go): the feeds are cut to an acyclic graph; of each statement's executions a share is attributed to each producer, the
//	               rest come from outside; what comes from outside is followed down the graph and unified into paths. A second list below one
//	               entity is a path of its own from the same root. Writes of one burst that do the same to the same entity are one write (write.go).
//
// Weight is conserved: for every fingerprint, the sum over conceptual statements of weight times uses is the observed rate, following pages
// left out. What can not be expressed is listed as Unexplained with a reason and its share of all work, never dropped.
//
// The bursts are those of docs/design/mapping.md 2.4; that keys are found by what determines what, and relationships by inclusion, is as in
// Mior and Salem, Renormalization of NoSQL Database Schemas (ER 2018), with evidence from traffic in place of complete data. Sketches that share a hash
// show containment (KMV: Beyer et al., SIGMOD 2007).
//
// It imports advisor/model, advisor/workload, capture, capture/burst, capture/cql, capture/feed, capture/profile, capture/schema, capture/sketch and capture/value. Thin: of functional
// dependencies only those on partners' keys are tested; a copy's extra columns are attributes of the entity, even if they are a partner's;
// what a copy with a part of the rows holds is not known, so only its own statements are read from it.
package infer
