package inflight

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestALifeOfASlot holds State to the table of its moves: from each status each move does what the table says, or nothing.
func TestALifeOfASlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		want, claims, now := Free, 0, int64(0)
		var word, answer uint64 // of the last claim, of the last answer
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			now += int64(rapid.IntRange(0, 1000).Draw(t, "later")) * int64(time.Millisecond)
			before := s.Word()
			switch rapid.SampledFrom([]string{"claim", "answer", "release", "orphan", "reunite"}).Draw(t, "move") {
			case "claim":
				if s.Occupied() {
					continue // the upward goroutine takes another
				}
				s.Claim(now)
				want, word, claims = Busy, s.Word(), claims+1
				if s.Holds(before) && Of(before) != Free {
					t.Fatal("two requests have one name")
				}
			case "answer":
				if w, ok := s.Answer(); ok != (want == Busy) {
					t.Fatalf("answered: %v, in status %d", ok, want)
				} else if ok {
					want, answer = Answered, w
				}
			case "release":
				if s.Release(answer); want == Answered && before == answer {
					want = Free
				}
			case "orphan":
				if ok := s.Orphan(before); ok != (want == Busy) {
					t.Fatalf("orphaned: %v, in status %d", ok, want)
				} else if ok {
					want = Orphaned
				}
			case "reunite":
				if ok := s.Reunite(); ok != (want == Orphaned) {
					t.Fatalf("reunited: %v, in status %d", ok, want)
				} else if ok {
					want = Free
				}
			}
			if s.Status() != want || s.Occupied() != (want == Busy || want == Orphaned) || claims > 0 && s.Holds(word) != (want != Free) {
				t.Fatalf("status %d of %d claims, want %d", s.Status(), claims, want)
			}
		}
	})
}

func TestAge(t *testing.T) {
	var s State
	s.Claim(int64(time.Hour))
	if got := Age(s.Word(), Tick(int64(time.Hour+time.Second))); got < 118 || got > 120 {
		t.Errorf("a second is %d ticks", got)
	}
	if got := Age(s.Word(), Tick(int64(time.Hour-time.Second))); got != 0 {
		t.Errorf("what is still to come is %d ticks old", got)
	}
}

func TestTable(t *testing.T) {
	var x Table[int]
	if x.At(1) != nil {
		t.Error("a slot is there that nobody made")
	}
	for _, stream := range []int16{0, 63, 64, 1<<15 - 1} {
		*x.Make(stream) = int(stream) + 1
	}
	sum := 0
	x.Each(func(stream int16, n *int) {
		if *n != 0 && *n != int(stream)+1 || x.At(stream) != n {
			t.Errorf("slot %d holds %d", stream, *n)
		}
		sum += *n
	})
	if sum != 1+64+65+1<<15 {
		t.Errorf("the slots hold %d", sum)
	}
}
