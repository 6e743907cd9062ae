package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// process is one life of a member, in process.
type process struct {
	w      *memory
	slot   int
	member *fleet.Member
	engine *rewrite.Engine
	cut    atomic.Bool // it can not reach the state

	life     context.Context // ends when it is killed
	end      context.CancelFunc
	bypassed atomic.Bool

	mu     sync.Mutex
	frozen chan struct{} // closed when it goes on; nil: it runs
	under  map[*call]bool
}

var errKilled = errors.New("the process was killed")

func newProcess(w *memory, slot, n int) *process {
	p := &process{w: w, slot: slot, under: map[*call]bool{}}
	p.life, p.end = context.WithCancel(context.Background())
	book := change.Open(&stateLink{w.store, p})
	var members rewrite.Members
	p.member = fleet.New(fleet.Options{Store: &stateLink{w.store, p}, ID: fmt.Sprint("m", n), Address: fmt.Sprint("slot ", slot), Form: 1, Truth: fleet.Truth{
		Follow: []func(context.Context) error{book.Sync, func(ctx context.Context) error { return p.engine.Follow(ctx) }},
		Rules:  func() uint64 { return p.engine.Rules() }, Barrier: func(ctx context.Context) error { return p.engine.Barrier(ctx) }, Withholding: func() bool { return p.engine.Withholding() },
		Blocked: func() string { return p.engine.Unfollowed() }, Reverify: func(ctx context.Context, why string) error { return p.engine.ReverifyAll(ctx, why) },
		Connected: p.connected,
	}})
	members = &spoilt{p.member, w.mutant}
	settings, kinds := soon()
	var err error
	p.engine, err = rewrite.New(rewrite.Options{Session: &dataLink{p}, Store: &stateLink{w.store, p}, Changes: book, Traffic: p, Bypass: p.bypassed.Store, Schema: w.db.Schema,
		Migrate: settings, Every: 1 << 60, Kinds: kinds, Members: members})
	if err != nil {
		panic(err) // a part is missing
	}
	return p
}

// begin reads the state and joins, as a process does before it takes requests; it is tried until it succeeds, or the process is killed.
func (p *process) begin() error {
	for p.engine.Restore(p.life) != nil {
		if err := sleep.For(p.life, 500*time.Millisecond); err != nil {
			return err
		}
	}
	alone, err := p.member.Join(p.life)
	for err == nil && alone && p.engine.ReverifyAll(p.life, "alone") != nil {
		err = sleep.For(p.life, 500*time.Millisecond)
	}
	if err != nil {
		return err
	}
	p.w.wait.Go(func() { p.member.Run(p.life) })
	p.w.wait.Go(func() { p.member.Reap(p.life) })
	p.w.wait.Go(func() {
		p.engine.Run(p.life)
		p.engine.Close(p.life)
	})
	return nil
}

// die is kill -9: nothing of the process happens any more.
func (p *process) die() {
	p.w.mu.Lock()
	if p.w.slots[p.slot] == p {
		p.w.slots[p.slot] = nil
	}
	p.w.mu.Unlock()
	p.end()
}

// freeze is SIGSTOP; what it returns is SIGCONT.
func (p *process) freeze() func() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	frozen := p.frozen
	if frozen == nil {
		frozen = make(chan struct{})
		p.frozen = frozen
	}
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.frozen == frozen {
			p.frozen = nil
			close(frozen)
		}
		return nil
	}
}

// standing is closed when a process goes on that stands still; nil: it does not.
func (p *process) standing() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

// pass waits while the process stands still; it fails in one that was killed. Whatever a process does goes through it.
func (p *process) pass() error {
	for {
		frozen := p.standing()
		if p.life.Err() != nil {
			return errKilled
		}
		if frozen == nil {
			return nil
		}
		select {
		case <-frozen:
		case <-p.life.Done():
		}
	}
}

// connected are the processes that nodes list connections of: also of those that stand still.
func (p *process) connected(context.Context) (map[string]bool, error) {
	if p.w.isDown.Load() {
		return nil, exec.ErrNoConnection
	}
	on := map[string]bool{}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, x := range p.w.all {
		on[x.member.ID()] = x.life.Err() == nil
	}
	return on, nil
}

// Barrier implements migrate.Traffic: it waits for the requests that are under way now.
func (p *process) Barrier(ctx context.Context) error {
	p.mu.Lock()
	var calls []*call
	for c := range p.under {
		calls = append(calls, c)
	}
	p.mu.Unlock()
	for _, c := range calls {
		select {
		case <-c.over:
		case <-ctx.Done():
			return ctx.Err()
		case <-p.life.Done():
			return errKilled
		}
	}
	return nil
}

