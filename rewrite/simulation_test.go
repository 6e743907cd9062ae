package rewrite

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
	"github.com/helenus-db/helenus/rewrite/lookup/verify"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// The tests of this package's simulation drive the real engine, maintainer, backfill and sweeper over a database in memory, and decide
// at every step which of the statements that wait takes effect next. They are the port of docs/design/maintenance.md to the code itself:
// timestamps are arbitrary inputs of a scenario, below, equal to and above the row's, so that no clock is compared with another;
// a statement may be refused, or time out and be carried out at any later step, or never; a process may crash at any step.
// Exploring means to run a scenario again and again, each time with another list of choices, until all lists were tried.

var (
	errCrashed = errors.New("the process is gone")
	errLater   = errors.New("no answer in time; it is carried out later, or never")
	errInvalid = errors.New("refused")
)

// waiting is a statement that waits for its turn.
type waiting struct {
	label string
	query exec.Query
	write int // which of the scenario's writes it is, -1: a statement of the engine's, lost when its process crashes
	turn  chan error
}

// scheduler lets one statement take effect at a time.
type scheduler struct {
	mu      sync.Mutex
	fresh   []*waiting // came since the last look
	waiting []*waiting
	came    map[string]int // by label
	off     bool           // everything takes effect at once
	dead    bool           // the process is crashing: nothing of its own takes effect any more
}

type writeKey struct{} // in a context: which of the scenario's writes it is

func (s *scheduler) before(ctx context.Context, q exec.Query) error {
	p := &waiting{label: fmt.Sprintf("%s %q", q.Text, q.Values), query: q, write: -1, turn: make(chan error, 1)}
	if n, ok := ctx.Value(writeKey{}).(int); ok {
		p.write = n
	}
	s.mu.Lock()
	if s.off || (p.write < 0 && s.dead) {
		defer s.mu.Unlock()
		if s.dead {
			return errCrashed
		}
		return nil
	}
	s.fresh = append(s.fresh, p)
	s.mu.Unlock()
	return <-p.turn
}

// ready lists what waits once nothing else can move, in an order that does not depend on the Go scheduler: what came
// since the last look, by label, after what was there.
func (s *scheduler) ready() []*waiting {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	sort.SliceStable(s.fresh, func(i, j int) bool { return s.fresh[i].label < s.fresh[j].label })
	for _, p := range s.fresh {
		if s.came == nil {
			s.came = map[string]int{}
		}
		s.came[p.label]++
		p.label = fmt.Sprint(p.label, " #", s.came[p.label]) // the same statement of another request is another one
		s.waiting = append(s.waiting, p)
	}
	s.fresh = nil
	return append([]*waiting(nil), s.waiting...)
}

