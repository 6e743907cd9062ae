package statement

import (
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

// Table maps prepared ids to what Cassandra answered. The zero Table is empty.
type Table[U any] struct {
	mu      sync.RWMutex
	bytes   int
	entries map[string]*Known[U]
	changed atomic.Uint64
}

// Changed is raised when an id got another answer than before (the table was altered, or made anew): who holds the old one
// asks again.
func (s *Table[U]) Changed() uint64 { return s.changed.Load() }

// Get returns what is known of an id; nil if nothing is.
func (s *Table[U]) Get(id []byte) *Known[U] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.entries[string(id)]
}

// Put keeps an answer, in the place of others if need be.
func (s *Table[U]) Put(p *Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[p.ID]; old != nil {
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
	s.keep(p, maxPrepared, maxPreparedBytes)
}

func (s *Table[U]) keep(p *Prepared, most, mostBytes int) {
	if s.entries == nil {
		s.entries = make(map[string]*Known[U])
	}
	if old := s.entries[p.ID]; old != nil {
		s.bytes -= old.size()
	}
	s.entries[p.ID] = &Known[U]{Prepared: p}
	s.bytes += p.size()
	for other, old := range s.entries {
		if len(s.entries) <= most && s.bytes <= mostBytes {
			break
		}
		if other != p.ID {
			delete(s.entries, other)
			s.bytes -= old.size()
		}
	}
}

// size is about how much memory p takes, bytes.
func (p *Prepared) size() int {
	return 256 + len(p.Text) + len(p.ResultMetadata) + 128*(len(p.Variables)+len(p.Results))
}
