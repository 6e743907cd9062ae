package proxy

import (
	"cmp"
	"errors"
	"net"

	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// This file stands between the pipes and what judges their frames (judge, in upward.go and downward.go): it measures
// the time that the proxy adds, and listens to the log-in.

// reading is what one read of a direction brought: when it was, and how many frames were sent on since. Frames of earlier
// reads are not among them: those that were held back (a long one was waited for) count with the read that completed them;
// a long one that is streamed ends the measuring of its run, whose time is the sender's.
type reading struct {
	at     int64
	frames int
}

func (r *reading) note(now int64, complete bool, v pipe.Verdict, err error) {
	switch {
	case err != nil || v == pipe.Drop || v == pipe.Whole:
	case !complete:
		r.frames = 0
	default:
		if r.at != now {
			r.at, r.frames = now, 0
		}
		r.frames++
	}
}

// Frame implements pipe.Handler.
func (u upward) Frame(h wire.Header, body []byte, complete bool, now int64) (pipe.Verdict, []byte, error) {
	if h.Opcode == wire.OpAuthResponse && complete {
		u.conn.login.Client(h, body)
	}
	v, instead, err := u.judge(h, body, complete, now)
	u.conn.up.reading.note(now, complete, v, err)
	return v, instead, err
}

// Frame implements pipe.Handler.
func (d downward) Frame(h wire.Header, body []byte, complete bool, now int64) (pipe.Verdict, []byte, error) {
	c := d.conn
	switch h.Opcode {
	case wire.OpAuthenticate, wire.OpAuthSuccess, wire.OpError:
		if complete && !c.authenticated.Load() {
			if role := c.login.Cassandra(h, body); role != "" {
				c.amend(func(n *Client) { n.Role = role })
			}
		}
	}
	v, instead, err := d.judge(h, body, complete, now)
	c.down.reading.note(now, complete, v, err)
	return v, instead, err
}

// Written implements pipe.Handler: the requests of a read were sent on.
func (u upward) Written() {
	c := u.conn
	r := &c.up.reading
	if r.frames == 0 {
		return
	}
	now := c.server.now()
	c.active.Store(now)
	c.sheet.Forwarded(r.frames, now-r.at)
	r.frames = 0
}

// count counts the exchanges whose answers were just handed to the client's socket.
func (c *conn) count(list []Exchange, now int64) {
	s, run := c.sheet, &c.down.run
	for i := range list {
		x := &list[i]
		run.Add(s, x.Opcode, now-x.Start, x.RequestBytes, x.ResponseBytes)
		if x.Failed {
			s.Fail(x.ErrorCode)
		}
	}
	run.Flush(s)
	c.active.Store(now)
	if r := &c.down.reading; r.frames > 0 {
		s.Returned(r.frames, now-r.at)
		r.frames = 0
	}
}

// countOwn counts one request that Cassandra did not answer: the Rewriter did, or it took too long.
func (c *conn) countOwn(x *Exchange) {
	var run ledger.Run
	run.Add(c.sheet, x.Opcode, x.End-x.Start, x.RequestBytes, x.ResponseBytes)
	run.Flush(c.sheet)
	if x.Rewritten {
		c.sheet.Rewrite()
	}
	if x.Failed {
		c.sheet.Fail(x.ErrorCode)
	}
	c.active.Store(x.End)
}

// inFlight counts the requests in flight.
func (c *conn) inFlight() (n int) {
	c.streams.Each(func(_ int16, t *slot) {
		if t.Status() != inflight.Free {
			n++
		}
	})
	return n
}

// place is where connections of the gate are counted until they have a node.
func (g *gate) place() ledger.Place {
	node, listen := g.name()
	return ledger.Place{Listen: listen, Node: cmp.Or(node, ledger.Any)}
}

// arrive notes which node the connection reached.
func (c *conn) arrive(back net.Conn) {
	node := back.RemoteAddr().String()
	c.amend(func(n *Client) { n.Node = node })
	c.sheet.Move(ledger.Place{Listen: c.gate.listener.Addr().String(), Node: node})
}

// amend changes what is known of the client. Records may hold what was known before, so it is replaced. Until Cassandra has let it in it has no mark: those are few, and nobody is to
// use them up who may not come in.
func (c *conn) amend(change func(*Client)) {
	for {
		before := c.client.Load()
		n := *before
		change(&n)
		if r := c.server.options.Recorder; r != nil && c.authenticated.Load() {
			n.Mark = r.Mark(&n)
		}
		if c.client.CompareAndSwap(before, &n) {
			return
		}
	}
}

// because notes why a pipe's end ends the connection: the one that was read from, or the one that was written to. An end
// that this process closed says nothing: who closed it did.
func (c *conn) because(err error, read, written ledger.End) {
	e := (*net.OpError)(nil)
	switch {
	case errors.Is(err, net.ErrClosed):
		return
	case errors.As(err, &e) && e.Timeout():
		read = ledger.Stalled
	case writing(err):
		read = written
	}
	c.sheet.Because(read)
}

// becauseGivenUp is because for a writer that failed.
func (c *conn) becauseGivenUp(err error) {
	side := ledger.Client
	if e := (*net.OpError)(nil); !errors.As(err, &e) {
		side = ledger.Stalled // too much waits
	} else if e.Addr != nil && e.Addr.String() == c.back.RemoteAddr().String() {
		side = ledger.Cassandra
	}
	c.because(err, side, side)
}

// writing tells whether an error comes of writing to a socket, not of reading from one.
func writing(err error) bool {
	e := (*net.OpError)(nil)
	return errors.As(err, &e) && e.Op == "write"
}

// endSheet is the last that is counted. Nobody but a server that stops closes a connection without saying why.
func (c *conn) endSheet() {
	c.sheet.Because(ledger.Drained)
	c.sheet.Close()
}
