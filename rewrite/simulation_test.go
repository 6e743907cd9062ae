package rewrite

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/match"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// The tests of this file drive the real engine, maintainer, backfill and sweeper over a database in memory, and decide
// at every step which of the statements that wait takes effect next. They are the port of design/sim to the code itself.
// Exploring means to run a scenario again and again, each time with another list of choices, until all lists were tried.

var errCrashed = errors.New("the process is gone")

// pending is a statement that waits for its turn.
type pending struct {
	label string
	query exec.Query
	own   bool // of the engine; lost when its process crashes
	turn  chan error
}

// scheduler lets one statement take effect at a time.
type scheduler struct {
	mu      sync.Mutex
	fresh   []*pending // came since the last look
	waiting []*pending
	came    map[string]int // by label
	off     bool           // everything takes effect at once
	dead    bool           // the process is crashing: nothing of its own takes effect any more
}

type applicationKey struct{}

func (s *scheduler) before(ctx context.Context, q exec.Query) error {
	p := &pending{label: fmt.Sprintf("%s %q", q.Text, q.Values), query: q, own: ctx.Value(applicationKey{}) == nil, turn: make(chan error, 1)}
	s.mu.Lock()
	if s.off || (p.own && s.dead) {
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
func (s *scheduler) ready() []*pending {
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
	return append([]*pending(nil), s.waiting...)
}

func (s *scheduler) release(p *pending, err error) {
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

// step is one request of an application.
type step struct {
	text   string
	values [][]byte
	ts     int64 // of the request, microseconds; relative to the start unless absolute
}

type scenario struct {
	name   string
	steps  []step
	state  migrate.State // Serving, or Backfill: then the rows there have no entries yet
	crash  bool          // the process may crash, once, at any step; another one takes over
	sweep  bool          // a verification pass runs at the same time
	later  time.Duration // before the steps begin
	before []step        // carried out one after the other first
}

func to(guest string, ts int64) step {
	return step{setGuest, [][]byte{str(guest), str("r"), num(1), num(1)}, ts}
}
func null(ts int64) step {
	return step{setGuest, [][]byte{nil, str("r"), num(1), num(1)}, ts}
}
func remove(ts int64) step { return step{deleteRow, [][]byte{str("r"), num(1), num(1)}, ts} }
func insert(guest string, ts int64) step {
	return step{insertRow, [][]byte{str("r"), num(1), num(1), str(guest), str("booked")}, ts}
}

var scenarios = []scenario{
	{name: "two changes", steps: []step{to("b", 10), to("c", 20)}},
	{name: "two changes, the older last", steps: []step{to("b", 20), to("c", 10)}},
	{name: "two changes at one timestamp", steps: []step{to("b", 10), to("c", 10)}},
	{name: "change and delete", steps: []step{to("b", 10), remove(20)}},
	{name: "delete and insert", steps: []step{remove(10), insert("b", 20)}},
	{name: "delete and insert of the same value", steps: []step{remove(10), insert("a", 20)}},
	{name: "to null and back", steps: []step{null(10), to("a", 20)}},
	{name: "away and back", steps: []step{to("b", 10), to("a", 20)}},
	{name: "back by an older timestamp", steps: []step{to("b", 20), to("a", 10)}},
	{name: "the application's own time", before: []step{insert("a", -1<<50+1), remove(-1<<50 + 2)}, later: 5 * time.Hour, sweep: true,
		steps: []step{insert("a", -1<<50+3)}},
	{name: "change and sweep", steps: []step{to("b", 10)}, sweep: true},
	{name: "delete and sweep after the horizon", before: []step{remove(5)}, later: 5 * time.Hour, steps: []step{insert("a", 6*3600e6)}, sweep: true},
	{name: "change and backfill", steps: []step{to("b", 10)}, state: migrate.Backfill},
	{name: "away and back and backfill", steps: []step{to("b", 10), to("a", 20)}, state: migrate.Backfill},
	{name: "delete, insert and backfill", steps: []step{remove(10), insert("a", 20)}, state: migrate.Backfill},
	{name: "two changes and a crash", steps: []step{to("b", 10), to("c", 20)}, crash: true},
	{name: "away, back and a crash", steps: []step{to("b", 10), to("a", 20)}, crash: true},
	{name: "delete, insert and a crash", steps: []step{remove(10), insert("a", 20)}, crash: true},
	{name: "change, backfill and a crash", steps: []step{to("b", 10)}, state: migrate.Backfill, crash: true},
	{name: "change, sweep and a crash", steps: []step{to("b", 10)}, sweep: true, crash: true},
}

// simulation is one run of a scenario.
type simulation struct {
	*world
	scenario
	scheduler *scheduler
	start     int64
	filled    bool // every row needs an entry from here on
	faults    []string
}

func (s *simulation) ts(n int64) int64 {
	if n <= -1<<49 { // a time of the application's own: a small number
		return n + 1<<50
	}
	return s.start + n
}

// play runs the scenario; choose picks one of n, n > 0. known, if not nil, is told after each choice what happened so far
// (which statements, with which answers, in whatever order) and what waits; if it says that this was met before, the run ends.
func play(t testing.TB, sc scenario, choose func(n int) int, known func(state string) bool) []string {
	s := &simulation{world: newWorld(t), scenario: sc, scheduler: &scheduler{}, start: time.Now().UnixMicro(), filled: sc.state != migrate.Backfill}
	ctx := context.Background()
	base := stays()
	lookup, refusal := match.New(advice(t), &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if _, err := s.db.Query(ctx, exec.Query{Text: lookup.Create("m1 owner " + testOwner)}); err != nil {
		t.Fatal(err)
	}
	if len(sc.before) == 0 {
		must(t, s.db.Write(insertRow, insert("a", 0).values, s.start-1000))
		if s.filled {
			must(t, s.put(lookup, "a", s.start-500))
		}
	}
	state := migrate.Serving
	if sc.state != "" {
		state = sc.state
	}
	must(t, s.store.Save(ctx, migrate.KindMigration, "m1", &Migration{ID: "m1", Owner: testOwner, LookUp: advice(t), Base: base, State: state, T0: s.start - 500}))
	held, release := context.WithCancel(ctx)
	s.barrier = func(ctx context.Context) { // verification begins with it: backfill is done
		s.filled = true
		select {
		case <-held.Done():
		case <-ctx.Done():
		}
	}
	settings := quick()
	settings.Ranges, settings.SweepFirst = 1, 1000*time.Hour
	settings.Verify.Ranges, settings.Verify.Workers = 1, 1
	if len(sc.before) == 0 {
		s.db.Before.Set(s.scheduler.before)
	}
	s.boot(settings)
	for _, b := range sc.before {
		s.request(ctx, b)
		synctest.Wait()
	}
	time.Sleep(sc.later)
	synctest.Wait()
	s.db.Before.Set(s.scheduler.before)
	var clients sync.WaitGroup
	for _, st := range sc.steps {
		clients.Add(1)
		go func() { defer clients.Done(); s.request(ctx, st) }()
		s.scheduler.ready()
	}
	missing := int64(0)
	sweep := func() {
		if sc.sweep {
			clients.Add(1)
			go func() {
				defer clients.Done()
				result, err := s.engine.manager.CheckOnce(s.engine.life, "m1")
				if err == nil {
					missing += result.Missing
				}
			}()
		}
	}
	sweep()
	crashed := !sc.crash
	var done []string
	for {
		ready := s.scheduler.ready()
		if len(ready) == 0 {
			break
		}
		if known != nil {
			state := append([]string(nil), done...)
			for _, p := range ready {
				state = append(state, "~ "+p.label)
			}
			sort.Strings(state)
			if known(fmt.Sprint(crashed, s.filled, state)) {
				break
			}
		}
		options := len(ready)
		if !crashed {
			options++
		}
		i := choose(options)
		if i == len(ready) {
			crashed = true
			s.scheduler.crash(true)
			for _, p := range ready {
				if p.own {
					s.scheduler.release(p, errCrashed)
				}
			}
			s.engine.end()
			s.stop()
			s.scheduler.crash(false)
			done = append(done, "crash")
			s.boot(settings)
			sweep()
			continue
		}
		happened := ready[i].label
		if strings.HasPrefix(ready[i].query.Text, "SELECT") {
			a, _ := s.db.Snapshot().Query(ctx, ready[i].query)
			happened += fmt.Sprintf(" %q", a.Rows)
		}
		done = append(done, happened)
		s.scheduler.release(ready[i], nil)
		s.check(lookup, ready[i].label)
	}
	if missing > 0 {
		s.faults = append(s.faults, fmt.Sprintf("a pass found %d rows missing", missing))
	}
	s.scheduler.stop()
	release()
	clients.Wait()
	s.stop()
	return s.faults
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) put(l *match.LookUp, guest string, ts int64) error {
	_, err := w.db.Query(context.Background(), exec.Query{Text: l.Put(), Values: [][]byte{str(guest), str("r"), num(1), num(1), exec.FromInt64(ts)}})
	return err
}

// request sends one step through the engine of the moment.
func (s *simulation) request(ctx context.Context, st step) {
	c := &client{w: s.world, ctx: context.WithValue(ctx, applicationKey{}, true), done: make(chan answer, 1)}
	r := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: st.text, Consistency: 1, Responder: c, HasTimestamp: true,
		Timestamp: s.ts(st.ts), Prepared: &proxy.Prepared{Text: st.text}}
	for _, v := range st.values {
		r.Values = append(r.Values, proxy.Value{Bytes: v, Null: v == nil})
	}
	r.Rule = s.engine.Rule("", st.text)
	if r.Rule == nil || !s.engine.Take(r) {
		c.Forward(r, proxy.Forward{})
	}
	<-c.done
}

// check looks for base rows without entry.
func (s *simulation) check(l *match.LookUp, after string) {
	synctest.Wait()
	if !s.filled {
		return
	}
	now := s.db.Snapshot()
	ctx := context.Background()
	a, err := now.Query(ctx, exec.Query{Text: l.BaseRow(), Values: [][]byte{str("r"), num(1), num(1)}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range a.Rows {
		guest := row[3]
		if guest == nil {
			continue
		}
		e, err := now.Query(ctx, exec.Query{Text: l.Entry(), Values: [][]byte{guest, str("r"), num(1), num(1)}})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(e.Rows) == 0 {
			s.faults = append(s.faults, fmt.Sprintf("the base holds %q without an entry, after %s", guest, after))
		}
	}
}

// explore plays a scenario with every list of choices, and returns how many there are.
func explore(t *testing.T, sc scenario, most int) (runs int) {
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
			t.Fatalf("run %d, choices %v: %v", runs, choices[:at], faults)
		}
		choices, widths = choices[:at], widths[:at]
		for len(choices) > 0 && choices[len(choices)-1] == widths[len(choices)-1]-1 {
			choices = choices[:len(choices)-1]
			widths = widths[:len(choices)]
		}
		if len(choices) == 0 {
			return runs
		}
		choices[len(choices)-1]++
	}
	return runs
}

// Invariant I1 in all interleavings that differ in what a statement answers.
func TestEveryInterleaving(t *testing.T) {
	const most = 20000
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := explore(t, sc, most)
				t.Logf("%d interleavings", runs)
				if runs == most {
					t.Error("too many to try them all")
				}
			})
		})
	}
}

// Invariant I1 in random interleavings of random requests: up to four writers on one row, a crash, backfill or a sweep.
func TestRandomInterleavings(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sc := scenario{name: "random", crash: rapid.Bool().Draw(r, "crash"), sweep: rapid.Bool().Draw(r, "sweep")}
		if rapid.Bool().Draw(r, "backfill") {
			sc.state, sc.sweep = migrate.Backfill, false
		}
		for range rapid.IntRange(2, 4).Draw(r, "writers") {
			ts := int64(rapid.IntRange(1, 6).Draw(r, "ts"))
			guest := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "guest")
			kind := rapid.IntRange(0, 3).Draw(r, "kind")
			sc.steps = append(sc.steps, []step{to(guest, ts), insert(guest, ts), null(ts), remove(ts)}[kind])
		}
		choices := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 60, 60).Draw(r, "choices")
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			at := 0
			faults = play(t, sc, func(n int) int { at++; return choices[at%len(choices)] % n }, nil)
		})
		if len(faults) > 0 {
			r.Fatal(faults)
		}
	})
}
