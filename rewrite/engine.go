package rewrite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Change is an approved change and all that is known of it.
type Change = migrate.Change

// Options of an Engine. Session or Connect, Store, Traffic and Schema must be set.
type Options struct {
	// Connect makes the session that statements of ours run on: with the nodes of one data centre alone, or, for "", with all. It is called when
	// one is first needed, and again after it failed. Sessions must not retry or speculate on their own.
	Connect func(dataCentre string) (*gocql.Session, error)
	// DataCentre is that of a node (proxy.Client.Node), in which what is said for its clients is coordinated; "" in a cluster of one. nil: there is one.
	DataCentre func(node string) string
	// Session is used instead of Connect if it is set.
	Session exec.Session
	Store   migrate.Store
	Changes *change.Book // in Store, shared with whoever advises; nil: nobody else has a part in them
	Traffic migrate.Traffic
	// Bypass switches the relay's hooks off, or on again (proxy.Server.Bypass); nil if there is no relay.
	Bypass func(on bool)
	// Schema returns the schema as it was last read, nil before.
	Schema func() *schema.Schema
	// Stale has the schema be read again soon, which is told to what Look returns. nil: that happens by events alone.
	Stale func()
	Log   *slog.Logger
	// DataKeyspace begins the names of keyspaces of ours (schema.DataKeyspace).
	DataKeyspace string
	Role         string               // that Session logs in with, "" if it does not
	Now          func() time.Time     // time.Now
	Uptime       func() time.Duration // monotonic, since the process began; nil: by the runtime's clock
	Elapsed      func() time.Duration // monotonic, and not standing still while the machine is suspended; nil: Uptime
	// Kinds are the kinds of change that there are; nil: all, with their defaults.
	Kinds kinds.Set
	// Fleet says that other processes relay to the same cluster, and are not told of changes: none is taken on.
	Fleet bool
	// Members are the other processes that relay to the same cluster and have the same Store; nil: there are none.
	Members Members
	// Others finds who else is connected to the cluster; own is this state's owner id. nil: nobody is looked for.
	Others func(ctx context.Context, own string) Others
	// Nodes are the addresses of the cluster's nodes, with or without ports. nil: they are not known.
	Nodes func() []string

	Recheck int // 500; rows that CDC agents tell of compared in a second

	Reads       int           // 512; reads answered at a time, more run as written
	ReadTimeout time.Duration // 2 s for a served read, then it runs as written
	Permissions time.Duration // how long ago Cassandra may have judged what a client may read; 0: just then, each time
	Every       uint64        // 1,000; while serving, one read of so many is compared
	Comparing   int           // 4; comparisons at a time
	Migrate     migrate.Settings
	Gain        gain.Settings
	// Before returns what the statements of a change took until now, as far as it is known; nil: nothing is.
	Before func(plan.Rewrite) gain.Before
}

func (o *Options) defaults() {
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if o.Session == nil {
		o.Session = exec.NewSites(o.Connect)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Uptime == nil {
		start := time.Now()
		o.Uptime = func() time.Duration { return time.Since(start) }
	}
	if o.Elapsed == nil {
		o.Elapsed = o.Uptime
	}
	if o.Kinds == nil {
		o.Kinds = kinds.All(kinds.Settings{})
	}
	num(&o.Recheck, 500)
	num(&o.Reads, 512)
	num(&o.Comparing, 4)
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = 2 * time.Second
	}
	if o.Every == 0 {
		o.Every = 1000
	}
}

