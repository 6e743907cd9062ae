package profile

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/sketch"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

// Options configure a Book.
type Options struct {
	Epoch    uint64    // names the key
	Source   uint64    // names the process
	Began    time.Time // when the key was made
	Started  time.Time // the moment from which executions count their time
	Literals []string  // columns whose literals are allowed: "keyspace.table.column", "keyspace.table", "keyspace.*"
}

// Bounds of a Book's memory (docs/design/mapping.md 2.8): 40 KB for a column at the most, 17 KB for a parameter or a table, so some
// 75 MB in all, and 9 MB for what texts are made of.
const (
	maxColumns    = 1_000
	maxParameters = 1_000
	maxTables     = 500
	maxShapes     = 64
	columnValues  = 1_024 // hashes kept
	otherValues   = 256
	maxFresh      = 1 << 18 // values that are remembered for ten minutes
	maxPieces     = 1_000   // of texts, of all columns
	firstTexts    = 128     // of a column: a piece that none of these has is not looked for
)

const freshFor = int64(10 * time.Minute)

// Book learns. It is for one goroutine.
type Book struct {
	options    Options
	allowed    map[string]bool
	columns    map[place]*column
	parameters map[parameterKey]*Parameter
	tables     map[place]*Table
	met        map[*Table]*meeter
	plans      map[*trace.Statement]*plan
	keys       sample
	pieces     int // of all columns
	recent     *sketch.Recent
	last       int64 // of the executions, on their clock
	lists      []uint32
}

// place is a column, or a table if it has no name.
type place struct{ keyspace, table, name string }

type parameterKey struct {
	fingerprint string
	index       int
}

// column is a Column that grows.
type column struct {
	Column
	allowed bool
	key     bool                  // it was bound: rows are looked for by it
	numbers [2*65 + 1]uint64      // Numbers, from -65 on
	classes [value.Classes]uint64 // Classes
	pieces  [value.MaxPieces]map[value.Class]*Piece
}

// plan is where the values of a statement go.
type plan struct {
	binds      []*column    // by place; nil for no room
	parameters []*Parameter // likewise
	cells      []*column    // by result column
	table      *Table
	literals   bool
}

// New returns an empty book.
func New(o Options) *Book {
	b := &Book{
		options: o, allowed: map[string]bool{}, columns: map[place]*column{}, parameters: map[parameterKey]*Parameter{},
		tables: map[place]*Table{}, met: map[*Table]*meeter{}, plans: map[*trace.Statement]*plan{}, recent: sketch.NewRecent(maxFresh, freshFor), keys: newSample(),
	}
	for _, name := range o.Literals {
		b.allowed[strings.TrimSuffix(strings.TrimSpace(name), ".*")] = true
	}
	return b
}

// Columns is how many columns have profiles.
func (b *Book) Columns() int { return len(b.columns) }

func (b *Book) column(keyspace, table, name string) *column {
	at := place{keyspace, table, name}
	c := b.columns[at]
	if c == nil && len(b.columns) < maxColumns {
		c = &column{Column: Column{Keyspace: keyspace, Table: table, Name: name, Values: sketch.New(columnValues)}}
		c.allowed = b.allowed[keyspace] || b.allowed[keyspace+"."+table] || b.allowed[keyspace+"."+table+"."+name]
		b.columns[at] = c
	}
	return c
}

// plan works out, once for a statement, where its values go.
func (b *Book) plan(st *trace.Statement) *plan {
	if p := b.plans[st]; p != nil {
		return p
	}
	if len(b.plans) > 4*maxParameters { // descriptions come and go
		clear(b.plans)
	}
	p := &plan{}
	b.plans[st] = p
	for i, at := range trace.Places(st) {
		if at < len(p.binds) {
			continue
		}
		v := &st.Variables[i]
		name := trace.ColumnOf(v.Name)
		c := b.column(v.Keyspace, v.Table, name)
		if c != nil {
			c.key = true
			p.literals = p.literals || c.allowed
		}
		p.binds = append(p.binds, c)
		key := parameterKey{st.Fingerprint, at}
		if b.parameters[key] == nil && len(b.parameters) < maxParameters {
			b.parameters[key] = &Parameter{Fingerprint: st.Fingerprint, Index: at, Keyspace: v.Keyspace, Table: v.Table, Column: name, Values: sketch.New(otherValues)}
		}
		p.parameters = append(p.parameters, b.parameters[key])
	}
	for i := range st.Results {
		v := &st.Results[i]
		c := b.column(v.Keyspace, v.Table, v.Name)
		p.literals = p.literals || c != nil && c.allowed
		p.cells = append(p.cells, c)
	}
	at := place{keyspace: st.Keyspace, table: st.Table}
	if b.tables[at] == nil && st.Table != "" && len(b.tables) < maxTables {
		b.tables[at] = &Table{Keyspace: st.Keyspace, Name: st.Table, Shapes: map[string]uint64{}, Touched: sketch.New(otherValues)}
	}
	p.table = b.tables[at]
	return p
}

