package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// preparation is all that has to be done for one write request.
type preparation struct {
	steps   []kind.Step       // of the rows whose new value is known
	owners  []*active         // of steps, one by one
	pending []pending         // rows whose new value is not known
	doubts  []doubt           // it is not known which rows: reads are turned back until the answer
	refused []doubt           // Cassandra is certain to refuse the statement, and is not believed before it did
	skipped []pending         // of steps: those that were not taken, as entries could not be written a moment ago
	turned  []<-chan struct{} // orders that turned reads back; each is closed when it is stored
	noted   <-chan struct{}   // closed once it was noted, or could not be, that it empties bases; nil: nobody began to
	level   kind.Level

	began       time.Duration // when the request was read, by uptime
	conditional bool          // what the answer says of [applied] counts
	ownTime     bool          // the request brings the time from which times to live count

	oneStep  [1]kind.Step // most requests need one
	oneOwner [1]*active
}

type pending struct {
	active *active
	step   kind.Step
}

// doubt is why the rows that a request changes are not known.
type doubt struct {
	active  *active
	reason  string
	empties bool // it is a TRUNCATE of the base
}

func (p *preparation) empty() bool {
	return len(p.steps) == 0 && len(p.pending) == 0 && len(p.doubts) == 0 && len(p.refused) == 0
}

// empties tells whether it empties the base of a change.
func (p *preparation) empties() bool {
	return slices.ContainsFunc(p.doubts, func(d doubt) bool { return d.empties })
}

// errorCode is what a client is told whose entry could not be written, where the person who approved wanted it so: Overloaded,
// which says that its statement was not carried out, and that another attempt may succeed. The more exact codes carry fields that only
// a coordinator knows.
const errorCode = gocql.ErrCodeOverloaded

// takeWrite prepares the tables of changes for a write, and sends it on, unchanged.
func (e *Engine) takeWrite(r *proxy.Request) bool {
	p := e.plan(r)
	if p.empty() {
		return false
	}
	p.began = e.options.Uptime()
	// Reads are turned back before Take returns, so that whatever is read after this write's answer sees it.
	for _, d := range p.doubts {
		d.active.holds.Add(1)
	}
	if len(p.steps) == 0 && len(p.pending) == 0 && (len(p.doubts) == 0 || e.options.Members == nil) && !p.empties() {
		e.forward(r, p)
		return true
	}
	e.wait.Add(1)
	guard.GoDeep(guard.Writes, func() {
		defer e.wait.Done()
		e.write(r, p)
	}, func(err error) { e.writePanicked(r, p, err) })
	return true
}

// plan finds out what a request does.
func (e *Engine) plan(r *proxy.Request) *preparation {
	p := &preparation{level: kind.Level{Consistency: writtenAt(r.Consistency), Serial: gocql.Consistency(r.SerialConsistency)}, ownTime: r.HasNow}
	p.steps, p.owners = p.oneStep[:0], p.oneOwner[:0]
	if r.Opcode != proxy.OpBatch {
		if own, ok := r.Rule.(*rule); ok {
			p.conditional = own.conditional
			e.bind(p, r, own, r.Values, r.Prepared)
		}
		return p
	}
	set := e.rules.Load()
	for i := range r.Children {
		c := &r.Children[i]
		switch own, ok := c.Rule.(*rule); {
		case ok:
			p.conditional = p.conditional || own.conditional
		case c.Text == "":
			for _, a := range set.active {
				if a.write.Load() {
					p.doubts = append(p.doubts, doubt{active: a, reason: "a batch held a statement that was prepared elsewhere"})
				}
			}
		default:
			p.conditional = p.conditional || set.rule(r.Keyspace, c.Text).conditional
		}
	}
	for i := range r.Children {
		c := &r.Children[i]
		if own, ok := c.Rule.(*rule); ok {
			e.bind(p, r, own, c.Values, c.Prepared)
		}
	}
	if len(p.refused) > 0 { // and with one of them all
		p.steps, p.owners, p.pending = nil, nil, nil
	}
	return p
}

