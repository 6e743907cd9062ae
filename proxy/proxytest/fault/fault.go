// Package fault is a TCP relay that does harm on command: tests put it between a client and the proxy, or between the proxy
// and Cassandra, and have it delay, stall, cut, split, drop or slow down what passes. It imports nothing of ours.
//
//	client -- front socket --> [ Up ] --> back socket -- server
//	                       <-- [Down] <--
//
// A fault is set for one [Way] of every connection that the relay has and will have, and holds until it is taken back. Each
// way of each connection is one goroutine, which takes what it reads through the faults in this order, piece by piece:
//
//	read -> Split or Throttle cuts it into pieces
//	for each piece: Stall waits for Resume -> Delay sleeps -> Drop forgets it, or: Cut shortens it, it is counted and
//	tapped, then written in one write with TCP_NODELAY -> Cut ends the connection, if its place was reached -> Throttle sleeps
//
// So nothing is random: with the same bytes and the same settings the same prefix arrives. What TCP decides is not decided
// here: two pieces that are written one after the other may be read by the peer at once. Delay keeps them apart.
//
// A peer that ends a way ends that way only, as TCP does (half-close); one that resets its connection resets both.
//
// Thin: Delay holds every piece for the same time before the next is looked at, so it also limits the rate; it is no model
// of a long line. Packets can not be reordered or damaged.
package fault

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Way is a direction through the relay.
type Way int

// Ways.
const (
	Up   Way = iota // client to server
	Down            // server to client
)

// End is how a connection that is cut ends.
type End int

// Ends.
const (
	// Reset closes both sockets with RST: what was written and not yet read by the peer may be lost.
	Reset End = iota
	// Finish sends the reader the end of the stream (FIN). What its writer still sends vanishes; the other way goes on.
	Finish
)

// Options of a Relay. The zero value is the default.
type Options struct {
	// Sleep waits; it returns early when ctx ends. Default: the machine's clock.
	Sleep func(ctx context.Context, d time.Duration)
	// Tap is told every piece that is passed on, before it is, with the number of its connection (from 0): so what
	// answers something is told after it. It is called from the goroutine of the way.
	Tap func(connection int, way Way, b []byte)
}

// faults are what is done to one way.
type faults struct {
	delay   time.Duration
	stalled bool
	dropped bool
	split   int           // bytes of a piece; 0: as read
	each    time.Duration // throttled: for each piece of slice bytes
	slice   int
	cutting bool
	cut     int64 // of a connection's bytes, where it ends
	end     End
}

// Relay listens on Addr.
type Relay struct {
	Addr string // host:port

	target   string
	options  Options
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond // faults, or the relay was closed
	closed  bool
	ways    [2]faults
	passed  [2]int64
	links   map[*link]struct{}
	next    int // number of the next connection
}

// Start listens on a free port of 127.0.0.1 and relays to target, host:port.
func Start(target string, o Options) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	r := &Relay{Addr: l.Addr().String(), target: target, options: o, listener: l, links: make(map[*link]struct{})}
	r.changed.L = &r.mu
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.work.Go(r.accept)
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Close ends the relay, its connections (by RST) and its goroutines.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	r.changed.Broadcast()
	r.mu.Unlock()
	r.cancel()
	r.listener.Close()
	r.Cut()
	r.work.Wait()
}

func (r *Relay) set(way Way, change func(*faults)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.ways[way])
	r.changed.Broadcast()
}

// Delay holds every piece for d before it is passed on; 0 ends it.
func (r *Relay) Delay(way Way, d time.Duration) { r.set(way, func(f *faults) { f.delay = d }) }

// Stall stops reading after at most one piece, so that the writer meets a full socket, until Resume.
func (r *Relay) Stall(way Way) { r.set(way, func(f *faults) { f.stalled = true }) }

// Resume ends Stall and Drop.
func (r *Relay) Resume(way Way) { r.set(way, func(f *faults) { f.stalled, f.dropped = false, false }) }

// Drop makes bytes vanish, as on a line that is half open, until Resume.
func (r *Relay) Drop(way Way) { r.set(way, func(f *faults) { f.dropped = true }) }

// Split writes pieces of n bytes; 0 ends it.
func (r *Relay) Split(way Way, n int) { r.set(way, func(f *faults) { f.split = n }) }

