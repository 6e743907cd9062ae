package maintain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// centres is a base of two data centres, of which the other is behind: a read that is coordinated there at a local level, and no read at all
// replicas, sees a row as it was.
type centres struct {
	*exectest.Memory
	home   string
	behind *exectest.Memory
}

func (c *centres) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if local := q.Consistency == gocql.Consistency(gocql.LocalSerial); local && exec.DataCentre(ctx) != c.home {
		return c.behind.Query(ctx, q)
	}
	return c.Memory.Query(ctx, q)
}

// What a condition decided at LOCAL_SERIAL is known in the data centre of the client, for a while in no other: what is read of it as evidence is read there.
func TestConditionsOfOneDataCentre(t *testing.T) {
	for name, unknown := range map[string]bool{"a known value": false, "a computed value": true} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, Settings{}, nil)
			b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
			b.write(b.change("former"))
			b.m.Session = &centres{b.db, "dc1", b.db.Snapshot()}
			level := kind.Level{Consistency: gocql.LocalQuorum, Serial: gocql.Consistency(gocql.LocalSerial)}
			ctx := exec.In(t.Context(), "dc1")
			x := b.change("new")
			x.Stamped, x.Conditional = false, true
			u := &Unknown{LookUp: b.l, Keys: [][][]byte{x.Key}, Conditional: true}
			if unknown {
				b.must(b.m.BeginUnknown(ctx, u, level.Consistency))
			} else {
				_, err := b.m.Begin(ctx, []*Change{x}, level.Consistency)
				b.must(err)
			}
			b.must(b.db.Write("UPDATE k.t SET v = 'new' WHERE p = 'p'", nil, b.now.UnixMicro()+1))
			if unknown {
				b.m.EndUnknown(u, kind.Applied, level)
			} else {
				b.m.End([]*Change{x}, kind.Applied, level)
			}
			b.drain()
			if keys, _ := b.m.Candidates(b.l); b.entries("new")+len(keys) == 0 {
				t.Error("the row is found by nothing")
			}
		})
	}
}

// An entry that was missing is found by reads at LOCAL_QUORUM in each data centre once it was repaired.
func TestRepairedEverywhere(t *testing.T) {
	for want, replication := range map[gocql.Consistency]map[string]string{
		gocql.Quorum: {"class": "N", "dc1": "3"}, gocql.EachQuorum: {"class": "N", "dc1": "3", "dc2": "3"},
	} {
		b := setup(t, Settings{}, nil)
		b.db.Replicate("k", replication)
		var level gocql.Consistency
		b.db.Before.Set(func(_ context.Context, q exec.Query) error { level = q.Consistency; return nil })
		b.must(b.m.Repair(t.Context(), b.l, []byte("a"), [][]byte{[]byte("p")}, 1, 0))
		if level != want {
			t.Errorf("%v: repaired at %s, want %s", replication, level, want)
		}
	}
}

// What takes the place of an entry, or of a candidate, is found by whoever finds that: it is written at the level of its write, where that was said.
func TestWhatStandsForAnEntryIsFoundAsThat(t *testing.T) {
	for _, level := range []gocql.Consistency{gocql.One, gocql.LocalQuorum, gocql.EachQuorum, gocql.All} {
		b := setup(t, Settings{}, nil)
		b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
		var puts []string
		b.db.Before.Set(func(ctx context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT") {
				puts = append(puts, fmt.Sprint(q.Consistency, " in ", exec.DataCentre(ctx)))
			}
			return nil
		})
		ctx := exec.In(t.Context(), "dc1")
		x := b.change("a")
		x.Stamped = false
		_, err := b.m.Begin(ctx, []*Change{x}, level)
		b.must(err)
		b.must(b.db.Write("UPDATE k.t SET v = 'a' WHERE p = 'p'", nil, 5))
		b.m.End([]*Change{x}, kind.Applied, kind.Level{Consistency: level})
		b.drain()
		u := &Unknown{LookUp: b.l, Keys: [][][]byte{x.Key}}
		b.must(b.m.BeginUnknown(ctx, u, level))
		b.m.EndUnknown(u, kind.Applied, kind.Level{Consistency: level})
		b.drain()
		if len(puts) != 4 || len(slices.Compact(puts)) != 1 {
			t.Errorf("a write at %s: %v", level, puts)
		}
	}
}

// What is written in one request is written at one level: of keyspaces that are replicated otherwise, one write of the application may need several.
func TestLevelsAreNotMixed(t *testing.T) {
	b := setup(t, Settings{}, nil)
	levels := &batched{Memory: b.db}
	b.m.Session = levels
	var writes []exec.Query
	for i, c := range []gocql.Consistency{gocql.LocalQuorum, gocql.LocalQuorum, gocql.Quorum, gocql.Quorum, gocql.LocalQuorum} {
		writes = append(writes, b.m.put(&entry{lookup: b.l, value: []byte("v"), key: [][]byte{fmt.Append(nil, i)}, at: 1}, c))
	}
	b.must(b.m.send(t.Context(), writes))
	if levels.mixed.Load() || levels.writes.Load() != int64(len(writes)) {
		t.Errorf("%d writes, at levels of others: %t", levels.writes.Load(), levels.mixed.Load())
	}
}

// The entry that takes another's place, and that one's removal, are one mutation, whatever the level of their write.
func TestSettlingIsOneBatch(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
	ctx := exec.In(t.Context(), "dc1")
	b.write(b.change("former"))
	x := b.change("a")
	x.Stamped = false
	_, err := b.m.Begin(ctx, []*Change{x}, gocql.LocalQuorum)
	b.must(err)
	b.must(b.db.Write("UPDATE k.t SET v = 'a' WHERE p = 'p'", nil, b.now.UnixMicro()+1))
	begun := b.sent.batches.Load()
	b.m.End([]*Change{x}, kind.Applied, kind.Level{Consistency: gocql.LocalQuorum})
	b.drain()
	if n := b.sent.batches.Load() - begun; n != 1 || b.entries("a") != 1 || b.entries("former") != 0 {
		t.Errorf("%d batches, %d entries and %d of the former value", n, b.entries("a"), b.entries("former"))
	}
}

// batched looks at the levels of batches.
type batched struct {
	*exectest.Memory
	writes atomic.Int64
	mixed  atomic.Bool
}

func (b *batched) Unlogged(ctx context.Context, writes []exec.Query) error {
	b.writes.Add(int64(len(writes)))
	if slices.ContainsFunc(writes, func(q exec.Query) bool { return q.Consistency != writes[0].Consistency }) {
		b.mixed.Store(true)
	}
	return b.Memory.Unlogged(ctx, writes)
}
