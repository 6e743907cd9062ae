package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// drift is by how much clocks may run faster than others, as a divisor.
const drift = 50

// Quiet returns when no member answers a read any more by what was turned back here before it was called: Withholding has reported so since. stored is closed once
// the order is stored. Who has said nothing for longer than the lease, as where the state can not be written, waits for nobody: nobody answers without news of it.
func (m *Member) Quiet(ctx context.Context, stored <-chan struct{}) error {
	m.saying.Lock() // a beat that is being decided on was decided on before
	began := m.o.Now()
	m.mu.Lock()
	said := began
	if m.place == registered { // else others may answer without its news
		said = m.said
	}
	m.mu.Unlock()
	m.saying.Unlock()
	over, epoch, after := said+m.o.Lease+m.o.Lease/drift, int64(-1), began
	asking, cancel := context.WithTimeout(ctx, over-began) // a state that hangs is not waited for any longer
	defer cancel()
	for m.o.Now() < over {
		select {
		case <-stored:
			if epoch < 0 {
				if e, err := m.o.Store.Epoch(asking); err == nil {
					epoch, after = e, m.o.Now()
				}
			}
		default:
		}
		if epoch >= 0 {
			followed := func(id string, b Beat) bool { return id == m.o.ID || b.Seen >= epoch } // reads under way there look again before they answer
			if waits, err := m.waitsFor(asking, &after, m.o.Interval/4, followed); err == nil && waits == "" {
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
	for epoch, told, after := int64(-1), "", time.Duration(0); ; {
		var waits string
		var err error
		if epoch < 0 {
			epoch, err = m.o.Store.Epoch(ctx)
			after = m.o.Now()
		}
		if err == nil && epoch >= 0 {
			waits, err = m.waitsFor(ctx, &after, m.o.Interval/2, func(_ string, b Beat) bool { return b.Epoch >= epoch })
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
		if progress != nil && waits != told && waits != unseen {
			progress(waits)
			told = waits
		}
		if err := m.o.Wait(ctx, m.o.Interval/2); err != nil {
			return err
		}
	}
}

// view is the register and the beats as they were read at one time; reading tells that somebody is about to read them.
type view struct {
	began   time.Duration
	reading bool
	members []store.Document
	beats   map[string]json.RawMessage
}

// gather returns a view that was begun later than a moment, which it moves on to that view. Of all who wait for something at a time one reads, and no sooner than
// every after the last time: however many changes wait for a fleet, it is asked as for one. ok is false if there is nothing new to be seen yet.
func (m *Member) gather(ctx context.Context, later *time.Duration, every time.Duration) (v view, ok bool, err error) {
	m.mu.Lock()
	now := m.o.Now()
	if v = m.seenAll; v.members != nil && v.began > *later {
		m.mu.Unlock()
		*later = v.began
		return v, true, nil
	}
	if v.reading || v.members != nil && now-v.began < every {
		m.mu.Unlock()
		return v, false, nil
	}
	m.seenAll.reading = true
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seenAll.reading = false
	}()
	v = view{began: now, reading: true}
	if v.members, err = m.o.Store.List(ctx, KindMember); err == nil {
		v.beats, err = m.o.Store.Beats(ctx)
	}
	if err != nil {
		return v, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seenAll, *later = v, v.began
	return v, true, nil
}

// unseen is what is said of a fleet that was not looked at yet.
const unseen = "who has acknowledged the last orders was not read yet"

// waitsFor names a registered member of whose latest beat something does not hold yet, "" if it does of all.
func (m *Member) waitsFor(ctx context.Context, later *time.Duration, every time.Duration, holds func(id string, b Beat) bool) (string, error) {
	v, ok, err := m.gather(ctx, later, every)
	if err != nil {
		return "", err
	}
	if !ok {
		return unseen, nil
	}
	documents, beats := v.members, v.beats
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

// looked is when a look began, and the epoch that it found.
type looked struct {
	began time.Duration
	epoch int64
}

// mostLooks bounds the looks that are kept while a member is silent.
const mostLooks = 64

// agree takes from beats what all members are known to have followed; m.mu is held.
func (m *Member) agree(began time.Duration, epoch int64) {
	for _, e := range m.register {
		if !e.Heeds { // it may lead, and compare as soon as it has verified: what was agreed on before it came holds no more
			m.looks, m.agreed = nil, never
			return
		}
	}
	if len(m.looks) < mostLooks {
		m.looks = append(m.looks, looked{began, epoch})
	}
	for len(m.looks) > 0 && m.followed(m.looks[0].epoch) {
		m.agreed, m.looks = m.looks[0].began, m.looks[1:]
	}
}

// followed reports whether every member has said that it follows an epoch, and may be believed; m.mu is held.
func (m *Member) followed(epoch int64) bool {
	for id, e := range m.register {
		if s := m.sights[id]; s == nil || s.beat.Incarnation != e.Incarnation || s.beat.Seen < epoch {
			return false
		}
	}
	return true
}

// Moment is a moment to ask Followed for.
func (m *Member) Moment() time.Duration { return m.o.Now() }

// Followed reports whether all members are known to have put in force whatever was stored before a moment; none is where this one may have been taken off the register.
func (m *Member) Followed(moment time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.place == registered && m.o.Now()-m.previous < m.o.Lease && moment <= m.agreed
}