// Throttle lets about so many bytes a second pass on each connection, in up to 100 pieces a second; 0 ends it.
func (r *Relay) Throttle(way Way, rate int) {
	r.set(way, func(f *faults) {
		f.slice, f.each = 0, 0
		if rate > 0 {
			f.slice = max(1, rate/100)
			f.each = time.Second * time.Duration(f.slice) / time.Duration(rate)
		}
	})
}

// CutAfter ends each connection when n of its bytes have passed that way; one that is past it ends with its next byte.
func (r *Relay) CutAfter(way Way, n int64, end End) {
	r.set(way, func(f *faults) { f.cutting, f.cut, f.end = true, n, end })
}

// Mend ends CutAfter.
func (r *Relay) Mend(way Way) { r.set(way, func(f *faults) { f.cutting = false }) }

// Cut resets every connection there is.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.reset()
	}
}

// Passed is how many bytes were passed on that way, of all connections together.
func (r *Relay) Passed(way Way) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passed[way]
}

// Connections is how many there are.
func (r *Relay) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.links)
}

// link is one connection.
type link struct {
	relay  *Relay
	number int
	ends   [2]*net.TCPConn // read from, for Up and for Down
}

func (l *link) reset() {
	for _, c := range l.ends {
		_ = c.SetLinger(0)
		c.Close()
	}
}

func (r *Relay) accept() {
	for {
		front, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.work.Go(func() { r.serve(front.(*net.TCPConn)) })
	}
}

func (r *Relay) serve(front *net.TCPConn) {
	var d net.Dialer
	back, err := d.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		_ = front.SetLinger(0)
		front.Close()
		return
	}
	l := &link{relay: r, ends: [2]*net.TCPConn{front, back.(*net.TCPConn)}}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		l.reset()
		return
	}
	l.number = r.next
	r.next++
	r.links[l] = struct{}{}
	r.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pass(Up) })
	both.Go(func() { l.pass(Down) })
	both.Wait()
	front.Close()
	back.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.links, l)
}

// pass carries one way to its end.
func (l *link) pass(way Way) {
	from, to := l.ends[way], l.ends[1-way]
	b := make([]byte, 64<<10)
	var passed int64
	for {
		f, ok := l.relay.now(way, true) // while stalled nothing is read either
		if !ok {
			return
		}
		if f.cutting && f.cut == 0 && passed == 0 { // before its first byte
			l.cut(to, from, f.end)
			return
		}
		n, err := from.Read(b)
		for rest := b[:n]; len(rest) > 0; {
			var done bool
			if rest, done = l.piece(way, rest, &passed); done {
				return
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = to.CloseWrite()
			return
		case err != nil:
			l.reset()
			return
		}
	}
}

// now returns a way's faults; if stall is set, once it is not stalled. ok is false when the relay is closed.
func (r *Relay) now(way Way, stall bool) (f faults, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for stall && r.ways[way].stalled && !r.closed {
		r.changed.Wait()
	}
	return r.ways[way], !r.closed
}

// piece takes one piece of b through the faults and returns what is left. done tells that the way has ended.
func (l *link) piece(way Way, b []byte, passed *int64) (rest []byte, done bool) {
	r := l.relay
	from, to := l.ends[way], l.ends[1-way]
	f, ok := r.now(way, true)
	if !ok {
		return nil, true
	}
	n := len(b)
	for _, size := range []int{f.split, f.slice} {
		if size > 0 {
			n = min(n, size)
		}
	}
	if f.delay > 0 {
		r.options.Sleep(r.ctx, f.delay)
	}
	if f.dropped {
		return b[n:], false
	}
	if f.cutting {
		n = int(min(int64(n), max(0, f.cut-*passed)))
	}
	if n > 0 {
		*passed += int64(n)
		r.count(way, n)
		if r.options.Tap != nil {
			r.options.Tap(l.number, way, b[:n])
		}
		if _, err := to.Write(b[:n]); err != nil {
			l.reset()
			return nil, true
		}
	}
	if f.cutting && *passed >= f.cut {
		l.cut(to, from, f.end)
		return nil, true
	}
	if f.each > 0 {
		r.options.Sleep(r.ctx, f.each*time.Duration(n)/time.Duration(f.slice))
	}
	return b[n:], false
}

func (r *Relay) count(way Way, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed[way] += int64(n)
}

// cut ends a way as End says. After Finish its writer is still read from, so that it does not notice.
func (l *link) cut(to, from *net.TCPConn, end End) {
	if end == Reset {
		l.reset()
		return
	}
	_ = to.CloseWrite()
	_, _ = io.Copy(io.Discard, from)
}
