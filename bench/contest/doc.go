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
//   - the tracer (trace.go): the same requests some times more, one CQL request after the other, traced by Cassandra; what the traces say of
//     client, way, coordinator and replica (split.go);
//   - the live part (keyspace.go, program.go): keyspaces, filled, compacted and measured on disk, plans made programs
//     (rewrite/exec), and what is done when Cassandra does not answer;
//   - tables that several entries share (share.go), and by them the study of many designs at the price of few (study.go), which
//     says how well a cost model foretells (predict.go);
//   - the result (result.go): means, percentiles, requests, rows and bytes for each kind of request and statement, processor
//     time of both processes, and means weighted by the mixes; as JSON, Markdown (markdown.go) and charts after figures 17, 18
//     and 19 (charts.go).
//
// A request is what the workload calls a group: its statements run one after the other, and its response time is that of
// all of them.
//
// It imports advisor/{model,workload,plan,cost,design,solve}, rewrite/exec, bench/{data,load}, rewrite/scratch, internal/{cassandra,chart} and a driver.
// Thin: one client and one node; response times include the client's; processor time of Cassandra is with what it does in the
// background; a request that was sent anew after a failure counts by its last attempt.
package contest
