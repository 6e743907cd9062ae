package rewrite

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

func TestWholeMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(10, 3)
		w.boot(quick())
		defer func() { w.stop() }()
		if _, err := w.engine.Approve(context.Background(), "m1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		w.await(migrate.Serving)
		want := w.direct("guest1")
		if len(want) == 0 {
			t.Fatal("no rows to compare")
		}
		got := w.ask(byGuest, str("guest1"))
		if got.forwarded {
			t.Fatal("the read ran as it was written")
		}
		if !exec.Equal(got.rows, want) {
			t.Fatalf("got %d rows %q, want %d rows %q", len(got.rows), got.rows, len(want), want)
		}
		if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); a.failed {
			t.Fatalf("write: %+v", a)
		}
		if got := w.ask(byGuest, str("zoe")); got.forwarded || len(got.rows) != 1 {
			t.Fatalf("read your write: %+v", got)
		}
	})
}

// direct asks the database itself.
func (w *world) direct(guest string) [][][]byte {
	w.t.Helper()
	a, err := w.db.Snapshot().Query(context.Background(), exec.Query{Text: byGuest, Values: [][]byte{str(guest)}})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Rows
}
