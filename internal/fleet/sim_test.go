package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// A world is a state in memory, members with their own clocks' reading of one time, and a scheduler that lets one of them take one step at a time: a step is one request to the
// state, or a wait. It decides who goes on, who stands still (as by SIGSTOP, with a request decided on and not sent), who can not reach the state, and which requests time
// out, to be carried out later or never.
type world struct {
	rand   *rand.Rand
	now    time.Duration
	wait   []*task       // in no order
	late   []func()      // requests that timed out, and may be carried out at any time
	parked chan struct{} // is told when the goroutine that runs waits, or has ended

	documents map[store.Key]store.Document
	epoch     int64
	beats     map[string]json.RawMessage
	counters  map[string]int64

	actors  []*actor
	unseen  int    // writes without entry that no pass has found yet
	harm    string // the first breach
	served  int    // answers that were looked at
	history []string
}

// task is a goroutine that waits to be let go on.
type task struct {
	of  *actor
	at  time.Duration // not before
	run chan struct{}
}

// phase is what members do for the one change of this world.
type phase int

// The phases: nothing, entries, and entries and answers.
const (
	nothing phase = iota
	entries
	answers
)

const kindPhase = "phase"

// stored is the change as the state has it.
type stored struct {
	Phase phase
	Back  bool // it is being rolled back: from entries to nothing
	Order int  // orders to verify so far: each is another version
}

// actor is a process: a real Member, and a model of what an engine does.
type actor struct {
	w        *world
	name     string
	m        *Member
	is       stored
	rules    uint64
	turning  int // reads were turned back here, and that is not stored yet
	flying   map[int]bool
	writes   int
	dead     bool
	paused   time.Duration // stands still until
	cut      time.Duration // can not reach the state until
	jam      time.Duration // has no transaction carried out until
	joined   bool
	blind    bool // mutant: follows nothing
	hasty    bool // mutant: does not wait for the others before it forwards
	careless bool // mutant: a leader that waits for nobody
	loud     bool // mutant: beats while it withholds
	open     bool // mutant: its barrier waits for nothing
}

func (w *world) note(a *actor, format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf("%v %s ", w.now, a.name)+fmt.Sprintf(format, args...))
	if len(w.history) > 60 {
		w.history = w.history[1:]
	}
}

// step waits until the scheduler lets an actor go on.
func (a *actor) step(ctx context.Context, at time.Duration) error {
	t := &task{of: a, at: at, run: make(chan struct{})}
	a.w.wait = append(a.w.wait, t)
	a.w.parked <- struct{}{}
	<-t.run
	if a.dead {
		return context.Canceled
	}
	return ctx.Err()
}

// spawn begins a goroutine of an actor as soon as the scheduler lets it.
func (a *actor) spawn(f func()) {
	t := &task{of: a, run: make(chan struct{})}
	a.w.wait = append(a.w.wait, t)
	go func() {
		<-t.run
		if !a.dead {
			f()
		}
		a.w.parked <- struct{}{}
	}()
}

// next lets one goroutine go on, or the time; false: none is left.
func (w *world) next() bool {
	var can []*task
	soonest := time.Duration(1 << 62)
	for _, t := range w.wait {
		at := max(t.at, t.of.paused)
		if t.of.dead {
			at = 0
		}
		if at <= w.now {
			can = append(can, t)
		}
		soonest = min(soonest, at)
	}
	if len(can) == 0 {
		w.now = soonest
		return len(w.wait) > 0
	}
	t := can[w.rand.IntN(len(can))]
	w.wait = slices.DeleteFunc(w.wait, func(x *task) bool { return x == t })
	if w.rand.IntN(3) == 0 {
		w.now += time.Duration(w.rand.Int64N(int64(10 * time.Millisecond)))
	}
	if len(w.late) > 0 && w.rand.IntN(200) == 0 {
		n := w.rand.IntN(len(w.late))
		w.late[n]()
		w.late = slices.Delete(w.late, n, n+1)
	}
	close(t.run)
	<-w.parked
	return true
}

var errCut = errors.New("the state can not be reached")

// request is one request to the state. One that is lost may be carried out, now, later or never.
func (a *actor) request(ctx context.Context, write bool, do func() error) error {
	if err := a.step(ctx, 0); err != nil {
		return err
	}
	w := a.w
	if w.now < a.cut {
		if write && w.rand.IntN(3) == 0 {
			w.late = append(w.late, func() { _ = do() })
		}
		return errCut
	}
	if write && w.rand.IntN(25) == 0 {
		switch w.rand.IntN(3) {
		case 0:
			_ = do()
		case 1:
			w.late = append(w.late, func() { _ = do() })
		}
		return errors.New("a timeout")
	}
	return do()
}

// It implements Store.

func (a *actor) Epoch(ctx context.Context) (n int64, err error) {
	err = a.request(ctx, false, func() error { n = a.w.epoch; return nil })
	return n, err
}

