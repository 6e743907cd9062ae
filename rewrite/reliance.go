package rewrite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Whether a write has to wait for its entry, and for other members, depends on whether something rests on the entry: answers, or comparisons. A process alone knows. A
// member of a fleet may be behind the others, so it has to know that none is ahead:
//
//	nothing rests on a change's entries at a member until a pass has found them whole and that was stored (migrate.Mode.Rely); before any member compares or
//	answers by the change, all have acknowledged that (migrate.relyOn). So once all members have followed a state before that, none is ahead of this one, until it follows such an order itself.
//	an entry that is missed until then is owed: the order to verify follows within moments, and no such order is acknowledged before that (Engine.Barrier).

// reliance is what a member knows of who relies on the entries of a change.
type reliance struct {
	here   atomic.Bool   // something may rest on them here
	moment atomic.Int64  // by Members.Moment, 1 at least: when nothing did by what was stored; 0: that is not known
	sets   atomic.Uint64 // how often it was set
	debt   *debt
}

func (r *reliance) set(rely bool) {
	r.sets.Add(1)
	if was := r.here.Swap(rely); was || rely {
		r.moment.Store(0)
	}
	if rely {
		r.debt.hurry()
	}
}

// debt is entries that were missed when nothing rested on them, and of which no order to verify was given yet.
type debt struct {
	missed atomic.Int64
	paying atomic.Bool
	now    chan struct{}
}

func newDebt() *debt { return &debt{now: make(chan struct{}, 1)} }

func (d *debt) hurry() {
	select {
	case d.now <- struct{}{}:
	default:
	}
}

// free tells whether nothing rests on the entries of a change at any member, and nothing will before this one knows.
func (a *active) free() bool {
	moment := a.reliance.moment.Load()
	return moment > 0 && !a.reliance.here.Load() && a.members.Followed(time.Duration(moment))
}

// followReliance notes of which changes nothing rests on the entries, by what is stored. What is stored by now others may not have followed yet.
func (e *Engine) followReliance() {
	type candidate struct {
		*active
		sets uint64
	}
	var all []candidate
	e.mu.Lock()
	for _, a := range e.active {
		if a.reliance.moment.Load() == 0 && !a.reliance.here.Load() {
			all = append(all, candidate{a, a.reliance.sets.Load()})
		}
	}
	e.mu.Unlock()
	for _, c := range all {
		if e.manager.Relied(c.id) {
			continue
		}
		moment := max(1, int64(e.options.Members.Moment()))
		e.mu.Lock()
		if c.reliance.sets.Load() == c.sets { // else it was put in force anew meanwhile
			c.reliance.moment.Store(moment)
		}
		e.mu.Unlock()
	}
}

// oweEvery is the time between orders to verify because of entries that are missed one after the other.
const oweEvery = 2 * time.Second

// owe notes that a write goes on without its entry though nothing rests on that. The order to verify is given beside it.
func (e *Engine) owe(a *active, reason string) {
	d := a.reliance.debt
	d.missed.Add(1)
	if !d.paying.CompareAndSwap(false, true) {
		return
	}
	guard.In(&e.wait, guard.Migrations, func() { e.pay(a, reason) }) // or its orders would begin beside Close's wait
}

// pay gives orders to verify until no entry is owed any more.
func (e *Engine) pay(a *active, reason string) {
	d := a.reliance.debt
	for {
		if owed := d.missed.Load(); owed > 0 {
			e.turnBack(a, reason, e.manager.Unwritten) // by which nothing is acknowledged until it is stored
			d.missed.Add(-owed)
		}
		pause := time.NewTimer(oweEvery)
		select {
		case <-pause.C:
		case <-d.now:
		case <-e.open.Done():
		}
		pause.Stop()
		if d.missed.Load() > 0 {
			continue
		}
		d.paying.Store(false)
		if d.missed.Load() == 0 || !d.paying.CompareAndSwap(false, true) { // what came just then begins anew
			return
		}
	}
}

// Barrier returns when every request that was under way has ended, no entry is owed that something rests on now, and nothing of before is removed from tables that are about to be emptied.
func (e *Engine) Barrier(ctx context.Context) error {
	if err := e.options.Traffic.Barrier(ctx); err != nil {
		return err
	}
	e.beforeEmptied()
	for e.owes() {
		pause := time.NewTimer(10 * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-e.life.Done():
			pause.Stop()
			return e.life.Err()
		case <-pause.C:
		}
	}
	return nil
}

func (e *Engine) beforeEmptied() {
	var all []kind.Emptied
	e.mu.Lock()
	for _, a := range e.active {
		if d, ok := a.change.(kind.Emptied); ok && a.empties.Load() {
			all = append(all, d)
		}
	}
	e.mu.Unlock()
	for _, d := range all {
		d.BeforeEmptied()
	}
}

// owed is how many entries were missed of which no order was given yet. They are hurried.
func (e *Engine) owed() (sum int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.active {
		if n := a.reliance.debt.missed.Load(); n > 0 {
			a.reliance.debt.hurry()
			sum += n
		}
	}
	return sum
}

// owes tells whether an entry is owed that something rests on, or an order to verify because of one.
func (e *Engine) owes() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.active {
		if !a.reliance.here.Load() {
			continue
		}
		if a.telling.Load() > 0 {
			return true
		}
		if a.reliance.debt.missed.Load() > 0 {
			a.reliance.debt.hurry()
			return true
		}
	}
	return false
}
