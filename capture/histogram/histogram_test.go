package histogram

import (
	"encoding/json"
	"math"
	"sort"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func of(values ...uint64) Distribution {
	var h Histogram
	for _, v := range values {
		h.Add(v)
	}
	var d Distribution
	h.AddTo(&d)
	return d
}

func TestBuckets(t *testing.T) {
	for i := range Size {
		if index(lower(i)) != i || index(upper(i)-1) != i {
			t.Errorf("bucket %d is [%d, %d), whose ends are in %d and %d", i, lower(i), upper(i), index(lower(i)), index(upper(i)-1))
		}
		if i > 0 && upper(i-1) != lower(i) {
			t.Errorf("between buckets %d and %d is a gap", i-1, i)
		}
	}
	if index(math.MaxUint64) != Size-1 || index(0) != 0 {
		t.Error("the ends are not covered")
	}
}

func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, 1<<32), 1, 200).Draw(t, "values")
		q := rapid.Float64Range(0.01, 1).Draw(t, "q")
		d := of(values...)
		sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
		exact := float64(values[int(math.Ceil(q*float64(len(values))))-1])
		if got := d.Quantile(q); math.Abs(got-exact) > exact/50 { // 2 %
			t.Fatalf("quantile %v is %v, exact %v", q, got, exact)
		}
		var sum float64
		for _, v := range values {
			sum += float64(v)
		}
		if mean := sum / float64(len(values)); math.Abs(d.Mean()-mean) > mean*1e-9 {
			t.Fatalf("mean %v, exact %v", d.Mean(), mean)
		}
	})
}

func TestPlusAndMinus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOf(rapid.Uint64Range(0, 1<<40))
		x, y := draw.Draw(t, "x"), draw.Draw(t, "y")
		a, b, both := of(x...), of(y...), of(append(x, y...)...)
		if d := cmp.Diff(both, a.Plus(b)); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(a.Plus(b), b.Plus(a)); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(b, both.Minus(a)); d != "" {
			t.Fatal(d)
		}
		if left := a.Minus(both); left.Count != 0 || left.Sum != 0 {
			t.Fatalf("less than nothing: %+v", left)
		}
		raw, err := json.Marshal(both)
		var back Distribution
		if err == nil {
			err = json.Unmarshal(raw, &back)
		}
		if d := cmp.Diff(both, back); d != "" || err != nil {
			t.Fatal(err, d)
		}
	})
}

func TestCountUpTo(t *testing.T) {
	d := of(0, 1, 3, 4, 100, 127, 128, math.MaxUint64)
	for v, want := range map[uint64]uint64{0: 1, 2: 2, 3: 3, 4: 4, 127: 6, 255: 7, 1 << 40: 7} {
		if got := d.CountUpTo(v); got != want {
			t.Errorf("up to %d: %d, want %d", v, got, want)
		}
	}
}

// TestDrainMovesEachNumberOnce: whoever counts while the histogram is emptied by two others, nothing is lost or doubled.
func TestDrainMovesEachNumberOnce(t *testing.T) {
	var from, to Histogram
	var writers, drains sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			for i := range uint64(5000) {
				from.Add(i << w)
			}
		})
	}
	for range 2 {
		drains.Go(func() {
			for {
				from.Drain(&to)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	drains.Wait()
	from.Drain(&to)
	var left, d Distribution
	from.AddTo(&left)
	to.AddTo(&d)
	if left.Count != 0 || left.Sum != 0 || d.Count != 15000 || d.Sum != 7*4999*5000/2 {
		t.Errorf("%d numbers with sum %d arrived, %d stayed", d.Count, d.Sum, left.Count)
	}
}

// TestCollectIsPlus: one picture of several histograms is the sum of their pictures, and what an arena made before stays.
func TestCollectIsPlus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var arena Arena
		var got []Distribution
		var want []Distribution
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			x, y := rapid.SliceOf(rapid.Uint64()).Draw(t, "x"), rapid.SliceOf(rapid.Uint64Range(0, 1000)).Draw(t, "y")
			var a, b Histogram
			for _, v := range x {
				a.Add(v)
			}
			for _, v := range y {
				b.Add(v)
			}
			got = append(got, arena.Collect(&a, nil, &b))
			want = append(want, of(x...).Plus(of(y...)))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestEmpty(t *testing.T) {
	d := of()
	if d.P50() != 0 || d.P99() != 0 || d.Mean() != 0 || d.CountUpTo(5) != 0 {
		t.Errorf("nothing is %v", d)
	}
}

func TestConcurrentAddsDoNotAllocateOrGetLost(t *testing.T) {
	var h Histogram
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint64(1000) {
				h.Add(i)
			}
		}()
	}
	wg.Wait()
	var d Distribution
	h.AddTo(&d)
	if d.Count != 4000 || d.Sum != 4*499500 {
		t.Errorf("%d numbers, sum %d", d.Count, d.Sum)
	}
	if n := testing.AllocsPerRun(100, func() { h.Add(77) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
