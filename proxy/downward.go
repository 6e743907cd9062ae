package proxy

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helenus-db/helenus/proxy/handshake"
	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// downward handles the answers of one connection, Cassandra to client.
type downward struct{ *conn }

// finished is a request whose answer is about to be written; it is counted after, by its Exchange, which lies at the same
// place of a list of its own.
type finished struct {
	slot   *slot
	word   uint64
	record Record
	extra  *extra
	told   *told // if somebody wants to hear of the answer
}

// completions are the requests that what one read brought answers, to be counted once that is written. A connection that waits has none.
type completions struct {
	finished  []finished
	exchanges []Exchange
}

var completionLists = sync.Pool{New: func() any { return new(completions) }}

// keptCompletions is how many answers a list has room for when nobody uses it.
const keptCompletions = 1 << 10

func (a *completions) list() []finished {
	if a == nil {
		return nil
	}
	return a.finished
}

// alone tells whether the exchange can not be counted together with others of its statement.
func (f *finished) alone() bool { return f.record == nil || f.extra != nil }

// told is what a taken request's Done is called with.
type told struct {
	done  func(Response)
	reply Response
}

func (d downward) Admit(h wire.Header) error {
	if h.Version&wire.ResponseBit == 0 {
		return fmt.Errorf("Cassandra sent a frame that is not a response (version byte %#x)", h.Version) //nolint:revive,staticcheck // a name
	}
	return nil
}

// judge deals with one answer.
func (d downward) judge(h wire.Header, body []byte, complete bool, _ int64) (pipe.Verdict, []byte, error) {
	c := d.conn
	if h.Stream < 0 {
		if h.Opcode == wire.OpEvent && complete {
			return c.onEvent(h, body)
		}
		return pipe.Pass, nil, nil
	}
	t := c.streams.At(h.Stream)
	switch status(t) {
	case inflight.Busy:
	case inflight.Orphaned:
		return c.late(h, body, complete, t)
	default:
		return pipe.Pass, nil, c.unasked(h, body)
	}
	k := t.taken.Load()
	if k != nil && !k.sent() {
		return pipe.Pass, nil, fmt.Errorf("an answer came on stream %d to a request that was not sent", h.Stream)
	}
	p := t.pending
	if p.stream == nobody {
		return c.onOwnAnswer(h, body, complete, t, &p)
	}
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	from := r.Offset()
	var code, kind int32
	switch h.Opcode {
	case wire.OpError:
		code = r.Int()
	case wire.OpResult:
		kind = r.Int()
	}
	if !complete {
		whole := p.stream != h.Stream || (h.Opcode == wire.OpResult && (r.Bad() || kind == wire.ResultPrepared || kind == wire.ResultSchemaChange || p.system != nil)) ||
			(h.Opcode == wire.OpError && p.swapped)
		switch {
		case whole && h.Length <= c.server.options.MaxFrame:
			return pipe.Whole, nil, nil
		case p.stream != h.Stream:
			return pipe.Pass, nil, c.tooLong(h)
		}
	}
	// From here on the request is ours to end: the sweeper does not any more.
	word, ok := t.Answer()
	if !ok {
		return c.late(h, body, complete, t)
	}
	f, x := c.finishing()
	f.slot, f.word, f.record, f.extra = t, word, p.record, p.extra
	x.Client, x.Prepared, x.Opcode, x.Start, x.RequestBytes = c.client.Load(), p.prepared, p.opcode, p.start, int(p.bytes)
	x.ResponseBytes, x.Consistency, x.Rows, x.Paged, x.Serial = h.Length, p.consistency, -1, p.paged, p.serial
	x.SerialConsistency, x.Hash, x.Stamped = p.serialConsistency, p.hash, p.stamped
	if x.Warned = h.Flags&wire.FlagWarnings != 0; x.Warned {
		x.Warnings = wire.Warnings(h.Flags, body)
	}
	rows := false
	verdict, instead := pipe.Pass, []byte(nil)
	switch h.Opcode {
	case wire.OpError:
		x.Failed, x.ErrorCode = true, code
		if code == wire.ErrUnprepared && p.swapped && complete {
			verdict, instead = forgotten(h, body, p.extra.swaps)
		}
	case wire.OpResult:
		switch kind {
		case wire.ResultRows:
			rows = true
			n := wire.CountKnownRows(&r, p.metadata())
			x.MorePages, x.Rows, x.Applied = n.More, n.Rows, n.Applied
			if p.system != nil && complete {
				verdict, instead = c.rewriteTopology(h, body, from, &p)
			}
		case wire.ResultPrepared:
			c.learnPrepared(&r, &p)
		case wire.ResultSetKeyspace:
			c.follow(&r)
		case wire.ResultSchemaChange:
			if c.server.options.Topology != Mirror && complete && c.holdBack(p.stream, h, body) {
				verdict = pipe.Drop
			}
		}
	case wire.OpSupported:
		if complete && c.server.options.StripCompression {
			if instead = handshake.StripSupported(h, body, from); instead != nil {
				verdict = pipe.Replace
			}
		}
	case wire.OpReady, wire.OpAuthenticate, wire.OpAuthSuccess:
		c.greeted(h, &p)
	}
	if p.uses {
		c.using.ended.Add(1)
	}
	c.keep(f, x, k, h, body[from:], rows, complete)
	c.down.finished = c.down.finished[:len(c.down.finished)+1]
	c.down.exchanges = c.down.exchanges[:len(c.down.finished)]
	verdict, instead = underStream(p.stream, h, body, verdict, instead)
	return verdict, instead, nil
}

