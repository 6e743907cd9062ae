// Package solve answers integer programs, and linear programs with duals and ranges: which candidates to build at least
// cost, and between which frequencies that is known to stay so (choice.WeightRange).
//
// It knows nothing of column families: callers hand it a Problem of columns, rows and bounds. It imports internal/guard. No cgo is here: the engine is package coin, which
// a program of its own links, helenus-solver.
//
// # Engines
//
// Integer programs go to COIN-OR CBC, linear programs to COIN-OR CLP, in helenus-solver (cmd/helenus-solver). Process finds it (find.go): where Config.Path says, else where the
// environment does (Variable), else beside the running program, else in PATH. Where there is none, or one that does not start, does not greet, or speaks another Protocol,
// the heuristic answers in this process, and says Unproven; Relax returns a *MissingError, which is ErrNoSimplex, and Ready says why.
//
// # One child process per solve
//
// CBC keeps global state (two solves at once in a process give wrong objectives), can only be stopped at its own leisure,
// takes the memory it wants, and may crash. So Process starts helenus-solver for each solve; tests and the programs of bench are their own helenus-solver
// (coin.ServeIfWorker). Request and replies are gob over standard input and
// output. When the context ends the child is asked to come back with what it has, and killed if that takes long; when the parent dies the child is killed too (Linux: parent
// death signal); it runs at low priority, and is the first to go when the machine is out of memory. Its own memory is
// bounded by RLIMIT_DATA, set to what the child has at its start plus Config.Memory. Its environment is a short list, not
// the parent's. A program that is no solver is found out by its missing greeting, and cannot start workers of
// its own.
//
// # How an answer comes about
//
//  1. The problem is checked (Problem.Validate); what has no rows is answered at once.
//  2. The heuristic (type Heuristic: greedy descent with propagation, then local search) finds an incumbent. The worker
//     sends it ahead, so that even a child that must be killed at the wall leaves an answer.
//  3. CBC takes it as its MIP start and runs to the optimum, the gap, the node limit, or the wall (package coin).
//  4. Integers are rounded, the other columns chosen anew around them by CLP, and the result is checked against every row
//     (Problem.Check), in the child and once more in the parent. An answer that does not hold, or "infeasible" in the face
//     of a feasible incumbent, is not believed: the incumbent is the answer then, as Unproven.
//
// # Determinism
//
// The same problem, nodes and gap give the same values. With Limits.Wall they do as long as the wall is not reached.
//
// # Where this is thin today
//
// A relaxation has no node, gap or wall limit, only the context. Unbounded speaks of the linear relaxation; whether there is an integer solution is not looked into. A child
// that is killed since it does not come back leaves the heuristic's incumbent, not CBC's. The heuristic is
// made for 0/1 columns: continuous and wide integer columns it merely puts somewhere feasible, if it can. Outside Linux
// the child has no memory bound and no parent death signal. The heuristic in place of a solver has the memory of the process that asks.
package solve
