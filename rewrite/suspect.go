package rewrite

import (
	"slices"
	"sync"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// An event says that something of a table, or of a keyspace, has changed; reading what takes a while. So reads are turned back
// when the event comes, and go on when the schema that was read after it shows that all is as it was: first turn back, then look.
//
//	Suspect   held back, in memory
//	Look      begins; the schema is read
//	seen      compared (what does not fit is turned back for good); what was suspected before the look is not held
//	          back any more, what was suspected since is: the look may have come too early for it

// suspicion is what events said, and no look has answered yet.
type suspicion struct {
	mu    sync.Mutex
	looks uint64 // begun so far
	held  []heldBack
}

type heldBack struct {
	active *active
	since  uint64 // how many looks had begun
}

// Suspect turns back the reads of all changes over a table, or with it, until a look that begins afterwards has shown that
// they still fit. Without a table it is about all in a keyspace, and without a keyspace about all there are. It does not block.
func (e *Engine) Suspect(keyspace, table string) {
	s := &e.suspected
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range e.rules.Load().active {
		base := (keyspace == "" || keyspace == a.about.Keyspace) && (table == "" || table == a.about.Base)
		if base || slices.ContainsFunc(slices.Concat(a.tables, a.rests), func(t kind.Table) bool {
			return (keyspace == "" || keyspace == t.Keyspace) && (table == "" || table == t.Name)
		}) {
			s.add(a)
		}
	}
}

// hold is Suspect for one change.
func (s *suspicion) hold(a *active) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(a)
}

// add is hold for those who hold s.mu.
func (s *suspicion) add(a *active) {
	a.holds.Add(1)
	a.touched.Add(1)
	s.held = append(s.held, heldBack{a, s.looks})
}

// inherit has a change as it fits the base now be held back like the one whose place it takes. s.mu is held.
func (s *suspicion) inherit(from, to *active) {
	for _, h := range s.held {
		if h.active == from {
			to.holds.Add(1)
			s.held = append(s.held, heldBack{to, h.since})
		}
	}
}

// Look begins a look at the schema, before it is read. What was read is to be told to seen: changes that it no longer fits answer no read any
// more when that returns. A look that failed is forgotten.
func (e *Engine) Look() (seen func(*schema.Schema)) {
	s := &e.suspected
	s.mu.Lock()
	look := s.looks
	s.looks++
	s.mu.Unlock()
	compare := e.manager.Look(e.life)
	return func(found *schema.Schema) {
		compare(found)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = slices.DeleteFunc(s.held, func(h heldBack) bool {
			answered := h.since <= look
			if answered {
				h.active.holds.Add(-1)
			}
			return answered
		})
	}
}