func (a *actor) List(ctx context.Context, kind string) (out []store.Document, err error) {
	err = a.request(ctx, false, func() error {
		for _, d := range a.w.documents {
			if d.Kind == kind {
				out = append(out, d)
			}
		}
		slices.SortFunc(out, func(x, y store.Document) int { return strings.Compare(x.ID, y.ID) })
		return nil
	})
	return out, err
}

func (a *actor) Replace(ctx context.Context, kind, id string, version int64, v any, _ ...store.Entry) (int64, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	return version + 1, a.request(ctx, true, func() error {
		if a.w.now < a.jam {
			return errCut
		}
		k := store.Key{Kind: kind, ID: id}
		if a.w.documents[k].Version != version {
			return store.ErrConflict
		}
		a.w.documents[k] = store.Document{Kind: kind, ID: id, Version: version + 1, Raw: raw}
		a.w.epoch++
		return nil
	})
}

func (a *actor) Remove(ctx context.Context, kind, id string, version int64, _ ...store.Entry) error {
	return a.request(ctx, true, func() error {
		k := store.Key{Kind: kind, ID: id}
		if a.w.documents[k].Version != version {
			return store.ErrConflict
		}
		delete(a.w.documents, k)
		a.w.epoch++
		return nil
	})
}

func (a *actor) Beat(ctx context.Context, member string, counter int64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.request(ctx, true, func() error {
		if a.w.counters[member] <= counter {
			a.w.beats[member], a.w.counters[member] = raw, counter
		}
		return nil
	})
}

func (a *actor) Beats(ctx context.Context) (out map[string]json.RawMessage, err error) {
	err = a.request(ctx, false, func() error { out = maps.Clone(a.w.beats); return nil })
	return out, err
}

func (a *actor) Silence(context.Context, string, int64) error { return nil }

func (a *actor) Raise(context.Context, int) error { return nil }

// change reads the change as it is stored.
func (a *actor) change(ctx context.Context) (s stored, version int64, err error) {
	list, err := a.List(ctx, kindPhase)
	if err != nil || len(list) == 0 {
		return s, 0, err
	}
	return s, list[0].Version, json.Unmarshal(list[0].Raw, &s)
}

// follow takes on the change as it is stored. A member that has turned it back stays turned back until that is stored.
func (a *actor) follow(ctx context.Context) error {
	s, _, err := a.change(ctx)
	if err == nil && !a.blind {
		a.enter(s)
	}
	return err
}

func (a *actor) enter(s stored) {
	if a.is != s {
		a.is = s
		a.rules++
	}
}

// reverify stores that the change is verified before it answers.
func (a *actor) reverify(ctx context.Context, _ string) error {
	for {
		s, version, err := a.change(ctx)
		if err != nil || s.Phase == nothing {
			return err
		}
		s.Phase, s.Order = entries, s.Order+1
		switch _, err = a.Replace(ctx, kindPhase, kindPhase, version, s); {
		case err == nil:
			a.enter(s)
			return nil
		case !errors.Is(err, store.ErrConflict):
			return err
		}
	}
}

