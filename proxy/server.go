package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/certs"
	"github.com/helenus-db/helenus/proxy/control"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/limit"
	"github.com/helenus-db/helenus/proxy/recall"
	"github.com/helenus-db/helenus/proxy/ring"
	"github.com/helenus-db/helenus/proxy/rule"
	"github.com/helenus-db/helenus/proxy/statement"
)

// Topology is how the proxy shows the cluster to its clients.
type Topology string

// Topologies.
const (
	// Single shows one node: system.peers is empty, system.local has the proxy's address.
	Single Topology = "single"
	// Mirror opens one listener per node, the first at Options.Listen and the others on the ports that follow (or each
	// at its own address, if there are several), and puts their addresses in the place of the nodes', so that drivers
	// keep routing by token.
	Mirror Topology = "mirror"
	// Fleet shows the proxies of Options.Fleet as the nodes of a ring: this one, and the others as its peers.
	Fleet Topology = "fleet"
)

// Event is something that Cassandra told the control connection.
type Event = control.Event

// EventKind is what an Event is about.
type EventKind = control.Kind

// Node is a Cassandra node.
type Node = control.Node

// Kinds of events; control says what each carries.
const (
	EventConnected = control.Connected
	EventSchema    = control.Schema
	EventTopology  = control.Topology
	EventStatus    = control.Status
)

// Options configure a Server. The zero value of a field is its default.
type Options struct {
	ContactPoints []string // host:port of Cassandra nodes, tried in order; at least one
	// Listen is host:port of the first listener; port 0 takes any. Several, comma separated: in mirror topology the k-th
	// node's listener is at the k-th; in the others all of them lead to any node.
	Listen   string
	Topology Topology // default Single
	// Advertise is where clients reach the listeners, if that is elsewhere than where they listen: host (the ports are
	// the listeners'), host:port (of the first listener, further ones follow), or several, comma separated.
	Advertise string
	Fleet     []string // host:port of every member as clients reach it, this process included; the same on all of them
	Recorder  Recorder // may be nil
	Rewriter  Rewriter // may be nil
	Log       *slog.Logger

	Username, Password string // of the control connection, if Cassandra asks
	// Member is said to Cassandra by every connection, clients' too, in the option wire.MemberOption of STARTUP: so
	// system_views.clients tells who comes through which process. "": it is not said.
	Member string

	// Front is the TLS of the listeners; nil: none. Back gives that of the connections to a host of Cassandra, and is
	// asked for each one; nil: none. Package certs makes both.
	Front *tls.Config
	Back  func(host string) *tls.Config

	MaxFrame       int           // longest request, and longest answer that is read whole, bytes; default 16 MiB
	MaxConnections int           // clients at a time; default 4,096
	DialTimeout    time.Duration // default 5 s
	// HandshakeTimeout is how long a client may take until it is ready to ask, authentication included; default 30 s.
	HandshakeTimeout time.Duration
	// RequestTimeout is after how long a request that Cassandra does not answer is answered by an ERROR; default 0: never.
	RequestTimeout time.Duration

	// KeepAlive is how long a peer, client or node, may be silent until it is probed; one that is found gone after as long
	// again loses its connection. Default 30 s.
	KeepAlive time.Duration

	MaxConnectionsPerClient int // of one remote address; 0: any number
	MaxRequestsPerClient    int // QUERY, PREPARE, EXECUTE and BATCH a second of one remote address; 0: any number
	RequestBurst            int // how many of those may come at once; 0: a second's worth

	// DrainTimeout is how long a drain may take; then what is left is cut off. Default 10 s.
	DrainTimeout time.Duration
	// DrainGrace is how long of it clients that were told to go are still served; 0: not at all.
	DrainGrace time.Duration

	// Open opens a listener, host:port. Default: a TCP listener of the process's own.
	Open func(ctx context.Context, address string) (net.Listener, error)
	// Inherited are listeners that another process handed over, as its Server.Listeners gave them.
	Inherited []Listener

	// Traces: the Recorder hears of which distributed traces requests are part (Exchange.Trace).
	Traces bool
	// StripCompression keeps clients' compression from Cassandra: it is not offered, and who compresses all the same is
	// decompressed on the way and answered uncompressed.
	StripCompression bool

	// OnEvent is told what the control connection hears. It runs on the control connection's goroutine.
	OnEvent func(Event)
	// OnPanic is told that the Rewriter panicked, before the request goes on as it was written: what rests on that all writes are seen must
	// not be relied on any more. It does not block.
	OnPanic func(error)
	// Clock returns nanoseconds since the proxy started; default: the machine's monotonic clock.
	Clock func() int64
}

