package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Whoever took a read may ask Cassandra something itself on the client's own upstream connection (Request.Ask), and so with the
// rights that Cassandra gives to the client's role, and nobody else. Such requests travel under stream ids of their own below the
// aliases (streams.go); a connection that never needs them has none. A client that uses one of these ids itself travels under an alias.
//
//	from   to      by
//	free   taken   who asks, from any goroutine: it alone writes the slot until the slot is busy
//	taken  free    the downward goroutine with the answer, also a late one
//
// One that is not answered in time is answered by the sweeper as any other; its id is free again when the late answer came. An answer
// that is longer than Options.MaxFrame is dropped as it comes.
const (
	maxAsks = 64
	askFrom = aliasFrom - maxAsks
	// maxAsked is the longest request, bytes: together they stay below what may wait for a socket (pipe).
	maxAsked = 256 << 10
	// maxCarried bounds the texts of which a connection remembers when they were carried out.
	maxCarried = 1000
)

// isAsk tells whether a stream id is one of those that are for asking.
func isAsk(stream int16) bool { return stream >= askFrom && stream < aliasFrom }

var (
	errNoAsking  = errors.New("nothing can be asked on the client's connection")
	errEnded     = errors.New("the client's connection ended")
	errLate      = errors.New("Cassandra did not answer in time on the client's connection")                    //nolint:revive,staticcheck // a name
	errTooLong   = errors.New("an answer on the client's connection is longer than the longest frame")          //nolint:revive,staticcheck // a name
	errLongAsked = errors.New("a statement with its values is too long to be asked on the client's connection") //nolint:revive,staticcheck // a name
)

// asks are those of one connection.
type asks struct {
	free chan int16 // stream ids

	mu      sync.Mutex
	carried map[string]int64 // when a text was last sent that Cassandra carried out
}

// asked is one that is under way.
type asked struct {
	by     *asks
	answer chan reply // has room
}

// reply is what came of it.
type reply struct {
	opcode byte
	body   []byte // from the message's first field on
	err    error
}

func (a *asked) end(h reply) {
	select {
	case a.answer <- h:
	default: // it was ended before
	}
}

// lend keeps the stream ids for asking free of the client's requests from now on. It runs on the upward goroutine.
func (c *conn) lend() {
	if c.asks != nil {
		return
	}
	a := &asks{free: make(chan int16, maxAsks), carried: map[string]int64{}}
	for id := int16(askFrom); id < aliasFrom; id++ {
		if c.streams.Make(id).Status() == inflight.Free { // else the client has it, which costs one of them
			a.free <- id
		}
	}
	c.streams.lent, c.asks = true, a
}

// ask sends a request of ours and waits for the answer.
func (c *conn) ask(ctx context.Context, opcode byte, frame func(stream int16) ([]byte, error)) (reply, error) {
	by := c.asks
	if by == nil {
		return reply{}, errNoAsking
	}
	var id int16
	select {
	case id = <-by.free:
	case <-ctx.Done():
		return reply{}, fmt.Errorf("wait for a stream of the client's connection: %w", context.Cause(ctx))
	}
	b, err := frame(id)
	if err == nil && len(b) > maxAsked {
		err = errLongAsked
	}
	if err != nil {
		by.free <- id
		return reply{}, err
	}
	a := &asked{by: by, answer: make(chan reply, 1)}
	t, e := c.streams.At(id), c.spares.take()
	e.asked = a
	t.pending = pending{start: c.server.now(), stream: nobody, id: id, opcode: opcode, extra: e}
	t.claim()
	// Whoever ends the connection after this sees a busy slot; who ended it before has closed it.
	if c.closed.Load() {
		return reply{}, errEnded
	}
	c.up.out.Send(b)
	select {
	case h := <-a.answer:
		return h, h.err
	case <-ctx.Done():
		return reply{}, fmt.Errorf("ask on the client's connection: %w", context.Cause(ctx))
	}
}

// onAsked hands the answer to who asked.
func (c *conn) onAsked(h wire.Header, body []byte, complete bool, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	if !complete && h.Length <= c.server.options.MaxFrame {
		return pipe.Whole, nil, nil
	}
	word, ok := t.Answer()
	if !ok {
		return c.late(h, body, complete, t)
	}
	a, said := p.extra.asked, reply{opcode: h.Opcode, err: errTooLong}
	if complete {
		r := wire.NewReader(body)
		r.SkipResponsePrefix(h.Flags)
		said.body, said.err = bytes.Clone(r.Rest()), nil
	}
	c.spares.give(p.extra)
	t.Release(word)
	a.by.free <- p.id
	a.end(said)
	return pipe.Drop, nil, nil
}

