// Package kind is the seam between what carries changes out and what a kind of change is. A kind is one way of answering statements
// otherwise than they were written. The engine (package rewrite), the machine of a change's states (migrate), the store, the API, the
// command line, the metrics and the console know kinds by these interfaces alone; the kinds that there are stand in rewrite/kinds, each
// one line there and one folder of its own.
//
// A kind is seen by three who ask different things:
//
//	Kind      what it is called, and whether a change would be right: who advises and who shows asks, without a database
//	Runner    fits its changes to their tables, in a process with a session
//	Fitted    one change over its base as that is now: which statements it answers (Read), and what with
//
// A change that has tables of its own, which have to be kept true, is a Derived besides, and its Runner a Keeper: its tables are made
// (Table), filled and verified part by part, and prepared for each write before that goes on (Write, Step). A change without them needs
// none of that, and passes through the same states.
//
// It may import advisor/plan, capture and what is below it, proxy, rewrite/condition and rewrite/exec.
package kind