// barrier waits until the writes under way have ended.
func (a *actor) barrier(ctx context.Context) error {
	before := maps.Clone(a.flying)
	for id := range before {
		for a.flying[id] && !a.open {
			if err := a.step(ctx, a.w.now+10*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// write is a write of an application. Now and then it is one that can not be followed: then reads are turned back everywhere before it goes on.
func (a *actor) write(ctx context.Context) {
	w := a.w
	a.writes++
	id := a.writes
	a.flying[id] = true
	defer delete(a.flying, id)
	known := a.is.Phase
	unseen := known == nothing
	if known != nothing && w.rand.IntN(25) == 0 {
		unseen = true
		a.turning++
		a.rules++
		done := make(chan struct{})
		a.spawn(func() {
			for a.reverify(ctx, "") != nil {
				if a.step(ctx, w.now+100*time.Millisecond) != nil {
					return
				}
			}
			a.rules++
			a.turning--
			close(done)
		})
		if !a.hasty && a.m.Quiet(ctx, done) != nil {
			return
		}
	}
	if a.step(ctx, w.now+time.Duration(w.rand.Int64N(int64(50*time.Millisecond)))) != nil && w.rand.IntN(2) == 0 {
		return // it died before it sent it
	}
	if unseen {
		w.unseen++
		w.note(a, "wrote without entry, knowing phase %d", known)
	}
}

// drive is the leader's work: up, and now and then back.
func (a *actor) drive(ctx context.Context) {
	w := a.w
	for a.step(ctx, w.now+100*time.Millisecond) == nil {
		if !a.m.Leads() {
			continue
		}
		s, version, err := a.change(ctx)
		if err != nil {
			continue
		}
		next := s
		switch {
		case s.Phase == nothing:
			next = stored{Phase: entries, Order: s.Order + 1}
		case s.Phase == entries && a.barrierOfAll(ctx) != nil:
			continue
		case s.Phase == entries && s.Back:
			next = stored{Phase: nothing, Order: s.Order + 1}
		case s.Phase == entries:
			w.unseen = 0 // a pass: what was written without entry is found
			next.Phase = answers
		case w.rand.IntN(40) == 0:
			next = stored{Phase: entries, Back: true, Order: s.Order + 1}
		default:
			continue
		}
		w.note(a, "stores %v over %v", next, s)
		if _, err := a.Replace(ctx, kindPhase, kindPhase, version, next); err == nil && next.Phase > s.Phase {
			a.enter(next)
		}
	}
}

func (a *actor) barrierOfAll(ctx context.Context) error {
	if a.careless {
		return nil
	}
	if err := a.barrier(ctx); err != nil {
		return err
	}
	waiting := 0
	return a.m.Barrier(ctx, func(string) { waiting++ })
}

// live is a process from its start on.
func (a *actor) live(ctx context.Context, connected func() map[string]bool) {
	w := a.w
	alone, err := a.m.Join(ctx)
	if err != nil {
		return
	}
	if alone && a.reverify(ctx, "") != nil {
		return
	}
	a.joined = true
	w.note(a, "joined, alone: %v, phase %d", alone, a.is.Phase)
	a.spawn(func() { a.drive(ctx) })
	a.spawn(func() {
		for a.step(ctx, w.now+time.Duration(w.rand.Int64N(int64(400*time.Millisecond)))) == nil {
			a.spawn(func() { a.write(ctx) })
		}
	})
	a.spawn(func() {
		absent := map[string]int{}
		for a.step(ctx, w.now+time.Second) == nil {
			if a.m.Leads() {
				_ = a.m.ReapOnce(ctx, absent)
			}
		}
	})
	a.m.Run(ctx)
}

// check looks for an answer that may lack a row.
func (w *world) check() {
	for _, r := range w.actors {
		if r.dead || !r.joined || w.now < r.paused || r.is.Phase != answers || r.turning > 0 || !r.m.Serving() {
			continue
		}
		w.served++
		if w.unseen > 0 && w.harm == "" {
			w.harm = fmt.Sprintf("%v: %s answers, and lacks what was written without entry\n%s", w.now, r.name, strings.Join(w.history, "\n"))
		}
	}
}

// start adds a process.
func (w *world) start(spoil func(*actor)) *actor {
	a := &actor{w: w, name: fmt.Sprintf("m%d", len(w.actors)+1), flying: map[int]bool{}}
	spoil(a)
	connected := func(context.Context) (map[string]bool, error) {
		all := map[string]bool{}
		for _, x := range w.actors {
			if !x.dead {
				all[x.name] = true
			}
		}
		return all, nil
	}
	ctx := context.Background()
	reverify := a.reverify
	a.m = New(Options{
		Store: a, ID: a.name, Address: a.name, Form: 1,
		Truth: Truth{
			Follow: []func(context.Context) error{a.follow}, Rules: func() uint64 { return a.rules }, Barrier: a.barrier, Blocked: func() string { return "" },
			Withholding: func() bool { return a.turning > 0 && !a.loud }, Reverify: func(ctx context.Context, why string) error { return reverify(ctx, why) }, Connected: connected,
		},
		Now: func() time.Duration { return w.now }, Time: func() time.Time { return time.Unix(0, int64(w.now)) },
		Beside: a.spawn, Wait: func(ctx context.Context, d time.Duration) error { return a.step(ctx, w.now+d) },
	})
	w.actors = append(w.actors, a)
	a.spawn(func() { a.live(ctx, nil) })
	return a
}

// play runs a world for a while: processes come, stand still, are cut off and die.
func play(seed uint64, length time.Duration, spoil func(*actor)) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 7)), documents: map[store.Key]store.Document{}, beats: map[string]json.RawMessage{}, counters: map[string]int64{}, parked: make(chan struct{})}
	for range 2 + w.rand.IntN(2) {
		w.start(spoil)
	}
	trouble := 3 * time.Second
	for w.now < length && w.harm == "" && w.next() {
		w.check()
		if w.now < trouble || w.now > length*3/4 {
			continue
		}
		trouble = w.now + time.Duration(w.rand.Int64N(int64(9*time.Second)))
		a := w.actors[w.rand.IntN(len(w.actors))]
		span := time.Duration(w.rand.Int64N(int64(9 * time.Second)))
		switch w.rand.IntN(6) {
		case 5:
			a.jam = w.now + span
			w.note(a, "has no transaction for %v", span)
		case 0:
			a.paused = w.now + span
			w.note(a, "stands still for %v", span)
		case 1, 2:
			a.cut = w.now + span
			w.note(a, "is cut off for %v", span)
		case 3:
			a.dead = true
			w.note(a, "dies")
		case 4:
			if len(w.actors) < 6 {
				w.note(w.start(spoil), "starts")
			}
		}
	}
	for _, a := range w.actors { // goroutines end
		a.dead = true
	}
	for w.next() {
	}
	return w
}
