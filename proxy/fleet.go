package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/ring"
	"github.com/helenus-db/helenus/proxy/wire"
)

// In fleet topology the members watch each other: each asks every other one, every watchEvery, what it supports, which
// needs no login. A member that fails misses times in a row is told to be DOWN, and UP when it answers again. Its row
// stays, as a node's does.
const (
	watchEvery   = 2 * time.Second
	watchTimeout = 2 * time.Second
	misses       = 2
)

// watch follows the other members until the server stops.
func (s *Server) watch() {
	down := make(map[netip.AddrPort]int)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		var mu sync.Mutex
		alive := make(map[netip.AddrPort]bool)
		var asking sync.WaitGroup
		for _, m := range s.members {
			if m == s.self {
				continue
			}
			guard.In(&asking, guard.Relay, func() {
				ok := answers(s.ctx, m.String())
				mu.Lock()
				defer mu.Unlock()
				alive[m] = ok
			})
		}
		asking.Wait()
		if s.ctx.Err() != nil {
			return
		}
		for m, ok := range alive {
			at := func(*conn) netip.AddrPort { return m }
			switch {
			case ok && down[m] >= misses:
				s.log.Info("a member of the fleet is up again", "member", m.String())
				s.tell(ring.StatusChange, ring.Up, at)
			case !ok && down[m] == misses-1:
				s.log.Warn("a member of the fleet does not answer: clients are told", "member", m.String())
				s.tell(ring.StatusChange, ring.Down, at)
			}
			if ok {
				down[m] = 0
			} else {
				down[m]++
			}
		}
	}
}

// answers tells whether something at an address answers an OPTIONS. What it answers does not matter: behind TLS it is
// an alert.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	if _, err := c.Write(wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: wire.OpOptions}, nil)); err != nil {
		return false
	}
	_, err = bufio.NewReader(c).ReadByte()
	return err == nil
}

// addresses splits a list, comma separated.
func addresses(list string) []string {
	var all []string
	for a := range strings.SplitSeq(list, ",") {
		if a = strings.TrimSpace(a); a != "" {
			all = append(all, a)
		}
	}
	return all
}

// resolve is an address as clients are shown it: IP and port.
func resolve(address string) (netip.AddrPort, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("proxy: %q can not be shown to clients as host:port: %w", address, err)
	}
	p := a.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port()), nil
}

// advertise prepares what Options.Advertise and Options.Fleet say of the addresses that clients see.
func (s *Server) advertise() error {
	o := &s.options
	if list := addresses(o.Advertise); len(list) > 0 {
		var shown []netip.AddrPort
		for _, a := range list {
			if _, _, err := net.SplitHostPort(a); err != nil {
				a = net.JoinHostPort(a, "0") // the listener's own port
			}
			p, err := resolve(a)
			if err != nil {
				return err
			}
			shown = append(shown, p)
		}
		s.advertised = func(slot int, own netip.AddrPort) netip.AddrPort {
			a, further := shown[min(slot, len(shown)-1)], uint16(max(0, slot-len(shown)+1))
			if a.Port() == 0 {
				return netip.AddrPortFrom(a.Addr(), own.Port())
			}
			return netip.AddrPortFrom(a.Addr(), a.Port()+further)
		}
	}
	if o.Topology != Fleet {
		return nil
	}
	for _, m := range o.Fleet {
		p, err := resolve(m)
		if err != nil {
			return err
		}
		if !slices.Contains(s.members, p) {
			s.members = append(s.members, p)
		}
	}
	own, err := resolve(addresses(o.Listen)[0])
	if err == nil && s.advertised != nil {
		own = s.advertised(0, own)
	}
	if err != nil || !slices.Contains(s.members, own) {
		return fmt.Errorf("proxy: this process, which clients see at %s, is not among the fleet's members %v: "+
			"name it there as clients reach it, and set advertise to the same if it listens elsewhere", own, o.Fleet)
	}
	s.self = own
	return nil
}
