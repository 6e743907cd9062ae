package feed

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/capture/trace"
)

// Outcome says how it matters to the consumer whether the producer found a row. All are executions of the producer.
type Outcome struct {
	When          string `json:"when"` // the consumer follows: "row" if one was found, "no row" if none was
	Found         int    `json:"found"`
	FoundFollowed int    `json:"found_followed"`
	Empty         int    `json:"empty"`
	EmptyFollowed int    `json:"empty_followed"`
}

// What When may be.
const (
	WhenRow   = "row"
	WhenNoRow = "no row"
)

// Change says what a write makes of the row that was read before.
type Change struct {
	Columns []string `json:"columns"` // that were read and are set
	Writes  int      `json:"writes"`  // that were compared with what was read
	Changed float64  `json:"changed"` // share of these that set at least one to another value; 0 if values of these types are not compared
}

// Thresholds of echoes.
const (
	leastOutcomes = 15   // executions of the producer that found a row, and as many that did not
	oneRow        = 0.99 // of its answers have at most one row
	outcomeRatio  = 0.2  // of the rate at which it is followed after the one outcome, the rate after the other
	leastWrites   = 30   // of a row that was read
	sameRow       = 0.9  // of the writes that follow go to the row that was read
	changedShare  = 0.5  // of them set something to another value
	columnShare   = 0.05 // of them, and the column is one of those that change
)

// check makes a Feed of an echo whose consumer follows or not depending on whether the producer found a row: it asks whether there is one.
func (m *Miner) check(f finding, at source, p *parameter, observations []observation) (Feed, bool) {
	of, read := m.answers[f.source.statement()], m.statements[f.source.statement()].statement
	if of == nil || read.Write || f.source.statement() == at.statement() || len(observations) == 0 {
		return Feed{}, false
	}
	first, last := observations[0].t0, observations[len(observations)-1].t0-int64(f.edge)*1000
	ends := map[uint32]int64{}
	for i := range of.list {
		ends[of.list[i].seq] = of.list[i].end
	}
	followed := map[uint32]bool{}
	for i := range observations {
		if h, ok := observations[i].from(f.source, f.edge); ok {
			if end, known := ends[h.seq]; known && end <= observations[i].t0 {
				followed[h.seq] = true
			}
		}
	}
	var n [2][2]int // no row or a row, not followed or followed
	several := 0
	for i := range of.list {
		a := &of.list[i]
		if a.rows < 0 || a.end < first || a.end > last {
			continue
		}
		found, was := 0, 0
		if a.rows > 0 {
			found = 1
		}
		if a.rows > 1 {
			several++
		}
		if followed[a.seq] {
			was = 1
		}
		n[found][was]++
	}
	empty, found := n[0][0]+n[0][1], n[1][0]+n[1][1]
	if empty < leastOutcomes || found < leastOutcomes || float64(several) > (1-oneRow)*float64(empty+found) {
		return Feed{}, false
	}
	out := Outcome{When: WhenRow, Found: found, FoundFollowed: n[1][1], Empty: empty, EmptyFollowed: n[0][1]}
	rate := func(k, n int) float64 { return float64(k) / float64(n) }
	high, low := rate(n[1][1], found), rate(n[0][1], empty)
	if low > high {
		out.When, high, low = WhenNoRow, low, high
	}
	both := rate(n[0][1]+n[1][1], empty+found)
	deviation := math.Sqrt(both * (1 - both) * (1/float64(empty) + 1/float64(found)))
	if low > outcomeRatio*high || high-low < accepted.whole.z*deviation || deviation == 0 {
		return Feed{}, false
	}
	feed := m.describe(f, at, p)
	feed.Shape, feed.Outcome = Check, &out
	write := m.statements[at.statement()].statement
	feed.Race = write.Write && !write.Conditional && write.Table == read.Table && write.Keyspace == read.Keyspace
	return feed, true
}

// change tells whether the consumer, a write, changes the very row that the producer read, nil if it does not. The rows are the same if every
// column of the write's key has the value that the read was asked for, or found in one row.
func (m *Miner) change(f finding, at source, observations []observation) *Change {
	read, write := m.statements[f.source.statement()].statement, m.statements[at.statement()].statement
	of := m.answers[f.source.statement()]
	if of == nil || !write.Write || read.Write || read.Table != write.Table || read.Keyspace != write.Keyspace || len(write.Sets) == 0 {
		return nil
	}
	c := newComparison(m, at.statement(), read, write)
	if c == nil || !slices.ContainsFunc(c.key, func(k keyColumn) bool { return k.name == variableColumn(write, at.index()) }) {
		return nil
	}
	known := map[uint32]*answer{}
	for i := range of.list {
		a := &of.list[i]
		known[a.seq] = a
		if c.insert && a.rows > 1 {
			return nil // it was not read by its whole key
		}
	}
	seen := map[uint32]bool{}
	for i := range observations {
		o := &observations[i]
		if h, ok := o.from(f.source, f.edge); ok && !seen[o.seq] {
			if a := known[h.seq]; a != nil && a.rows > 0 && a.end <= o.t0 {
				seen[o.seq] = true
				c.compare(o.seq, a)
			}
		}
	}
	return c.verdict()
}

