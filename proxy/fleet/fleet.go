// Package fleet watches the other members of a fleet of proxies. It imports internal/guard, proxy/message and proxy/wire.
//
// Members watch each other: each asks every other one, every watchEvery, what it supports, which
// needs no login. A member that fails misses times in a row is told to be DOWN, and UP when it answers again. Its row
// stays, as a node's does.
package fleet

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/wire"
)

const (
	watchEvery   = 2 * time.Second
	watchTimeout = 2 * time.Second
	misses       = 2
)

// Watch asks each of the others until ctx ends, and tells when one is down, or up again.
func Watch(ctx context.Context, others []netip.AddrPort, tell func(member netip.AddrPort, up bool)) {
	down := make(map[netip.AddrPort]int)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		alive := ask(ctx, others)
		if ctx.Err() != nil {
			return
		}
		for _, m := range others {
			if alive[m] {
				if down[m] >= misses {
					tell(m, true)
				}
				down[m] = 0
				continue
			}
			if down[m]++; down[m] == misses {
				tell(m, false)
			}
		}
	}
}

// ask asks all of them at once, and returns who answered.
func ask(ctx context.Context, members []netip.AddrPort) map[netip.AddrPort]bool {
	var mu sync.Mutex
	alive := make(map[netip.AddrPort]bool)
	var asking sync.WaitGroup
	for _, m := range members {
		guard.In(&asking, guard.Relay, func() {
			ok := answers(ctx, m.String())
			mu.Lock()
			defer mu.Unlock()
			alive[m] = ok
		})
	}
	asking.Wait()
	return alive
}

// askingStream is the stream on which members ask, where drivers begin with 0 or 1: a listener that speaks TLS knows by it that no client lacks TLS.
const askingStream = 'H'<<8 | 'e'

// Asks tells whether a connection that began with these bytes (version, flags, stream, opcode) is another member's, which only wants to know whether somebody answers.
func Asks(began [5]byte) bool {
	return began[0] == 4 && binary.BigEndian.Uint16(began[2:4]) == askingStream && began[4] == wire.OpOptions
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
	if _, err := c.Write(message.Append(nil, 4, askingStream, message.Options())); err != nil {
		return false
	}
	_, err = bufio.NewReader(c).ReadByte()
	return err == nil
}