// Engine implements proxy.Rewriter. All its methods may be called from many goroutines.
type Engine struct {
	options Options
	log     *slog.Logger
	session exec.Session
	runners map[string]kind.Runner
	manager *migrate.Manager
	gains   *gain.Keeper

	epoch atomic.Uint64
	rules atomic.Pointer[ruleSet]
	reads chan struct{} // slots of served reads
	pairs chan struct{} // slots of comparisons

	kill      kill
	suspected suspicion
	others    others
	agents    agents
	sightings sightings

	mu     sync.Mutex
	active map[string]*active // by change, also those no longer in force, for their counters
	opaque int                // connections that can not be read, open now

	unsaved atomic.Int64  // orders that turn reads back and are being stored
	orders  atomic.Uint64 // those that were given, and are stored: see Rules

	open  context.Context // until Close begins: nobody rests between orders any more
	close context.CancelFunc
	life  context.Context // of the reads and writes taken; ended by Close
	end   context.CancelFunc
	wait  sync.WaitGroup // goroutines of Take
}

// active is a change in force.
type active struct {
	id      string
	change  kind.Fitted
	derived kind.Derived // change, if it has tables of its own
	keeper  kind.Keeper  // which keeps them true
	tables  []kind.Table
	rests   []kind.Table // tables of the application's that it answers from besides the base
	about   *plan.Rewrite
	// These are looked at by every Take, so they hold for rules of earlier epochs too.
	write, shadow, serve atomic.Bool
	refused              atomic.Pointer[map[string]string] // statements that it does not answer, by fingerprint: Cassandra refuses them
	empties              atomic.Bool                       // its tables are about to be emptied
	refuse               bool                              // a write whose entry can not be written is refused, rather than its reads turned back
	holds                atomic.Int64                      // reasons not to serve that will be gone soon
	turning              atomic.Int64                      // of which are orders to verify that are on their way
	ordered              atomic.Pointer[<-chan struct{}]   // the last of them: closed when it is stored
	touched              atomic.Uint64                     // how often somebody else may have changed our table
	breaker              breaker
	uptime               func() time.Duration
	turn                 atomic.Uint64
	counts               *counts
	errors               errorRate
	gain                 *gain.Meter
	members              Members // nil: there are none
	reliance             reliance
	learned              atomic.Bool  // what other members noted, since something rests on the tables
	learning             atomic.Int64 // that is being found
	telling              atomic.Int64 // what this one owes is being put, for the others
}

// relied tells whether something rests on the entries now being complete. In a fleet another member may be ahead, or not know yet of an order that is on its way.
func (a *active) relied() bool {
	return a.used() || a.members != nil && a.write.Load() && !a.free()
}

// used tells whether something rests on the entries here. Of members that are ahead it knows nothing.
func (a *active) used() bool {
	return (a.serve.Load() || a.shadow.Load()) && a.turning.Load() == 0
}

// serving tells whether reads are answered by the change at this moment.
func (a *active) serving() bool {
	return a.serve.Load() && a.holds.Load() == 0 && (a.members == nil || a.members.Serving())
}

var _ proxy.Rewriter = (*Engine)(nil)

// New returns an Engine. Call Restore before the proxy accepts connections, and Run to have changes move on.
func New(o Options) (*Engine, error) {
	if (o.Session == nil && o.Connect == nil) || o.Store == nil || o.Traffic == nil || o.Schema == nil {
		return nil, errors.New("rewrite: Session or Connect, Store, Traffic and Schema must be given")
	}
	o.defaults()
	e := &Engine{options: o, log: o.Log, session: o.Session, active: map[string]*active{},
		reads: make(chan struct{}, o.Reads), pairs: make(chan struct{}, o.Comparing)}
	e.kill.storing = semaphore.NewWeighted(1)
	e.agents.limit = rate.NewLimiter(rate.Limit(o.Recheck), max(o.Recheck/10, 1))
	e.options.Others = e.remembering(o.Others)
	e.runners = make(map[string]kind.Runner, len(o.Kinds))
	for _, k := range o.Kinds {
		e.runners[k.Name()] = k.Open(kind.Parts{Session: o.Session, Schema: o.Schema, Now: o.Now, Uptime: o.Uptime, Log: o.Log})
	}
	parts := migrate.Parts{Session: o.Session, Kinds: o.Kinds, Runners: e.runners, Store: o.Store, Changes: o.Changes,
		Traffic: o.Traffic, Publish: e.publish, Schema: o.Schema, Now: o.Now, Log: o.Log, Role: o.Role, Blocked: e.blocked, Missed: e.missed, Doubted: e.doubted, Covered: e.covered}
	if o.Members != nil {
		parts.Traffic, parts.Shared, parts.Lead, parts.Current = everywhere{e, o.Members}, true, o.Members.Lead, o.Members.Serving
	}
	e.manager = migrate.New(parts, o.Migrate)
	e.gains = gain.NewKeeper(o.Store, o.Gain)
	e.rules.Store(newRuleSet(nil))
	e.life, e.end = context.WithCancel(context.Background())
	e.open, e.close = context.WithCancel(e.life)
	return e, nil
}

