package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// ring is a base table of which each part has ten rows, and who filled what.
type ring struct {
	mu     sync.Mutex
	filled map[exec.Range][]string
	order  []time.Time
}

const rowsOfPart = 10

// fills fills a part in a while.
func (r *ring) fills(name string, takes time.Duration) fill {
	return func(ctx context.Context, p exec.Range, next func(context.Context) error) (int64, error) {
		if err := next(ctx); err != nil {
			return 0, err
		}
		if err := sleep.For(ctx, takes); err != nil {
			return 0, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.filled[p] = append(r.filled[p], name)
		r.order = append(r.order, time.Now())
		return rowsOfPart, nil
	}
}

// gang is some members before one store.
type gang struct {
	t     *testing.T
	store *exectest.Store
	ring  ring
}

func newGang(t *testing.T) *gang {
	return &gang{t: t, store: &exectest.Store{}, ring: ring{filled: map[exec.Range][]string{}}}
}

func (g *gang) manager() *Manager {
	return New(Parts{Store: g.store, Now: time.Now, Log: slog.New(slog.DiscardHandler), Shared: true}, Settings{Ranges: 32, Workers: 2})
}

// begin stores the checkpoint of m1, and returns a crew for each name.
func (g *gang) begin(fills ...fill) (all []*crew) {
	g.t.Helper()
	for i, f := range fills {
		m := g.manager()
		if i == 0 {
			if _, err := g.store.Replace(g.t.Context(), KindBackfill, "m1", 0, m.whole()); err != nil {
				g.t.Fatal(err)
			}
		}
		all = append(all, m.crew(&run{id: "m1"}, f))
	}
	return all
}

func (g *gang) checkpoint() checkpoint {
	g.t.Helper()
	list, err := g.store.List(g.t.Context(), KindBackfill)
	if err != nil || len(list) != 1 {
		g.t.Fatal(list, err)
	}
	var c checkpoint
	if err := json.Unmarshal(list[0].Raw, &c); err != nil {
		g.t.Fatal(err)
	}
	return c
}

// all checks that every part of the ring was filled, and each row counted once.
func (g *gang) all() checkpoint {
	g.t.Helper()
	c := g.checkpoint()
	if len(c.Left) != 0 || c.Rows != 32*rowsOfPart {
		g.t.Errorf("%d parts are left, %d rows are counted", len(c.Left), c.Rows)
	}
	g.ring.mu.Lock()
	defer g.ring.mu.Unlock()
	for _, p := range exec.Ring(32) {
		if len(g.ring.filled[p]) == 0 {
			g.t.Errorf("%v was not filled", p)
		}
	}
	return c
}

// start has a crew work, and returns what becomes of it.
func start(ctx context.Context, c *crew) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.work(ctx) }()
	return done
}

// TestTwoFillHalfEach: two members, half the rows each, half the time, no part twice; and what the leader is told counts both.
func TestTwoFillHalfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crews := g.begin(g.ring.fills("a", time.Second), g.ring.fills("b", time.Second))
		var told atomic.Int64 // workers tell
		crews[0].seen = func(c *checkpoint) { told.Store(max(told.Load(), int64(c.Total-len(c.Left)))) }
		began := time.Now()
		a, b := start(t.Context(), crews[0]), start(t.Context(), crews[1])
		if err := errors.Join(<-a, <-b); err != nil {
			t.Fatal(err)
		}
		c := g.all()
		for _, crew := range crews {
			if n := c.By[crew.worker]; n < 14*rowsOfPart || n > 18*rowsOfPart {
				t.Errorf("one of two members filled %d of %d rows", n, c.Rows)
			}
		}
		for p, by := range g.ring.filled {
			if len(by) != 1 {
				t.Errorf("%v was filled by %v", p, by)
			}
		}
		if took := time.Since(began); took > 10*time.Second { // 32 parts, 2 workers each: 8 s, alone 16
			t.Errorf("it took %v", took)
		}
		if told.Load() != int64(32) {
			t.Errorf("the leader knows of %d parts that are done", told.Load())
		}
	})
}

// TestStoppedMemberIsWaitedForOnce: one that stops holds up its own parts, for lease; what it does when it goes on counts nothing twice.
func TestStoppedMemberIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		goesOn := make(chan struct{})
		slow := g.ring.fills("a", 0)
		crews := g.begin(func(ctx context.Context, p exec.Range, next func(context.Context) error) (int64, error) {
			<-goesOn
			return slow(ctx, p, next)
		}, g.ring.fills("b", 100*time.Millisecond))
		// It is stopped as a process is: it says nothing either.
		silent, stop := context.WithCancel(t.Context())
		crews[0].m.Wait = func(ctx context.Context, _ time.Duration) error {
			<-silent.Done()
			return errors.Join(silent.Err(), ctx.Err())
		}
		began := time.Now()
		a := start(t.Context(), crews[0])
		synctest.Wait()
		claimed := 0
		for _, p := range g.checkpoint().Left {
			if p.Owner != "" {
				claimed++
			}
		}
		if claimed == 0 {
			t.Fatal("nothing is claimed")
		}
		if err := <-start(t.Context(), crews[1]); err != nil {
			t.Fatal(err)
		}
		g.all()
		if took := time.Since(began); took < lease || took > 2*lease {
			t.Errorf("the other was done after %v", took)
		}
		if gaps := g.ring.order; len(gaps) < 30 || gaps[29].Sub(began) > 3*time.Second {
			t.Error("the parts that nobody had claimed waited, too")
		}
		close(goesOn)
		synctest.Wait() // it ends the part that it was at before it hears anything
		stop()
		if err := <-a; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		twice := 0
		for _, by := range g.ring.filled {
			if len(by) > 1 {
				twice++
			}
		}
		if twice != claimed {
			t.Errorf("%d parts were filled twice, %d had been claimed", twice, claimed)
		}
		g.all()
	})
}

