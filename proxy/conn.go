package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/limit"
	"github.com/helenus-db/helenus/proxy/login"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/tcp"
	"github.com/helenus-db/helenus/proxy/wire"
)

// maxUnauthenticated is the longest request body before the handshake is over, bytes.
const maxUnauthenticated = 64 << 10

// farewell is how long a connection that is given up may take to receive the error that says why, and one whose client went
// until Cassandra has what it sent.
const farewell = time.Second

// conn is one client connection and its upstream connection.
type conn struct {
	server  *Server
	gate    *gate
	client  atomic.Pointer[Client] // replaced when STARTUP and AUTHENTICATE are seen
	guest   *limit.Guest           // its share of what the client's address may have
	front   net.Conn               // to the client
	back    net.Conn               // to Cassandra
	mode    atomic.Int32           // a pipe.Mode: what the client speaks
	backing atomic.Int32           // what Cassandra speaks: the same, or without the client's compression
	streams streams

	sheet  *ledger.Sheet
	active atomic.Int64 // when requests or answers were last sent on
	since  time.Time
	login  login.Login

	keyspace      atomic.Pointer[string] // in use; nil for none
	using         using
	authenticated atomic.Bool
	closing       sync.Once     // of both sockets
	closed        atomic.Bool   // both are: nothing more is sent
	forsaken      atomic.Bool   // the client takes no answers: its socket is closed, and soon the other
	leaving       atomic.Bool   // it is being drained: requests are refused
	registered    atomic.Uint32 // what events about nodes the client wants, as Cassandra has answered
	opaqueEnded   func()        // set by the downward goroutine

	spares  spares
	orphans orphans
	asks    *asks        // set by the upward goroutine; nil until a read is taken that may need it
	held    atomic.Int64 // bytes of requests that the Rewriter has taken and not yet dealt with

	up struct {
		out         *pipe.Writer
		records     []Record
		reading     reading
		view        wire.View // of the request that is dealt with
		children    []said    // of the BATCH that is dealt with
		recent      *[recents]use
		compression string // the last STARTUP asked for; "" if for none
		long        judgement
		asked       int64 // when the Recorder was asked last whether values are sampled
		sampling    bool  // what it said
	}
	down struct {
		out *pipe.Writer
		*completions
		reading reading
		run     ledger.Run
	}
}

func (s *Server) newConn(g *gate, front net.Conn, guest *limit.Guest) *conn {
	c := &conn{server: s, gate: g, front: front, guest: guest,
		sheet: s.ledger.Open(g.place()), since: time.Now()}
	c.active.Store(s.now())
	c.client.Store(&Client{})
	c.amend(func(n *Client) { n.ID, n.Address = s.lastID.Add(1), front.RemoteAddr().String() })
	return c
}

func (c *conn) currentKeyspace() string {
	if k := c.keyspace.Load(); k != nil {
		return *k
	}
	return ""
}

func (c *conn) frameLimit() int {
	if c.authenticated.Load() {
		return c.server.options.MaxFrame
	}
	return min(maxUnauthenticated, c.server.options.MaxFrame)
}

// run relays until the connection ends, and returns why.
func (c *conn) run(ctx context.Context) error {
	begun := time.Now()
	if err := c.secure(); err != nil {
		c.front.Close()
		return err
	}
	back, err := c.gate.dial(ctx)
	if err != nil {
		c.sheet.Because(ledger.Unreachable)
		_ = tcp.Reset(c.front) // the Node.js driver waits out its timeout when a connection ends in good order before STARTUP is answered
		return err
	}
	c.back = back
	c.arrive(back)
	c.up.out = pipe.NewWriter(c.back, c.giveUp)
	c.down.out = pipe.NewWriter(c.front, c.forsake)
	if !c.server.adopt(c) {
		c.sheet.Because(ledger.Drained)
		c.close()
		return net.ErrClosed
	}
	defer c.server.forget(c)
	if c.astray() { // the gate got, or lost, its node while this connection was made: nobody else ends it
		c.close()
		return net.ErrClosed
	}
	hurry := time.AfterFunc(c.server.options.HandshakeTimeout-time.Since(begun), func() {
		if !c.authenticated.Load() {
			c.sheet.Because(ledger.Unfinished)
			c.close()
		}
	})
	defer hurry.Stop()

	upEnded := make(chan error, 1)
	guard.Go(guard.Relay, func() {
		up := pipe.Pipe{Source: c.front, Out: c.up.out, Handler: upward{c}, Mode: &c.mode, Now: c.server.now}
		err := guard.Do(guard.Relay, up.Run)
		c.explain(err)
		c.because(err, ledger.Client, ledger.Cassandra)
		c.leave()
		upEnded <- err
	}, nil)
	down := pipe.Pipe{Source: c.back, Out: c.down.out, Handler: downward{c}, Mode: &c.backing, Now: c.server.now}
	err = guard.Do(guard.Relay, down.Run)
	c.because(err, ledger.Cassandra, ledger.Client)
	switch {
	case errors.Is(err, net.ErrClosed): // who closed it sees to the rest
	case writing(err):
		c.forsake(err)
	default: // Cassandra ended it: what others still have for the client goes out first
		_ = c.front.SetWriteDeadline(time.Now().Add(farewell))
		c.down.out.Settle()
		c.close()
	}
	upErr := <-upEnded
	c.up.out.Settle()
	c.down.out.Settle()
	c.end()
	var refused *protocolError
	if errors.As(upErr, &refused) {
		return upErr
	}
	if errors.Is(err, net.ErrClosed) {
		return upErr
	}
	return err
}