// keyColumn is a column that tells which row a write goes to: where it stands in the write, and in the read, -1 if it does not.
type keyColumn struct {
	name              string
	place             int
	bound, result     int
	written           map[uint32]uint64 // by execution of the write
	compared, changed int               // of a column that is set
}

// comparison compares writes with what was read before.
type comparison struct {
	key, sets                      []keyColumn
	insert                         bool
	tried, same, compared, changed int
	uncomparable                   []string
}

// newComparison returns nil if the write sets nothing that was read, or its key can not be told.
func newComparison(m *Miner, fp uint32, read, write *trace.Statement) *comparison {
	c := &comparison{insert: len(write.Key) == 0}
	key := write.Key
	if c.insert { // of an INSERT it is not known which columns are its key: a read by its whole key tells
		if key = read.Key; read.Limited {
			return nil
		}
	}
	column := func(name string) keyColumn {
		k := keyColumn{name: name, place: placeOf(write, name), bound: placeOf(read, name), result: -1, written: map[uint32]uint64{}}
		for i := range read.Results {
			if r := &read.Results[i]; r.Name == name && r.Table == read.Table {
				k.result = i
			}
		}
		if p := m.parameters[bound(fp, max(k.place, 0))]; k.place >= 0 && p != nil {
			for i := range p.observations {
				k.written[p.observations[i].seq] = p.observations[i].value
			}
		}
		return k
	}
	for _, name := range key {
		k := column(name)
		if k.place < 0 || k.bound < 0 && k.result < 0 {
			return nil
		}
		c.key = append(c.key, k)
	}
	for _, name := range write.Sets {
		if slices.Contains(key, name) {
			continue
		}
		if k := column(name); k.place >= 0 && k.result >= 0 {
			if len(k.written) == 0 {
				c.uncomparable = append(c.uncomparable, name)
				continue
			}
			c.sets = append(c.sets, k)
		}
	}
	if len(c.key) == 0 || len(c.sets)+len(c.uncomparable) == 0 {
		return nil
	}
	return c
}

// compare takes in one write and the answer that came before it.
func (c *comparison) compare(seq uint32, a *answer) {
	c.tried++
	row, ok := c.row(seq, a)
	if !ok {
		return
	}
	c.same++
	compared, changed := false, false
	for i := range c.sets {
		k := &c.sets[i]
		written, known := k.written[seq]
		was, there := a.at(row, k.result)
		if !known || !there {
			continue
		}
		compared = true
		k.compared++
		if was.null || was.hash != written {
			changed = true
			k.changed++
		}
	}
	if compared {
		c.compared++
	}
	if changed {
		c.changed++
	}
}

// row finds the row of an answer that a write goes to.
func (c *comparison) row(seq uint32, a *answer) (uint16, bool) {
	fits := func(row uint16) bool {
		for i := range c.key {
			k := &c.key[i]
			written, known := k.written[seq]
			if !known {
				return false
			}
			if asked, ok := a.bound(k.bound); ok && k.bound >= 0 {
				if asked != written {
					return false
				}
				continue
			}
			if found, ok := a.at(row, k.result); !ok || found.hash != written {
				return false
			}
		}
		return true
	}
	if fits(0) { // even if nothing of it was kept
		return 0, true
	}
	for i, x := range a.cells {
		if (i == 0 || a.cells[i-1].row != x.row) && fits(x.row) {
			return x.row, true
		}
	}
	return 0, false
}

func (c *comparison) verdict() *Change {
	if c.same < leastWrites || float64(c.same) < sameRow*float64(c.tried) {
		return nil
	}
	out := &Change{Writes: c.same, Columns: append([]string(nil), c.uncomparable...)}
	if len(c.sets) > 0 {
		if c.compared == 0 || float64(c.changed) < changedShare*float64(c.compared) && len(c.uncomparable) == 0 {
			return nil
		}
		out.Changed = float64(c.changed) / float64(c.compared)
	}
	for i := range c.sets {
		if k := &c.sets[i]; k.compared > 0 && float64(k.changed) >= columnShare*float64(k.compared) {
			out.Columns = append(out.Columns, k.name)
		}
	}
	slices.Sort(out.Columns)
	return out
}

