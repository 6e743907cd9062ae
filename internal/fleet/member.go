package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/sleep"
)

// The kinds of documents of a fleet.
const (
	KindMember = "member"
	KindLeader = "leader"
)

// Store is the state that members share; *keyspace.Store is one.
type Store interface {
	// Epoch is the number of the last transaction, as a quorum has it.
	Epoch(ctx context.Context) (int64, error)
	List(ctx context.Context, kind string) ([]store.Document, error)
	Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error)
	Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error
	// Beat stores what a member says, unless a larger counter is stored; Beats are those of all.
	Beat(ctx context.Context, member string, counter int64, v any) error
	Beats(ctx context.Context) (map[string]json.RawMessage, error)
	Silence(ctx context.Context, member string, counter int64) error
	// Raise brings the state to a form that all members know.
	Raise(ctx context.Context, form int) error
}

// Truth is what of a process follows the state; all must be set but Connected. None is called under the member's lock: whoever answers may be asking the member.
type Truth struct {
	// Follow take on, in this order, what others have stored; each returns when its part is in force. What has succeeded is not asked of the same
	// epoch again.
	Follow []func(ctx context.Context) error
	// Rules is a number that grows whenever the rules in force change; Barrier returns when every request under way by earlier ones has ended.
	Rules   func() uint64
	Barrier func(ctx context.Context) error
	// Withholding reports whether reads were turned back here, and that is not stored yet.
	Withholding func() bool
	// Blocked says why nothing can be verified because of this member, "" if it can.
	Blocked func() string
	// Reverify stores that all changes are verified before they serve again.
	Reverify func(ctx context.Context, reason string) error
	// Connected are the processes that nodes list connections of; an error: not all could be seen. nil: nobody can tell.
	Connected func(ctx context.Context) (map[string]bool, error)
}

// Options of a Member; Store and Truth must be set.
type Options struct {
	Store Store
	Truth Truth

	ID      string // of this process, as its connections say it; "": random
	Address string // where applications reach it
	API     string // where people do
	Version string // of Helenus
	Form    int    // of the state, the newest that it knows

	Settings map[string]string // of this process, that should be the same at each; those of Must have to be
	Must     []string

	Lease    time.Duration                              // 4 s
	Interval time.Duration                              // Lease/8, between beats
	Takeover time.Duration                              // 8 s
	Now      func() time.Duration                       // monotonic, and not standing still while the machine is suspended: Elapsed, but for tests
	Time     func() time.Time                           // for people
	Beside   func(func())                               // runs something beside; guard.Go
	Wait     func(context.Context, time.Duration) error // by Now, or longer
	Log      *slog.Logger
}