// writtenAt is the level at which a write at a consistency is carried out. Cassandra refuses INSERT, UPDATE and DELETE at a serial one, but takes
// a BATCH and a TRUNCATE, and waits for the quorum that the level stands for.
func writtenAt(consistency uint16) gocql.Consistency {
	switch c := gocql.Consistency(consistency); c {
	case gocql.Consistency(gocql.Serial):
		return gocql.Quorum
	case gocql.Consistency(gocql.LocalSerial):
		return gocql.LocalQuorum
	default:
		return c
	}
}

// bind adds what one statement of a request does.
func (e *Engine) bind(p *preparation, r *proxy.Request, own *rule, bound []proxy.Value, prepared *proxy.Prepared) {
	x := kind.Execution{Values: kind.Values{Values: bound}, HasTimestamp: r.HasTimestamp, Timestamp: r.Timestamp, OwnTime: p.ownTime, Conditional: p.conditional}
	if prepared != nil {
		x.Values.Variables = prepared.Variables
	}
	for _, w := range own.writes {
		a := w.active
		if !a.write.Load() {
			if effect, _ := w.write.Bind(x, nil); effect.Empties { // when a change that was stopped is resumed, its tables are to be emptied, too
				p.doubts = append(p.doubts, doubt{active: a, reason: effect.Doubt, empties: true})
			}
			continue
		}
		var effect kind.Effect
		effect, p.steps = w.write.Bind(x, p.steps)
		for len(p.owners) < len(p.steps) {
			p.owners = append(p.owners, a)
		}
		switch {
		case effect.Refused:
			p.refused = append(p.refused, doubt{active: a, reason: "Cassandra carried out a write that looked invalid"})
		case effect.Doubt != "":
			p.doubts = append(p.doubts, doubt{active: a, reason: effect.Doubt, empties: effect.Empties})
		case effect.Pending != nil:
			p.pending = append(p.pending, pending{a, effect.Pending})
		}
	}
}

// kept calls f for the steps of each keeper: those that stand together, which are all where one kind is in force.
func (p *preparation) kept(f func(keeper kind.Keeper, from, to int)) {
	from := 0
	for i := range p.steps {
		if keeper := p.owners[from].keeper; i+1 == len(p.steps) || p.owners[i+1].keeper != keeper {
			f(keeper, from, i+1)
			from = i + 1
		}
	}
}

// end tells the keepers how a request was answered.
func (p *preparation) end(answer kind.Answer) {
	p.kept(func(keeper kind.Keeper, from, to int) { keeper.End(p.steps[from:to], answer, p.level) })
	for i := range p.pending {
		p.pending[i].active.keeper.End([]kind.Step{p.pending[i].step}, answer, p.level)
	}
	for _, s := range p.skipped {
		s.active.keeper.End([]kind.Step{s.step}, answer, p.level)
	}
}

// write takes the steps that a request needs, and sends it on.
func (e *Engine) write(r *proxy.Request, p *preparation) {
	e.warn(p)
	e.emptying(p)
	if refusal := e.prepare(e.near(e.life, r.Client), p); refusal != "" {
		p.end(kind.Refused)
		e.settle(p, kind.Refused)
		r.Fail(errorCode, refusal)
		return
	}
	e.forward(r, p)
}

// emptyingPatience is how long a TRUNCATE waits for the state.
const emptyingPatience = 2 * time.Second

// emptying has it stored, before a statement goes on that empties the base of changes, that it does: their tables are to be emptied, too, though this process may be killed before the
// answer. What can not be stored in a moment is no reason to keep the application waiting.
func (e *Engine) emptying(p *preparation) {
	if !p.empties() {
		return
	}
	ctx, cancel := context.WithTimeout(e.life, emptyingPatience)
	defer cancel()
	stored := make(chan struct{})
	p.noted = stored
	doubts := p.doubts
	guard.In(&e.wait, guard.Migrations, func() { // which may wait for others who store something
		defer close(stored)
		for _, d := range doubts {
			if !d.empties {
				continue
			}
			if err := e.manager.Emptying(ctx, d.active.id); err != nil {
				e.log.Warn("that the base of a change is about to be emptied could not be stored; what follows from that is ordered once it is", "change_id", d.active.id, "err", err)
			}
		}
	})
	select {
	case <-stored:
	case <-ctx.Done():
	}
}

