// Package design chooses tables: it makes the choice of seed 003 (figures 8, 9 and 13) over the plan spaces of a workload
// a problem of package choice, has it solved, and reads off the tables, one plan for each statement, and what was turned
// down and why.
//
// In order: candidates (package enumerate); plan spaces of the queries and of the support queries that candidates need
// (task); the choice, by which each write is done within its ceiling (hold.go, ceiling.go), with fewest and smallest tables among the best (package choice); plans, rejections, sensitivity.
// Existing tables are free and always there; kept ones are there, too, but written by the design; a new one costs its
// writes. Support queries of one statement that ask the same are paid once, and one whose answer another's holds not at all, if the cost
// model's arithmetic says so (shareAnswers). A
// Study keeps what was prepared, for questions what would be if (whatif.go): each is solved anew.
//
// What the query-driven method says of the outcome (access classes, patterns, findings of the linter) is told with it (method.go).
//
// It imports advisor/model, workload, enumerate, plan, cost, choice, safety, solve, rules and lint. Thin today: the worst case over several
// mixes may keep a gap (robust.go); where ceilings of writes need more than 2,000 problems to be solved a gap is left, too
// (hold.go). There is one point in time here; package timeline has more.
package design
