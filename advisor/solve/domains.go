package solve

import "math"

// domains holds what is left for each column while a solution is put together, and carries every narrowing through
// the rows: a row whose least possible sum leaves no room for a column's upper end takes that end away. All narrowings
// are on a trail and can be taken back.
type domains struct {
	p            *Problem
	lower, upper []float64
	rows         []sums
	uses         [][]use // by column
	floor        float64 // least possible cost; counts only while infinite is zero
	infinite     int     // columns whose cost has no floor
	trail        []change
	queue        []int // rows to look at
	queued       []bool
	work         int // terms looked at so far: the clock of this package
}

// sums are the least and greatest sum of a row, apart from the columns that make it infinite, which are counted.
type sums struct {
	least, greatest                 float64
	leastInfinite, greatestInfinite int
	room                            float64 // slack from which no column of the row can be narrowed
}

type use struct {
	row         int
	coefficient float64
}

type change struct {
	column       int
	lower, upper float64 // before
}

func newDomains(p *Problem) *domains {
	d := &domains{
		p: p, rows: make([]sums, len(p.Rows)), uses: make([][]use, len(p.Columns)), queued: make([]bool, len(p.Rows)),
		lower: make([]float64, len(p.Columns)), upper: make([]float64, len(p.Columns)),
	}
	for j, c := range p.Columns {
		d.lower[j], d.upper[j] = c.Lower, c.Upper
		if c.Integer {
			d.lower[j], d.upper[j] = math.Ceil(c.Lower-Tolerance), math.Floor(c.Upper+Tolerance)
		}
		if c.Cost != 0 {
			d.addFloor(c.Cost * pick(c.Cost > 0, d.lower[j], d.upper[j]))
		}
	}
	for i, r := range p.Rows {
		for _, t := range r.Terms {
			if t.Coefficient == 0 {
				continue
			}
			d.uses[t.Column] = append(d.uses[t.Column], use{i, t.Coefficient})
			d.rows[i].add(t.Coefficient, d.lower[t.Column], d.upper[t.Column])
			d.rows[i].room = max(d.rows[i].room, math.Abs(t.Coefficient)*(d.upper[t.Column]-d.lower[t.Column]))
		}
	}
	return d
}

