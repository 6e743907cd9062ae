// Package calibrate fits the parameters of the cost model cassandra (advisor/cost) to a cluster, by measuring it: what `helenus
// calibrate` does. docs/calibrate.md tells its users what is measured and how far the parameters are to be believed.
//
// What lives here:
//
//   - Shape and Measurement (shape.go): one kind of operation, described as a step of a plan, and how long it took. A Set of
//     them is all that the fit sees; it can be written and read (Read), and is, for the golden test;
//   - the operations (operations.go): each shape with what runs it; the plans that gets are, compiled by the executor (programs.go);
//   - what the scratch keyspace (rewrite/scratch) is filled with (load.go);
//   - Measure (measure.go): connects, looks whether the cluster has other work (busy.go), and runs all operations in rounds, each in
//     an order drawn anew, after some that only warm up. Of an operation's turn the first run is not counted: after a scan a get takes
//     half as long again as after its like, and what was measured so foretold designs a third too slow. If Cassandra goes away it
//     begins again;
//   - Fit (fit.go): makes a least squares problem of the times, by asking the model itself what one time longer would do, and
//     searches what is not linear around it; least.go solves it (bounds by active sets, Huber's weights, a pull towards the
//     defaults' proportions that is felt only where nothing else says anything, standard errors);
//   - the result (report.go): the file of parameters, text, JSON, and a chart.
//
// It imports advisor/{cost,plan,model,workload}, rewrite/{exec,scratch}, internal/{chart,guard} and a driver: it lies above both what a plan is said to cost and what runs it,
// so it is here and not beside advisor/cost, which knows nothing of running.
//
// Where it is thin: puts, scans and index reads go by the executor's session but are no plans of it; one client measures, so that nothing is known of a cluster that is busy, and work is taken to be what
// latency says; each node's caches are warm, and one table has one file on disk; the counters of a node are asked at its address in system.peers, so a
// cluster behind a translation of addresses can be calibrated with one node only.
package calibrate
