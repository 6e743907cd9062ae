package proxy

import (
	"github.com/helenus-db/helenus/proxy/recall"
	"github.com/helenus-db/helenus/proxy/rule"
)

// recents is how many statements a connection finds without asking what all connections share.
const recents = 32

// bound is a prepared statement as requests use it in one epoch. Immutable.
type bound struct {
	prepared *Prepared
	record   Record
	rule     Rule
	count    *rule.Count
	epoch    uint64 // of the Rewriter when rule was asked for
	system   *ask   // of a statement that asks where nodes are
	uses     bool   // it is a USE
}

// use is a statement as one connection uses it; the zero use is of one that is not known.
type use struct {
	*bound
	// replacement is what is executed instead, by the rule's text; nil: nothing else.
	replacement *replacement
	changed     uint64 // of the server's table when it was looked up
}

// find returns what is known of a prepared id. It runs on the upward goroutine, which alone has the connection's recents. epoch is the
// Rewriter's, loaded after the request was claimed.
//
// Those that were found last are looked at first, at a place that the id's last byte gives: ids are hashes, and to compare
// one is cheaper than to look it up.
func (c *conn) find(id []byte, epoch uint64) use {
	changed := c.server.prepared.Changed()
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
	k := s.prepared.Get(id)
	if k == nil {
		return nil
	}
	before := k.Use.Load()
	if before != nil && before.epoch == epoch {
		return before
	}
	b := &bound{prepared: k.Prepared, epoch: epoch}
	if before != nil {
		b.record, b.system, b.uses = before.record, before.system, before.uses
	} else {
		b.system, b.uses = s.ask(k.Keyspace, k.Text), uses([]byte(k.Text))
		if r := s.options.Recorder; r != nil {
			b.record = r.Statement(k.Keyspace, k.Text)
			learned(b.record, k.Prepared)
		}
	}
	if b.rule = s.rule(epoch, k.Keyspace, k.Text, false); b.rule != nil {
		b.count = s.rules.Of(b.rule)
	}
	k.Use.Store(b)
	return b
}

// rule asks the Rewriter for a statement's rule; unsure: whether it is said in that keyspace is not known. Before the first epoch there is none.
func (s *Server) rule(epoch uint64, keyspace, text string, unsure bool) Rule {
	if epoch == 0 {
		return nil
	}
	if unsure {
		return s.options.Rewriter.Unsure(text)
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

// unresolved counts an id that nobody knows, and has its text looked up. It runs on the upward goroutine.
func (c *conn) unresolved(id []byte) {
	s := c.server
	s.stats.unresolved.Add(1)
	if s.options.Recorder != nil {
		s.resolver.Want(id, c.back.RemoteAddr().String())
	}
}

// newResolver returns what looks up statements that were prepared elsewhere.
func (s *Server) newResolver() *recall.Resolver {
	o := &s.options
	return recall.NewResolver(recall.Sources{
		Options: recall.Options{Username: o.Username, Password: o.Password, Dial: s.dialer.Dial},
		Nodes: func() (list []string) {
			for _, n := range s.Nodes() {
				list = append(list, n.Target())
			}
			return list
		},
		Ruled: func() bool { return o.Rewriter != nil && o.Rewriter.Epoch() > 0 },
		Learn: s.prepared.Put,
		Now:   s.now,
		Log:   s.log,
	})
}
