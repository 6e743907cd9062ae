package rewrite

import "sync/atomic"

// counts of one change since the process began. All that the path of a request does is to add to them.
type counts struct {
	served          atomic.Int64              // reads answered by the change
	asWritten       [unservedEnd]atomic.Int64 // reads that were not, by why
	written, failed atomic.Int64              // writes
	missed          atomic.Uint64             // writes that went on without their entry
	touched         atomic.Int64              // statements of clients on our table
	rechecked       atomic.Int64              // rows that CDC agents told of, and that were compared
	around          atomic.Int64              // of which were written around us
	aroundSaid      atomic.Int64              // uptime at which that was last said
}

// unserved is why a read that a change may answer ran as it was written.
type unserved int

// The first have never been asked of the change; the ones from becauseFailed on were, in vain.
const (
	becauseText unserved = iota
	becauseUnprepared
	becausePages
	becauseConsistency
	becauseOptions
	becauseRole
	becauseState
	becauseControl
	becauseBusy
	becauseFailed
	becauseUnsuited
	becauseTouched
	unservedEnd
)

// unservedNames are the values of the label reason.
var unservedNames = [unservedEnd]string{
	becauseText: "text", becauseUnprepared: "unprepared", becausePages: "pages", becauseConsistency: "consistency", becauseOptions: "options",
	becauseRole: "role", becauseState: "state", becauseControl: "control", becauseBusy: "busy",
	becauseFailed: "failed", becauseUnsuited: "unsuited", becauseTouched: "touched",
}

// unserved counts a read that runs as it was written. It returns false: the request is not taken.
func (c *counts) unserved(why unserved) bool {
	c.asWritten[why].Add(1)
	return false
}

// between adds up the reads not served because of one of the reasons from a up to, but not including, b.
func (c *counts) between(a, b unserved) (n int64) {
	for i := a; i < b; i++ {
		n += c.asWritten[i].Load()
	}
	return n
}
