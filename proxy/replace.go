package proxy

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/rule"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A rule's text replaces a statement. In a QUERY, and in a BATCH's child that is a text, it goes in the text's place. A
// statement that is prepared keeps its id: the client's PREPARE goes to Cassandra as it is, so that the id (drivers check
// that preparing again gives the same) and the metadata that the client gets are those of its own text, whatever rules come
// and go. The proxy prepares the rule's text itself, by a request of its own on the client's upstream connection (Cassandra
// keeps prepared statements per node, so one connection does it for all of a node), and swaps the id in every EXECUTE
// and BATCH. What no rule is about costs nothing of this.
//
// The replacement must fit what the client was told: bind variables of the same number, order and types, the same of them in the
// partition key, result columns of the same names and types. If it does not, the rule is refused: logged, counted with
// the reason, and the statement runs as it was written. Until Cassandra has answered, it runs as written too.
//
// If Cassandra forgot the replacement, the client is told that Cassandra forgot its own id: it prepares again, gets the same, and the
// replacement is prepared again meanwhile.
//
//	from       to         by
//	idle       preparing  the upward goroutine that wants to use it first: it sends a PREPARE
//	preparing  ready      the downward goroutine, with an answer that fits
//	preparing  refused    the same, with one that does not, or with Cassandra's refusal
//	preparing  idle       the connection ended, the answer is late, or Cassandra could not just now
//	ready      idle       Cassandra does not know it any more
//	refused    idle       the Rewriter's epoch moved: perhaps it fits now
const (
	idle int32 = iota
	preparing
	ready
	refused
)

// Thin: in protocol versions 3 and 4 a PREPARE can not name a keyspace, so a replacement is prepared by connections that
// use the keyspace of the original only; texts that name theirs need not care. Nothing checks the number of values of a QUERY.

// replacement is a rule's text on one node, for one protocol version (version 5 gives metadata an id), in the place of one
// prepared statement.
type replacement struct {
	replacementKey
	log      func(reason string)
	count    *rule.Count
	state    atomic.Int32
	prepared atomic.Pointer[Prepared]
	epoch    atomic.Uint64 // of the last who asked for it
}

type replacementKey struct {
	node     string
	version  byte
	original *Prepared
	text     string
}

// maxReplacements bounds the table; when it is full any goes, and is prepared again if it is wanted.
const maxReplacements = 10_000

type replacements struct {
	mu    sync.Mutex
	byKey map[replacementKey]*replacement
	log   func(text, reason string)
}

// of returns the replacement of a key, for a rule that was asked for at an epoch.
func (s *replacements) of(key replacementKey, epoch uint64, count *rule.Count) *replacement {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byKey[key]
	if r == nil {
		r = &replacement{replacementKey: key, count: count, log: func(reason string) { s.log(key.text, reason) }}
		r.epoch.Store(epoch)
		if s.byKey == nil {
			s.byKey = make(map[replacementKey]*replacement)
		}
		for other := range s.byKey {
			if len(s.byKey) < maxReplacements {
				break
			}
			delete(s.byKey, other)
		}
		s.byKey[key] = r
	}
	if r.epoch.Swap(epoch) != epoch {
		r.state.CompareAndSwap(refused, idle)
	}
	return r
}

// abandon is for a PREPARE whose answer will not be looked at.
func (r *replacement) abandon() { r.state.CompareAndSwap(preparing, idle) }

// refuse notes why the text can not stand for the original.
func (r *replacement) refuse(why rule.Reason, detail string) {
	if r.state.CompareAndSwap(preparing, refused) {
		r.count.Refuse(why, detail)
		r.log(detail)
	}
}

// settle deals with Cassandra's answer to its PREPARE; body[from:] begins after a RESULT's kind or an ERROR's code.
func (r *replacement) settle(answer *Prepared, body wire.Reader) {
	if !answer.Read(&body) || body.Bad() {
		r.refuse(rule.Error, "Cassandra's answer to its PREPARE can not be read")
		return
	}
	if why, detail := fits(r.original, answer); detail != "" {
		r.refuse(why, detail)
		return
	}
	r.prepared.Store(answer)
	r.state.CompareAndSwap(preparing, ready)
}

