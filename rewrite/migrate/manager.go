package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"sort"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/maintain"
	"github.com/helenus-db/helenus/rewrite/match"
	"github.com/helenus-db/helenus/rewrite/verify"
)

// Store keeps migrations over restarts; *store.Store is one. What Save returned for is there after a crash. Load answers
// store.ErrNotFound for what was never saved; List is in the order of the ids.
type Store interface {
	Save(ctx context.Context, kind, id string, v any) error
	Load(ctx context.Context, kind, id string, v any) error
	List(ctx context.Context, kind string) ([]store.Document, error)
}

// Kinds of document in the Store.
const (
	KindMigration = "migration"
	KindBackfill  = "backfill"
)

// Traffic is the relay as far as a migration needs it.
type Traffic interface {
	// Barrier returns when every request that was under way when it was called has been answered or lost.
	Barrier(ctx context.Context) error
}

// Published is a migration as the proxy has to treat it from now on.
type Published struct {
	ID     string
	LookUp *match.LookUp
	Mode   Mode
}

// Settings of a Manager; zero values are replaced by the defaults named.
type Settings struct {
	Settle      time.Duration     // 5 s after the barrier; longer than a request may be under way
	Ranges      int               // 256 parts of the ring
	Workers     int               // 2 parts at a time
	InFlight    int               // 64 entries written at a time, per part
	Rate        int               // entries a second, 0 for no limit
	Read        gocql.Consistency // of backfill; QUORUM
	Write       gocql.Consistency // of backfill; ALL
	Passes      int               // 5; passes of verification before it fails
	ShadowReads int64             // 10,000 reads compared
	ShadowFor   time.Duration     // 24 h, after which ShadowLeast are enough
	ShadowLeast int64             // 100
	ShadowSelf  int               // 100 values of the look-up, asked for by ourselves
	SweepFirst  time.Duration     // 1 min from the start, of serving or of the process, to the first pass
	SweepEvery  time.Duration     // 1 h between passes while serving
	Retry       time.Duration     // 1 s, doubled up to a minute
	ReadSamples int               // 3; times a difference is read again
	SampleDelay time.Duration     // 500 ms between them
	Verify      verify.Settings
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	dur := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	dur(&s.Settle, 5*time.Second)
	num(&s.Ranges, 256)
	num(&s.Workers, 2)
	num(&s.InFlight, 64)
	if s.Read == 0 {
		s.Read = gocql.Quorum
	}
	if s.Write == 0 {
		s.Write = gocql.All
	}
	num(&s.Passes, 5)
	if s.ShadowReads <= 0 {
		s.ShadowReads = 10000
	}
	dur(&s.ShadowFor, 24*time.Hour)
	if s.ShadowLeast <= 0 {
		s.ShadowLeast = 100
	}
	s.ShadowLeast = min(s.ShadowLeast, s.ShadowReads)
	num(&s.ShadowSelf, 100)
	dur(&s.SweepFirst, time.Minute)
	dur(&s.SweepEvery, time.Hour)
	dur(&s.Retry, time.Second)
	num(&s.ReadSamples, 3)
	dur(&s.SampleDelay, 500*time.Millisecond)
	return s
}

// Parts are what a Manager works with; all must be set.
type Parts struct {
	Session    exec.Session
	Maintainer *maintain.Maintainer
	Reader     *exec.Reader
	Store      Store
	Traffic    Traffic
	Publish    func([]Published) // puts in force, at once, for all statements from now on
	Schema     func() *schema.Schema
	Now        func() time.Time
	Log        *slog.Logger
}

// Manager drives all migrations of one proxy.
type Manager struct {
	Parts

	settings Settings
	checker  *verify.Checker

	publishing sync.Mutex // orders calls of Publish
	mu         sync.Mutex
	runs       map[string]*run
	checked    bool            // a schema was seen since the start; before that nothing is served
	ctx        context.Context // of Run, nil before
	wait       sync.WaitGroup
}

// run is one migration under way.
type run struct {
	id      string     // never changed
	orders  sync.Mutex // one transition after the other; held until it is published and saved
	mu      sync.Mutex
	m       Migration
	lookup  *match.LookUp
	cancel  context.CancelFunc // of the work under way
	wake    chan struct{}
	samples chan struct{} // a read was compared
}

