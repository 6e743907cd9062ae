package rewrite

import (
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// TurnBack has all reads run as they were written from now on, because something that the truth of changes rests on failed (a
// part panicked, the state was lost). Entries are written as before, so nothing is missed. Every change is suspended, which is saved, and
// verified when a person resumes it; one whose suspension can not be saved serves no more in this process. It does not block.
func (e *Engine) TurnBack(reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.active {
		a.holds.Add(1)
		e.unsaved.Add(1)
		guard.In(&e.wait, guard.Migrations, func() {
			defer e.unsaved.Add(-1)
			if e.suspend(a, reason) {
				a.holds.Add(-1)
			}
		})
	}
}

// OnPanic turns all reads back because of a panic in what has to see writes, or to keep their tables true (proxy.Options.OnPanic).
func (e *Engine) OnPanic(err error) { e.TurnBack(err.Error()) }

// writePanicked ends a write whose entries may not have been written: reads of its changes are turned back, and it goes on as it was
// written, if it has not gone on.
func (e *Engine) writePanicked(r *proxy.Request, p *preparation, err error) {
	for _, a := range p.owners {
		a.counts.missed.Add(1)
		e.turnBack(a, err.Error(), e.manager.Reverify)
	}
	for _, u := range p.pending {
		u.active.counts.missed.Add(1)
		e.turnBack(u.active, err.Error(), e.manager.Reverify)
	}
	e.settle(p, kind.Lost)
	r.Forward(proxy.Forward{})
}
