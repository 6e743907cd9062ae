package maintain

import (
	"context"
	"fmt"
	"sync"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// A write goes on though its entry could not be put; reads are turned back until a pass found each row of the base with an entry. That is not enough:
//
//   - a write that was lost as well may be carried out after the pass: an outage keeps entry and row from being written, and a hint brings the row
//   - the entry that the pass found may be of another write of the same value, which lives for a while only
//
// So the entries of such writes are put before the next pass begins. They are in memory only: what is forgotten, after a crash or as there were too many, a sweep finds missing.

// mostOwed bounds them, of all look-ups.
const mostOwed = 10000

type owed struct {
	putting sync.Mutex // by one at a time: who finds none owed may rely on that
	mu      sync.Mutex
	entries []*entry
}

// owe has the entry of a write be put that was not, or of which that is not known.
func (m *Maintainer) owe(x *Change) {
	if x.entry == nil { // nobody tried
		m.prepare(x)
	}
	m.owed.mu.Lock()
	defer m.owed.mu.Unlock()
	if len(m.owed.entries) < mostOwed {
		m.owed.entries = append(m.owed.entries, x.entry)
	}
}

// PutOwed puts the entries of a look-up that are owed. It is called before a pass.
func (m *Maintainer) PutOwed(ctx context.Context, l *match.LookUp) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	m.owed.putting.Lock()
	defer m.owed.putting.Unlock()
	m.owed.mu.Lock()
	all := m.owed.entries
	m.owed.entries = nil
	m.owed.mu.Unlock()
	var left []*entry
	var mu sync.Mutex
	err := m.each(len(all), func(i int) error {
		e, err := all[i], error(nil)
		own := e.lookup.LookUpName() == l.LookUpName()
		if own {
			_, err = m.Session.Query(ctx, m.put(e, m.everywhere(l)))
		}
		if !own || exec.Down(err) {
			mu.Lock()
			left = append(left, e)
			mu.Unlock()
		}
		return err
	})
	m.owed.mu.Lock()
	m.owed.entries = append(m.owed.entries, left...)
	m.owed.mu.Unlock()
	if exec.Down(err) { // what Cassandra refuses it will refuse again
		return fmt.Errorf("write an entry of %s that is owed: %w", l.LookUpName(), err)
	}
	return nil
}
