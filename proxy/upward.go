package proxy

import (
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/helenus-db/helenus/proxy/handshake"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/ring"
	"github.com/helenus-db/helenus/proxy/wire"
)

var (
	_ pipe.Handler = upward{}
	_ pipe.Handler = downward{}
)

// upward handles the requests of one connection, client to Cassandra.
type upward struct{ *conn }

// protocolError is a request that Cassandra would not read on after, and what the client is told before its connection
// is closed.
type protocolError struct {
	version byte // of the answer
	flags   byte
	stream  int16
	code    int32
	message string
	reason  ledger.Frame
}

func (e *protocolError) Error() string { return e.message }

// Admit refuses what Cassandra 5.0.8 refuses, in its words, and bodies that are longer than allowed.
func (u upward) Admit(h wire.Header) error {
	switch v := h.Version; {
	case v == handshakeRecord && !u.authenticated.Load():
		return u.unexpectedTLS()
	case v&wire.ResponseBit != 0:
		return &protocolError{version: wire.MaxVersion, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.Direction,
			message: fmt.Sprintf("Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode %d", h.Opcode)}
	case v == 6 && h.Flags&wire.FlagBeta == 0:
		return &protocolError{version: 6, flags: wire.FlagBeta, code: wire.ErrProtocol, reason: ledger.Version,
			message: "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"}
	case !wire.Supported(v):
		return &protocolError{version: wire.MaxVersion, code: wire.ErrProtocol, reason: ledger.Version, message: fmt.Sprintf(
			"Invalid or unsupported protocol version (%d); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)", v)}
	}
	if limit := u.frameLimit(); h.Length > limit {
		return &protocolError{version: h.Version, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.TooBig,
			message: fmt.Sprintf("Request is too big: length %d exceeds maximum allowed length %d", h.Length, limit)}
	}
	if h.Stream < 0 {
		return &protocolError{version: h.Version, code: wire.ErrProtocol, reason: ledger.Stream,
			message: fmt.Sprintf("Invalid stream id %d: requests have ids from 0 on", h.Stream)}
	}
	return nil
}

// judge deals with one request: it is remembered in the slot of its stream id, then forwarded, replaced, or taken.
//
// Barrier and the Rewriter's epoch (Dekker's handshake): the slot is claimed first and the epoch loaded after. Who
// changes the rules raises the epoch first and calls Barrier, which loads the slots, after. Go's atomics are
// sequentially consistent, so either this request sees the new epoch, or Barrier sees this request and waits for it.
func (u upward) judge(h wire.Header, body []byte, complete bool, now int64) (pipe.Verdict, []byte, error) {
	c := u.conn
	if err := c.early(h); err != nil {
		return pipe.Pass, nil, err
	}
	refusal := c.refusal(h, complete, now)
	if !complete && (refusal != "" || c.mustSeeWhole(h, now)) {
		return pipe.Whole, nil, nil
	}
	t, id, err := c.streams.reserve(h.Stream)
	if errors.Is(err, errReused) {
		return pipe.Pass, nil, &protocolError{version: h.Version, stream: h.Stream, code: wire.ErrProtocol, reason: ledger.StreamInUse,
			message: fmt.Sprintf("Stream id %d is used again before its last request was answered", h.Stream)}
	}
	if !complete && (err != nil || id != h.Stream) {
		return pipe.Whole, nil, nil //nolint:nilerr // asked again when the request is whole
	}
	if err != nil {
		c.sendError(h, wire.ErrOverloaded, "the request was not sent to Cassandra, which is too slow: "+err.Error(), nil)
		return pipe.Drop, nil, nil //nolint:nilerr // the client was told
	}
	p := &t.pending
	*p = pending{start: now, bytes: int32(h.Length), stream: h.Stream, id: id, opcode: h.Opcode}
	if refusal != "" {
		t.claim()
		return pipe.Drop, nil, c.refuse(h, t, wire.ErrOverloaded, refusal, nil)
	}
	v, frame, err := c.request(h, body, complete, t, p)
	if p.uses && (v == pipe.Pass || v == pipe.Replace) {
		c.using.sent.Add(1)
	}
	v, frame = underStream(id, h, body, v, frame)
	return v, frame, err
}

