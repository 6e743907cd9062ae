package config

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// nativePort is where Cassandra listens for clients unless it is told otherwise; drivers take it for granted, and so do people who write contact points.
const nativePort = "9042"

// completeContactPoints adds the port to contact points that have none. What is no address stays as it is, for Validate to name.
func (s *Settings) completeContactPoints() {
	s.ContactPoints = slices.Clone(s.ContactPoints) // it may be the default's
	for i, at := range s.ContactPoints {
		at = strings.TrimSpace(at)
		_, err := netip.ParseAddr(at)
		if bare := err == nil || at != "" && !strings.ContainsAny(at, ":[] /"); bare {
			s.ContactPoints[i] = net.JoinHostPort(at, nativePort)
		}
	}
}

// validateAddresses checks what must be host:port, and that applications and the admin address do not want the same one.
func (s *Settings) validateAddresses(wrong func(name, format string, args ...any)) {
	listen := strings.Split(s.Listen, ",")
	for _, one := range []struct {
		name string
		at   []string
	}{{"contact-points", s.ContactPoints}, {"listen", listen}, {"admin", []string{s.Admin}}, {"fleet", s.Fleet}} {
		for _, at := range one.at {
			_, port, err := net.SplitHostPort(strings.TrimSpace(at))
			if err != nil {
				wrong(one.name, "%q is not host:port: %v", at, err)
			} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
				wrong(one.name, "%q is not host:port: %q is no number of a port", at, port)
			}
		}
	}
	for _, at := range listen {
		if at = strings.TrimSpace(at); at == s.Admin && !strings.HasSuffix(at, ":0") {
			wrong("admin", "is %q, and so is listen; applications and people need a port each", at)
		}
	}
}

// validateFleet checks the members that are named. A list that has no effect, or one that lacks this process, is a mistake that nothing later would tell.
func (s *Settings) validateFleet(wrong func(name, format string, args ...any)) {
	switch {
	case s.Topology == "fleet" && len(s.Fleet) == 0:
		wrong("fleet", "is empty; topology fleet wants the address of every process in it")
	case s.Topology != "fleet" && len(s.Fleet) > 0:
		wrong("fleet", "has no effect unless topology is fleet")
	}
	for i, at := range s.Fleet {
		if slices.Contains(s.Fleet[:i], at) {
			wrong("fleet", "names %s twice", at)
		}
	}
}
