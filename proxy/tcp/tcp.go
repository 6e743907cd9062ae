// Package tcp sets a relay's sockets up so that a peer that is gone is found out (tcp.go), ends them, reads them with as few
// system calls as there are (follow.go), and writes to them without the scheduler's help (send.go). It imports nothing of ours.
//
// A peer that ends, or whose machine restarts, is noticed at once or at the next packet. One that vanishes (its machine lost
// power, a firewall forgot the connection) says nothing. Two things tell then: keep-alive probes, on a connection over
// which nothing is sent; and, for data that nobody acknowledges, a time limit (TCP_USER_TIMEOUT, Linux), since
// keep-alive is silent while data waits and Linux would go on sending for a quarter of an hour.
//
// The time limit also ends a connection whose peer is there but has taken nothing of what waits for it for that long: it
// reads no more. That is wanted: what waits for it is memory.
//
// Sockets are left with TCP_NODELAY, as Go makes them. Thin: elsewhere than on Linux there are only the probes.
package tcp

import (
	"errors"
	"net"
	"time"
)

// probes is how many keep-alive probes go unanswered before a peer is given up.
const probes = 3

// Watch makes the system look after the peer of a connection: probes begin after it was silent for so long, and a peer that
// answers no probe, or acknowledges no data, is given up after twice that time in all. Times are rounded up to whole seconds. Errors:
// it is not a TCP connection, or the system's.
func Watch(c net.Conn, silent time.Duration) error {
	t, ok := under(c).(*net.TCPConn)
	if !ok {
		return errors.New("tcp: not a TCP connection")
	}
	return errors.Join(t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: silent, Interval: silent / probes, Count: probes}),
		giveUpAfter(t, 2*silent))
}

// Reset closes a connection so that its peer hears a reset, which is as near as an accepted connection comes to one that
// was never accepted: what was written and is not yet delivered is lost.
func Reset(c net.Conn) error {
	c = under(c)
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // or the peer hears the end only
	}
	return c.Close()
}

// under returns the connection that carries another: TLS's is TCP's.
func under(c net.Conn) net.Conn {
	if outer, ok := c.(interface{ NetConn() net.Conn }); ok {
		return outer.NetConn()
	}
	return c
}
