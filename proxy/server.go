package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/proxy/control"
)

// Topology is how the proxy shows the cluster to its clients.
type Topology string

// Topologies.
const (
	// Single shows one node: system.peers is empty, system.local has the proxy's address.
	Single Topology = "single"
	// Mirror opens one listener per node, the first at Options.Listen and the others on the ports that follow, and
	// puts their addresses in the place of the nodes', so that drivers keep routing by token.
	Mirror Topology = "mirror"
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
	Listen        string   // host:port of the first listener; port 0 takes any
	Topology      Topology // default Single
	Recorder      Recorder // may be nil
	Rewriter      Rewriter // may be nil
	Log           *slog.Logger

	Username, Password string // of the control connection, if Cassandra asks

	MaxFrame       int           // longest request, and longest answer that is read whole, bytes; default 16 MiB
	MaxConnections int           // clients at a time; default 10,000
	DialTimeout    time.Duration // default 5 s
	// HandshakeTimeout is how long a client may take until it is ready to ask, authentication included; default 30 s.
	HandshakeTimeout time.Duration

	// OnEvent is told what the control connection hears. It runs on the control connection's goroutine.
	OnEvent func(Event)
	// Clock returns nanoseconds since the proxy started; default: the machine's monotonic clock.
	Clock func() int64
}

// Server is the proxy.
type Server struct {
	options  Options
	log      *slog.Logger
	observed bool // there is a Recorder or a Rewriter
	prepared prepareds
	control  *control.Connection
	stats    stats
	lastID   atomic.Uint64
	draining atomic.Bool

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	fronts map[net.Conn]struct{} // accepted, their upstream connection not there yet
	gates  []*gate
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
	if _, _, err := net.SplitHostPort(o.Listen); err != nil {
		return nil, fmt.Errorf("proxy: listen address %q is not host:port: %w", o.Listen, err)
	}
	switch o.Topology {
	case "":
		o.Topology = Single
	case Single, Mirror:
	default:
		return nil, fmt.Errorf("proxy: topology %q is neither %q nor %q", o.Topology, Single, Mirror)
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = 16 << 20
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 10_000
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = 5 * time.Second
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() int64 { return int64(time.Since(start)) }
	}
	s := &Server{options: o, log: o.Log, observed: o.Recorder != nil || o.Rewriter != nil,
		prepared: prepareds{byID: cache[*Prepared]{most: maxPrepared, mostBytes: maxPreparedBytes}},
		conns:    make(map[*conn]struct{}), fronts: make(map[net.Conn]struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.control = control.New(control.Options{ContactPoints: o.ContactPoints, Username: o.Username, Password: o.Password,
		DialTimeout: o.DialTimeout, Log: o.Log, OnEvent: o.OnEvent, OnNodes: s.mirror})
	return s, nil
}

func (s *Server) now() int64 { return s.options.Clock() }

// Start opens the first listener and begins to connect to Cassandra. It returns at once: a Cassandra that can not be
// reached is logged and tried again, Ready tells. Error: the address can not be listened on.
func (s *Server) Start(ctx context.Context) error {
	if err := s.open(ctx, s.options.Listen, ""); err != nil {
		return err
	}
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		s.control.Run(s.ctx)
	}()
	return nil
}

// Ready tells whether the control connection to Cassandra is up.
func (s *Server) Ready() bool { return s.control.Up() && !s.draining.Load() }

// Addrs returns the addresses that are listened on, host:port; the first is Options.Listen's.
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

// gate is a listener, and the node behind it.
type gate struct {
	server   *Server
	listener net.Listener
	port     int
	node     atomic.Pointer[string] // host:port; nil: any contact point
}

// open starts a listener for a node ("" for any contact point).
func (s *Server) open(ctx context.Context, address, node string) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("proxy: can not listen on %s: %w: is another program (or another helenus) using the port? "+
			"stop it, or choose another listen address", address, err)
	}
	g := &gate{server: s, listener: l}
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		g.port = a.Port
	}
	if node != "" {
		g.node.Store(&node)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.draining.Load() {
		l.Close()
		return net.ErrClosed
	}
	s.gates = append(s.gates, g)
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		g.accept()
	}()
	return nil
}