func (s *scheduler) release(p *waiting, err error) {
	s.mu.Lock()
	for i, have := range s.waiting {
		if have == p {
			s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	p.turn <- err
}

func (s *scheduler) crash(on bool) {
	s.mu.Lock()
	s.dead = on
	s.mu.Unlock()
}

// stop lets everything through from now on.
func (s *scheduler) stop() {
	s.mu.Lock()
	s.off = true
	waiting := append(s.waiting, s.fresh...)
	s.waiting, s.fresh = nil, nil
	s.mu.Unlock()
	for _, p := range waiting {
		p.turn <- nil
	}
}

// step is one write of an application.
type step struct {
	text   string
	values [][]byte
	ts     int64 // microseconds
	free   bool  // Cassandra chooses the timestamp: ts, which the request does not say
}

func (st step) String() string {
	who := "unstamped"
	if !st.free {
		who = "stamped"
	}
	return fmt.Sprintf("%.6s %q@%d %s", st.text, st.values[0], st.ts, who)
}

type scenario struct {
	name    string
	steps   []step
	state   migrate.State  // Serving, or Backfill: then the rows there have no entries yet
	crash   bool           // a process may crash, once, at any step; another one takes its place
	lost    bool           // a base write may be refused, or time out
	putlost bool           // so may the put of an entry; its write is then refused
	sweep   bool           // a verification pass runs at the same time
	look    bool           // the entries of every value are looked at, at any moment
	age     bool           // and again when a horizon has passed
	proxies int            // 1 unless set; the writes take turns
	grace   int            // gc_grace_seconds of the base; 10 days unless set
	break_  func(*breakIn) // what is wrong with it: the tests of the tests
}

// breakIn is where a broken variant of the protocol is put in.
type breakIn struct {
	settings *maintain.Settings
	query    *func(exec.Query) exec.Query // what becomes of each statement of ours
	answer   *func(proxy.Response) proxy.Response
	blind    *bool // time passes for D3 though writes are still under way
}

const rowAt = 12 // timestamp of the row that is there at the beginning: guest a

func to(guest string, ts int64) step {
	return step{text: setGuest, values: [][]byte{str(guest), str("r"), num(1), num(1)}, ts: ts}
}
func null(ts int64) step {
	return step{text: setGuest, values: [][]byte{nil, str("r"), num(1), num(1)}, ts: ts}
}
func remove(ts int64) step {
	return step{text: deleteRow, values: [][]byte{str("r"), num(1), num(1)}, ts: ts}
}
func insert(guest string, ts int64) step {
	return step{text: insertRow, values: [][]byte{str("r"), num(1), num(1), str(guest), str("booked")}, ts: ts}
}
func until(guest string, ts int64) step {
	return step{text: setUntil, values: [][]byte{num(60), str(guest), str("r"), num(1), num(1)}, ts: ts}
}
func unstamped(st step) step {
	st.free = true
	return st
}

// flight is a write that timed out: it is carried out at any later step, or never.
type flight struct {
	label string
	write int // -1: of an entry
	apply func()
}

// mutated is the database as one engine sees it, through what a broken variant makes of its statements.
type mutated struct {
	*exectest.Memory
	change func(exec.Query) exec.Query
}

func (m *mutated) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	return m.Memory.Query(ctx, m.change(q))
}

// Unlogged takes effect write by write, up to the first that is lost: of one partition all do, or none.
func (m *mutated) Unlogged(ctx context.Context, writes []exec.Query) error {
	for _, q := range writes {
		if _, err := m.Query(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// simulation is one run of a scenario.
type simulation struct {
	*world
	scenario
	scheduler *scheduler
	lookup    *match.LookUp
	settings  migrate.Settings
	engines   []*Engine // the proxies
	stops     []func()
	uptime    atomic.Int64
	processes int         // that have crashed
	filled    atomic.Bool // every row needs an entry from here on
	faults    []string

	change func(exec.Query) exec.Query
	answer func(proxy.Response) proxy.Response
	keep   maintain.Settings
	boots  int64

	mu      sync.Mutex
	flights []flight
	over    []bool // writes that were answered, or whose process is gone
	clients sync.WaitGroup
}

// boot starts proxy n.
func (s *simulation) boot(n int) {
	s.boots++
	s.keep.FirstID = s.boots << 20 // the same in each run, so that states are met again
	e, err := New(Options{Session: &mutated{s.db, s.change}, Store: s.store, Traffic: s.world, Bypass: s.bypassed.Store, Schema: s.db.Schema,
		Migrate: s.settings, Kinds: kinds.All(kinds.Settings{LookUp: lookup.Settings{Maintain: s.keep, Verify: verify.Settings{Ranges: 1, Workers: 1, Buckets: 16}}}), Uptime: func() time.Duration { return time.Duration(s.uptime.Load()) }, Every: 1 << 60})
	must(s.t, err)
	must(s.t, e.Restore(context.Background()))
	e.mu.Lock()
	for _, a := range e.active {
		a.shadow.Store(s.putlost) // something rests on its entries
	}
	e.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	s.engines[n], s.stops[n] = e, func() {
		cancel()
		<-done
		e.Close(ctx)
	}
}

// play runs the scenario; choose picks one of n, n > 0. known, if not nil, is told after each choice what happened so far
// (which statements, with which answers, in whatever order) and what waits; if it says that this was met before, the run ends.
func play(t testing.TB, sc scenario, choose func(n int) int, known func(state string) bool) []string {
	s := &simulation{world: newWorld(t), scenario: sc, scheduler: &scheduler{},
		over: make([]bool, len(sc.steps)), engines: make([]*Engine, max(sc.proxies, 1)), stops: make([]func(), max(sc.proxies, 1)),
		change: func(q exec.Query) exec.Query { return q }, answer: func(r proxy.Response) proxy.Response { return r }}
	s.filled.Store(sc.state != migrate.Backfill)
	ctx := context.Background()
	base := stays()
	base.GCGrace = 10 * 24 * 3600
	if sc.grace > 0 {
		base.GCGrace = sc.grace
	}
	s.db.Add(base)
	l, refusal := match.New(advice(t), &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	s.lookup = l
	for _, text := range []string{l.Create("m1 owner " + testOwner), l.CreatePending("m1 owner " + testOwner)} {
		_, err := s.db.Query(ctx, exec.Query{Text: text})
		must(t, err)
	}
	must(t, s.db.Write(insertRow, insert("a", 0).values, rowAt))
	if s.filled.Load() {
		must(t, s.put("a", rowAt))
	}
	state := migrate.Serving
	if sc.state != "" {
		state = sc.state
	}
	must(t, putChange(s.store, &Change{ID: "m1", Owner: testOwner, Rewrite: advice(t), Base: base, State: state, Form: 1, T0: 1, OnEntryFailure: migrate.Refuse}))
	held, release := context.WithCancel(ctx)
	s.barrier = func(ctx context.Context) { // verification begins with it: backfill is done
		s.filled.Store(true)
		select {
		case <-held.Done():
		case <-ctx.Done():
		}
	}
	s.settings = quick()
	s.settings.Ranges, s.settings.SweepFirst = 1, 1000*time.Hour
	s.keep = maintain.Settings{Workers: 1, Queue: 16, Hint: time.Hour, Timeout: time.Hour}
	blind := false
	if sc.break_ != nil {
		sc.break_(&breakIn{&s.keep, &s.change, &s.answer, &blind})
	}
	for n := range s.engines {
		s.boot(n)
	}
	synctest.Wait()
	s.db.Before.Set(s.scheduler.before)

	var done []string
	begun, missing := 0, int64(0)
	if sc.state == migrate.Backfill { // it is under way already
		s.scheduler.ready()
	}
	if sc.sweep {
		s.clients.Go(func() {
			e := s.engines[0] // a pass without the pending rows, whose reads are as many steps as all else together
			result, err := verify.New(e.session, lookUps(e).Maintainer, verify.Settings{Ranges: 1, Workers: 1, Buckets: 16}).Pass(e.life, s.lookup, nil, nil)
			if err == nil {
				missing += result.Missing
			}
		})
	}
	looks, looking, visited := 0, false, -1 // visited: how many writes had begun when the first look ended
	look := func() {
		looks, looking = looks+1, true
		e := s.engines[0] // also when another process has taken its place
		s.clients.Go(func() {
			for _, v := range []string{"a", "b", "c"} {
				_, _ = lookUps(e).Maintainer.Reconcile(e.life, s.lookup, str(v), [][]byte{str("r"), num(1), num(1)})
			}
			looking = false
		})
	}
	crashed := !sc.crash
	for {
		ready := s.scheduler.ready()
		if looks == 1 && !looking && visited < 0 {
			visited = begun
		}
		type option struct {
			label string
			do    func()
		}
		var options []option
		add := func(label string, do func()) { options = append(options, option{label, do}) }
		for _, p := range ready {
			happens := func() {
				if strings.HasPrefix(p.query.Text, "SELECT") {
					a, _ := s.db.Snapshot().Query(ctx, s.change(p.query))
					done = append(done, fmt.Sprintf("%s %q", p.label, a.Rows))
				} else {
					done = append(done, p.label)
				}
				s.scheduler.release(p, nil)
			}
			add(p.label, happens)
			loses := (p.write >= 0 && sc.lost) || (sc.putlost && p.write < 0 && strings.HasPrefix(p.query.Text, "INSERT INTO hotel.stays_by_guest "))
			if loses {
				add("later: "+p.label, func() {
					done = append(done, "later: "+p.label)
					if p.write < 0 {
						s.fly(flight{p.label, -1, func() { s.at(p.query) }})
					}
					s.scheduler.release(p, errLater)
				})
			}
			if loses && p.write >= 0 {
				add("refused: "+p.label, func() {
					done = append(done, "refused: "+p.label)
					s.scheduler.release(p, errInvalid)
				})
			}
		}
		for i, f := range s.flights {
			land := func(how string, apply func()) func() {
				return func() {
					done = append(done, how+f.label)
					s.flights = append(s.flights[:i:i], s.flights[i+1:]...)
					apply()
				}
			}
			add("lands: "+f.label, land("lands: ", f.apply))
			add("never: "+f.label, land("never: ", func() {}))
		}
		if begun < len(sc.steps) { // writes begin in the order of the scenario, at any moment
			add(fmt.Sprint("write ", begun), func() {
				done = append(done, fmt.Sprint("write ", begun))
				s.request(begun)
				begun++
			})
		}
		if sc.look && looks == 0 {
			add("look", func() { done = append(done, "look"); look() })
		}
		if sc.age && looks == 1 && visited >= 0 && (blind || s.quiet(visited)) {
			add("a horizon later", func() {
				done = append(done, "a horizon later")
				s.uptime.Add(int64(30 * 24 * time.Hour))
				look()
			})
		}
		if !crashed && begun > 0 && len(ready) > 0 {
			add("crash", func() {
				crashed = true
				done = append(done, "crash")
				s.crashes(ready)
			})
		}
		if len(options) == 0 {
			break
		}
		if known != nil {
			state := append([]string(nil), done...)
			for _, o := range options {
				state = append(state, "~ "+o.label)
			}
			sort.Strings(state)
			if known(fmt.Sprint(crashed, s.filled.Load(), state)) {
				break
			}
		}
		o := options[choose(len(options))]
		o.do()
		s.check(o.label)
	}
	if missing > 0 {
		s.faults = append(s.faults, fmt.Sprintf("a pass found %d rows missing", missing))
	}
	s.scheduler.stop()
	release()
	synctest.Wait() // who is about to begin has begun
	s.clients.Wait()
	for _, stop := range s.stops {
		stop()
	}
	return s.faults
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes an entry as backfill does.
func (s *simulation) put(guest string, ts int64) error {
	return s.db.Write(s.lookup.Put(), [][]byte{str(guest), str("r"), num(1), num(1), {0}, exec.FromInt64(0), exec.FromInt64(ts)}, ts)
}

// at carries out a statement of the engine's now.
func (s *simulation) at(q exec.Query) {
	st := s.change(q)
	_ = s.db.Write(st.Text, st.Values, 0)
}

func (s *simulation) fly(f flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flights = append(s.flights, f)
}

// quiet tells whether the first n writes, and every put, are over.
func (s *simulation) quiet(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flights {
		if f.write < n {
			return false
		}
	}
	for i := range n {
		if !s.over[i] {
			return false
		}
	}
	return true
}

// crashes ends a process, the one whose statements wait, and begins another.
func (s *simulation) crashes(ready []*waiting) {
	s.scheduler.crash(true)
	s.processes++
	for _, p := range ready {
		if p.write < 0 {
			s.scheduler.release(p, errCrashed)
		}
	}
	for n := range s.engines {
		s.engines[n].end()
		s.stops[n]()
	}
	s.scheduler.crash(false)
	for n := range s.engines {
		s.boot(n)
	}
}

// relay is a fake relay for one write: what is forwarded is carried out on the database, at a step of its own.
type relay struct {
	s       *simulation
	write   int
	process int // of how many
}

func (c *relay) Forward(_ *proxy.Request, f proxy.Forward) {
	if c.process != c.s.processes { // nothing leaves a process that is gone
		c.end()
		return
	}
	c.s.clients.Go(func() {
		s, st := c.s, c.s.steps[c.write]
		ctx := context.WithValue(context.Background(), writeKey{}, c.write)
		err := s.scheduler.before(ctx, exec.Query{Text: st.text, Values: append([][]byte{[]byte(fmt.Sprint(c.write))}, st.values...)})
		response := proxy.Response{Opcode: proxy.OpResult}
		apply := func() { must(s.t, s.db.Write(st.text, st.values, st.ts)) }
		switch {
		case err == nil:
			apply()
		case errors.Is(err, errLater):
			s.fly(flight{fmt.Sprint("write ", c.write), c.write, apply})
			response = proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x1100}
		case errors.Is(err, errInvalid):
			response = proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2200}
		}
		c.end()
		if f.Done != nil {
			f.Done(s.answer(response))
		}
	})
}

func (c *relay) end() {
	c.s.mu.Lock()
	c.s.over[c.write] = true
	c.s.mu.Unlock()
}

func (c *relay) Answer(*proxy.Request, proxy.Rows)  { c.end() }
func (c *relay) Fail(*proxy.Request, int32, string) { c.end() }

// request sends one write through a proxy.
func (s *simulation) request(write int) {
	st, e := s.steps[write], s.engines[write%len(s.engines)]
	r := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: st.text, Consistency: 4, Responder: &relay{s, write, s.processes},
		Prepared: &proxy.Prepared{Text: st.text}}
	if !st.free {
		r.HasTimestamp, r.Timestamp = true, st.ts
	}
	for _, v := range st.values {
		r.Values = append(r.Values, proxy.Value{Bytes: v, Null: v == nil})
	}
	r.Rule = e.Rule("", st.text)
	if r.Rule == nil || !e.Take(r) {
		r.Forward(proxy.Forward{})
	}
}

// check looks for base rows without entry.
func (s *simulation) check(after string) {
	synctest.Wait()
	if !s.filled.Load() {
		return
	}
	now := s.db.Snapshot()
	ctx := context.Background()
	a, err := now.Query(ctx, exec.Query{Text: s.lookup.BaseRow(), Values: [][]byte{str("r"), num(1), num(1)}})
	must(s.t, err)
	for _, row := range a.Rows {
		guest := row[3]
		if guest == nil {
			continue
		}
		e, err := now.Query(ctx, exec.Query{Text: s.lookup.RowEntries(), Values: [][]byte{guest, str("r"), num(1), num(1)}})
		must(s.t, err)
		if len(e.Rows) == 0 {
			s.faults = append(s.faults, fmt.Sprintf("the base holds %q without an entry, after %s", guest, after))
		}
	}
}

// explore plays a scenario with every list of choices, up to a number of runs, and returns how many there were, and what was wrong
// with the first that went wrong.
func explore(t *testing.T, sc scenario, most int) (runs int, faults []string) {
	var choices, widths []int
	met := map[string]bool{}
	for runs < most {
		at, replayed := 0, len(choices)
		faults := play(t, sc, func(n int) int {
			if at == len(choices) {
				choices, widths = append(choices, 0), append(widths, n)
			}
			if widths[at] != n {
				t.Fatalf("the same choices led elsewhere: %v", choices[:at])
			}
			c := choices[at]
			at++
			return c
		}, func(state string) bool {
			if at < replayed {
				return false
			}
			before := met[state]
			met[state] = true
			return before
		})
		runs++
		if len(faults) > 0 {
			return runs, append(faults, fmt.Sprintf("run %d, choices %v", runs, choices[:at]))
		}
		choices, widths = choices[:at], widths[:at]
		for len(choices) > 0 && choices[len(choices)-1] == widths[len(choices)-1]-1 {
			choices = choices[:len(choices)-1]
			widths = widths[:len(choices)]
		}
		if len(choices) == 0 {
			return runs, nil
		}
		choices[len(choices)-1]++
	}
	return runs, nil
}
