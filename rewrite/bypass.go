package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
)

// The kill-switch. While the relay is bypassed, reads and writes go to Cassandra as they came, so no look-up is read, and none is
// written either: each misses what is written meanwhile. That must never be served, whatever happens in between, so the order is:
//
//	on:   bypass the relay; save that it is on; suspend every change (which is saved), and then those that were being approved or resumed just now
//	off:  let the relay see requests again; wait until those that it did not see have ended, and as long as writes may still
//	      be on their way inside Cassandra; save that it is off. Changes stay suspended: `resume` verifies each anew.
//
// A crash after it was saved leaves it on, with the changes suspended when the process comes up again, before its first connection; one before that ends what nobody was told
// yet, and whatever begins verifies anew. The relay's switch is one flag for reads and writes, so a read that begins after a bypassed write has ended is bypassed too.
//
// On waits for nobody before it bypasses: not for the store, and not for an approval, which may wait for a node that is down. Who is told how it stands waits for nobody, either.
//
// If that it is on can not be saved, the relay is bypassed all the same (that is what a kill-switch is for). The order says that it is pending, is
// saved again and again until it is, and so are the suspensions, which hold over a crash (migrate/pending.go).
//
// In a fleet another member may answer yet by what this one's writes would pass by: so it is saved first, if that takes no longer than a moment, and each member bypasses once none
// answers any more. A state that hangs holds that up for no longer than the lease.

// Bypass is the state of the kill-switch.
type Bypass struct {
	On    bool      `json:"on"`
	Actor string    `json:"actor,omitempty"` // who switched it last
	Since time.Time `json:"since"`           // zero if it never was
	// Pending says that it is on but not stored yet; never stored.
	Pending string `json:"pending,omitempty"`
}

// kindBypass is the kind, and the id, of the document in the store.
const kindBypass = "bypass"

// bypassPatience bounds the saving, before the relay is bypassed without.
const bypassPatience = 2 * time.Second

// ErrBypassed says that nothing can be approved or resumed now.
var ErrBypassed = errors.New("requests bypass the rewriting, so writes can not be seen: `helenus bypass off` first")

// errOvertaken says that an order to end the bypass has ended for another order's sake.
var errOvertaken = errors.New("another order to bypass, or not to, came meanwhile")

// kill is the kill-switch of an Engine. Its locks are taken in this order.
type kill struct {
	admission sync.RWMutex        // held to read while a change is approved or resumed
	storing   *semaphore.Weighted // of one: taken while it is stored or read, one after the other

	mu     sync.Mutex // of what follows; never held while the store is waited for
	state  Bypass
	trail  []store.Entry // of the audit: what is in force, and not stored yet
	orders int           // given so far: an order that waits sees whether another came
}

// turn waits, no longer than a context lasts, until nobody else stores or reads the kill-switch: who does may wait for the store.
func (k *kill) turn(ctx context.Context) (free func(), err error) {
	if err := k.storing.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("the state is still being asked whether requests bypass the rewriting: %w", err)
	}
	return func() { k.storing.Release(1) }, nil
}

// Bypassed returns the state of the kill-switch.
func (e *Engine) Bypassed() Bypass {
	e.kill.mu.Lock()
	defer e.kill.mu.Unlock()
	return e.kill.state
}

// admitted lets a change be approved or resumed until done is called, unless requests are bypassed.
func (e *Engine) admitted() (done func(), err error) {
	if e.Bypassed().On { // whoever ordered that may wait for others
		return nil, ErrBypassed
	}
	e.kill.admission.RLock()
	if e.Bypassed().On {
		e.kill.admission.RUnlock()
		return nil, ErrBypassed
	}
	return e.kill.admission.RUnlock, nil
}

// Bypass switches the kill-switch. On takes effect with the next request, Off returns when changes may be resumed.
func (e *Engine) Bypass(ctx context.Context, on bool, actor string) error {
	if on {
		return e.bypassOn(ctx, actor)
	}
	return e.bypassOff(ctx, actor)
}