// Server is the proxy.
type Server struct {
	options   Options
	log       *slog.Logger
	observed  bool // there is a Recorder or a Rewriter
	prepared  statement.Table[bound]
	described described
	control   *control.Connection
	ledger    ledger.Ledger
	stats     stats
	lastID    atomic.Uint64
	seed      maphash.Seed // of Exchange.Hash
	dialer    certs.Dialer
	warned    rarely
	guests    *limit.Guests
	draining  atomic.Bool
	bypass    atomic.Bool

	rules        rule.Counts
	replacements replacements
	resolver     *recall.Resolver
	agreeing     chan struct{} // a place for each answer that is held back until the schema is agreed

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	view       atomic.Pointer[ring.View]    // mirror: what clients are shown
	home       atomic.Pointer[ring.Cluster] // as last read
	outages    outages
	turn       atomic.Uint64
	advertised func(slot int, own netip.AddrPort) netip.AddrPort // nil: the listener's own address
	members    []netip.AddrPort                                  // fleet
	self       netip.AddrPort                                    // the member that this process is

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	fronts map[net.Conn]struct{} // clients, from when they are accepted until they are gone
	away   map[net.Conn]struct{} // refused, being told why
	gates  []*gate               // sorted by slot
}

// Defaults fills in the limits and times that were left zero.
func (o Options) Defaults() Options {
	if o.MaxFrame <= 0 {
		o.MaxFrame = 16 << 20
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 4096
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = 5 * time.Second
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = 30 * time.Second
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 30 * time.Second
	}
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = 10 * time.Second
	}
	return o
}

// New checks the options and returns a Server that is not started.
func New(o Options) (*Server, error) {
	if len(o.ContactPoints) == 0 {
		return nil, errors.New("proxy: no contact point: give the address of at least one Cassandra node, host:port")
	}
	for _, p := range o.ContactPoints {
		if _, _, err := net.SplitHostPort(p); err != nil {
			return nil, fmt.Errorf("proxy: contact point %q is not host:port: %w", p, err)
		}
	}
	if len(addresses(o.Listen)) == 0 {
		return nil, errors.New("proxy: no listen address: give host:port")
	}
	for _, a := range addresses(o.Listen) {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, fmt.Errorf("proxy: listen address %q is not host:port: %w", a, err)
		}
	}
	switch o.Topology {
	case "":
		o.Topology = Single
	case Single, Mirror, Fleet:
	default:
		return nil, fmt.Errorf("proxy: topology %q is neither %q nor %q nor %q", o.Topology, Single, Mirror, Fleet)
	}
	o = o.Defaults()
	if o.Open == nil {
		o.Open = func(ctx context.Context, address string) (net.Listener, error) {
			var config net.ListenConfig
			return config.Listen(ctx, "tcp", address)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() int64 { return int64(time.Since(start)) }
	}
	o.guardHooks()
	s := &Server{options: o, agreeing: make(chan struct{}, agreements), log: o.Log, seed: maphash.MakeSeed(), observed: o.Recorder != nil || o.Rewriter != nil,
		guests: limit.NewGuests(o.MaxConnectionsPerClient, o.MaxRequestsPerClient, o.RequestBurst),
		conns:  make(map[*conn]struct{}), fronts: make(map[net.Conn]struct{}), away: make(map[net.Conn]struct{})}
	s.replacements.log = func(text, reason string) {
		s.log.Warn("a rule's text can not stand for the statement, which runs as it was written", "text", text, "reason", reason)
	}
	s.view.Store(new(ring.View))
	if err := s.advertise(); err != nil {
		return nil, err
	}
	s.dialer = certs.Dialer{TLS: o.Back, Timeout: o.DialTimeout}
	s.resolver = s.newResolver()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	own := s.own()
	own.OnEvent, own.OnNodes, own.FollowSchema = s.hear, s.follow, o.Topology == Fleet
	s.control = control.New(own)
	return s, nil
}

