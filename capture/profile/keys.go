package profile

import (
	"cmp"
	"slices"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

// Bounds of the sample of keys.
const (
	keysPerClass = 1_024
	rowsPerTable = 8
	rowCells     = 16 // of one row
)

// identifying are the classes of values that may be keys.
var identifying = []value.Class{value.Integer, value.Text, value.UUID}

// sample keeps the keys with the smallest hashes of each class.
type sample struct {
	classes map[value.Class]*keys
	row     []Cell
	values  []value.Value
}

// keys are kept in a map, with a limit above which hashes are not worth a look; the limit is lowered now and then.
type keys struct {
	class string
	limit uint64
	known map[uint64]*Key
}

func newSample() sample {
	s := sample{classes: map[value.Class]*keys{}}
	for _, c := range identifying {
		s.classes[c] = &keys{class: c.String(), limit: ^uint64(0), known: map[uint64]*Key{}}
	}
	return s
}

// add takes in the rows of an execution: those read, and the one that a write has bound.
func (s *sample) add(e *trace.Execution, p *plan) {
	if e.Statement.Write {
		s.begin()
		for i := range e.Binds {
			if v := &e.Binds[i]; int(v.Index) < len(p.binds) {
				s.cell(p.binds[v.Index], v)
			}
		}
		s.end(e, true, e.Start)
		return
	}
	for i := 0; i < len(e.Cells); {
		s.begin()
		row := e.Cells[i].Row
		for ; i < len(e.Cells) && e.Cells[i].Row == row; i++ {
			if v := &e.Cells[i]; int(v.Index) < len(p.cells) {
				s.cell(p.cells[v.Index], v)
			}
		}
		// What was asked for by equality is a part of each row, though it is not read.
		for k := range e.Binds {
			v := &e.Binds[k]
			if int(v.Index) < len(p.binds) && single(e, v) {
				s.cell(p.binds[v.Index], v)
			}
		}
		s.end(e, false, e.End)
	}
}

// single tells whether a bound value is the only one of its variable, and every row of the answer has it: WHERE compares the column by =.
func single(e *trace.Execution, v *value.Value) bool {
	at := trace.Variable(e.Statement, int(v.Index))
	if at < 0 || at < len(e.Statement.Ranges) && e.Statement.Ranges[at] {
		return false
	}
	name := e.Statement.Variables[at].Name
	return trace.ColumnOf(name) == name && (slices.Contains(e.Statement.PartitionKey, at) || slices.Contains(e.Statement.Key, name))
}

func (s *sample) begin() { s.row, s.values = s.row[:0], s.values[:0] }

// cell puts a value into the row. Of a collection, which has several, the first one is the cell.
func (s *sample) cell(c *column, v *value.Value) {
	if c == nil || v.Null || v.Class == value.None {
		return
	}
	if c.key {
		s.values = append(s.values, *v)
	}
	for i := range s.row {
		if s.row[i].Column == c.Name {
			return
		}
	}
	if len(s.row) < rowCells {
		s.row = append(s.row, Cell{c.Name, v.Hash})
	}
}

// end enters the row with each key that it holds.
func (s *sample) end(e *trace.Execution, write bool, at int64) {
	var row *Row
	for i := range s.values {
		v := &s.values[i]
		k := s.classes[v.Class]
		if k == nil || v.Hash > k.limit {
			continue
		}
		if row == nil {
			cells := slices.Clone(s.row)
			slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Column, b.Column) })
			row = &Row{Keyspace: e.Statement.Keyspace, Table: e.Statement.Table, Write: write, Seen: 1, First: at, Last: at, Cells: cells}
			row.ID = identity(row)
		}
		k.add(v.Hash, row)
	}
}

// identity mixes the cells' hashes, which are secret and uniform already, and their columns' names.
func identity(r *Row) uint64 {
	h := uint64(len(r.Cells))
	if r.Write {
		h = ^h
	}
	for _, c := range r.Cells {
		h ^= c.Hash
		for _, b := range []byte(c.Column) {
			h = (h ^ uint64(b)) * 0x9E3779B97F4A7C15
			h ^= h >> 29
		}
	}
	return h
}

func (k *keys) add(hash uint64, row *Row) {
	one := k.known[hash]
	if one == nil {
		one = &Key{Hash: hash, Class: k.class}
		k.known[hash] = one
	}
	at, known := slices.BinarySearchFunc(one.Rows, row, func(a Row, b *Row) int { return a.compare(*b) })
	switch {
	case known:
		one.Rows[at] = one.Rows[at].merge(*row)
	case at < rowsPerTable || one.Rows[at-rowsPerTable].Table != row.Table || one.Rows[at-rowsPerTable].Keyspace != row.Keyspace:
		one.Rows = perTable(slices.Insert(one.Rows, at, *row))
	}
	if len(k.known) >= 2*keysPerClass {
		k.shrink()
	}
}

// shrink forgets all keys but the smallest.
func (k *keys) shrink() {
	all := make([]uint64, 0, len(k.known))
	for h := range k.known {
		all = append(all, h)
	}
	slices.Sort(all)
	for _, h := range all[min(len(all), keysPerClass):] {
		delete(k.known, h)
	}
	if len(all) >= keysPerClass {
		k.limit = all[keysPerClass-1]
	}
}

// list returns a copy of the keys, sorted.
func (s *sample) list() []Key {
	var out []Key
	for _, k := range s.classes {
		k.shrink()
		for _, one := range k.known {
			out = append(out, Key{one.Hash, one.Class, slices.Clone(one.Rows)})
		}
	}
	slices.SortFunc(out, Key.compare)
	return out
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Class, o.Class), cmp.Compare(k.Hash, o.Hash))
}

func (k Key) merge(o Key) Key {
	k.Rows = perTable(join(k.Rows, o.Rows, Row.compare, Row.merge))
	return k
}

func (r Row) compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Keyspace, o.Keyspace), cmp.Compare(r.Table, o.Table), cmp.Compare(r.ID, o.ID))
}

func (r Row) merge(o Row) Row {
	r.Seen += o.Seen
	r.First, r.Last = min(r.First, o.First), max(r.Last, o.Last)
	return r
}

// trimmed keeps the keys with the smallest hashes of each class of a sorted list.
func trimmed(all []Key) []Key {
	var out []Key
	n, class := 0, ""
	for _, k := range all {
		if k.Class != class {
			n, class = 0, k.Class
		}
		if n++; n <= keysPerClass {
			out = append(out, k)
		}
	}
	return out
}

// perTable keeps the rows with the smallest IDs of each table of a sorted list.
func perTable(all []Row) []Row {
	out := all[:0]
	n := 0
	for i := range all {
		if i > 0 && all[i].Table == all[i-1].Table && all[i].Keyspace == all[i-1].Keyspace {
			n++
		} else {
			n = 0
		}
		if n < rowsPerTable {
			out = append(out, all[i])
		}
	}
	return out
}