// request deals with a request that has a slot.
func (c *conn) request(h wire.Header, body []byte, complete bool, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	switch h.Opcode {
	case wire.OpStartup:
		verdict, instead := c.onStartup(h, body, p)
		t.claim()
		return verdict, instead, nil
	case wire.OpPrepare:
		return c.onPrepare(h, body, t, p)
	case wire.OpExecute, wire.OpQuery, wire.OpBatch:
		c.up.view.See(h, body)
		c.traced(h, body, p)
		v, frame, err := c.statement(h, body, complete, t, p)
		c.up.view.Forget()
		return v, frame, err
	case wire.OpRegister:
		p.events = handshake.ReadRegister(h, body)
	}
	t.claim()
	return pipe.Pass, nil, nil
}

// statement deals with a request whose view there is.
func (c *conn) statement(h wire.Header, body []byte, complete bool, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	switch h.Opcode {
	case wire.OpExecute:
		return c.onExecute(h, body, complete, t, p)
	case wire.OpQuery:
		return c.onQuery(h, body, t, p)
	}
	return c.onBatch(h, body, t, p)
}

func (c *conn) mustSeeWhole(h wire.Header, now int64) bool {
	switch h.Opcode {
	case wire.OpStartup, wire.OpRegister:
		return true
	case wire.OpPrepare, wire.OpQuery, wire.OpBatch:
		return c.server.observed || h.Length <= shortStatement
	case wire.OpExecute:
		return c.epoch() != 0 || c.sampling(now)
	}
	return false
}

// unknown is the record of a request of which it is not known what it says.
func (c *conn) unknown() Record {
	if r := c.server.options.Recorder; r != nil {
		return r.Unknown()
	}
	return nil
}

// hash is of the body of a QUERY, EXECUTE or BATCH whose parameters have these flags, without the timestamp that ends it:
// a driver that says a request again may give it a new one.
func (c *conn) hash(body []byte, flags uint32) uint64 {
	if c.server.options.Recorder == nil {
		return 0
	}
	if flags&(wire.ParamTimestamp|wire.ParamKeyspace|wire.ParamNow) == wire.ParamTimestamp && len(body) > 8 {
		body = body[:len(body)-8]
	}
	return max(maphash.Bytes(c.server.seed, body), 1)
}

// sampling tells whether values are looked at. It is asked once for what a read brought.
func (c *conn) sampling(now int64) bool {
	if u := &c.up; u.asked != now {
		r := c.server.options.Recorder
		u.asked, u.sampling = now, r != nil && r.Sampling(c.client.Load())
	}
	return c.up.sampling
}

func (c *conn) onPrepare(h wire.Header, body []byte, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	q, ok := wire.ParsePrepare(h.Version, h.Flags, body)
	if !ok {
		t.claim()
		return pipe.Pass, nil, nil // Cassandra says what is wrong with it
	}
	inUse := len(q.Keyspace) == 0
	if inUse && c.using.underWay() { // who executes it prepares it again, as it is not known in which keyspace this is
		t.claim()
		return pipe.Pass, nil, nil
	}
	known := &Prepared{Keyspace: c.keyspaceOr(q.Keyspace), Text: string(q.Text), Version: h.Version}
	if r := c.server.options.Recorder; r != nil {
		p.record = r.Statement(known.Keyspace, known.Text)
	}
	p.extra = c.spares.take()
	p.extra.prepare, p.extra.inUse, p.extra.uses = known, inUse, c.using.sent.Load()
	t.claim()
	return pipe.Pass, nil, nil // whatever the rules say: the id that the client gets is its own text's (replace.go)
}

