package infer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/sketch"
)

// This file collects what values say: which columns have values of the same domain.

// pair is two columns, "keyspace.table.column", in order.
type pair struct{ a, b string }

func newPair(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// evidence is what feeds say about a pair of columns.
type evidence struct {
	confidence float64
	hits       int
	observed   int
}

// dual is that INSERTs into two tables go together, with the columns that are bound to the same values in both directions: a
// column of the first table in order, and one of the other.
type dual struct {
	columns [][2]string
	writes  int
	means   []float64 // by columns: INSERTs into the other table with the value of one into this
	times   float64   // INSERTs into the other table for each into this, near to each other or not
	share   float64   // of the INSERTs into this that one into the other goes with
}

// observe takes in what a snapshot says of values.
func (b *modeller) observe(snapshot *capture.Snapshot, s *schema.Schema) {
	for _, f := range b.believed(snapshot) {
		if f.Shape == feed.Pagination {
			continue
		}
		if answer, said := b.ruled.joined(&f); said && !answer.yes {
			continue
		}
		f.From, f.To = unmirrored(s, f.From), unmirrored(s, f.To)
		p := newPair(columnName(f.From), columnName(f.To))
		seen := evidence{confidence: f.Confidence, hits: f.Hits, observed: f.Executions}
		b.noteBeside(columnName(f.From), table{f.To.Keyspace, f.To.Table}, f.To.Column, seen)
		b.noteBeside(columnName(f.To), table{f.From.Keyspace, f.From.Table}, f.From.Column, seen)
		if e := b.joins[p]; f.Confidence > e.confidence {
			b.joins[p] = seen
			b.travel[p.a], b.travel[p.b] = true, true
		}
	}
	for i := range snapshot.Echoes {
		f := &snapshot.Echoes[i]
		if p := newPair(columnName(unmirrored(s, f.From)), columnName(unmirrored(s, f.To))); f.Shape == feed.Sibling && f.Confidence > b.asked[p].confidence {
			b.asked[p] = evidence{confidence: f.Confidence, hits: f.Hits, observed: f.Executions}
			b.travel[p.a], b.travel[p.b] = true, true
		}
	}
	for i := range snapshot.Statements {
		st := &snapshot.Statements[i]
		if t, ok := filters(st, s); ok {
			b.scanned[t] = true
		}
		b.said[table{st.Keyspace, st.Table}] += st.Count
	}
	b.coWritten(snapshot)
	b.passages(snapshot)
	if snapshot.Profiles == nil {
		return
	}
	joined := snapshot.Profiles.Joined()
	for i := range joined.Epochs {
		if e := &joined.Epochs[i]; !e.Derived { // hashes of two epochs are not to be compared
			for k := range e.Columns {
				c := &e.Columns[k]
				b.values.add(c.Keyspace+"."+c.Table+"."+c.Name, c.Values)
				b.made(c)
			}
			b.values.meet()
			b.samples.add(e.Keys)
			break
		}
	}
}

// coWritten notes which tables are inserted into together.
func (b *modeller) coWritten(snapshot *capture.Snapshot) {
	type insert struct {
		of      table
		columns []string // by place
		count   uint64
	}
	inserts := map[string]insert{}
	for i := range snapshot.Statements {
		st := &snapshot.Statements[i]
		if of, columns, ok := inserted(st); ok {
			inserts[st.Fingerprint] = insert{of, columns, executions(st)}
		}
	}
	for _, p := range snapshot.Bursts { // of several statements on the same tables the most frequent says most, which is the first
		from, ok := inserts[p.From]
		to, ok2 := inserts[p.To]
		if !ok || !ok2 || from.of == to.of {
			continue
		}
		d := dual{writes: p.Accompanied, times: float64(max(to.count, 1)) / float64(max(from.count, 1)), share: float64(p.Accompanied) / float64(max(p.Writes, 1))}
		for _, e := range p.Equal {
			if e.Same && e.From < len(from.columns) && e.To < len(to.columns) {
				mean := e.Mean
				if mean == 0 { // found before it was told by column
					mean = p.Mean
				}
				d.columns, d.means = append(d.columns, [2]string{from.columns[e.From], to.columns[e.To]}), append(d.means, mean)
			}
		}
		if _, known := b.duals[[2]table{from.of, to.of}]; !known && len(d.columns) > 0 {
			b.duals[[2]table{from.of, to.of}] = d
		}
	}
	for at, d := range maps.Clone(b.duals) { // of two directions capture tells one, as it comes: a ticket goes with one order, from which follows that an order goes with two tickets
		if _, known := b.duals[[2]table{at[1], at[0]}]; known {
			continue
		}
		back := dual{writes: d.writes, times: 1 / d.times}
		for i, c := range d.columns {
			back.columns, back.means = append(back.columns, [2]string{c[1], c[0]}), append(back.means, max(1, d.means[i]*d.share/d.times))
		}
		b.duals[[2]table{at[1], at[0]}] = back
	}
}

// inserted returns the table of an INSERT and the columns of its variables, by place.
func inserted(st *capture.Statement) (of table, columns []string, ok bool) {
	if st.Kind != cql.KindInsert.String() {
		return of, nil, false
	}
	parsed, err := st.Parse()
	x, isInsert := parsed.(*cql.Insert)
	if err != nil || !isInsert || x.JSON != nil {
		return of, nil, false
	}
	ref := x.Table.In(st.Keyspace)
	of = table{ref.Keyspace, ref.Table}
	if len(st.Variables) > 0 { // no column is bound twice in an INSERT, so a variable's place is its number
		for _, v := range st.Variables {
			columns = append(columns, v.Name)
		}
		return of, columns, true
	}
	for i, v := range x.Values {
		if _, marker := v.(*cql.Marker); marker && i < len(x.Columns) {
			columns = append(columns, x.Columns[i])
		}
	}
	return of, columns, true
}

// Containment of sketches.
const (
	// leastValues is how many different values a containment must rest on: at 50 the 95 % interval of a share of 1 ends at 0.93.
	leastValues = 50
	// leastUUIDs is the same of UUIDs, which are never equal by chance.
	leastUUIDs = 10
	// leastOfFew is how many texts it has to be of, where half of the keys or more were seen.
	leastOfFew = 8
	// within is the share of a column's values that have to be among a key's, at least: not all of the key's values were seen.
	within = 0.9
	// apart is the share below which two columns have nothing to do with each other, if much of both was seen.
	apart = 0.05
)

// contained weighs whether the values seen of a column are among those seen of a key. rows is how many values the key has, 0 if that is not known.
func (b *modeller) contained(column, key, cqlType string, rows float64) (odds float64, of overlap) {
	v, k := b.values.of[column], b.values.of[key]
	if v == nil || k == nil {
		return 0, overlap{}
	}
	var share, low, high float64
	var n int
	if v.meets(k) {
		share, low, high, n = v.values.Containment(k.values)
	} else {
		high, n = v.values.Apart(k.values)
	}
	of = overlap{share: share, n: n}
	switch {
	case share == 0 && n > 0 && (n >= leastUUIDs || !dense(cqlType)) && strange(k.distinct, rows, n):
		if n < leastUUIDs { // some of a state's few values; or the one reference to what is gone
			return -2, of
		}
		return -4, of
	case n < leastValues && textual(cqlType) && len(b.pieces[column]) == 0 && few(share, n, k.distinct, rows):
		return 1.5, of
	case n < leastUUIDs, n < leastValues && cqlType != "uuid" && cqlType != "timeuuid":
		return 0, overlap{}
	case dense(cqlType):
		if low >= within {
			of.everywhere = true
			return 0.2, of
		}
	case low >= within:
		return 2.5, of
	case low >= apart: // keys seen are a part of all: values of two domains are never equal
		return 2, of
	case rows <= 0:
	case high <= apart && k.distinct >= rows/2:
		return -4, of
	}
	return 0, overlap{}
}

// containedIn is contained in a table's key, or, if that says nothing, in that of a copy with all of its rows, of which more may have been seen.
func (b *modeller) containedIn(column string, to *source, cqlType string) (odds float64, of overlap) {
	key := to.key[0]
	odds, of = b.contained(column, to.id(key), cqlType, to.rows())
	for _, view := range b.views[to] {
		x := view.schema.Column(view.copied.column(key))
		if odds != 0 || x == nil || x.Type != cqlType || view.covers() < Full || column == view.id(x.Name) {
			continue
		}
		odds, of = b.contained(column, view.id(x.Name), cqlType, to.rows())
	}
	return odds, of
}

// few tells whether values of a column, that are few, are keys of a table of few: as many of them as were seen of all keys.
func few(share float64, n int, distinct, rows float64) bool {
	if rows <= 0 || share*float64(n) < leastOfFew {
		return false
	}
	seen := min(1, distinct/rows)
	return seen >= 0.5 && share >= within*seen
}

// strange tells whether n values, none of which is among those that were seen of a key, are others': of a key's own, some would have been seen.
func strange(seen, rows float64, n int) bool {
	return rows > 0 && seen >= rows/8 && math.Pow(max(1-seen/rows, 0), float64(n)) < 1e-3
}

// overlap is what is known of the values of a column that are among another's. It is worded where it is told.
type overlap struct {
	share      float64
	n          int
	everywhere bool
}

// String words it.
func (s overlap) String() string {
	text := fmt.Sprintf("%.0f %% of %d values of the one were seen in the other", 100*s.share, s.n)
	if s.everywhere {
		text += ", but small integers are in everything"
	}
	return text
}

// dense tells whether values of a type are mostly small integers: equal ones say nothing.
func dense(cqlType string) bool {
	switch strings.ToLower(cqlType) {
	case "int", "bigint", "smallint", "tinyint", "varint", "counter":
		return true
	}
	return false
}

// timelike tells whether a type orders things in time, rather than naming them.
func timelike(cqlType string) bool {
	switch strings.ToLower(cqlType) {
	case "timestamp", "date", "time":
		return true
	}
	return false
}

// sketches are those of columns. Most columns have no value in common, so which have is found once, by their values, and not for each two of them.
type sketches struct {
	of  map[string]*sketched // by column
	all []*sketched
}

// sketched is the sketch of one column.
type sketched struct {
	number   int // in sketches.all
	values   *sketch.Values
	distinct float64
	met      []uint64 // a bit for each column, by number, that has a value of this one
}

// meets tells whether two columns have a value in common.
func (s *sketched) meets(o *sketched) bool { return s.met[o.number/64]&(1<<(o.number%64)) != 0 }

// add adds a column.
func (s *sketches) add(column string, v *sketch.Values) {
	if s.of == nil {
		s.of = map[string]*sketched{}
	}
	if v == nil || s.of[column] != nil {
		return
	}
	x := &sketched{number: len(s.all), values: v, distinct: v.Distinct()}
	s.of[column], s.all = x, append(s.all, x)
}

// meet finds the columns that have values in common.
func (s *sketches) meet() {
	type place struct {
		hash   uint64
		column int
	}
	var places []place
	together := make([]uint64, (len(s.all)+63)/64)
	for n, x := range s.all {
		x.met = make([]uint64, len(together))
		for _, h := range x.values.Hashes() {
			places = append(places, place{h, n})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.hash, b.hash) })
	for from := 0; from < len(places); {
		to := from + 1
		for to < len(places) && places[to].hash == places[from].hash {
			to++
		}
		if to > from+1 {
			clear(together)
			for _, p := range places[from:to] {
				together[p.column/64] |= 1 << (p.column % 64)
			}
			for _, p := range places[from:to] {
				for i, bits := range together {
					s.all[p.column].met[i] |= bits
				}
			}
		}
		from = to
	}
}
