// Package cdc is the agent that runs beside a Cassandra node and tells Helenus which rows were written there: `helenus cdc-agent`. It reads the
// commit log in cdc_raw by internal/commitlog, and imports nothing else of ours.
//
// # A round
//
//  1. Find the segments, the oldest first, and how far each is durable.
//  2. Ask Helenus for the tables: after 1, so that a table that is watched since a row was written is among them.
//  3. Read each segment from where the checkpoint says, collect the keys of rows in which a watched column was written, and tell them in
//     batches, each key once.
//  4. When all of a segment that was read is told, keep that in the checkpoint. A segment that is completed and told is removed, if that was asked for.
//
// So a row is told of at least once: after a crash, or an answer that did not come, again. What can not be read is counted, told of, and
// passed: nothing in a commit log stops the agent, nor keeps segments from being removed. An error of a round is Helenus's, or the disk's: the next
// one begins where it was.
package cdc