func (c *conn) onExecute(h wire.Header, body []byte, complete bool, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	q := &c.up.view
	if !q.Head() {
		p.record = c.unknown()
		t.claim()
		return pipe.Pass, nil, nil
	}
	p.consistency = q.Consistency
	p.serial = q.Consistency == wire.Serial || q.Consistency == wire.LocalSerial
	p.paged = q.Flags&wire.ParamPagingState != 0
	p.stamped = q.Flags&wire.ParamTimestamp != 0
	if complete {
		p.hash = c.hash(body, q.Flags)
		if q.Flags&wire.ParamSerial != 0 {
			q.Whole()
			p.serialConsistency = q.SerialConsistency
		}
	}
	// The slot's content must be there before it is busy; what belongs to the id is looked up before, and again in the
	// rare case that the epoch moved in between.
	epoch := c.epoch()
	b := c.find(q.ID(), epoch)
	var change *change
	if b.bound == nil {
		p.record = c.unknown()
	} else {
		p.prepared, p.record, p.system, p.uses = b.prepared, b.record, b.system, b.uses
		if p.uses {
			c.inOrder()
		}
		if b.system.wantsValues() {
			if !complete {
				return pipe.Whole, nil, nil
			}
			p.system = b.system.with(q, body)
		}
		p.read = len(b.prepared.Results) > 0
		if b.replacement != nil {
			change = c.changeExecute(q, b, p)
		}
	}
	if complete && b.bound != nil && p.record != nil {
		if s := c.sample(body, p.start); s != nil {
			s.fill(q)
			p.need(&c.spares).sample = s
		}
	}
	t.claim()
	now := c.epoch()
	if !complete && now != 0 { // the first rule came this instant: unclaim, and read it whole
		if !c.unclaim(t) {
			return pipe.Pass, nil, errAnswered
		}
		return pipe.Whole, nil, nil
	}
	if now != epoch {
		epoch, change = now, nil
		b = c.find(q.ID(), epoch)
	}
	if b.bound == nil {
		if epoch != 0 {
			return pipe.Drop, nil, c.unprepared(h, t, q.ID())
		}
		c.unresolved(q.ID())
		return pipe.Pass, nil, nil
	}
	if b.rule == nil {
		return pipe.Pass, nil, nil
	}
	b.count.Hit()
	return c.offer(h, body, t, change, func(r *Request) {
		r.Prepared, r.Rule, r.Text, r.Keyspace = b.prepared, b.rule, b.prepared.Text, b.prepared.Keyspace
	})
}

// unclaim takes a claim back; false if the sweeper has answered the request meanwhile.
func (c *conn) unclaim(t *slot) bool {
	word, ok := t.Answer()
	if ok {
		c.spares.give(t.extra)
		t.Release(word)
	}
	return ok
}

func (c *conn) onQuery(h wire.Header, body []byte, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	q := &c.up.view
	if !q.Whole() {
		p.record = c.unknown()
		t.claim()
		return pipe.Pass, nil, nil
	}
	p.consistency = q.Consistency
	p.serial = q.Consistency == wire.Serial || q.Consistency == wire.LocalSerial
	p.paged = q.PagingState() != nil
	p.stamped = q.Flags&wire.ParamTimestamp != 0
	p.serialConsistency, p.hash = q.SerialConsistency, c.hash(body, q.Flags)
	unsure := len(q.Keyspace()) == 0 && c.using.underWay()
	keyspace := c.keyspaceOr(q.Keyspace())
	var text string
	if asks := ring.Mentions(keyspace, q.Text()); asks || c.server.observed {
		text = string(q.Text())
		if asks {
			p.system = c.server.ask(keyspace, text)
		}
	}
	if p.system.wantsValues() {
		p.system = p.system.with(q, body)
	}
	p.read = selects(q.Text())
	if p.uses = uses(q.Text()); p.uses {
		c.inOrder()
	}
	if r := c.server.options.Recorder; r != nil {
		p.record = r.Statement(keyspace, text)
		if s := c.sample(body, p.start); s != nil {
			s.fill(q)
			p.need(&c.spares).sample = s
		}
	}
	t.claim()
	rule := c.server.rule(c.epoch(), keyspace, text, unsure)
	if rule == nil {
		return pipe.Pass, nil, nil
	}
	count := c.server.rules.Of(rule)
	count.Hit()
	var by *change
	if other := rule.Text(); other != "" {
		count.Replace()
		by = &change{instead: []string{other}}
	}
	return c.offer(h, body, t, by, func(r *Request) { r.Rule, r.Text, r.Keyspace = rule, text, keyspace })
}