// follow notes the keyspace that a USE's answer names: as it is, without quotes.
func (c *conn) follow(r *wire.Reader) {
	if k := string(r.String()); !r.Bad() {
		c.keyspace.Store(&k)
	}
}

// late drops the answer to a request that the sweeper has answered. What it says of the connection, and to whoever took the
// request, is true all the same.
func (c *conn) late(h wire.Header, body []byte, complete bool, t *slot) (pipe.Verdict, []byte, error) {
	own := t.stream == nobody
	tooLong := h.Length > c.server.options.MaxFrame
	switch {
	case complete, own && tooLong:
	case tooLong:
		return pipe.Pass, nil, c.tooLong(h)
	default:
		return pipe.Whole, nil, nil
	}
	c.server.stats.late.Add(1)
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	from := r.Offset()
	var f finished
	var x Exchange
	switch h.Opcode {
	case wire.OpError:
		x.Failed, x.ErrorCode = true, r.Int()
	case wire.OpResult:
		if r.Int() == wire.ResultSetKeyspace {
			c.follow(&r)
		}
	}
	if t.uses {
		c.using.ended.Add(1)
	}
	if k := t.taken.Load(); k != nil {
		if c.keep(&f, &x, k, h, body[from:], false, complete); f.told != nil {
			c.server.finish(f.told.done, f.told.reply)
		}
	}
	c.reunite(t) // Barrier waits for the Done
	if own {
		c.giveBack(h.Stream)
	}
	return pipe.Drop, nil, nil
}

// unasked deals with an answer on a stream on which nothing is in flight. It is passed on: the client may know more than
// we do. But Cassandra answers some requests that it can not read on stream 0, whatever their own was: then one of those
// in flight will never be answered, and nobody can tell which, so the connection is closed after the client was told.
func (c *conn) unasked(h wire.Header, body []byte) error {
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	if h.Opcode == wire.OpError && r.Int() == wire.ErrProtocol && !c.quiet() {
		c.down.out.Send(wire.AppendFrame(nil, h, body))
		return errors.New("Cassandra could not read a request") //nolint:revive,staticcheck // a name
	}
	return nil
}

