package maintain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// visits counts the age of entries that nothing but time can show to be garbage (D3). The age begins when a sweep first saw
// the entry with its writetime, and is counted by this process's monotonic clock and those of the processes before it, so
// it is never more than what has passed: clocks that are stepped, and times without a process, only make it less.
//
// What is kept is bounded: a hash of each entry. Of more, the age begins to be counted when others have gone: those of look-ups at which nobody has looked for a week (they were
// dropped, or stand still) make room.
type visits struct {
	mu      sync.Mutex
	earlier time.Duration // counted by earlier processes
	tables  map[string]*tableVisits
	known   int // entries of all tables
	most    int
}

// tableVisits are the entries of one look-up table.
type tableVisits struct {
	seen map[visit]time.Duration // by the sweeper's clock, when each was first seen
	met  map[visit]struct{}      // by the sweep under way; nil: there is none

	began time.Duration // the latest sweep, by the sweeper's clock
	used  time.Duration // when somebody last looked at an entry of it
}

// unused is after how long the ages of a look-up at which nobody looks make room for others'.
const unused = 7 * 24 * time.Hour

// visit is a hash of an entry and its writetime.
type visit [16]byte

// visit hashes an entry of a look-up as a sweep found it.
func (e *entry) visit() visit {
	h := sha256.New()
	write := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		_, _ = h.Write(n[:])
		_, _ = h.Write(b)
	}
	write([]byte(e.lookup.LookUpName()))
	for _, v := range e.row() {
		write(v)
	}
	write(binary.BigEndian.AppendUint64(nil, uint64(e.at))) // #nosec G115
	return visit(h.Sum(nil)[:16])
}

// now is the sweeper's clock.
func (v *visits) now(uptime func() time.Duration) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.earlier + uptime()
}

// of is what is known of a look-up at which somebody looks now.
func (v *visits) of(table string, now time.Duration) *tableVisits {
	t := v.tables[table]
	if t == nil {
		if v.tables == nil {
			v.tables = map[string]*tableVisits{}
		}
		t = &tableVisits{seen: map[visit]time.Duration{}}
		v.tables[table] = t
	}
	t.used = now
	return t
}

// room tells whether one more can be kept, and forgets others for it.
func (v *visits) room(now time.Duration) bool {
	if v.known >= v.most {
		maps.DeleteFunc(v.tables, func(_ string, t *tableVisits) bool {
			old := now-t.used > unused
			if old {
				v.known -= len(t.seen)
			}
			return old
		})
	}
	return v.known < v.most
}

// age notes that an entry was seen, and returns since when it is known; noted is false if there is no room.
func (v *visits) age(e *entry, uptime func() time.Duration) (age time.Duration, noted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	name, now := e.visit(), v.earlier+uptime()
	t := v.of(e.lookup.LookUpName(), now)
	if t.met != nil {
		t.met[name] = struct{}{}
	}
	first, ok := t.seen[name]
	if ok {
		return now - first, true
	}
	if !v.room(now) {
		return 0, false
	}
	t.seen[name] = now
	v.known++
	return 0, true
}

// sweep is how long ago the latest sweep of a look-up began.
func (v *visits) sweep(l *match.LookUp, uptime func() time.Duration) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.earlier + uptime()
	return now - v.of(l.LookUpName(), now).began
}

// BeginSweep says that all entries of a look-up are about to be looked at. EndSweep forgets the ages of those that were not met
// any more; who does not come to the end does not call it.
func (m *Maintainer) BeginSweep(l *match.LookUp) {
	m.visits.mu.Lock()
	defer m.visits.mu.Unlock()
	now := m.visits.earlier + m.Uptime()
	t := m.visits.of(l.LookUpName(), now)
	t.met, t.began = map[visit]struct{}{}, now
}

// EndSweep ends what BeginSweep began.
func (m *Maintainer) EndSweep(l *match.LookUp) {
	v := &m.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.of(l.LookUpName(), v.earlier+m.Uptime())
	if t.met == nil {
		return
	}
	for name := range t.seen {
		if _, ok := t.met[name]; !ok {
			delete(t.seen, name)
			v.known--
		}
	}
	t.met = nil
}

func (v *visits) len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// visitsDocument is how ages are kept over a restart: the clock, and for each entry of a table its hash and when it was first
// seen, in seconds.
type visitsDocument struct {
	Clock  time.Duration     `json:"clock"`
	Tables map[string][]byte `json:"tables,omitempty"`
}

// visitSize is how many bytes of a visitsDocument an entry takes.
const visitSize = len(visit{}) + 4

// Ages returns what is to be kept over a restart.
func (m *Maintainer) Ages() json.Marshaler { return ages{m} }

type ages struct{ *Maintainer }

// MarshalJSON implements json.Marshaler.
func (a ages) MarshalJSON() ([]byte, error) {
	v := &a.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	d := visitsDocument{Clock: v.earlier + a.Uptime(), Tables: map[string][]byte{}}
	for table, t := range v.tables {
		entries := make([]byte, 0, visitSize*len(t.seen))
		for name, first := range t.seen {
			entries = append(entries, name[:]...)
			entries = binary.BigEndian.AppendUint32(entries, uint32((first+time.Second-1)/time.Second)) // #nosec G115 -- rather too late; 136 years
		}
		d.Tables[table] = entries
	}
	return json.Marshal(d)
}

// RestoreAges takes on what an earlier process kept.
func (m *Maintainer) RestoreAges(raw []byte) error {
	var d visitsDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("read the ages of entries: %w", err)
	}
	v := &m.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	v.earlier = max(d.Clock-m.Uptime(), 0)
	for table, entries := range d.Tables {
		t := v.of(table, v.earlier+m.Uptime())
		for b := entries; len(b) >= visitSize && v.known < v.most; b = b[visitSize:] {
			t.seen[visit(b[:len(visit{})])] = time.Duration(binary.BigEndian.Uint32(b[len(visit{}):])) * time.Second
			v.known++
		}
	}
	return nil
}
