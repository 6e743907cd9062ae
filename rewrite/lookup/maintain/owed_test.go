package maintain

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
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

// What is owed takes so much memory and no more, and the order of what can be put and what is refused does not matter.
func TestOwedIsBounded(t *testing.T) {
	b := setup(t, Settings{}, nil)
	large := make([]byte, owedBytes/8)
	for range 20 {
		b.m.owe(b.change(string(large)))
	}
	if n := len(b.m.owed.entries); n != 7 || b.m.owed.bytes > owedBytes {
		t.Errorf("%d entries of %d bytes", n, b.m.owed.bytes)
	}
	b.must(b.m.PutOwed(t.Context(), b.lookup(b.db.Schema().Table("k", "t"), "w")))
	if n := len(b.m.owed.entries); n != 7 {
		t.Errorf("%d are left of 7 that are another's", n)
	}
	b.m.owe(b.change("latest"))
	if last := b.m.owed.entries[len(b.m.owed.entries)-1]; string(last.value) != "latest" || b.m.owed.bytes > owedBytes {
		t.Errorf("%.10q is the last of %d bytes", last.value, b.m.owed.bytes)
	}
	b.m.owed.take()
	b.m.owe(b.change("a"))
	if len(b.m.owed.entries) != 1 {
		t.Error("the room of what was put is not given back")
	}
}

// A data centre that is down keeps the others from nothing, and is put what it is owed once it is there.
func TestOwedWhereADataCentreIsDown(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3", "dc3": "3"})
	b.m.owe(b.change("a"))
	b.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if q.Consistency == gocql.EachQuorum {
			return exectest.Timeout
		}
		return nil
	})
	b.must(b.m.PutOwed(t.Context(), b.l))
	if b.entries("a") != 1 || len(b.m.owed.entries) != 1 {
		t.Errorf("%d entries, %d owed", b.entries("a"), len(b.m.owed.entries))
	}
	b.db.Before.Clear()
	b.must(b.m.PutOwed(t.Context(), b.l))
	if len(b.m.owed.entries) != 0 {
		t.Error("it is owed still")
	}
}

// A write whose timestamp Cassandra chose was acknowledged, at ONE, and its entry could not be put. It is put for what the base shows; if the base can not be read, or too much waits, it is owed: a
// pass reads at QUORUM, and may not see the row. So it is where the base of some look-up was emptied meanwhile, and nothing that was seen before counts.
func TestOwedWhereTheBaseCanNotBeRead(t *testing.T) {
	for _, why := range []string{"the base can not be read", "too much waits", "its key has no room", "a base was emptied"} {
		b := setup(t, Settings{Queue: 1}, nil)
		b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3"})
		b.db.Before.Set(func(context.Context, exec.Query) error { return exectest.Timeout })
		x := b.change("a")
		x.Stamped = false
		if why == "its key has no room" { // of what stands for such rows the base is not read at all
			x.Key = [][]byte{bytes.Repeat([]byte("k"), match.MaxEntryKey+1)}
		}
		if _, err := b.m.Begin(t.Context(), []*Change{x}, gocql.One); err == nil {
			t.Fatal("the entry was put")
		}
		if why == "too much waits" {
			b.m.queue <- completion{change: b.change("b")}
		}
		b.m.End([]*Change{x}, kind.Applied, kind.Level{Consistency: gocql.One})
		if why == "a base was emptied" {
			b.db.Before.Clear()
			b.m.NewEra(b.l)
		}
		b.drain()
		b.db.Before.Clear()
		b.must(b.m.PutOwed(t.Context(), b.l))
		key, _ := b.l.EntryKey(x.Key)
		have, err := b.m.entries(t.Context(), b.l, []byte("a"), key, gocql.Quorum)
		if err != nil || len(have) != 1 {
			t.Errorf("%s: it has %d entries (%v)", why, len(have), err)
		}
	}
}
