package sketch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// mixed makes a uniform hash of a number (splitmix64).
func mixed(n uint64) uint64 {
	n += 0x9E3779B97F4A7C15
	n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
	n = (n ^ n>>27) * 0x94D049BB133111EB
	return n ^ n>>31
}

func packed(t interface{ Fatal(...any) }, v *Values) []byte {
	b, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestValuesMergeExactly: however a stream is cut up, and in whatever order and grouping the pieces are put together, the
// result is that of the whole, to the last byte.
func TestValuesMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		k, domain := 32, rapid.SampledFrom([]int{5, 31, 32, 33, 200, 5000}).Draw(t, "domain")
		parts := make([]*Values, rapid.IntRange(1, 6).Draw(t, "parts"))
		for i := range parts {
			parts[i] = New(k)
		}
		whole := New(k)
		for range rapid.IntRange(0, 600).Draw(t, "n") {
			h := mixed(uint64(r.IntN(domain)))
			whole.Add(h)
			parts[r.IntN(len(parts))].Add(h)
		}
		for len(parts) > 1 { // any two
			i := r.IntN(len(parts))
			a := parts[i]
			parts = slices.Delete(parts, i, i+1)
			j := r.IntN(len(parts))
			before := packed(t, a)
			if err := parts[j].Merge(a); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, packed(t, a)) {
				t.Fatal("merging changed the operand")
			}
		}
		if !bytes.Equal(packed(t, whole), packed(t, parts[0])) {
			t.Fatalf("merged: %d of %d, whole: %d of %d", len(parts[0].hashes), parts[0].total, len(whole.hashes), whole.total)
		}
		var again Values
		if err := again.UnmarshalBinary(packed(t, whole)); err != nil || !bytes.Equal(packed(t, &again), packed(t, whole)) {
			t.Fatalf("written and read back it is another: %v", err)
		}
		if c := whole.Clone(); !bytes.Equal(packed(t, c), packed(t, whole)) {
			t.Fatal("the clone is another")
		}
	})
}

func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1024, 1025, 5000, 100_000, 1_000_000} {
		v := New(1024)
		for i := range n {
			v.Add(mixed(uint64(i)))
			if i%3 == 0 {
				v.Add(mixed(uint64(i)))
			}
		}
		if d := math.Abs(v.Distinct() - float64(n)); n <= 1024 && d != 0 || d > 0.06*float64(n) || v.Complete() != (n <= 1024) {
			t.Errorf("%d values are estimated as %.0f", n, v.Distinct())
		}
	}
}

func TestTop(t *testing.T) {
	exact, estimated := New(1024), New(1024)
	want := []Counted{}
	for i := range 5 {
		h := mixed(uint64(i) + 1e6)
		for range 1000 - 100*i {
			exact.Add(h)
			estimated.Add(h)
		}
		want = append(want, Counted{h, uint64(1000 - 100*i)})
	}
	if d := cmp.Diff(want[:3], exact.Top(3)); d != "" {
		t.Error(d)
	}
	for i := range 6000 {
		estimated.Add(mixed(uint64(i)))
	}
	top := estimated.Top(8)
	if len(top) != 5 {
		t.Fatalf("%d frequent values of 5", len(top))
	}
	for i, c := range top {
		if c.Hash != want[i].Hash&^(1<<26-1) || c.Count < want[i].Count || c.Count > want[i].Count+200 {
			t.Errorf("%d: %+v, want %+v", i, c, want[i])
		}
	}
	flat := New(64)
	for i := range 50_000 {
		flat.Add(mixed(uint64(i)))
	}
	if top := flat.Top(8); len(top) != 0 {
		t.Errorf("frequent values where all are equally so: %v", top)
	}
}

