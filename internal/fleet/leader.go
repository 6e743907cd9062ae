package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// leader is who leads.
type leader struct {
	Member string    `json:"member"` // "": nobody
	Term   int64     `json:"term"`
	Since  time.Time `json:"since"`
}

// rule takes the lead if nobody has it, and raises the form of the state when all know the next.
func (m *Member) rule(ctx context.Context) error {
	m.mu.Lock()
	now, l, version := m.o.Now(), m.leader, m.version
	_, on := m.register[l.Member]
	s := m.sights[l.Member]
	vacant := !on || s == nil || l.Member != m.o.ID && now-s.changed > m.o.Takeover
	form := m.o.Form
	for _, e := range m.register {
		form = min(form, e.Form)
	}
	raises := m.leads && form > m.form
	m.mu.Unlock()
	if raises {
		if err := m.o.Store.Raise(ctx, form); err != nil {
			return err
		}
		m.mu.Lock()
		m.form = form
		m.mu.Unlock()
	}
	if !vacant {
		return nil
	}
	next := leader{Member: m.o.ID, Term: l.Term + 1, Since: m.o.Time().UTC()}
	line := store.Entry{Action: "member.lead", Target: m.o.ID, Before: l.Member, After: fmt.Sprintf("term %d", next.Term)}.By(ctx, store.Self)
	version, err := m.o.Store.Replace(ctx, KindLeader, KindLeader, version, next, line)
	if errors.Is(err, store.ErrConflict) {
		return nil // another was first: it is seen with the next look
	}
	if err != nil {
		return fmt.Errorf("take the lead of the fleet: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leader, m.version = next, version
	m.counts.takeovers++
	m.o.Log.Info("this process leads the fleet", "term", next.Term, "before", l.Member)
	return nil
}

// lead works out whether this member leads; m.mu is held.
func (m *Member) lead(now time.Duration) {
	leads := m.place == registered && m.leader.Member == m.o.ID && now-m.heard < m.o.Takeover/2
	if leads == m.leads {
		return
	}
	if !leads {
		m.o.Log.Info("this process does not lead the fleet any more")
	}
	m.leads = leads
	close(m.leading)
	m.leading = make(chan struct{})
}

// Leads reports whether this member leads.
func (m *Member) Leads() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lead(m.o.Now())
	return m.leads
}

// leadership is whether this member leads, and what is closed when that changes.
func (m *Member) leadership() (bool, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leads, m.leading
}

// Lead runs f whenever this member leads, in a context that ends when it does no more, until ctx ends.
func (m *Member) Lead(ctx context.Context, f func(context.Context)) {
	for ctx.Err() == nil {
		leads, changed := m.leadership()
		if !leads {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		m.term(ctx, changed, f)
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// term runs f until the leadership changes.
func (m *Member) term(ctx context.Context, changed <-chan struct{}, f func(context.Context)) {
	leading, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	m.o.Beside(func() {
		select {
		case <-changed:
		case <-over:
		}
		cancel()
	})
	defer close(over)
	f(leading)
}

// Reap takes silent members off the register that no node lists connections of, as long as this member leads.
func (m *Member) Reap(ctx context.Context) {
	m.Lead(ctx, func(ctx context.Context) {
		absent := map[string]int{}
		for m.o.Wait(ctx, m.o.Takeover/4) == nil {
			if err := m.ReapOnce(ctx, absent); err != nil && ctx.Err() == nil {
				m.o.Log.Warn("it was not found out whether silent members are gone", "err", err)
			}
		}
	})
}

// looksBefore is how many looks in a row must have shown no connection of a member.
const looksBefore = 2

// ReapOnce looks once; absent counts the looks in which no connection of a silent member was listed.
func (m *Member) ReapOnce(ctx context.Context, absent map[string]int) error {
	silent := m.silent()
	maps.DeleteFunc(absent, func(id string, _ int) bool { return !slices.Contains(silent, id) })
	if len(silent) == 0 || m.o.Truth.Connected == nil {
		return nil
	}
	connected, err := m.o.Truth.Connected(ctx)
	if err != nil {
		return err
	}
	for _, id := range silent {
		if connected[id] {
			delete(absent, id)
			continue
		}
		if absent[id]++; absent[id] < looksBefore {
			continue
		}
		if err := m.Dismiss(ctx, id, store.Self, "it is silent, and no node lists a connection of it"); err != nil {
			return err
		}
		delete(absent, id)
	}
	return nil
}

// silent are the registered members that no new beat was seen of for Takeover.
func (m *Member) silent() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.register { // as of the last look: who could not look knows nothing of others
		if s := m.sights[id]; id != m.o.ID && (s == nil || m.previous-s.changed > m.o.Takeover) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// UnknownError says that no member has an id.
type UnknownError struct{ ID string }

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no member %q: `helenus members` lists them", e.ID)
}

// Dismiss takes a member off the register, on somebody's order; first all changes are stored to be verified. The beginning of an id is enough if only one begins so.
func (m *Member) Dismiss(ctx context.Context, id, actor, reason string) error {
	m.mu.Lock()
	var found []Entry
	for have, e := range m.register {
		if have == id || len(id) >= 3 && strings.HasPrefix(have, id) {
			found = append(found, e)
		}
	}
	m.mu.Unlock()
	if len(found) != 1 {
		return &UnknownError{id}
	}
	e := found[0]
	if err := m.o.Truth.Reverify(ctx, fmt.Sprintf("member %s at %s was taken off the register (%s): what it wrote last is verified first", e.ID, e.Address, reason)); err != nil {
		return err
	}
	line := store.Entry{Action: "member.remove", Target: e.ID, Reason: reason, Before: e.Address}.By(ctx, actor)
	if err := m.o.Store.Remove(ctx, KindMember, e.ID, e.version, line); err != nil {
		return fmt.Errorf("take member %s off the register: %w", e.ID, err)
	}
	m.mu.Lock()
	counter := int64(0)
	if s := m.sights[e.ID]; s != nil {
		counter = s.beat.Counter
	}
	m.counts.removed++
	m.mu.Unlock()
	m.o.Log.Warn("a member was taken off the register of the fleet", "member", e.ID, "address", e.Address, "actor", line.Actor, "reason", reason)
	return m.o.Store.Silence(ctx, e.ID, counter)
}

// Knows reports whether a process is on the register.
func (m *Member) Knows(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, on := m.register[id]
	return on
}

// View is a member as people are told of it.
type View struct {
	Entry
	Self    bool   `json:"self"`             // who answers
	Leads   bool   `json:"leads"`            // or is named as the leader, as far as is known
	Serves  bool   `json:"serves"`           // it answers reads by changes
	Epoch   int64  `json:"epoch"`            // acknowledged
	Counter int64  `json:"counter"`          // of its beats
	Silent  string `json:"silent,omitempty"` // for how long no new beat of it was seen, once that is longer than it should be
	Blocked string `json:"blocked,omitempty"`
}

// Fleet is the whole as people are told of it.
type Fleet struct {
	Self    string `json:"self"`
	Role    string `json:"role"` // of who answers: leader, follower, outside
	Leader  string `json:"leader,omitempty"`
	Term    int64  `json:"term"`
	Epoch   int64  `json:"epoch"`
	Serving bool   `json:"serving"` // who answers may answer reads by changes
	Trouble string `json:"trouble,omitempty"`
	Members []View `json:"members"`
}

// Fleet returns the fleet as this member sees it.
func (m *Member) Fleet() Fleet {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.o.Now()
	f := Fleet{Self: m.o.ID, Role: "follower", Leader: m.leader.Member, Term: m.leader.Term, Epoch: m.seen, Serving: m.Serving(), Trouble: m.trouble, Members: []View{}}
	switch {
	case m.place != registered:
		f.Role = "outside"
	case m.leads:
		f.Role = "leader"
	}
	for _, id := range slices.Sorted(maps.Keys(m.register)) {
		v := View{Entry: m.register[id], Self: id == m.o.ID, Leads: id == m.leader.Member}
		if s := m.sights[id]; s != nil {
			v.Epoch, v.Counter, v.Blocked, v.Serves = s.beat.Epoch, s.beat.Counter, s.beat.Blocked, s.beat.Serves
			if d := now - s.changed; d > m.o.Lease {
				v.Silent, v.Serves = d.Round(time.Second).String(), false
			}
		} else {
			v.Silent = "since it came"
		}
		f.Members = append(f.Members, v)
	}
	return f
}

// Blocked says why nothing can be verified because of another member, "" if it can.
func (m *Member) Blocked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blocked
}

// Trouble says why this member serves nothing, "" if it may.
func (m *Member) Trouble() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.o.Now()
	switch {
	case m.Serving():
		return ""
	case m.place != registered && m.trouble != "":
		return "not in the fleet yet: " + m.trouble
	case m.place != registered:
		return "not in the fleet yet"
	case m.trouble != "":
		return "no read is answered by a change: " + m.trouble
	}
	for _, id := range slices.Sorted(maps.Keys(m.register)) {
		if s := m.sights[id]; s == nil || s.alive+m.o.Lease <= now {
			return fmt.Sprintf("no read is answered by a change: no news of member %s at %s for longer than the lease; if it is gone for good, `helenus members remove %s`", id, m.register[id].Address, id)
		}
	}
	return ""
}
