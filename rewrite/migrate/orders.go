package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Rollback turns reads back at once, and then stops writing entries. The table is kept.
func (m *Manager) Rollback(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	state := r.get().State
	if state == RollingBack {
		return nil
	}
	if !phases[state].back {
		return &ErrState{id, "roll back", state, "there is nothing left to roll back"}
	}
	return m.transition(ctx, r, "", RollingBack, order{actor, "rollback"}, "roll-back ordered", nil)
}

// GiveUp is Rollback by itself, for a reason.
func (m *Manager) GiveUp(ctx context.Context, id, reason string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	if state := r.get().State; state == RollingBack || !phases[state].back {
		return nil
	}
	return m.transition(ctx, r, "", RollingBack, order{store.Guard, "rollback"}, "rolled back: "+reason, func(x *Change) { x.Reason = reason })
}

// Resume takes a suspended or failed change on, through verification, if it fits the schema as it is now.
func (m *Manager) Resume(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	have := r.get()
	if have.State != Suspended && have.State != Failed {
		return &ErrState{id, "resume", have.State, "only one that is suspended or failed can be resumed"}
	}
	f, refusal := m.again(ctx, r, &have)
	if refusal != "" {
		reason := "what stopped it has not been set back: " + refusal
		if !strings.Contains(refusal, anew) {
			reason += "; set it back, or roll the change back"
		}
		return &ErrState{id, "resume", have.State, reason}
	}
	if err := m.unmark(ctx, r); err != nil {
		return fmt.Errorf("change %s can not be resumed yet: %w", id, err)
	}
	to := have.Resumes()
	return m.transition(ctx, r, have.State, to, order{actor, "resume"}, "resumed", func(x *Change) {
		r.fits(f.fitted)
		x.Base, x.Broken = *f.base, false
		// Entries may have been removed from it before it was filled, too.
		emptied := have.TableID != "" && (x.Refill || have.State == Failed || have.Broken)
		x.Keeps = x.Keeps && x.Refill && have.State != Failed && !have.Broken
		x.Refill = to == DualWrite || to == Approved && emptied
		// What nobody followed while it was stopped, as through a member that was bypassed, may be on its way still.
		x.Unfollowed = true
	})
}

// unmark clears the comment of a change's table, if an order could not be stored once.
func (m *Manager) unmark(ctx context.Context, r *run) error {
	r.mu.Lock()
	marked := r.marked
	r.mu.Unlock()
	if !marked {
		return nil
	}
	return m.comments(ctx, r, "")
}

// Suspend turns the reads of a change back at once, and has saved so when it returns without error. If broken, entries
// are not written any more either.
func (m *Manager) Suspend(ctx context.Context, id, reason string, broken bool) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	return m.suspend(ctx, r, reason, broken)
}

func (m *Manager) suspend(ctx context.Context, r *run, reason string, broken bool) error {
	r.orders.Lock() // whoever suspends it just now has to have done so
	defer r.orders.Unlock()
	return m.rest(ctx, r, reason, broken, func(*Change) {})
}

// rest is suspend for those who hold r.orders; also is what else they make of the change.
func (m *Manager) rest(ctx context.Context, r *run, reason string, broken bool, also func(*Change)) error {
	return m.insist(ctx, func() error {
		have := r.get()
		switch have.State {
		case Failed, RollingBack, RolledBack, Dropped:
			return nil
		case Suspended:
			if have.Broken || !broken {
				return nil
			}
		}
		return m.turn(ctx, r, Suspended, order{store.Guard, "suspend"}, "suspended: "+reason, func(x *Change) {
			x.Reason, x.Broken = reason, x.Broken || broken
			also(x)
		})
	})
}

// Reverify turns the reads of a change back at once, because of something that may have made its tables untrue: until a whole
// pass of verification, begun after all that was under way has ended, finds nothing missing. Then it goes on by itself.
func (m *Manager) Reverify(ctx context.Context, id, reason string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	r.orders.Lock()
	defer r.orders.Unlock()
	return m.insist(ctx, func() error { return m.reverify(ctx, r, reason) }) // what another process makes of it meanwhile has to be verified, too
}

// Unwritten is Reverify for entries that were missed while nothing rested on them: what is filled yet is verified anyway, after what is under way now, so it is noted once.
func (m *Manager) Unwritten(ctx context.Context, id, reason string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	if have := r.get(); have.Unfollowed && (have.State == DualWrite || have.State == Backfill) {
		return nil
	}
	return m.Reverify(ctx, id, reason)
}

