// Package change is the one record of a change: what was proposed, what was decided, how far it is carried out, and as part of which
// calendar, under one id and in one state. It is below whoever advises (advisor), carries out (rewrite) and shows (internal/admin), who share
// it and know nothing of each other: what is theirs of a record is JSON that they alone read.
//
// # The states
//
// The table `moves` (move.go) says by which order a change comes from which states into which. A change begins as proposed, or, as a table of
// an approved calendar, as approved. What it means to be in a state is its owner's business: rewrite/migrate has the work of each.
//
// # The store
//
// A Store is narrow on purpose: list, replace one record if its version is the one that was read, remove one, and with each of that append
// lines to the audit trail, all or nothing. That is one transaction in SQLite (capture/store), and can be one lightweight transaction
// in one partition of Cassandra. Nothing needs two records to change at once: whoever changes two does so in an order that may be cut anywhere.
//
// Book holds all records in memory, as stored. Who changes one does it by Change: his function sees the record as it is, and sees it again if
// somebody else's version was stored meanwhile.
package change
