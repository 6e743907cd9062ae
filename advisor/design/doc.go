// Package design chooses tables: it builds the binary integer program of seed 003 (figures 8, 9 and 13) over the plan
// spaces of a workload, has it solved, and reads off the tables, one plan for each statement, and what was turned down
// and why.
//
// In order: candidates (package enumerate); plan spaces of the queries and of the support queries that candidates need
// (task); a first choice by a search that opens, adds and drops single tables (greedy); leaving out what a lower bound
// shows to be useless (reduce); the integer program (program); fewest and smallest tables among the best; plans,
// rejections, sensitivity. Existing tables are free and always there; a new one costs its writes. Support queries of one
// statement that ask the same are paid once.
//
// It imports advisor/model, workload, enumerate, plan, cost and solve. Thin today: a demand with very many plans keeps only
// the most promising ones in the program, and the design then says that it is not proven, with the gap to the bound over
// all plans (the sample application as a whole is such a case); support queries of different statements are not shared;
// there is one point in time, no cost of migration, and no limit on the size of a partition.
package design