// placeOf returns the place of the bind variable for a column, -1 if there is none.
func placeOf(st *trace.Statement, name string) int {
	for i, place := range trace.Places(st) {
		if v := &st.Variables[i]; v.Name == name && (i >= len(st.Ranges) || !st.Ranges[i]) {
			return place
		}
	}
	return -1
}

func variableColumn(st *trace.Statement, place int) string {
	if v := trace.Variable(st, place); v >= 0 {
		return trace.ColumnOf(st.Variables[v].Name)
	}
	return ""
}

// echoes finds what there is to say of a variable's echoes: checks and siblings among those that explain it, and read-modify-writes among all that are more
// than coincidence, for that the row is the same is evidence enough.
func (m *Miner) echoes(at source, p *parameter, observations []observation, found []finding) (out []Feed) {
	for _, f := range found {
		if f.source.echo() {
			if feed, ok := m.check(f, at, p, observations); ok {
				out = append(out, feed)
			} else if m.siblings(f.source, at) {
				feed := m.describe(f, at, p)
				feed.Shape = Sibling
				out = append(out, feed)
			}
		}
	}
	write := m.statements[at.statement()].statement
	if !write.Write || len(write.Sets) == 0 {
		return out
	}
	for _, f := range m.alone(observations, func(s source) bool {
		read := m.statements[s.statement()].statement
		return s.echo() && !read.Write && read.Table == write.Table && read.Keyspace == write.Keyspace &&
			variableColumn(read, s.index()) == variableColumn(write, at.index())
	}) {
		if c := m.change(f, at, observations); c != nil {
			feed := m.describe(f, at, p)
			feed.Shape, feed.Change, feed.Race = ReadModifyWrite, c, !write.Conditional
			out = append(out, feed)
		}
	}
	return out
}

// siblings tells whether two variables are of reads of two tables.
func (m *Miner) siblings(a, b source) bool {
	x, y := m.statements[a.statement()].statement, m.statements[b.statement()].statement
	return !x.Write && !y.Write && (x.Table != y.Table || x.Keyspace != y.Keyspace)
}

// alone finds the sources that are more than coincidence each by itself, whatever else explains the same observations.
func (m *Miner) alone(observations []observation, wanted func(source) bool) (out []finding) {
	n := len(observations)
	if n == 0 {
		return nil
	}
	all, sizes := count(observations, observations[n/2].t0)
	for s, t := range all {
		if !wanted(s) {
			continue
		}
		f, ok := strongest(map[source]*[3]tally{s: t}, sizes, n, &accepted, func(source, int) bool { return true }, m.compare)
		if !ok {
			continue
		}
		for i := range observations {
			if observations[i].within(f.source, f.edge) {
				f.explained = append(f.explained, observations[i])
			}
		}
		f.share, f.certainty = shareOf(f.hits, f.decoys, n), certainty(f.hits, f.decoys, n, len(all)*len(edges))
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b finding) int { return m.compare(a.source, b.source) })
	return out
}

// settled leaves one echo of each pair of statements, of siblings one of each variable, and no check whose producer's values are used.
func settled(echoes, feeds []Feed) []Feed {
	type pair struct {
		from, to string
		variable int // of siblings: a key of several columns is several
	}
	produces, best := map[string]bool{}, map[pair]int{}
	for i := range feeds {
		produces[feeds[i].From.Fingerprint] = true
	}
	// A new row where there was none is no change of what was read; else the change says more than the check.
	rank := func(f *Feed) int {
		switch {
		case f.Shape == Check && f.Outcome.When == WhenNoRow:
			return 0
		case f.Shape == ReadModifyWrite:
			return 1
		case f.Shape == Sibling:
			return 3
		}
		return 2
	}
	sortFeeds(echoes)
	out := echoes[:0:0]
	for _, f := range echoes {
		if f.Shape == Faint {
			out = append(out, f)
			continue
		}
		if f.Shape == Check && produces[f.From.Fingerprint] {
			continue
		}
		k := pair{f.From.Fingerprint, f.To.Fingerprint, -1}
		if f.Shape == Sibling {
			k.variable = f.To.Index
		}
		if i, ok := best[k]; !ok {
			best[k] = len(out)
			out = append(out, f)
		} else if rank(&f) < rank(&out[i]) {
			out[i] = f
		}
	}
	return slices.DeleteFunc(out, func(f Feed) bool {
		_, more := best[pair{f.From.Fingerprint, f.To.Fingerprint, -1}]
		return f.Shape == Sibling && more
	})
}
