package rewrite

import (
	"context"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A fleet is several processes with one state (internal/fleet). To an Engine it matters in these places:
//
//	a read          is answered by a change while the member's lease holds, when it begins and when it ends (active.serving)
//	a barrier       of a change waits for all members (everywhere)
//	a write         that turns reads back goes on when no member answers any more by what was turned back (quiet); while it is known that none answers, none is waited for (reliance.go)
//	what is stored  by others is taken on (Follow)
//
// and one member, the leader, drives the changes.

// Members is what an Engine needs of a fleet; *fleet.Member is one.
type Members interface {
	// Serving reports whether reads may be answered now. It waits for nothing.
	Serving() bool
	// Quiet returns when no member answers by what was turned back here before; stored is closed once that is stored.
	Quiet(ctx context.Context, stored <-chan struct{}) error
	// Barrier returns when all members have acknowledged the state as it is now.
	Barrier(ctx context.Context, progress func(string)) error
	// Followed reports whether all members have put in force what was stored before a Moment.
	Followed(moment time.Duration) bool
	Moment() time.Duration
	// Blocked says why nothing can be verified because of another member.
	Blocked() string
	Leads() bool
	Lead(ctx context.Context, f func(context.Context))
}

// everywhere is the traffic of all members.
type everywhere struct {
	here    migrate.Traffic
	members Members
}

// Barrier implements migrate.Traffic.
func (t everywhere) Barrier(ctx context.Context) error {
	if err := t.here.Barrier(ctx); err != nil {
		return err
	}
	return t.members.Barrier(ctx, nil)
}

// quiet waits until no member of the fleet answers by what was turned back.
func (e *Engine) quiet(stored ...<-chan struct{}) {
	if e.options.Members == nil || len(stored) == 0 {
		return
	}
	waiting, cancel := context.WithCancel(e.life)
	defer cancel()
	_ = e.options.Members.Quiet(waiting, all(waiting, stored)) // which ends with the process
}

// all is closed once each of some is.
func all(life context.Context, some []<-chan struct{}) <-chan struct{} {
	if len(some) == 1 {
		return some[0]
	}
	done := make(chan struct{})
	guard.Go(guard.Writes, func() {
		for _, one := range some {
			select {
			case <-one:
			case <-life.Done():
				return
			}
		}
		close(done)
	}, nil)
	return done
}

// warn turns reads back everywhere before a write goes on of which it is not known what it changes.
func (e *Engine) warn(p *preparation) {
	if e.options.Members == nil {
		return
	}
	var stored []<-chan struct{}
	for _, d := range p.doubts {
		if d.active.write.Load() { // also where nothing rests on it yet: of such a write nothing is owed
			stored = append(stored, e.turnedBack(d.active, d.reason))
		}
	}
	e.quiet(stored...)
}

// warnOfTouches does so before a statement on tables of ours goes on.
func (e *Engine) warnOfTouches(touches []touch) {
	var stored []<-chan struct{}
	for _, t := range touches {
		if t.alters {
			continue // of that the events tell each member
		}
		if t.active.used() || t.active.members != nil && t.active.write.Load() {
			stored = append(stored, e.turnedBack(t.active, "a client is about to say "+t.what+" a table of ours"))
		}
	}
	e.quiet(stored...)
}

// Withholding reports whether reads were turned back here, and that is not stored yet.
func (e *Engine) Withholding() bool { return e.unsaved.Load() > 0 || e.manager.Backlog() > 0 }

// Unfollowed says why nothing can be verified because of this process; "" if it can.
func (e *Engine) Unfollowed() string {
	if e.unreadable() {
		return Unreadable
	}
	return e.manager.Unfit()
}

// Rules is a number that grows whenever there is something that requests under way may not know yet: other rules, or an order that turned reads back.
func (e *Engine) Rules() uint64 { return e.epoch.Load() + e.orders.Load() }

// Follow takes on what other members have stored, and has put it in force when it returns.
func (e *Engine) Follow(ctx context.Context) error {
	if err := e.followBypass(ctx); err != nil {
		return err
	}
	if err := e.manager.Follow(ctx); err != nil {
		return err
	}
	e.learn()
	e.followReliance()
	var ids []string
	for _, m := range e.manager.Migrations() {
		ids = append(ids, m.ID)
	}
	if err := e.gains.Learn(ctx, ids); err != nil {
		e.log.Warn("what changes are worth could not be read", "err", err)
	}
	return nil
}

// learn puts what this member owes the tables of changes on which something rests now, for the others, who wait for that (Barrier); and finds what they noted. Until that is known this member answers
// nothing by them; nobody else waits for it. What is noted since turns the reads back before its write goes on.
func (e *Engine) learn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.active {
		n, ok := a.derived.(kind.Noting)
		if !ok || !a.reliance.here.Load() || !a.learned.CompareAndSwap(false, true) {
			continue
		}
		a.holds.Add(1)
		a.learning.Add(1)
		a.telling.Add(1)
		guard.In(&e.wait, guard.Migrations, func() {
			told := false
			for wait := time.Second; ; wait = min(2*wait, 10*time.Second) {
				err := n.Tell(e.life)
				if !told && (err == nil || !a.reliance.here.Load()) {
					a.telling.Add(-1)
					told = true
				}
				if err == nil {
					err = n.Learn(e.life)
				}
				if err == nil || !a.reliance.here.Load() { // or it is begun again when something does
					a.learning.Add(-1)
					a.holds.Add(-1)
					return
				}
				e.log.Warn("what this member owes could not be written, or what others noted not be read: nothing is answered by a change here until then", "change_id", a.id, "err", err)
				if sleep.For(e.open, wait) != nil {
					return
				}
			}
		})
	}
}

// ReverifyAll has all changes verified before they are served again, and has stored so when it returns without error.
func (e *Engine) ReverifyAll(ctx context.Context, reason string) error {
	return e.manager.ReverifyAll(ctx, reason)
}

// Unsaved is how many orders are in force here, or owed, and not stored.
func (e *Engine) Unsaved() int { return e.manager.Backlog() + int(e.unsaved.Load()) + int(e.owed()) }

// Settle waits until all orders that are in force here, or owed, are stored, and returns how many are not when the context ends.
func (e *Engine) Settle(ctx context.Context) int {
	for e.Unsaved() > 0 && sleep.For(ctx, 20*time.Millisecond) == nil {
		continue
	}
	return e.Unsaved()
}
