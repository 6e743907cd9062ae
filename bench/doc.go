// Package bench is the laboratory: what only measures Helenus, proves it right, or reproduces what papers found. demo tells the story of the README on a real Cassandra and
// checks every claim that it makes; verify compares plans with a reference; rank measures the options of one workload; rubis repeats the experiments of seed 003; generate makes workloads.
//
// It may import everything but cmd: the programs are run as their users run them. Nothing of the product may import it, but tests that need made-up workloads (generate).
package bench