// fits tells why a statement can not stand for another that a client has prepared; detail is "" if it can.
func fits(original, other *Prepared) (why rule.Reason, detail string) {
	if n, m := len(original.Variables), len(other.Variables); n != m {
		return rule.Variables, fmt.Sprintf("it has %d bind variables, the original %d", m, n)
	}
	for i, v := range other.Variables {
		if !reflect.DeepEqual(v.Type, original.Variables[i].Type) {
			return rule.Variables, fmt.Sprintf("bind variable %d (%s) has another type than the original's (%s)", i+1, v.Name, original.Variables[i].Name)
		}
	}
	if !reflect.DeepEqual(original.PartitionKey, other.PartitionKey) && original.Version >= 4 && other.Version >= 4 {
		return rule.PartitionKey, "its partition key is bound by other variables than the original's: clients would choose the wrong node"
	}
	if n, m := len(original.Results), len(other.Results); n != m {
		return rule.Columns, fmt.Sprintf("it returns %d columns, the original %d", m, n)
	}
	for i, v := range other.Results {
		if o := original.Results[i]; v.Name != o.Name || !reflect.DeepEqual(v.Type, o.Type) {
			return rule.Columns, fmt.Sprintf("result column %d (%s) has another name or type than the original's (%s)", i+1, v.Name, o.Name)
		}
	}
	return 0, ""
}

// named tells whether the variables have the original's names too, so that values may be bound by name.
func (r *replacement) named(p *Prepared) bool {
	for i := range p.Variables {
		if p.Variables[i].Name != r.original.Variables[i].Name {
			return false
		}
	}
	return true
}

// use returns the replacement's prepared statement, nil if there is none (yet): then it begins to prepare it. It runs on the
// upward goroutine.
func (c *conn) use(r *replacement) *Prepared {
	switch r.state.Load() {
	case ready:
		return r.prepared.Load()
	case idle:
		c.prepare(r)
	}
	return nil
}

// prepare sends the PREPARE of a replacement.
func (c *conn) prepare(r *replacement) {
	keyspace := r.original.Keyspace
	if r.version < 5 && (c.using.underWay() || keyspace != c.currentKeyspace()) {
		return
	}
	if !r.state.CompareAndSwap(idle, preparing) {
		return
	}
	t, id, err := c.streams.alias()
	if err != nil {
		r.abandon()
		return
	}
	e := c.spares.take()
	e.prepare, e.replaces = &Prepared{Keyspace: keyspace, Text: r.text, Version: r.version}, r
	t.pending = pending{start: c.server.now(), stream: nobody, id: id, opcode: wire.OpPrepare, extra: e}
	t.claim()
	if r.version < 5 { // it is the connection's own
		keyspace = ""
	}
	c.up.out.Send(message.Append(nil, r.version, id, message.Prepare(r.text, keyspace)))
}

// onOwnAnswer deals with the answer to a request of our own.
func (c *conn) onOwnAnswer(h wire.Header, body []byte, complete bool, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	if isAsk(p.id) { // until it is answered here the sweeper may give its extra to another
		return c.onAsked(h, body, complete, t, p)
	}
	if !complete {
		if h.Length > c.server.options.MaxFrame {
			return pipe.Pass, nil, c.tooLong(h)
		}
		return pipe.Whole, nil, nil
	}
	word, ok := t.Answer()
	if !ok {
		return c.late(h, body, complete, t)
	}
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	switch by := p.extra.replaces; {
	case h.Opcode == wire.OpResult && r.Int() == wire.ResultPrepared:
		by.settle(p.extra.prepare, r)
	case h.Opcode == wire.OpError:
		if code := r.Int(); code < wire.ErrSyntax || code > wire.ErrUnprepared { // it may work next time
			by.abandon()
		} else {
			by.refuse(rule.Error, "Cassandra can not prepare it: "+string(r.String()))
		}
	default:
		by.refuse(rule.Error, fmt.Sprintf("Cassandra answered its PREPARE with opcode %#x", h.Opcode))
	}
	c.spares.give(p.extra)
	t.Release(word)
	return pipe.Drop, nil, nil
}