func pick(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

func (d *domains) addFloor(v float64) {
	if math.IsInf(v, 0) {
		d.infinite++
	} else {
		d.floor += v
	}
}

func (s *sums) add(a, lower, upper float64) {
	accumulate(&s.least, &s.leastInfinite, a*pick(a > 0, lower, upper), 1)
	accumulate(&s.greatest, &s.greatestInfinite, a*pick(a > 0, upper, lower), 1)
}

func (s *sums) remove(a, lower, upper float64) {
	accumulate(&s.least, &s.leastInfinite, a*pick(a > 0, lower, upper), -1)
	accumulate(&s.greatest, &s.greatestInfinite, a*pick(a > 0, upper, lower), -1)
}

func accumulate(sum *float64, infinite *int, v float64, sign int) {
	if math.IsInf(v, 0) {
		*infinite += sign
	} else {
		*sum += float64(sign) * v
	}
}

// narrowColumn sets a column's bounds, and queues its rows.
func (d *domains) narrowColumn(column int, lower, upper float64) {
	d.trail = append(d.trail, change{column, d.lower[column], d.upper[column]})
	d.setBounds(column, lower, upper)
	for _, u := range d.uses[column] {
		if !d.queued[u.row] {
			d.queued[u.row] = true
			d.queue = append(d.queue, u.row)
		}
	}
}

func (d *domains) setBounds(column int, lower, upper float64) {
	for _, u := range d.uses[column] {
		d.rows[u.row].remove(u.coefficient, d.lower[column], d.upper[column])
		d.rows[u.row].add(u.coefficient, lower, upper)
	}
	d.work += len(d.uses[column]) + 1
	if c := d.p.Columns[column].Cost; c != 0 {
		before, after := c*pick(c > 0, d.lower[column], d.upper[column]), c*pick(c > 0, lower, upper)
		if math.IsInf(before, 0) {
			d.infinite--
		} else {
			d.floor -= before
		}
		d.addFloor(after)
	}
	d.lower[column], d.upper[column] = lower, upper
}

// undoTo takes back every narrowing after the mark, a length of the trail.
func (d *domains) undoTo(mark int) {
	for len(d.trail) > mark {
		last := d.trail[len(d.trail)-1]
		d.trail = d.trail[:len(d.trail)-1]
		d.setBounds(last.column, last.lower, last.upper)
	}
	d.clearQueue()
}

func (d *domains) clearQueue() {
	for _, r := range d.queue {
		d.queued[r] = false
	}
	d.queue = d.queue[:0]
}

// propagate carries the queued narrowings through the rows. False: no solution is left. With continuous columns, or
// integer ones of wide domains, the narrowing may go on for very long in small steps; small steps are not taken, and the
// number of rows looked at is limited. What is not narrowed is merely found later.
func (d *domains) propagate() bool {
	visits := 0
	for at := 0; at < len(d.queue); at++ {
		if visits++; visits > 1000+20*len(d.rows) {
			d.queue = d.queue[:copy(d.queue, d.queue[at:])]
			d.clearQueue()
			return true
		}
		row := d.queue[at]
		d.queued[row] = false
		if !d.propagateRow(row) {
			d.queue = d.queue[:copy(d.queue, d.queue[at+1:])]
			d.clearQueue()
			return false
		}
		if at > 1<<12 { // keep the queue short
			d.queue = d.queue[:copy(d.queue, d.queue[at+1:])]
			at = -1
		}
	}
	d.queue = d.queue[:0]
	return true
}

// propagateRow narrows the columns of one row. False: the row cannot be met.
func (d *domains) propagateRow(i int) bool {
	r, s := &d.p.Rows[i], &d.rows[i]
	d.work++
	least, greatest := s.least, s.greatest
	if s.leastInfinite > 0 {
		least = math.Inf(-1)
	}
	if s.greatestInfinite > 0 {
		greatest = math.Inf(1)
	}
	if least > r.Upper+rowTolerance(r.Upper) || greatest < r.Lower-rowTolerance(r.Lower) {
		return false
	}
	above := least > math.Inf(-1) && r.Upper-least < s.room || s.leastInfinite == 1 && !math.IsInf(r.Upper, 1)
	below := greatest < math.Inf(1) && greatest-r.Lower < s.room || s.greatestInfinite == 1 && !math.IsInf(r.Lower, -1)
	if !above && !below {
		return true
	}
	d.work += len(r.Terms)
	for _, t := range r.Terms {
		a := t.Coefficient
		lower, upper := d.lower[t.Column], d.upper[t.Column]
		if a == 0 || lower == upper {
			continue
		}
		low, high := lower, upper
		if above {
			low, high = boundBy(low, high, a, r.Upper, sumWithout(s.least, s.leastInfinite, a*pick(a > 0, lower, upper)))
		}
		if below {
			low, high = boundBy(low, high, -a, -r.Lower, -sumWithout(s.greatest, s.greatestInfinite, a*pick(a > 0, upper, lower)))
		}
		if low, high = d.roundBounds(t.Column, low, high); low > high {
			return false
		}
		if low != lower || high != upper {
			d.narrowColumn(t.Column, low, high)
		}
	}
	return true
}

// sumWithout is a row's least (or greatest) sum without one column's part; NaN if that is infinite.
func sumWithout(sum float64, infinite int, part float64) float64 {
	switch {
	case math.IsInf(part, 0) && infinite == 1:
		return sum
	case infinite > 0:
		return math.NaN()
	}
	return sum - part
}

// boundBy narrows [low, high] of x by a*x + rest <= upper.
func boundBy(low, high, a, upper, rest float64) (float64, float64) {
	v := (upper - rest) / a
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
	case a > 0:
		high = min(high, v)
	default:
		low = max(low, v)
	}
	return low, high
}

// roundBounds rounds the new bounds of an integer column inwards, and drops those of a continuous column that hardly
// narrow it.
func (d *domains) roundBounds(column int, low, high float64) (float64, float64) {
	lower, upper := d.lower[column], d.upper[column]
	if d.p.Columns[column].Integer {
		return math.Ceil(low - Tolerance), math.Floor(high + Tolerance)
	}
	if low > high { // by rounding, or for good
		if low-high > Tolerance*max(1, math.Abs(low)) {
			return low, high
		}
		v := min(max(high, lower), upper)
		return v, v
	}
	if !math.IsInf(lower, 0) && low-lower < 1e-3*min(upper-lower, max(1, math.Abs(low))) {
		low = lower
	}
	if !math.IsInf(upper, 0) && upper-high < 1e-3*min(upper-lower, max(1, math.Abs(high))) {
		high = upper
	}
	return low, high
}
