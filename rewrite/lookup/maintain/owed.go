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
// So the entries of such writes are put before the next pass begins. They are in memory only: what is forgotten, after a crash or as there were too many, a pass finds missing, or too short.

// owedBytes bounds them, of all look-ups: of rows whose keys and values have 50 bytes that is 100,000.
const owedBytes = 16 << 20

type owed struct {
	putting sync.Mutex // by one at a time: who finds none owed may rely on that
	mu      sync.Mutex
	entries []*entry
	bytes   int // of them
	most    int // bytes
}

// keep keeps entries. Where they are too many the first go: of a change that was dropped meanwhile nobody puts them.
func (o *owed) keep(entries ...*entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range entries {
		o.entries, o.bytes = append(o.entries, e), o.bytes+e.bytes()
		for o.bytes > o.most {
			o.bytes -= o.entries[0].bytes()
			o.entries = o.entries[1:]
		}
	}
}

// take takes all.
func (o *owed) take() []*entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.entries
	o.entries, o.bytes = nil, 0
	return all
}

// of are those of one look-up. They stay.
func (o *owed) of(l *match.LookUp) (some []*entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.entries {
		if e.lookup.LookUpName() == l.LookUpName() {
			some = append(some, e)
		}
	}
	return some
}

// bytes is about what an entry takes in memory.
func (e *entry) bytes() int {
	n := 128 + len(e.value)
	for _, k := range e.key {
		n += 24 + len(k)
	}
	return n
}

// owe has the entry of a write be put that was not, or of which that is not known.
func (m *Maintainer) owe(x *Change) {
	if x.entry == nil { // nobody tried
		m.prepare(x)
	}
	m.owed.keep(x.entry)
}

// PutOwed puts the entries of a look-up that are owed. It is called before a pass.
func (m *Maintainer) PutOwed(ctx context.Context, l *match.LookUp) error {
	m.owed.putting.Lock()
	defer m.owed.putting.Unlock()
	m.recall(l)
	var (
		all  = m.owed.take()
		mu   sync.Mutex
		left []*entry
		down error // what keeps them away: then the others need not be tried
	)
	_ = m.each(len(all), func(i int) error {
		mu.Lock()
		stop := down != nil
		mu.Unlock()
		e := all[i]
		if stop || e.lookup.LookUpName() != l.LookUpName() {
			mu.Lock()
			defer mu.Unlock()
			left = append(left, e)
			return nil
		}
		everywhere, err := m.putOwed(ctx, l, e)
		mu.Lock()
		defer mu.Unlock()
		if exec.Down(err) { // what Cassandra refuses it will refuse again
			down = err
		}
		if exec.Down(err) || !everywhere {
			left = append(left, e)
		}
		return nil
	})
	m.owed.keep(left...)
	if down != nil {
		return fmt.Errorf("write an entry of %s that is owed: %w", l.LookUpName(), down)
	}
	return nil
}

// putOwed puts an entry. Where a whole data centre is down the others do not wait for it; it is put there before a later pass.
func (m *Maintainer) putOwed(ctx context.Context, l *match.LookUp, e *entry) (everywhere bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	level := m.everywhere(l)
	_, err = m.Session.Query(ctx, m.put(e, level))
	if level == m.settings.Consistency || !exec.Down(err) {
		return true, err
	}
	_, err = m.Session.Query(ctx, m.put(e, m.settings.Consistency))
	return false, err
}
