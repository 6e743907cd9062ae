package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/ring"
)

// gate is a listener, and the node behind it. Its place in the list of gates is its slot, which gives it its address.
type gate struct {
	server   *Server
	slot     int
	listener net.Listener
	// shown is where clients see it: the advertised address, or the listener's own; an unspecified IP stands for the
	// address at which a client reached it.
	shown   netip.AddrPort
	node    atomic.Pointer[Node] // nil: any node
	retired atomic.Bool          // its node left: it is closed, and its clients are being drained

	accepted chan struct{} // closed when it accepts no more

	// The control connection's goroutine's own, in mirror topology:
	removed bool  // Cassandra said that the node left
	missing int64 // since when the node is not listed, 0 if it is
}

// name is what the gate is called in logs and metrics: the node's address, and its own.
func (g *gate) name() (node, listen string) {
	if n := g.node.Load(); n != nil {
		node = n.Address
	}
	return node, g.listener.Addr().String()
}

// slotAddress is the address of a slot among those given, comma separated: of several the slot's own, of one the port
// that is so many further on. false if there is none.
func slotAddress(given string, slot int) (string, bool) {
	list := addresses(given)
	if len(list) > 1 {
		if slot < len(list) {
			return list[slot], true
		}
		return "", false
	}
	if len(list) == 0 {
		return "", false
	}
	host, port, err := net.SplitHostPort(list[0])
	if err != nil {
		return "", false
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil || n+slot > 0xFFFF {
		return "", false
	}
	if n > 0 {
		n += slot
	}
	return net.JoinHostPort(host, fmt.Sprint(n)), true
}

// open starts the listener of a slot for a node (nil for any) and returns its gate.
func (s *Server) open(ctx context.Context, slot int, node *Node) (*gate, error) {
	address, ok := slotAddress(s.options.Listen, slot)
	if !ok {
		return nil, fmt.Errorf("proxy: there is no address to listen on for node %d: give one address, or as many as there are nodes (listen is %q)",
			slot+1, s.options.Listen)
	}
	l, err := s.options.Open(ctx, address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil, fmt.Errorf("proxy: can not listen on %s: %w: it is no address of this machine; give listen one, and advertise what applications reach it by", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("proxy: can not listen on %s: %w: is another program (or another helenus) using the port? "+
			"stop it, or choose another listen address", address, err)
	}
	return s.accept(l, slot, node)
}

// accept takes clients in from a listener, which it closes on an error.
func (s *Server) accept(l net.Listener, slot int, node *Node) (*gate, error) {
	g := &gate{server: s, slot: slot, listener: l, accepted: make(chan struct{})}
	g.node.Store(node)
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		g.shown = a.AddrPort()
		g.shown = netip.AddrPortFrom(g.shown.Addr().Unmap(), g.shown.Port())
	}
	if s.advertised != nil {
		g.shown = s.advertised(slot, g.shown)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.draining.Load() {
		l.Close()
		return nil, net.ErrClosed
	}
	s.gates = append(s.gates, g)
	slices.SortFunc(s.gates, func(a, b *gate) int { return cmp.Compare(a.slot, b.slot) })
	guard.In(&s.work, guard.Relay, func() {
		defer close(g.accepted)
		guard.Loop(s.ctx, guard.Relay, guard.Clock{}, func(context.Context) { g.accept() }, nil)
	})
	return g, nil
}

// Listener is a gate as it is handed to another process: a listening socket, its slot, and the node that its clients are
// led to.
type Listener struct {
	net.Listener `json:"-"`
	Slot         int
	Node         *Node // nil: any
}

// Listeners returns what is listened on, by slot.
func (s *Server) Listeners() (list []Listener) {
	for _, g := range s.allGates() {
		list = append(list, Listener{Listener: g.listener, Slot: g.slot, Node: g.node.Load()})
	}
	return list
}

// inherit accepts from the listeners that another process handed over. Elsewhere than in mirror topology there are so many,
// and they lead to any node.
func (s *Server) inherit(most int) error {
	for _, l := range s.options.Inherited {
		if s.options.Topology != Mirror {
			if l.Slot >= most {
				l.Close()
				continue
			}
			l.Node = nil
		}
		if _, err := s.accept(l.Listener, l.Slot, l.Node); err != nil {
			return err
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
		guest, refusal := s.welcome(g, front)
		if guest == nil {
			s.turnAway(front, refusal)
			continue
		}
		guard.Go(guard.Relay, func() {
			defer s.work.Done()
			defer s.leave(front, guest)
			defer front.Close()
			select {
			case <-s.resolver.First():
			case <-s.ctx.Done():
			}
			c := s.newConn(g, front, guest)
			defer c.endSheet()
			err := c.run(s.ctx)
			s.log.Debug("client connection ended", "client", c.client.Load().Address, "error", err)
		}, nil)
	}
}

const (
	// retryNode is how long a node that could not be reached is taken to be down. A client's connection to it is then
	// reset at once, which drivers take as they take a refused one; the listener stays open, so that nobody else gets its
	// port. Whether it is down is found out by dialling, not by events: those are one node's opinion of another.
	retryNode = time.Second
	// avoidNode is how long a node that could not be reached is tried after the others, where there are others.
	avoidNode = 15 * time.Second
)

// outages remember which nodes could not be reached, and when.
type outages struct {
	mu sync.Mutex
	at map[string]int64
}

// note remembers whether a node was reached now.
func (o *outages) note(address string, now int64, reached bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if reached {
		delete(o.at, address)
		return
	}
	if o.at == nil {
		o.at = make(map[string]int64)
	}
	o.at[address] = now
	for a, t := range o.at {
		if now-t > int64(avoidNode) {
			delete(o.at, a)
		}
	}
}

// within tells whether a node could not be reached, last, so long ago or less.
func (o *outages) within(d time.Duration, address string, now int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, ok := o.at[address]
	return ok && now-t <= int64(d)
}

// dial connects to the gate's node, or to the first of all nodes that answers.
func (g *gate) dial(ctx context.Context) (net.Conn, error) {
	s := g.server
	var errs []error
	for _, t := range g.targets() {
		if g.node.Load() != nil && s.outages.within(retryNode, t, s.now()) {
			errs = append(errs, fmt.Errorf("%s did not answer a moment ago", t))
			continue
		}
		c, err := s.dialer.Dial(ctx, t)
		s.outages.note(t, s.now(), err == nil)
		if err == nil {
			s.lookAfter(c)
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no Cassandra node answers, the client's connection is closed: %w", errors.Join(errs...))
}

// targets are the nodes that a client of this gate may be connected to, in the order in which they are tried. A gate
// of a node has one. Others begin with a node that moves on with each client (in mirror topology: always the first),
// those of the data centre that the control connection is in before the others, and end with the nodes that could not be
// reached a moment ago and the contact points.
func (g *gate) targets() []string {
	s := g.server
	if n := g.node.Load(); n != nil {
		return []string{n.Target()}
	}
	var list []string
	nodes := s.control.Nodes()
	if s.options.Topology != Mirror && len(nodes) > 0 {
		home := s.cluster().DataCenter
		local := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.DataCenter != home })
		others := slices.DeleteFunc(nodes, func(n Node) bool { return n.DataCenter == home })
		turn := s.turn.Add(1)
		for _, group := range [][]Node{local, others} {
			for i := range group {
				list = append(list, group[(uint64(i)+turn)%uint64(len(group))].Target())
			}
		}
	} else {
		for _, n := range nodes {
			list = append(list, n.Target())
		}
	}
	for _, p := range s.options.ContactPoints {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	now := s.now()
	slices.SortStableFunc(list, func(a, b string) int {
		return cmp.Compare(order(s.outages.within(avoidNode, a, now)), order(s.outages.within(avoidNode, b, now)))
	})
	return list
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// cluster is what a proxy that shows itself as a node takes from the real ones.
func (s *Server) cluster() ring.Cluster {
	if c := s.home.Load(); c != nil {
		return *c
	}
	return ring.Cluster{}
}