func newRun() *run { return &run{wake: make(chan struct{}, 1), samples: make(chan struct{}, 1)} }

// New returns a Manager without migrations.
func New(p Parts, settings Settings) *Manager {
	settings = settings.Defaults()
	return &Manager{Parts: p, settings: settings, runs: map[string]*run{},
		checker: verify.New(p.Session, p.Maintainer, settings.Verify)}
}

// Restore reads the migrations from the store and puts their modes in force. It is called before the proxy accepts its
// first connection. Reads are not served before a schema was seen (SchemaChanged).
func (m *Manager) Restore(ctx context.Context) error {
	documents, err := m.Store.List(ctx, KindMigration)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	for _, d := range documents {
		r := newRun()
		if err := json.Unmarshal(d.Raw, &r.m); err != nil {
			return fmt.Errorf("migration %s in the store can not be read: %w", d.ID, err)
		}
		base := r.m.Base // of its own: the look-up is read while the migration is written
		lookup, refusal := match.New(r.m.LookUp, &base)
		if refusal != nil {
			r.m.Broken, r.m.Reason = true, refusal.Error()
			if r.m.Active() && r.m.State != RollingBack {
				r.m.State = Suspended
			}
		}
		r.id, r.lookup = r.m.ID, lookup
		m.mu.Lock()
		m.runs[r.m.ID] = r
		m.mu.Unlock()
	}
	m.publish()
	if s := m.Schema(); s != nil {
		m.SchemaChanged(ctx, s)
	}
	return nil
}

// Run drives the migrations until the context ends.
func (m *Manager) Run(ctx context.Context) {
	m.mu.Lock()
	m.ctx = ctx
	for _, r := range m.sorted() {
		m.start(r)
	}
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.ctx = nil
	m.mu.Unlock()
	m.wait.Wait()
}

// start begins to drive a migration; m.mu is held.
func (m *Manager) start(r *run) {
	if ctx := m.ctx; ctx != nil && ctx.Err() == nil {
		m.wait.Add(1)
		go func() {
			defer m.wait.Done()
			m.drive(ctx, r)
		}()
	}
}

func (m *Manager) sorted() []*run {
	out := make([]*run, 0, len(m.runs))
	for _, r := range m.runs {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// Migrations lists all, by id.
func (m *Manager) Migrations() []Migration {
	m.mu.Lock()
	runs := m.sorted()
	m.mu.Unlock()
	out := make([]Migration, len(runs))
	for i, r := range runs {
		out[i] = r.get()
	}
	return out
}

func (r *run) get() Migration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m.clone()
}

func (m *Manager) find(id string) (*run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[id]
	if r == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return r, nil
}

// publish tells the proxy what holds now.
func (m *Manager) publish() {
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.mu.Lock()
	runs, checked := m.sorted(), m.checked
	m.mu.Unlock()
	var out []Published
	for _, r := range runs {
		r.mu.Lock()
		mode := r.m.Mode()
		if !checked {
			mode.Serve, mode.Shadow = false, false
		}
		if mode != (Mode{}) && r.lookup != nil {
			out = append(out, Published{r.m.ID, r.lookup, mode})
		}
		r.mu.Unlock()
	}
	m.Publish(out)
}

// less tells whether a mode asks less of the proxy than another.
func (a Mode) less(b Mode) bool {
	return (b.Serve && !a.Serve) || (b.Shadow && !a.Shadow) || (b.Write && !a.Write)
}

// transition changes a migration if it is still in the state given ("" for any), in the right order: what asks more is
// saved before it is published, what asks less is published before it is saved.
func (m *Manager) transition(ctx context.Context, r *run, from, to State, actor, text string, change func(*Migration)) error {
	r.orders.Lock()
	defer r.orders.Unlock()
	return m.turn(ctx, r, from, to, actor, text, change)
}

// turn is transition for those who hold r.orders.
func (m *Manager) turn(ctx context.Context, r *run, from, to State, actor, text string, change func(*Migration)) error {
	r.mu.Lock()
	if from != "" && r.m.State != from {
		r.mu.Unlock()
		return nil
	}
	before, now := r.m, m.Now()
	mode := r.m.Mode()
	next := r.m.clone()
	next.State, next.Reason = to, ""
	next.Progress = Progress{Started: now}
	if change != nil {
		change(&next)
	}
	next.note(now, actor, text)
	lowers := next.Mode().less(mode)
	if lowers {
		r.m = next
		cancel := r.cancel
		r.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		m.publish()
		r.mu.Lock()
	}
	err := m.Store.Save(ctx, KindMigration, next.ID, &next)
	if err != nil {
		m.Log.Error("a migration could not be saved", "migration", next.ID, "state", to, "err", err)
		if !lowers {
			r.m = before
			r.mu.Unlock()
			return fmt.Errorf("save migration %s: %w", next.ID, err)
		}
		err = fmt.Errorf("migration %s is %s, but that could not be saved, so it will not hold after a restart: %w", next.ID, to, err)
	}
	r.m = next
	cancel := r.cancel
	r.mu.Unlock()
	if !lowers {
		m.publish()
	}
	if cancel != nil && from == "" {
		cancel()
	}
	m.Log.Info("migration", "id", next.ID, "state", to, "text", text)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return err
}

// update changes what is known of a migration without changing its state, and saves it.
func (m *Manager) update(ctx context.Context, r *run, change func(*Migration)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.m)
	if err := m.Store.Save(ctx, KindMigration, r.m.ID, &r.m); err != nil {
		return fmt.Errorf("save migration %s: %w", r.m.ID, err)
	}
	return nil
}

