package proxy

import (
	"github.com/helenus-db/helenus/proxy/handshake"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/login"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// This file is how a connection follows its handshake (package handshake), up to the mode in which its requests are read.

// onStartup learns from a STARTUP who is there and which compression it asks for, and gives Cassandra another if need be.
func (c *conn) onStartup(h wire.Header, body []byte, p *pending) (pipe.Verdict, []byte) {
	said := handshake.ReadStartup(h, body)
	c.up.compression = said.Compression
	c.amend(func(n *Client) {
		n.Version, n.Instance, n.Compression = h.Version, said.Instance, login.Name([]byte(said.Compression))
		n.Application, n.ApplicationVersion = said.Application, said.ApplicationVersion
		n.Driver, n.DriverVersion = said.Driver, said.DriverVersion
	})
	p.extra = c.spares.take()
	p.extra.startup, p.extra.compression = true, said.Compression
	strip, member := c.strips(h.Version), c.server.options.Member
	if member == "" && !strip {
		return pipe.Pass, nil
	}
	frame := handshake.Restart(h, body, member, strip)
	if frame == nil {
		return pipe.Pass, nil
	}
	p.extra.stripped = strip
	return pipe.Replace, frame
}

// negotiated goes over to what STARTUP asked for, now that it was answered; stripped is whether Cassandra was not told. The client says nothing in the new mode
// before it saw this answer, and nothing is sent to it before: the answer itself is still a frame.
func (c *conn) negotiated(version byte, compression string, stripped bool) {
	front := handshake.Mode(version, compression)
	back := front
	if stripped {
		back = handshake.Mode(version, "")
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

// early refuses what comes before its time. A statement, before Cassandra has let the client in: Cassandra would refuse it too, but the Rewriter would
// answer it, or write for it, with rights of its own. And a request that is compressed before that was agreed: it can not be read, and Cassandra might.
func (c *conn) early(h wire.Header) error {
	if isQuestion(h.Opcode) && !c.authenticated.Load() {
		return &protocolError{version: h.Version, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.Early,
			message: "a statement came before the handshake was over: send STARTUP, log in if that is asked for, and wait for the answers"}
	}
	if h.Flags&wire.FlagCompressed == 0 || h.Version >= 5 || c.up.compression == "" {
		return nil // where it was agreed, the pipe took the flag away
	}
	return &protocolError{version: h.Version, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.Compression,
		message: "a compressed request came before the server agreed to compression: wait for the answer to STARTUP"}
}

// strips tells whether Cassandra is not to be told of the compression that a STARTUP asked for.
func (c *conn) strips(version byte) bool {
	asked := c.up.compression
	return c.server.options.StripCompression && asked != "" && handshake.Mode(version, asked) != pipe.Opaque
}

// greeted follows the connection's beginning: after the first READY or AUTHENTICATE version 5 goes over to segments and
// what STARTUP asked for is compressed; after READY or AUTH_SUCCESS long requests are allowed.
func (c *conn) greeted(h wire.Header, p *pending) {
	if p.events != 0 && h.Opcode == wire.OpReady {
		c.registered.Or(p.events)
	}
	if h.Opcode != wire.OpAuthenticate {
		if !c.authenticated.Swap(true) {
			c.amend(func(*Client) {}) // which gives it its mark
		}
	} else {
		c.amend(func(n *Client) { n.User = true })
	}
	if p.extra != nil && p.extra.startup {
		c.negotiated(h.Version&^wire.ResponseBit, p.extra.compression, p.extra.stripped)
	}
}
