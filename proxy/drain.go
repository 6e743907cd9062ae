package proxy

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/ring"
)

// Connections are drained when the server ends, when another process takes its sockets over, or when their node has left.
//
//	new connections   requests     from                when
//	accepted          served       the gate's opening  -
//	none              served       the listener's end  clients are told by events that the node is down, or removed
//	none              Overloaded   DrainGrace later    at once, if nobody was told (conn.leaving)
//
// Drivers that believe the event have gone when the refusals begin, and lose nothing. Others (those of Java and Python
// discount a DOWN while they have connections) meet the refusal, which says that the request was not carried out, and go to
// their next host. A connection is ended when it is quiet: our side of it is shut, so that the client still reads every answer
// on its way to it and closes the other side; one that does not is closed a second later. They are ended in steps, so
// that their clients do not come to the other hosts all at once. What is not quiet when the time is over is cut off.
//
// In a hand-over the node is not down: nobody is told so, there is no grace and there are no steps, since every connection
// waits in the socket's queue until the next process accepts it.

// How a drain looks around: Barrier often, since a migration waits for it; a drain of many connections seldom.
const (
	poll      = time.Millisecond
	drainPoll = 20 * time.Millisecond
)

// steps is how many lots a drain ends connections in, and stepsShare which part of its time they are spread over.
const (
	steps      = 10
	stepsShare = 4
)

// Barrier returns when every request that was in flight when it was called, on any connection, has been answered or its
// connection closed. Requests of connections that can not be read can not be told apart and are not waited for: the
// Rewriter knows of them by Opaque. Error: ctx's.
func (s *Server) Barrier(ctx context.Context) error {
	type awaited struct {
		conn *conn
		slot *slot
		word uint64
	}
	var list []awaited
	for _, c := range s.connections() {
		c.streams.Each(func(_ int16, t *slot) {
			if w := t.Word(); inflight.Of(w) != inflight.Free {
				list = append(list, awaited{c, t, w})
			}
		})
	}
	return s.until(ctx, poll, func() bool {
		for len(list) > 0 {
			last := list[len(list)-1]
			if last.slot.Holds(last.word) && !last.conn.over() {
				return false
			}
			list = list[:len(list)-1]
		}
		return true
	})
}

