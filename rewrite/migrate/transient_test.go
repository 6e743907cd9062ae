package migrate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// errLate is what a state says that is too slow.
var errLate = fmt.Errorf("write to keyspace helenus: %w", &gocql.RequestErrWriteTimeout{})

// flaky is a state of which one request in so many times out: before it was carried out, or after.
type flaky struct {
	*exectest.Store
	one int

	mu     sync.Mutex
	random *rand.Rand
	failed int
	whole  int // requests
}

// late tells whether a request times out, and whether it is carried out nevertheless.
func (f *flaky) late() (late, carried bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole++
	if f.random.IntN(f.one) > 0 {
		return false, true
	}
	f.failed++
	return true, f.random.IntN(2) == 0
}

func (f *flaky) Document(ctx context.Context, kind, id string) (*store.Document, error) {
	if late, _ := f.late(); late {
		return nil, errLate
	}
	return f.Store.Document(ctx, kind, id)
}

func (f *flaky) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	late, carried := f.late()
	var err error
	if carried {
		version, err = f.Store.Replace(ctx, kind, id, version, v, entries...)
	}
	if late {
		return 0, errLate
	}
	return version, err
}

var _ change.Shared = (*flaky)(nil)

// TestTimeOutsOfTheStateEndNoWork: whatever of it times out, carried out or not, no worker ends, and each part is counted once; and is filled once, and none waits for lease, unless one
// request times out attempts times.
func TestTimeOutsOfTheStateEndNoWork(t *testing.T) {
	for _, one := range []int{20, 3} {
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				g := newGang(t)
				crews := g.begin(g.ring.fills("a", time.Second), g.ring.fills("b", time.Second))
				sometimes := &flaky{Store: g.store, random: rand.New(rand.NewPCG(seed, 5)), one: one} //nolint:gosec // seeded on purpose
				for _, c := range crews {
					c.m.Store = sometimes
				}
				began := time.Now()
				a, b := start(t.Context(), crews[0]), start(t.Context(), crews[1])
				err := errors.Join(<-a, <-b)
				if often := one < 10; often {
					g.leftTo(err)
					return
				}
				if err != nil {
					t.Fatalf("seed %d: after %d of %d requests: %v", seed, sometimes.failed, sometimes.whole, err)
				}
				g.all()
				for p, by := range g.ring.filled {
					if len(by) != 1 {
						t.Errorf("seed %d: %v was filled by %v", seed, p, by)
					}
				}
				// 32 parts by four workers are 8 s, in simulated time; a claim that is lost costs lease.
				if took := time.Since(began); took > 8*time.Second+lease || sometimes.failed == 0 {
					t.Errorf("seed %d: it took %v, with %d of %d requests too late", seed, took, sometimes.failed, sometimes.whole)
				}
			})
		}
	}
}

// leftTo has one that nothing fails fill what others have left who may have ended, and checks that all is as if nothing had failed.
func (g *gang) leftTo(err error) {
	g.t.Helper()
	if err != nil && !errors.Is(err, errLate) {
		g.t.Error(err)
	}
	if err := <-start(g.t.Context(), g.manager().crew(&run{id: "m1"}, g.ring.fills("c", time.Millisecond))); err != nil {
		g.t.Error(err)
	}
	g.all()
}

// TestAStateThatIsAwayEndsWork: attempts are bounded, and what is known by then is given back.
func TestAStateThatIsAwayEndsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		crew := g.begin(g.ring.fills("a", time.Second))[0]
		away := &flaky{Store: g.store, random: rand.New(rand.NewPCG(1, 1)), one: 1} //nolint:gosec // seeded on purpose
		crew.m.Store = away
		if err := <-start(t.Context(), crew); !errors.Is(err, errLate) {
			t.Error(err)
		}
		if away.whole != attempts*crew.m.settings.Workers { // a beat is due after that only
			t.Errorf("%d requests", away.whole)
		}
		if len(g.ring.filled) > 0 || len(crew.mine) > 0 {
			t.Errorf("%d parts were filled, %d are claimed", len(g.ring.filled), len(crew.mine))
		}
	})
}

// TestTimeOutsOfAPartEndNoWork: of a member that now and then can not fill a part the workers go on, and of one that never can they end.
func TestTimeOutsOfAPartEndNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGang(t)
		fills, calls := g.ring.fills("a", time.Second), atomic.Int32{}
		crew := g.begin(func(ctx context.Context, p exec.Range, next func(context.Context) error) (int64, error) {
			if calls.Add(1)%3 == 0 {
				return 0, fmt.Errorf("backfill shop.orders: %w", &gocql.RequestErrReadTimeout{})
			}
			return fills(ctx, p, next)
		})[0]
		if err := <-start(t.Context(), crew); err != nil {
			t.Fatal(err)
		}
		c := g.checkpoint()
		if len(c.Left) > 0 || c.Total <= 32 || c.Rows != int64(c.Total*rowsOfPart) { // what timed out was cut in two
			t.Errorf("%d of %d parts are left, %d rows are counted", len(c.Left), c.Total, c.Rows)
		}
	})
}

// TestWhatMayPass: what is tried again, and what is not.
func TestWhatMayPass(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err error
		may bool
	}{
		{nil, false}, {errLate, true}, {&gocql.RequestErrReadTimeout{}, true}, {exec.ErrNoConnection, true}, {gocql.ErrTimeoutNoResponse, true}, {context.DeadlineExceeded, true},
		{errFilled, false}, {errBusy, false}, {errElsewhere, false}, {fmt.Errorf("save: %w", store.ErrConflict), false}, {fmt.Errorf("load: %w", store.ErrNotFound), false},
		{&ErrPending{Cause: errLate}, false}, {&stop{to: Failed}, false}, {&ErrOwnership{}, false}, {&change.MoveError{}, false}, {exec.ErrTooManyRows, false},
	} {
		if transient(t.Context(), c.err) != c.may || transient(over, c.err) {
			t.Errorf("%v may pass: %t", c.err, !c.may)
		}
	}
}

// TestWhatWasFoundIsSavedAgain: a time-out does not have it found out again, nor counted twice.
func TestWhatWasFoundIsSavedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &exectest.Store{}
		m := New(Parts{Store: s, Now: time.Now}, Settings{})
		r := &run{id: "m", m: Change{ID: "m", State: Verify}}
		failures := 0
		s.Before.Set(func(string, string) error {
			if failures++; failures <= 3 {
				return errLate
			}
			return nil
		})
		if err := m.record(t.Context(), r, func(x *Change) { x.Passes++ }); err != nil {
			t.Fatal(err)
		}
		if c, ok := m.Changes.Record("m"); !ok || r.m.Passes != 1 || c.Work == nil || failures != 4 {
			t.Errorf("%d passes are counted after %d attempts", r.m.Passes, failures)
		}
	})
}
