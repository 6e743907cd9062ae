package rewrite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/maintain"
	"github.com/helenus-db/helenus/rewrite/match"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Migration is an approved look-up and all that is known of it.
type Migration = migrate.Migration

// Options of an Engine. Session or Connect, Store, Traffic and Schema must be set.
type Options struct {
	// Connect makes the session that all statements of ours run on. It is called when it is first needed, and again
	// after it failed. The session must not retry or speculate on its own.
	Connect func() (*gocql.Session, error)
	// Session is used instead of Connect if it is set.
	Session exec.Session
	Store   migrate.Store
	Traffic migrate.Traffic
	// Bypass switches the relay's hooks off, or on again (proxy.Server.Bypass); nil if there is no relay.
	Bypass func(on bool)
	// Schema returns the schema as it was last read, nil before.
	Schema func() *schema.Schema
	Log    *slog.Logger
	Now    func() time.Time // time.Now
	// Fleet says that other processes relay to the same cluster, and are not told of changes: none is taken on.
	Fleet bool
	// Others finds who else is connected to the cluster; own is this state's owner id. nil: nobody is looked for.
	Others func(ctx context.Context, own string) Others

	Entries     int           // 1,000; most entries of one value that a read follows
	Parallel    int           // 16; rows of one read that are fetched at a time
	Reads       int           // 512; reads answered at a time, more run as written
	ReadTimeout time.Duration // 2 s for a served read, then it runs as written
	Every       uint64        // 1,000; while serving, one read of so many is compared
	Comparing   int           // 4; comparisons at a time
	Maintain    maintain.Settings
	Migrate     migrate.Settings
}

func (o *Options) defaults() {
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if o.Session == nil {
		o.Session = exec.NewPool(o.Connect)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	num(&o.Entries, 1000)
	num(&o.Parallel, 16)
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
	options    Options
	log        *slog.Logger
	session    exec.Session
	reader     *exec.Reader
	maintainer *maintain.Maintainer
	manager    *migrate.Manager

	epoch atomic.Uint64
	rules atomic.Pointer[ruleSet]
	reads chan struct{} // slots of served reads
	pairs chan struct{} // slots of comparisons

	kill      kill
	suspected suspicion
	others    others

	mu     sync.Mutex
	active map[string]*active // by migration, also those no longer in force, for their counters
	opaque int                // connections that can not be read, open now

	life context.Context // of the reads and writes taken; ended by Close
	end  context.CancelFunc
	wait sync.WaitGroup // goroutines of Take
}

// active is a migration in force.
type active struct {
	id     string
	lookup *match.LookUp
	// These are looked at by every Take, so they hold for rules of earlier epochs too.
	write, lax, shadow, serve atomic.Bool
	holds                     atomic.Int64  // reasons not to serve that will be gone soon
	touched                   atomic.Uint64 // how often somebody else may have changed our table
	turn                      atomic.Uint64
	counts                    counts
	errors                    errorRate
}

// serving tells whether reads are answered from the look-up at this moment.
func (a *active) serving() bool { return a.serve.Load() && a.holds.Load() == 0 }

var _ proxy.Rewriter = (*Engine)(nil)

// New returns an Engine. Call Restore before the proxy accepts connections, and Run to have migrations move on.
func New(o Options) (*Engine, error) {
	if (o.Session == nil && o.Connect == nil) || o.Store == nil || o.Traffic == nil || o.Schema == nil {
		return nil, errors.New("rewrite: Session or Connect, Store, Traffic and Schema must be given")
	}
	o.defaults()
	e := &Engine{options: o, log: o.Log, session: o.Session, active: map[string]*active{},
		reads: make(chan struct{}, o.Reads), pairs: make(chan struct{}, o.Comparing)}
	e.reader = &exec.Reader{Session: o.Session, Entries: o.Entries, Parallel: o.Parallel}
	e.maintainer = maintain.New(o.Session, o.Maintain, o.Now, o.Log)
	e.manager = migrate.New(migrate.Parts{Session: o.Session, Maintainer: e.maintainer, Reader: e.reader, Store: o.Store,
		Traffic: o.Traffic, Publish: e.publish, Schema: o.Schema, Now: o.Now, Log: o.Log}, o.Migrate)
	e.rules.Store(newRuleSet(nil))
	e.life, e.end = context.WithCancel(context.Background())
	return e, nil
}

// Restore puts the migrations of the store in force again. Until a schema was seen nothing is served.
func (e *Engine) Restore(ctx context.Context) error {
	if err := e.restoreBypass(ctx); err != nil {
		return err
	}
	if err := e.manager.Restore(ctx); err != nil {
		return err
	}
	if e.options.Fleet {
		e.turnBack(ctx, errFleet)
	}
	if e.Bypassed().On {
		return e.suspendAll(ctx) // unless they were before a crash
	}
	return nil
}

// Run drives the migrations and removes garbage until the context ends.
func (e *Engine) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Add(2)
	wait.Go(func() { e.observe(ctx) })
	go func() { defer wait.Done(); e.maintainer.Run(ctx) }()
	go func() { defer wait.Done(); e.manager.Run(ctx) }()
	wait.Wait()
}

