package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// drift is by how much clocks may run faster than others, as a divisor.
const drift = 50

// Quiet returns when no member answers a read any more by what was turned back here before it was called: Withholding has reported so since. stored is closed once
// the order is stored.
func (m *Member) Quiet(ctx context.Context, stored <-chan struct{}) error {
	m.saying.Lock() // a beat that is being decided on was decided on before
	began := m.o.Now()
	m.saying.Unlock()
	over, epoch := began+m.o.Lease+m.o.Lease/drift, int64(-1)
	for m.o.Now() < over {
		select {
		case <-stored:
			if e, err := m.o.Store.Epoch(ctx); epoch < 0 && err == nil {
				epoch = e
			}
		default:
		}
		if epoch >= 0 {
			followed := func(id string, b Beat) bool { return id == m.o.ID || b.Seen >= epoch } // reads under way there look again before they answer
			if waits, err := m.waitsFor(ctx, followed); err == nil && waits == "" {
				return nil
			}
		}
		if err := m.o.Wait(ctx, min(m.o.Interval/4, max(over-m.o.Now(), time.Millisecond))); err != nil {
			return err
		}
	}
	return nil
}

// Barrier returns when every registered member has acknowledged the state as it is now. progress is told whom it waits for; it may be nil.
func (m *Member) Barrier(ctx context.Context, progress func(string)) error {
	for epoch, told := int64(-1), ""; ; {
		var waits string
		var err error
		if epoch < 0 {
			epoch, err = m.o.Store.Epoch(ctx)
		}
		if err == nil && epoch >= 0 {
			waits, err = m.waitsFor(ctx, func(_ string, b Beat) bool { return b.Epoch >= epoch })
		}
		if err == nil && waits == "" {
			return nil
		}
		if err != nil {
			waits = err.Error()
			if epoch <= 0 {
				epoch = -1
			}
		}
		if progress != nil && waits != told {
			progress(waits)
			told = waits
		}
		if err := m.o.Wait(ctx, m.o.Interval/2); err != nil {
			return err
		}
	}
}

// waitsFor names a registered member of whose latest beat something does not hold yet, "" if it does of all.
func (m *Member) waitsFor(ctx context.Context, holds func(id string, b Beat) bool) (string, error) {
	documents, err := m.o.Store.List(ctx, KindMember)
	if err != nil {
		return "", err
	}
	beats, err := m.o.Store.Beats(ctx)
	if err != nil {
		return "", err
	}
	blocked := ""
	for _, d := range documents {
		var e Entry
		var b Beat
		if err := json.Unmarshal(d.Raw, &e); err != nil {
			return "", fmt.Errorf("member %s in the register can not be read: %w", d.ID, err)
		}
		if raw, ok := beats[d.ID]; !ok || json.Unmarshal(raw, &b) != nil || b.Incarnation != e.Incarnation || !holds(e.ID, b) {
			return fmt.Sprintf("member %s at %s has not acknowledged the last orders yet (it has epoch %d)", e.ID, e.Address, b.Epoch), nil
		}
		if b.Blocked != "" && e.ID != m.o.ID {
			blocked = fmt.Sprintf("member %s at %s: %s", e.ID, e.Address, b.Blocked)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocked = blocked // whoever waited for acknowledgements looks at it next
	return "", nil
}