// reverify is Reverify once; r.orders is held.
func (m *Manager) reverify(ctx context.Context, r *run, reason string) error {
	have := r.get()
	if have.Emptying > 0 && filled[have.State] { // whoever sent that on may be gone: else he orders it once more
		return m.refillNow(ctx, r, reason+"; its base may have been emptied", func(x *Change) { x.Emptying = 0 })
	}
	if have.Broken {
		return nil
	}
	switch have.State {
	case DualWrite, Backfill: // nothing rests on it before it is verified
		r.mu.Lock()
		defer r.mu.Unlock()
		return m.doubted(ctx, r)
	case Verify, Shadow, Serving:
		r.mu.Lock()
		r.doubts.add(m.Now())
		r.mu.Unlock()
		text := "turned back until verified: " + reason
		if have.State == Verify {
			err := m.anew(ctx, r, reason)
			if have.Relied {
				m.publish()
			}
			return err
		}
		return m.turn(ctx, r, Verify, order{store.Guard, "verify"}, text, func(x *Change) { x.Reason = reason; x.doubt() })
	}
	return nil
}

// doubt takes note that a write could not be followed.
func (m *Change) doubt() { m.Unfollowed, m.Relied, m.Doubts = true, false, m.Doubts+1 }

// Doubt adds one more write that could not be followed to what is in force of a change and waits to be stored, if that is to be verified: verification begins anew, and the doubt is stored
// with the rest. It reports whether it did so, and waits for nobody.
func (m *Manager) Doubt(id string) bool {
	r, err := m.find(id)
	if err != nil || !r.mu.TryLock() { // it is just being stored
		return false
	}
	defer r.mu.Unlock()
	if r.m.Pending == "" || r.m.State != Verify || r.m.Relied || r.m.Broken || r.m.Emptying > 0 {
		return false
	}
	r.doubts.add(m.Now())
	r.again()
	r.m.doubt()
	return true
}

// again has the verification under way begin anew; r.mu is held.
func (r *run) again() {
	r.turns++
	if r.cancel != nil {
		r.cancel()
	}
}

// anew begins the verification under way anew; r.orders is held.
func (m *Manager) anew(ctx context.Context, r *run, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again()
	r.m.Reason = reason
	return m.doubted(ctx, r, store.Entry{At: m.Now(), Action: "verify", Target: r.id, Reason: "verified anew: " + reason, Before: string(r.m.State), After: string(r.m.State)}.By(ctx, store.Guard))
}

// doubted stores a doubt of a change that serves nothing, at once or later. If another process was first, what that stored is taken on, and the doubt is to be told of that.
// r.orders and r.mu are held.
func (m *Manager) doubted(ctx context.Context, r *run, told ...store.Entry) error {
	r.m.doubt()
	if r.m.Pending != "" {
		told = nil // the trail says already that it is verified anew, once it can be written: in a long outage there are many
	}
	r.trail = append(r.trail, told...)
	err := m.save(ctx, r, &r.m)
	if errors.Is(err, errElsewhere) {
		r.trail = r.trail[:len(r.trail)-len(told)]
		m.rebase(r)
		return err
	}
	if err != nil {
		return m.postpone(r, err)
	}
	return nil
}

// Refill turns the reads of a change back at once, empties its table, and has it filled and verified anew.
func (m *Manager) Refill(ctx context.Context, id, reason string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	return m.refill(ctx, r, reason, nil)
}

// Emptying notes that a statement which empties the base of a change is about to go on. Emptied, or Spared if it was refused, is to follow; of a process that is killed before, the
// one that follows it, or the others of its fleet, know by this that the change is to be filled anew.
func (m *Manager) Emptying(ctx context.Context, id string) error { return m.emptying(ctx, id, 1) }

// Spared says that a statement of Emptying was refused.
func (m *Manager) Spared(ctx context.Context, id string) error { return m.emptying(ctx, id, -1) }

func (m *Manager) emptying(ctx context.Context, id string, more int) error {
	r, err := m.find(id)
	if err != nil || !filled[r.get().State] {
		return err
	}
	return m.update(ctx, r, func(x *Change) { x.Emptying = max(0, x.Emptying+more) })
}

// filled are the states in which there may be entries that are kept.
var filled = map[State]bool{DualWrite: true, Backfill: true, Verify: true, Shadow: true, Serving: true, Suspended: true, Failed: true}