func (e *Engine) bypassOn(ctx context.Context, actor string) error {
	ctx = context.WithoutCancel(ctx) // who orders this and goes away means it
	order := e.switchOn(ctx, actor)
	saving, cancel := context.WithTimeout(ctx, bypassPatience)
	defer cancel()
	err := e.storeBypass(saving)
	if err != nil {
		e.manager.Retry("bypass", e.storeBypass)
		err = fmt.Errorf("requests bypass the rewriting, but that is not stored yet. It is stored again and again until it is: %w", err)
	}
	if e.options.Members == nil {
		return errors.Join(err, e.suspendAll(ctx), e.suspendAdmitted(ctx))
	}
	return errors.Join(err, e.bypassFleet(ctx, order, actor), e.suspendAdmitted(ctx))
}

// switchOn has nothing more be approved or resumed, and bypasses the relay, if there is no other member.
func (e *Engine) switchOn(ctx context.Context, actor string) (order int) {
	k := &e.kill
	k.mu.Lock()
	defer k.mu.Unlock()
	k.orders++
	k.trail = append(k.trail, e.switched(ctx, k.state.On, true, actor))
	if !k.state.On {
		k.state = Bypass{On: true, Actor: actor, Since: e.options.Now()}
	}
	if e.options.Members == nil {
		e.bypassRelay(true)
		e.log.Warn("requests bypass the rewriting", "actor", actor)
	}
	return k.orders
}

// suspendAdmitted suspends what was being approved or resumed when requests began to be bypassed, once that is done.
func (e *Engine) suspendAdmitted(ctx context.Context) error {
	e.kill.admission.Lock()
	e.kill.admission.Unlock() //nolint:staticcheck // whoever comes from now on is refused
	return e.suspendAll(ctx)
}

// bypassFleet suspends all changes, and bypasses the relay of this member once no member answers by one any more. Each member does so that sees the order.
func (e *Engine) bypassFleet(ctx context.Context, order int, actor string) error {
	e.unsaved.Add(1)
	defer e.unsaved.Add(-1)
	stored, ended := make(chan struct{}), make(chan error, 1)
	guard.Go(guard.Migrations, func() {
		err := e.suspendAll(ctx)
		if err == nil {
			close(stored)
		}
		ended <- err
	}, func(err error) { ended <- err })
	_ = e.options.Members.Quiet(e.life, stored) // which ends with the process
	k := &e.kill
	k.mu.Lock()
	if k.orders == order && k.state.On {
		e.bypassRelay(true)
		e.log.Warn("requests bypass the rewriting", "actor", actor)
	}
	k.mu.Unlock()
	return <-ended
}

// followBypass does what another member was ordered: it bypasses the relay, or does not any more.
func (e *Engine) followBypass(ctx context.Context) error {
	k := &e.kill
	free, err := k.turn(ctx) // what is being stored here is no other's order
	if err != nil {
		return err
	}
	defer free()
	var now Bypass
	if err := e.options.Store.Load(ctx, kindBypass, kindBypass, &now); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return fmt.Errorf("read whether requests bypass the rewriting: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.trail) > 0 || k.state.On == now.On {
		return nil
	}
	k.orders++
	k.state = now
	order := k.orders
	if !now.On {
		e.bypassRelay(false)
		e.orders.Add(1) // what bypasses it still is waited for before the epoch is acknowledged
		e.log.Warn("requests do not bypass the rewriting any more: another member was ordered so", "actor", now.Actor)
		return nil
	}
	guard.In(&e.wait, guard.Migrations, func() {
		ctx := context.WithoutCancel(ctx)
		if err := errors.Join(e.bypassFleet(ctx, order, now.Actor), e.suspendAdmitted(ctx)); err != nil {
			e.log.Error("suspensions could not be saved", "err", err)
		}
	})
	return nil
}

// switched is the line of the audit trail about the kill-switch.
func (e *Engine) switched(ctx context.Context, before, after bool, actor string) store.Entry {
	words := map[bool]string{true: "on", false: "off"}
	return store.Entry{At: e.options.Now(), Action: "bypass." + words[after], Target: kindBypass, Before: words[before], After: words[after]}.By(ctx, actor)
}