func (o *Options) defaults() {
	dur := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	dur(&o.Lease, 4*time.Second)
	dur(&o.Interval, o.Lease/8)
	dur(&o.Takeover, 2*o.Lease)
	if o.ID == "" {
		o.ID = NewID()
	}
	if o.Now == nil {
		start := time.Now()
		o.Now = func() time.Duration { return time.Since(start) }
	}
	if o.Time == nil {
		o.Time = time.Now
	}
	if o.Beside == nil {
		o.Beside = func(f func()) { guard.Go(guard.Fleet, f, nil) }
	}
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// NewID makes the id of a process.
func NewID() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Entry is a member as the register has it.
type Entry struct {
	ID          string    `json:"id"`
	Incarnation int       `json:"incarnation"` // how often it has begun anew
	Address     string    `json:"address"`
	API         string    `json:"api,omitempty"`
	Version     string    `json:"version,omitempty"`
	Form        int       `json:"form"`
	Heeds       bool      `json:"heeds,omitempty"` // it begins nothing to be relied on before all have acknowledged that: earlier builds did
	Since       time.Time `json:"since"`

	Settings map[string]string `json:"settings,omitempty"` // those that should be the same at each; none of earlier versions

	version int64 // of the document
}

// Beat is what a member says of itself.
type Beat struct {
	Incarnation int    `json:"incarnation"`
	Counter     int64  `json:"counter"`
	Epoch       int64  `json:"epoch"` // applied: followed, and passed a barrier
	Seen        int64  `json:"seen"`  // followed
	Blocked     string `json:"blocked,omitempty"`
	Serves      bool   `json:"serves,omitempty"` // its lease held when it said so
}

// place is where a member stands; see the package comment.
type place int

const (
	outside place = iota
	registered
	left
)

// Member is this process as a part of a fleet. It is safe for concurrent use.
type Member struct {
	o Options

	stepping sync.Mutex // one look at a time
	saying   sync.Mutex // held while a beat is decided on

	mu        sync.Mutex
	place     place
	entry     Entry
	begun     bool // it was registered before: what it wrote meanwhile is to be verified
	sent      Beat // the last beat that was decided on
	acked     bool // and that was acknowledged
	heard     time.Duration
	said      time.Duration // when sent was decided on, or this member was registered, if that was later: nobody answers by news of it for longer than Lease after
	previous  time.Duration // when the last look began that was concluded from; negative: there was none
	sights    map[string]*sight
	register  map[string]Entry // as followed
	seenAll   view             // of who waits for acknowledgements
	blocked   string           // why nothing can be verified because of others
	lease     atomic.Int64     // until when reads may be answered, as Now counts: each of them looks at it
	seen      int64            // epoch followed
	applied   int64            // epoch acknowledged
	rules     uint64           // that have passed a barrier
	passing   bool             // a barrier is being waited for
	trouble   string           // why the last step failed
	leader    leader
	version   int64         // of the leader's document
	leading   chan struct{} // closed when this member begins or ceases to lead; then another
	leads     bool
	form      int
	counts    counts
	served    bool     // reads could be answered after the last look
	following followed // of the epoch that is being followed

	looks  []looked      // concluded from, that not all others are known to have followed
	agreed time.Duration // whatever was stored before is followed by all
}

// counts are for the metrics.
type counts struct{ lapses, removed, takeovers uint64 }

// sight is what this member has seen of another's beats.
type sight struct {
	beat    Beat
	before  time.Duration // the beginning of the last look that did not show the counter; negative: there was none
	alive   time.Duration // it was not withholding some time after this
	changed time.Duration // when the counter was first seen
}

// never is before any look.
const never = time.Duration(-1 << 62)

// New returns a Member that is outside. Call Join, and then Run.
func New(o Options) *Member {
	o.defaults()
	m := &Member{o: o, sights: map[string]*sight{}, register: map[string]Entry{}, leading: make(chan struct{}), previous: never, heard: never, said: never, agreed: never, acked: true}
	m.lease.Store(int64(never))
	m.entry = Entry{ID: o.ID, Incarnation: 1, Address: o.Address, API: o.API, Version: o.Version, Form: o.Form, Settings: o.Settings, Heeds: true}
	return m
}

// ID is the id of this process.
func (m *Member) ID() string { return m.o.ID }

// Serving reports whether a read may be answered by a change now. It waits for nothing.
func (m *Member) Serving() bool { return int64(m.o.Now()) < m.lease.Load() }

// Join brings this process into the fleet, and returns when it has followed all that is stored: from then on it may take traffic. alone says that nobody
// else was registered, so that nobody may have followed the writes before. It is tried until it succeeds, or the context ends.
func (m *Member) Join(ctx context.Context) (alone bool, err error) {
	for {
		if err := m.Step(ctx); err != nil {
			m.o.Log.Warn("not in the fleet yet; it is tried again", "err", err)
			if err := m.o.Wait(ctx, m.o.Interval); err != nil {
				return false, errors.Join(err, errors.New(m.Trouble()))
			}
			continue
		}
		m.mu.Lock()
		done, others := m.place == registered && m.register[m.o.ID].Incarnation == m.entry.Incarnation, len(m.register)
		m.mu.Unlock()
		if done {
			if err := m.disagrees(); err != nil {
				return false, errors.Join(err, m.Leave(ctx))
			}
			return others == 1, nil
		}
		if err := m.o.Wait(ctx, m.o.Interval/4); err != nil {
			return false, err
		}
	}
}

// Run looks and beats until the context ends.
func (m *Member) Run(ctx context.Context) {
	for m.o.Wait(ctx, m.o.Interval) == nil {
		if err := m.Step(ctx); err != nil && ctx.Err() == nil {
			m.o.Log.Debug("the fleet was not looked at", "err", err)
		}
	}
}

// Step looks once, follows what is new, and beats.
func (m *Member) Step(ctx context.Context) error {
	m.stepping.Lock()
	defer m.stepping.Unlock()
	err := m.look(ctx)
	if err == nil {
		err = m.move(ctx)
	}
	err = errors.Join(err, m.beat(ctx))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble = ""
	if err != nil {
		m.trouble = err.Error()
	}
	m.lead(m.o.Now())
	return err
}

// look reads the beats, then the epoch, follows it, and only then concludes from the beats.
func (m *Member) look(ctx context.Context) error {
	began := m.o.Now()
	beats, err := m.o.Store.Beats(ctx)
	if err != nil {
		return err
	}
	epoch, err := m.o.Store.Epoch(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	known := m.seen
	m.mu.Unlock()
	if epoch != known {
		if err := m.follow(ctx, epoch); err != nil {
			return err
		}
	}
	m.conclude(began, epoch, beats)
	m.acknowledge(ctx)
	return nil
}

// followed is how far an epoch was followed. Where many reads time out, a dozen in a row hardly ever succeed: what one look has read the next one
// goes on from, as long as nothing new was stored.
type followed struct {
	epoch    int64
	register map[string]Entry
	leader   *leader
	version  int64 // of leader
	parts    int   // of Truth.Follow
}

// follow takes on the state of an epoch: the register and the leader, and then all else.
func (m *Member) follow(ctx context.Context, epoch int64) error {
	if m.following.epoch != epoch {
		m.following = followed{epoch: epoch}
	}
	f := &m.following
	if f.register == nil {
		if err := m.readRegister(ctx, f); err != nil {
			return err
		}
	}
	if f.leader == nil {
		if err := m.readLeader(ctx, f); err != nil {
			return err
		}
	}
	for ; f.parts < len(m.o.Truth.Follow); f.parts++ {
		if err := m.o.Truth.Follow[f.parts](ctx); err != nil {
			return fmt.Errorf("follow the state: %w", err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.register, m.leader, m.version, m.seen = f.register, *f.leader, f.version, epoch
	m.following = followed{}
	return nil
}

func (m *Member) readRegister(ctx context.Context, f *followed) error {
	members, err := m.o.Store.List(ctx, KindMember)
	if err != nil {
		return err
	}
	register := map[string]Entry{}
	for _, d := range members {
		var e Entry
		if err := json.Unmarshal(d.Raw, &e); err != nil {
			return fmt.Errorf("member %s in the register can not be read: %w", d.ID, err)
		}
		e.version = d.Version
		register[d.ID] = e
	}
	f.register = register
	return nil
}

func (m *Member) readLeader(ctx context.Context, f *followed) error {
	leaders, err := m.o.Store.List(ctx, KindLeader)
	if err != nil {
		return err
	}
	var l leader
	version := int64(0)
	for _, d := range leaders {
		if err := json.Unmarshal(d.Raw, &l); err != nil {
			return fmt.Errorf("who leads can not be read: %w", err)
		}
		version = d.Version
	}
	f.leader, f.version = &l, version
	return nil
}

// conclude takes from beats until when reads may be answered.
func (m *Member) conclude(began time.Duration, epoch int64, beats map[string]json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, raw := range beats {
		var b Beat
		if json.Unmarshal(raw, &b) != nil {
			continue // whoever said that is not understood, and so silent
		}
		s := m.sights[id]
		if s == nil {
			s = &sight{before: m.previous, alive: never, changed: began}
			m.sights[id] = s
		}
		if b.Counter <= s.beat.Counter {
			continue
		}
		// b was decided on when the beat before it had been acknowledged; that one was not there yet when this look began:
		if b.Counter-1 > s.beat.Counter {
			s.alive = m.previous
		} else {
			s.alive = s.before
		}
		s.beat, s.before, s.changed = b, m.previous, began
	}
	for id := range m.sights {
		if _, there := beats[id]; !there {
			delete(m.sights, id)
		}
	}
	m.previous = began
	until, blocked := time.Duration(1<<62), ""
	for id := range m.register {
		s := m.sights[id]
		if s == nil || s.beat.Incarnation != m.register[id].Incarnation {
			until = never
			continue
		}
		until = min(until, s.alive)
		if s.beat.Blocked != "" && id != m.o.ID {
			blocked = fmt.Sprintf("member %s at %s: %s", id, m.register[id].Address, s.beat.Blocked)
		}
	}
	m.blocked = blocked
	m.agree(began, epoch)
	was, lease := m.Serving(), never
	if until > never && m.place == registered {
		lease = until + m.o.Lease
	}
	m.lease.Store(int64(lease))
	if was && !m.Serving() || !was && m.served {
		m.counts.lapses++
	}
	m.served = m.Serving()
}

// acknowledge has the rules in force pass a barrier, if they have changed since one; then the epoch is applied. While an order is being stored that turns reads back nothing is:
// its epoch may be seen already, and a request that began under it has not been waited for.
func (m *Member) acknowledge(ctx context.Context) {
	if m.o.Truth.Withholding() {
		return
	}
	rules := m.o.Truth.Rules()
	m.mu.Lock()
	if rules == m.rules {
		m.applied = m.seen
	}
	epoch, start := m.seen, rules != m.rules && !m.passing
	if start {
		m.passing = true
	}
	m.mu.Unlock()
	if !start {
		return
	}
	m.o.Beside(func() {
		passed := false
		defer func() { // also of a barrier that panics: the next step begins another
			m.mu.Lock()
			defer m.mu.Unlock()
			m.passing = false
			if passed {
				m.rules, m.applied = rules, max(m.applied, epoch)
			}
		}()
		passed = m.o.Truth.Barrier(context.WithoutCancel(ctx)) == nil
	})
}

// beat says that this member is there, unless it withholds.
func (m *Member) beat(ctx context.Context) error {
	m.saying.Lock()
	withholding, blocked := m.o.Truth.Withholding(), m.o.Truth.Blocked() // before m.mu: whoever answers may be asking this member
	m.mu.Lock()
	if m.place == left || withholding {
		m.mu.Unlock()
		m.saying.Unlock()
		return nil
	}
	if m.acked {
		m.sent = Beat{Incarnation: m.entry.Incarnation, Counter: m.sent.Counter + 1, Epoch: m.applied, Seen: m.seen, Blocked: blocked, Serves: m.Serving()}
		m.acked, m.said = false, m.o.Now()
	}
	b, decided := m.sent, m.o.Now()
	m.mu.Unlock()
	m.saying.Unlock()
	if err := m.o.Store.Beat(ctx, m.o.ID, b.Counter, b); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked, m.heard = true, decided
	return nil
}

// move makes the moves between a member's places, and those of a leader.
func (m *Member) move(ctx context.Context) error {
	m.mu.Lock()
	e, on := m.register[m.o.ID]
	p, entry, beats, begun := m.place, m.entry, m.sent.Counter, m.begun
	ours := on && e.Incarnation == entry.Incarnation
	gone := p == registered && !ours
	entered := p == outside && ours && !entry.Since.IsZero() && e.Since.Equal(entry.Since)
	switch {
	case gone:
		m.o.Log.Warn("somebody took this process off the register of the fleet: it serves nothing, and begins anew")
		m.place, m.entry.Incarnation, m.entry.Since = outside, entry.Incarnation+1, time.Time{}
		m.lease.Store(int64(never))
	case entered: // by enter, whose answer or whose reads did not come in time; a look has followed since
		m.place, m.begun, m.said = registered, true, m.o.Now()
	}
	m.mu.Unlock()
	switch {
	case gone, entered:
		return nil // with the next step
	case p == outside && beats >= 2:
		return m.enter(ctx, entry, e.version, begun)
	case p == registered:
		return m.rule(ctx)
	}
	return nil
}

// enter registers this process, and follows the state once more.
func (m *Member) enter(ctx context.Context, entry Entry, version int64, begun bool) error {
	if begun {
		if err := m.o.Truth.Reverify(ctx, "a member was taken off the register and came back: what it wrote meanwhile is verified first"); err != nil {
			return err
		}
	}
	if entry.Since.IsZero() {
		entry.Since = m.o.Time().UTC()
		m.mu.Lock()
		m.entry.Since = entry.Since
		m.mu.Unlock()
	}
	line := store.Entry{Action: "member.join", Target: entry.ID, Reason: entry.Address, After: fmt.Sprintf("incarnation %d, version %s", entry.Incarnation, entry.Version)}.By(ctx, store.Self)
	if _, err := m.o.Store.Replace(ctx, KindMember, entry.ID, version, entry, line); err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("register this process: %w", err)
	}
	epoch, err := m.o.Store.Epoch(ctx)
	if err != nil {
		return err
	}
	if err := m.follow(ctx, epoch); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.register[entry.ID].Incarnation == entry.Incarnation {
		m.place, m.begun, m.said = registered, true, m.o.Now()
	}
	return nil
}

// Leave takes this process off the register: it has no traffic any more, and nothing left to store.
func (m *Member) Leave(ctx context.Context) error {
	m.stepping.Lock()
	defer m.stepping.Unlock()
	m.mu.Lock()
	e, on := m.register[m.o.ID]
	leads, l, version, counter := m.leader.Member == m.o.ID, m.leader, m.version, m.sent.Counter
	m.place = left
	m.lease.Store(int64(never))
	m.lead(m.o.Now())
	m.mu.Unlock()
	if !on {
		return nil
	}
	line := store.Entry{Action: "member.leave", Target: e.ID, Reason: e.Address}.By(ctx, store.Self)
	err := m.o.Store.Remove(ctx, KindMember, e.ID, e.version, line)
	if leads && err == nil {
		_, err = m.o.Store.Replace(ctx, KindLeader, KindLeader, version, leader{Term: l.Term + 1})
	}
	if err == nil {
		err = m.o.Store.Silence(ctx, e.ID, counter)
	}
	if err != nil {
		return fmt.Errorf("leave the fleet: %w; the others find out", err)
	}
	return nil
}
