package verify

import (
	"context"
	"testing"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
)

// An entry counts if it lives as long as its row's value: one of an earlier write of the same value may not, where that of the latest was not put and is forgotten. A row with too short
// an entry was found until now, so it is not missing, but is given a lasting one.
func TestLives(t *testing.T) {
	const forever, hour, day = int32(0), int32(3600), int32(24 * 3600)
	type written struct {
		at  int64 // 0: an unstamped one; after now
		ttl int32
	}
	for name, c := range map[string]struct {
		base    written
		entries []written
		put     bool
	}{
		"an entry of its own":                             {written{20, forever}, []written{{20, forever}}, false},
		"an earlier one that lives for ever":              {written{20, forever}, []written{{10, forever}}, false},
		"an earlier one that expires":                     {written{20, forever}, []written{{10, day}}, true},
		"one that expires beside one that does not":       {written{20, forever}, []written{{10, day}, {20, forever}}, false},
		"one that is not settled, and lives for ever":     {written{20, forever}, []written{{10, day}, {0, forever}}, false},
		"one of its own that expires":                     {written{20, hour}, []written{{20, 2 * hour}}, false},
		"an earlier one that expires before":              {written{20, day}, []written{{10, 2 * hour}}, true},
		"an earlier one that expires after":               {written{20, hour}, []written{{10, day}}, false},
		"one that is not settled, and expires after":      {written{20, hour}, []written{{0, 2 * hour}}, false},
		"one of an earlier, and one of a later write":     {written{20, day}, []written{{10, 2 * hour}, {30, 25 * hour}}, false},
		"an earlier one that lives longer than it has to": {written{20, hour}, []written{{10, forever}}, false},
	} {
		for _, recheck := range []bool{false, true} {
			db, l, checker := setup(t, Settings{Ranges: 4})
			start := time.Now()
			now := start
			db.Now = func() time.Time { return now }
			key := [][]byte{[]byte("p"), exec.FromInt32(1)}
			values := append([][]byte{[]byte("v")}, key...)
			at := func(w written) int64 { return start.UnixMicro() + w.at }
			text, with := "INSERT INTO k.t (v, p, c) VALUES (?, ?, ?)", values
			if c.base.ttl > 0 {
				text, with = text+" USING TTL ?", append(with[:3:3], exec.FromInt32(c.base.ttl))
			}
			if err := db.Write(text, with, at(c.base)); err != nil {
				t.Fatal(err)
			}
			for i, e := range c.entries {
				kinds, ts := maintain.Stamped, at(e)
				if e.at == 0 {
					kinds, ts = maintain.Unstamped, 1
				}
				text, with := l.Put(), append(values[:3:3], []byte{byte(kinds)}, exec.FromInt64(int64(i+1)), exec.FromInt64(ts))
				if e.ttl > 0 {
					text, with = l.PutTTL(), append(with, exec.FromInt32(e.ttl))
				}
				if err := db.Write(text, with, 0); err != nil {
					t.Fatal(err)
				}
			}
			look := func() (kind.Findings, error) {
				if recheck {
					return checker.Recheck(context.Background(), l, key, func(context.Context) error { return nil })
				}
				return checker.Pass(context.Background(), l, nil, nil)
			}
			for n, repaired := range []int64{map[bool]int64{true: 1}[c.put], 0} { // the second pass is content
				if found, err := look(); err != nil || found.Missing != 0 || found.Repaired != repaired || found.Rows != 1 {
					t.Errorf("%s, recheck %t: pass %d: %+v, %v; want %d repaired", name, recheck, n, found, err, repaired)
				}
			}
			life := 365 * day
			if c.base.ttl > 0 {
				life = c.base.ttl
			}
			now = start.Add(time.Duration(life-1) * time.Second)
			a, err := db.Query(context.Background(), exec.Query{Text: l.Find(), Values: [][]byte{[]byte("v"), exec.FromInt32(10)}})
			if err != nil || len(a.Rows) == 0 {
				t.Errorf("%s, recheck %t: the row is not found as long as it is there (%v)", name, recheck, err)
			}
		}
	}
}

// Of rows that expire, and whose entries are those of the same writes, or live for ever, nothing is read twice.
func TestLivesThatAgree(t *testing.T) {
	db, l, checker := setup(t, Settings{Ranges: 1})
	ts := time.Now().UnixMicro()
	for i := range int32(50) {
		row := [][]byte{[]byte("v"), []byte("p"), exec.FromInt32(i)}
		if err := db.Write("INSERT INTO k.t (v, p, c) VALUES (?, ?, ?) USING TTL ?", append(row[:3:3], exec.FromInt32(3600)), ts); err != nil {
			t.Fatal(err)
		}
		text, entry := l.Put(), append(row[:3:3], []byte{byte(maintain.Stamped)}, exec.FromInt64(1), exec.FromInt64(ts))
		if i%2 == 0 {
			text, entry = l.PutTTL(), append(entry, exec.FromInt32(7200))
		}
		if err := db.Write(text, entry, 0); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	db.Before.Set(func(context.Context, exec.Query) error { n++; return nil })
	if found, err := checker.Pass(context.Background(), l, nil, nil); err != nil || found.Rows != 50 || n != 2 {
		t.Errorf("%+v, %v, %d statements", found, err, n)
	}
}

// A row whose entry is that of another write, or was not settled, is given one of its own if both expire: the next pass does not look at it again.
func TestLivesAreSettledOnce(t *testing.T) {
	db, l, checker := setup(t, Settings{Ranges: 1})
	row := [][]byte{[]byte("v"), []byte("p"), exec.FromInt32(1)}
	if err := db.Write("INSERT INTO k.t (v, p, c) VALUES (?, ?, ?) USING TTL 3600", row, time.Now().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	entry := append(row[:3:3], []byte{byte(maintain.Unstamped)}, exec.FromInt64(1), exec.FromInt64(1), exec.FromInt32(7200))
	if err := db.Write(l.PutTTL(), entry, 0); err != nil {
		t.Fatal(err)
	}
	scans := 0
	db.Before.Set(func(_ context.Context, q exec.Query) error {
		if q.Text == l.ScanBase() || q.Text == l.ScanEntries() {
			scans++
		}
		return nil
	})
	for pass, want := range []int{4, 2} {
		scans = 0
		if found, err := checker.Pass(context.Background(), l, nil, nil); err != nil || found.Missing != 0 || found.Repaired != 0 || scans != want {
			t.Errorf("pass %d: %+v, %v; %d scans, want %d", pass, found, err, scans, want)
		}
	}
}
