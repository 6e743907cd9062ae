package change

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/store"
)

func opened(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// propose brings a change into a state, with a line of the trail.
func bring(t *testing.T, b *Book, id string, o Order, to State) Record {
	t.Helper()
	r, err := b.Change(t.Context(), id, func(r *Record) ([]store.Entry, error) {
		r.Advice = json.RawMessage(`{"x":1}`)
		return []store.Entry{{Action: string(o), Target: id}}, r.Move(o, to, time.Unix(5, 0).UTC())
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A change, its state and the lines of the trail are stored at once, are there for the next process, and are forgotten when nothing is known any more.
func TestRecordAndTrailAreOne(t *testing.T) {
	s := opened(t, t.TempDir())
	b := Open(s)
	bring(t, b, "r-1", Propose, Proposed)
	want := bring(t, b, "r-1", Snooze, Snoozed)
	refused := errors.New("no")
	if _, err := b.Change(t.Context(), "r-1", func(r *Record) ([]store.Entry, error) {
		r.State = Approved
		return []store.Entry{{Action: "approve", Target: "r-1"}}, refused
	}); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if _, err := b.Change(t.Context(), "r-1", func(r *Record) ([]store.Entry, error) {
		r.Advice = json.RawMessage(`{`)
		return []store.Entry{{Action: "broken", Target: "r-1"}}, nil
	}); err == nil {
		t.Error("broken JSON was stored")
	}
	again, err := Open(s).All(t.Context())
	if err != nil || len(again) != 1 {
		t.Fatalf("%v, %v", again, err)
	}
	if d := cmp.Diff(want, again[0], cmp.AllowUnexported(Record{})); d != "" {
		t.Error(d)
	}
	trail, err := s.Audit(t.Context(), store.AuditQuery{})
	if err != nil || len(trail) != 2 || trail[0].Action != "snooze" || trail[1].Action != "propose" {
		t.Errorf("%v, %v", trail, err)
	}
	if _, err := b.Change(t.Context(), "r-1", func(r *Record) ([]store.Entry, error) { r.Advice = nil; return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if list, err := Open(s).All(t.Context()); err != nil || len(list) != 0 || len(b.Known()) != 0 {
		t.Errorf("%v, %v, %v", list, b.Known(), err)
	}
}

// Two that hold the same store, as two members of a fleet will: neither overwrites what the other stored, whoever comes second sees it first.
func TestCompareAndSet(t *testing.T) {
	s := opened(t, t.TempDir())
	one, other := Open(s), Open(s)
	bring(t, one, "r-1", Propose, Proposed)
	if all, err := other.All(t.Context()); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	bring(t, one, "r-1", Dismiss, Dismissed)
	var seen []State
	_, err := other.Change(t.Context(), "r-1", func(r *Record) ([]store.Entry, error) {
		seen = append(seen, r.State)
		return []store.Entry{{Action: "approve", Target: "r-1"}}, r.Move(Approve, Approved, time.Now())
	})
	if !errors.As(err, new(*MoveError)) || !cmp.Equal(seen, []State{Proposed, Dismissed}) {
		t.Errorf("saw %q: %v", seen, err)
	}
	if trail, err := s.Audit(t.Context(), store.AuditQuery{Action: "approve"}); err != nil || len(trail) != 0 {
		t.Errorf("%v, %v", trail, err)
	}
	if got := bring(t, other, "r-1", Propose, Proposed); got.version != 3 {
		t.Errorf("version %d", got.version)
	}
}

// What is known is stored anew where the state was lost.
func TestStateIsLost(t *testing.T) {
	b := Open(opened(t, t.TempDir()))
	bring(t, b, "r-1", Propose, Proposed)
	bring(t, b, "r-2", Propose, Proposed)
	bring(t, b, "r-2", Dismiss, Dismissed)
	fresh := opened(t, t.TempDir())
	b.store = fresh
	bring(t, b, "r-1", Snooze, Snoozed)
	if err := b.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := Open(fresh).All(t.Context())
	if err != nil || len(all) != 2 || all[0].State != Snoozed || all[1].State != Dismissed {
		t.Errorf("%+v, %v", all, err)
	}
}

// What this program can not read is not taken for something else.
func TestUnreadableRecords(t *testing.T) {
	for name, c := range map[string]struct {
		v     any
		newer bool
	}{
		"newer": {map[string]any{"id": "r-1", "form": Form + 1}, true}, "another id": {map[string]any{"id": "r-2", "form": Form, "state": Proposed}, false},
		"unknown state": {map[string]any{"id": "r-1", "form": Form, "state": "canary"}, false}, "no record": {"a text", false},
	} {
		s := opened(t, t.TempDir())
		if err := s.Save(t.Context(), Kind, "r-1", c.v); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(s).All(t.Context()); err == nil || errors.Is(err, store.ErrNewer) != c.newer || !strings.Contains(err.Error(), "r-1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
