package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// fitted solves for rows of a function of x, a few per cent off, one of twenty altogether.
func fitted(t *testing.T, constants []float64, rows [][]float64) *solution {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	l := &linear{x: rows}
	for range constants {
		l.expected, l.least = append(l.expected, 0.001), append(l.least, 1e-12)
	}
	for _, x := range rows {
		y := 0.0
		for j, c := range constants {
			y += c * x[j]
		}
		if y *= 1 + 0.03*r.NormFloat64(); r.IntN(20) == 0 {
			y *= 5
		}
		l.y, l.spread = append(l.y, y), append(l.spread, 0.03)
	}
	s, err := l.solve()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPublishedForm: N-34. Measurements of the form that NoSE's authors published, index + partitions * partition + rows * row,
// with their constants, give the constants back.
func TestPublishedForm(t *testing.T) {
	constants := []float64{0.0078395645, 0.0013692786, 1.17093638386496e-05}
	var rows [][]float64
	for _, partitions := range []float64{1, 3, 10, 30, 100} {
		for _, n := range []float64{1, 10, 100, 1000, 10000} {
			rows = append(rows, []float64{1, partitions, n * partitions})
		}
	}
	s := fitted(t, constants, rows)
	for j, c := range constants {
		if math.Abs(s.coefficients[j]/c-1) > 0.1 {
			t.Errorf("constant %d is %g, want %g", j, s.coefficients[j], c)
		}
		if s.errors[j] > 0.2*c || s.errors[j] < 0.001*c {
			t.Errorf("constant %d is said to be within %g", j, s.errors[j])
		}
	}
}

// TestLinearInWidth: N-31. T(n, w), the time of n gets of width w, is a constant, a share of n, and one of n w.
func TestLinearInWidth(t *testing.T) {
	constants := []float64{0.002, 0.0005, 0.00002}
	var rows [][]float64
	for _, n := range []float64{1, 2, 5, 10, 50, 200} {
		for _, w := range []float64{1, 5, 20, 80} {
			rows = append(rows, []float64{1, n, n * w})
		}
	}
	s := fitted(t, constants, rows)
	for j, c := range constants {
		if math.Abs(s.coefficients[j]/c-1) > 0.1 {
			t.Errorf("constant %d is %g, want %g", j, s.coefficients[j], c)
		}
	}
}

// TestBounds: a coefficient that would have to be negative stays at its bound, and the rest is fitted without it.
func TestBounds(t *testing.T) {
	l := &linear{expected: []float64{1, 1}, least: []float64{0.001, 0.001}}
	for i := 1.0; i <= 10; i++ {
		l.x, l.y, l.spread = append(l.x, []float64{1, i}), append(l.y, 10-0.5*i), append(l.spread, 0)
	}
	s, err := l.solve()
	if err != nil {
		t.Fatal(err)
	}
	if s.coefficients[1] != 0.001 || s.coefficients[0] < 5 || s.coefficients[0] > 9.5 {
		t.Errorf("coefficients %v", s.coefficients)
	}
}

// TestOpenDirections: columns that are the same share what they explain as was expected, and are said to be open.
func TestOpenDirections(t *testing.T) {
	l := &linear{expected: []float64{0.3, 0.1, 1}, least: []float64{1e-6, 1e-6, 1e-6}}
	for i := 1.0; i <= 10; i++ {
		l.x, l.y, l.spread = append(l.x, []float64{1, 1, i}), append(l.y, 8+2*i), append(l.spread, 0)
	}
	s, err := l.solve()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.coefficients[0], s.coefficients[1]; math.Abs(a+b-8) > 0.01 || s.share[0] > separable || s.share[1] > separable || !math.IsInf(s.errors[0], 1) {
		t.Errorf("coefficients %v, shares %v, errors %v", s.coefficients, s.share, s.errors)
	}
	if math.Abs(s.coefficients[2]-2) > 0.01 || s.share[2] < 0.1 {
		t.Errorf("the third is %g, its share %g", s.coefficients[2], s.share[2])
	}
}
