package main

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// shape is a load: what is asked, on how many connections, and how many requests each keeps in flight.
type shape struct {
	version               byte
	connections, inFlight int
	large                 bool
	lz4                   bool     // version 5 with compression
	tls                   *secured // nil: in the clear
}

func (s shape) text() string {
	if s.large {
		return largeText
	}
	return smallText
}

func (s shape) answer() int {
	if s.large {
		return len(largeAnswer)
	}
	return len(smallAnswer)
}

// client keeps a window of requests in flight on one connection. It does not allocate.
type client struct {
	shape
	conn    net.Conn
	framing framing
	request []byte // one, on stream 0
	frames  []byte // to be asked
	out     []byte
	in      inbox
	sent    []int64 // when, by stream, nanoseconds since begun
	took    []int32 // nanoseconds until each answer
	begun   time.Time
}

func (s shape) connect(address string) (*proxytest.Client, error) {
	if s.tls != nil {
		return proxytest.DialTLS(address, s.version, s.tls.client)
	}
	return proxytest.Dial(address, s.version)
}

// dial connects and prepares.
func dial(address string, s shape) (*client, error) {
	var options []string
	f := framing{}
	if s.version == 5 {
		f.form = wire.PlainSegments
	}
	if s.lz4 {
		f.form, options = wire.LZ4Segments, []string{"COMPRESSION", "lz4"}
	}
	c, err := s.connect(address)
	if err != nil {
		return nil, err
	}
	if err := c.Startup(options...); err != nil {
		c.Close()
		return nil, err
	}
	h, body, err := c.Call(wire.OpPrepare, proxytest.PrepareBody(s.version, s.text()))
	if err == nil && h.Opcode != wire.OpResult {
		err = fmt.Errorf("PREPARE was answered %+v %q", h, body)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	_ = c.Conn.SetDeadline(time.Time{})
	return &client{shape: s, conn: c.Conn, framing: f, sent: make([]int64, s.inFlight),
		request: c.Frame(0, wire.OpExecute, 0, proxytest.ExecuteBody(s.version, proxytest.PreparedID(s.text()), make([]byte, 16)))}, nil
}

// ask adds a request.
func (c *client) ask(stream int16) {
	at := len(c.frames)
	c.frames = append(c.frames, c.request...)
	c.frames[at+2], c.frames[at+3] = byte(uint16(stream)>>8), byte(stream)
}

// flush sends what was asked; a segment for each, as drivers do that do not wait for more.
func (c *client) flush() error {
	if len(c.frames) == 0 {
		return nil
	}
	c.out = c.out[:0]
	now := int64(time.Since(c.begun))
	for b := c.frames; len(b) > 0; b = b[len(c.request):] {
		c.out = c.framing.wrap(c.out, b[:len(c.request)])
		c.sent[int(b[2])<<8|int(b[3])] = now
	}
	c.frames = c.frames[:0]
	_, err := c.conn.Write(c.out)
	return err
}

// run asks n times and sees that each is answered by rows.
func (c *client) run(n int) error {
	c.begun, c.took = time.Now(), c.took[:0]
	asked := min(n, c.inFlight)
	for i := range asked {
		c.ask(int16(i))
	}
	for len(c.took) < n {
		if err := c.flush(); err != nil {
			return err
		}
		k, err := c.conn.Read(c.in.space())
		if err != nil {
			return err
		}
		c.in.end += k
		now := int64(time.Since(c.begun))
		for {
			frames, err := c.in.next(&c.framing)
			if err != nil {
				return err
			}
			if frames == nil {
				break
			}
			for len(frames) > 0 {
				h := wire.ParseHeader(frames)
				if h.Opcode != wire.OpResult || h.Length != c.answer() {
					return fmt.Errorf("answered %+v %q", h, frames[wire.HeaderSize:min(len(frames), 200)])
				}
				frames = frames[wire.HeaderSize+h.Length:]
				c.took = append(c.took, int32(now-c.sent[h.Stream]))
				if asked < n {
					c.ask(h.Stream)
					asked++
				}
			}
		}
	}
	return nil
}

// fleet is the clients of one load before one address.
type fleet []*client

func connect(address string, s shape) (fleet, error) {
	var f fleet
	for range s.connections {
		c, err := dial(address, s)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("connection %d of %d: %w", len(f)+1, s.connections, err)
		}
		f = append(f, c)
	}
	return f, nil
}

func (f fleet) close() {
	for _, c := range f {
		c.conn.Close()
	}
}

// run sends n requests, shared among the clients, and returns how long each took, sorted.
func (f fleet) run(n int) ([]int32, error) {
	errs := make([]error, len(f))
	var work sync.WaitGroup
	for i, c := range f {
		work.Go(func() { errs[i] = c.run(n / len(f)) })
	}
	work.Wait()
	var took []int32
	for i, c := range f {
		if errs[i] != nil {
			return nil, errs[i]
		}
		took = append(took, c.took...)
	}
	slices.Sort(took)
	return took, nil
}

// quantile of sorted times, microseconds.
func quantile(sorted []int32, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]) / 1000
}
