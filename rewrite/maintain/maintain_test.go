package maintain

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/match"
)

func setup(t *testing.T, s Settings, now time.Time, defaultTTL int) (*exectest.Memory, *match.LookUp, *Maintainer) {
	t.Helper()
	db := exectest.New()
	db.Now = func() time.Time { return now }
	base := schema.Table{Keyspace: "k", Name: "t", DefaultTTL: defaultTTL, Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
	db.Add(base)
	l, refusal := match.New(plan.LookUp{Keyspace: "k", Base: "t", Column: "v", Table: "t_by_v"}, &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if _, err := db.Query(context.Background(), exec.Query{Text: l.Create("m")}); err != nil {
		t.Fatal(err)
	}
	return db, l, New(db, s, db.Now, slog.New(slog.DiscardHandler))
}

// Timestamps are unique and rise, also while the clock stands still and many ask.
func TestStamp(t *testing.T) {
	_, _, m := setup(t, Settings{}, time.Unix(1000, 0), 0)
	var mu sync.Mutex
	var wait sync.WaitGroup
	seen := map[int64]bool{}
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 100 {
				ts := m.Stamp()
				mu.Lock()
				seen[ts] = true
				mu.Unlock()
			}
		}()
	}
	wait.Wait()
	if len(seen) != 800 || !seen[1000e6] || !seen[1000e6+799] {
		t.Errorf("%d timestamps", len(seen))
	}
}

func TestEntryTTL(t *testing.T) {
	_, _, m := setup(t, Settings{}, time.Now(), 0)
	for ttl, want := range map[int32]int32{0: 0, -1: 0, 1: 61, 1000: 1060, maxTTL: 0, maxTTL - 60: maxTTL, maxTTL - 59: 0} {
		if got := m.EntryTTL(ttl, 7, 7); got != want {
			t.Errorf("C10: an entry for %d s lives %d s, want %d", ttl, got, want)
		}
		if got := m.EntryTTL(ttl, 7, 8); got != 0 {
			t.Errorf("C10: an entry above its cell for %d s lives %d s", ttl, got)
		}
	}
}

// How entries are written: timestamp, time to live and consistency.
func TestPut(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name              string
		ts                int64
		ttl, defaultTTL   int32
		consistency, want gocql.Consistency
		at                int64
		lives             int32
	}{
		{"C11 the write's own", now.UnixMicro(), 0, 0, gocql.Quorum, gocql.Quorum, now.UnixMicro(), 0},
		{"C11 the future", now.UnixMicro() * 2, 0, 0, gocql.LocalOne, gocql.LocalOne, now.UnixMicro() * 2, 0},
		{"C11 a time of its own", 7, 0, 0, gocql.One, gocql.One, now.Add(-30 * time.Minute).UnixMicro(), 0},
		{"C13 any", now.UnixMicro(), 0, 0, gocql.Any, gocql.One, now.UnixMicro(), 0},
		{"C10 ttl", now.UnixMicro(), 100, 0, gocql.One, gocql.One, now.UnixMicro(), 160},
		{"C10 ttl over a default", now.UnixMicro(), 100, 50, gocql.One, gocql.One, now.UnixMicro(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, l, m := setup(t, Settings{}, now, int(c.defaultTTL))
			var used gocql.Consistency
			db.Before.Set(func(_ context.Context, q exec.Query) error { used = q.Consistency; return nil })
			e := match.Effect{Entry: match.Cell{Bytes: []byte("v")}, Keys: [][]match.Cell{{{Bytes: []byte("p")}}}, TTL: c.ttl}
			if err := m.Put(context.Background(), l, e, c.ts, c.consistency); err != nil {
				t.Fatal(err)
			}
			a, err := db.Snapshot().Query(context.Background(), exec.Query{Text: "SELECT writetime(written), ttl(written) FROM k.t_by_v"})
			if err != nil || len(a.Rows) != 1 {
				t.Fatalf("%v %v", a, err)
			}
			at, _ := exec.Int64(a.Rows[0][0])
			lives, _ := exec.Int32(a.Rows[0][1])
			if at != c.at || lives != c.lives || used != c.want {
				t.Errorf("at %d, want %d; lives %d; consistency %s", at, c.at, lives, used)
			}
		})
	}
}

// Of several rows one entry that fails is enough.
func TestPutFails(t *testing.T) {
	db, l, m := setup(t, Settings{}, time.Now(), 0)
	n := make(chan int, 100)
	db.Before.Set(func(context.Context, exec.Query) error {
		if n <- 1; len(n) == 3 {
			return exectest.Timeout
		}
		return nil
	})
	e := match.Effect{Entry: match.Cell{Bytes: []byte("v")}}
	for _, p := range []string{"a", "b", "c", "d"} {
		e.Keys = append(e.Keys, []match.Cell{{Bytes: []byte(p)}})
	}
	if err := m.Put(context.Background(), l, e, 1, gocql.One); !errors.Is(err, exectest.Timeout) {
		t.Errorf("%v", err)
	}
}