// WantsLiterals tells whether a statement has columns whose literals are allowed.
func (b *Book) WantsLiterals(st *trace.Statement) bool {
	return len(b.allowed) > 0 && b.plan(st).literals
}

// Literal notes the text of a value of a column whose literals are allowed; of others it does nothing.
func (b *Book) Literal(keyspace, table, name, text string, client uint64) {
	if c := b.column(keyspace, table, name); c != nil && c.allowed {
		if c.Literals == nil {
			c.Literals = &Literals{}
		}
		c.Literals.add(text, 1, client)
	}
}

// Add takes in an execution.
func (b *Book) Add(e *trace.Execution) {
	b.last = max(b.last, e.End)
	p := b.plan(e.Statement)
	b.bound(e, p)
	for i := range e.Cells {
		v := &e.Cells[i]
		if int(v.Index) >= len(p.cells) || p.cells[v.Index] == nil {
			continue
		}
		c := p.cells[v.Index]
		if v.Null {
			c.Null++
			continue
		}
		c.Read++
		c.value(v)
		b.recent.Seen(v.Hash, e.End)
	}
	b.made(e.MadeBinds, e.Binds, p.binds)
	b.made(e.MadeCells, e.Cells, p.cells)
	b.touched(e, p.table)
	if !e.Failed {
		b.keys.add(e, p)
	}
}

// bound takes in the values of a request.
func (b *Book) bound(e *trace.Execution, p *plan) {
	b.lists = append(b.lists[:0], make([]uint32, len(p.parameters))...)
	for i := range e.Binds {
		v := &e.Binds[i]
		if int(v.Index) >= len(p.binds) {
			continue
		}
		c, q := p.binds[v.Index], p.parameters[v.Index]
		if v.Null {
			if c != nil {
				c.Null++
			}
			if q != nil {
				q.Null++
			}
			continue
		}
		seen := v.Class != value.None && b.recent.Seen(v.Hash, e.Start)
		if c != nil {
			c.Bound++
			if e.Statement.Write {
				c.Written++
			}
			c.value(v)
		}
		if q != nil {
			q.Bound++
			q.Bytes.Add(uint64(v.Bytes))
			b.lists[v.Index]++
			if v.Class != value.None {
				q.Values.Add(v.Hash)
				if e.Statement.Write && !seen {
					q.Fresh++
				}
			}
		}
	}
	for i, n := range b.lists {
		if q := p.parameters[i]; q != nil && n > 0 {
			q.Lengths.Add(uint64(n))
		}
	}
}

// value takes in one value.
func (c *column) value(v *value.Value) {
	c.Bytes.Add(uint64(v.Bytes))
	c.classes[v.Class]++
	if v.Class == value.None {
		return
	}
	c.Values.Add(v.Hash)
	if !v.Numeric {
		return
	}
	c.numbers[int(v.Magnitude())+65]++
	if c.allowed {
		c.Range = c.Range.merge(&Range{v.Number, v.Number})
		if c.Coarse == nil {
			c.Coarse = map[int64]uint64{}
		}
		c.Coarse[coarse(v.Number)]++
	}
}

// made takes in what texts are made of.
func (b *Book) made(list []value.Made, of []value.Value, columns []*column) {
	for _, m := range list {
		i := int(of[m.Of].Index)
		if i >= len(columns) || columns[i] == nil || m.Piece >= value.MaxPieces {
			continue
		}
		c := columns[i]
		if c.pieces[m.Piece] == nil {
			c.pieces[m.Piece] = map[value.Class]*Piece{}
		}
		x := c.pieces[m.Piece][m.Class]
		if x == nil {
			if b.pieces >= maxPieces || c.Read+c.Bound > firstTexts {
				continue
			}
			b.pieces++
			x = &Piece{Number: m.Piece, Class: m.Class.String(), Values: sketch.New(otherValues)}
			c.pieces[m.Piece][m.Class] = x
		}
		x.Seen++
		x.Values.Add(m.Hash)
	}
}