// mirror opens, in mirror topology, a listener for each node that has none.
func (s *Server) mirror(nodes []Node) {
	if s.options.Topology != Mirror {
		return
	}
	s.mu.Lock()
	first := s.gates[0]
	s.mu.Unlock()
	host, _, _ := net.SplitHostPort(s.options.Listen)
	for _, n := range nodes {
		if s.gateOf(n.Address) != nil {
			continue
		}
		if first.node.Load() == nil { // the nodes begin with the one that the control connection reached
			first.node.Store(&n.Address)
			continue
		}
		port := 0
		if _, p, _ := net.SplitHostPort(s.options.Listen); p != "0" {
			s.mu.Lock()
			port = s.gates[len(s.gates)-1].port + 1
			s.mu.Unlock()
		}
		address := net.JoinHostPort(host, strconv.Itoa(port))
		if err := s.open(s.ctx, address, n.Address); err != nil {
			s.log.Error("no listener for a node: clients will not see it", "node", n.Address, "error", err)
			continue
		}
		s.log.Info("listening for a node", "node", n.Address, "listen", address)
	}
}

// gateOf returns the listener of a node, host:port; nil if it has none.
func (s *Server) gateOf(node string) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.gates {
		if a := g.node.Load(); a != nil && *a == node {
			return g
		}
	}
	return nil
}

func (g *gate) accept() {
	s := g.server
	for {
		front, err := g.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.log.Warn("accepting a client failed", "error", err)
			select {
			case <-time.After(100 * time.Millisecond): // out of file descriptors, most likely
			case <-s.ctx.Done():
				return
			}
			continue
		}
		if !s.welcome(front) {
			front.Close()
			continue
		}
		go func() {
			defer s.work.Done()
			c := s.newConn(g, front)
			err := c.run(s.ctx)
			s.leave(front)
			s.log.Debug("client connection ended", "client", c.client.Load().Address, "error", err)
		}()
	}
}

func (s *Server) welcome(front net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.draining.Load() {
		return false
	}
	if len(s.fronts) >= s.options.MaxConnections {
		s.stats.refused.Add(1)
		return false
	}
	s.stats.accepted.Add(1)
	s.fronts[front] = struct{}{}
	s.work.Add(1)
	return true
}

func (s *Server) leave(front net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fronts, front)
}

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

// dial connects to the gate's node, or to the first contact point that answers.
func (g *gate) dial(ctx context.Context) (net.Conn, error) {
	targets := g.server.options.ContactPoints
	if n := g.node.Load(); n != nil {
		targets = []string{*n}
	}
	d := net.Dialer{Timeout: g.server.options.DialTimeout}
	var errs []error
	for _, t := range targets {
		c, err := d.DialContext(ctx, "tcp", t)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	g.server.stats.unreachable.Add(1)
	return nil, fmt.Errorf("no Cassandra node answers, the client's connection is closed: %w", errors.Join(errs...))
}

// poll is how often Barrier and Shutdown look whether what they wait for has happened.
const poll = time.Millisecond

// Barrier returns when every request that was in flight when it was called, on any connection, has been answered or its
// connection closed. Requests of connections that compress can not be told apart and are not waited for: the Rewriter
// knows of them by Opaque. Error: ctx's.
func (s *Server) Barrier(ctx context.Context) error {
	type awaited struct {
		conn *conn
		slot *slot
		word uint64
	}
	var list []awaited
	for _, c := range s.connections() {
		c.streams.each(func(_ int16, t *slot) {
			if w := t.state.Load(); w&statusMask != free {
				list = append(list, awaited{c, t, w})
			}
		})
	}
	return s.until(ctx, func() bool {
		for len(list) > 0 {
			last := list[len(list)-1]
			if last.slot.inFlight(last.word) && !last.conn.over() {
				return false
			}
			list = list[:len(list)-1]
		}
		return true
	})
}

func (s *Server) until(ctx context.Context, done func() bool) error {
	if done() {
		return nil
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if done() {
				return nil
			}
		}
	}
}

// Shutdown drains and stops the server: no new connections, new requests are answered Overloaded (drivers go to their
// next host), requests in flight are waited for until ctx ends, then every connection is closed. Error: ctx's, if
// requests were cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.mu.Lock()
	for _, g := range s.gates {
		g.listener.Close()
	}
	s.mu.Unlock()
	err := s.until(ctx, func() bool {
		for _, c := range s.connections() {
			if !c.quiet() && !c.over() {
				return false
			}
		}
		return true
	})
	s.mu.Lock()
	s.closed = true
	for front := range s.fronts {
		front.Close()
	}
	s.mu.Unlock()
	s.cancel()
	for _, c := range s.connections() {
		c.close()
	}
	s.work.Wait()
	return err
}
