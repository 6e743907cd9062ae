// Package keyspace keeps the state of a fleet in a keyspace of the cluster that it stands before: the same documents and the same audit trail
// that capture/store keeps in a file for one process, so that several processes have one truth.
//
// # One partition
//
// All that is decided is one partition of the table state: documents by kind and id, each with its version, the lines of the audit trail by their
// number, and in static columns the epoch, the number of the last line, and the form of the whole. So every move is one lightweight transaction: a
// conditional batch in one partition, SERIAL (LOCAL_SERIAL would not exclude across data centres), committed at QUORUM.
//
//	part | kind     seq  id     version  body         | static: form, epoch, lines, last
//	'1'  | change   0    r-1a2b 7        {…}          | 1, 412, 96, <mark of the last transaction>
//	'1'  | audit    96   ''              {…}          |
//
// The epoch grows by one with each transaction that others are to know of; what one process alone writes all the time (checkpoints, see Options.Unheard) does not move
// it. To see whether anything is new is one small QUORUM read; who finds a new epoch reads what changed at SERIAL, which also completes what
// a coordinator left half committed: at QUORUM the new epoch could be seen beside an old record. What does not move the epoch is read at QUORUM, too: a SERIAL read is a round of
// Paxos on the partition, and makes those of others begin anew.
//
// A transaction whose outcome is not known (a timeout) is looked for: each leaves its mark in what it wrote, and a SERIAL read decides.
//
// # Beats and snapshots
//
// What members write all the time, and lose nothing by losing it, is beside the partition and not in transactions: beats (internal/fleet says what they mean), written with
// their own counter as timestamp, so that no clock decides which is the later, and snapshots, opaque bytes by member and window.
//
// # Who may wait for it
//
// Nothing on the path of a request does. Without a majority of the keyspace no transaction and no beat is possible: changes stand still, reads run as written once leases are
// over, and requests are forwarded. Trouble says so.
//
// # Forms
//
// The state has a form, as the file has a version. A program reads and writes the forms from Oldest to Form, two adjacent ones, and writes that of the state; the fleet raises
// it when all members know the next (Raise). One that does not know the form of the state is refused with ErrNewer.
package keyspace