// made lists what its texts are made of.
func (c *column) made() (out []Piece) {
	for _, of := range c.pieces {
		for _, x := range of {
			one := *x
			one.Values = x.Values.Clone()
			out = append(out, one)
		}
	}
	slices.SortFunc(out, Piece.compare)
	return out
}

// coarse keeps the three leading bits of a number, rounding down.
func coarse(n int64) int64 {
	if n < 0 {
		if n == math.MinInt64 {
			return n
		}
		m := -n // round up, so that the number itself goes down
		drop := max(bits.Len64(uint64(m))-3, 0)
		m = (m + 1<<drop - 1) >> drop << drop
		if m < 0 {
			return math.MinInt64
		}
		return -m
	}
	drop := max(bits.Len64(uint64(n))-3, 0)
	return n >> drop << drop
}

// touched takes in what an execution says of its table.
func (b *Book) touched(e *trace.Execution, t *Table) {
	if t == nil {
		return
	}
	if shape := e.Statement.Shape; shape != "" {
		if _, known := t.Shapes[shape]; !known && len(t.Shapes) >= maxShapes {
			shape = otherShape
		}
		t.Shapes[shape]++
	}
	if e.Partition == 0 {
		return
	}
	t.Touched.Add(e.Partition)
	if e.Statement.Write {
		t.Writes++
		if b.met[t] == nil {
			b.met[t] = &meeter{}
		}
		b.met[t].add(e, &t.Met)
		return
	}
	t.Reads++
	if e.Rows >= 0 && e.Last && !e.Failed {
		t.Rows.Add(uint64(e.Rows))
		t.RowBytes.Add(uint64(e.Bytes))
		t.Longest.Add(e.Partition, uint64(e.Rows))
		t.Heaviest.Add(e.Partition, uint64(e.Bytes))
	}
}

// otherShape counts restrictions beyond those that there is room for.
const otherShape = "other"

// Document returns what was learnt, no epoch if that is nothing. It has nothing in common with the book.
func (b *Book) Document() *Document {
	if len(b.columns) == 0 {
		return &Document{}
	}
	e := Epoch{ID: b.options.Epoch, Source: b.options.Source, Began: b.options.Began.UTC(), Last: b.options.Started.Add(time.Duration(b.last)).UTC()}
	for _, c := range b.columns {
		one := c.Column
		one.Values, one.Distinct, one.Literals, one.Bytes = c.Values.Clone(), c.Values.Distinct(), c.Literals.clone(), c.Bytes.Clone()
		one.Pieces = c.made()
		one.Coarse, one.Numbers, one.Classes = maps.Clone(c.Coarse), map[int8]uint64{}, map[string]uint64{}
		for i, n := range c.numbers {
			if n != 0 {
				one.Numbers[int8(i-65)] = n
			}
		}
		for i, n := range c.classes {
			if n != 0 {
				one.Classes[value.Class(i).String()] = n
			}
		}
		e.Columns = append(e.Columns, one)
	}
	for _, p := range b.parameters {
		one := *p
		one.Values, one.Lengths, one.Bytes, one.Distinct = p.Values.Clone(), p.Lengths.Clone(), p.Bytes.Clone(), p.Values.Distinct()
		e.Parameters = append(e.Parameters, one)
	}
	for _, t := range b.tables {
		one := *t
		one.Touched, one.Partitions, one.HotShare = t.Touched.Clone(), t.Touched.Distinct(), hotShare(t.Touched)
		one.Rows, one.RowBytes, one.Shapes = t.Rows.Clone(), t.RowBytes.Clone(), maps.Clone(t.Shapes)
		one.Longest, one.Heaviest = slices.Clone(t.Longest), slices.Clone(t.Heaviest)
		e.Tables = append(e.Tables, one)
	}
	slices.SortFunc(e.Columns, Column.compare)
	slices.SortFunc(e.Parameters, Parameter.compare)
	slices.SortFunc(e.Tables, Table.compare)
	e.Keys = b.keys.list()
	return &Document{Epochs: []Epoch{e}}
}
