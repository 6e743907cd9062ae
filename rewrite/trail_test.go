package rewrite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// told is the trail as lines: who, from where, what, from which state to which.
func told(entries []store.Entry) (lines []string) {
	for _, e := range entries {
		lines = append(lines, strings.Join([]string{e.Actor, e.From, e.Action, e.Target, e.Before + ">" + e.After}, " "))
	}
	return lines
}

// TestTrail: each order, each phase and each guard's deed is a line of the audit trail, with whose it is.
func TestTrail(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		bob := store.As(context.Background(), store.Actor{Name: "bob", Role: "operator", Via: "token", From: "192.0.2.7:4000"})
		must(t, w.engine.manager.Suspend(bob, "m1", "an answer was wrong", false)) // a guard's, whoever asked
		must(t, w.engine.Resume(bob, "m1", "bob"))
		w.await(migrate.Serving)
		must(t, w.engine.Rollback(bob, "m1", "bob"))
		w.await(migrate.RolledBack)
		must(t, w.engine.Drop(bob, "m1", "bob"))
		want := []string{
			"ann helenus begin m1 >approved",
			"helenus helenus advance m1 approved>created",
			"helenus helenus advance m1 created>dual-write",
			"helenus helenus advance m1 dual-write>backfill",
			"helenus helenus advance m1 backfill>verify",
			"helenus helenus advance m1 verify>shadow",
			"helenus helenus advance m1 shadow>serving",
			"guard guard suspend m1 serving>suspended",
			"bob 192.0.2.7:4000 resume m1 suspended>verify",
			"helenus helenus advance m1 verify>shadow",
			"helenus helenus advance m1 shadow>serving",
			"bob 192.0.2.7:4000 rollback m1 serving>rolling-back",
			"helenus helenus advance m1 rolling-back>rolled-back",
			"bob 192.0.2.7:4000 drop m1 rolled-back>dropped",
		}
		got := told(w.store.Trail())
		got = slices.DeleteFunc(got, func(line string) bool { return line == "helenus helenus advance m1 verify>serving" })
		if !slices.Equal(got, want) {
			t.Errorf("the trail is\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestTrailCatchesUp: what could not be stored is not forgotten, and is told once; what did not happen is not told.
func TestTrailCatchesUp(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		ctx, broken := context.Background(), errors.New("disk full")
		before := len(w.store.Trail())
		w.store.Before.Set(func(string, string) error { return broken })
		if err := w.engine.Bypass(ctx, true, "ann"); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err := w.engine.Resume(ctx, "m1", "eve"); err == nil {
			t.Fatal("resumed without being stored")
		}
		w.store.Before.Clear()
		w.await(migrate.Suspended)
		for w.engine.manager.Backlog() > 0 {
			time.Sleep(time.Second)
		}
		got := told(w.store.Trail()[before:])
		slices.Sort(got)
		want := []string{"ann helenus bypass.on bypass off>on", "guard guard suspend m1 serving>suspended"}
		if !slices.Equal(got, want) {
			t.Errorf("the trail goes on with %q, not %q", got, want)
		}
	})
}