// One that takes longer than lease and says so is left at it.
func TestSlowMemberIsLeftAtIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crews := g.begin(g.ring.fills("a", 5*lease), g.ring.fills("b", 10*time.Millisecond))
		a := start(t.Context(), crews[0])
		synctest.Wait()
		b := start(t.Context(), crews[1])
		if err := errors.Join(<-a, <-b); err != nil {
			t.Fatal(err)
		}
		g.all()
		for p, by := range g.ring.filled {
			if len(by) != 1 {
				t.Errorf("%v was filled by %v", p, by)
			}
		}
	})
}

// TestLeaderEnds: whoever comes next goes on at once with what is left, and nothing that was done is done again.
func TestLeaderEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crews := g.begin(g.ring.fills("a", time.Second), g.ring.fills("b", time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		if err := <-start(ctx, crews[0]); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if c := g.checkpoint(); c.Rows != 8*rowsOfPart || slices.ContainsFunc(c.Left, func(p part) bool { return p.Owner != "" }) {
			t.Errorf("%d rows, claims %v", c.Rows, c.Left)
		}
		began := time.Now()
		if err := <-start(t.Context(), crews[1]); err != nil {
			t.Fatal(err)
		}
		g.all()
		if took := time.Since(began); took > 13*time.Second { // 24 parts by two workers
			t.Errorf("the rest took %v", took)
		}
	})
}

// TestFailingMember: it gives its part up, in halves if that holds too much, and another fills it.
func TestFailingMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crews := g.begin(func(context.Context, exec.Range, func(context.Context) error) (int64, error) {
			return 0, errors.New("it can not")
		}, g.ring.fills("b", time.Millisecond))
		if err := <-start(t.Context(), crews[0]); err == nil || err.Error() != "it can not" {
			t.Error(err)
		}
		whole := g.checkpoint()
		if len(whole.Left) != 32 {
			t.Errorf("%d parts", len(whole.Left))
		}
		p, err := crews[1].claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := crews[1].release(t.Context(), p, true); err != nil {
			t.Fatal(err)
		}
		crews[1].forget(p)
		if c := g.checkpoint(); c.Total != 33 || len(c.Left) != 33 || c.Left[0].Last != c.Left[1].First {
			t.Errorf("%d parts, the first %v, %v", c.Total, c.Left[0], c.Left[1])
		}
		if err := <-start(t.Context(), crews[1]); err != nil {
			t.Error(err)
		}
		if c := g.checkpoint(); len(c.Left) != 0 || c.Rows != 33*rowsOfPart {
			t.Errorf("%d parts left, %d rows", len(c.Left), c.Rows)
		}
	})
}

// No more than helpers fill at a time, and they share the rate that a person has allowed.
func TestHelpersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		var fills []fill
		for range 2 * helpers {
			fills = append(fills, g.ring.fills("x", time.Second))
		}
		crews := g.begin(fills...)
		for _, c := range crews {
			_, err := c.claim(t.Context())
			if busy := errors.Is(err, errBusy); err != nil && !busy {
				t.Fatal(err)
			}
		}
		owners := map[string]bool{}
		c := g.checkpoint()
		for _, p := range c.Left {
			if p.Owner != "" {
				owners[p.Owner] = true
			}
		}
		if len(owners) != helpers || crews[helpers-1].pace.among != helpers {
			t.Errorf("%d fill, and share the rate as %d", len(owners), crews[helpers-1].pace.among)
		}
	})
}

// Claims that nobody is at, as each attempt leaves some whose answer was lost, keep nobody from filling, however many they are.
func TestManyLeftTheirClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crews := g.begin(make([]fill, 3*helpers)...)
		for _, c := range crews[:helpers] {
			if _, err := c.claim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		left := g.checkpoint() // more than may be at it, as when these came after those had been silent for long
		for i := range 2 * helpers {
			left.Left[helpers+i].Owner, left.Left[helpers+i].Beat = crews[helpers+i].worker, 1
		}
		if err := g.store.Save(t.Context(), KindBackfill, "m1", &left); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		last := g.manager().crew(&run{id: "m1"}, g.ring.fills("b", time.Millisecond))
		if err := <-start(ctx, last); err != nil {
			t.Fatal(err)
		}
		g.all()
		if took := time.Since(began); took > 2*lease {
			t.Errorf("it took %v", took)
		}
	})
}

// A checkpoint of one process is read by a fleet, and the other way round.
func TestCheckpointIsTheSame(t *testing.T) {
	var c checkpoint
	if err := json.Unmarshal([]byte(`{"total":4,"left":[{"first":-5,"last":7}],"rows":3}`), &c); err != nil || len(c.Left) != 1 || c.Left[0].Range != (exec.Range{First: -5, Last: 7}) {
		t.Error(c, err)
	}
	raw, err := json.Marshal(&c)
	if err != nil || string(raw) != `{"total":4,"left":[{"first":-5,"last":7}],"rows":3}` {
		t.Errorf("%s, %v", raw, err)
	}
}
