package keyspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
)

// Another process sees what was stored, and by the epoch that something was.
func TestTwoProcessesSeeOneState(t *testing.T) {
	ctx := t.Context()
	a, open := fresh(t)
	b := open(Options{})
	must(t, b.Prepare(ctx)) // again, while it is there
	epoch := func() int64 {
		n, err := b.Epoch(ctx)
		must(t, err)
		return n
	}
	before := epoch()
	must(t, a.Save(ctx, "quiet", "q", 1))
	if got := epoch(); got != before {
		t.Errorf("a checkpoint moved the epoch from %d to %d", before, got)
	}
	must(t, a.Save(ctx, "note", "n", 1))
	if got := epoch(); got != before+1 {
		t.Errorf("a document moved the epoch from %d to %d", before, got)
	}
	must(t, b.Save(ctx, "note", "n", 2)) // by another version than a knows
	must(t, a.Save(ctx, "note", "n", 3))
	must(t, a.Decide(ctx, "quiet", "q", 2, store.Entry{Action: "x"}))
	if got := epoch(); got != before+4 {
		t.Errorf("four moved the epoch from %d to %d", before, got)
	}
	versions, err := b.Versions(ctx, "note")
	if err != nil || fmt.Sprint(versions) != "map[n:3]" {
		t.Errorf("versions %v, %v", versions, err)
	}
	d, err := b.Document(ctx, "note", "n")
	if err != nil || d == nil || string(d.Raw) != "3" {
		t.Errorf("document %v, %v", d, err)
	}
	if d, err := b.Document(ctx, "note", "none"); d != nil || err != nil {
		t.Errorf("no document: %v, %v", d, err)
	}
}

func TestFormsAreKnownOrRefused(t *testing.T) {
	ctx := t.Context()
	a, open := fresh(t)
	newer := open(Options{Form: 2})
	must(t, newer.Prepare(ctx)) // two adjacent versions run together
	must(t, newer.Save(ctx, "note", "n", 1))
	must(t, a.Prepare(ctx))
	must(t, newer.Raise(ctx, 2))
	if err := a.Prepare(ctx); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "form 2, this Helenus knows the forms 1 to 1") {
		t.Errorf("a state of form 2 was opened by who knows 1: %v", err)
	}
	must(t, open(Options{Form: 3}).Prepare(ctx))
	if err := open(Options{Form: 4}).Prepare(ctx); err == nil || !strings.Contains(err.Error(), "run the version between") {
		t.Errorf("a state of form 2 was opened by who knows 3 and 4: %v", err)
	}
}

func TestBeatsAreOrderedByTheirCounter(t *testing.T) {
	ctx := t.Context()
	s, _ := fresh(t)
	must(t, s.Beat(ctx, "m1", 5, "five"))
	must(t, s.Beat(ctx, "m1", 4, "four")) // late
	must(t, s.Beat(ctx, "m2", 1, "one"))
	all, err := s.Beats(ctx)
	if err != nil || len(all) != 2 || string(all["m1"]) != `"five"` || string(all["m2"]) != `"one"` {
		t.Errorf("beats %s, %v", all, err)
	}
	must(t, s.Silence(ctx, "m1", 5))
	if all, err = s.Beats(ctx); err != nil || len(all) != 1 {
		t.Errorf("after one was silenced: %s, %v", all, err)
	}
	must(t, s.PutSnapshot(ctx, "m1", "w1", []byte("a")))
	must(t, s.PutSnapshot(ctx, "m1", "w1", []byte("b")))
	must(t, s.PutSnapshot(ctx, "m2", "w1", []byte("c")))
	snapshots, err := s.Snapshots(ctx)
	if err != nil || len(snapshots) != 2 || string(snapshots[0].Body)+string(snapshots[1].Body) != "bc" && string(snapshots[0].Body)+string(snapshots[1].Body) != "cb" {
		t.Errorf("snapshots %v, %v", snapshots, err)
	}
	must(t, s.DropSnapshot(ctx, "m1", ""))
	if snapshots, err = s.Snapshots(ctx); err != nil || len(snapshots) != 1 {
		t.Errorf("after one was dropped: %v, %v", snapshots, err)
	}
}

// Whatever is wrong with the settings or the cluster, it is said.
func TestWhatIsWrongIsSaid(t *testing.T) {
	for name, o := range map[string]Options{
		"keyspace":    {Keyspace: "Helenus; DROP"},
		"replication": {Replication: "{'class': 'x'}; DROP KEYSPACE app"},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "state-"+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := New(Options{Connect: func() (*gocql.Session, error) { return nil, errors.New("nobody there") }})
	must(t, err)
	if err := s.Prepare(context.Background()); err == nil || !strings.Contains(s.Trouble(), "nobody there") || !strings.Contains(s.Trouble(), "requests are forwarded") {
		t.Errorf("%v; trouble: %s", err, s.Trouble())
	}
	refused := &DDLError{"helenus", s.tables(), errors.New("User x has no CREATE permission")}
	if text := refused.Error(); !strings.Contains(text, "no CREATE permission") || strings.Count(text, "CREATE TABLE IF NOT EXISTS helenus.") != 3 {
		t.Error(text)
	}
}
