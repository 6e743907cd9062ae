// Package timeline makes calendars: which tables to have at each time step of a workload whose weights change, and how one
// step's tables become the next one's, so that all steps and all changes together cost least (seed 004, acceptance W-1 to
// W-53).
//
// What costs what. Weights are executions per second, steps have lengths, and a step costs rates times length times work, as
// the seed's code has it (it multiplies frequencies by the interval); a change costs what it costs once. So both are in the same
// unit, the model's, over the whole calendar, and a step that lasts twice as long pays back twice the change.
//
//	C_ij, C'_un  the prices of plans and of writes, of advisor/cost and advisor/plan: they do not depend on the step
//	C^E          reading all rows of each source (cost.Extract), C^L writing all rows of the target (cost.Load): the model's own
//	             prices of a scan and of puts, linear in the size of a table with given columns, so that what fits the model to
//	             a cluster fits these (W-38, W-40). The seed's regressions are not published
//	C^U          equation 16: what keeping the target true costs in the step before, times the share of it that loading takes
//	initial load off unless asked for (W-12); tables of Options.There, and kept ones, are there before the first step
//
// In order:
//
//  1. Candidates, plan spaces and prices (package design, task.go).
//  2. Promising candidates (sweep.go): the best designs as space gets dearer. Then the baselines (baseline.go) from drafts (draft.go), that for the mean weights
//     beside what follows, and a first calendar (runs.go; descend.go, local.go), by dropping, adding and exchanging tables, stretch by
//     stretch, with what changing costs.
//  3. Pruned mode: the workload summary tree over the promising candidates (package sequence), then the whole program over what
//     it leaves, both from the first calendar on. Exact mode: the program over all candidates, from pruned mode's calendar on, so that it never has a dearer one.
//     Both state the bound.
//     With a limit on space and many candidates exact mode looks at single designs over all of them, and at calendars over what is near these (wide.go).
//     With a limit on space and many promising candidates, in their place one design for each run of equal weights: the relaxation of the program of runs bounds
//     them, window by window (relax.go), the runs are annealed, many of them designed apart, too (runs.go), the best of that is made better by the program of what is near it
//     (around.go), that of a drift by further annealing, and thinned.
//     All solves end by counted steps; the same workload has the same calendar on any machine, unless the caller sets a wall.
//  4. The calendar, with a design for each step, and a migration for each table that comes (read.go, migrate.go).
//
// Migrations. A migration query (W-26, W-27) asks for the target's columns by the WHERE of a query of the workload, or by the
// target's partition key. It is for all rows, so the values that its parameters would have are all values: a plan of it, run
// for all, reads its tables whole and joins them. So a migration plan is a set of tables that join to the target's rows, two
// queries' plans over the same tables are one, and the graphs that equations 9 to 12 have side by side are one graph for
// each target (load.go): states are what has been joined and is at hand, an arc reads one more table of the step before.
// The paper's plans are among its ways but for those that would lose rows: a table over more than the target holds its
// rows once each only if each row has exactly one of all that lies beyond (plan.Sources); users of items are not all users.
// What is unloaded and joined costs by the sizes of the tables (W-38); Migration.Plan, a scan and then gets by key, is the other
// way to run it, which the planner gives where the keys are at hand.
//
// Thousands of targets times thousands of sources are too many ways to list. Few tables are ever created, so prices come on
// demand: at first filling a table costs the least that reading any source does, whatever is there. What the solution creates
// is then priced over what is there (search.truth). Where that is more, the target's ways up to that price are listed, with
// one more that needs no table, at that price, in place of all dearer ones; and the program is solved anew. It never says
// more than the truth, so its bound holds for the calendars that there are; and once nothing that it creates costs
// more than it says, its optimum is theirs. That takes a round or two, as reading costs little beside writing.
//
// It imports advisor/model, workload, plan, cost, choice, design, solve and sequence.
//
// Thin today: no table with collections is proposed, as none is filled; a calendar is not a cycle, its last step is not
// followed by its first; support queries that a table needs while it is filled are not counted in C^U; of more than 300
// promising candidates, or without a solver, the baselines are found, not proven, and so are, in pruned mode within a limit on space, those that take CBC more than
// 15,000 steps, and a drift's own steps; migrations read four tables, eight of those that are there; with a limit on space and
// thousands of candidates exact mode finds, and does not prove: single designs are bounded within 1 to 5 %, and of what changes cost its bound has a part alone. And where there are more than 60
// promising candidates and a limit on space, a calendar of runs is found, not proven; its bound leaves out what changing between windows of four runs costs, and
// that tables are filled out of what is there; weights that drift from step to step are designed for in four stretches, before changes are moved to single steps;
// and of equal calendars thinning finds one without a table that is not needed, if not always the one of the fewest.
package timeline