// finishing returns the next of the finished, to be filled in place, as it is long, and counted in at the end. Who returns
// before sets nothing but what is always set.
func (c *conn) finishing() (*finished, *Exchange) {
	if c.down.completions == nil {
		c.down.completions = completionLists.Get().(*completions)
	}
	n := len(c.down.finished)
	if n == cap(c.down.finished) {
		c.down.finished = append(c.down.finished, finished{})[:n]
		c.down.exchanges = slices.Grow(c.down.exchanges, cap(c.down.finished)-n)
	}
	return &c.down.finished[:n+1][n], &c.down.exchanges[:n+1][n]
}

// keep copies the beginning of the answer for those who want to see it after it was written.
func (c *conn) keep(f *finished, x *Exchange, k *taken, h wire.Header, message []byte, rows, complete bool) {
	if f.extra == nil && k == nil {
		return
	}
	message, cut := message[:min(len(message), maxSampled)], !complete || len(message) > maxSampled
	if f.extra != nil && f.extra.sample != nil {
		s := f.extra.sample
		x.Values = s.values
		if rows && len(message) > 4 {
			s.response = append(s.response[:0], message[4:]...)
			x.Response = s.response
		}
	}
	if k != nil {
		if done := k.answered(); done != nil {
			f.told = &told{done, Response{Opcode: h.Opcode, Failed: x.Failed, ErrorCode: x.ErrorCode,
				Body: append([]byte(nil), message...), Truncated: cut}}
		}
	}
}

// Written counts the exchanges whose answers were just handed to the client's socket.
func (d downward) Written() {
	c := d.conn
	list := c.down.completions.list()
	if len(list) == 0 {
		return
	}
	now, all := c.server.now(), c.down.exchanges
	for i := range all {
		all[i].End = now
	}
	c.count(all, now)
	for i := 0; i < len(list); {
		first, from := &list[i], i
		i++
		if first.alone() {
			c.record(first.record, first.extra, all[from:i])
			continue
		}
		for i < len(list) && !list[i].alone() && (all[i].Prepared == all[from].Prepared && all[i].Prepared != nil || list[i].record == first.record) {
			i++
		}
		c.record(first.record, nil, all[from:i])
	}
	for i := range list {
		f := &list[i]
		if f.told != nil {
			c.server.finish(f.told.done, f.told.reply)
		}
		f.slot.Release(f.word) // Barrier waits for the Done
		c.spares.give(f.extra)
	}
	clear(list)
	clear(all)
	if a := c.down.completions; cap(list) <= keptCompletions {
		a.finished, a.exchanges = list[:0], all[:0]
		completionLists.Put(a)
	}
	c.down.completions = nil
}

// record tells who counts that exchanges of one statement are over. If there is more to say of one (e), it is alone.
func (c *conn) record(r Record, e *extra, xs []Exchange) {
	x := &xs[0]
	if r == nil || x.Opcode == wire.OpPrepare && !x.Failed {
		return // a statement that can not be prepared is never executed: this is all that is heard of it
	}
	if e != nil && e.trace.wanted {
		x.Trace = &e.trace
	}
	if x.Opcode == wire.OpBatch {
		x.Values, x.Response = nil, nil // its children's
		if e != nil {
			x.Children = len(e.children)
		}
	}
	recorded(r, xs)
	if e == nil || len(e.children) == 0 {
		return
	}
	x.InBatch, x.Trace = true, nil
	for _, child := range e.children {
		x.Prepared = child.prepared
		if e.sample != nil {
			x.Values = e.sample.values[child.from:child.to:child.to]
		}
		recorded(child.record, xs)
	}
}

// learnPrepared keeps what Cassandra answered to a PREPARE, before the client can use it.
func (c *conn) learnPrepared(r *wire.Reader, p *pending) {
	if p.extra == nil || p.extra.prepare == nil {
		return
	}
	known := p.extra.prepare
	if p.extra.inUse && p.extra.uses != c.using.sent.Load() { // a USE that came after it may have been carried out before
		return
	}
	if !known.Read(r) {
		return
	}
	c.server.prepared.Put(known)
	if p.record != nil {
		learned(p.record, known)
	}
}
