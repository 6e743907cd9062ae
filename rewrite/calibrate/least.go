package calibrate

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// linear is a robust least squares fit with bounds: of y by the columns of x, each row a measurement.
//
// Residuals are relative: what takes 0.3 ms counts as much as what takes 300, and less where it was measured less well
// (spread). Rows that fit badly count less the worse they fit (Huber's weights, again and again until nothing moves), so
// that a measurement that went wrong does not bend the rest, but none is thrown away: where few rows tell of a coefficient, one that
// fits badly may be the one that knows. A coefficient is
// never below its bound. Where the columns leave a direction open, the coefficients go to what is expected of them, in
// proportion: that is a pull so weak (pull) that where the rows do say something it is not felt.
type linear struct {
	x        [][]float64
	y        []float64
	spread   []float64 // relative standard error of each y
	expected []float64 // above 0: also the coefficients' scale
	least    []float64
}

// solution is what came of it.
type solution struct {
	coefficients []float64
	errors       []float64 // standard errors; infinite where the columns leave it open
	weights      []float64 // of rows, 0 to 1
	share        []float64 // 1 minus the share of a column that the other columns make up: 0 can not be told from them
}

const (
	pull      = 1e-7
	tuning    = 1.345 // Huber's: 95 % efficient if the residuals are normal
	finest    = 0.02  // relative: no model is better than that
	reweights = 30
	separable = 1e-3 // of share: below it columns count as the same
)

var errNothing = errors.New("calibrate: there is nothing to fit")

// solve fits.
func (l *linear) solve() (*solution, error) {
	n, m := len(l.y), len(l.expected)
	if n == 0 || m == 0 {
		return nil, errNothing
	}
	s := &solution{weights: make([]float64, n)}
	for i := range s.weights {
		s.weights[i] = 1
	}
	for range reweights {
		was := s.coefficients
		s.coefficients = l.bounded(s.weights)
		residuals := l.residuals(s.coefficients)
		for i := range residuals {
			residuals[i] /= l.deviation(i)
		}
		scale := max(1, medianOf(residuals)/0.6745)
		for i, r := range residuals {
			s.weights[i] = min(1, tuning*scale/max(r, 1e-300))
		}
		if was != nil && near(was, s.coefficients) {
			break
		}
	}
	l.certainty(s)
	return s, nil
}

func near(a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-6*math.Abs(a[i]) {
			return false
		}
	}
	return true
}

// predict is the fit's value of row i.
func (l *linear) predict(coefficients []float64, i int) float64 {
	sum := 0.0
	for j, c := range coefficients {
		sum += c * l.x[i][j]
	}
	return sum
}

// deviation is what row i may be off by, relative.
func (l *linear) deviation(i int) float64 { return math.Hypot(finest, l.spread[i]) }

// residuals are relative, and without a sign.
func (l *linear) residuals(coefficients []float64) []float64 {
	out := make([]float64, len(l.y))
	for i, y := range l.y {
		out[i] = math.Abs(l.predict(coefficients, i)-y) / y
	}
	return out
}

// normal are the normal equations of the coefficients in units of what is expected, above their bounds: A g = b.
func (l *linear) normal(weights []float64) (a *mat.SymDense, b []float64) {
	m := len(l.expected)
	a, b = mat.NewSymDense(m, nil), make([]float64, m)
	for i, y := range l.y {
		rest := y
		for j := range m {
			rest -= l.x[i][j] * l.least[j]
		}
		w := weights[i] / (y * y * l.deviation(i) * l.deviation(i))
		for j := range m {
			xj := l.x[i][j] * l.expected[j]
			b[j] += w * xj * rest
			for k := j; k < m; k++ {
				a.SetSym(j, k, a.At(j, k)+w*xj*l.x[i][k]*l.expected[k])
			}
		}
	}
	for j := range m {
		a.SetSym(j, j, a.At(j, j)+pull)
		b[j] += pull * (1 - l.least[j]/l.expected[j])
	}
	return a, b
}

// bounded solves with weights, by Lawson and Hanson's active sets: coefficients enter one by one, the steepest first, and leave
// where they would fall below their bounds.
func (l *linear) bounded(weights []float64) []float64 {
	m := len(l.expected)
	a, b := l.normal(weights)
	g, free := make([]float64, m), make([]bool, m)
	for j := range free { // most often none is at its bound
		free[j] = true
	}
	if h := restricted(a, b, free); slices.Min(h) > 0 {
		g = h
	} else {
		clear(free)
	}
	for range 10 * m {
		best, steepest := -1, 1e-12
		for j := range m {
			if slope := b[j] - dot(a, j, g); !free[j] && slope > steepest {
				best, steepest = j, slope
			}
		}
		if best < 0 {
			break
		}
		free[best] = true
		for {
			h := restricted(a, b, free)
			step := 1.0
			for j := range m {
				if free[j] && h[j] <= 0 {
					step = min(step, g[j]/(g[j]-h[j]))
				}
			}
			for j := range m {
				if free[j] {
					if g[j] += step * (h[j] - g[j]); step < 1 && g[j] <= 1e-15 {
						g[j], free[j] = 0, false
					}
				}
			}
			if step == 1 {
				break
			}
		}
	}
	out := make([]float64, m)
	for j := range m {
		out[j] = l.least[j] + g[j]*l.expected[j]
	}
	return out
}

func dot(a *mat.SymDense, j int, g []float64) float64 {
	sum := 0.0
	for k, v := range g {
		sum += a.At(j, k) * v
	}
	return sum
}

// restricted solves the normal equations for the free coefficients, the others being 0.
func restricted(a *mat.SymDense, b []float64, free []bool) []float64 {
	var set []int
	for j, f := range free {
		if f {
			set = append(set, j)
		}
	}
	small, right := mat.NewSymDense(len(set), nil), mat.NewVecDense(len(set), nil)
	for p, j := range set {
		right.SetVec(p, b[j])
		for q := p; q < len(set); q++ {
			small.SetSym(p, q, a.At(j, set[q]))
		}
	}
	out := make([]float64, len(free))
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(small) || chol.SolveVecTo(&x, right) != nil {
		return out // the pull makes it definite, whatever the rows
	}
	for p, j := range set {
		out[j] = x.AtVec(p)
	}
	return out
}

// certainty fills in the standard errors, from the residuals as they are, and how far each column stands alone.
func (l *linear) certainty(s *solution) {
	m := len(l.expected)
	s.errors, s.share = make([]float64, m), make([]float64, m)
	a, _ := l.normal(s.weights)
	variance, rows := 0.0, 0.0
	for i, y := range l.y {
		r := (l.predict(s.coefficients, i) - y) / y / l.deviation(i)
		variance += s.weights[i] * r * r
		rows += s.weights[i]
	}
	variance /= max(1, rows-float64(m))
	var chol mat.Cholesky
	var inverse mat.SymDense
	ok := chol.Factorize(a) && chol.InverseTo(&inverse) == nil
	for j := range m {
		if own := a.At(j, j) - pull; ok && own > 0 {
			s.share[j] = 1 / (inverse.At(j, j) * (own + pull))
		}
		if s.errors[j] = math.Inf(1); s.share[j] > separable {
			s.errors[j] = math.Sqrt(variance*inverse.At(j, j)) * l.expected[j]
		}
	}
}
