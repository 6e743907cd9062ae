package rewrite

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/maintain"
	"github.com/helenus-db/helenus/rewrite/match"
)

// change is what one request does to one look-up, bound to its values.
type change struct {
	active *active
	effect match.Effect
	ts     int64
}

// doubt is a reason not to serve until Cassandra has answered.
type doubt struct {
	active *active
	reason string
}

// preparation is all that has to be done for one write request.
type preparation struct {
	changes []change
	doubts  []doubt // turn reads back until the answer shows whether the statement was carried out
	guards  []doubt // turn reads back now
	stamp   int64   // the timestamp that the request has to be given, 0 if it carries its own
	deletes []deletion
}

// deletion is a row, or the column of one, that a request deletes.
type deletion struct {
	lookup *match.LookUp
	key    [][]byte
	ts     int64
}

func (p *preparation) empty() bool {
	return len(p.changes) == 0 && len(p.doubts) == 0 && len(p.guards) == 0
}

// errorCode is what a client is told whose entry could not be written: Overloaded, which says that its statement was not
// carried out, and that another attempt may succeed. The more exact codes carry fields that only a coordinator knows.
const errorCode = gocql.ErrCodeOverloaded

// takeWrite prepares the look-ups for a write, and sends it on.
func (e *Engine) takeWrite(r *proxy.Request) bool {
	if serial(r.Consistency) {
		return false // Cassandra refuses it
	}
	p := e.plan(r)
	if p.empty() {
		return false
	}
	// Reads are turned back before Take returns, so that whatever is read after this write's answer sees it.
	for _, d := range p.doubts {
		d.active.holds.Add(1)
	}
	for _, d := range p.guards {
		d.active.holds.Add(1)
	}
	e.wait.Add(1)
	guard.Go(guard.Writes, func() {
		defer e.wait.Done()
		e.write(r, p)
	}, func(err error) { e.writePanicked(r, p, err) })
	return true
}

// plan finds out what a request does.
func (e *Engine) plan(r *proxy.Request) *preparation {
	p := &preparation{}
	if r.Opcode != proxy.OpBatch {
		if own, ok := r.Rule.(*rule); ok {
			values := match.Values{Values: r.Values}
			if r.Prepared != nil {
				values.Variables = r.Prepared.Variables
			}
			e.bind(p, r, own, values, false)
		}
		return p
	}
	set, conditional := e.rules.Load(), false
	for i := range r.Children {
		c := &r.Children[i]
		switch own, ok := c.Rule.(*rule); {
		case ok:
			conditional = conditional || own.conditional
		case c.Text == "":
			for _, a := range set.active {
				p.guards = append(p.guards, doubt{a, "a batch holds a statement that was prepared elsewhere"})
			}
		default:
			conditional = conditional || set.rule(r.Keyspace, c.Text).conditional
		}
	}
	for i := range r.Children {
		c := &r.Children[i]
		if own, ok := c.Rule.(*rule); ok {
			values := match.Values{Values: c.Values}
			if c.Prepared != nil {
				values.Variables = c.Prepared.Variables
			}
			e.bind(p, r, own, values, conditional)
		}
	}
	return p
}

// bind adds what one statement of a request does.
func (e *Engine) bind(p *preparation, r *proxy.Request, own *rule, values match.Values, conditional bool) {
	for _, w := range own.writes {
		if !w.active.write.Load() {
			continue
		}
		write := w.write
		if conditional && !write.Conditional {
			c := *write
			c.MakeConditional()
			write = &c
		}
		effect := write.Bind(values)
		switch {
		case effect.Guard != "" && w.doubtful:
			p.doubts = append(p.doubts, doubt{w.active, effect.Guard})
			continue
		case effect.Guard != "":
			p.guards = append(p.guards, doubt{w.active, effect.Guard})
			continue
		case effect.Refused:
			p.doubts = append(p.doubts, doubt{w.active, "C6: Cassandra took a write with a key, timestamp or time to live that looked invalid"})
			continue
		case !effect.Touched || write.Conditional:
			continue
		}
		c := change{active: w.active, effect: effect}
		switch {
		case effect.HasTimestamp:
			c.ts = effect.Timestamp
		case r.HasTimestamp:
			c.ts = r.Timestamp
		default:
			if p.stamp == 0 {
				p.stamp = e.maintainer.Stamp()
			}
			c.ts = p.stamp
		}
		p.changes = append(p.changes, c)
	}
}

