package maintain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// A row whose value can not be known is a candidate from before its write until its entry is there.
func TestPendingRows(t *testing.T) {
	b := setup(t, Settings{}, nil)
	ctx := context.Background()
	candidates := func(want int) {
		t.Helper()
		if keys, ok := b.m.Candidates(b.l); !ok || len(keys) != want {
			t.Errorf("%d candidates, want %d", len(keys), want)
		}
	}
	begin := func() *Unknown {
		u := &Unknown{LookUp: b.l, Keys: [][][]byte{{[]byte("p")}}}
		b.must(b.m.BeginUnknown(ctx, u, gocql.One))
		return u
	}
	u := begin()
	candidates(1)
	b.must(b.db.Write("INSERT INTO k.t (p, v) VALUES ('p', 'computed')", nil, 5))
	b.m.EndUnknown(u, kind.Applied, kind.Level{Consistency: gocql.One})
	b.drain()
	candidates(0)
	if b.entries("computed") != 1 {
		t.Error("the computed value has no entry")
	}
	b.m.EndUnknown(begin(), kind.Refused, kind.Level{Consistency: gocql.One})
	b.drain()
	candidates(0)

	// One whose write was lost outlives the process, until its write's life is over.
	b.m.EndUnknown(begin(), kind.Lost, kind.Level{Consistency: gocql.One})
	b.m = New(b.m.Parts, Settings{})
	candidates(0)
	b.must(b.m.LoadPending(ctx, b.l))
	candidates(1)
	b.m.SweepPending(ctx, b.l)
	candidates(1)
	b.uptime += 12 * 24 * time.Hour
	b.m.SweepPending(ctx, b.l)
	candidates(0)

	for range MaxPending + 1 {
		begin()
	}
	if _, ok := b.m.Candidates(b.l); ok {
		t.Error("too many are read each time")
	}
}

// settling is a session by which something happens when an answer with rows has just been read.
type settling struct {
	exec.Session
	then func()
}

func (s *settling) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	a, err := s.Session.Query(ctx, q)
	if then := s.then; then != nil && len(a.Rows) > 0 {
		s.then = nil
		then()
	}
	return a, err
}

// A row that is settled while those of an earlier process are looked for is none of theirs.
func TestOwnPendingRowsAreNotFoundAgain(t *testing.T) {
	b := setup(t, Settings{}, nil)
	ctx := context.Background()
	u := &Unknown{LookUp: b.l, Keys: [][][]byte{{[]byte("p")}}}
	b.must(b.m.BeginUnknown(ctx, u, gocql.One))
	settled := false
	b.m.Session = &settling{b.m.Session, func() {
		settled = true
		b.m.EndUnknown(u, kind.Refused, kind.Level{Consistency: gocql.One})
		b.drain()
	}}
	b.must(b.m.LoadPending(ctx, b.l))
	if keys, _ := b.m.Candidates(b.l); len(keys) != 0 || !settled {
		t.Errorf("%d candidates", len(keys))
	}
}

// Rows that another process noted are found whatever ids the two begin with, which is at random.
func TestPendingRowsOfOthersAreFound(t *testing.T) {
	b := setup(t, Settings{}, nil)
	ctx := context.Background()
	settings := Settings{}.Defaults() // which two may share
	for n := range 20 {
		other, m := New(b.m.Parts, settings), New(b.m.Parts, settings)
		u := &Unknown{LookUp: b.l, Keys: [][][]byte{{fmt.Append(nil, "row ", n)}}}
		b.must(other.BeginUnknown(ctx, u, gocql.One))
		b.must(m.LoadPending(ctx, b.l))
		if keys, _ := m.Candidates(b.l); len(keys) != n+1 {
			t.Fatalf("%d rows are known to be pending, want %d", len(keys), n+1)
		}
	}
}