// Restore puts the changes of the store in force again. Until a schema was seen nothing is served.
func (e *Engine) Restore(ctx context.Context) error {
	if err := e.restoreBypass(ctx); err != nil {
		return err
	}
	e.restoreSightings(ctx)
	if err := e.gains.Restore(ctx); err != nil {
		return err
	}
	if err := e.manager.Restore(ctx); err != nil {
		return err
	}
	if e.options.Fleet {
		e.suspendFor(ctx, errFleet)
	}
	if e.Bypassed().On { // unless they were before a crash
		if err := e.suspendAll(ctx); err != nil { // which is no reason not to forward
			e.log.Error("suspensions could not be saved", "err", err)
		}
	}
	return nil
}

// Run drives the changes and removes garbage until the context ends.
func (e *Engine) Run(ctx context.Context) {
	var wait sync.WaitGroup
	clock := guard.Clock{Now: e.options.Now}
	guard.In(&wait, guard.Others, func() { guard.Loop(ctx, guard.Others, clock, e.observe, nil) })
	guard.In(&wait, guard.Others, func() { guard.Loop(ctx, guard.Others, clock, e.sample, nil) })
	guard.In(&wait, guard.Gain, func() { guard.Loop(ctx, guard.Gain, clock, e.weigh, nil) })
	for _, r := range e.runners {
		if keeper, ok := r.(kind.Keeper); ok {
			guard.In(&wait, guard.Maintainer, func() { guard.Loop(ctx, guard.Maintainer, clock, keeper.Run, nil) })
		}
	}
	guard.In(&wait, guard.Migrations, func() { guard.Loop(ctx, guard.Migrations, clock, e.manager.Run, e.OnPanic) })
	wait.Wait()
}

// Close waits for the requests that were taken, and closes the session if Connect made it. Call it after the proxy was
// shut down; ctx bounds the wait.
func (e *Engine) Close(ctx context.Context) {
	e.close()
	done := make(chan struct{})
	guard.Go(guard.Migrations, func() {
		defer close(done)
		e.wait.Wait()
	}, nil)
	select {
	case <-done:
	case <-ctx.Done():
	}
	e.end() // what is still under way fails now, and so ends soon
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		e.log.Error("requests that were taken did not end")
	}
	if p, ok := e.session.(*exec.Sites); ok {
		p.Close()
	}
}

// Approve takes on a change that the advisor recommends, on the usual terms. See migrate.Manager.Approve for its errors.
func (e *Engine) Approve(ctx context.Context, id string, lu plan.Rewrite, actor string) (Change, error) {
	return e.ApproveOn(ctx, id, lu, migrate.Terms{Actor: actor})
}

// ApproveOn is Approve on terms of one's own.
func (e *Engine) ApproveOn(ctx context.Context, id string, lu plan.Rewrite, terms migrate.Terms) (Change, error) {
	done, err := e.admitted()
	if err != nil {
		return Change{}, err
	}
	defer done()
	found, err := e.Alone(ctx, lu.Keyspace)
	if err != nil {
		return Change{}, err
	}
	if e.options.Members != nil { // who approved just now, elsewhere, was first
		if err := errors.Join(e.options.Changes.Sync(ctx), e.manager.Follow(ctx)); err != nil {
			return Change{}, err
		}
	}
	before := e.before(lu)
	m, err := e.manager.Approve(ctx, id, lu, terms)
	if err == nil {
		e.promised(ctx, id, lu, before)
	}
	if err != nil {
		return m, err
	}
	told := e.Beforehand(&lu)
	if text := found.warning(); text != "" {
		told = append(told, "warning: "+text)
	}
	for _, text := range told {
		if m, err = e.manager.Note(ctx, id, text); err != nil {
			return m, err
		}
	}
	return m, nil
}