// write writes the entries that a request needs, and sends it on.
func (e *Engine) write(r *proxy.Request, p *preparation) {
	for _, d := range p.guards {
		e.suspend(d.active, d.reason)
		d.active.holds.Add(-1)
	}
	garbage, failed := e.prepare(r, p)
	for i, err := range failed {
		a := p.changes[i].active
		if err == nil {
			a.counts.written.Add(1)
			continue
		}
		if a.lax.Load() {
			a.counts.failed.Add(1)
			continue
		}
		if exec.Down(err) && !exec.Internal(err) {
			a.counts.failed.Add(1)
			for _, d := range p.doubts {
				d.active.holds.Add(-1)
			}
			r.Fail(errorCode, fmt.Sprintf("helenus: the write was not carried out, because its entry in %s could not be written first: %s",
				a.lookup.LookUpName(), reason(err)))
			return
		}
		a.holds.Add(1)
		p.doubts = append(p.doubts, doubt{a, "an entry could not be written: " + err.Error()})
	}
	r.Forward(proxy.Forward{Timestamp: p.stamp, Done: func(answer proxy.Response) { e.written(p, garbage, answer) }})
}

// reason is the innermost error: what Cassandra said.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// prepare writes all entries, and meanwhile reads the values that are about to be replaced.
func (e *Engine) prepare(r *proxy.Request, p *preparation) (garbage []maintain.Garbage, failed []error) {
	failed = make([]error, len(p.changes))
	former := make([][]maintain.Garbage, len(p.changes))
	var wait sync.WaitGroup
	for i := range p.changes {
		c := &p.changes[i]
		guard.In(&wait, guard.Writes, func() {
			failed[i] = guard.Do(guard.Writes, func() error {
				return e.maintainer.Put(e.life, c.active.lookup, c.effect, c.ts, gocql.Consistency(r.Consistency))
			})
		})
		guard.In(&wait, guard.Writes, func() {
			former[i] = e.maintainer.Former(e.life, c.active.lookup, c.effect)
		})
	}
	wait.Wait()
	for i, list := range former {
		for _, g := range list {
			if p.changes[i].effect.Clears {
				g.Deleted = p.changes[i].ts
			}
			garbage = append(garbage, g)
		}
	}
	for _, c := range p.changes {
		if !c.effect.Clears {
			continue
		}
		for _, cells := range c.effect.Keys {
			if key := match.KeyBytes(cells); key != nil {
				p.deletes = append(p.deletes, deletion{c.active.lookup, key, c.ts})
			}
		}
	}
	return garbage, failed
}

// refused are the error codes by which Cassandra says that it did not even try: syntax, unauthorised, invalid,
// configuration, already exists, unprepared.
func refused(code int32) bool { return code >= 0x2000 && code <= 0x2500 }

// written is called with Cassandra's answer, on the relay's goroutine.
func (e *Engine) written(p *preparation, garbage []maintain.Garbage, answer proxy.Response) {
	if !answer.Lost && !answer.Failed {
		for _, d := range p.deletes {
			e.maintainer.Deleted(d.lookup, d.key, d.ts)
		}
		for _, g := range garbage {
			e.maintainer.Later(g)
		}
	}
	if len(p.doubts) == 0 {
		return
	}
	harmless := !answer.Lost && answer.Failed && refused(answer.ErrorCode)
	guard.In(&e.wait, guard.Writes, func() {
		for _, d := range p.doubts {
			if !harmless {
				e.suspend(d.active, d.reason)
			}
			d.active.holds.Add(-1)
		}
	})
}
