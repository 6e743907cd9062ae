package proxy

import (
	"context"
	"fmt"
	"sync"
	"time"

	native "github.com/datastax/go-cassandra-native-protocol/message"

	"github.com/helenus-db/helenus/proxy/inflight"
	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A request that Cassandra does not answer within Options.RequestTimeout is answered by the proxy, and Cassandra's answer, if
// it still comes, is dropped. There is no timer per request: one sweeper looks at the state word of every slot a few times
// per timeout, so a request is answered between one and one and a quarter timeouts after it was read.
//
// # What the client is told
//
// A request that was sent may have been carried out, or may be later. Drivers repeat what they are told was not carried
// out (Overloaded, Bootstrapping), and some repeat a ServerError whether the statement is idempotent or not. So a
// statement is answered by what Cassandra itself answers when it does not know: WriteTimeout, or ReadTimeout if it is known
// to be a SELECT. No driver's default policy repeats them as they are filled in here: a WriteTimeout only for a BATCH_LOG, a ReadTimeout
// only if enough replicas answered, and we say that none did. What is no statement (PREPARE, OPTIONS, REGISTER) may be
// repeated: ServerError.
//
// A request that the Rewriter still holds was not sent and is not sent any more: Overloaded, which says so. If the Rewriter
// forwards it later, it is told that it was lost.
//
// # Orphans
//
// A slot whose answer is late stays orphaned, so that Barrier waits for it (Cassandra may still carry the request out) and so that
// nobody else gets its stream id. Shutdown does not wait: the client was answered. A connection with more than maxOrphans
// of them, or with one that is older than maxOrphanAge, is closed: what answers so is not worth waiting for.
const (
	maxOrphans   = 1000
	maxOrphanAge = time.Minute
)

// orphans counts a connection's. Its lock orders the sweeper, which reads what is pending after it orphaned a slot, and the
// downward goroutine, which frees the slot and so lets it be written again.
type orphans struct {
	sync.Mutex
	n int
}

// sweepEvery is how often the sweeper looks.
func (s *Server) sweepEvery() time.Duration {
	return min(max(s.options.RequestTimeout/8, 10*time.Millisecond), time.Second)
}

// sweeper answers what takes too long until ctx ends.
func (s *Server) sweeper(ctx context.Context) {
	tick := time.NewTicker(s.sweepEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sweep(s.now())
		}
	}
}

// sweep answers what was read more than a timeout before now.
func (s *Server) sweep(now int64) {
	tick := inflight.Tick(now)
	patience := inflight.Tick(int64(s.options.RequestTimeout)) + 1
	tooOld := patience + inflight.Tick(int64(maxOrphanAge))
	for _, c := range s.connections() {
		if !c.authenticated.Load() || c.over() { // before, HandshakeTimeout holds
			continue
		}
		stuck := false
		c.streams.Each(func(_ int16, t *slot) {
			switch w := t.Word(); inflight.Of(w) {
			case inflight.Busy:
				if inflight.Age(w, tick) > patience {
					c.expire(t, w)
				}
			case inflight.Orphaned:
				stuck = stuck || inflight.Age(w, tick) > tooOld
			}
		})
		c.orphans.Lock()
		stuck = stuck || c.orphans.n > maxOrphans
		c.orphans.Unlock()
		if stuck {
			s.stats.stuck.Add(1)
			c.giveUp(fmt.Errorf("Cassandra does not answer its requests: more than %d answers are late, or one for longer than %v", //nolint:revive,staticcheck // a name
				maxOrphans, maxOrphanAge))
		}
	}
}

// expire answers the request that a slot holds while its word is w.
func (c *conn) expire(t *slot, w uint64) {
	if k := t.taken.Load(); k != nil && k.word == w && k.state.Load() == held {
		c.server.stats.timeouts.Add(1)
		k.Fail(nil, wire.ErrOverloaded, fmt.Sprintf(
			"the request was not sent to Cassandra: what the proxy does before took longer than %v", c.server.options.RequestTimeout))
		return
	}
	c.orphans.Lock()
	defer c.orphans.Unlock()
	if !t.Orphan(w) {
		return
	}
	c.orphans.n++
	p := t.pending
	if p.stream == nobody {
		p.extra.abandon(errLate)
		c.spares.give(p.extra)
		return
	}
	c.server.stats.timeouts.Add(1)
	code, frame := c.timedOut(&p)
	c.down.out.Send(frame)
	x := Exchange{Client: c.client.Load(), Prepared: p.prepared, Opcode: p.opcode, Start: p.start, End: c.server.now(),
		RequestBytes: int(p.bytes), ResponseBytes: len(frame) - wire.HeaderSize, Rows: -1, Hash: p.hash, Manner: Manner{Consistency: p.consistency,
			Paged: p.paged, Serial: p.serial, Stamped: p.stamped, SerialConsistency: p.serialConsistency, Failed: true, ErrorCode: code}}
	c.countOwn(&x)
	c.record(p.record, p.extra, []Exchange{x})
	c.spares.give(p.extra)
}

// timedOut is the ERROR that a request is answered with.
func (c *conn) timedOut(p *pending) (code int32, frame []byte) {
	text := fmt.Sprintf("Cassandra did not answer the proxy within %v (request timeout); it may still carry the request out",
		c.server.options.RequestTimeout)
	var m native.Message
	switch statement := p.opcode == wire.OpQuery || p.opcode == wire.OpExecute || p.opcode == wire.OpBatch; {
	case !statement:
		code, m = wire.ErrServer, message.ServerError(text)
	case p.read:
		code, m = wire.ErrReadTimeout, message.ReadTimeout(text, p.consistency)
	default:
		code, m = wire.ErrWriteTimeout, message.WriteTimeout(text, p.consistency, p.opcode == wire.OpBatch)
	}
	return code, message.Append(nil, c.client.Load().Version, p.stream, m)
}

// reunite frees an orphaned slot: its late answer came, or it turned out that none will.
func (c *conn) reunite(t *slot) {
	c.orphans.Lock()
	defer c.orphans.Unlock()
	if t.Reunite() {
		c.orphans.n--
	}
}