// spoilt is a member that a mutant makes break a rule.
type spoilt struct {
	*fleet.Member
	mutant mutant
}

func (s *spoilt) Serving() bool { return s.mutant.leaseless || s.Member.Serving() }

func (s *spoilt) Barrier(ctx context.Context, progress func(string)) error {
	if s.mutant.hasty {
		return nil
	}
	return s.Member.Barrier(ctx, progress)
}

func (s *spoilt) Quiet(ctx context.Context, stored <-chan struct{}) error {
	if s.mutant.heedless {
		return nil
	}
	return s.Member.Quiet(ctx, stored)
}

// call is a request under way at a process. It plays the relay: what is forwarded is carried out on the database.
type call struct {
	p       *process
	o       operation
	stamped int64 // by its client; 0: the coordinator does
	done    chan outcome
	once    sync.Once
	over    chan struct{} // closed when it was answered, or lost
}

// waits is how long a client waits for an answer.
const waits = 10 * time.Second

// say sends an operation through a process. Who waits too long, or whose process is killed, does not know what came of it.
func (p *process) say(o operation) outcome {
	c := &call{p: p, o: o, done: make(chan outcome, 1), over: make(chan struct{})}
	if o.act != read && p.w.draw(fmt.Sprint("stamp ", o.id))%2 == 0 {
		c.stamped = p.w.timestamp()
	}
	p.mu.Lock()
	p.under[c] = true
	p.mu.Unlock()
	p.w.wait.Go(c.send)
	over := time.NewTimer(waits)
	defer over.Stop()
	select {
	case out := <-c.done:
		return out
	case <-over.C:
	case <-p.life.Done():
	}
	return outcome{}
}

// send hands the request to the engine as the relay does.
func (c *call) send() {
	if c.p.pass() != nil {
		c.end()
		return
	}
	text, values := c.o.statement()
	r := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: text, Consistency: 4, PageSize: 5000, Responder: c, HasTimestamp: c.stamped != 0, Timestamp: c.stamped,
		Prepared: &proxy.Prepared{Text: text, ResultMetadata: []byte{0}}}
	for _, v := range values {
		r.Values = append(r.Values, proxy.Value{Bytes: v})
	}
	if c.o.act == read {
		for _, name := range []string{"room", "day", "guest", "note"} {
			r.Prepared.Results = append(r.Prepared.Results, proxy.Column{Name: name})
		}
	}
	r.Rule = c.p.engine.Rule("", text)
	if c.p.bypassed.Load() || r.Rule == nil || !c.p.engine.Take(r) {
		c.Forward(r, proxy.Forward{})
	}
}

// tell answers the client, once.
func (c *call) tell(out outcome) {
	select {
	case c.done <- out:
	default:
	}
}

func (c *call) end() {
	c.once.Do(func() {
		c.p.mu.Lock()
		delete(c.p.under, c)
		c.p.mu.Unlock()
		close(c.over)
	})
}

// Forward carries the request out on the database, and passes on what that says.
func (c *call) Forward(_ *proxy.Request, f proxy.Forward) {
	c.p.w.wait.Go(func() {
		var out outcome
		var response proxy.Response
		if c.p.pass() == nil { // who is dead sends nothing any more
			out, response = c.carryOut()
		}
		if c.p.pass() != nil {
			out, response = outcome{}, proxy.Response{Lost: true}
		}
		c.tell(out)
		c.end()
		if f.Done != nil {
			f.Done(response)
		}
	})
}

// carryOut has the database do what the request says, or lose it.
func (c *call) carryOut() (outcome, proxy.Response) {
	w := c.p.w
	text, values := c.o.statement()
	draw := w.draw(fmt.Sprint("base ", c.o.id))
	time.Sleep(latency(draw))
	failed := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x1100}
	if c.o.act == read {
		a, err := w.db.Query(context.Background(), exec.Query{Text: text, Values: values})
		if failed.ErrorCode = 0x1200; err != nil || w.isDown.Load() {
			return outcome{}, failed
		}
		return outcome{fate: answered, rows: rowsOf(a.Rows)}, proxy.Response{Opcode: proxy.OpResult, Body: resultBody(a.Rows)}
	}
	stamp := c.stamped
	if stamp == 0 {
		stamp = w.timestamp()
	}
	apply := func() {
		if err := w.db.Write(text, values, stamp); err != nil {
			panic(err) // the statement is a constant
		}
		w.writes.Add(1)
	}
	switch lost := draw >> 32; {
	case c.p.life.Err() != nil || w.isDown.Load() || lost%80 == 0:
		w.loses(lost>>8, apply)
		return outcome{}, failed
	}
	apply()
	time.Sleep(latency(draw>>16) / 4)
	return outcome{fate: answered}, proxy.Response{Opcode: proxy.OpResult}
}

