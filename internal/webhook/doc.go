// Package webhook tells people, at addresses of theirs, of new advice and of what became of changes. It hangs at two places that all of this
// passes: the audit trail (capture/store), which has a line for every turn of a change, and the advisor's book, where advice first appears.
//
// Telling never holds anybody up: an event is put into a bounded queue for each address, the oldest goes when it is full, and one goroutine
// for each address sends what is in it, again after growing pauses if it must. What is sent has ids, names of tables and states, and sentences of ours;
// no statement, no value, no reason in somebody's words, as it leaves the house. docs/webhooks.md says what receivers get.
package webhook
