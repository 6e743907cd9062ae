// Package choice answers the mathematical question of a design: which tables to keep, so that everything that must be
// answered is, at the least cost (seed 003, figures 8, 9 and 13). It knows nothing of columns and statements.
//
// A Problem has tables, each with what it costs to keep, and demands, each a graph whose paths from Source to Sink are
// the paths to satisfy it. An arc may read one table and is then to be had only if that is kept. A demand without Needed
// is there always (a query); one with it only if a table in Needed is kept (a support query). The cost of a choice is what
// its tables cost to keep and the price of the cheapest path of each demand that is there. That is the location of
// uncapacitated facilities, with paths in place of single facilities and facilities that raise demands of their own.
//
// As an integer program, with x_j for tables, f_a for arcs, c_a for what an arc costs, W_q for weights:
//
//	minimise   sum_j upkeep_j x_j + sum_q W_q sum_a c_a f_a
//	subject to flow of q conserved in every state, 1 from start to answered (queries), s_q (support queries)
//	           sum of f_a of q over table j <= x_j        s_q >= x_j for each table j that needs q
//	           sum_j bytes_j x_j <= limit                 x_j in {0, 1}
//
// Once the x are whole, some cheapest flow is: only the x need to be integers.
//
// In order (solve.go):
//
//  1. Compile (instance.go, package graph): weights into prices, states into topological order, so that a cheapest path is one pass over
//     the arcs; what no path can use, and tables whose demands no path satisfies, go; of many tables within a limit on space those, too, in
//     whose place another can always be kept (dominated.go).
//  2. With a limit on space, what it rules out whatever it costs (spacefilter.go): bounds on size alone, here and at each node of
//     the branching.
//  3. A first choice (search.go): paths bought one after the other, then tables dropped, added and exchanged. With a limit on
//     space what is beyond it is paid for, at a rate that rises until the choice fits, falls, and rises again.
//  4. Dual bounds (dual.go): the conditions "an arc only with its table" and "a demand if its table" are priced
//     (Lagrange multipliers), which leaves cheapest paths, each by itself. A subgradient method raises the prices' bound.
//     After every so many steps whatever would lift the bound above the first choice's cost is fixed: arcs fall away,
//     tables are settled as open or closed; and the prices suggest better choices. That goes on as long as the bound
//     rises or arcs fall away, and what the multipliers have come to is kept throughout.
//  5. What is left falls into parts that have nothing to do with each other (parts.go). Each is branched over
//     (branch.go), with the same bounds, within a budget counted in arcs looked at.
//  6. A part that this does not settle is given the relaxation's exact multipliers (exactdual.go), which rule out more, and what is
//     left goes to the integer program's solver (program.go), with the best choice as its start. Where a limit on space leaves thousands of arcs, that is done
//     for what is near the relaxation's bound, and then for more and more of it (localbranch.go).
//  7. Among the choices of least cost, one with the fewest tables, among those the smallest: the same steps once more
//     over what is left, for the objective number plus share of size, with the cost held.
//
// Where many demands are the same but for the table that needs them, all of this is done for a smaller problem in which they are one,
// which is divided again until its best choice costs the same in both (merge.go, unmerge.go). Stats are those of that problem. Under NoSE's cost models
// each table pays for its own support queries, so that there are thousands, most of them the same but for the table (2,624 of 50 kinds in seed 003's
// hotel). What the cheapest answer costs with all tables is paid by each table, what it costs beyond that once by all of a kind. That is less than
// the truth or the same; where it is less for the best choice found, the kind is divided between the tables of that choice, and it is solved again.
//
// How far a weight may move before another choice is better is found by solving again (package design); where the relaxation
// is as good as the choice, its ranging says beforehand between which weights nothing changes (ranging.go).
//
// What makes large problems quick: the arcs between two states are sorted by price, so that a search for a path looks at few
// of the very many tables that could serve there (demand); a step of the search looks again only at demands whose path is
// concerned (search); and if a gap is good enough, all ends once it is reached, without looking for the fewest tables.
//
// Nothing is left out but by proof; if the limits strike, the bound says how much better another choice might be. All of
// it is deterministic while no wall limit is reached.
//
// Several limits, as those on the space of each step of a sequence, are conditions of the program alone (Program, limits.go): package sequence writes designs of many steps as
// choices with such limits. Greedy are choices for who has no time at all.
//
// It imports advisor/ablation, by which bench/ablation switches methods off, and advisor/solve. Thin today: a limit on space ties all parts together, and its relaxation is weak
// where few large tables fit, so that of tens of thousands of arcs a gap of 1 to 5 % stays unless CBC gets minutes; the multipliers are not started from a
// former solve's; parts of more than 200,000 arcs are not given to the solver, and stay with what bounds and branching come
// to; sizes that differ by less than a millionth of their sum count as the same; where very many choices cost
// the same (weights of zero) the fewest tables may stay unproven (Result.Fewest), as that objective gets a share of the
// branching's budget only.
package choice
