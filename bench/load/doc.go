// Package load puts the data of a world, or of a reference copy, into the tables of a design on a real Cassandra: it makes the
// keyspace and the tables, checks that what is there is what the design says, writes the rows, and drops it all at the end.
//
// A table is read from its Source in parts, side by side (data.World streams, so nothing is held but what is on its way). Rows
// are encoded, gathered as they come, and written by a bounded number of writers: one row as a prepared insert, several of one
// partition as an unlogged batch; on a cluster of one node those of a few partitions too, as far as Cassandra does not warn.
// A value that is not there is left unset: it makes no tombstone.
//
// Inserts are idempotent and a world is the same each time, so that a load may always be started again. When Cassandra does not
// answer, each writer tries the same rows again for as long as Options.Patience, over a new session now and then (way.go); then
// the load stops with a *StoppedError that says how much of which table is surely there, from where Options.After goes on.
//
// Match says in which way a live table is not what a design says.
//
// Thin: tables are loaded one after the other. How many rows there will be is an estimate. SimpleStrategy only.
//
// It imports advisor/model, bench/data and rewrite/exec (the binary form of values).
package load
