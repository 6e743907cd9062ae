// Package sequence answers the mathematical question of a design that follows time: which tables to keep at each of several
// steps, so that everything that must be answered is at every step, at the least cost of answering, keeping, and changing
// over (seed 004, equations 1 to 14). It is what package choice is for one point in time, and knows nothing of columns and
// statements either.
//
// problem.go defines the question; Problem.Cost is the definition that everything else is tested against.
package sequence