// What others note is found whenever somebody looks again, and no candidate any more once they took it off; what this process noted stays, also if that could not be put.
func TestPendingRowsAreLookedForAgain(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
	ctx := exec.In(t.Context(), "dc1")
	other := New(b.m.Parts, Settings{})
	note := func(m *Maintainer, key string) *Unknown {
		u := &Unknown{LookUp: b.l, Keys: [][][]byte{{[]byte(key)}}}
		_ = m.BeginUnknown(ctx, u, gocql.LocalQuorum)
		return u
	}
	look := func(want int) {
		t.Helper()
		b.must(b.m.LoadPending(ctx, b.l))
		if keys, _ := b.m.Candidates(b.l); len(keys) != want {
			t.Errorf("%d candidates, want %d", len(keys), want)
		}
	}
	look(0)
	first := note(other, "one")
	b.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if strings.HasPrefix(q.Text, "SELECT") && q.Consistency != gocql.EachQuorum {
			return errors.New("what was noted in one data centre may not be seen so")
		}
		return nil
	})
	look(1)
	b.db.Before.Set(func(_ context.Context, q exec.Query) error { // the other data centre is down
		if q.Consistency == gocql.EachQuorum {
			return exectest.Timeout
		}
		return nil
	})
	b.m.Session = &blind{b.m.Session}
	look(1)
	b.m.Session = b.sent
	b.db.Before.Set(func(context.Context, exec.Query) error { return exectest.Timeout })
	unput := note(b.m, "own")
	b.db.Before.Clear()
	b.m.EndUnknown(unput, kind.Lost, kind.Level{Consistency: gocql.LocalQuorum})
	look(2)
	other.EndUnknown(first, kind.Refused, kind.Level{Consistency: gocql.LocalQuorum})
	other.complete(ctx, <-other.queue)
	look(1)
	b.uptime += 12 * 24 * time.Hour
	look(0)
}

// A row whose write was answered, and which could not be settled then (the queue is full, Cassandra does not answer), is settled by the next sweep: it is no candidate for good, nor until the write's life
// would be over if it had been lost.
func TestPendingRowsOfAnsweredWritesAreSwept(t *testing.T) {
	for name, settle := range map[string]func(*bench){
		"the queue is full": func(b *bench) { b.drain() },
		"it fails": func(b *bench) {
			b.db.Before.Set(func(context.Context, exec.Query) error { return exectest.Timeout })
			b.drain()
			b.db.Before.Clear()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, Settings{Queue: 1}, nil)
			ctx := context.Background()
			var all []*Unknown
			for range 2 {
				u := &Unknown{LookUp: b.l, Keys: [][][]byte{{[]byte("p")}}}
				b.must(b.m.BeginUnknown(ctx, u, gocql.One))
				all = append(all, u)
			}
			b.must(b.db.Write("INSERT INTO k.t (p, v) VALUES ('p', 'computed')", nil, 5))
			for _, u := range all {
				b.m.EndUnknown(u, kind.Applied, kind.Level{Consistency: gocql.One})
			}
			settle(b)
			b.must(b.m.LoadPending(ctx, b.l))
			b.m.SweepPending(ctx, b.l)
			if keys, _ := b.m.Candidates(b.l); len(keys) != 0 || b.entries("computed") == 0 {
				t.Errorf("%d candidates, %d entries", len(keys), b.entries("computed"))
			}
		})
	}
}

// Where nobody sweeps, at a member that does not lead, they are settled along with the next write that is answered; those that Cassandra refuses are not tried again and again.
func TestPendingRowsOfAnsweredWritesAreSettledWithLaterOnes(t *testing.T) {
	b := setup(t, Settings{Queue: 1}, nil)
	ctx := context.Background()
	refuse := false
	b.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if refuse && strings.HasPrefix(q.Text, "SELECT") {
			return exectest.Refuse("it may not")
		}
		return nil
	})
	write := func(n int) {
		t.Helper()
		for range n {
			u := &Unknown{LookUp: b.l, Keys: [][][]byte{{[]byte("p")}}}
			b.must(b.m.BeginUnknown(ctx, u, gocql.One))
			b.m.EndUnknown(u, kind.Applied, kind.Level{Consistency: gocql.One})
		}
	}
	write(3)
	for len(b.m.queue) > 0 {
		b.m.complete(ctx, <-b.m.queue)
	}
	b.m.settleLeft(ctx)
	if keys, _ := b.m.Candidates(b.l); len(keys) != 0 || b.m.leftover.Load() {
		t.Errorf("%d candidates", len(keys))
	}
	refuse = true
	write(2)
	b.m.complete(ctx, <-b.m.queue)
	b.m.settleLeft(ctx)
	if keys, _ := b.m.Candidates(b.l); len(keys) == 0 || b.m.leftover.Load() {
		t.Errorf("%d candidates; tried again: %v", len(keys), b.m.leftover.Load())
	}
}

// blind is a session that sees nothing of what was noted.
type blind struct{ exec.Session }

func (b *blind) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	_, err := b.Session.Query(ctx, q)
	return exec.Answer{}, err
}