// own is how the proxy connects to Cassandra for itself.
func (s *Server) own() control.Options {
	o := &s.options
	return control.Options{ContactPoints: o.ContactPoints, Username: o.Username, Password: o.Password, DialTimeout: o.DialTimeout, TLS: o.Back, Member: o.Member, Log: o.Log}
}

func (s *Server) now() int64 { return s.options.Clock() }

// Start opens the first listener and begins to connect to Cassandra. It returns at once: a Cassandra that can not be
// reached is logged and tried again, Ready tells. Error: the address can not be listened on.
func (s *Server) Start(ctx context.Context) error {
	first := 1
	if s.options.Topology != Mirror {
		first = len(addresses(s.options.Listen))
	}
	if err := s.inherit(first); err != nil {
		return err
	}
	for slot := range first {
		if slices.ContainsFunc(s.allGates(), func(g *gate) bool { return g.slot == slot }) {
			continue
		}
		if _, err := s.open(ctx, slot, nil); err != nil {
			return err
		}
	}
	if s.options.Topology == Fleet {
		s.loop(s.watch)
	}
	s.loop(s.control.Run)
	s.loop(s.resolver.Run)
	if s.options.RequestTimeout > 0 {
		s.loop(s.sweeper)
	}
	return nil
}

// loop runs f beside the relay until the server ends.
func (s *Server) loop(f func(context.Context)) {
	guard.In(&s.work, guard.Relay, func() { guard.Loop(s.ctx, guard.Relay, guard.Clock{}, f, nil) })
}

// hear is told what the control connection hears.
func (s *Server) hear(e Event) {
	if e.Kind == EventConnected {
		s.resolver.Connected()
	}
	if s.options.Topology == Mirror && e.Kind == EventTopology {
		if e.Change == ring.RemovedNode {
			s.left(e.Address)
		}
	}
	if f := s.options.OnEvent; f != nil {
		f(e)
	}
}

// Bypass switches the Rewriter off, or on again: while it is bypassed no request is offered to it and no text replaced,
// beginning with the next that any connection reads. Requests that it holds already it still ends. Who switches it on again
// must know that it has not seen what was written meanwhile.
func (s *Server) Bypass(on bool) { s.bypass.Store(on) }

// Ready tells whether the control connection to Cassandra is up.
func (s *Server) Ready() bool { return s.control.Up() && !s.draining.Load() }

// Unready says why it is not Ready; "" if it is.
func (s *Server) Unready() string {
	if s.draining.Load() {
		return "it ends, and takes no new requests"
	}
	if s.control.Up() {
		return ""
	}
	why := s.control.Why()
	if why != "" {
		why = ": " + why
	}
	return fmt.Sprintf("no control connection to %v%s; it is tried again", s.options.ContactPoints, why)
}

// Addrs returns the addresses that are listened on, host:port, by slot; the first is Options.Listen's first.
func (s *Server) Addrs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a []string
	for _, g := range s.gates {
		a = append(a, g.listener.Addr().String())
	}
	return a
}

// Nodes returns the cluster's nodes as the control connection last read them, sorted by address.
func (s *Server) Nodes() []Node { return s.control.Nodes() }

// adopt makes a connection known to Barrier and Shutdown; false if the server is closed.
func (s *Server) adopt(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}
