package rewrite

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// TestACutOffMemberKeepsNobodyWaiting: a member can neither write entries nor store what follows from that, as where its role may not log in any more. Its first write waits until nobody answers
// by the change any more; those after it do not wait, nor does each give an order of its own. Once it can, nothing is missing.
func TestACutOffMemberKeepsNobodyWaiting(t *testing.T) {
	for _, cut := range []string{"the leader", "another"} {
		t.Run(cut, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { cutOff(t, cut == "the leader") }) })
	}
}

func cutOff(t *testing.T, leads bool) {
	f := newFleet(t, 2)
	defer f.close()
	leader, other := f.leader(), f.all[1]
	if leads {
		leader, other = other, leader
	}
	if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
		t.Fatal(err)
	}
	leader.answered()
	other.answered()
	var missing atomic.Bool
	f.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if missing.Load() && strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") {
			return exec.ErrNoConnection
		}
		return nil
	})
	var tries atomic.Int64
	f.store.Before.Set(func(kind, _ string) error {
		if missing.Load() && kind == change.Kind {
			tries.Add(1)
			return errors.New("no hosts available in the pool")
		}
		return nil
	})
	missing.Store(true)
	const writes = 200
	var waited [writes]time.Duration
	for i := range writes {
		began := time.Now()
		if a := other.say(insertRow, str("room9"), num(i), num(1), str("guest1"), str("new")); a.failed {
			t.Fatalf("write %d failed", i)
		}
		waited[i] = time.Since(began)
		leader.same("guest1")
		other.same("guest1")
		time.Sleep(50 * time.Millisecond)
	}
	for i, w := range waited {
		if most := map[bool]time.Duration{true: 5 * time.Second, false: 100 * time.Millisecond}[i == 0]; w > most {
			t.Errorf("write %d waited for %v", i, w)
			break
		}
	}
	if n := tries.Load(); n > writes/2 {
		t.Errorf("orders were stored in vain %d times within %d writes", n, writes)
	}
	missing.Store(false)
	for _, w := range f.all {
		w.answered()
		w.same("guest1")
	}
	lines := 0
	for _, e := range f.store.Trail() {
		if e.Action == "verify" {
			lines++
		}
	}
	if lines > writes/10 {
		t.Errorf("the audit trail has %d lines of %d writes in one outage", lines, writes)
	}
}

// TestTheReasonOutlivesTheFirstWrite: while entries are refused, writes go on without trying each time; what is told of the change is why, not that it was so a moment ago.
func TestTheReasonOutlivesTheFirstWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		leader.answered()
		other.answered()
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") {
				return errors.New("User helenus has no MODIFY permission")
			}
			return nil
		})
		for i := range 100 {
			for _, w := range f.all {
				w.say(insertRow, str("room9"), num(i), num(1), str("guest1"), str("new"))
			}
			time.Sleep(200 * time.Millisecond)
		}
		for _, w := range f.all {
			if m := w.migration(); !strings.Contains(m.Reason, "no MODIFY permission") {
				t.Errorf("%s: %q", m.State, m.Reason)
			}
		}
		f.db.Before.Clear()
	})
}