// giveBack makes a stream id free again whose late answer came.
func (c *conn) giveBack(id int16) {
	if isAsk(id) { // else there may be none yet, and the upward goroutine making them
		c.asks.free <- id
	}
}

// described are statements of ours as the nodes have prepared them.
type described struct {
	mu    sync.RWMutex
	byKey map[describedKey]*Prepared
}

type describedKey struct {
	node    string
	version byte
	text    string
}

func (d *described) get(k describedKey) *Prepared {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byKey[k]
}

func (d *described) put(k describedKey, p *Prepared) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil || len(d.byKey) >= maxReplacements {
		d.byKey = make(map[describedKey]*Prepared)
	}
	d.byKey[k] = p
}

func (d *described) forget(k describedKey, p *Prepared) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey[k] == p {
		delete(d.byKey, k)
	}
}

// Describe implements Asker.
func (k *taken) Describe(ctx context.Context, text string) (*Prepared, error) {
	_, p, err := k.conn.describe(ctx, text)
	return p, err
}

// Outdated implements Asker.
func (k *taken) Outdated(p *Prepared) {
	who := k.conn.client.Load()
	k.conn.server.described.forget(describedKey{node: who.Node, version: who.Version, text: p.Text}, p)
}

func (c *conn) describe(ctx context.Context, text string) (describedKey, *Prepared, error) {
	who := c.client.Load()
	key := describedKey{node: who.Node, version: who.Version, text: text}
	if p := c.server.described.get(key); p != nil {
		return key, p, nil
	}
	h, err := c.ask(ctx, wire.OpPrepare, func(stream int16) ([]byte, error) {
		if len(text) > maxAsked {
			return nil, errLongAsked
		}
		return message.Append(nil, key.version, stream, message.Prepare(Ours(text), "")), nil
	})
	if err != nil {
		return key, nil, err
	}
	r := wire.NewReader(h.body)
	if h.opcode == wire.OpError {
		return key, nil, refusedBy(&r)
	}
	p := &Prepared{Text: text, Version: key.version}
	if h.opcode != wire.OpResult || r.Int() != wire.ResultPrepared || !p.Read(&r) || r.Bad() {
		return key, nil, fmt.Errorf("Cassandra's answer to a PREPARE can not be read (opcode %#x)", h.opcode) //nolint:revive,staticcheck // a name
	}
	c.server.described.put(key, p)
	return key, p, nil
}

// refusedBy reads an ERROR.
func refusedBy(r *wire.Reader) error {
	e := &Refused{Code: r.Int()}
	e.Text = string(r.String())
	return e
}

// Ask implements Asker.
func (k *taken) Ask(ctx context.Context, q Own) (*Prepared, []byte, error) {
	c := k.conn
	for again := false; ; again = true {
		key, p, err := c.describe(ctx, q.Text)
		if err != nil {
			return nil, nil, err
		}
		began := c.server.now()
		h, err := c.ask(ctx, wire.OpExecute, func(stream int16) ([]byte, error) {
			b := wire.AppendExecute(wire.AppendHeader(nil, wire.Header{Version: key.version, Stream: stream, Opcode: wire.OpExecute}),
				key.version, p.ID, p.ResultMetadataID, q.Consistency, !q.Metadata, q.Values)
			wire.SetLength(b, 0)
			return b, nil
		})
		if err != nil {
			return nil, nil, err
		}
		if h.opcode != wire.OpError {
			k.carriedOut(q.Text, began)
			return p, h.body, nil
		}
		r := wire.NewReader(h.body)
		err = refusedBy(&r)
		var e *Refused
		if errors.As(err, &e) && e.Code == wire.ErrUnprepared && !again { // the node forgot it
			c.server.described.forget(key, p)
			continue
		}
		return nil, nil, err
	}
}

// carriedOut remembers that Cassandra has carried a text out that was sent at a time.
func (k *taken) carriedOut(text string, sent int64) {
	a := k.conn.asks
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.carried) >= maxCarried {
		clear(a.carried)
	}
	a.carried[text] = max(a.carried[text], sent)
}

// Lately implements Asker.
func (k *taken) Lately(text string) (ago int64, ok bool) {
	a := k.conn.asks
	if a == nil {
		return 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	sent, ok := a.carried[text]
	return k.conn.server.now() - sent, ok
}
