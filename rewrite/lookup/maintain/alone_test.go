package maintain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// A write that was acknowledged at ONE may be on one replica for as long as nobody repairs that, and a quorum that does not ask it sees nothing: the age of an entry alone does not show that
// its write is dead. While a replica can not be asked it stays, and the sweep goes on.
func TestAloneOnOneReplica(t *testing.T) {
	for name, c := range map[string]struct {
		alone, down bool
		left        int
	}{
		"on one replica alone": {alone: true, left: 1},
		"a replica is down":    {down: true, left: 1},
		"nowhere":              {left: 0},
	} {
		b := setup(t, Settings{}, nil)
		b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3"})
		x := b.change("a")
		x.Stamped = false
		if _, err := b.m.Begin(t.Context(), []*Change{x}, gocql.One); err != nil {
			t.Fatal(err)
		}
		b.m.End([]*Change{x}, kind.Lost, kind.Level{Consistency: gocql.One})
		b.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if q.Consistency != gocql.All || !strings.HasPrefix(q.Text, "SELECT") || !strings.Contains(q.Text, "FROM k.t ") {
				return nil
			}
			if c.down {
				return exectest.Timeout
			}
			if c.alone {
				return b.db.Write("UPDATE k.t SET v = ? WHERE p = ?", [][]byte{[]byte("a"), []byte("p")}, b.now.UnixMicro())
			}
			return nil
		})
		for range 3 {
			if _, err := b.m.Reconcile(t.Context(), b.l, []byte("a"), x.Key); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			b.uptime += 12 * 24 * time.Hour
		}
		if n := b.entries("a"); n != c.left {
			t.Errorf("%s: %d entries, want %d", name, n, c.left)
		}
	}
}
