// Package bench measures. demo tells the story of the README on a real Cassandra and checks every claim that it makes;
// rubis repeats the experiments of seed 003.
//
// It may import everything but cmd: the programs are run as their users run them.
package bench