// Answer implements proxy.Responder.
func (c *call) Answer(_ *proxy.Request, rows proxy.Rows) {
	if c.p.pass() == nil {
		c.tell(outcome{fate: answered, rows: rowsOf(rows), served: true})
	}
	c.end()
}

// Fail implements proxy.Responder: Helenus refuses what it has not sent on.
func (c *call) Fail(*proxy.Request, int32, string) {
	if c.p.pass() == nil {
		c.tell(outcome{fate: refused})
	}
	c.end()
}

// resultBody is a RESULT Rows answer without metadata.
func resultBody(rows proxy.Rows) []byte {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	var b []byte
	for _, n := range []int{2, 4, columns, len(rows)} {
		b = append(b, exec.FromInt32(int32(n))...)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell == nil {
				b = append(b, exec.FromInt32(-1)...)
				continue
			}
			b = append(append(b, exec.FromInt32(int32(len(cell)))...), cell...)
		}
	}
	return b
}

// latency is how long a step takes: mostly a few milliseconds, now and then a quarter of a second.
func latency(draw uint64) time.Duration {
	d := 300*time.Microsecond + time.Duration(draw%4_000_000)
	if draw>>24%40 == 0 {
		d += time.Duration(draw >> 8 % 250_000_000)
	}
	return d
}

// loses is what becomes of a write that is not answered: it is carried out now, later or never.
func (w *memory) loses(draw uint64, apply func()) {
	switch draw % 3 {
	case 0:
		apply()
	case 1:
		w.wait.Go(func() {
			time.Sleep(time.Duration(draw % 3_000_000_000))
			apply()
		})
	}
}

// dataLink is a process's way to the database, for statements of ours.
type dataLink struct{ p *process }

// step is one statement of ours.
func (l *dataLink) step(ctx context.Context, q exec.Query, do func() error) error {
	if err := l.p.pass(); err != nil {
		return err
	}
	w := l.p.w
	name := fmt.Sprintf("%d %.60s %q", l.p.slot, q.Text, q.Values)
	draw := w.draw(name)
	if err := sleep.For(ctx, latency(draw)); err != nil {
		return err
	}
	writes := !reads(q) && q.Text != ""
	entry := strings.HasPrefix(q.Text, "INSERT INTO hotel."+lookUp+" ")
	apply := func() { _ = do() }
	lost := draw >> 32
	switch {
	case l.p.life.Err() != nil:
		if writes && lost%2 == 0 {
			apply() // it had been sent
		}
		return errKilled
	case w.isDown.Load():
		if writes && entry {
			w.loses(lost>>8, apply)
		}
		return exec.ErrNoConnection
	case entry && (w.isLame.Load() && lost%5 == 0 || lost%400 == 0):
		w.loses(lost>>8, apply)
		return exec.ErrNoConnection
	case entry && w.mutant.forgetful && lost%7 == 1:
		return nil
	}
	err := do()
	if stopped := l.p.pass(); stopped != nil {
		return stopped
	}
	return errors.Join(err, ctx.Err())
}

func (l *dataLink) Query(ctx context.Context, q exec.Query) (a exec.Answer, err error) {
	err = l.step(ctx, q, func() error {
		got, err := l.p.w.db.Query(context.WithoutCancel(ctx), q)
		if reads(q) { // what a write answers late is nobody's
			a = got
		}
		return err
	})
	return a, err
}

func reads(q exec.Query) bool { return strings.HasPrefix(q.Text, "SELECT") }

func (l *dataLink) Scan(ctx context.Context, q exec.Query, row func([][]byte) error) error {
	var a exec.Answer
	if err := l.step(ctx, q, func() (err error) { a, err = l.p.w.db.Query(context.WithoutCancel(ctx), q); return err }); err != nil {
		return err
	}
	for _, r := range a.Rows {
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}

func (l *dataLink) Agree(ctx context.Context) error {
	return l.step(ctx, exec.Query{}, func() error { return nil })
}

// Unlogged carries out writes of one partition: all take effect, or none.
func (l *dataLink) Unlogged(ctx context.Context, writes []exec.Query) error {
	if len(writes) == 0 {
		return nil
	}
	return l.step(ctx, writes[0], func() error { return l.p.w.db.Unlogged(context.WithoutCancel(ctx), writes) })
}
