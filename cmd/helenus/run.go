package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/merged"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/console"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/internal/spans"
	"github.com/helenus-db/helenus/internal/webhook"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

func runCommand() *cobra.Command {
	var file string
	var takeOver bool
	c := &cobra.Command{Use: "run", Short: "The proxy, with learning, advice and changes", Args: usage(cobra.NoArgs)}
	c.Flags().StringVar(&file, "config", "", "YAML file of settings; see docs/configuration.md")
	c.Flags().BoolVar(&takeOver, "take-over", false, "take the listening sockets over from the helenus that runs with the same state-dir, and let it end; no connection is refused meanwhile")
	settings := config.Flags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := settings(file, os.LookupEnv)
		if err != nil {
			return usageError{err}
		}
		log := logger(s)
		for _, text := range config.Misspelt(os.Environ()) {
			log.Warn(text)
		}
		from, err := inherit(c.Context(), s, takeOver, log)
		if err != nil {
			return err
		}
		h, err := assemble(c.Context(), s, from, log)
		if err != nil {
			from.close()
			if c.Context().Err() != nil { // it was told to stop while it waited for the state
				log.Info("stopping: no request was taken yet")
				return nil //nolint:nilerr // which is no failure
			}
			return err
		}
		return h.run(c.Context())
	}
	return c
}

func logger(s *config.Settings) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // Validate has checked it
	o := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// helenus is all parts, wired. Data flows one way: server -> registry -> advisor -> engine -> server.
type helenus struct {
	settings  *config.Settings
	log       *slog.Logger
	secured   secured
	webhooks  *webhook.Teller
	spans     *spans.Sender
	store     state
	file      *store.Store    // store, if it is one
	shared    *keyspace.Store // store, if it is one
	claimed   io.Closer       // the state directory of a member; nil: it is not
	process   string          // the id of this process, as its connections say it
	member    *fleet.Member   // nil: no other process has this state
	merged    *merged.Member  // what members learn, put together; nil: there is one process
	tokens    *access.Tokens
	sessions  *access.Sessions
	changes   *change.Book // in store
	registry  *capture.Registry
	history   *history.History
	live      *schema.Live
	onlookers *onlookers
	centres   centres
	server    *proxy.Server
	engine    *rewrite.Engine
	advisor   *advisor.Advisor
	keeper    *calendar.Keeper
	admin     *admin.Server
	listener  net.Listener // of admin
	from      *inheritance
	closing   sync.Once

	refreshing sync.Mutex    // orders readings of the schema
	unnamed    sync.Once     // tells of keyspaces that are not there
	stale      chan struct{} // holds one token when the schema must be read again
	lost       chan string   // holds why the state was lost while the process runs
}

// traffic is the relay as the engine needs it; the relay needs the engine first.
type traffic struct{ h *helenus }

func (t traffic) Barrier(ctx context.Context) error { return t.h.server.Barrier(ctx) }

func (t traffic) bypass(on bool) { t.h.server.Bypass(on) }

// migrator is the engine as the API needs it: an approval, and a resumption, are judged by the schema as it is now, not as
// the last event left it.
type migrator struct {
	*rewrite.Engine
	refresh func(context.Context) error
}

func (m migrator) Approve(ctx context.Context, id string, lu plan.Rewrite, actor string) (migrate.Change, error) {
	return m.ApproveOn(ctx, id, lu, migrate.Terms{Actor: actor})
}

func (m migrator) ApproveOn(ctx context.Context, id string, lu plan.Rewrite, terms migrate.Terms) (migrate.Change, error) {
	if err := m.refresh(ctx); err != nil {
		return migrate.Change{}, err
	}
	return m.Engine.ApproveOn(ctx, id, lu, terms)
}

func (m migrator) Resume(ctx context.Context, id, actor string) error {
	if err := m.refresh(ctx); err != nil {
		return err
	}
	return m.Engine.Resume(ctx, id, actor)
}

// before is what the statements of a change took as Cassandra answered them, as far as this process, or its fleet, has counted.
func (h *helenus) before(lu plan.Rewrite) (b gain.Before) {
	counts := h.registry.Counts()
	if h.merged != nil {
		counts = h.learned()
	}
	sum := func(fingerprints []string) (d histogram.Distribution) {
		for _, f := range fingerprints {
			if st := counts.Statement(f); st != nil {
				d = d.Plus(st.OriginalLatency())
			}
		}
		return d
	}
	return gain.Before{Reads: sum(lu.Statements), Writes: sum(lu.Promise.Paying)}
}

// nodes are where the nodes of the cluster are reached.
func (h *helenus) nodes() (all []string) {
	for _, n := range h.server.Nodes() {
		all = append(all, n.Target())
	}
	return all
}

