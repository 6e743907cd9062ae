// Package planrun carries the optimiser's plans out against Cassandra, reads (Program) and writes (WriteProgram): for the commands that try
// a design out before anybody has it (rewrite/calibrate, rewrite/rehearse), and for bench. No statement of a running application is answered
// by it: what that needs is a kind of change (rewrite/kind), over the sessions of rewrite/exec. Why they are two: docs/decisions/045.
//
// Values are bound as the bytes that a client gave, cells are handed on as Cassandra sent them. Only where a client has to compare, sort,
// add or convert are they looked into. It may import rewrite/exec, and of the advisor plan, model and workload: a plan is in terms of tables
// and conditions of a statement.
//
// # From a plan to an answer
//
// Compile makes a Program once; Run answers any number of times, also at once. A row at hand is an array of cells. Each
// field that something needs has a slot in it, numbered by Compile, so that no step looks a name up.
//
// Compile goes over the steps twice: back, to find what is still needed of each field, and forth, to know what is at hand. A
// read asks for those columns alone that are needed later and are not at hand. The value of a field on which the query has
// an equality is at hand from the start, but is relied on only once the server has compared it (or if no step reads it).
//
// A read becomes requests:
//
//  1. Rows at hand with the same values for what is bound to them are one combination. Each is asked for once; one that
//     lacks a value (null, or an empty partition key) finds nothing, and is not asked for.
//  2. A combination is one request for each value of IN on a partition key and for each bucket: numbers of buckets are
//     model.Bucket's. IN on a clustering column is a list, LIKE two bounds: the prefix, and the least text after all that
//     begin with it (a text without one, as there is no greater character, is sent without that bound).
//  3. Requests are sent by gather, up to RunOptions.Parallel at once, by the goroutines of the run alone; a single one by
//     the caller's. Each names its partition key, so that a token-aware policy finds the replica without a look at the
//     statement's metadata. The first error cancels what is under way, and Run returns when all of it has ended.
//  4. The rows found are joined to the rows at hand in the order of these. A column of another CQL type than the
//     attribute's is converted on the way, both ways.
//
// What CQL can not do is done after it, for each request: a second condition on a column that a scan filters by, and then
// the limit, which must come after; groups of a table with static columns or of columns that were converted. Aggregates are
// the same whoever makes them, see aggregate.go. Filter, Sort, Distinct, Group and the limits work on the rows at hand as
// package plan defines them.
//
// Null: no comparison holds for null, on either side, so a query that compares with null is not sent at all. In order null
// comes first, in groups and for DISTINCT it equals itself, and aggregates leave it out; the sum of nothing is 0, and its min,
// max and avg are null. LIKE takes a pattern of a prefix and one %.
//
// Values of parameters have names, see workload.Parameter.
//
// # Limits and failures
//
// A step that reads more than RunOptions.MaxRows rows, or has more at hand, ends the run (ErrTooManyRows); the session stops
// reading at that number, page by page. A *StepError has the number of the step as the plan prints it, its table, what was
// sent, a reason that a caller may decide on (no such table, another table than the design's, no answer in time, Cassandra
// not there, too many rows, cancelled), each with what to do, and what the driver said. Run answers all or nothing.
//
// What a run costs is gated: a get that is the whole plan makes no more than five allocations beside the session's, hands
// the session's rows on as they are, and takes at most 1.2 times the processor time of the same query in plain gocql.
//
// # A conceptual write
//
// Find out by support queries what the statement does not say; make of that the deletes and puts of all tables that the
// write changes; send them. See WriteProgram, which also says what it takes for true, and what an error leaves behind.
//
// # Files
//
// program.go, compile.go, steps.go, condition.go (from a plan to operations), get.go and gather.go (reads), client.go, aggregate.go (what
// the client does), cell.go (values), errors.go; write*.go (writes).
//
// # Where it is thin today
//
// A program has all rows of a step in memory: there is no streaming from step to step, nor are pages handed out. Several
// buckets are read at once and whole, where a limit would be met by the first. Limits are not carried into the reads of
// later steps. Requests of one step that go to the same partition are not joined. Sums of bigints wrap round, as
// Cassandra's do. Floating sums of the client and the server may differ in the last digit. Collections, tuples,
// user-defined types and durations pass through, but can not be compared. A speculative second request is never sent.
//
// Nothing keeps two writes of one entity apart: each finds out and writes as if it were alone. What a support query read may
// be old once the puts arrive; of two increments at once one may be lost. A logged batch is bounded (100 statements, 32 KiB),
// and what is more goes in several. Existing tables are not written. Static columns of a partition whose last row is deleted
// stay behind: readers here pass over them, and the next row of the partition writes all of them anew.
//
// A program's answer is not a snapshot: what is read later may be newer.
package planrun
