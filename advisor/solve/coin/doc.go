// Package coin is the exact engine of package solve: COIN-OR's CBC for integer programs, by a binding of ours to its C interface (cbc.go, cbc.h, and cbc.cpp for what
// that interface cannot do: stop, and keep exceptions from Go), and CLP for linear programs, by github.com/lanl/clp.
//
// cgo lives here and nowhere else, and cmd/helenus-solver is the only program of the product that links it. Tests and the programs of bench serve themselves: ServeIfWorker.
//
// CBC takes the heuristic's solution as its MIP start and runs to the optimum, the gap, the node limit, or the wall, without preprocessing
// (docs/decisions/025-cbc-without-preprocessing.md). Costs are scaled by a power of two first, as its tolerances are absolute. It keeps global state (two solves at once in a process
// give wrong objectives) and runs on one thread, without a time limit of its own; the wall is a flag that its event handler looks at. CBC calls a search that ended at the gap optimal. We
// do not: Optimal means that the tree was searched to the end.
//
// It imports advisor/solve and internal/guard. Built without cgo it is empty but for a ServeIfWorker that does nothing.
//
// Thin: CLP starts cold each time; a relaxation has no node, gap or wall limit.
package coin
