package maintain

import (
	"context"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// An entry is owed until it is put: while Cassandra can not do it, not if it refuses it, and each by the pass of its own look-up.
func TestOwed(t *testing.T) {
	b := setup(t, Settings{}, nil)
	base := b.db.Schema().Table("k", "t")
	other := b.lookup(base, "w")
	answers := func(err error) {
		b.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT") {
				return err
			}
			return nil
		})
	}
	lose := func() {
		answers(exectest.Timeout)
		x := b.change("a")
		if _, err := b.m.Begin(t.Context(), []*Change{x}, gocql.Quorum); err == nil {
			t.Fatal("the entry was put")
		}
		b.m.End([]*Change{x}, kind.Lost, kind.Level{Consistency: gocql.Quorum})
	}
	lose()
	if err := b.m.PutOwed(t.Context(), b.l); err == nil {
		t.Error("what can not be put is not owed any more")
	}
	answers(nil)
	b.must(b.m.PutOwed(t.Context(), other))
	if b.entries("a") != 0 {
		t.Error("put by another's pass")
	}
	b.must(b.m.PutOwed(t.Context(), b.l))
	if b.entries("a") != 1 || len(b.m.owed.entries) != 0 {
		t.Errorf("%d entries, %d owed", b.entries("a"), len(b.m.owed.entries))
	}
	lose()
	answers(exectest.Refuse("it may not"))
	b.must(b.m.PutOwed(t.Context(), b.l))
	if len(b.m.owed.entries) != 0 {
		t.Error("what is refused is owed for ever")
	}
}
