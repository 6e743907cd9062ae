package decoy

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestFormer: whatever the rate, and whatever pauses there are, once values have come for two seconds there is always a decoy, it is older than
// Age and was kept, and no more is kept than was said.
func TestFormer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		size := rapid.IntRange(1, 64).Draw(t, "size")
		gap := rapid.SampledFrom([]int64{100_000, 3_000_000, 40_000_000, 700_000_000, 1_500_000_000}).Draw(t, "gap")
		r := New[int64](size)
		at, first := int64(0), int64(-1)
		for range rapid.IntRange(1, 3_000).Draw(t, "n") {
			at += random.Int64N(gap) + 1
			if random.IntN(500) == 0 {
				at += 40 * Age // between windows
			}
			if first < 0 {
				first = at
			}
			old, ok := r.Former(at, random)
			if ok && (old >= at-Age || old < first) {
				t.Fatalf("at %d: %d", at, old)
			}
			if !ok && at-first > 2*Age+gap {
				t.Fatalf("at %d there is no decoy, though the first value came at %d", at, first)
			}
			r.Keep(at, at, random)
			if r.Len() > max(size, 3) {
				t.Fatalf("%d values are kept of %d", r.Len(), size)
			}
		}
	})
}

// TestFair: every value of a generation is kept with the same chance.
func TestFair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	early, all := 0, 0
	for range 2_000 {
		r := New[int](30)
		for i := range 100 {
			r.Keep(int64(i), i, random)
		}
		for _, v := range r.generations[0].values {
			if all++; v < 50 {
				early++
			}
		}
	}
	if early < all*48/100 || early > all*52/100 {
		t.Errorf("%d of %d are of the first half", early, all)
	}
}