// prepare puts entries and pending rows. What can not be put turns the reads of its change back, and is then no reason to keep the
// application from writing; unless the person who approved wanted the write refused: then it returns what to tell the client.
func (e *Engine) prepare(ctx context.Context, p *preparation) (refusal string) {
	e.skipBroken(p)
	start := e.options.Elapsed()
	defer func() { e.quiet(p.turned...); p.turned = nil }()
	p.kept(func(keeper kind.Keeper, from, to int) {
		if refusal != "" {
			return
		}
		bad, err := keeper.Begin(ctx, p.steps[from:to], p.level.Consistency)
		for i := from; i < to; i++ {
			switch {
			case !slices.Contains(bad, p.steps[i]):
				p.owners[i].counts.written.Add(1)
				if p.steps[i].Puts() {
					p.owners[i].breaker.close()
				}
			case refusal == "":
				refusal = e.unwritten(p, p.owners[i], err)
			}
		}
	})
	if refusal != "" {
		return refusal
	}
	for _, u := range p.pending {
		if _, err := u.active.keeper.Begin(ctx, []kind.Step{u.step}, p.level.Consistency); err != nil {
			if refusal = e.unwritten(p, u.active, err); refusal != "" {
				return refusal
			}
			continue
		}
		if e.options.Members != nil { // its rows are candidates of this member's reads alone
			e.miss(p, u.active, "a write sets a value that Cassandra computes: other members find its row only once it has its entry")
		}
	}
	// Entries have to be younger than what their writes' lives are counted by. A process that was stopped here puts them again.
	for i, s := range p.steps {
		if e.options.Elapsed()-start > p.owners[i].keeper.Horizon(s)/8 {
			return e.prepare(ctx, p)
		}
	}
	return ""
}

// skipBroken leaves out changes that nothing rests on here and whose entries could not be written a moment ago: waiting for
// them again would only slow the application down. Verification finds what they lack.
func (e *Engine) skipBroken(p *preparation) {
	kept := 0
	for i, a := range p.owners {
		if a.breaker.open(a.uptime()) && !a.used() {
			e.miss(p, a, a.breaker.reason())
			p.skipped = append(p.skipped, pending{a, p.steps[i]})
			continue
		}
		p.steps[kept], p.owners[kept] = p.steps[i], a
		kept++
	}
	p.steps, p.owners = p.steps[:kept], p.owners[:kept]
}

// unwritten is called when an entry or a pending row could not be written. refusal is what to tell the client, "" if the write
// goes on. While a change is filled or verified, or is suspended, nothing rests on its entries, so no write is refused for them; where another member may be ahead and serve, its
// reads are turned back before this write goes on.
func (e *Engine) unwritten(p *preparation, a *active, err error) (refusal string) {
	a.counts.failed.Add(1)
	if a.used() && a.refuse && exec.Down(err) && !exec.Internal(err) {
		return fmt.Sprintf("helenus: the write was not carried out, because its entry in %s could not be written first: %s", &a.tables[0], innermost(err))
	}
	a.breaker.trip(a.uptime(), err.Error())
	e.miss(p, a, "an entry could not be written: "+err.Error())
	return ""
}

// miss has a write go on without its entry: what rests on that is turned back before, at all members.
func (e *Engine) miss(p *preparation, a *active, reason string) {
	a.counts.missed.Add(1)
	switch {
	case a.relied():
		p.turned = append(p.turned, e.turnedBack(a, reason))
	case a.members != nil:
		e.owe(a, reason)
	}
}

// turnedBack is turnBack until verified, unless an order for that is on its way: then it is that one. One that is in force and could not be stored is added to, and is stored
// in its own time: else each write of a long outage would be an order, a try to store it and a line of the audit trail.
func (e *Engine) turnedBack(a *active, reason string) (stored <-chan struct{}) {
	if ordered := a.ordered.Load(); ordered != nil && a.turning.Load() > 0 {
		return *ordered
	}
	e.orders.Add(1) // nothing of what is stored by now is acknowledged before this request has ended
	if e.manager.Doubt(a.id) {
		return nil
	}
	return e.turnBack(a, reason, e.manager.Reverify)
}