func (s *Server) until(ctx context.Context, every time.Duration, done func() bool) error {
	if done() {
		return nil
	}
	tick := time.NewTicker(every)
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

// Shutdown drains every connection and stops the server, in DrainTimeout at most, and before ctx ends. Error:
// context.DeadlineExceeded, or ctx's, if connections were cut off.
func (s *Server) Shutdown(ctx context.Context) error { return s.end(ctx, true) }

// HandOver is Shutdown for when another process goes on accepting on the same sockets.
func (s *Server) HandOver(ctx context.Context) error { return s.end(ctx, false) }

func (s *Server) end(ctx context.Context, down bool) error {
	s.draining.Store(true)
	gates := s.allGates()
	for _, g := range gates {
		g.listener.Close()
	}
	for _, g := range gates {
		<-g.accepted // who was accepted until now is drained like the others
	}
	told := down && s.tellDown() > 0
	err := s.drain(ctx, told, down, s.connections)
	s.mu.Lock()
	s.closed = true
	fronts := slices.AppendSeq(slices.Collect(maps.Keys(s.fronts)), maps.Keys(s.away))
	s.mu.Unlock()
	s.cancel()
	for _, c := range s.connections() {
		c.close()
	}
	for _, front := range fronts { // each takes until who reads from it is done with what came (tcp.Follow), so not under the lock, and after the connections to nodes
		front.Close()
	}
	s.work.Wait()
	return err
}

// tellDown tells clients that every node they see behind this server is down, and returns how many were told.
func (s *Server) tellDown() (told int) {
	down := func(at func(*conn) netip.AddrPort) { told = max(told, s.tell(ring.StatusChange, ring.Down, at)) }
	switch s.options.Topology {
	case Fleet:
		down(func(*conn) netip.AddrPort { return s.self })
	case Single:
		down(func(c *conn) netip.AddrPort { return ring.At(c.gate.shown, c.here()) })
	default:
		for _, g := range s.allGates() {
			if g.node.Load() != nil {
				n := g.seen()
				down(func(c *conn) netip.AddrPort { return c.eventAddress(n) })
			}
		}
	}
	return told
}

// dismiss drains the connections that there are and which chooses, while the server goes on. told: by an event.
func (s *Server) dismiss(told bool, which func(*conn) bool) {
	list := slices.DeleteFunc(s.connections(), func(c *conn) bool { return !which(c) })
	if len(list) == 0 {
		return
	}
	guard.In(&s.work, guard.Relay, func() {
		_ = s.drain(s.ctx, told, true, func() []*conn { // what was cut off is logged
			list = slices.DeleteFunc(list, func(c *conn) bool { return c.closed.Load() })
			return slices.Clone(list)
		})
	})
}

// drain empties a set of connections; left returns those of it that are open. told: clients heard that they are to go, and
// get the grace. inSteps: they go to other hosts.
func (s *Server) drain(ctx context.Context, told, inSteps bool, left func() []*conn) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.DrainTimeout)
	defer cancel()
	s.stats.drains.Add(1)
	began := time.Now()
	end, _ := ctx.Deadline()
	s.log.Info("draining", "connections", len(left()), "told", told, "within", end.Sub(began))
	d := departures{from: began, of: make(map[*conn]*departure)}
	if told && s.options.DrainGrace > 0 {
		d.from = began.Add(min(s.options.DrainGrace, end.Sub(began)/2))
		grace, cancel := context.WithDeadline(ctx, d.from)
		_ = s.until(grace, drainPoll, func() bool { return len(left()) == 0 })
		cancel()
	}
	if inSteps {
		d.spread = max(0, end.Sub(d.from)/stepsShare)
	}
	d.plan(left())
	logged := began
	err := s.until(ctx, drainPoll, func() bool {
		list, now := left(), time.Now()
		if now.Sub(logged) > time.Second {
			s.log.Info("draining", "connections", len(list), "ended", d.ended)
			logged = now
		}
		d.look(list, now)
		return len(list) == 0
	})
	cut := 0
	for _, c := range left() {
		if one := d.of[c]; one == nil || one.shut.IsZero() {
			cut++
		}
		c.close()
	}
	drained := max(0, len(d.of)-cut)
	s.stats.drained.Add(uint64(drained))
	s.stats.cut.Add(uint64(cut))
	if cut > 0 {
		s.log.Warn("connections were cut off: they were not quiet in time, see the setting drain-timeout", "connections", cut,
			"drained", drained, "after", time.Since(began))
		return err
	}
	s.log.Info("drained", "connections", drained, "after", time.Since(began))
	return nil
}

// departure is one connection's part in a drain.
type departure struct {
	due  time.Time // not ended before
	shut time.Time // our side was shut; zero if it was not
}

// departures is a drain's book of connections.
type departures struct {
	from   time.Time // when the first lot goes
	spread time.Duration
	of     map[*conn]*departure
	ended  int
}

// plan puts connections into lots, and refuses their requests from now on.
func (d *departures) plan(list []*conn) {
	for i, c := range list {
		d.add(c, d.from.Add(d.spread*time.Duration(i*steps/len(list))/steps))
	}
}

func (d *departures) add(c *conn, due time.Time) *departure {
	c.leaving.Store(true)
	one := &departure{due: due}
	d.of[c] = one
	return one
}

// look ends those that are due and quiet.
func (d *departures) look(list []*conn, now time.Time) {
	for _, c := range list {
		one := d.of[c]
		if one == nil { // it was accepted, and its upstream connection was not there yet
			one = d.add(c, now)
		}
		switch {
		case now.Before(one.due):
		case c.over():
			c.close()
		case one.shut.IsZero():
			if c.quiet() && c.down.out.Idle() { // and no answer of our own is on its way to the socket
				one.shut = now
				d.ended++
				c.shut()
			}
		case now.Sub(one.shut) > farewell:
			c.close()
		}
	}
}

// shut ends our side of the client's connection, or all of it if that can not be.
func (c *conn) shut() {
	if t, ok := c.front.(interface{ CloseWrite() error }); !ok || t.CloseWrite() != nil {
		c.close()
	}
}