// swap is a prepared id that was put in the place of the client's.
type swap struct {
	from, to string
	by       *replacement
}

// change is what the rules put in the place of a request's texts and ids.
type change struct {
	instead    []string // by number of the BATCH's child; of a QUERY or EXECUTE there is one
	metadataID string   // EXECUTE, version 5
}

// apply appends the changed body of a request.
func (x *change) apply(b []byte, opcode byte, v *wire.View) []byte {
	switch opcode {
	case wire.OpBatch:
		return v.AppendBatch(b, x.instead)
	case wire.OpExecute:
		return v.AppendID(b, x.instead[0], x.metadataID)
	}
	return v.AppendText(b, x.instead[0])
}

// changed forwards a request with what the rules make of it.
func (c *conn) changed(h wire.Header, x *change) (pipe.Verdict, []byte, error) {
	if x == nil {
		return pipe.Pass, nil, nil
	}
	frame := x.apply(wire.AppendHeader(nil, h), h.Opcode, &c.up.view)
	wire.SetLength(frame, 0)
	return pipe.Replace, frame, nil
}

// changeExecute returns what becomes of an EXECUTE of a statement that has a replacement, nil if it runs as written. It is
// noted in what is pending before the claim.
func (c *conn) changeExecute(q *wire.View, b use, p *pending) *change {
	if !q.Whole() {
		return nil
	}
	by := b.replacement
	other := c.use(by)
	if other == nil || (q.Flags&wire.ParamNames != 0 && !by.named(other)) {
		return nil
	}
	p.swapped = true
	e := p.need(&c.spares)
	e.swaps = append(e.swaps[:0], swap{b.prepared.ID, other.ID, by})
	x := &change{instead: []string{other.ID}, metadataID: string(q.MetadataID())}
	if x.metadataID == b.prepared.ResultMetadataID { // else the client knows other columns, and Cassandra tells it which
		x.metadataID = other.ResultMetadataID
	}
	b.count.Replace()
	return x
}

// batchRules is what the rules say about a BATCH.
type batchRules struct {
	unknown []byte // an id that nobody knows
	ruled   bool
	change  *change
	swaps   []swap
}

// batchRules is what becomes of a BATCH with these children.
func (c *conn) batchRules(children []said) (x batchRules) {
	instead := func(n int, other string) {
		if x.change == nil {
			x.change = &change{instead: make([]string, len(children))}
		}
		x.change.instead[n] = other
	}
	for n := range children {
		s := &children[n]
		if s.bound == nil {
			if s.Text == nil && x.unknown == nil {
				x.unknown = s.ID
			}
			continue
		}
		if s.rule == nil {
			continue
		}
		x.ruled = true
		s.count.Hit()
		if s.Text != nil {
			if other := s.rule.Text(); other != "" {
				s.count.Replace()
				instead(n, other)
			}
		} else if s.replacement != nil {
			if other := c.use(s.replacement); other != nil {
				s.count.Replace()
				instead(n, other.ID)
				x.swaps = append(x.swaps, swap{s.prepared.ID, other.ID, s.replacement})
			}
		}
	}
	return x
}

// forgotten shows the client an UNPREPARED answer about a swapped id as one about its own.
func forgotten(h wire.Header, body []byte, swaps []swap) (pipe.Verdict, []byte) {
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	r.Int()
	r.String()
	at := r.Offset()
	id := string(r.String())
	if r.Bad() {
		return pipe.Pass, nil
	}
	for _, s := range swaps {
		if s.to == id {
			s.by.state.CompareAndSwap(ready, idle)
			frame := append(wire.AppendHeader(nil, h), body[:at]...)
			frame = append(wire.AppendString(frame, s.from), r.Rest()...)
			wire.SetLength(frame, 0)
			return pipe.Replace, frame
		}
	}
	return pipe.Pass, nil
}
