package migrate

import (
	"context"

	"github.com/helenus-db/helenus/capture/store"
)

// A change that is held goes on by itself as far as shadow: reads run as written, and are compared with its answers, for as long as it is held.
// The moment at which reads are answered by it is then a person's: the cut-over (as gh-ost's postponed one).

// Held is why such a change waits.
const Held = "it is held in shadow; `helenus cut-over` has reads answered by it"

// unserved are the states in which a change can be held: all before it serves.
var unserved = map[State]bool{Approved: true, Created: true, DualWrite: true, Backfill: true, Verify: true, Shadow: true, Suspended: true, Failed: true}

// Hold keeps a change in shadow once it has come there.
func (m *Manager) Hold(ctx context.Context, id, actor string) error {
	return m.hold(ctx, id, true, order{actor, "hold"}, "held: reads are not answered by it before the cut-over is ordered")
}

// CutOver lets a change serve that was held, as soon as enough reads were compared.
func (m *Manager) CutOver(ctx context.Context, id, actor string) error {
	return m.hold(ctx, id, false, order{actor, "cut-over"}, "cut-over ordered")
}

func (m *Manager) hold(ctx context.Context, id string, on bool, by order, text string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	r.orders.Lock()
	defer r.orders.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.m.Hold == on && unserved[r.m.State]:
		return nil
	case on && !unserved[r.m.State]:
		return &ErrState{id, "hold", r.m.State, "only one that does not serve yet can be held; suspend it, or roll it back"}
	case !on && !r.m.Hold:
		return &ErrState{id, "cut over", r.m.State, "it is not held"}
	}
	was, trail := r.m.clone(), len(r.trail)
	r.m.Hold = on
	r.m.note(m.Now(), by.person(), text)
	r.trail = append(r.trail, store.Entry{At: m.Now(), Action: by.action, Target: r.id, Reason: text, Before: string(r.m.State), After: string(r.m.State)}.By(ctx, by.actor))
	if err := m.save(ctx, r, &r.m); err != nil {
		r.m.Hold, r.m.Events, r.trail = was.Hold, was.Events, r.trail[:trail] // as if it had not been given
		return err
	}
	select {
	case r.samples <- struct{}{}: // whoever waits in shadow looks again
	default:
	}
	return nil
}
