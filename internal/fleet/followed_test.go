package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// TestFollowedBesideAnEarlierBuild: what was stored before a moment is followed by all once each has said so of an epoch that was found later, and by nobody any more once a member
// is there that need not wait for others.
func TestFollowedBesideAnEarlierBuild(t *testing.T) {
	at := 10 * time.Second
	m := New(Options{ID: "a", Lease: 4 * time.Second, Now: func() time.Duration { return at }})
	m.place, m.previous = registered, at
	look := func(epoch int64, seen map[string]int64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for id, n := range seen {
			m.sights[id] = &sight{beat: Beat{Incarnation: 1, Seen: n}}
		}
		m.previous = at
		m.agree(at, epoch)
	}
	says := func(what string, moment time.Duration, want bool) {
		t.Helper()
		if got := m.Followed(moment); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	m.register = map[string]Entry{"a": {ID: "a", Incarnation: 1, Heeds: true}, "b": {ID: "b", Incarnation: 1, Heeds: true}}
	stored := at
	at += time.Second
	look(7, map[string]int64{"a": 7, "b": 6})
	says("the other is behind", stored, false)
	look(7, map[string]int64{"b": 7})
	says("both have followed", stored, true)
	says("what was stored after the look", at+1, false)
	at += 5 * time.Second
	says("it has not looked for a lease", stored, false)

	m.register["c"] = Entry{ID: "c", Incarnation: 1}
	look(8, map[string]int64{"a": 8, "b": 8, "c": 8})
	says("one of an earlier build is there", stored, false)
	delete(m.register, "c")
	look(8, nil)
	says("it is gone", stored, true)
}

// slow is a state of which many reads time out.
type slow struct {
	lone
	random *rand.Rand
}

var errTimeout = errors.New("operation timed out: received only 1 responses")

func (s *slow) read() error {
	if s.random.IntN(5) < 2 {
		return errTimeout
	}
	return nil
}

func (s *slow) Epoch(ctx context.Context) (int64, error) {
	if err := s.read(); err != nil {
		return 0, err
	}
	return s.lone.Epoch(ctx)
}

func (s *slow) List(ctx context.Context, kind string) ([]store.Document, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.lone.List(ctx, kind)
}

// TestJoinsWhereManyReadsTimeOut: where two of five reads fail, eleven in a row succeed once in three hundred times; each part that was read is kept. What was
// stored meanwhile has all of them read again.
func TestJoinsWhereManyReadsTimeOut(t *testing.T) {
	state := &slow{lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}, rand.New(rand.NewPCG(1, 1))} //nolint:gosec // seeded on purpose
	at := time.Duration(0)
	counts := make([]int, 8)
	var follow []func(context.Context) error
	for i := range counts {
		follow = append(follow, func(context.Context) error {
			if err := state.read(); err != nil {
				return err
			}
			for _, n := range counts[:i] {
				if n <= counts[i] {
					t.Errorf("part %d followed %v", i, counts)
				}
			}
			counts[i]++
			return nil
		})
	}
	m := New(Options{
		Store: state, ID: "m", Form: 1,
		Now: func() time.Duration { return at }, Beside: func(f func()) { f() }, Wait: func(_ context.Context, d time.Duration) error { at += d; return nil },
		Truth: Truth{
			Follow: follow, Rules: func() uint64 { return 0 }, Barrier: func(context.Context) error { return nil },
			Withholding: func() bool { return false }, Blocked: func() string { return "" }, Reverify: func(context.Context, string) error { return nil },
		},
	})
	join, cancel := context.WithCancel(t.Context())
	steps := 0
	m.o.Wait = func(ctx context.Context, d time.Duration) error {
		if steps++; steps > 200 {
			cancel()
		}
		at += d
		return ctx.Err()
	}
	if _, err := m.Join(join); err != nil {
		t.Fatalf("after %d looks, %v parts: %v", steps, counts, err)
	}
	look := func() {
		for range 200 {
			at += time.Second
			_ = m.Step(t.Context())
		}
	}
	look() // it leads now
	before := counts[7]
	state.epoch++
	look()
	for i, n := range counts {
		if n != before+1 {
			t.Errorf("part %d was followed %d times, and %d before something was stored", i, n, before)
		}
	}
}
