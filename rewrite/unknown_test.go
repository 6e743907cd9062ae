package rewrite

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestAnUnknownValueIsMissedAtNoMember: which value a write gives its row is Cassandra's to compute, so its entry is put after the answer. Until then the member that it came through takes
// the row for a candidate of each read; the others do not know of it, and answer by the change only once it was verified.
func TestAnUnknownValueIsMissedAtNoMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		_, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		leader.answered()
		other.answered()
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") {
				time.Sleep(time.Second)
			}
			return nil
		})
		for n, w := range f.all {
			if a := w.say("UPDATE hotel.stays SET guest += ? WHERE room = ? AND day = ? AND n = ?", str("guest1"), str("room9"), num(9), num(n)); a.failed || !a.forwarded {
				t.Fatalf("%+v", a)
			}
			for _, w := range f.all {
				w.same("guest1")
			}
		}
		f.db.Before.Clear()
		for _, w := range f.all {
			w.answered()
			w.same("guest1")
		}
	})
}

// TestAnUnknownValueThatComesLateIsMissedAtNoMember: a write whose value is Cassandra's to compute timed out, and is carried out once all was verified and is served again. Whoever answers by the
// change takes its row for a candidate: the member that it came through, the leader, and who joins later.
func TestAnUnknownValueThatComesLateIsMissedAtNoMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		defer f.close()
		_, err := f.leader().engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		for _, w := range f.all {
			w.answered()
		}
		key := [][]byte{str("room9"), num(9), num(1)}
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "UPDATE hotel.stays ") {
				return exectest.Timeout
			}
			return nil
		})
		if a := f.all[1].say("UPDATE hotel.stays SET guest += ? WHERE room = ? AND day = ? AND n = ?", append([][]byte{str("guest1")}, key...)...); !a.failed {
			t.Fatalf("%+v", a)
		}
		f.db.Before.Clear()
		time.Sleep(time.Minute)
		for _, w := range f.all {
			w.answered()
		}
		f.join().answered()
		must(t, f.db.Write("UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?", append([][]byte{str("guest1")}, key...), 0))
		for _, w := range f.all {
			w.same("guest1")
		}
	})
}

// TestNothingIsAnsweredBeforeOthersNotesAreKnown: while what others noted can not be read no member answers by the change, and none waits for another because of that.
func TestNothingIsAnsweredBeforeOthersNotesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		_, err := f.leader().engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if m := f.all[0].engine.Migrations(); strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "stays_by_guest") && strings.Contains(q.Text, "bucket") && len(m) > 0 && m[0].Mode().Rely { // not the leader's own pass
				return exectest.Timeout
			}
			return nil
		})
		f.leader().await(migrate.Serving)
		time.Sleep(20 * time.Second)
		for _, w := range f.all {
			if a := w.say(byGuest, str("guest1")); !a.forwarded || !w.member.Serving() {
				t.Errorf("member %s: answered as written: %t, its lease holds: %t", w.member.ID(), a.forwarded, w.member.Serving())
			}
		}
		f.db.Before.Clear()
		for _, w := range f.all {
			w.answered()
		}
	})
}

// TestNoDifferenceBeforeOthersNotesAreKnown: nor does a member take it for a difference, and suspend the change, that it lacks a row which it can not know of yet.
func TestNoDifferenceBeforeOthersNotesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		_, err := f.leader().engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		for _, w := range f.all {
			w.answered()
		}
		key := [][]byte{str("room9"), num(9), num(1)}
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "UPDATE hotel.stays ") {
				return exectest.Timeout
			}
			return nil
		})
		if a := f.all[1].say("UPDATE hotel.stays SET guest += ? WHERE room = ? AND day = ? AND n = ?", append([][]byte{str("guest1")}, key...)...); !a.failed {
			t.Fatalf("%+v", a)
		}
		f.db.Before.Clear()
		time.Sleep(time.Minute)
		for _, w := range f.all {
			w.answered()
		}
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "stays_by_guest") && strings.Contains(q.Text, "bucket") {
				return exectest.Timeout
			}
			return nil
		})
		joins := f.join()
		must(t, f.db.Write("UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?", append([][]byte{str("guest1")}, key...), 0))
		for range 20 {
			joins.same("guest1")
			time.Sleep(time.Second)
		}
		f.db.Before.Clear()
		joins.answered()
		joins.same("guest1")
		if m := joins.engine.Migrations()[0]; m.State != migrate.Serving || m.Differed != 0 {
			t.Errorf("%s: %s; %d differences", m.State, m.Reason, m.Differed)
		}
	})
}

// TestWhatAMemberOwesIsPutBeforeOthersAnswer: a write through one member was lost, and so was the put of its entry. Until that member has put it none answers by the change: the write may be carried
// out at any time.
func TestWhatAMemberOwesIsPutBeforeOthersAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		_, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		leader.answered()
		other.answered()
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if q.Text == setGuest || strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") && string(q.Values[0]) == "zoe" {
				return exectest.Timeout
			}
			return nil
		})
		if a := other.say(setGuest, append([][]byte{str("zoe")}, emptiedKey...)...); !a.failed {
			t.Fatalf("%+v", a)
		}
		time.Sleep(time.Minute)
		must(t, f.db.Write(setGuest, append([][]byte{str("zoe")}, emptiedKey...), time.Now().UnixMicro()))
		leader.same("zoe")
		f.db.Before.Clear()
		for _, w := range f.all {
			w.answered()
			w.same("zoe")
		}
	})
}
