package maintain

import (
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// What shows an entry to be garbage is something above it in the base. Once the base was emptied that is there no more, and its rows may come again with their timestamps of before, as who restores a
// backup writes them: a removal by what was seen before would hide their entries. The look-up is emptied, too, of such removals; and no removal of before may come after that.
//
//	NewEra  is called before a look-up is emptied, at each member of a fleet, once all requests of before have ended
//	        it returns when nothing is being removed any more by what was seen before; what waits to be is left to the sweeps
//	lost    the entries of writes that were lost are emptied away, too, though such a write may be carried out yet: before the next pass they are put again, as those that are owed

// eras tell what was seen before a base was emptied from what is seen since.
type eras struct {
	now atomic.Uint64

	mu    sync.Mutex
	ended sync.Cond
	under map[uint64]int // removals under way, from a look at the base to what is removed because of it, by the era in which they began

	lost    owed     // put, of writes that were lost
	emptied sync.Map // names of look-ups whose lost entries are to be put again
}

// lostBytes bounds the entries of lost writes that are kept, of all look-ups.
const lostBytes = 4 << 20

// removing says that something is being removed until end is called.
func (e *eras) removing() (end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	era := e.now.Load()
	e.under[era]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.under[era]--; e.under[era] == 0 {
			delete(e.under, era)
			e.ended.Broadcast()
		}
	}
}

// NewEra begins an era: the look-up is about to be emptied. It returns when nothing is being removed any more by what was seen before.
func (m *Maintainer) NewEra(l *match.LookUp) {
	e := &m.eras
	e.emptied.Store(l.LookUpName(), true)
	e.mu.Lock()
	defer e.mu.Unlock()
	era := e.now.Add(1)
	before := func() bool {
		for began := range e.under {
			if began < era {
				return true
			}
		}
		return false
	}
	for before() {
		e.ended.Wait()
	}
}

// stale tells whether a write was answered in an era before. What was refused never was in the base, and has its own entry removed alone.
func (m *Maintainer) stale(c completion) bool {
	return c.change != nil && c.answer == kind.Applied && c.era != m.eras.now.Load()
}

// recall has the entries of lost writes be owed that may have been emptied away.
func (m *Maintainer) recall(l *match.LookUp) {
	if _, emptied := m.eras.emptied.LoadAndDelete(l.LookUpName()); emptied {
		m.owed.keep(m.eras.lost.of(l)...)
	}
}
