package heavy

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func key(n uint64) Key {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, n))
	return Key(sum[:16])
}

// TestNeverTooLow: an estimate is at least what was added.
func TestNeverTooLow(t *testing.T) {
	s := New()
	rapid.Check(t, func(t *rapid.T) {
		*s = Sketch{}
		added := map[uint64]uint32{}
		for _, n := range rapid.SliceOfN(rapid.Uint64Range(0, 50), 1, 300).Draw(t, "keys") {
			w := rapid.Uint32Range(1, 9).Draw(t, "weight")
			added[n] += w
			if got := s.Add(key(n), w); got < added[n] {
				t.Fatalf("key %d: %d after %d were added", n, got, added[n])
			}
		}
		for n, w := range added {
			if got := s.Weight(key(n)); got != w {
				t.Fatalf("key %d weighs %d, %d were added and no other key is near", n, got, w)
			}
		}
	})
}

// TestHeavyKeysStandOutOfAFlood: among 400,000 keys of weight 1 those of weight 200 are told.
func TestHeavyKeysStandOutOfAFlood(t *testing.T) {
	s := New()
	for n := range uint64(400_000) {
		s.Add(key(n), 1)
	}
	for n := range uint64(100) {
		s.Add(key(n), 199)
	}
	for n := range uint64(100) {
		if w := s.Weight(key(n)); w < 200 || w > 210 {
			t.Errorf("key %d weighs %d, 200 were added", n, w)
		}
	}
	var most uint32
	for n := uint64(1000); n < 400_000; n++ {
		most = max(most, s.Weight(key(n)))
	}
	if most > 100 {
		t.Errorf("a key of weight 1 is taken for %d", most)
	}
	s.Halve()
	if w := s.Weight(key(5)); w < 100 || w > 105 {
		t.Errorf("half of 200 is %d", w)
	}
}

func TestWeightsDoNotOverflow(t *testing.T) {
	s := New()
	s.Raise(key(1), ^uint32(0)-1)
	if got := s.Add(key(1), 100); got != ^uint32(0) || s.Weight(key(1)) != got {
		t.Errorf("the weight is %d", got)
	}
}

func TestNoAllocation(t *testing.T) {
	s, k := New(), key(7)
	if n := testing.AllocsPerRun(100, func() { s.Add(k, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
