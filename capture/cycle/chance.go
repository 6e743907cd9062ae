package cycle

import (
	"math"
	"math/rand/v2"
)

// likeness is how like each other pairs of rows are at each turn of the one against the other: the sum over places of their products.
type likeness struct {
	rows, period int
	pairs        [][]float64 // of i < j, in order; by how far i is turned beyond j
}

func newLikeness(n, period int) *likeness {
	l := &likeness{rows: n, period: period}
	for range n * (n - 1) / 2 {
		l.pairs = append(l.pairs, make([]float64, period))
	}
	return l
}

// addRows adds the likeness of one statement's rows, with a weight. A row that is nil is like none.
func (l *likeness) addRows(units [][]float64, weight float64) {
	at := 0
	for i := range l.rows {
		for j := i + 1; j < l.rows; j++ {
			if a, b := units[i], units[j]; a != nil && b != nil {
				l.addCross(l.pairs[at], a, b, weight)
			}
			at++
		}
	}
}

func (l *likeness) addCross(out, a, b []float64, weight float64) {
	for p, x := range a {
		if x == 0 {
			continue
		}
		x *= weight
		// a[p] stands at p+turn: it meets b there.
		split := l.period - p
		for turn := range split {
			out[turn] += x * b[p+turn]
		}
		for turn := split; turn < l.period; turn++ {
			out[turn] += x * b[p+turn-l.period]
		}
	}
}

// totalAt is the likeness of all pairs when each row is turned by so much.
func (l *likeness) totalAt(turns []int) float64 {
	sum, at := 0.0, 0
	for i := range l.rows {
		for j := i + 1; j < l.rows; j++ {
			d := turns[i] - turns[j]
			if d < 0 {
				d += l.period
			}
			sum += l.pairs[at][d]
			at++
		}
	}
	return sum
}

// Draws of chance: how many, and after how many that are as like it is plain that chance suffices.
const (
	draws  = 999
	enough = 20
)

// chanceOfLikeness is how likely rows that know nothing of the clock are as like each other: the share of draws, each of which turns every row
// by an amount of its own, that are at least as like as the rows as they stand.
func (l *likeness) chanceOfLikeness(random *rand.Rand) float64 {
	turns := make([]int, l.rows)
	seen := l.totalAt(turns)
	if seen <= 1e-9 {
		return 1
	}
	hits := 0
	for n := range draws {
		for i := 1; i < len(turns); i++ { // only how they stand to each other matters
			turns[i] = random.IntN(l.period)
		}
		if l.totalAt(turns) >= seen-1e-9*math.Abs(seen) {
			if hits++; hits == enough {
				return float64(hits+1) / float64(n+2)
			}
		}
	}
	return float64(hits+1) / (draws + 1)
}
