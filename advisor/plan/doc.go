// Package plan holds plans: what the optimiser chooses and the executor runs.
//
// A Plan is a list of steps over tables: reads (Get by partition key, IndexGet by secondary index, Scan with ALLOW
// FILTERING), then filters, a sort and a limit in the client; writes are support queries, deletes and puts. Each step
// carries estimates of its requests, rows and bytes; package cost prices them.
//
// The plan space of a query over a set of tables is a graph of states, see Space. What its steps' estimates are, and what
// a write has to read and change, an Arithmetic says: Means, the default, or that of seed 003's code (package nose).
//
// Means takes values to be spread evenly and independently, and statements to ask for something that is there (Rows). A
// read that several rows feed with the same values is sent once for each different one (model.Distinct). A write is
// applied to a table once for each occurrence of its entity there (Targets). Thin today: no skew, one share for all ranges
// and prefixes, no correlation of conditions but by keys; limits that are met before further reads are not counted in
// those reads.
//
// The package imports advisor/model and advisor/workload.
package plan
