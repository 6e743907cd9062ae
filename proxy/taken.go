package proxy

import (
	"bytes"
	"math"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A taken request belongs to the Rewriter until it calls one of Forward, Answer, Fail. Its state says who ends it, so
// that its Done is called once and its slot answered once, whatever comes first: an answer, or the connection's end.
//
//	from       to         by
//	held       forwarded  Forward: the request goes to Cassandra
//	held       ended      Answer, Fail: the answer is queued; also the sweeper's, when it takes too long
//	forwarded  ended      the downward goroutine, with the answer; or the connection's end, Lost
const (
	held int32 = iota
	forwarded
	ended
)

// maxHeld bounds the bodies of a connection's requests that are held, in longest requests. Beyond it requests are
// refused: forwarding them would take them past the Rewriter, and waiting would let one client's flood fill the memory.
const maxHeld = 4

// taken is a request that the Rewriter took, and its Responder.
type taken struct {
	conn   *conn
	slot   *slot
	word   uint64 // of the slot's state while it holds this request and is busy
	id     int16  // Cassandra's stream id of the request
	header wire.Header
	body   []byte    // copy of the request's; nil once it is not held any more
	view   wire.View // of the copy
	change *change   // what the rules put in the place of its texts and ids; nil: nothing
	state  atomic.Int32
	done   func(Response)
}

// offer makes a Request of a claimed slot's frame and offers it to the Rewriter. say adds which statement it is.
func (c *conn) offer(h wire.Header, body []byte, t *slot, change *change, say func(*Request)) (pipe.Verdict, []byte, error) {
	if c.held.Load() > maxHeld*int64(c.server.options.MaxFrame)-int64(len(body)) {
		return pipe.Drop, nil, c.refuse(h, t, wire.ErrOverloaded, "too many requests of this connection wait for the proxy: send them more slowly", nil)
	}
	k := &taken{conn: c, slot: t, word: t.Word(), id: t.id, header: h, body: bytes.Clone(body), change: change}
	k.view = c.up.view.On(k.body)
	r := &Request{Client: c.client.Load(), Version: h.Version, Flags: h.Flags, Opcode: h.Opcode, Stream: h.Stream,
		Start: t.start, Responder: k}
	if !k.view.Whole() {
		return pipe.Pass, nil, nil
	}
	say(r)
	c.fillRequest(r, &k.view, k.body)
	if r.Opcode == wire.OpQuery || t.read && r.Client.User {
		c.lend()
	}
	t.taken.Store(k)
	c.held.Add(int64(len(body)))
	if !c.server.options.Rewriter.Take(r) {
		if !k.state.CompareAndSwap(held, ended) {
			return pipe.Drop, nil, nil // it took so long that the sweeper has answered
		}
		c.held.Add(-int64(len(body)))
		t.taken.Store(nil)
		return c.changed(h, change)
	}
	c.sheet.Take()
	return pipe.Drop, nil, nil
}

// fillRequest adds what the request's own body says. A BATCH's children are those that are dealt with.
func (c *conn) fillRequest(r *Request, v *wire.View, body []byte) {
	r.Consistency, r.SerialConsistency = v.Consistency, v.SerialConsistency
	r.SkipMetadata = v.Flags&wire.ParamSkipMetadata != 0
	r.PageSize, r.PagingState = v.PageSize, v.PagingState()
	r.HasTimestamp, r.Timestamp = v.Flags&wire.ParamTimestamp != 0, v.Timestamp
	r.HasNow, r.NowSeconds = v.Flags&wire.ParamNow != 0, v.NowSeconds
	r.Unusual = v.Unknown || v.Flags&(wire.ParamKeyspace|wire.ParamNow) != 0 || v.Flags&wire.ParamPageSize != 0 && v.PageSize == 0 ||
		r.HasTimestamp && v.Timestamp == math.MinInt64 || v.SerialConsistency != 0 && v.SerialConsistency != wire.Serial && v.SerialConsistency != wire.LocalSerial
	if r.Opcode == wire.OpBatch {
		r.BatchType, r.Children = v.Kind, make([]Child, v.Children())
		for i := range r.Children {
			s, n := &c.up.children[i], &r.Children[i]
			n.Values = appendValues(nil, &s.Child, body)
			n.Text = s.text
			if s.bound != nil {
				n.Prepared, n.Rule = s.prepared, s.rule
			}
			if n.Prepared != nil {
				n.Text = n.Prepared.Text
			}
		}
		return
	}
	r.Values = appendValues(nil, v, body)
	if r.Version >= 5 && r.Prepared != nil && len(r.Prepared.Results) > 0 && string(v.MetadataID()) != r.Prepared.ResultMetadataID {
		// The client knows other result columns than we do (the table was altered): only Cassandra can tell which.
		r.Unusual = true
	}
	if r.Prepared != nil && !r.Prepared.Alike(r.Version) { // what is known of its columns was said to a client of another version
		r.Unusual = true
	}
}

// forget lets go of the body.
func (k *taken) forget() { k.body, k.view = nil, wire.View{} }

// sent tells whether the request was sent to Cassandra.
func (k *taken) sent() bool { return k.state.Load() == forwarded }

// answered ends a forwarded request and returns its Done, nil if there is none, or if it was called.
func (k *taken) answered() func(Response) {
	if k.state.CompareAndSwap(forwarded, ended) {
		return k.done
	}
	return nil
}

// lost ends a request whose connection ended.
func (k *taken) lost() {
	if done := k.answered(); done != nil {
		k.conn.server.finish(done, Response{Lost: true})
	}
}

// Forward implements Responder.
func (k *taken) Forward(_ *Request, f Forward) {
	if k.state.Load() == held { // else it was ended by another: whose done it is stays
		k.done = f.Done
	}
	if !k.state.CompareAndSwap(held, forwarded) {
		if f.Done != nil { // the client was answered meanwhile; the request was not sent
			k.conn.server.finish(f.Done, Response{Lost: true})
		}
		return
	}
	c := k.conn
	body := k.body
	defer c.held.Add(-int64(len(body))) // when it is sent: a connection whose client went ends after that (leave)
	if k.change != nil {
		body = k.change.apply(nil, k.header.Opcode, &k.view)
	}
	// Whoever looks after this sees either a closed connection, or (conn.end) a forwarded request: one calls lost.
	if c.closed.Load() {
		k.lost()
		return
	}
	h := k.header
	h.Stream = k.id
	frame := wire.AppendFrame(make([]byte, 0, wire.HeaderSize+len(body)), h, body)
	k.forget()
	c.up.out.Send(frame)
}

// Answer implements Responder.
func (k *taken) Answer(r *Request, rows Rows) {
	p := r.Prepared
	if p == nil || p.ResultMetadata == nil {
		k.Fail(r, wire.ErrServer, "the proxy was asked to answer a statement whose result columns it does not know")
		return
	}
	for _, row := range rows {
		if len(row) != len(p.Results) { // would make the client misread all that follows
			k.Fail(r, wire.ErrServer, "the proxy was asked to answer with rows that do not have the statement's columns")
			return
		}
	}
	metadata := p.ResultMetadata
	if r.SkipMetadata {
		metadata = wire.AppendSkipped(nil, metadata, len(p.Results))
	}
	k.end(wire.OpResult, wire.AppendRows(nil, metadata, rows), Exchange{Rows: len(rows)})
}

// Fail implements Responder.
func (k *taken) Fail(_ *Request, code int32, message string) {
	k.end(wire.OpError, wire.AppendError(nil, code, message), Exchange{Rows: -1, Manner: Manner{Failed: true, ErrorCode: code}})
}

// end answers in Cassandra's place.
func (k *taken) end(opcode byte, body []byte, x Exchange) {
	if !k.state.CompareAndSwap(held, ended) {
		return
	}
	c, t := k.conn, k.slot
	c.held.Add(-int64(len(k.body)))
	k.forget()
	if c.closed.Load() {
		return // nobody is there to be answered; the slot died with the connection
	}
	p := t.pending
	word, ok := t.Answer()
	if !ok { // the sweeper was first, and nothing was sent that a late answer could come to
		c.reunite(t)
		return
	}
	c.down.out.Send(wire.AppendFrame(nil, wire.Header{Version: k.header.Version | wire.ResponseBit,
		Stream: k.header.Stream, Opcode: opcode}, body))
	t.Release(word)
	x.Client, x.Prepared, x.Opcode, x.Start, x.End = c.client.Load(), p.prepared, p.opcode, p.start, c.server.now()
	x.RequestBytes, x.ResponseBytes, x.Consistency = int(p.bytes), len(body), p.consistency
	x.Paged, x.Serial, x.SerialConsistency, x.Hash, x.Rewritten = p.paged, p.serial, p.serialConsistency, p.hash, true
	x.Stamped = p.stamped
	if p.extra != nil && p.extra.sample != nil {
		x.Values = p.extra.sample.values
		if opcode == wire.OpResult {
			x.Response = body[4:]
		}
	}
	c.countOwn(&x)
	c.record(p.record, p.extra, []Exchange{x})
	c.spares.give(p.extra)
}
