package proxy

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/proxy/fleet"
	"github.com/helenus-db/helenus/proxy/ring"
)

// Where clients are told to find this process, and the other members of its fleet.

// watch follows the other members of the fleet until ctx ends.
func (s *Server) watch(ctx context.Context) {
	others := slices.DeleteFunc(slices.Clone(s.members), func(m netip.AddrPort) bool { return m == s.self })
	fleet.Watch(ctx, others, func(m netip.AddrPort, up bool) {
		at := func(*conn) netip.AddrPort { return m }
		if up {
			s.log.Info("a member of the fleet is up again", "member", m.String())
			s.tell(ring.StatusChange, ring.Up, at)
			return
		}
		s.log.Warn("a member of the fleet does not answer: clients are told", "member", m.String())
		s.tell(ring.StatusChange, ring.Down, at)
	})
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
