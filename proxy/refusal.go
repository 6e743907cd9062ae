package proxy

import (
	"github.com/helenus-db/helenus/proxy/wire"
)

// What the proxy says to requests that it does not pass on.
const (
	leavingText = "the proxy drains this connection: retry on the next host"
	tooFastText = "your address sends more requests a second than max-requests-per-client allows: send them more slowly"
)

// judgement is what was decided about a request of which only the beginning is there. It is shown again when it is whole,
// and must not be counted twice, nor be refused when its beginning was let by.
type judgement byte

const (
	unjudged judgement = iota
	allowed
	denied
)

// refusal tells why a request is answered Overloaded instead of being passed on; "" if it is not.
func (c *conn) refusal(h wire.Header, complete bool, now int64) string {
	if c.leaving.Load() && h.Opcode != wire.OpOptions {
		return leavingText
	}
	if !c.guest.Limited() || !isQuestion(h.Opcode) {
		return ""
	}
	j := c.up.long
	if j == unjudged {
		j = denied
		if c.guest.Allow(now) {
			j = allowed
		}
	}
	c.up.long = unjudged
	if !complete && (j == denied || c.mustSeeWhole(h, now)) {
		c.up.long = j
	}
	if j == denied {
		if complete {
			c.server.stats.limited.Add(1)
		}
		return tooFastText
	}
	return ""
}

// isQuestion tells whether a request is one that is counted against max-requests-per-client.
func isQuestion(opcode byte) bool {
	switch opcode {
	case wire.OpQuery, wire.OpPrepare, wire.OpExecute, wire.OpBatch:
		return true
	}
	return false
}