// Close waits for the requests that were taken, and closes the session if Connect made it. Call it after the proxy was
// shut down; ctx bounds the wait.
func (e *Engine) Close(ctx context.Context) {
	done := make(chan struct{})
	go func() { e.wait.Wait(); close(done) }()
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
	if p, ok := e.session.(*exec.Pool); ok {
		p.Close()
	}
}

// Approve takes on a look-up that the advisor recommends. See migrate.Manager.Approve for its errors.
func (e *Engine) Approve(ctx context.Context, id string, lu plan.LookUp, actor string) (Migration, error) {
	e.kill.RLock()
	defer e.kill.RUnlock()
	if e.kill.state.On {
		return Migration{}, ErrBypassed
	}
	found, err := e.Alone(ctx, lu.Keyspace)
	if err != nil {
		return Migration{}, err
	}
	m, err := e.manager.Approve(ctx, id, lu, actor)
	if text := found.warning(); err == nil && text != "" {
		return e.manager.Note(ctx, id, "warning: "+text)
	}
	return m, err
}

// Rollback turns the reads of a migration back at once, then stops writing its entries. Its table is kept.
func (e *Engine) Rollback(ctx context.Context, id, actor string) error {
	return e.manager.Rollback(ctx, id, actor)
}

// Drop removes the look-up table of a migration that was rolled back.
func (e *Engine) Drop(ctx context.Context, id, actor string) error {
	return e.manager.Drop(ctx, id, actor)
}

// ErrOpaque says that a connection can not be read, so that nothing can be served.
var ErrOpaque = errors.New("a client's requests can not be read, so its writes can not be seen: its driver asked for a compression other than lz4 and snappy; change that, then resume")

// Resume takes a suspended migration on, through verification.
func (e *Engine) Resume(ctx context.Context, id, actor string) error {
	e.kill.RLock()
	defer e.kill.RUnlock()
	if e.kill.state.On {
		return ErrBypassed
	}
	e.mu.Lock()
	opaque := e.opaque
	e.mu.Unlock()
	if opaque > 0 {
		return ErrOpaque
	}
	if _, err := e.Alone(ctx, ""); err != nil {
		return err
	}
	return e.manager.Resume(ctx, id, actor)
}

// Verify compares a migration's base and look-up now, in both directions, and returns when that is done.
func (e *Engine) Verify(ctx context.Context, id, actor string) error {
	return e.manager.Verify(ctx, id, actor)
}

// Migrations lists all, by id.
func (e *Engine) Migrations() []Migration { return e.manager.Migrations() }

// SchemaChanged compares every migration with the schema. Those that it no longer fits answer no read any more when
// it returns.
func (e *Engine) SchemaChanged(s *schema.Schema) { e.manager.SchemaChanged(e.life, s) }

// publish puts migrations in force.
func (e *Engine) publish(published []migrate.Published) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := map[string]bool{}
	var list []*active
	for _, p := range published {
		a := e.active[p.ID]
		if a == nil || a.lookup != p.LookUp { // what was dropped and approved again is another
			a = &active{id: p.ID, lookup: p.LookUp}
			e.active[p.ID] = a
		}
		if e.opaque > 0 && p.Mode.Write && !p.Mode.Lax {
			e.unseen(a, "a client")
		}
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
	a.lax.Store(m.Lax)
	a.write.Store(m.Write)
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

// Opaque implements proxy.Rewriter: who can not be read may write anything.
func (e *Engine) Opaque(c *proxy.Client) func() {
	e.mu.Lock()
	e.opaque++
	for _, a := range e.rules.Load().active {
		e.unseen(a, "client "+c.Address)
	}
	e.mu.Unlock()
	e.log.Warn("a client's requests can not be read (a compression other than lz4 and snappy), so all look-ups are suspended", "address", c.Address)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.opaque--
	}
}

// unseen suspends a migration because of an opaque connection. It does not block.
func (e *Engine) unseen(a *active, who string) {
	a.holds.Add(1)
	e.wait.Add(1)
	go func() {
		defer e.wait.Done()
		e.suspend(a, who+" can not be read, so its writes can not be seen")
		a.holds.Add(-1)
	}()
}

// suspend turns the reads of a migration back, for good as far as this process is concerned.
func (e *Engine) suspend(a *active, reason string) {
	a.serve.Store(false)
	a.shadow.Store(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.life), 10*time.Second)
	defer cancel()
	if err := e.manager.Suspend(ctx, a.id, reason, false); err != nil {
		e.log.Error("a suspension could not be saved", "migration", a.id, "reason", reason, "err", err)
	}
}

// Judge says which statements may take part in a look-up, and which forbid it, by the conditions C1 to C22 of
// design/mapping.md 3.4. See match.Judge.
func Judge(lu plan.LookUp, snapshot *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	return match.Judge(lu, snapshot, s)
}
