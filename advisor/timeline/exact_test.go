package timeline

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestWide: exact mode where candidates are many is never below the least of all sequences, found by trying all, nor is its bound above it, whichever
// of the candidates counted as promising before (W-25's converse: what is not promising is bounded all the same).
func TestWide(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 5))
	met, least, close := 0, 0, 0
	for range 16 {
		w, tables := figured(t, "1, 1, 1", "1, 1, 1", 1, 3, 4, 7, 8)
		for _, x := range w.Statements {
			for i := range x.Steps {
				x.Steps[i] = 0.1 + math.Round(random.Float64()*random.Float64()*1000)/50
			}
		}
		all := 0.0
		for _, table := range tables {
			all += table.Bytes()
		}
		o := Options{Candidates: tables, NoEnumeration: true, Space: all * (0.5 + random.Float64()/2), Exact: true, Interval: []time.Duration{time.Duration(1+random.IntN(600)) * time.Second}}
		s, b, in, ok := searched(t, w, o)
		if !ok {
			continue
		}
		if err := b.awaitMean(); err != nil {
			t.Fatal(err)
		}
		met++
		truth := brute(t, s.task) - s.existingWrites()
		for n := range in { // not all promising
			in[n] = b.first.Open[n] || random.IntN(3) == 0
		}
		if err := s.searchExact(context.Background(), b, in); err != nil {
			t.Fatal(err)
		}
		if s.cost < truth*(1-1e-9) || s.bound > truth*(1+1e-9) || s.proven && s.cost > truth*(1+1e-6) {
			t.Errorf("between %g and %g, and the least is %g", s.bound, s.cost, truth)
		}
		if s.cost < truth*(1+1e-6) {
			least++
		}
		if s.bound > truth*0.98 {
			close++
		}
		singles := s.singlePeriods(context.Background(), b)
		if bound := s.concaveBound(context.Background(), singles); bound > truth*(1+1e-9) {
			t.Errorf("at least %g by the single designs, and the least is %g", bound, truth)
		}
	}
	t.Logf("of %d problems %d were solved, %d bounded within two hundredths", met, least, close)
	if met < 8 || least < met/2 || close < met/2 {
		t.Errorf("of %d problems %d were solved, %d bounded within two hundredths", met, least, close)
	}
}
