package proxy

import (
	"strings"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Compression is agreed in the handshake: SUPPORTED says what the server has, STARTUP asks for one of it, and READY or
// AUTHENTICATE agrees. From then on
//
//	version  asked for     requests and answers are        mode
//	3, 4     nothing       frames                          Framed
//	3, 4     lz4, snappy   frames, flagged if compressed   FramedLZ4, FramedSnappy
//	5        nothing       frames in segments              Segmented
//	5        lz4           frames in LZ4 segments          SegmentedLZ4
//	any      what else     unknown, so not read            Opaque; the Rewriter is told
//
// With Options.StripCompression the last two columns are so for the client only. Cassandra is not asked (and SUPPORTED
// does not offer it, for those who look), and speaks as if nothing had been asked for.
//
// A header's "compressed" flag means nothing where nothing was agreed: Cassandra takes a body so flagged for what it is,
// plain (gocql flags version 5's frames so inside their segments, CASSGO-98), and so do we.

const compressionOption = "COMPRESSION" // of STARTUP and SUPPORTED

// bothOf is what a STARTUP asks for that gives the option twice, in two cases: Cassandra takes one of them, nobody knows
// which, so it is none that we know unless they agree.
func bothOf(first, second string) string {
	if first != "" && !strings.EqualFold(first, second) || second == "" {
		return first + " and " + second
	}
	return second
}

// modeFor is how the end of a connection is read after its handshake.
func modeFor(version byte, compression string) pipe.Mode {
	a, err := compress.Named(compression)
	switch {
	case compression == "" && version < 5:
		return pipe.Framed
	case compression == "":
		return pipe.Segmented
	case err != nil:
		return pipe.Opaque
	case version < 5 && a == compress.LZ4:
		return pipe.FramedLZ4
	case version < 5:
		return pipe.FramedSnappy
	case a == compress.LZ4:
		return pipe.SegmentedLZ4
	}
	return pipe.Opaque // Cassandra refuses snappy in version 5
}

// negotiated goes over to what STARTUP asked for, now that it was answered; stripped is whether Cassandra was not told. The client says nothing in the new mode
// before it saw this answer, and nothing is sent to it before: the answer itself is still a frame.
func (c *conn) negotiated(version byte, compression string, stripped bool) {
	front := modeFor(version, compression)
	back := front
	if stripped {
		back = modeFor(version, "")
	}
	if c.mode.Load() != pipe.Framed { // Cassandra agrees once
		return
	}
	c.up.out.Switch(back)
	c.down.out.Switch(front)
	c.backing.Store(back)
	c.mode.Store(front)
	if r := c.server.options.Rewriter; r != nil && front == pipe.Opaque && c.opaqueEnded == nil {
		c.opaqueEnded = r.Opaque(c.client.Load())
	}
}

// early refuses a request that is compressed before that was agreed: it can not be read, and Cassandra might.
func (c *conn) early(h wire.Header) error {
	if h.Flags&wire.FlagCompressed == 0 || h.Version >= 5 || c.up.compression == "" {
		return nil // where it was agreed, the pipe took the flag away
	}
	return &protocolError{version: h.Version, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.Compression,
		message: "a compressed request came before the server agreed to compression: wait for the answer to STARTUP"}
}

// strips tells whether Cassandra is not to be told of the compression that a STARTUP asked for.
func (c *conn) strips(version byte) bool {
	asked := c.up.compression
	return c.server.options.StripCompression && asked != "" && modeFor(version, asked) != pipe.Opaque
}

// stripSupported empties the COMPRESSION list of a SUPPORTED answer, whose message begins at from. Drivers that ask before
// they compress then do not.
func (c *conn) stripSupported(h wire.Header, body []byte, from int) (pipe.Verdict, []byte) {
	if !c.server.options.StripCompression {
		return pipe.Pass, nil
	}
	r := wire.NewReader(body[from:])
	out := append(wire.AppendHeader(nil, h), body[:from]...)
	n := r.Short()
	out = wire.AppendShort(out, n)
	found := false
	for ; n > 0 && !r.Bad(); n-- {
		at := r.Offset()
		key := string(r.String())
		count := r.Short()
		for i := uint16(0); i < count && !r.Bad(); i++ {
			r.String()
		}
		if r.Bad() {
			break
		}
		if key == compressionOption && count > 0 {
			found = true
			out = wire.AppendShort(wire.AppendString(out, key), 0)
			continue
		}
		out = append(out, body[from+at:from+r.Offset()]...)
	}
	if r.Bad() || !found {
		return pipe.Pass, nil
	}
	out = append(out, r.Rest()...)
	wire.SetLength(out, 0)
	return pipe.Replace, out
}