// explain tells the client why its connection is closed, if the fault is in what it sent, and waits a little for it to
// hear.
func (c *conn) explain(err error) {
	var e *protocolError
	var undecodable *pipe.Undecodable
	switch {
	case errors.As(err, &e):
	case errors.As(err, &undecodable):
		e = &protocolError{version: undecodable.Header.Version, stream: undecodable.Header.Stream, code: wire.ErrProtocol,
			message: err.Error(), reason: ledger.Compression}
	case errors.Is(err, compress.ErrBroken):
		e = damaged(err, ledger.Compression)
	case errors.Is(err, wire.ErrHeaderCRC):
		e = damaged(err, ledger.HeaderCRC)
	case errors.Is(err, wire.ErrPayloadCRC):
		e = damaged(err, ledger.PayloadCRC)
	case errors.Is(err, pipe.ErrContent):
		e = damaged(err, ledger.Content)
	default:
		return
	}
	c.sheet.Because(ledger.Malformed)
	c.sheet.Frame(e.reason)
	_ = c.front.SetDeadline(time.Now().Add(farewell))
	h := wire.Header{Version: e.version | wire.ResponseBit, Flags: e.flags, Stream: e.stream, Opcode: wire.OpError}
	c.down.out.Send(wire.AppendFrame(nil, h, wire.AppendError(nil, e.code, e.message)))
	c.down.out.Settle()
	hearOut(c.front)
}

// hearOut reads what a peer that was told goodbye still sends, until its deadline.
func hearOut(front net.Conn) {
	if t, ok := front.(interface{ CloseWrite() error }); ok && t.CloseWrite() == nil {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{front}, make([]byte, 4<<10))
	}
}

func damaged(err error, reason ledger.Frame) *protocolError {
	return &protocolError{version: wire.MaxVersion, code: wire.ErrProtocol, message: err.Error(), reason: reason}
}

// giveUp closes the connection, from Cassandra's writer that failed or because nothing is answered.
func (c *conn) giveUp(err error) {
	c.becauseGivenUp(err)
	c.server.log.Debug("client connection given up", "client", c.client.Load().Address, "error", err)
	c.close()
}

// forsake closes the client's socket, to which nothing can be written. Who reads from it is done with what came, and leaves
// then; if Cassandra does not take that, nobody waits for long.
func (c *conn) forsake(err error) {
	if c.forsaken.Swap(true) {
		return
	}
	c.becauseGivenUp(err)
	c.server.log.Debug("client does not take its answers", "client", c.client.Load().Address, "error", err)
	time.AfterFunc(2*farewell, c.close)
	c.front.Close()
}

// leave ends a connection whose client went, from the goroutine that read from it. What it had sent goes to Cassandra first, as it would without us, though the
// Rewriter held it: a client that sends a write and goes has its write. A little later all is closed.
func (c *conn) leave() {
	c.front.Close()
	for until := time.Now().Add(farewell); c.held.Load() > 0 && !c.closed.Load() && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if !c.closed.Load() {
		_ = c.back.SetWriteDeadline(time.Now().Add(farewell))
		c.up.out.Settle()
	}
	c.close()
}

// close ends both sockets; the goroutines that read from them then end. closed comes after: who sees it (Barrier) may rely
// on it that no request is sent any more.
//
// To close a socket takes until who reads from it is done with what came (tcp.Follow), and he may be waiting for the other socket: both are
// closed at once. Who is called by a pipe would wait for himself.
func (c *conn) close() {
	c.closing.Do(func() {
		ended := make(chan struct{})
		guard.Go(guard.Relay, func() {
			defer close(ended)
			c.back.Close()
		}, nil)
		c.front.Close()
		<-ended
		c.closed.Store(true)
	})
}

// over tells that what is in flight is not waited for: the connection is closed, or it can not be read and nobody will
// see the answers to what was asked before it became so.
func (c *conn) over() bool { return c.closed.Load() || c.mode.Load() == pipe.Opaque }

// end settles what the connection's end leaves: forwarded requests that got no answer are lost.
func (c *conn) end() {
	c.streams.Each(func(_ int16, t *slot) {
		if !t.Occupied() {
			return
		}
		if k := t.taken.Load(); k != nil {
			k.lost()
		}
		c.orphans.Lock() // the sweeper may be at it
		defer c.orphans.Unlock()
		if t.Status() == inflight.Busy && t.stream == nobody {
			t.extra.abandon(errEnded)
		}
	})
	for i := range c.down.completions.list() {
		if f := &c.down.finished[i]; f.told != nil { // answered by Cassandra, but the client could not be told
			c.server.finish(f.told.done, f.told.reply)
		}
	}
	if c.opaqueEnded != nil {
		c.opaqueEnded()
	}
}

// quiet tells whether nothing is in flight that a client waits for.
func (c *conn) quiet() bool {
	quiet := true
	c.streams.Each(func(_ int16, t *slot) {
		if s := t.Status(); s == inflight.Busy || s == inflight.Answered {
			quiet = false
		}
	})
	return quiet
}