// Emptied is Refill because of a statement of Emptying that was carried out, or may have been.
func (m *Manager) Emptied(ctx context.Context, id, reason string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	return m.refill(ctx, r, reason, func(x *Change) { x.Emptying = max(0, x.Emptying-1) })
}

func (m *Manager) refill(ctx context.Context, r *run, reason string, change func(*Change)) error {
	r.orders.Lock()
	defer r.orders.Unlock()
	return m.refillNow(ctx, r, reason, change)
}

// refillNow is refill for those who hold r.orders.
func (m *Manager) refillNow(ctx context.Context, r *run, reason string, change func(*Change)) error {
	all := func(x *Change) {
		x.refill(false)
		if change != nil {
			change(x)
		}
	}
	return m.insist(ctx, func() error {
		switch r.get().State {
		case DualWrite, Backfill, Verify, Shadow, Serving:
			return m.turn(ctx, r, DualWrite, order{store.Guard, refilling}, "emptied, and filled anew: "+reason, func(x *Change) {
				x.Reason = reason
				all(x)
			})
		case Suspended, Failed: // it may be resumed by now
			return m.refillLater(ctx, r, "to be emptied, and filled anew, once it is resumed: "+reason, all)
		}
		return nil // its table is not there yet, or is nobody's business any more
	})
}

// refilling is the action of an order to empty tables and fill them anew.
const refilling = "refill"

// refillLater has the tables of a change that was stopped be emptied when it is resumed. If another process was first, what that stored is taken on, and is to be told so.
// r.orders is held.
func (m *Manager) refillLater(ctx context.Context, r *run, text string, change func(*Change)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m.State != Suspended && r.m.State != Failed {
		return errElsewhere
	}
	change(&r.m)
	r.m.note(m.Now(), "", text)
	r.trail = append(r.trail, store.Entry{At: m.Now(), Action: refilling, Target: r.id, Reason: text, Before: string(r.m.State), After: string(r.m.State)}.By(ctx, store.Guard))
	err := m.save(ctx, r, &r.m)
	if errors.Is(err, errElsewhere) {
		r.trail = r.trail[:len(r.trail)-1]
		m.rebase(r)
		return err
	}
	if err != nil {
		return m.postpone(r, err)
	}
	return nil
}

// emptied empties a change's table, once nothing is removed from it any more because of what was seen before: neither here, nor by other members, nor by what is under way inside Cassandra.
func (m *Manager) emptied(ctx context.Context, r *run) error {
	if err := m.barrier(ctx, r); err != nil {
		return err
	}
	if d, ok := r.fitted().(kind.Emptied); ok {
		d.BeforeEmptied()
	}
	if err := m.Wait(ctx, m.settings.Settle); err != nil {
		return err
	}
	return m.empty(ctx, r)
}

// empty removes all entries of a change's table.
func (m *Manager) empty(ctx context.Context, r *run) error {
	tables := r.tables()
	if len(tables) == 0 {
		return nil
	}
	if table, err := m.owned(ctx, r); err != nil {
		return err
	} else if table == nil {
		return &stop{to: Failed, reason: drift("the %s table %s is gone: "+anew, r.noun(), &tables[0])}
	}
	if err := m.patiently(ctx, r, "its table is being emptied, for which all nodes must be up", func(ctx context.Context) error {
		for i := range tables {
			if !tables[i].Holds {
				continue
			}
			if _, err := m.Session.Query(ctx, exec.Query{Text: tables[i].Truncate(), Consistency: gocql.All}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("empty %s: %w", &tables[0], err)
	}
	return nil
}

// doubts counts how often a verification was in vain because of a write that could not be followed. What comes before one has begun, as when entries can not be written for
// a while, is one doubt together: it begins after the last of them, and nothing was in vain.
type doubts struct {
	n       int
	last    time.Time
	scanned bool // tables were compared since
}

// calm is after how long without doubt the next one is the first again.
const calm = time.Hour

func (d *doubts) add(now time.Time) {
	if now.Sub(d.last) > calm {
		d.n = 0
	}
	if d.n == 0 || d.scanned {
		d.n++
	}
	d.last, d.scanned = now, false
}

// maxDoubtful is the longest that verification waits for doubts to end.
const maxDoubtful = 10 * time.Minute

// pause is how long to wait before verification begins: as long as a write may be on its way inside Cassandra, and twice as
// long at each further doubt. An application that goes on with such writes does not have its tables scanned all the time.
func (d *doubts) pause(settle time.Duration) time.Duration {
	for n := 1; n < d.n && 2*settle <= maxDoubtful; n++ {
		settle *= 2
	}
	return settle
}
