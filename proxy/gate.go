package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

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
