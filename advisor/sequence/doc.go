// Package sequence answers the mathematical question of a design that follows time: which tables to keep at each of several
// steps, so that everything that must be answered is at every step, at the least cost of answering, keeping, and changing
// over (seed 004, equations 1 to 14). It knows nothing of columns and statements. It imports advisor/choice, the kernel, advisor/graph and advisor/solve.
//
// problem.go defines the question; Problem.Cost is the definition that everything else is tested against.
//
// # A sequence is a choice
//
// A table at a step is a table of a choice; that it comes from somewhere, from itself a step before or by being filled from other tables of that step, is a demand that it
// raises (expand.go). So a choice is a sequence of one step, and a sequence a choice with a limit on space for each step: both have the same graphs, the same program, and the same bounds, all in package
// choice. What is here is what time adds: a table's course, and the change from one step to the next.
//
// # When there is an answer
//
// What answers all demands does so at every step, as steps share their paths; and the first step may create anything. So a design
// that answers everything and fits into the least space of any step is a sequence if it is kept throughout, whatever Closed, Most,
// Life and Overlap say. There are but two reasons for there being none: a demand without a path (UnsatisfiableError), and a step with
// less space than the smallest such design (SpaceError). A table that can not be loaded can be kept from the first step on.
//
// # One search
//
// Annealing (anneal.go, cool.go, refine.go): changes are taken although they are dearer, the less often the later, from a seed. A change is one of a whole interval of steps, or of all steps that weigh
// demands alike, so that none is lost because a table would have to come or go at several steps together; what space, Most, Closed and Life forbid is paid for on the way. It is what finds sequences where few
// large tables fill the space and most of those that no small change makes better are far from the best, and of small problems, as live calendars are, it finds the least as a rule (TestBruteForce). What a graph
// answered is remembered (memo.go), as the same few sets of tables come again and again. DropRedundant leaves out of a sequence what nothing is dearer without (W-41), and Smooth moves changes to other steps: both
// are no searches, but one pass.
//
// Solve (solve.go) is annealing from the best designs of the steps, and the program, if it is not too large, from what came of it. Anneal, Relax, LocalBranch and Smooth are apart from it, for
// who has more to say of a problem than it does (package timeline, which solves runs of steps).
//
// # The tree
//
// With Options.Pruned what is promising is left beforehand: tables that the local programs of the workload summary tree choose (tree.go, Algorithms 1 and 2 of the seed), and what the relaxation makes something of.
// Children keep their first and last design as the parent found them, so theirs is a program of one step between two given ones. Spans of n steps take n-1 programs.
//
// # Bounds
//
// Designs of the steps alone, proven by package choice, bound whatever limits there are: changing costs nothing less than nothing. Relax, the linear relaxation of the program with filling at its least, counts what changing costs. Where a
// solver ends the program its bound is the answer's.
//
// # Where this is thin today
//
// Without a solver there is no bound that counts changes, and sequences that change stay unproven. The program of all steps is given to the solver as it is: arcs that a bound could rule out are ruled out within one step alone (package choice), so
// that with more than 120,000 of them it is not tried. Many sequences that cost the same may leave the fewest tables unproven (Result.Fewest). All is
// deterministic as long as no wall limit is reached.
package sequence