// allowed refuses a calendar where none of its changes would be taken on.
func (h *helenus) allowed(ctx context.Context, c *plan.Calendar) error {
	for i := range c.Seasons {
		if _, err := h.engine.Alone(ctx, c.Seasons[i].Rewrite.Keyspace); err != nil {
			return err
		}
		if err := h.engine.Prepare(ctx, &c.Seasons[i].Rewrite); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the schema and tells the engine. One at a time: an older picture must not come after a newer one.
func (h *helenus) refresh(ctx context.Context) error {
	h.refreshing.Lock()
	defer h.refreshing.Unlock()
	seen := h.engine.Look()
	s, err := h.live.Refresh(ctx)
	if err == nil {
		seen(s)
		h.unnamed.Do(func() {
			if missing := absent(s, h.settings.Keyspaces); len(missing) > 0 {
				h.log.Warn("the setting keyspaces names what is not there: nothing is advised on it unless it is made", "missing", missing)
			}
		})
	}
	return err
}

// absent are the keyspaces that are to be advised on and are not there.
func absent(s *schema.Schema, named []string) (list []string) {
	for _, name := range named {
		if s.Keyspace(name) == nil {
			list = append(list, name)
		}
	}
	return list
}

// assemble wires the parts. Nothing listens yet but the admin API, so that a taken port is an error at once.
func assemble(ctx context.Context, s *config.Settings, from *inheritance, log *slog.Logger) (*helenus, error) {
	guard.LogTo(log)
	h := &helenus{settings: s, log: log, from: from, stale: make(chan struct{}, 1), lost: make(chan string, 1)}
	if err := h.wire(ctx); err != nil {
		h.close()
		return nil, err
	}
	if err := h.openAdmin(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// sampling is how values are looked at.
func sampling(s *config.Settings) window.Options {
	return window.Options{
		Off: !s.SampleValues, Never: s.NeverSample, LiteralsAllowed: s.LiteralsAllowed,
		Rotation: s.SampleRotation, Retention: s.SampleRetention, Secret: s.SampleSecret,
	}
}

func (h *helenus) wire(ctx context.Context) (err error) {
	s := h.settings
	h.process = fleet.NewID()
	if h.secured, err = secure(s, h.log); err != nil {
		return usageError{err}
	}
	h.webhooks = webhook.New(h.telling())
	if err := h.openState(ctx); err != nil {
		return err
	}
	h.store.Watch(h.webhooks.Decided)
	h.changes = change.Open(h.store)
	if err := h.sayWho(ctx); err != nil {
		return err
	}
	started := time.Now()
	cluster := sessions{s, h.secured.dialer()}
	h.live = schema.NewLive(cluster.reading, s.Keyspaces, s.DataKeyspace)
	h.onlookers = &onlookers{nodes: h.nodes, open: cluster.asking, self: h.process, grace: handOverGrace}
	windows := sampling(s)
	windows.Schema = func() *schema.Schema { return h.live.Schema() }
	if h.spans, err = spans.New(context.Background(), s.OTLPEndpoint, built().version, h.log); err != nil {
		return usageError{err}
	}
	captured := captureOptions(s)
	captured.Started, captured.Windows, captured.Log, captured.Traced = started, windows, h.log, h.spans.Send
	h.registry = capture.New(captured)
	h.history = history.New(history.Options{
		Counts: h.registry.Counts, Log: h.log,
		Open:  func() (history.Shelf, error) { return store.OpenWindows(s.StateDir) },
		Aside: func(now time.Time) (string, error) { return store.Aside(s.StateDir, now) },
		Keep:  [...]time.Duration{s.HistoryMinutes, s.HistoryHours, s.HistoryDays}, Size: int64(s.HistorySize),
	})
	h.join()
	h.learnTogether()
	all := kinds.All(kinds.Settings{LookUp: lookUpSettings(s)})
	if h.engine, err = rewrite.New(rewrite.Options{
		Connect: cluster.working, DataCentre: h.dataCentre, Store: h.store, Changes: h.changes, Traffic: traffic{h}, Bypass: traffic{h}.bypass, Schema: h.live.Schema, Stale: h.outdated, Log: h.log, Role: s.Username, DataKeyspace: s.DataKeyspace, Now: clock, Elapsed: fleet.Elapsed, Kinds: all,
		Permissions: s.PermissionsValidity, Before: h.before, Fleet: proxy.Topology(s.Topology) == proxy.Fleet && !s.Shared(), Members: h.members(), Others: h.onlookers.look, Nodes: h.nodes, Recheck: s.CDCRate,
		Migrate: changeSettings(s),
	}); err != nil {
		return err
	}
	relayed := proxyOptions(s)
	relayed.Recorder, relayed.Rewriter, relayed.Log, relayed.Member = h.registry, h.engine, h.log, h.secured.member
	relayed.Front, relayed.Back, relayed.Open, relayed.Inherited = h.secured.listening(), h.secured.dialling(), h.from.openCQL, h.from.gates
	relayed.OnEvent, relayed.OnPanic, relayed.Clock = h.heard, h.engine.OnPanic, func() int64 { return int64(time.Since(started)) }
	if h.server, err = proxy.New(relayed); err != nil {
		return err
	}
	costs, err := measured(s)
	if err != nil {
		return err
	}
	zone, err := cycle.Zone(s.CycleZone)
	if err != nil {
		return usageError{fmt.Errorf("setting cycle-zone: %w", err)}
	}
	solver := solve.New(solve.Config{Path: s.Solver})
	if h.advisor, err = advisor.New(advisor.Options{
		Cost: costs, Past: (&memory{history: h.history, zone: zone, statistics: h.live.Statistics}).read,
		Snapshots: h.learned, Schema: h.live.Advisable, Statistics: h.live.Statistics,
		Nodes: h.nodeCount, Judge: all, Solver: solver, Ready: solver.Ready,
		Store: h.store, Changes: h.changes, Leads: h.leads(), Opened: h.opened, Log: h.log, Interval: s.AdviseEvery,
		Thresholds: thresholds(s), DataKeyspace: s.DataKeyspace,
		Make:    h.rounds(),
		Compare: h.comparisons(),
	}); err != nil {
		return err
	}
	h.keeper, err = calendar.New(calendar.Options{Migrations: migrator{h.engine, h.refresh}, Changes: h.changes, Recent: h.recent, Allowed: h.allowed, Log: h.log})
	return err
}

// nodeCount is of the cluster, as far as the relay knows it.
func (h *helenus) nodeCount() int { return len(h.server.Nodes()) }

func (h *helenus) openAdmin(ctx context.Context) error {
	gate, err := h.gate(ctx)
	if err != nil {
		return err
	}
	provider, err := h.provider()
	if err != nil {
		return err
	}
	metrics := prometheus.NewRegistry()
	h.admin = admin.New(admin.Options{
		Gate: gate, OpenID: provider, Audit: h.store, Proposals: h.store, Approvers: h.settings.Approvers, MetricsToken: h.settings.MetricsToken, WebConfig: h.settings.AdminWebConfig,
		Pprof: h.settings.Pprof, Statements: h.learned, History: h.history, Trace: h.trace,
		Schemas: h.worked(admin.Schemas{Schema: h.live.Schema, Advisable: h.live.Advisable, Measured: h.live.Statistics, Nodes: h.nodeCount}), Changes: h.changes, Advisor: h.advisor, Corrector: h.advisor, Migrator: migrator{h.engine, h.refresh}, Calendars: h.keeper,
		Ready: h.ready, Metrics: metrics, Log: h.log, Members: h.membership(),
		Connections: func() any { return h.server.Connections() },
		Windows:     h.registry.Windows(),
		Pages: func(api *admin.Server) http.Handler {
			return console.New(console.Options{API: api, Sessions: api, Ready: h.ready, Metrics: metrics, Settings: h.settings.YAML, Stopping: api.Stopping(), Now: time.Now, Log: h.log})
		},
	})
	for _, c := range append(h.collectors(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) {
		if err := metrics.Register(c); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	if h.listener, err = h.from.openAdmin(ctx, h.settings.Admin); err != nil {
		return fmt.Errorf("admin address: %w; is another helenus running? choose another with --admin", err)
	}
	return nil
}

// collectors are all parts that have metrics.
func (h *helenus) collectors() []prometheus.Collector {
	return []prometheus.Collector{h.server, h.registry, h.history, h.advisor, h.engine, h.keeper, h.secured.metrics(), h.stateMetric(), h.admin, h.webhooks, h.spans, h.member, guard.Metrics(), built().metric()}
}

// ready is asked by who sends traffic here, or elsewhere: it waits for nothing that waits for the state.
func (h *helenus) ready() []admin.Check {
	check := func(name string, ok bool, why string) admin.Check {
		if ok {
			why = ""
		}
		return admin.Check{Name: name, Ready: ok, Why: why}
	}
	return []admin.Check{
		h.cassandra(check("cassandra", h.server.Ready(), h.server.Unready())),
		check("schema", h.live.Schema() != nil, "the schema has not been read yet"),
		h.rewriting(),
		{Name: "state", Ready: true, Why: h.store.Trouble()},    // ready: the proxy forwards without it
		{Name: "advice", Ready: true, Why: h.advisor.Trouble()}, // likewise
		h.fleetCheck(),
	}
}

// cassandra adds to a check what the proxy knows of the cluster.
func (h *helenus) cassandra(c admin.Check) admin.Check {
	c.Detail = fmt.Sprintf("%s, %s, %s", words.Plural(h.nodeCount(), "node", "nodes"), words.Plural(len(h.server.Addrs()), "listener", "listeners"), words.Plural(h.server.Stats().Connections, "connection", "connections"))
	return c
}

// rewriting is ready either way: while requests bypass it the proxy serves, and that is what they were to do.
func (h *helenus) rewriting() admin.Check {
	c := admin.Check{Name: "rewriting", Ready: true}
	if b := h.engine.Bypassed(); b.On {
		c.Why = fmt.Sprintf("bypassed by %s since %s; `helenus bypass off` ends that", b.Actor, b.Since.Format(time.RFC3339))
		if b.Pending != "" {
			c.Why += "; pending: " + b.Pending
		}
	}
	for _, order := range h.engine.Unstored() {
		c.Detail += order + "; "
	}
	return c
}

// heard is told what the control connection hears; the schema is read elsewhere, but until it is nothing is answered from what may
// have changed. While there was no connection any event may have been missed.
func (h *helenus) heard(e proxy.Event) {
	switch e.Kind {
	case proxy.EventSchema, proxy.EventConnected:
		h.engine.Suspect(e.Keyspace, e.Table)
		h.outdated()
	}
}

// outdated has the schema be read again.
func (h *helenus) outdated() {
	select {
	case h.stale <- struct{}{}:
	default: // a reading is due already
	}
}

// run works until ctx ends, or until another process has taken over. Rules are restored before the first connection is accepted.
func (h *helenus) run(ctx context.Context) error {
	defer h.close()
	if err := h.restore(ctx); err != nil {
		return err
	}
	if err := h.enter(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if err := h.server.Start(ctx); err != nil {
		return err
	}
	h.log.Info("listening", "listen", h.server.Addrs(), "contact_points", h.settings.ContactPoints,
		"admin", h.listener.Addr().String(), "token", filepath.Join(h.settings.StateDir, admin.TokenFile))
	if err := admin.KeepAddress(h.adminAddress(), h.settings.StateDir); err != nil {
		h.log.Warn("commands must be given --server", "error", err)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var work sync.WaitGroup
	for _, one := range h.loops() {
		guard.In(&work, one.part, func() { guard.Loop(working, one.part, guard.Clock{}, one.run, one.then) })
	}
	guard.Go(guard.API, func() { guard.Loop(working, guard.API, guard.Clock{}, h.serveAdmin, nil) }, nil) // ends with Shutdown
	giver := h.giver()
	defer giver.Close()
	h.notifyReady()
	end := func(drain func(context.Context) error) error { return h.stop(drain, stop, &work) }
	for {
		select {
		case <-ctx.Done():
			h.log.Info("stopping")
			h.notify(daemon.SdNotifyStopping)
			return end(h.server.Shutdown)
		case next := <-giver.Asked():
			if kept := h.agree(next); kept != nil {
				return h.handOver(next, kept, giver, end)
			}
		}
	}
}

// closeFor bounds the end of what is not the proxy.
const closeFor = 10 * time.Second

// stop drains the proxy first, while everything that answers requests still works.
func (h *helenus) stop(drain func(context.Context) error, stop context.CancelFunc, work *sync.WaitGroup) error {
	err := drain(context.Background())
	if errors.Is(err, context.DeadlineExceeded) { // the drain has logged what was cut off
		err = nil
	}
	h.leave()
	stop()
	work.Wait()
	closing, cancel := context.WithTimeout(context.Background(), closeFor)
	defer cancel()
	h.engine.Close(closing)
	for _, order := range h.engine.Unstored() {
		h.log.Error("an order could not be stored before the process ends: give it again, unless the comment of its table has kept it", "order", order)
	}
	return errors.Join(err, h.admin.Shutdown(closing), h.history.Close(closing))
}

func (h *helenus) close() { h.closing.Do(h.closeAll) }

func (h *helenus) closeAll() {
	h.from.close()
	if h.listener != nil {
		_ = h.listener.Close()
	}
	if h.registry != nil {
		h.registry.Close()
	}
	if h.spans != nil {
		h.closeSpans()
	}
	if h.live != nil {
		h.live.Close()
	}
	if h.onlookers != nil {
		h.onlookers.close()
	}
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			h.log.Warn("state could not be closed", "error", err)
		}
	}
	if h.claimed != nil {
		_ = h.claimed.Close()
	}
}

// closeSpans gives the collector a moment for the last spans.
func (h *helenus) closeSpans() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := h.spans.Close(ctx); err != nil {
		h.log.Warn("the last spans could not be sent", "to", h.settings.OTLPEndpoint, "error", err)
	}
}
