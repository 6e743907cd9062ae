package migrate

import (
	"context"
	"errors"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

// less tells whether a mode asks less of the proxy than another.
func (a Mode) less(b Mode) bool {
	return (b.Serve && !a.Serve) || (b.Shadow && !a.Shadow) || (b.Rely && !a.Rely) || (b.Write && !a.Write)
}

// order is who turns a change, and what he calls that: a person, or store.Self, whose work is done, or store.Guard, who has found something.
type order struct{ actor, action string }

// person is the actor, "" if it is none.
func (o order) person() string {
	if o.actor == store.Self || o.actor == store.Guard {
		return ""
	}
	return o.actor
}

// transition changes a change on somebody's order if it is still in the state given ("" for any).
func (m *Manager) transition(ctx context.Context, r *run, from, to State, by order, text string, change func(*Change)) error {
	r.orders.Lock()
	defer r.orders.Unlock()
	if from != "" && r.get().State != from {
		return nil
	}
	return m.turn(ctx, r, to, by, text, change)
}

// advance changes a change whose work is done, unless an order came since that work began.
func (m *Manager) advance(ctx context.Context, r *run, turns int, to State, text string, change func(*Change)) error {
	r.orders.Lock()
	defer r.orders.Unlock()
	if r.turned(turns) {
		return nil
	}
	return m.turn(ctx, r, to, order{store.Self, advancing}, text, change)
}

// turned tells whether an order came since a work began.
func (r *run) turned(turns int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns != turns
}

// turn changes the state of a change, in the right order: what asks more is stored before it is published, what asks
// less is published before it is stored. What does not ask more holds whether it could be stored or not, and is stored again
// and again until it is; the error is then an *ErrPending. If another process has changed it, what that made of it is taken on, and the order
// is given again if the table has it from there too; work that is done is not: it was done for what the change was. r.orders is held.
func (m *Manager) turn(ctx context.Context, r *run, to State, by order, text string, also func(*Change)) error {
	for try := 1; ; try++ {
		err := m.turnOnce(ctx, r, to, by, text, also)
		if try > 1 && by.actor == store.Guard && is[*change.MoveError](err) { // what was taken on asks for another order, or for none: whoever gives it looks (insist)
			m.publish()
			return errElsewhere
		}
		if !errors.Is(err, errElsewhere) {
			if try > 1 {
				m.publish()
			}
			return err
		}
		switch guards := by.actor == store.Guard; {
		case guards:
			err = m.contend(ctx, try)
		case by.action != advancing && try < tries:
			err = nil
		}
		if err != nil {
			m.publish()
			return err
		}
	}
}

// insist gives an order of the guard's again, upon what another process has stored, until none was before. What was taken on is in force then, too. r.orders is held.
func (m *Manager) insist(ctx context.Context, give func() error) error {
	err := give()
	if !errors.Is(err, errElsewhere) {
		return err
	}
	defer m.publish()
	for try := 1; errors.Is(err, errElsewhere); try++ {
		if err := m.contend(ctx, try); err != nil {
			return err
		}
		err = give()
	}
	return err
}

// contend waits before an order of the guard's is given once more that another process was before, the longer the more often that was so: the first times not at all.
func (m *Manager) contend(ctx context.Context, try int) error {
	if try >= tries && m.Wait(ctx, time.Duration(min(try, 20))*10*time.Millisecond) != nil {
		return ErrContended
	}
	return nil
}

// ErrContended says that an order of the guard's was given again and again, and each time another process had stored something else meanwhile: it is neither in force nor stored,
// and is to be given again.
var ErrContended = errors.New("other processes change it all the time")

// tries is how often an order meets another's at once before it waits, or is given back to the person who gave it.
const tries = 5

// advancing is the action of work that is done.
const advancing = "advance"

// turnOnce is turn, but for what is done when another process was first: that is taken on already.
func (m *Manager) turnOnce(ctx context.Context, r *run, to State, by order, text string, also func(*Change)) error {
	r.mu.Lock()
	now, before := m.Now(), r.m
	from := before.State
	if o := change.Order(by.action); !change.Allowed(o, from, to) {
		r.mu.Unlock()
		return &change.MoveError{ID: r.id, Order: o, From: from, To: to}
	}
	next := r.m.clone()
	next.State, next.Relied = to, false
	if to != RolledBack { // which follows upon rolling back, and has its reason
		next.Reason = ""
	}
	next.Progress = Progress{Started: now}
	next.Served = next.Served || to == Serving
	next.Throttle.Paused = next.Throttle.Paused && pausable[to]
	if also != nil {
		also(&next)
	}
	next.note(now, by.person(), text)
	entry := store.Entry{At: now, Action: by.action, Target: r.id, Reason: text, Before: string(r.m.State), After: string(to)}.By(ctx, by.actor)
	lowers, raises := next.Mode().less(r.m.Mode()), r.m.Mode().less(next.Mode())
	cancel := r.cancel
	if lowers {
		r.m = next
		r.repace()
		r.turns++
		turns := r.turns
		r.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		m.publish()
		r.mu.Lock()
		if r.turns != turns { // the work under way has stored what it found, and taken on what another process had stored: this order is none of that
			r.mu.Unlock()
			return errElsewhere
		}
		next = r.m // what is counted has gone on
	}
	r.trail = append(r.trail, entry)
	err := m.save(ctx, r, &next)
	if errors.Is(err, errElsewhere) {
		r.trail = r.trail[:len(r.trail)-1]
		before.Pending = r.m.Pending // it may have been stored meanwhile
		r.m = before                 // this order is given again, upon that
		m.rebase(r)
		r.mu.Unlock()
		return err
	}
	if err != nil && raises {
		r.trail = r.trail[:len(r.trail)-1] // it did not happen
		r.mu.Unlock()
		m.Log.Error("a change could not be saved", "change_id", next.ID, "order", by.action, "actor", entry.Actor, "state", to, "err", err)
		return err
	}
	if !lowers {
		r.turns++
	}
	r.m = next
	r.repace()
	if err != nil {
		err = m.postpone(r, err)
	}
	r.mu.Unlock()
	if !lowers {
		m.publish()
		if cancel != nil {
			cancel()
		}
	}
	m.Log.Info("change", "change_id", next.ID, "order", by.action, "state", to, "actor", entry.Actor, "from", entry.From, "text", text)
	if d, ok := decisionOf(from, to, by.person()); ok {
		m.tally.add(d)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return err
}

// save stores a change as it is, and who made it so, which ends what was pending; r.mu is held.
func (m *Manager) save(ctx context.Context, r *run, x *Change) error {
	stored := *x
	stored.Pending = ""
	now := r.m.clone()
	r.mu.show(&now)
	defer r.mu.show(nil)
	if err := m.keep(ctx, r, &stored, r.trail...); err != nil {
		return err
	}
	x.Pending, r.trail = "", nil
	return nil
}

// mark carries out an order that leaves a change in its state: change makes it so, and says whether that is anything new, or why it can not be. An order that can not be
// stored was not given.
func (m *Manager) mark(ctx context.Context, id string, by order, text string, change func(*Change) (fresh bool, err error)) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	r.orders.Lock()
	defer r.orders.Unlock()
	r.mu.Lock()
	err = m.markOnce(ctx, r, by, text, change)
	elsewhere := errors.Is(err, errElsewhere)
	if elsewhere {
		m.rebase(r)
		err = m.markOnce(ctx, r, by, text, change)
	}
	r.mu.Unlock()
	if elsewhere {
		m.publish()
	}
	select {
	case r.samples <- struct{}{}: // whoever waits in shadow looks again
	default:
	}
	return err
}

// markOnce is mark upon what is known here; r.mu is held.
func (m *Manager) markOnce(ctx context.Context, r *run, by order, text string, change func(*Change) (bool, error)) error {
	next := r.m.clone()
	if fresh, err := change(&next); err != nil || !fresh {
		return err
	}
	now := m.Now()
	next.note(now, by.person(), text)
	entry := store.Entry{At: now, Action: by.action, Target: r.id, Reason: text, Before: string(next.State), After: string(next.State)}.By(ctx, by.actor)
	r.trail = append(r.trail, entry)
	if err := m.save(ctx, r, &next); err != nil {
		r.trail = r.trail[:len(r.trail)-1]
		return err
	}
	r.m = next
	r.repace()
	m.Log.Info("change", "change_id", r.id, "order", by.action, "state", next.State, "actor", entry.Actor, "from", entry.From, "text", text)
	return nil
}

// update changes what is known of a change without changing its state, and saves it.
func (m *Manager) update(ctx context.Context, r *run, change func(*Change)) error {
	return m.saved(ctx, r, once(r, change))
}

// record is update for what a worker has found out: if it can not be saved it is saved again, and not found out again.
func (m *Manager) record(ctx context.Context, r *run, change func(*Change)) error {
	apply := once(r, change)
	return m.persist(ctx, func() error { return m.saved(ctx, r, apply) })
}

// once is a change that is made again only of what was taken on since. r.mu is held when it is called.
func once(r *run, change func(*Change)) func(*Change) {
	turns, made := 0, false
	return func(x *Change) {
		if !made || r.turns != turns {
			change(x)
			turns, made = r.turns, true
		}
	}
}

// saved makes a change and saves it.
func (m *Manager) saved(ctx context.Context, r *run, change func(*Change)) error {
	r.mu.Lock()
	change(&r.m)
	err := m.save(ctx, r, &r.m)
	elsewhere := errors.Is(err, errElsewhere)
	if elsewhere {
		m.rebase(r)
		change(&r.m)
		err = m.save(ctx, r, &r.m)
	}
	r.mu.Unlock()
	if elsewhere {
		m.publish()
	}
	return err
}