// innermost is what Cassandra said.
func innermost(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// turnBack turns the reads of a change back at once, and gives the order that makes it so until they are proven again.
// It does not block; stored is closed once that is stored.
func (e *Engine) turnBack(a *active, reason string, order func(ctx context.Context, id, reason string) error) (stored <-chan struct{}) {
	done := make(chan struct{})
	stored = done
	a.ordered.Store(&stored)
	e.unsaved.Add(1)
	e.orders.Add(1)
	a.holds.Add(1) // until the order is in force, whatever is published meanwhile
	a.turning.Add(1)
	a.serve.Store(false) // and so for as long as the order can not even be given
	a.shadow.Store(false)
	guard.In(&e.wait, guard.Migrations, func() {
		defer func() { a.turning.Add(-1); a.holds.Add(-1); e.orders.Add(1); e.unsaved.Add(-1) }()
		for {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(e.life), 10*time.Second)
			err := order(ctx, a.id, reason)
			cancel()
			if err == nil {
				close(done)
				return
			}
			e.log.Error("reads were turned back, but that could not be saved", "change_id", a.id, "reason", reason, "err", err)
			if !errors.Is(err, migrate.ErrContended) || e.life.Err() != nil { // what could not be stored is in force; what was not given is given again
				return
			}
		}
	})
	return done
}

// forward sends a request on as it came.
func (e *Engine) forward(r *proxy.Request, p *preparation) {
	sent, single := e.options.Uptime(), r.Opcode != proxy.OpBatch
	r.Forward(proxy.Forward{Done: func(answer proxy.Response) {
		if single && !answer.Lost && !answer.Failed {
			now := e.options.Uptime()
			for _, a := range p.owners {
				a.gain.Write(now-p.began, now-sent)
			}
		}
		e.answered(p, answer)
	}})
}

// refused are the error codes by which Cassandra says that it did not even try: syntax, unauthorised, invalid,
// configuration, already exists, unprepared.
func refused(code int32) bool { return code >= 0x2000 && code <= 0x2500 }

// outcome is what an answer says of the statement.
func (p *preparation) outcome(answer proxy.Response) kind.Answer {
	switch {
	case answer.Lost, answer.Failed && !refused(answer.ErrorCode):
		return kind.Lost
	case answer.Failed:
		return kind.Refused
	case p.conditional:
		rows, err := exec.ParseRows(answer.Body)
		if err == nil && len(rows) > 0 && len(rows[0]) > 0 && len(rows[0][0]) == 1 && rows[0][0][0] == 0 {
			return kind.Refused // [applied] = false; what can not be read is looked at
		}
	}
	return kind.Applied
}

// answered is called with Cassandra's answer, on the relay's goroutine.
func (e *Engine) answered(p *preparation, answer proxy.Response) {
	outcome := p.outcome(answer)
	p.end(outcome)
	for _, d := range p.refused {
		if outcome == kind.Applied {
			e.turnBack(d.active, d.reason, e.manager.Reverify)
		}
	}
	e.settle(p, outcome)
}

// settle ends doubts, once: what was refused did nothing, and everything else has to be looked for.
func (e *Engine) settle(p *preparation, outcome kind.Answer) {
	doubts := p.doubts
	p.doubts = nil
	noted := func() { // else it would be noted once nobody takes it back any more
		if p.noted != nil {
			<-p.noted
		}
	}
	for _, d := range doubts {
		switch {
		case outcome == kind.Refused && d.empties:
			guard.In(&e.wait, guard.Migrations, func() {
				noted()
				if err := e.manager.Spared(context.WithoutCancel(e.life), d.active.id); err != nil {
					e.log.Warn("that the base of a change was not emptied could not be stored; once it is verified again it is filled anew", "change_id", d.active.id, "err", err)
				}
			})
		case outcome == kind.Refused:
		case d.empties:
			e.turnBack(d.active, d.reason, func(ctx context.Context, id, reason string) error {
				noted()
				return e.manager.Emptied(ctx, id, reason)
			})
		default:
			d.active.counts.missed.Add(1)
			e.turnBack(d.active, d.reason, e.manager.Reverify)
		}
		d.active.holds.Add(-1)
	}
}
