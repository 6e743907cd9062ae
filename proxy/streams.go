package proxy

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// What is remembered of the requests in flight. Which slots there are, and whose each is, is package inflight's to say.

// nobody is the stream id of a request of our own: its answer is for no client.
const nobody int16 = -1

// pending is what is remembered of a request. It is written by the upward goroutine, in place, before the state becomes
// busy, and read by who answers: after it saw busy, or after it made it orphaned.
type pending struct {
	start       int64
	record      Record
	prepared    *Prepared
	extra       *extra // nil for nearly all
	bytes       int32
	events      uint32 // REGISTER: what for
	hash        uint64 // of the body (Exchange.Hash)
	consistency uint16
	// serialConsistency is 0 if none was sent.
	serialConsistency uint16
	stream            int16 // the client's id of it, or nobody
	id                int16 // Cassandra's id of it: the slot's number
	opcode            byte
	paged             bool
	serial            bool
	stamped           bool
	read              bool // a SELECT, for all that is known
	swapped           bool // prepared ids in it were swapped (extra.swaps)
	uses              bool // a USE
	system            *ask // asks where nodes are: the answer is rewritten; nil for nearly all
}

// metadata is what the answer's rows are likely to begin with, nil if that is not known.
func (p *pending) metadata() []byte {
	if p.prepared == nil {
		return nil
	}
	return p.prepared.ResultMetadata
}

// status is free of a slot that never was.
func status(t *slot) inflight.Status {
	if t == nil {
		return inflight.Free
	}
	return t.Status()
}

type slot struct {
	inflight.State
	taken atomic.Pointer[taken] // if the Rewriter has the request; set after the claim, so not part of pending
	pending
}

// streams is a connection's table of slots, by the stream id under which Cassandra knows the request.
type streams struct {
	inflight.Table[slot]
	lent bool // those for asking are not the client's any more (ask.go); the upward goroutine's
}

// Why a request gets no slot.
var (
	errReused  = errors.New("the stream id is used again before its last request was answered")
	errNoAlias = errors.New("too many requests wait for answers that are late")
)

// reserve returns the slot for a request that the client sent under a stream id, for the upward goroutine to fill, and the
// id under which Cassandra will know it.
func (s *streams) reserve(stream int16) (t *slot, id int16, err error) {
	if s.lent && isAsk(stream) { // whose slot others write
		return s.reserveAlias(nil, stream)
	}
	if t = s.Make(stream); !t.Occupied() {
		return t, stream, nil
	}
	return s.reserveAlias(t, stream)
}

// claim makes a reserved slot busy, whose pending is filled. From now on Barrier sees the request.
func (t *slot) claim() {
	if t.taken.Load() != nil {
		t.taken.Store(nil)
	}
	t.Claim(t.start)
}

// A client whose request timed out has its answer, and may use the stream id again at once; but Cassandra may still answer
// under that id, and the late answer must not be taken for the new request's. The new request therefore travels under
// another stream id, an alias from the top of the range, where drivers seldom come; its slot remembers the client's id,
// which is put back into the answer. The proxy's own requests (replace.go) use aliases too.
//
// A frame that changes its id has to be seen whole; one that is longer than Options.MaxFrame closes the connection.

// aliasFrom is the lowest alias; there are as many as a connection may have late answers (maxOrphans), and some.
const (
	aliasFrom  = 1<<15 - maxAliases
	maxAliases = 1024
)

// reserveAlias is reserve for a request whose own slot t is occupied, or, if it is nil, not to be had.
func (s *streams) reserveAlias(t *slot, stream int16) (*slot, int16, error) {
	// Only the upward goroutine writes what is pending, and it is here: it may be read.
	if t != nil && t.Status() == inflight.Busy && t.stream == stream {
		return nil, 0, errReused
	}
	for id := int16(aliasFrom); id >= aliasFrom; id++ { // ends by overflow
		if a := s.At(id); a != nil && a.Status() == inflight.Busy && a.stream == stream {
			return nil, 0, errReused
		}
	}
	return s.alias()
}

// alias returns a slot at the top of the range. Only the upward goroutine may ask.
func (s *streams) alias() (*slot, int16, error) {
	for id := int16(aliasFrom); id >= aliasFrom; id++ { // ends by overflow
		if t := s.Make(id); !t.Occupied() {
			return t, id, nil
		}
	}
	return nil, 0, errNoAlias
}

// underStream makes what becomes of a frame carry another stream id: Cassandra's on the way up, the client's on the way down.
func underStream(stream int16, h wire.Header, body []byte, v pipe.Verdict, frame []byte) (pipe.Verdict, []byte) {
	if stream == h.Stream {
		return v, frame
	}
	switch v {
	case pipe.Pass:
		frame = wire.AppendFrame(make([]byte, 0, wire.HeaderSize+len(body)), h, body)
	case pipe.Replace:
	default:
		return v, frame
	}
	wire.SetStream(frame, 0, stream)
	return pipe.Replace, frame
}

// tooLong is the error of a frame that must be seen whole and is longer than may be.
func (c *conn) tooLong(h wire.Header) error {
	return fmt.Errorf("an answer of %d bytes came late or under another stream id, and at most %d bytes can be read: "+
		"the connection is closed; raise the longest frame or the request timeout", h.Length, c.server.options.MaxFrame)
}
