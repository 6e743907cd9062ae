package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
)

// lone is a state of which one member knows.
type lone struct {
	kinds map[string][]store.Document
	beats map[string]json.RawMessage
	epoch int64
}

func (s *lone) Epoch(context.Context) (int64, error) { return s.epoch, nil }

func (s *lone) List(_ context.Context, kind string) ([]store.Document, error) {
	return s.kinds[kind], nil
}

func (s *lone) Replace(_ context.Context, kind, id string, _ int64, v any, _ ...store.Entry) (int64, error) {
	raw, err := json.Marshal(v)
	s.epoch++
	others := slices.DeleteFunc(s.kinds[kind], func(d store.Document) bool { return d.ID == id })
	s.kinds[kind] = append(others, store.Document{ID: id, Version: s.epoch, Raw: raw})
	return s.epoch, err
}

func (s *lone) Remove(_ context.Context, kind, id string, _ int64, _ ...store.Entry) error {
	s.epoch++
	s.kinds[kind] = slices.DeleteFunc(s.kinds[kind], func(d store.Document) bool { return d.ID == id })
	return nil
}

func (s *lone) Beat(_ context.Context, member string, _ int64, v any) error {
	raw, err := json.Marshal(v)
	s.beats[member] = raw
	return err
}

func (s *lone) Beats(context.Context) (map[string]json.RawMessage, error) { return s.beats, nil }

func (s *lone) Silence(context.Context, string, int64) error { return nil }

func (s *lone) Raise(context.Context, int) error { return nil }

// TestNobodyIsAskedUnderTheLock: an engine asks the member, under locks of its own, why nothing can be verified, and is asked the same by the member's beat: each waited for
// the other.
func TestNobodyIsAskedUnderTheLock(t *testing.T) {
	var m *Member
	asked := map[string]bool{}
	free := func(what string) {
		asked[what] = true
		if !m.mu.TryLock() {
			t.Errorf("%s is asked under the member's lock", what)
			return
		}
		m.mu.Unlock()
	}
	at := time.Duration(0)
	m = New(Options{
		Store: &lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}, ID: "m", Form: 1,
		Now: func() time.Duration { return at }, Beside: func(f func()) { f() }, Wait: func(_ context.Context, d time.Duration) error { at += d; return nil },
		Truth: Truth{
			Follow:      []func(context.Context) error{func(context.Context) error { free("Follow"); return nil }},
			Rules:       func() uint64 { free("Rules"); return uint64(at) }, // there is always something new
			Barrier:     func(context.Context) error { free("Barrier"); return nil },
			Withholding: func() bool { free("Withholding"); return false },
			Blocked:     func() string { free("Blocked"); return "" },
			Reverify:    func(context.Context, string) error { free("Reverify"); return nil },
		},
	})
	if _, err := m.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		at += time.Second
		if err := m.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Dismiss(t.Context(), "m", "ann", "for the test"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"Follow", "Rules", "Barrier", "Withholding", "Blocked", "Reverify"} {
		if !asked[what] {
			t.Errorf("%s was not asked", what)
		}
	}
}

// TestABarrierThatPanicsIsBegunAgain: it is a part that failed once, and no reason to acknowledge nothing any more.
func TestABarrierThatPanicsIsBegunAgain(t *testing.T) {
	at, barriers := time.Duration(0), 0
	m := New(Options{
		Store: &lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}, ID: "m", Form: 1,
		Now: func() time.Duration { return at }, Wait: func(_ context.Context, d time.Duration) error { at += d; return nil },
		Beside: func(f func()) { _ = guard.Do(guard.Fleet, func() error { f(); return nil }) },
		Truth: Truth{
			Rules: func() uint64 { return 1 }, Withholding: func() bool { return false }, Blocked: func() string { return "" },
			Reverify: func(context.Context, string) error { return nil },
			Barrier: func(context.Context) error {
				if barriers++; barriers == 1 {
					panic("for the test")
				}
				return nil
			},
		},
	})
	if _, err := m.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		at += time.Second
		if err := m.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.applied != m.seen || m.seen == 0 {
		t.Errorf("after %d barriers it has acknowledged epoch %d of %d", barriers, m.applied, m.seen)
	}
}

// hanging is a state that answers nothing any more once it hangs, for as long as whoever asks has time.
type hanging struct {
	lone
	hangs atomic.Bool
}

func (s *hanging) Epoch(ctx context.Context) (int64, error) {
	if s.hangs.Load() {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Minute):
			return 0, errors.New("it has not answered for a minute")
		}
	}
	return s.lone.Epoch(ctx)
}

// TestQuietEndsWithTheLease: a write that turned reads back waits for as long as others may serve, and not for a state that hangs.
func TestQuietEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &hanging{lone: lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}}
		m := New(Options{Store: s, ID: "m", Form: 1, Truth: Truth{
			Rules: func() uint64 { return 1 }, Withholding: func() bool { return false }, Blocked: func() string { return "" },
			Barrier: func(context.Context) error { return nil },
		}})
		if _, err := m.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.hangs.Store(true)
		stored := make(chan struct{})
		close(stored)
		began := time.Now()
		if err := m.Quiet(t.Context(), stored); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited < 4*time.Second || waited > 4*time.Second+100*time.Millisecond {
			t.Errorf("it waited for %v, where the lease is 4 s", waited)
		}
		// Nobody has had news of it since: the next write, and those after it, need not wait as long again. An application that writes a hundred times a second would stand still.
		for range 2 {
			began = time.Now()
			if err := m.Quiet(t.Context(), make(chan struct{})); err != nil || time.Since(began) > 0 {
				t.Errorf("the next one waited for %v (%v)", time.Since(began), err)
			}
		}
	})
}

// slowRegister is a state that takes long to register a member.
type slowRegister struct{ hanging }

func (s *slowRegister) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	if kind == KindMember {
		time.Sleep(10 * time.Second)
	}
	return s.hanging.Replace(ctx, kind, id, version, v, entries...)
}

// TestQuietKnowsOfTheRegister: until others know that a member is registered they answer without its news, whenever it beat last.
func TestQuietKnowsOfTheRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowRegister{hanging{lone: lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}}}
		withholding := false
		m := New(Options{Store: s, ID: "m", Form: 1, Truth: Truth{
			Rules: func() uint64 { return 1 }, Withholding: func() bool { return withholding }, Blocked: func() string { return "" },
			Barrier: func(context.Context) error { return nil },
		}})
		for m.place != registered {
			withholding = m.sent.Counter >= 2 // it does not beat once it is registered
			if err := m.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.hangs.Store(true)
		began := time.Now()
		if err := m.Quiet(t.Context(), make(chan struct{})); err != nil || time.Since(began) < 4*time.Second {
			t.Errorf("it waited for %v (%v), where others may have looked just before it was registered", time.Since(began), err)
		}
	})
}