// progress changes what is shown, without saving it.
func (m *Manager) progress(r *run, unit string, done, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.m.Progress
	p.Done, p.Total, p.Unit, p.Throttled, p.ETA, p.Ratio = done, total, unit, "", 0, 0
	if total <= 0 {
		return
	}
	p.Ratio = min(float64(done)/float64(total), 1)
	if p.Ratio >= 0.01 {
		spent := m.Now().Sub(p.Started)
		p.ETA = time.Duration(float64(spent) * (1 - p.Ratio) / p.Ratio)
	}
}

func (r *run) throttle(reason string) {
	r.mu.Lock()
	r.m.Progress.Throttled = reason
	r.mu.Unlock()
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Approve takes a look-up on. It is refused (a *match.Refusal) if the schema is no longer the one that the advice was
// made on, or a condition forbids it; a second approval is an *ErrAlreadyApproved.
func (m *Manager) Approve(ctx context.Context, id string, lu plan.LookUp, actor string) (Migration, error) {
	if !idPattern.MatchString(id) {
		return Migration{}, fmt.Errorf("%q can not be the id of a migration: up to 64 letters, digits, dots, dashes or underlines", id)
	}
	s := m.Schema()
	if s == nil {
		return Migration{}, errors.New("the schema is not known yet: Cassandra was not reached since the start; try again later")
	}
	base := s.Table(lu.Keyspace, lu.Base)
	lookup, refusal := check(lu, base)
	if refusal != nil {
		return Migration{}, refusal
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.sorted() {
		have := r.get()
		same := have.LookUp.Keyspace == lu.Keyspace && have.LookUp.Base == lu.Base && have.LookUp.Column == lu.Column ||
			have.LookUp.Keyspace == lu.Keyspace && have.LookUp.Table == lu.Table
		if (have.ID == id && have.State != Dropped) || (have.Active() && same) {
			return Migration{}, &ErrAlreadyApproved{have.ID, have.State}
		}
	}
	earlier := int64(0)
	if old := m.runs[id]; old != nil { // dropped: it begins anew, and must not find its first backfill done
		if x := old.get(); x.Mismatch == "" && reflect.DeepEqual(x.LookUp, lu) {
			earlier = x.Earlier + x.Compared
		}
		if err := m.Store.Save(ctx, KindBackfill, id, m.whole()); err != nil {
			return Migration{}, fmt.Errorf("save the checkpoint of migration %s: %w", id, err)
		}
	}
	owner, err := Owner(ctx, m.Store)
	if err != nil {
		return Migration{}, err
	}
	now := m.Now()
	r := newRun()
	r.id, r.lookup = id, lookup
	r.m = Migration{ID: id, Owner: owner, LookUp: lu, Base: *base, State: Approved, Actor: actor, Approved: now, Earlier: earlier, Progress: Progress{Started: now}}
	r.m.note(now, actor, "approved")
	if err := m.Store.Save(ctx, KindMigration, id, &r.m); err != nil {
		return Migration{}, fmt.Errorf("save migration %s: %w", id, err)
	}
	m.runs[id] = r
	out := r.m.clone()
	m.start(r)
	return out, nil
}

// check tells whether a look-up still fits its base table.
func check(lu plan.LookUp, base *schema.Table) (*match.LookUp, *match.Refusal) {
	lookup, refusal := match.New(lu, base)
	if refusal != nil {
		return nil, refusal
	}
	if d := base.Digest(); d != lu.SchemaDigest {
		return nil, &match.Refusal{Condition: "C20", Reason: fmt.Sprintf("table %s.%s has changed since the advice was made (digest %s, was %s): ask for new advice",
			lu.Keyspace, lu.Base, d, lu.SchemaDigest)}
	}
	last := &match.Refusal{Condition: "C1", Reason: "the advice names no statement"}
	for _, text := range lu.Texts {
		if last = lookup.Check(text); last == nil {
			return lookup, nil // what it can not answer runs as it was written
		}
	}
	return nil, &match.Refusal{Condition: last.Condition, Reason: "none of the statements of the advice can be answered: " + last.Reason}
}

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
	return m.transition(ctx, r, "", RollingBack, actor, "roll-back ordered", nil)
}

// Resume takes a suspended migration on, through verification.
func (m *Manager) Resume(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	have := r.get()
	if have.State != Suspended || have.Broken {
		return &ErrState{id, "resume", have.State, "only a suspended migration whose look-up is intact can be resumed; roll it back and approve it anew"}
	}
	to := Verify
	if have.T0 == 0 {
		to = Created
	} else if have.Passes == 0 {
		to = Backfill
	}
	return m.transition(ctx, r, Suspended, to, actor, "resumed", nil)
}

// Suspend turns the reads of a migration back at once, and has saved so when it returns without error. If broken, entries
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
	have := r.get()
	switch have.State {
	case Failed, RollingBack, RolledBack, Dropped:
		return nil
	case Suspended:
		if have.Broken || !broken {
			return nil
		}
	}
	return m.turn(ctx, r, "", Suspended, "", "suspended: "+reason, func(x *Migration) {
		x.Reason, x.Broken = reason, x.Broken || broken
	})
}