func TestContainment(t *testing.T) {
	for _, c := range []struct {
		name             string
		from, to         int // of v; o has 0..100,000
		least, most, low float64
	}{
		{"all, few", 0, 500, 1, 1, 0.4},
		{"all, many", 0, 50_000, 1, 1, 0.95},
		{"half", 50_000, 150_000, 0.4, 0.6, 0.3},
		{"none", 200_000, 300_000, 0, 0.02, 0},
	} {
		v, o := New(1024), New(1024)
		for i := c.from; i < c.to; i++ {
			v.Add(mixed(uint64(i)))
		}
		for i := range 100_000 {
			o.Add(mixed(uint64(i)))
		}
		share, low, high, n := v.Containment(o)
		if share < c.least || share > c.most || low > share || high < share || n == 0 || low < c.low {
			t.Errorf("%s: %.2f in %.2f..%.2f by %d", c.name, share, low, high, n)
		}
	}
	// Without a common hash it is what Apart says.
	for _, size := range []int{0, 5, 500, 3000} {
		for _, other := range []int{0, 5, 500, 3000} {
			v, o := New(1024), New(1024)
			for i := range size {
				v.Add(mixed(uint64(i)))
			}
			for i := range other {
				o.Add(mixed(uint64(1_000_000 + i)))
			}
			share, low, high, n := v.Containment(o)
			if h, m := v.Apart(o); share != 0 || low > 1e-12 || h != high || m != n {
				t.Errorf("%d and %d: %g, %g..%g by %d, apart %g by %d", size, other, share, low, high, n, h, m)
			}
		}
	}
	if _, low, high, n := New(8).Containment(New(8)); n != 0 || low != 0 || high != 1 {
		t.Error("something is known of nothing")
	}
}

func TestMismatch(t *testing.T) {
	if err := New(8).Merge(New(16)); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
}

func TestOctavesAndLargestMergeExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var parts, whole [3]struct {
			o Octaves
			l Largest
		}
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			i, key, n := r.IntN(3), uint64(r.IntN(60)), uint64(r.IntN(50))
			whole[0].o.Add(n)
			whole[0].l.Add(key, n)
			parts[i].o.Add(n)
			parts[i].l.Add(key, n)
		}
		order := r.Perm(3)
		a := &parts[order[0]]
		for _, i := range order[1:] {
			a.o.Merge(&parts[i].o)
			a.l.Merge(parts[i].l)
		}
		if d := cmp.Diff(whole[0].o, a.o); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(whole[0].l, a.l); d != "" {
			t.Fatal(d)
		}
	})
	var o Octaves
	for i := range uint64(1000) {
		o.Add(i)
	}
	if q := o.Quantile(0.5); q < 499 || q > 2*500 || o.Quantile(1) != 999 || o.Mean() != 499.5 || (&Octaves{}).Mean() != 0 {
		t.Errorf("median %d, mean %v", q, o.Mean())
	}
}

func TestRecent(t *testing.T) {
	r := NewRecent(10_000, 100)
	wrong := 0
	for i := range uint64(10_000) {
		if r.Seen(mixed(i), 1) {
			wrong++
		}
	}
	for i := range uint64(10_000) {
		if !r.Seen(mixed(i), 50) {
			t.Fatal("forgotten at once")
		}
	}
	if wrong > 200 {
		t.Errorf("%d of 10,000 new values are taken for known ones", wrong)
	}
	r.Seen(1, 150)
	if !r.Seen(mixed(7), 160) {
		t.Error("forgotten after less than its time")
	}
	r.Seen(2, 300)
	r.Seen(3, 450)
	if r.Seen(mixed(9), 460) {
		t.Error("not forgotten")
	}
}

func FuzzUnmarshal(f *testing.F) {
	small, large := New(4), New(4)
	for i := range uint64(3) {
		small.Add(mixed(i))
	}
	for i := range uint64(100) {
		large.Add(mixed(i))
	}
	f.Add(packed(f, small))
	f.Add(packed(f, large))
	f.Add([]byte{1, 4, 0, 0, 0})
	f.Add(binary.AppendUvarint([]byte{1}, math.MaxUint64))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Values
		if v.UnmarshalBinary(b) != nil {
			return
		}
		v.Add(1)
		v.Top(3)
		v.Containment(small)
		_ = v.Distinct()
		o := New(v.K())
		o.Add(2)
		if err := o.Merge(&v); err != nil {
			t.Fatal(err)
		}
		packed(t, o)
	})
}

func BenchmarkAdd(b *testing.B) {
	v := New(1024)
	i := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		i++
		v.Add(mixed(i % 100_000))
	}
}