// Prepare has what a change needs be there before it is decided on. See migrate.Manager.Prepare.
func (e *Engine) Prepare(ctx context.Context, c *plan.Rewrite) error {
	return e.manager.Prepare(ctx, c)
}

// Rollback turns the reads of a change back at once, then stops writing its entries. Its table is kept.
func (e *Engine) Rollback(ctx context.Context, id, actor string) error {
	return e.manager.Rollback(ctx, id, actor)
}

// Hold keeps a change in shadow once it has come there, CutOver lets it serve then.
func (e *Engine) Hold(ctx context.Context, id, actor string) error {
	return e.manager.Hold(ctx, id, actor)
}

// CutOver lets a change serve that was held.
func (e *Engine) CutOver(ctx context.Context, id, actor string) error {
	return e.manager.CutOver(ctx, id, actor)
}

// Throttle changes the pace at which a change is filled and verified.
func (e *Engine) Throttle(ctx context.Context, id string, o migrate.ThrottleOrder, actor string) error {
	return e.manager.Throttle(ctx, id, o, actor)
}

// Drop removes the tables of a change that was rolled back.
func (e *Engine) Drop(ctx context.Context, id, actor string) error {
	return e.manager.Drop(ctx, id, actor)
}

// Unreadable is why nothing can be verified while a connection can not be read.
const Unreadable = "a client's requests can not be read, so its writes can not be seen: its driver asked for a compression other than lz4 and snappy; change that"

// unreadable reports whether a connection is open that can not be read.
func (e *Engine) unreadable() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opaque > 0
}

// blocked says why nothing can be verified now. No lock of ours is held while the fleet is asked, which asks us under its own.
func (e *Engine) blocked() string {
	if e.unreadable() {
		return Unreadable
	}
	if m := e.options.Members; m != nil {
		return m.Blocked()
	}
	return ""
}

// Resume takes a suspended or failed change on, through verification.
func (e *Engine) Resume(ctx context.Context, id, actor string) error {
	done, err := e.admitted()
	if err != nil {
		return err
	}
	defer done()
	if _, err := e.Alone(ctx, ""); err != nil {
		return err
	}
	return e.manager.Resume(ctx, id, actor)
}

// Spark writes the script that fills the table of a change on others' machines, and Filled says that it has.
func (e *Engine) Spark(id string) (string, error) { return e.manager.Spark(id) }

// Filled says that a script of Spark has filled the table of a change.
func (e *Engine) Filled(ctx context.Context, id, actor string) error {
	return e.manager.Filled(ctx, id, actor)
}

// Verify compares a change's base and its own tables now, in both directions, and returns when that is done.
func (e *Engine) Verify(ctx context.Context, id, actor string) error {
	return e.manager.Verify(ctx, id, actor)
}

// Migrations lists all, by id, with what they turned out to be worth.
func (e *Engine) Migrations() []Change { return e.measured(e.manager.Migrations()) }

// Unstored says in words which orders about changes are in force and not stored. It waits for nobody who stores something.
func (e *Engine) Unstored() []string { return e.manager.Unstored() }

// missed counts the writes that went on without their entry.
func (e *Engine) missed(id string) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.active[id]; a != nil {
		return a.counts.missed.Load()
	}
	return 0
}

// doubted tells whether a change's reads are being turned back by an order of ours that is not stored yet, or whether it is not known here yet what other members noted: a difference is none then.
func (e *Engine) doubted(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.active[id]
	return a != nil && (a.turning.Load() > 0 || a.learning.Load() > 0)
}

