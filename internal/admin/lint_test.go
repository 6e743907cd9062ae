package admin

import (
	"context"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestLintKnowsChanges: what a serving change answers is a note, and what one answers no more is as before.
func TestLintKnowsChanges(t *testing.T) {
	looked := func(of ...migrate.Change) (r lint.Report) {
		c := serve(t, &parts{ready: true, migration: of}, false)
		if err := c.Get(context.Background(), "lint", &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	bad := looked().Findings
	i := slices.IndexFunc(bad, func(f lint.Finding) bool { return f.Statement != "" && f.Severity != lint.Note })
	if i < 0 {
		t.Fatalf("no statement is found fault with: %+v", bad)
	}
	change := migrate.Change{ID: "r-1", State: migrate.Serving, Rewrite: plan.Rewrite{Statements: []string{bad[i].Statement}}}
	for _, state := range []migrate.State{migrate.Serving, migrate.RolledBack} {
		change.State = state
		for _, f := range looked(change).Findings {
			if f.Statement != bad[i].Statement || f.Rule != bad[i].Rule {
				continue
			}
			if answered := state == migrate.Serving; answered != (f.Severity == lint.Note) || answered != (f.ChangeID == "r-1") {
				t.Errorf("%s: %+v", state, f)
			}
		}
	}
}
