package admin

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// TestStateOfTheLastRelease: who advises, who carries out and who follows calendars find theirs in a state of the last release, and the API tells of one state
// each; decisions and orders go on from there.
func TestStateOfTheLastRelease(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	text, err := os.ReadFile(filepath.Join("..", "..", "capture", "store", "testdata", "v3.sql"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	db, err := sql.Open("sqlite", filepath.Join(dir, store.File))
	must(err)
	_, err = db.Exec(string(text))
	must(err)
	must(db.Close())
	s, err := store.Open(dir)
	must(err)
	defer func() { must(s.Close()) }()
	book := change.Open(s)
	memory := exectest.New()
	a, err := advisor.New(advisor.Options{Snapshots: func() *capture.Snapshot { return nil }, Schema: func() *schema.Schema { return nil }, Solver: idle{}, Changes: book, Log: slog.New(slog.DiscardHandler)})
	must(err)
	e, err := rewrite.New(rewrite.Options{Session: memory, Store: s, Changes: book, Traffic: &exectest.Relay{DB: memory}, Schema: func() *schema.Schema { return nil }})
	must(err)
	must(e.Restore(ctx))
	k, err := calendar.New(calendar.Options{Migrations: e, Changes: book, Recent: func(context.Context, time.Time) (*cycle.Record, error) { return nil, io.EOF }})
	must(err)
	must(k.Restore(ctx))
	c := serve(t, &parts{options: func(o *Options) { o.Changes, o.Advisor, o.Migrator, o.Calendars = book, a, e, k }}, false)
	told := func() (lines []string) {
		t.Helper()
		all, err := a.Recommendations(ctx)
		must(err)
		for i := range all {
			lines = append(lines, "advice "+all[i].ID+" "+string(all[i].State)+" "+all[i].Actor)
		}
		for _, m := range e.Migrations() {
			lines = append(lines, "work "+m.ID+" "+string(m.State)+" "+m.Actor)
		}
		for _, x := range k.Calendars() {
			lines = append(lines, "calendar "+x.ID+" "+string(x.State)+" "+x.Actor)
		}
		var list []Change
		must(c.Get(ctx, "changes", &list))
		for _, x := range list {
			lines = append(lines, "change "+x.ID+" "+string(x.State)+" "+x.Part)
		}
		return lines
	}
	want := []string{
		"advice r-a1 approved ann", "advice r-a3 approved ann", "advice r-a7 approved ann", "advice r-a8 approved ann", "advice r-c2 approved ann",
		"advice r-a2 open ann", "advice r-a5 open ", "advice r-a9 open ", "advice r-b2 open ", "advice r-c1 open ", "advice r-a4 rejected bob", "advice r-a6 expired ",
		"work r-a1 verify ann", "work r-a2 dropped ann", "work r-a3 failed ann", "work r-a7 rolled-back ann", "work r-a8 suspended ann", "work r-b2 dropped ann", "work r-c2.1 verify calendar r-c2",
		"calendar r-c1 withdrawn ann", "calendar r-c2 following ann",
		"change r-a1 verify ", "change r-a2 proposed ", "change r-a3 failed ", "change r-a4 dismissed ", "change r-a5 proposed ", "change r-a6 expired ", "change r-a7 rolled-back ",
		"change r-a8 suspended ", "change r-a9 proposed ", "change r-b2 dropped ", "change r-c1 proposed ", "change r-c2 serving ", "change r-c2.1 verify r-c2",
	}
	if d := cmp.Diff(want, told()); d != "" {
		t.Error(d)
	}
	must(e.Rollback(ctx, "r-a1", "ann"))
	if _, err := a.Snooze(ctx, "r-a5", 24*time.Hour, "later", "ann"); err != nil {
		t.Error(err)
	}
	if _, err := k.Pause(ctx, "r-c2", "", "ann"); err != nil {
		t.Error(err)
	}
	again, err := change.Open(s).All(ctx)
	must(err)
	states := map[string]change.State{}
	for i := range again {
		states[again[i].ID] = again[i].State
	}
	if states["r-a1"] != change.RollingBack || states["r-a5"] != change.Snoozed || states["r-c2"] != change.Suspended {
		t.Errorf("%v", states)
	}
}
