package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/tracer"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/sleep"
)

// retryEvery is how soon what failed is tried again, measureEvery how often the tables are measured, measureNew how often those are that
// are new, or were empty.
const (
	retryEvery   = time.Second
	measureEvery = 10 * time.Minute
	measureNew   = 30 * time.Second
)

// loop is what goes on for as long as the process does, and begins again when it panicked.
type loop struct {
	part guard.Part
	run  func(context.Context)
	then func(error) // is told of a panic before it begins again
}

func (h *helenus) loops() []loop {
	reread := func(error) { h.outdated() } // what was heard last may have been lost
	return []loop{
		{guard.Schema, h.follow, func(err error) { h.engine.OnPanic(err); reread(err) }}, // who does not see the schema must not serve
		{guard.Migrations, h.engine.Run, h.engine.OnPanic},
		{guard.Calendars, h.leading(h.followCalendars), nil},
		{guard.Statistics, h.measure, nil},
		{guard.Advice, h.leading(h.advise), nil},
		{guard.History, h.remember, nil},
		{guard.State, h.mindState, nil},
		{guard.State, h.trim, nil},
		{guard.Webhooks, h.webhooks.Run, nil},
		{guard.Relay, h.watchdog, nil},
		{guard.Fleet, h.beFound, nil},
		{guard.Fleet, h.learnMerged, nil},
		{guard.Fleet, h.exchangeHours, nil},
	}
}

// serveAdmin serves the API. The relay does not end with it.
func (h *helenus) serveAdmin(ctx context.Context) {
	if err := h.admin.Serve(h.listener); err != nil && ctx.Err() == nil {
		h.log.Error("the API is not served any more until helenus is started again; requests are forwarded", "error", err)
	}
}

// lookAgain is after what times the schema is read again after an event: the node that was asked may not have had it yet.
var lookAgain = []time.Duration{2 * time.Second, 10 * time.Second}

// follow reads the schema when it may have changed, and tells the engine before anything else happens.
func (h *helenus) follow(ctx context.Context) {
	var again []time.Duration
	for {
		var later <-chan time.Time
		if len(again) > 0 {
			later = time.After(again[0])
		}
		select {
		case <-ctx.Done():
			return
		case <-h.stale:
			again = lookAgain
		case <-later:
			again = again[1:]
		}
		for {
			err := h.refresh(ctx)
			if err == nil {
				break
			}
			h.log.Warn("schema not read; trying again", "error", err)
			if sleep.For(ctx, retryEvery) != nil {
				return
			}
		}
	}
}

// measure keeps statistics of the tables.
func (h *helenus) measure(ctx context.Context) {
	for round := 0; ; {
		wait := retryEvery
		if h.live.Schema() != nil {
			measure := h.live.MeasureNew
			if round%int(measureEvery/measureNew) == 0 {
				measure = h.live.Measure
			}
			wait = measureNew
			round++
			if err := measure(ctx); err != nil && ctx.Err() == nil {
				h.log.Warn("some tables were not measured", "error", err)
			}
		}
		if sleep.For(ctx, wait) != nil {
			return
		}
	}
}

// advise waits for the first statistics, so that the first advice does not rest on assumptions.
func (h *helenus) advise(ctx context.Context) {
	for range 30 {
		if h.live.Statistics() != nil || sleep.For(ctx, retryEvery) != nil {
			break
		}
	}
	h.advisor.Run(ctx)
}

// remember writes what was counted to the history. What goes wrong is the history's to say.
func (h *helenus) remember(ctx context.Context) {
	for {
		_ = h.history.Tick(ctx) // it has logged it
		if sleep.For(ctx, h.settings.SnapshotsEvery) != nil {
			return
		}
	}
}

// trace says the next execution of a statement again, traced.
func (h *helenus) trace(ctx context.Context, fingerprint string, wait time.Duration) (*tracer.Trace, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	e, err := h.registry.NextExecution(waiting, fingerprint)
	if err != nil {
		return nil, err
	}
	return tracer.Again(ctx, sessions{h.settings, h.secured.dialer()}.tracing, fingerprint, e)
}

// sessions opens Helenus's own sessions to Cassandra.
type sessions struct {
	*config.Settings
	dialer sessionDialer
}

// reading is for the schema and for statistics.
func (s sessions) reading() (*gocql.Session, error) { return s.open("", 1, 20*time.Second) }

// tracing is for one statement of an application, said again in its keyspace.
func (s sessions) tracing(keyspace string) (*gocql.Session, error) {
	return s.open(keyspace, 1, 20*time.Second)
}

// working is for plans, look-up entries and changes. It does not retry by itself: whoever asks knows whether
// that is safe.
func (s sessions) working(dataCentre string) (*gocql.Session, error) {
	c, err := s.cluster("", 4, 30*time.Second)
	if err != nil {
		return nil, err
	}
	if dataCentre != "" {
		c.HostFilter = gocql.DataCentreHostFilter(dataCentre)
	}
	return c.CreateSession()
}

// stating is for the state in a keyspace.
func (s sessions) stating() (*gocql.Session, error) { return s.open("", 2, 10*time.Second) }

func (s sessions) open(keyspace string, connections int, timeout time.Duration) (*gocql.Session, error) {
	c, err := s.cluster(keyspace, connections, timeout)
	if err != nil {
		return nil, err
	}
	return c.CreateSession()
}

// asking is for what one node, host:port, knows of itself.
func (s sessions) asking(node string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		return nil, err
	}
	c, err := s.cluster("", 1, dialTimeout)
	if err != nil {
		return nil, err
	}
	if c.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	c.Hosts, c.DisableInitialHostLookup, c.HostFilter = []string{host}, true, gocql.WhiteListHostFilter(host) // an IP address
	return c.CreateSession()
}

// only is open for the one node of an address; "" is the whole cluster.
func (s sessions) only(node string, connections int, timeout time.Duration) (*gocql.Session, error) {
	c, err := s.cluster("", connections, timeout)
	if err != nil {
		return nil, err
	}
	if node != "" {
		c.Hosts, c.HostFilter = []string{node}, gocql.WhiteListHostFilter(node)
	}
	return c.CreateSession()
}

func (s sessions) cluster(keyspace string, connections int, timeout time.Duration) (*gocql.ClusterConfig, error) {
	var hosts []string
	port := 0
	for _, at := range s.ContactPoints {
		host, p, err := net.SplitHostPort(at)
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, fmt.Errorf("contact point %s: %w", at, err)
		}
		hosts, port = append(hosts, host), n
	}
	c := gocql.NewCluster(hosts...)
	c.Port, c.Keyspace = port, keyspace
	c.ProtoVersion = 4
	c.NumConns = connections
	// A request goes out at once: gocql would wait 200 µs for others to send along, which the
	// timers of many machines make a millisecond.
	c.WriteCoalesceWaitTime = 0
	c.Timeout, c.ConnectTimeout = timeout, dialTimeout
	c.HostDialer = s.dialer
	c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	c.ReconnectInterval = time.Second
	c.Logger = silent{}
	if s.Username != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: s.Username, Password: s.Password}
	}
	return c, nil
}

// silent keeps gocql's remarks out of our log: what matters comes back as an error.
type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
