package proxy

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Bounds of the caches of prepared statements: a connection's own, and the server's. Drivers prepare a statement on one
// connection and execute it on all of them, so an id that the connection does not know is looked for in the server's.
// When one is full any entry goes: a workload with so many statements is building texts out of literals, and there is no
// better one to keep. Losing an entry loses counts (or, once rules are in force, costs a PREPARE); it is never wrong.
const (
	maxBound         = 10_000
	maxBoundBytes    = 32 << 20
	maxPrepared      = 50_000
	maxPreparedBytes = 128 << 20
)

// recents is how many statements a connection finds without a map.
const recents = 16

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

// prepareds maps prepared ids to what Cassandra answered, for the whole server.
type prepareds struct {
	mu   sync.RWMutex
	byID cache[*Prepared]
	// changed is raised when an id got another answer than before (the table was altered, or made anew): who holds the
	// old asks again.
	changed atomic.Uint64
}

func (s *prepareds) get(id []byte) *Prepared {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID.entries[string(id)]
}

func (s *prepareds) put(p *Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.byID.entries[p.ID]
	if old != nil && p.Version < old.Version {
		same := *old
		same.Version, same.ResultMetadataID = p.Version, p.ResultMetadataID
		if p.Version < 4 {
			same.PartitionKey = p.PartitionKey
		}
		if reflect.DeepEqual(&same, p) { // an earlier version's answer, which says the same but less
			return
		}
	}
	if old != nil && !reflect.DeepEqual(old, p) {
		s.changed.Add(1)
	}
	s.byID.put(p.ID, p)
}

// bound is a prepared statement as one connection uses it.
type bound struct {
	prepared *Prepared
	record   Record
	rule     Rule
	count    *ruleCount
	// replacement is what is executed instead, by the rule's text; nil: nothing else.
	replacement *replacement
	epoch       uint64 // of the Rewriter when rule was asked for
	changed     uint64 // of prepareds when prepared was looked up
	system      *ask   // of a statement that asks where nodes are
}

func (b *bound) size() int { return b.prepared.size() }

// find returns what is known of a prepared id; nil if nothing is. It runs on the upward goroutine, which alone has the
// connection's map. epoch is the Rewriter's, loaded after the request was claimed.
//
// Those that were found last are looked at first, at a place that the id's last byte gives: ids are hashes, and to compare
// one is cheaper than to look it up.
func (c *conn) find(id []byte, epoch uint64) *bound {
	changed := c.server.prepared.changed.Load()
	place := new(*bound)
	if n := len(id); n > 0 {
		place = &c.up.recent[id[n-1]%recents]
	}
	if b := *place; b != nil && b.epoch == epoch && b.changed == changed && b.prepared.ID == string(id) {
		return b
	}
	b := c.lookUp(id, epoch, changed)
	*place = b
	return b
}

// lookUp is find in the maps.
func (c *conn) lookUp(id []byte, epoch, changed uint64) *bound {
	b := c.bound.entries[string(id)]
	if b != nil && b.epoch == epoch && b.changed == changed {
		return b
	}
	if b == nil || b.changed != changed {
		p := c.server.prepared.get(id)
		switch {
		case p == nil && b == nil:
			return nil
		case p == nil: // evicted there
			p = b.prepared
		}
		b = &bound{prepared: p, system: c.server.ask(p.Keyspace, p.Text)}
		if r := c.server.options.Recorder; r != nil {
			b.record = r.Statement(p.Keyspace, p.Text)
			learned(b.record, p)
		}
		c.bound.put(p.ID, b)
	}
	b.changed = changed
	b.epoch = epoch
	b.rule, b.count, b.replacement = c.rule(epoch, b.prepared.Keyspace, b.prepared.Text), nil, nil
	if b.rule != nil {
		b.count = c.server.rules.of(b.rule)
		if text := b.rule.Text(); text != "" {
			b.replacement = c.server.replacements.of(replacementKey{node: c.back.RemoteAddr().String(),
				version: c.client.Load().Version, original: b.prepared, text: text}, epoch, b.count)
		}
	}
	return b
}

// rule asks the Rewriter for a statement's rule. Before the first epoch there is none.
func (c *conn) rule(epoch uint64, keyspace, text string) Rule {
	if epoch == 0 {
		return nil
	}
	return c.server.options.Rewriter.Rule(keyspace, text)
}

// epoch is the Rewriter's epoch, 0 without one and while it is bypassed.
func (c *conn) epoch() uint64 {
	if r := c.server.options.Rewriter; r != nil && !c.server.bypass.Load() {
		return r.Epoch()
	}
	return 0
}
