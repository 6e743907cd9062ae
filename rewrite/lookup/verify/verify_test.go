package verify

import (
	"context"
	"fmt"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

func setup(t testing.TB, s Settings) (*exectest.Memory, *match.LookUp, *Checker) {
	t.Helper()
	db := exectest.New()
	base := schema.Table{Keyspace: "k", Name: "t", Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "c", Kind: schema.Clustering, Position: 0, Type: "int"},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
	db.Add(base)
	l, refusal := match.New(plan.Rewrite{Keyspace: "k", Base: "t", Column: "v", Table: "t_by_v"}, &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if _, err := db.Query(context.Background(), exec.Query{Text: l.Create("m")}); err != nil {
		t.Fatal(err)
	}
	m := maintain.New(maintain.Parts{Session: db}, maintain.Settings{})
	return db, l, New(db, m, s)
}

// entryOf writes an entry of a stamped write.
func entryOf(db *exectest.Memory, l *match.LookUp, value []byte, key [][]byte, id int, ts int64) error {
	return db.Write(l.Put(), append(append([][]byte{value}, key...), []byte{byte(maintain.Stamped)}, exec.FromInt64(int64(id)), exec.FromInt64(ts)), 0)
}

// A pass finds exactly what is missing, repairs it, and counts what is too much; the next one is clean.
func TestPass(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		db, l, checker := setup(t, Settings{Ranges: rapid.IntRange(1, 9).Draw(r, "ranges"), Collect: int64(rapid.IntRange(1, 20).Draw(r, "collect"))})
		now := time.Now().UnixMicro()
		var missing []string
		orphans, old, surplus := int64(0), int64(0), int64(0)
		rows := rapid.IntRange(0, 40).Draw(r, "rows")
		for i := range rows {
			p, c, v := []byte(fmt.Sprint("p", i%7)), exec.FromInt32(int32(i)), []byte(fmt.Sprint("v", i%3))
			base, entry := true, true
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				entry = false
				missing = append(missing, describe(l, v, [][]byte{p, c}))
			case 1:
				base = false
				orphans++
			}
			ts := now - 1000
			if !base && rapid.Bool().Draw(r, "outdated") { // the row has another value, at a later time
				old++
				if err := db.Write("INSERT INTO k.t (p, c, v) VALUES (?, ?, '')", [][]byte{p, c}, ts+1); err != nil {
					r.Fatal(err)
				}
			}
			if base {
				if err := db.Write("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)", [][]byte{p, c, v}, ts); err != nil {
					r.Fatal(err)
				}
			}
			if entry {
				for id := range rapid.IntRange(1, 3).Draw(r, "entries") {
					if id > 0 {
						surplus++
					}
					if err := entryOf(db, l, v, [][]byte{p, c}, id, ts-int64(id)); err != nil {
						r.Fatal(err)
					}
				}
			}
		}
		sort.Strings(missing)
		result, err := checker.Pass(context.Background(), l, nil, nil)
		if err != nil {
			r.Fatal(err)
		}
		n := int64(len(missing))
		if result.Missing != n || result.Repaired != n || result.Orphans != orphans || result.Removed != old || result.Surplus != surplus || result.Rows != int64(rows)-orphans {
			r.Fatalf("%+v; want %d missing, %d orphans, %d of them removed", result, n, orphans, old)
		}
		if n <= MaxSample && fmt.Sprint(result.Sample) != fmt.Sprint(missing) {
			r.Fatalf("sample %v, want %v", result.Sample, missing)
		}
		if result, err = checker.Pass(context.Background(), l, nil, nil); err != nil || result.Missing != 0 || result.Orphans != orphans-old {
			r.Fatalf("%+v %v", result, err)
		}
		if left := result.Surplus; left > 2*(orphans-old) { // of rows that hold their value one entry is left
			r.Fatalf("%d entries too many are left", left)
		}
	})
}

// A row that is written while the pass looks at it is no difference.
func TestRowsThatChange(t *testing.T) {
	db, l, checker := setup(t, Settings{Ranges: 1, Workers: 1, Parallel: 1})
	ts := time.Now().UnixMicro()
	key := [][]byte{[]byte("p"), exec.FromInt32(1)}
	write := func(v string) {
		ts++
		if err := entryOf(db, l, []byte(v), key, 1, ts); err != nil {
			t.Fatal(err)
		}
		if err := db.Write("INSERT INTO k.t (v, p, c) VALUES (?, ?, ?)", append([][]byte{[]byte(v)}, key...), ts); err != nil {
			t.Fatal(err)
		}
	}
	write("v0")
	n := 0
	db.Before.Set(func(context.Context, exec.Query) error { n++; write(fmt.Sprint("v", n)); return nil })
	result, err := checker.Pass(context.Background(), l, nil, nil)
	if err != nil || result.Missing != 0 || n < 4 {
		t.Errorf("%+v %v after %d statements", result, err, n)
	}
}

func TestPassFails(t *testing.T) {
	db, l, checker := setup(t, Settings{Ranges: 8})
	n := 0
	db.Before.Set(func(context.Context, exec.Query) error {
		if n++; n == 11 {
			return exectest.Timeout
		}
		return nil
	})
	checker.settings.Workers = 1
	if _, err := checker.Pass(context.Background(), l, nil, nil); !exec.Down(err) {
		t.Errorf("%v", err)
	}
}
