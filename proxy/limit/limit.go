// Package limit holds what one remote address may have of the proxy: so many connections at a time, and so many requests a
// second. It imports nothing of ours.
//
// An address is in the table while it has a connection, so the table is never longer than there are connections, and nobody
// can fill it by coming from many addresses in turn. An address that comes back starts afresh: who opens a connection for
// each burst gets more than the rate, as far as handshakes allow.
//
// Requests are judged by the generic cell rate algorithm (GCRA): of each guest one number is kept, the time at which it
// will have used up what it has asked for (its theoretical arrival time). A request moves that time on by one interval; one
// that would move it further ahead of now than the burst allows is refused and moves nothing. That is a token bucket without
// a timer and without a lock: a request costs one compare-and-swap, shared by the connections of one address only.
//
// Thin: addresses are taken one by one; an IPv6 network with a /64 at hand has many. Clients behind one NAT, or one
// load balancer, are one address.
package limit

import (
	"net/netip"
	"sync"
	"sync/atomic"
)

// Guests are the remote addresses that have connections now.
type Guests struct {
	most     int   // connections of one; 0: any number
	interval int64 // nanoseconds between two requests at the full rate; 0: any rate
	ahead    int64 // nanoseconds that a guest may be ahead of its rate

	mu        sync.Mutex
	byAddress map[netip.Addr]*Guest
}

// Guest is one remote address that has connections.
type Guest struct {
	of          *Guests
	address     netip.Addr
	connections int          // guarded by of.mu
	due         atomic.Int64 // the theoretical arrival time, on the caller's clock
}

// NewGuests returns an empty table. connections is how many each guest may have, rate how many requests a second, burst how
// many of them at once; 0 is no limit for the first two, and a second's worth for burst.
func NewGuests(connections, rate, burst int) *Guests {
	g := &Guests{most: connections, byAddress: make(map[netip.Addr]*Guest)}
	if rate > 0 {
		if burst <= 0 {
			burst = rate
		}
		g.interval = max(1, 1_000_000_000/int64(rate))
		g.ahead = int64(burst) * g.interval
	}
	return g
}

// Join counts a connection from an address; nil if it has as many as it may. Who joined leaves.
func (g *Guests) Join(address netip.Addr) *Guest {
	address = address.Unmap().WithZone("")
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.byAddress[address]
	if one == nil {
		one = &Guest{of: g, address: address}
		g.byAddress[address] = one
	}
	if g.most > 0 && one.connections >= g.most {
		return nil
	}
	one.connections++
	return one
}

// Leave ends one connection of the guest.
func (o *Guest) Leave() {
	g := o.of
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.connections--; o.connections == 0 {
		delete(g.byAddress, o.address)
	}
}

// Limited tells whether Allow can ever say no.
func (o *Guest) Limited() bool { return o.of.interval > 0 }

// Allow tells whether the guest may ask now (nanoseconds on any clock that does not go back far), and counts the request
// if so.
func (o *Guest) Allow(now int64) bool {
	for {
		due := o.due.Load()
		next := max(due, now) + o.of.interval
		if next-now > o.of.ahead {
			return false
		}
		if o.due.CompareAndSwap(due, next) {
			return true
		}
	}
}

// Len is how many addresses have connections.
func (g *Guests) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.byAddress)
}
