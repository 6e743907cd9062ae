// Package bench measures. demo tells the story of the README on a real Cassandra and checks every claim that it makes;
// later rooms hold the workloads of the papers, the load generator and the report.
//
// It may import everything but cmd: the programs are run as their users run them.
package bench