func (c *conn) onBatch(h wire.Header, body []byte, t *slot, p *pending) (pipe.Verdict, []byte, error) {
	if !c.server.observed {
		t.claim()
		return pipe.Pass, nil, nil
	}
	q := &c.up.view
	if !q.Whole() {
		p.record = c.unknown()
		t.claim()
		return pipe.Pass, nil, nil
	}
	epoch := c.epoch()
	unsure := len(q.Keyspace()) == 0 && c.using.underWay()
	inUse := c.keyspaceOr(q.Keyspace()) // which comes after the children
	children := c.children(inUse, unsure, epoch)
	defer c.forgetChildren()
	_ = p.need(&c.spares)
	c.recordBatch(children, inUse, epoch, body, p)
	// Rules are in force: every child has to be known, and one of them may be the Rewriter's business. It is looked at
	// before the claim, since what is swapped has to be remembered there, and again in the rare case that the epoch moved.
	var rules batchRules
	if epoch != 0 {
		rules = c.batchRules(children)
		p.swapped, p.extra.swaps = len(rules.swaps) > 0, append(p.extra.swaps[:0], rules.swaps...)
	}
	t.claim()
	if now := c.epoch(); now != epoch {
		if epoch = now; epoch != 0 {
			rules = c.batchRules(c.children(inUse, unsure, epoch))
			rules.change = nil
		}
	}
	if epoch == 0 {
		return pipe.Pass, nil, nil
	}
	if rules.unknown != nil {
		return pipe.Drop, nil, c.unprepared(h, t, rules.unknown)
	}
	if !rules.ruled {
		return pipe.Pass, nil, nil
	}
	return c.offer(h, body, t, rules.change, func(r *Request) { r.Keyspace = inUse })
}

// said is what a child of a BATCH says.
type said struct {
	wire.Child
	text string // "" for an id
	use         // of an id
}

// children are those of the BATCH that is dealt with, in an epoch. The list is used again.
func (c *conn) children(keyspace string, unsure bool, epoch uint64) []said {
	q := &c.up.view
	list := c.up.children[:0]
	for i := range q.Children() {
		s := said{Child: q.Child(i)}
		if s.Text == nil {
			s.use = c.find(s.ID, epoch)
		} else {
			s.text = string(s.Text)
			if r := c.server.rule(epoch, keyspace, s.text, unsure); r != nil {
				s.use = use{bound: &bound{rule: r, count: c.server.rules.Of(r)}}
			}
		}
		list = append(list, s)
	}
	c.up.children = list
	return list
}

// maxSaid is how many children a connection has room for when there is no BATCH.
const maxSaid = 1 << 10

func (c *conn) forgetChildren() {
	list := c.up.children
	clear(list)
	if c.up.children = list[:0]; cap(list) > maxSaid {
		c.up.children = nil
	}
}

