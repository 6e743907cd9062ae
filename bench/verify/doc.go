// Package verify checks that plans are right by running them: designs on a real Cassandra against a reference that knows nothing of
// plans (SQLite, package bench/reference).
//
// A run is a list of tasks, one for each design of each workload. For each, in a keyspace of its own:
//
//  1. The design is made (design.go): ours, by the optimiser; a hand-made schema, planned by whatever its tables allow; or a
//     random feasible one: a random plan of each query over all candidates, then random plans of what the tables of those need to
//     be kept true, until nothing new comes. Each query gets up to six plans over the design's tables, the design's own first.
//  2. Data is made from the seed, the reference filled with it, and from that the tables. What they hold is compared at once.
//  3. Every query is asked with drawn parameters, by every plan, and judged by all that the statement allows
//     (reference.Check): a bag or an order; where limits cut among rows that come equally early, any of them.
//  4. Random updates are drawn from the reference, applied to both, and every few of them all tables that they touch are compared,
//     whole, with what they must hold by definition; at the end all tables, and the queries once more. If something differs, all
//     begins anew from the same seed, and is compared after each update, until the first that did harm is found.
//
// Everything is drawn by numbers from the seed, the workload's name and the design's, so a difference is shown again by the
// arguments that are printed with it. Random workloads are those of generate.Varied: the whole language.
//
// # When things go wrong
//
// Keyspaces are those of rewrite/scratch: what a kill -9 left behind is dropped by the next run. A Cassandra that goes away is waited for; the design whose
// comparison it interrupted is begun anew, as an update may have been applied by half. Data may not outlive Cassandra's death
// (the keyspaces are not durable, which is faster), and need not.
//
// Thin: one statement at a time, so nothing of what happens when writes meet. The data is small; bench/load proves
// large loads.
//
// The program is verify/cmd. It imports rewrite/exec, bench/data, bench/reference, bench/load, rewrite/scratch, and the parts of advisor that make designs.
package verify
