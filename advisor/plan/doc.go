// Package plan holds plans: what the optimiser chooses and the executor runs.
//
// A Plan is a list of steps over tables: reads (Get by partition key, IndexGet by secondary index, Scan with ALLOW
// FILTERING), then filters, a sort and a limit in the client; writes are support queries, deletes and puts. Each step
// carries estimates of its requests, rows and bytes; package cost prices them.
//
// The plan space of a query over a set of tables is a graph of states, see Space. package plan imports advisor/model and
// advisor/workload.
package plan
