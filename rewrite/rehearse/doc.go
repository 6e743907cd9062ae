// Package rehearse carries a design out before anybody is told of it: its printed definitions make tables in memory
// (advisor/trial/memory), its plans are run on them by the executor (rewrite/exec), and their answers are held against what the queries mean,
// before and after the workload's own writes.
//
// A world is a few made entities of the model and what relates them. It keeps the model's word: keys tell apart, partners are there where each has one,
// a copied attribute is its owner's. Values are of small domains, so that they meet; what statements compare with is among them. What a query asks of a world is worked out by its
// definition (answer.go): the rows of the join that satisfy all conditions; then groups; one of each if DISTINCT; in order; so many of each parent, so many
// of all. Nothing of package plan is used for that. Where limits cut among rows that come equally early any of them is right.
//
// Then random writes of the workload, each followed by the queries whose tables it wrote. One that would break the model's word is not carried out, as
// an application that means its model would not. Tables that are there belong to the application: they are filled anew after each write.
//
// Whatever differs is a design.Counter, with what was asked, what was to be answered and what was. What could not be tried, and why, is told, too.
// Rows, worlds and requests are bounded by numbers, not by time: the same design gives the same trial.
//
// Thin: one statement at a time. Whether Cassandra would take a statement is not asked here, nor what it costs: package bench/verify has a real one.
//
// It imports rewrite/exec, capture/cql, capture/schema, and of advisor design, lint (for definitions), plan, model, workload and trial/memory.
package rehearse