// storeBypass stores that requests bypass the rewriting, if that is still to be done.
func (e *Engine) storeBypass(ctx context.Context) error {
	k := &e.kill
	free, err := k.turn(ctx)
	if err != nil {
		return e.noteUnstored(err)
	}
	defer free()
	k.mu.Lock()
	now, trail := k.state, k.trail
	k.mu.Unlock()
	if len(trail) == 0 {
		return nil
	}
	now.Pending = ""
	if err := e.options.Store.Decide(ctx, kindBypass, kindBypass, now, trail...); err != nil {
		return e.noteUnstored(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Pending, k.trail = "", k.trail[len(trail):] // who ordered it again meanwhile stores that
	return nil
}

// noteUnstored notes why it is not stored yet that requests bypass the rewriting.
func (e *Engine) noteUnstored(err error) error {
	k := &e.kill
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.trail) > 0 { // else another order's was stored with it meanwhile
		k.state.Pending = fmt.Sprintf("requests bypass the rewriting, but that is not stored yet (%v). It is stored again and again until it is", err)
	}
	return fmt.Errorf("save that requests bypass the rewriting: %w", err)
}

// suspendAll suspends every change because of the kill-switch.
func (e *Engine) suspendAll(ctx context.Context) error {
	var errs []error
	for _, m := range e.manager.Migrations() {
		errs = append(errs, e.manager.Suspend(ctx, m.ID, "requests bypassed the rewriting (helenus bypass on), so writes were not seen", false))
	}
	return errors.Join(errs...)
}

func (e *Engine) bypassOff(ctx context.Context, actor string) error {
	k := &e.kill
	k.mu.Lock()
	if !k.state.On {
		k.mu.Unlock()
		return nil
	}
	k.orders++
	order := k.orders
	e.bypassRelay(false)
	k.mu.Unlock()
	err := e.unseenEnded(ctx)
	if free, busy := k.turn(ctx); busy != nil {
		err = errors.Join(err, busy)
	} else {
		defer free()
	}
	k.mu.Lock()
	overtaken, trail := k.orders != order, k.trail
	k.mu.Unlock()
	if overtaken {
		return errOvertaken
	}
	next := Bypass{Actor: actor, Since: e.options.Now()}
	if err == nil {
		err = e.options.Store.Decide(ctx, kindBypass, kindBypass, next, append(slices.Clip(trail), e.switched(ctx, true, false, actor))...)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.trail = k.trail[len(trail):]
	}
	switch {
	case k.orders != order: // who ordered that waits to store it
		return errOvertaken
	case err != nil:
		e.bypassRelay(true)
		return fmt.Errorf("requests still bypass the rewriting: %w", err)
	}
	k.state = next
	e.orders.Add(1)
	e.log.Warn("requests do not bypass the rewriting any more; changes stay suspended until they are resumed", "actor", actor)
	return nil
}

// unseenEnded waits until no request is under way that bypassed the rewriting, and as long as a write may be after its answer.
func (e *Engine) unseenEnded(ctx context.Context) error {
	if err := e.options.Traffic.Barrier(ctx); err != nil {
		return fmt.Errorf("requests that bypassed it are still under way: %w", err)
	}
	settle := time.NewTimer(e.options.Migrate.Defaults().Settle)
	defer settle.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-settle.C:
		return nil
	}
}

func (e *Engine) bypassRelay(on bool) {
	if f := e.options.Bypass; f != nil {
		f(on)
	}
}

// restoreBypass finds the kill-switch as it was left. It is called before the changes are put in force. A member of a fleet learns of it as of any order when it
// joins: another may not have heard of it yet, and answer still.
func (e *Engine) restoreBypass(ctx context.Context) error {
	if e.options.Members != nil {
		return nil
	}
	k := &e.kill
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := e.options.Store.Load(ctx, kindBypass, kindBypass, &k.state); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read whether requests bypass the rewriting: %w", err)
	}
	if k.state.On {
		e.bypassRelay(true)
		e.log.Warn("requests bypass the rewriting, as before the restart: `helenus bypass off` ends that", "actor", k.state.Actor, "since", k.state.Since)
	}
	return nil
}
