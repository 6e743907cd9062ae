// Package twintest holds the application's writes against what they would have done without Helenus. It has a client that sends
// statements in every way that the protocol knows (Conn), every form of write that an application may use (Forms), a base
// that they write to (Schema), and a comparison of two keyspaces cell by cell (Compare): one was written through Helenus,
// its twin by the same statements straight to Cassandra.
//
// What can be compared: values always, but of cells that Cassandra made up itself (now(), uuid()) only that they are there; the
// answers' error codes and rows; TTLs up to the seconds that passed. WRITETIMEs are equal where the statement carries one. Where
// the coordinator chose them they are those of two statements, sent one after the other to the same node by one writer:
// then it must be the same statement of the sequence that wrote the cell on both sides, which the times say at which each
// statement was sent and answered (Sequence).
//
// The package imports nothing of ours: it is the application.
package twintest
