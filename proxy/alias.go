package proxy

import (
	"fmt"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

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

// reserveAlias is reserve for a request whose own slot t is occupied.
func (s *streams) reserveAlias(t *slot, stream int16) (*slot, int16, error) {
	// Only the upward goroutine writes what is pending, and it is here: it may be read.
	if t.status() == busy && t.stream == stream {
		return nil, 0, errReused
	}
	for id := int16(aliasFrom); id >= aliasFrom; id++ { // ends by overflow
		if a := s.at(id); a.status() == busy && a.stream == stream {
			return nil, 0, errReused
		}
	}
	return s.alias()
}

// alias returns a slot at the top of the range. Only the upward goroutine may ask.
func (s *streams) alias() (*slot, int16, error) {
	for id := int16(aliasFrom); id >= aliasFrom; id++ { // ends by overflow
		if t := s.make(id); t.state.Load()&occupied == 0 {
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
