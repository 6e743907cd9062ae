package statement

import (
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
)

// Bounds of a Table. Drivers prepare a statement on one connection and execute it on all of them, so it is
// known to all. When it is too much any statement goes: a workload with so many is building texts out of literals, and there is no better one
// to keep. Losing one loses counts (or, once rules are in force, costs a PREPARE); it is never wrong.
const (
	maxPrepared      = 50_000
	maxPreparedBytes = 128 << 20
)

// Known is a statement of a Table, with what its users made of it; nil before.
type Known[U any] struct {
	*Prepared
	Use atomic.Pointer[U]
}

// place holds what is known of an id now; nil in it: it had to go.
type place[U any] struct{ atomic.Pointer[Known[U]] }

// Table maps prepared ids to what Cassandra answered. The zero Table is empty.
//
// Requests of all connections look into it, and PREPAREs, which are few, change it. So there are two maps of the same places: one that
// only whoever holds the lock uses, and a copy of it that nobody changes, which is read without. Who misses the copy takes the lock; when as many
// did as there are ids, the copy is made anew: each id costs a copy's worth of looking at most once.
type Table[U any] struct {
	read    atomic.Pointer[map[string]*place[U]]
	changed atomic.Uint64

	mu      sync.Mutex
	bytes   int
	entries map[string]*place[U]
	missed  int // since the copy was made
}

// Changed is raised when an id got another answer than before (the table was altered, or made anew): who holds the old one
// asks again.
func (s *Table[U]) Changed() uint64 { return s.changed.Load() }

// Get returns what is known of an id; nil if nothing is.
func (s *Table[U]) Get(id []byte) *Known[U] {
	if copied := s.read.Load(); copied != nil {
		if at := (*copied)[string(id)]; at != nil {
			if k := at.Load(); k != nil {
				return k
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.entries[string(id)]
	if at == nil {
		return nil
	}
	if s.missed++; s.missed >= len(s.entries) {
		copied := maps.Clone(s.entries)
		s.read.Store(&copied)
		s.missed = 0
	}
	return at.Load()
}

// Put keeps an answer, in the place of others if need be.
func (s *Table[U]) Put(p *Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.entries[p.ID]; at != nil {
		old := at.Load()
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
		defer s.changed.Add(1) // once the new one is there: who looks because of it must find that
	}
	s.keep(p, maxPrepared, maxPreparedBytes)
}

func (s *Table[U]) keep(p *Prepared, most, mostBytes int) {
	if s.entries == nil {
		s.entries = make(map[string]*place[U])
	}
	at := s.entries[p.ID]
	if at == nil {
		at = new(place[U])
		s.entries[p.ID] = at
	} else {
		s.bytes -= at.Load().size()
	}
	at.Store(&Known[U]{Prepared: p})
	s.bytes += p.size()
	for other, at := range s.entries {
		if len(s.entries) <= most && s.bytes <= mostBytes {
			break
		}
		if other != p.ID {
			delete(s.entries, other)
			s.bytes -= at.Load().size()
			at.Store(nil) // in the copy, too
		}
	}
}

// size is about how much memory p takes, bytes.
func (p *Prepared) size() int {
	return 256 + len(p.Text) + len(p.ResultMetadata) + 128*(len(p.Variables)+len(p.Results))
}
