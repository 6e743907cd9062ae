package admin

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind/kindtest"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// with is all kinds that there are, and one more: it is a folder, and this line.
func with() kinds.Set { return append(kinds.All(kinds.Settings{}), kindtest.OtherText{}) }

// idle is a solver that nothing asks.
type idle struct{}

func (idle) Solve(context.Context, *solve.Problem, solve.Limits) (*solve.Solution, error) {
	return nil, errors.New("there is nothing to choose")
}

// TestAnotherKind: a kind of change that engine, store, advisor, API and metrics know by its interface alone is proposed, approved, serves
// and is rolled back; and of a process that does not know it, its record keeps nothing but itself from going on.
func TestAnotherKind(t *testing.T) {
	const text = "SELECT status FROM hotel.rooms WHERE room = ?"
	db, state, ctx := exectest.New(), &exectest.Store{}, t.Context()
	changes := change.Open(state)
	db.Add(schema.Table{Keyspace: "hotel", Name: "rooms", ID: "1", Columns: []schema.Column{
		{Name: "room", Kind: schema.PartitionKey, Type: "text"}, {Name: "status", Kind: schema.Regular, Position: -1, Type: "text"}}})
	if err := db.Write("INSERT INTO hotel.rooms (room, status) VALUES (?, ?)", [][]byte{[]byte("a"), []byte("free")}, 1); err != nil {
		t.Fatal(err)
	}
	print, normal, _, err := cql.FingerprintText(text, "")
	if err != nil {
		t.Fatal(err)
	}
	seen := &capture.Snapshot{From: time.Unix(0, 0), To: time.Unix(60, 0), Statements: []capture.Statement{
		{Fingerprint: print.String(), Table: "rooms", Keyspace: "hotel", Kind: cql.KindSelect.String(), Text: normal, Count: 100}}}
	a, err := advisor.New(advisor.Options{Snapshots: func() *capture.Snapshot { return seen }, Schema: db.Schema, Solver: idle{}, Judge: with(), Changes: changes,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := &exectest.Relay{DB: db}
	boot := func(set kinds.Set) *rewrite.Engine {
		e, err := rewrite.New(rewrite.Options{Session: db, Store: state, Changes: changes, Traffic: r, Schema: db.Schema, Kinds: set,
			Migrate: migrate.Settings{Settle: time.Millisecond, Retry: time.Millisecond, ShadowReads: 1, ShadowLeast: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Restore(ctx); err != nil {
			t.Fatal(err)
		}
		return e
	}
	engine := boot(with())
	r.Rewriter = engine
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); engine.Run(running) }()
	defer func() { stop(); <-ended }()

	c := serve(t, &parts{options: func(o *Options) { o.Changes, o.Advisor, o.Migrator = changes, a, engine }}, false)
	var listed Recommendations
	if _, err := a.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	err = c.Get(ctx, "recommendations", &listed)
	advice := listed.Recommendations
	if err != nil || len(advice) != 1 || !advice[0].Eligible || advice[0].Title != "ask rooms by another text" {
		t.Fatalf("%+v, %v", advice, err)
	}
	var m migrate.Change
	if err := c.Post(ctx, "recommendations/"+advice[0].ID+"/approve", Decision{Actor: "ann"}, &m); err != nil || m.Rewrite.Kind != (kindtest.OtherText{}).Name() || m.Title != advice[0].Title {
		t.Fatalf("%+v, %v", m, err)
	}
	until := func(state migrate.State, forwarded bool) {
		t.Helper()
		for range 2000 {
			rows, asWritten := r.Ask(text, []byte("a"))
			if len(rows) != 1 || string(rows[0][0]) != "free" {
				t.Fatalf("answered %q", rows)
			}
			if m = engine.Migrations()[0]; m.State == state && asWritten == forwarded {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("not %s: %+v", state, m)
	}
	until(migrate.Serving, false)
	if m.Title != advice[0].Title || m.ByReads < 1 {
		t.Errorf("%+v", m)
	}
	if unaware := boot(kinds.All(kinds.Settings{})).Migrations()[0]; unaware.State != migrate.Suspended || !strings.Contains(unaware.Reason, `no kind of change "other-text"`) {
		t.Errorf("a process that does not know the kind: %+v", unaware)
	}
	if err := c.Post(ctx, "migrations/"+m.ID+"/rollback", Decision{Actor: "ann"}, new(any)); err != nil {
		t.Fatal(err)
	}
	until(migrate.RolledBack, true)
	for _, order := range []string{"approve", "dismiss", "reopen"} {
		if err := c.Post(ctx, "changes/"+m.ID+"/"+order, Decision{Actor: "ann", Reason: "slow"}, new(any)); err == nil || !strings.Contains(err.Error(), "it was rolled back; drop it first (`helenus drop "+m.ID+"`)") {
			t.Errorf("%s of what was rolled back: %v", order, err)
		}
	}
	if err := c.Post(ctx, "migrations/"+m.ID+"/drop", Decision{Actor: "ann"}, new(any)); err != nil {
		t.Fatal(err)
	}
	until(migrate.Dropped, true)
}

// TestAKindIsOneFolderAndOneLine: who names the kind of TestAnotherKind, but for this file, which is its test and has the line, and its folder.
func TestAKindIsOneFolderAndOneLine(t *testing.T) {
	root, this := filepath.Join("..", ".."), filepath.Join("internal", "admin", "kinds_test.go")
	folder, lines := filepath.Join("rewrite", "kind", "kindtest"), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path) // #nosec G304 -- of the tree
		if err != nil {
			return err
		}
		switch {
		case filepath.Dir(name) == folder:
		case name == this:
			lines = strings.Count(string(text), "kindtest.OtherText{})\x20}")
		case strings.Contains(string(text), "kindtest\"") || strings.Contains(string(text), "other-text"):
			t.Errorf("%s names the kind", name)
		}
		return nil
	})
	if err != nil || lines != 1 {
		t.Errorf("%d lines, %v", lines, err)
	}
}