// publish puts changes in force.
func (e *Engine) publish(published []migrate.Published) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.suspected.mu.Lock() // what is suspected meanwhile is about the new rules
	defer e.suspected.mu.Unlock()
	in := map[string]bool{}
	var list []*active
	for _, p := range published {
		a := e.active[p.ID]
		if a == nil || a.change != p.Change { // what was fitted to another schema, or dropped and approved again, is another
			next := &active{id: p.ID, change: p.Change, about: p.Rewrite, counts: &counts{}, uptime: e.options.Uptime, refuse: p.OnEntryFailure == migrate.Refuse, gain: e.gains.Meter(p.ID), members: e.options.Members, reliance: reliance{debt: newDebt()}}
			if next.derived, _ = p.Change.(kind.Derived); next.derived != nil {
				next.keeper, next.tables = p.Runner.(kind.Keeper), next.derived.Tables()
			}
			if f, ok := p.Change.(kind.Foreign); ok {
				next.rests = f.Rests()
			}
			if a != nil {
				a.serve.Store(false) // for rules of earlier epochs; their writes are still to be followed
				a.shadow.Store(false)
				next.counts, next.reliance.debt = a.counts, a.reliance.debt
				e.suspected.inherit(a, next)
			}
			a = next
			e.active[p.ID] = a
		}
		a.refused.Store(&p.Refused)
		a.empties.Store(p.Empties)
		a.set(p.Mode)
		in[p.ID] = true
		list = append(list, a)
	}
	for id, a := range e.active {
		if !in[id] {
			a.set(migrate.Mode{})
		}
	}
	if len(list) == 0 && len(e.rules.Load().active) == 0 {
		return // the epoch stays 0 until there is something to look at, which the relay takes for "not in use"
	}
	// The rules first, then the epoch: whoever sees the new epoch finds the new rules.
	e.rules.Store(newRuleSet(list))
	e.epoch.Add(1)
}

func (a *active) set(m migrate.Mode) {
	a.serve.Store(m.Serve)
	a.shadow.Store(m.Shadow)
	a.write.Store(m.Write)
	if a.reliance.set(m.Rely); !m.Rely {
		a.learned.Store(false)
	}
}

// Epoch implements proxy.Rewriter.
func (e *Engine) Epoch() uint64 { return e.epoch.Load() }

// Rule implements proxy.Rewriter.
func (e *Engine) Rule(keyspace, text string) proxy.Rule {
	if r := e.rules.Load().rule(keyspace, text); r.matters() {
		return r
	}
	return nil
}

// Unsure implements proxy.Rewriter.
func (e *Engine) Unsure(text string) proxy.Rule {
	if r := e.rules.Load().unsure(text); r.matters() {
		return r
	}
	return nil
}

// Opaque implements proxy.Rewriter: who can not be read may write anything.
func (e *Engine) Opaque(c *proxy.Client) func() {
	e.mu.Lock()
	e.opaque++
	var stored []<-chan struct{}
	for _, a := range e.rules.Load().active {
		stored = append(stored, e.turnBack(a, "client "+c.Address+" can not be read, so its writes can not be seen", e.manager.Reverify))
	}
	e.mu.Unlock()
	e.quiet(stored...)
	e.log.Warn("a client's requests can not be read (a compression other than lz4 and snappy), so no read is answered by a change until it has gone and all are verified", "address", c.Address)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.opaque--
	}
}

// suspend turns the reads of a change back, for good as far as this process is concerned; false if that could not be saved.
func (e *Engine) suspend(a *active, reason string) bool {
	a.serve.Store(false)
	a.shadow.Store(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.life), 10*time.Second)
	defer cancel()
	if err := e.manager.Suspend(ctx, a.id, reason, false); err != nil {
		e.log.Error("a suspension could not be saved", "change_id", a.id, "reason", reason, "err", err)
		return false
	}
	return true
}
