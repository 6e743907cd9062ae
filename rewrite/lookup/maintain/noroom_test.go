package maintain

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// long is a key that the base takes, and the look-up does not.
func long(last byte) [][]byte { return [][]byte{append(bytes.Repeat([]byte("k"), 65530), last)} }

func (b *bench) standIns(value string) int {
	b.t.Helper()
	list, err := b.m.entries(context.Background(), b.l, []byte(value), b.l.StandIn(), gocql.Quorum)
	b.must(err)
	return len(list)
}

// A row without room in the look-up has an entry that stands for it, which no other write takes away and a refused one of its own
// takes back; no statement of ours carries its key.
func TestNoRoom(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Before.Set(func(_ context.Context, q exec.Query) error {
		for _, v := range q.Values {
			if len(v) > 65526 {
				t.Errorf("a key without room is sent: %s", q.Text)
			}
		}
		return nil
	})
	write := func(x *Change, answer kind.Answer) {
		t.Helper()
		x.LookUp = b.l
		_, err := b.m.Begin(context.Background(), []*Change{x}, gocql.Quorum)
		b.must(err)
		b.m.End([]*Change{x}, answer, kind.Level{Consistency: gocql.Quorum})
		b.drain()
	}
	write(&Change{Key: long('a'), Value: []byte("v"), Stamped: true, At: 100, TTL: 5}, kind.Applied)
	write(&Change{Key: long('a'), Value: []byte("v"), Stamped: true, At: 101}, kind.Applied)
	write(&Change{Key: long('b'), Value: []byte("v")}, kind.Lost)
	if n := b.standIns("v"); n != 3 {
		t.Errorf("%d entries", n)
	}
	write(&Change{Key: long('b'), Value: []byte("v"), Conditional: true}, kind.Refused)
	write(&Change{Key: long('b'), Value: []byte("v"), Stamped: true, At: 1}, kind.Refused)
	if n := b.standIns("v"); n != 3 {
		t.Errorf("%d entries after refusals", n)
	}
	write(&Change{Key: long('a'), Value: []byte("w"), Stamped: true, At: 200}, kind.Applied)
	write(&Change{Key: long('a'), Clears: true, Stamped: true, At: 300}, kind.Applied)
	b.now = b.now.Add(100 * 24 * time.Hour)
	if v, w := b.standIns("v"), b.standIns("w"); v != 3 || w != 1 {
		t.Errorf("%d and %d entries", v, w)
	}
}

// Entries that stand for rows without room go once their writes' lives were over when the sweep began, but for one as long as the base has
// such a row.
func TestNoRoomSweep(t *testing.T) {
	b := setup(t, Settings{Horizon: time.Hour}, func(t *schema.Table) { t.GCGrace = 864000 })
	fill := func() { b.must(b.m.Fill(context.Background(), b.l, []byte("v"), long('a'), 7, 0, gocql.All)) }
	sweep := func(needed bool, took time.Duration, want Outcome, left int) {
		t.Helper()
		b.m.BeginSweep(b.l)
		b.uptime += took
		got, err := b.m.ReconcileElsewhere(context.Background(), b.l, []byte("v"), needed)
		b.must(err)
		b.m.EndSweep(b.l)
		if n := b.standIns("v"); got != want || n != left {
			t.Errorf("%v with %d entries; want %v with %d", got, n, want, left)
		}
	}
	fill()
	fill()
	sweep(true, 0, Kept, 2)
	b.uptime += 59 * time.Minute
	sweep(false, 10*time.Minute, Left, 2) // the hour was not over when it began
	b.uptime += time.Minute
	fill()
	sweep(true, 0, Removed, 2) // the young one may be taken back: an old one stays
	sweep(true, 0, Kept, 2)
	sweep(false, 0, Removed, 1)
	b.uptime += time.Hour
	sweep(false, 0, Removed, 0)
	sweep(false, 0, Absent, 0)
}
