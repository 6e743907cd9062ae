package verify

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// Rows whose keys have no room in the look-up are found, counted, and given one entry for each value, which the next pass is content with.
func TestNoRoom(t *testing.T) {
	db, l, checker := setup(t, Settings{Ranges: 4})
	write := func(p string, long bool, v string) {
		key := []byte(p)
		if long {
			key = append(bytes.Repeat([]byte("k"), 65530), p...)
		}
		if err := db.Write("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)", [][]byte{key, exec.FromInt32(1), []byte(v)}, 5); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"a", "b", "c"} {
		write(p, true, "v")
	}
	write("d", true, "w")
	write("e", false, "v")
	db.Before.Set(func(_ context.Context, q exec.Query) error {
		for _, v := range q.Values {
			if len(v) > 65526 {
				return errors.New("the key is too long")
			}
		}
		return nil
	})
	for n := range int64(2) {
		result, err := checker.Pass(context.Background(), l, nil, nil)
		if err != nil || result.NoRoom != 4 || result.Rows != 3 || result.Missing != 3*(1-n) || result.Repaired != 3*(1-n) || result.Orphans != 0 {
			t.Errorf("%+v %v", result, err)
		}
	}
	a, err := db.Query(context.Background(), exec.Query{Text: l.Find(), Values: [][]byte{[]byte("v"), exec.FromInt32(10)}})
	if err != nil || len(a.Rows) != 2 || l.StandsIn(a.Rows[0]) == l.StandsIn(a.Rows[1]) {
		t.Errorf("%q %v", a.Rows, err)
	}
}
