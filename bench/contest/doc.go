// Package contest runs the same requests over several designs of one workload side by side on one real Cassandra, and
// says what they took: the measurements of seed 003's section 9.1 for any workload.
//
// What lives here:
//
//   - the entries (entry.go): a design for a mix, chosen by our optimiser, or a schema that somebody made, with the best plans
//     that our planner finds over it. What a schema can not answer is left out for all entries alike;
//   - the draw of parameters (draw.go) out of the world that the tables were filled from: a row of the join that the
//     statement speaks of, and bounds of ranges at the share that the estimates take them to let through;
//   - the loop (loop.go): one client without think time. It takes the kind of request that has had least time so far, draws
//     parameters, and sends the same request to each entry in turn, in an order that a seed rotates. So whatever else the
//     machine does falls on all entries alike, and their ratios hold where their times may not;
//   - the live part (live.go): a keyspace for each entry, filled and measured on disk, plans made programs (rewrite/exec),
//     and what is done when Cassandra does not answer;
//   - the result (result.go): means, percentiles, requests, rows and bytes for each kind of request and statement, processor
//     time of both processes, means weighted by the mixes, and how well the cost model foretold all that (predict.go);
//     as JSON, Markdown (markdown.go) and charts after figures 17, 18 and 19 (charts.go).
//
// A request is what the workload calls a group: its statements run one after the other, and its response time is that of
// all of them.
//
// It imports advisor/{model,workload,plan,cost,design,solve}, rewrite/exec, bench/{data,load,chart} and a driver.
package contest
