package proxy

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Bounds of what is known of prepared statements. Drivers prepare a statement on one connection and execute it on all of them, so it is
// known to all. When it is too much any statement goes: a workload with so many is building texts out of literals, and there is no better one
// to keep. Losing one loses counts (or, once rules are in force, costs a PREPARE); it is never wrong.
const (
	maxPrepared      = 50_000
	maxPreparedBytes = 128 << 20
)

// recents is how many statements a connection finds without asking what all connections share.
const recents = 32

// cache maps prepared ids to what is known of them.
type cache[V interface{ size() int }] struct {
	most, mostBytes int
	bytes           int
	entries         map[string]V
}

// put keeps v, in the place of others if need be.
func (c *cache[V]) put(id string, v V) {
	if c.entries == nil {
		c.entries = make(map[string]V)
	}
	if old, ok := c.entries[id]; ok {
		c.bytes -= old.size()
	}
	c.entries[id] = v
	c.bytes += v.size()
	for other, old := range c.entries {
		if len(c.entries) <= c.most && c.bytes <= c.mostBytes {
			break
		}
		if other != id {
			delete(c.entries, other)
			c.bytes -= old.size()
		}
	}
}

// size is about how much memory p takes, bytes.
func (p *Prepared) size() int {
	return 256 + len(p.Text) + len(p.ResultMetadata) + 128*(len(p.Variables)+len(p.Results))
}

// known is what Cassandra answered to the PREPARE of an id, and what is made of it.
type known struct {
	*Prepared
	bound atomic.Pointer[bound] // as of the epoch in which it was asked for last; nil before
}

// prepareds maps prepared ids to what Cassandra answered, for the whole server.
type prepareds struct {
	mu   sync.RWMutex
	byID cache[*known]
	// changed is raised when an id got another answer than before (the table was altered, or made anew): who holds the
	// old asks again.
	changed atomic.Uint64
}

func (s *prepareds) get(id []byte) *known {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID.entries[string(id)]
}

func (s *prepareds) put(p *Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.byID.entries[p.ID]; old != nil {
		same := *old.Prepared
		if p.Version < old.Version { // an earlier version's answer says the same but less
			same.Version, same.ResultMetadataID = p.Version, p.ResultMetadataID
			if p.Version < 4 {
				same.PartitionKey = p.PartitionKey
			}
		}
		if reflect.DeepEqual(&same, p) {
			return
		}
		s.changed.Add(1)
	}
	s.byID.put(p.ID, &known{Prepared: p})
}

// bound is a prepared statement as requests use it in one epoch. Immutable.
type bound struct {
	prepared *Prepared
	record   Record
	rule     Rule
	count    *ruleCount
	epoch    uint64 // of the Rewriter when rule was asked for
	system   *ask   // of a statement that asks where nodes are
}

// use is a statement as one connection uses it; the zero use is of one that is not known.
type use struct {
	*bound
	// replacement is what is executed instead, by the rule's text; nil: nothing else.
	replacement *replacement
	changed     uint64 // of prepareds when it was looked up
}

// find returns what is known of a prepared id. It runs on the upward goroutine, which alone has the connection's recents. epoch is the
// Rewriter's, loaded after the request was claimed.
//
// Those that were found last are looked at first, at a place that the id's last byte gives: ids are hashes, and to compare
// one is cheaper than to look it up.
func (c *conn) find(id []byte, epoch uint64) use {
	changed := c.server.prepared.changed.Load()
	if c.up.recent == nil {
		c.up.recent = new([recents]use)
	}
	place := &c.up.recent[0]
	if n := len(id); n > 0 {
		place = &c.up.recent[id[n-1]%recents]
	}
	if u := place; u.bound != nil && u.epoch == epoch && u.changed == changed && u.prepared.ID == string(id) {
		return *u
	}
	b := c.server.bind(id, epoch)
	if b == nil {
		return use{}
	}
	u := use{bound: b, changed: changed}
	if b.rule != nil {
		if text := b.rule.Text(); text != "" {
			who := c.client.Load()
			u.replacement = c.server.replacements.of(replacementKey{node: who.Node, version: who.Version, original: b.prepared, text: text}, epoch, b.count)
		}
	}
	*place = u
	return u
}

// bind returns what is known of a prepared id, and what is to be done with it in an epoch; nil if nothing is known.
func (s *Server) bind(id []byte, epoch uint64) *bound {
	k := s.prepared.get(id)
	if k == nil {
		return nil
	}
	before := k.bound.Load()
	if before != nil && before.epoch == epoch {
		return before
	}
	b := &bound{prepared: k.Prepared, epoch: epoch}
	if before != nil {
		b.record, b.system = before.record, before.system
	} else {
		b.system = s.ask(k.Keyspace, k.Text)
		if r := s.options.Recorder; r != nil {
			b.record = r.Statement(k.Keyspace, k.Text)
			learned(b.record, k.Prepared)
		}
	}
	if b.rule = s.rule(epoch, k.Keyspace, k.Text); b.rule != nil {
		b.count = s.rules.of(b.rule)
	}
	k.bound.Store(b)
	return b
}

// rule asks the Rewriter for a statement's rule. Before the first epoch there is none.
func (s *Server) rule(epoch uint64, keyspace, text string) Rule {
	if epoch == 0 {
		return nil
	}
	return s.options.Rewriter.Rule(keyspace, text)
}

// epoch is the Rewriter's epoch, 0 without one and while it is bypassed.
func (c *conn) epoch() uint64 {
	if r := c.server.options.Rewriter; r != nil && !c.server.bypass.Load() {
		return r.Epoch()
	}
	return 0
}