// What finds the queue full is dropped and counted, and nothing blocks.
func TestQueueFull(t *testing.T) {
	_, l, m := setup(t, Settings{Queue: 3}, time.Now(), 0)
	for range 5 {
		m.Later(Garbage{LookUp: l, Value: []byte("v"), Key: [][]byte{[]byte("p")}})
	}
	if c := m.Counts(); c.Pending != 3 || c.Dropped != 2 {
		t.Errorf("%+v", c)
	}
}

func TestReconcile(t *testing.T) {
	now := time.Now()
	us := now.UnixMicro()
	old := now.Add(-5 * time.Hour).UnixMicro()
	for _, c := range []struct {
		name    string
		entry   int64 // its writetime, 0 if there is none
		base    string
		at      int64 // of the base, 0 if there is no row
		deleted int64
		want    Outcome
	}{
		{"no entry", 0, "other", us, 0, Absent},
		{"right", us, "v", us, 0, Kept},
		{"right, though old and deleted once", old, "v", old, us, Kept},
		{"overwritten later", us - 1, "other", us, 0, Removed},
		{"overwritten at the same time", us, "other", us, 0, Left},
		{"overwritten earlier: its own write is under way", us, "other", us - 1, 0, Left},
		{"gone, nobody knows when", us, "", 0, 0, Left},
		{"gone by a delete that covers it", us - 1, "", 0, us, Removed},
		{"gone by a delete at the same time", us, "", 0, us, Removed},
		{"gone by an earlier delete", us, "", 0, us - 1, Left},
		{"gone for long", old, "", 0, 0, Removed},
		{"another value for long", old, "other", old - 1, 0, Removed},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, l, m := setup(t, Settings{}, now, 0)
			if c.entry != 0 {
				if err := db.Write("INSERT INTO k.t_by_v (v, p, written) VALUES ('v', 'p', true)", nil, c.entry); err != nil {
					t.Fatal(err)
				}
			}
			if c.at != 0 {
				if err := db.Write("INSERT INTO k.t (v, p) VALUES (?, 'p')", [][]byte{[]byte(c.base)}, c.at); err != nil {
					t.Fatal(err)
				}
			}
			got, err := m.Reconcile(context.Background(), Garbage{LookUp: l, Value: []byte("v"), Key: [][]byte{[]byte("p")}, Deleted: c.deleted})
			if err != nil || got != c.want {
				t.Fatalf("%d, want %d; %v", got, c.want, err)
			}
			_, there, err := m.Entry(context.Background(), l, []byte("v"), [][]byte{[]byte("p")})
			if err != nil || there == (c.want == Removed || c.want == Absent) {
				t.Errorf("the entry is there: %t; %v", there, err)
			}
		})
	}
}

// A delete that was acknowledged is remembered, of its own row only, so that a later look at the entry knows of it.
func TestDeletionsAreRemembered(t *testing.T) {
	us := time.Now().UnixMicro()
	for _, c := range []struct {
		name string
		key  string
		at   int64
		want Outcome
	}{
		{"covers it", "p", us, Removed},
		{"earlier", "p", us - 1, Left},
		{"of another row", "q", us, Left},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, l, m := setup(t, Settings{}, time.Now(), 0)
			if err := db.Write("INSERT INTO k.t_by_v (v, p, written) VALUES ('v', 'p', true)", nil, us); err != nil {
				t.Fatal(err)
			}
			m.Deleted(l, [][]byte{[]byte(c.key)}, c.at)
			got, err := m.Reconcile(context.Background(), Garbage{LookUp: l, Value: []byte("v"), Key: [][]byte{[]byte("p")}})
			if err != nil || got != c.want {
				t.Fatalf("%d, want %d; %v", got, c.want, err)
			}
		})
	}
}

// A column that was set to null says nothing of another column of the same row: the write that an entry over that one
// announced may still be on its way.
func TestDeletionsAreOfTheirOwnColumn(t *testing.T) {
	us := time.Now().UnixMicro()
	db, l, m := setup(t, Settings{}, time.Now(), 0)
	other := *l
	other.By.Name, other.Table = "w", "t_by_w"
	if err := db.Write("INSERT INTO k.t_by_v (v, p, written) VALUES ('v', 'p', true)", nil, us); err != nil {
		t.Fatal(err)
	}
	m.Deleted(&other, [][]byte{[]byte("p")}, us+1)
	got, err := m.Reconcile(context.Background(), Garbage{LookUp: l, Value: []byte("v"), Key: [][]byte{[]byte("p")}})
	if err != nil || got != Left {
		t.Fatalf("%d, want %d; %v", got, Left, err)
	}
}

// What is remembered is bounded: the oldest is forgotten, the latest never.
func TestDeletionsAreBounded(t *testing.T) {
	var d deletions
	for i := range 3 * rememberedDeletions {
		d.add(strconv.Itoa(i), int64(i+1))
		if d.at(strconv.Itoa(i)) != int64(i+1) {
			t.Fatalf("deletion %d is forgotten at once", i)
		}
	}
	if len(d.now)+len(d.old) > 2*rememberedDeletions || d.at("0") != 0 {
		t.Errorf("%d and %d remembered", len(d.now), len(d.old))
	}
	d.add("x", 9)
	d.add("x", 5)
	if d.at("x") != 9 {
		t.Errorf("an older delete took the place of a newer one: %d", d.at("x"))
	}
}
