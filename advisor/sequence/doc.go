// Package sequence answers the mathematical question of a design that follows time: which tables to keep at each of several
// steps, so that everything that must be answered is at every step, at the least cost of answering, keeping, and changing
// over (seed 004, equations 1 to 14). It is what package choice is for one point in time, and knows nothing of columns and
// statements either. It imports advisor/choice (arcs, and what takes the least space) and advisor/solve.
//
// problem.go defines the question; Problem.Cost is the definition that everything else is tested against.
//
// # When there is an answer
//
// What answers all demands does so at every step, as steps share their paths; and the first step may create anything. So a design
// that answers everything and fits into the least space of any step is a sequence if it is kept throughout, whatever Closed, Most,
// Life and Overlap say. There are but two reasons for there being none: a demand without a path (UnsatisfiableError), and a step with
// less space than the smallest such design (SpaceError). A table that can not be loaded can be kept from the first step on.
//
// # The program and its relaxation
//
// The integer program (program.go) has a binary column for each table and step, one each for its creation and its end, and a flow
// through the graph of each demand and step, and of each load and step. Two kinds of rows tie graphs to tables: an arc at t only with its
// table at t; an arc of a load that is for t only with its table at t-1. The dual (dual.go) prices just these, the space of each step,
// and how many tables are created for it. What is left is for each demand and step a cheapest path, for each creation a cheapest
// path of its load, and for each table a shortest path along time (timepath.go) with all that time does to it: upkeep, birth, Life, Closed, Drop.
// All of these are solved exactly by one pass each, so a bound costs little more than reading the graphs; and as their polytopes are
// integral the greatest bound is the optimum of the linear relaxation. To price equation 4 instead (Decompose does, where space is limited) would take the courses apart, and with
// them what Life and the cost of creating say: the bound could be no better, and would be slower to come to. Loads get multipliers only once
// a course creates their table for that step: nearly all stay at zero.
//
// # Steps that are alike
//
// Identical steps that follow each other are not made one: that would be wrong. A table may be created in the middle of such a
// interval because one that was created at its begin is needed to load it, because Most lets only some come at a time, because writes that
// must be kept up meanwhile (C^U) weigh less there, or to be the source of one that the next interval needs. But such steps weigh every
// demand the same, so they share its multipliers (a class): weak duality holds for any multipliers, so also for equal ones, and a
// demand is looked at once for all of them. Cycles of 12 steps have 4 classes. The courses still go step by step.
//
// # What goes, and why nothing is lost
//
// Each with a sequence of cost K known, bound L, and never by less than rounding:
//
//   - Tables that nothing reads and that are not there before, and tables that raise a demand without a path (instance.go). Without the
//     first all costs are the same or less, as none is negative; the second can not be kept.
//   - Arcs over which every path is dearer than one over no table, or over fixed ones (graph.go): that path is there whatever is kept, and
//     weights multiply both alike, so this holds at all steps at once. Of arcs between the same states over the same table, all but the cheapest.
//   - Table n at step t (fixTables): the bound is a sum of parts that are independent once the multipliers are given, so with "n is kept at t" (or
//     not, or created for t) in addition it is L less n's cheapest course plus its cheapest such course, and what demands that n raises
//     come to. If that is above K no sequence as good as the known one does it.
//   - An arc of demand i (pruneArcs): the same with i's cheapest path over the arc in place of its cheapest, plus the cheapest course of the
//     arc's table that keeps it at some step of the class in place of that table's cheapest.
//   - What is closed at all steps and was not there before leaves the instance (shrink.go).
//
// That a table is dominated by another at all steps is not looked for: fix finds it wherever it matters.
//
// # In order (solve.go)
//
//  1. Compile; a bound without multipliers.
//  2. With more than two steps: the local programs of the workload summary tree (tree.go), side by side in as many goroutines, each with at
//     most one solver process, as GOMAXPROCS. Their tables' problem is solved first. With Options.Pruned that is the answer (Algorithms 1
//     and 2); otherwise what exact begins from, so exact is never above pruned.
//  3. Dual steps, and after every 40 of them reduction and a search from what the multipliers suggest (search.go, improve.go). The search moves
//     whole courses: one table's best course given all others is a shortest path, too; then intervals from which a table is kept out or let
//     into, with what lacks bought; then a shortest path over all step's designs. Space is paid for at rates that rise and fall.
//  4. What is left is branched over with the same bounds (branch.go), then given to the integer program's solver if it is not too large, with
//     the best sequence as its start. Whatever ends a solve, Result.Bound says what no sequence can be below.
//  5. Among sequences of the least cost the fewest tables, then the smallest (W-41): the same once more, over what can still be of the least cost.
//
// # Steps apart
//
// Where few large tables fit, all of the above begins far from the best, as space makes one whole of a step. So Decompose (decompose.go, multipliers.go) prices what ties steps to each other in place of
// what ties graphs to tables: equation 4, and what fills what. Left is a whole design for each step, which package choice makes. It bounds, and it proposes, from the relaxation's prices on or from given ones; Relax is the linear
// relaxation alone, which bounds sooner. Both are apart from Solve.
//
// # By chance
//
// Anneal (anneal.go) is apart from Solve, too: changes taken although they are dearer, the less often the
// later, from a seed. What a graph answered is remembered (memo.go), as the same few sets of tables come again and again. It says nothing of bounds. DropRedundant leaves out of a sequence what nothing is dearer without.
//
// # Near one
//
// LocalBranch (localbranch.go) is the integer program of the sequences near one, in which a few given tables may come and go and the others last, and in which steps may be bound to be
// alike: what must be the same has one column. It proves the best of these where the whole program proves nothing, and sees what annealing does not.
//
// # The tree
//
// A local program weighs its three steps by what they weigh themselves (or what those around them do on average), for half of the
// span each. Children keep their first and last design as the parent found them, so theirs is a program of one step between two given
// ones. A leaf's steps are the real ones, so all designs together are a sequence, unless Life is broken, which local programs leave alone; then
// the smallest design's tables are kept too, so that there always is an answer. Spans of n steps take n-1 programs; that is linear in the steps, and so is
// the reduced problem's size. Local programs stop at a gap of 1e-5: what they find is promising, not final. With two steps there is no local
// program, and the problem is solved as it is. What the relaxation over all tables makes something of is kept, too:
// without that pruning was above the optimum by up to 6.1 % on small random problems, with it on none of 1,087.
//
// # Where this is thin today
//
// Where space is limited and few large tables fit, the relaxation is weak, as in package choice: it keeps three quarters of a table
// for three quarters of its demand; the bound then comes of branching, or is left with a gap, and the search (single courses, paths of one demand)
// stays far above what the integer program's solver finds: on TPC-H cycles at 80 % of the space it stops at 2.1e9, the solver comes to 1.304e9,
// proven among the tables that pruning left. The whole of those 12 steps, pruned, took 26 s of processor time, half of it the solver's; unpruned
// it was not proven in 36. Groups of tables that raise one demand
// together (choice's groups) are not built here, so with support queries the bound is less than it could be. A branch's dual copies all multipliers of
// what is left. Classes are never split, though the bound might gain. Progress says nothing while the integer program's solver is at work. graph.go
// compiles graphs as choice's demand.go does and ascend is the same method, over other data: a common package would save some 200 lines. Many
// sequences that cost the same may leave the fewest tables unproven (Result.Fewest). All is deterministic as long as no wall limit is reached.
package sequence
