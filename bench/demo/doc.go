// Command demo tells the story of the README on a real Cassandra and checks every claim that it makes: an application
// designed by gut feeling runs, Helenus learns, advises, changes the design live while the application writes on, proves
// the answers equal, and rolls back. It ends with exit code 1 if a claim does not hold on this machine.
//
// It runs the programs as their users do: examples/hotel is the application and knows nothing of Helenus, bin/helenus is
// the product. All of them end with the demo, also when it is killed; -keep leaves everything up until
// Ctrl-C, with a Prometheus that scrapes Helenus, if there is one.
package main