// recordBatch notes who counts a BATCH and its children, and with which values.
func (c *conn) recordBatch(children []said, keyspace string, epoch uint64, body []byte, p *pending) {
	recorder := c.server.options.Recorder
	if recorder == nil {
		return
	}
	q, e := &c.up.view, p.extra
	e.sample = c.sample(body, p.start)
	records := c.up.records[:0]
	for i := range children {
		s := &children[i]
		var r childRecord
		switch {
		case s.Text != nil:
			r.record = recorder.Statement(keyspace, s.text)
		case s.bound != nil:
			r.record, r.prepared = s.record, s.prepared
		case epoch == 0:
			c.unresolved(s.ID)
			r.record = recorder.Unknown()
		}
		if x := e.sample; x != nil {
			r.from = len(x.values)
			x.values = appendValues(x.values, &s.Child, x.request)
			r.to = len(x.values)
		}
		if r.record != nil {
			e.children = append(e.children, r)
			records = append(records, r.record)
		}
	}
	p.consistency, p.serialConsistency, p.hash = q.Consistency, q.SerialConsistency, c.hash(body, q.Flags)
	p.stamped = q.Flags&wire.ParamTimestamp != 0
	p.record = recorder.Batch(q.Kind, records)
	clear(records)
	c.up.records = records[:0]
}

// unprepared answers an id that this process never saw prepared as Cassandra answers one that it forgot: every driver
// prepares again and repeats the request, so nothing is lost. It is done only when rules are in force (epoch above
// zero): then a write that is not understood could be missed by a derived table, which outranks never forcing a
// PREPARE; for counting alone an unknown id is forwarded.
func (c *conn) unprepared(h wire.Header, t *slot, id []byte) error {
	return c.refuse(h, t, wire.ErrUnprepared, fmt.Sprintf("Prepared query with ID %x not found (either the query was "+
		"not prepared on this host (maybe the host has been restarted?) or you have prepared too many queries and it has "+
		"been evicted from the internal cache)", id), wire.AppendString(nil, string(id)))
}

var errAnswered = errors.New("a request was answered twice")

// refuse answers a claimed request with an error from the upward goroutine, without asking Cassandra.
func (c *conn) refuse(h wire.Header, t *slot, code int32, message string, more []byte) error {
	word, ok := t.Answer()
	if !ok {
		return errAnswered
	}
	c.spares.give(t.extra)
	t.extra = nil
	c.sendError(h, code, message, more)
	t.Release(word)
	return nil
}

// sendError sends the client an ERROR; more is what its code wants after the message.
func (c *conn) sendError(h wire.Header, code int32, message string, more []byte) {
	c.sheet.Refuse(code)
	b := append(wire.AppendError(nil, code, message), more...)
	c.down.out.Send(wire.AppendFrame(nil, wire.Header{Version: h.Version | wire.ResponseBit, Stream: h.Stream, Opcode: wire.OpError}, b))
}

// selects tells whether a text begins with SELECT, for all that a look tells.
func selects(text []byte) bool { return begins(text, "SELECT") }

// keyspaceOr is the keyspace of a request: the one it names itself, or the one in use on the connection.
func (c *conn) keyspaceOr(own []byte) string {
	if len(own) > 0 {
		return string(own)
	}
	return c.currentKeyspace()
}

// sample copies a request that was read now, if a window is open.
func (c *conn) sample(body []byte, now int64) *sample {
	if !c.sampling(now) || len(body) > maxSampled {
		return nil
	}
	s := samples.Get().(*sample)
	s.request = append(s.request[:0], body...)
	return s
}

// fill lists the values of a QUERY or EXECUTE.
func (s *sample) fill(v *wire.View) {
	if v.Whole() {
		s.values = appendValues(s.values[:0], v, s.request)
	}
}

type valued interface {
	Values(body []byte, f func(name, value []byte, n int32))
}

// appendValues lists the bound values that body holds; they point into it.
func appendValues(values []Value, p valued, body []byte) []Value {
	p.Values(body, func(name, value []byte, n int32) {
		v := Value{Bytes: value, Null: n == -1 || n < -2, Unset: n == -2}
		if name != nil {
			v.Name = string(name)
		}
		values = append(values, v)
	})
	return values
}