// SchemaChanged compares every migration with the schema as it is now, and turns back the reads of those it no longer
// fits before it returns.
func (m *Manager) SchemaChanged(ctx context.Context, s *schema.Schema) {
	if s == nil {
		return
	}
	m.mu.Lock()
	first := !m.checked
	runs := m.sorted()
	m.mu.Unlock()
	for _, r := range runs {
		have := r.get()
		if !have.Active() || have.Broken || have.State == Failed || have.State == RollingBack {
			continue
		}
		base := s.Table(have.LookUp.Keyspace, have.LookUp.Base)
		reason := ""
		if _, refusal := match.New(have.LookUp, base); refusal != nil {
			reason = refusal.Error()
		} else if base.Digest() != have.LookUp.SchemaDigest {
			reason = fmt.Sprintf("C20: table %s.%s has changed", have.LookUp.Keyspace, have.LookUp.Base)
		} else if why, err := m.derived(ctx, &have, r.lookup, s); err != nil {
			m.Log.Error("a look-up table could not be compared with what was made", "migration", have.ID, "err", err)
		} else {
			reason = why
		}
		if reason != "" {
			if err := m.suspend(ctx, r, reason, true); err != nil {
				m.Log.Error("a suspension could not be saved", "migration", have.ID, "err", err)
			}
		}
	}
	if first {
		m.mu.Lock()
		m.checked = true
		m.mu.Unlock()
		m.publish()
	}
}
