package proxy

import (
	"context"
	"time"
)

// poll is how often Barrier and Shutdown look whether what they wait for has happened.
const poll = time.Millisecond

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
		c.streams.each(func(_ int16, t *slot) {
			if w := t.state.Load(); w&statusMask != free {
				list = append(list, awaited{c, t, w})
			}
		})
	}
	return s.until(ctx, func() bool {
		for len(list) > 0 {
			last := list[len(list)-1]
			if last.slot.inFlight(last.word) && !last.conn.over() {
				return false
			}
			list = list[:len(list)-1]
		}
		return true
	})
}

func (s *Server) until(ctx context.Context, done func() bool) error {
	if done() {
		return nil
	}
	tick := time.NewTicker(poll)
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

// Shutdown drains and stops the server: no new connections, new requests are answered Overloaded (drivers go to their
// next host), requests in flight are waited for until ctx ends, then every connection is closed. Error: ctx's, if
// requests were cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.mu.Lock()
	for _, g := range s.gates {
		g.listener.Close()
	}
	s.mu.Unlock()
	err := s.until(ctx, func() bool {
		for _, c := range s.connections() {
			if !c.quiet() && !c.over() {
				return false
			}
		}
		return true
	})
	s.mu.Lock()
	s.closed = true
	for front := range s.fronts {
		front.Close()
	}
	s.mu.Unlock()
	s.cancel()
	for _, c := range s.connections() {
		c.close()
	}
	s.work.Wait()
	return err
}
