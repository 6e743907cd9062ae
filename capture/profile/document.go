package profile

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/sketch"
)

// Document is what a Book has learnt. It is not changed once made; Merge and the others return new ones. nil is empty.
type Document struct {
	Epochs []Epoch `json:"epochs"` // the latest first
}

// Epoch is what one process learnt under one key.
type Epoch struct {
	ID         uint64      `json:"id"`     // of the key; equal keys, equal IDs
	Source     uint64      `json:"source"` // of the process, at random
	Began      time.Time   `json:"began"`
	Last       time.Time   `json:"last"`              // when something was learnt last
	Derived    bool        `json:"derived,omitempty"` // the key is gone: there are no hashes
	Columns    []Column    `json:"columns,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Tables     []Table     `json:"tables,omitempty"`
	Keys       []Key       `json:"keys,omitempty"`
}

// Column is what is known of a column's values. All counts are of sampled exchanges.
type Column struct {
	Keyspace string `json:"keyspace"`
	Table    string `json:"table"`
	Name     string `json:"name"`

	Read    uint64         `json:"read"`    // cells in answers, elements of collections one by one
	Bound   uint64         `json:"bound"`   // values in requests, likewise
	Written uint64         `json:"written"` // of these, in writes
	Null    uint64         `json:"null"`    // nulls, read or bound, which are in none of the others
	Bytes   sketch.Octaves `json:"bytes"`

	// Numbers counts by magnitude: the position of the highest bit, negative below 0.
	Numbers map[int8]uint64 `json:"numbers,omitempty"`
	// Range is the smallest and the largest number, only of columns whose literals are allowed; Coarse counts them by their
	// leading three bits, keyed by the smallest such number, in their order.
	Range    *Range            `json:"range,omitempty"`
	Coarse   map[int64]uint64  `json:"coarse,omitempty"`
	Literals *Literals         `json:"literals,omitempty"` // likewise
	Classes  map[string]uint64 `json:"classes,omitempty"`  // values by class; text that spells UUIDs is uuid

	Distinct float64        `json:"distinct"` // estimate of the number of different values
	Values   *sketch.Values `json:"values,omitempty"`
	// Pieces are what its texts are joined of (123 of "user:123", acme of "acme|bob"), by place and class.
	Pieces []Piece `json:"pieces,omitempty"`
}

// Piece is what is known of one part of a column's texts.
type Piece struct {
	Number uint8          `json:"number"` // which part, from 0
	Class  string         `json:"class"`
	Seen   uint64         `json:"seen"` // texts that have it
	Values *sketch.Values `json:"values,omitempty"`
}

// Range is that of numbers.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Parameter is what is known of a bind variable.
type Parameter struct {
	Fingerprint string         `json:"fingerprint"`
	Index       int            `json:"index"` // its place: the variables of IN (?, ?, ?) have one
	Keyspace    string         `json:"keyspace"`
	Table       string         `json:"table"`
	Column      string         `json:"column"`
	Bound       uint64         `json:"bound"`
	Null        uint64         `json:"null"`
	Fresh       uint64         `json:"fresh"`   // of Bound, in writes: not seen in the ten minutes before
	Lengths     sketch.Octaves `json:"lengths"` // of its lists; 1 for what is none
	Bytes       sketch.Octaves `json:"bytes"`
	Distinct    float64        `json:"distinct"`
	Values      *sketch.Values `json:"values,omitempty"`
}

// Table is what is known of a table's partitions.
type Table struct {
	Keyspace string `json:"keyspace"`
	Name     string `json:"name"`
	Reads    uint64 `json:"reads"` // of one partition each
	Writes   uint64 `json:"writes"`
	// Rows and RowBytes are those of answers that came on one page, from one partition: a partition has at least as much.
	Rows     sketch.Octaves `json:"rows"`
	RowBytes sketch.Octaves `json:"row_bytes"`
	// Shapes counts executions by what restricts their rows.
	Shapes map[string]uint64 `json:"shapes,omitempty"`

	Partitions float64        `json:"partitions"` // estimate of the different ones that were touched
	HotShare   float64        `json:"hot_share"`  // of all executions, the hottest partition's
	Met        Meetings       `json:"met,omitzero"`
	Touched    *sketch.Values `json:"touched,omitempty"` // partitions, by their key's hash
	Longest    sketch.Largest `json:"longest,omitempty"` // partitions with the most rows seen in one answer
	Heaviest   sketch.Largest `json:"heaviest,omitempty"`
}

// Key is a value with the rows that it was seen in.
type Key struct {
	Hash  uint64 `json:"hash"`
	Class string `json:"class"`
	Rows  []Row  `json:"rows"` // by table, then by ID; at most 8 for each table
}

// Row is a row, or the part of it that was seen.
type Row struct {
	Keyspace string `json:"keyspace"`
	Table    string `json:"table"`
	ID       uint64 `json:"id"`              // hash of the cells
	Write    bool   `json:"write,omitempty"` // bound by a write; else read
	Seen     uint64 `json:"seen"`            // how often
	First    int64  `json:"first"`           // nanoseconds on the proxy's clock
	Last     int64  `json:"last"`
	Cells    []Cell `json:"cells"` // by column
}

// Cell is the value of a column, hashed.
type Cell struct {
	Column string `json:"column"`
	Hash   uint64 `json:"hash"`
}

// maxEpochs is how many epochs a document has, of all processes.
const maxEpochs = 64

// Merge returns what both have learnt. An epoch of a process goes on until its key does, so of two pictures of one the later is
// right; all others stay side by side, the latest if there are too many. So any number of documents may be merged, in any
// order, and more than once. Joined adds them up.
func (d *Document) Merge(o *Document) *Document {
	out := &Document{}
	for _, one := range []*Document{d, o} {
		if one == nil {
			continue
		}
		for i := range one.Epochs {
			e := &one.Epochs[i]
			if k := slices.IndexFunc(out.Epochs, func(f Epoch) bool { return f.ID == e.ID && f.Source == e.Source }); k < 0 {
				out.Epochs = append(out.Epochs, *e)
			} else if out.Epochs[k].Last.Before(e.Last) || out.Epochs[k].Last.Equal(e.Last) && out.Epochs[k].Derived {
				out.Epochs[k] = *e
			}
		}
	}
	out.sort()
	out.Epochs = out.Epochs[:min(len(out.Epochs), maxEpochs)]
	return out
}

// Joined adds up what several processes have learnt under one key, exactly: it is as if one process had learnt it all. One of an epoch
// that is derived makes the sum derived.
func (d *Document) Joined() *Document {
	out := &Document{}
	if d == nil {
		return out
	}
	for i := range d.Epochs {
		e := &d.Epochs[i]
		if k := slices.IndexFunc(out.Epochs, func(f Epoch) bool { return f.ID == e.ID }); k < 0 {
			out.Epochs = append(out.Epochs, *e)
			out.Epochs[len(out.Epochs)-1].Source = 0
		} else {
			out.Epochs[k] = out.Epochs[k].merge(e)
		}
	}
	out.sort()
	return out
}

// sort brings the latest epoch to the front.
func (d *Document) sort() {
	slices.SortFunc(d.Epochs, func(a, b Epoch) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Source, b.Source))
	})
}

// Derived returns the document without hashes: what may be kept when the key is gone, and be written to disk.
func (d *Document) Derived() *Document {
	if d == nil {
		return nil
	}
	out := &Document{}
	for _, e := range d.Epochs {
		out.Epochs = append(out.Epochs, e.derived())
	}
	return out
}

// Since returns the epochs in which something was learnt at a time or after it.
func (d *Document) Since(oldest time.Time) *Document {
	out := &Document{}
	for _, e := range d.Epochs {
		if !e.Last.Before(oldest) {
			out.Epochs = append(out.Epochs, e)
		}
	}
	return out
}

func (e Epoch) derived() Epoch {
	e.Derived, e.Keys = true, nil
	e.Columns, e.Parameters, e.Tables = slices.Clone(e.Columns), slices.Clone(e.Parameters), slices.Clone(e.Tables)
	for i := range e.Columns {
		e.Columns[i].Values = nil
		e.Columns[i].Pieces = nil
		e.Columns[i].Literals = e.Columns[i].Literals.derived()
	}
	for i := range e.Parameters {
		e.Parameters[i].Values = nil
	}
	for i := range e.Tables {
		t := &e.Tables[i]
		t.Touched, t.Longest, t.Heaviest = nil, nil, nil
	}
	return e
}

func (e Epoch) merge(o *Epoch) Epoch {
	if e.Derived != o.Derived {
		d := o.derived()
		e, o = e.derived(), &d
	}
	if o.Began.Before(e.Began) {
		e.Began = o.Began
	}
	if o.Last.After(e.Last) {
		e.Last = o.Last
	}
	e.Columns = join(e.Columns, o.Columns, Column.compare, Column.merge)
	e.Parameters = join(e.Parameters, o.Parameters, Parameter.compare, Parameter.merge)
	e.Tables = join(e.Tables, o.Tables, Table.compare, Table.merge)
	e.Keys = trimmed(join(e.Keys, o.Keys, Key.compare, Key.merge))
	return e
}

// join merges two sorted lists.
func join[T any](a, b []T, compare func(T, T) int, merge func(T, T) T) []T {
	var out []T
	for len(a) > 0 && len(b) > 0 {
		switch c := compare(a[0], b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, merge(a[0], b[0])), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (c Column) compare(o Column) int {
	return cmp.Or(cmp.Compare(c.Keyspace, o.Keyspace), cmp.Compare(c.Table, o.Table), cmp.Compare(c.Name, o.Name))
}

func (c Column) merge(o Column) Column {
	c.Read += o.Read
	c.Bound += o.Bound
	c.Written += o.Written
	c.Null += o.Null
	c.Bytes = merged(c.Bytes, o.Bytes)
	c.Numbers, c.Coarse, c.Classes = sum(c.Numbers, o.Numbers), sum(c.Coarse, o.Coarse), sum(c.Classes, o.Classes)
	c.Range = c.Range.merge(o.Range)
	c.Literals = c.Literals.merge(o.Literals)
	c.Values, c.Distinct = together(c.Values, o.Values, c.Distinct, o.Distinct)
	c.Pieces = join(c.Pieces, o.Pieces, Piece.compare, Piece.merge)
	return c
}

func (p Piece) compare(o Piece) int {
	return cmp.Or(cmp.Compare(p.Number, o.Number), cmp.Compare(p.Class, o.Class))
}

func (p Piece) merge(o Piece) Piece {
	p.Seen += o.Seen
	p.Values, _ = together(p.Values, o.Values, 0, 0)
	return p
}

func (p Parameter) compare(o Parameter) int {
	return cmp.Or(cmp.Compare(p.Fingerprint, o.Fingerprint), cmp.Compare(p.Index, o.Index))
}

func (p Parameter) merge(o Parameter) Parameter {
	p.Bound += o.Bound
	p.Null += o.Null
	p.Fresh += o.Fresh
	p.Lengths, p.Bytes = merged(p.Lengths, o.Lengths), merged(p.Bytes, o.Bytes)
	p.Values, p.Distinct = together(p.Values, o.Values, p.Distinct, o.Distinct)
	return p
}

func (t Table) compare(o Table) int {
	return cmp.Or(cmp.Compare(t.Keyspace, o.Keyspace), cmp.Compare(t.Name, o.Name))
}

func (t Table) merge(o Table) Table {
	t.Reads += o.Reads
	t.Writes += o.Writes
	t.Rows, t.RowBytes = merged(t.Rows, o.Rows), merged(t.RowBytes, o.RowBytes)
	t.Shapes = sum(t.Shapes, o.Shapes)
	t.Touched, t.Partitions = together(t.Touched, o.Touched, t.Partitions, o.Partitions)
	t.HotShare, t.Met = max(t.HotShare, o.HotShare), t.Met.merge(o.Met)
	if t.Touched != nil {
		t.HotShare = hotShare(t.Touched)
	}
	t.Longest, t.Heaviest = slices.Clone(t.Longest), slices.Clone(t.Heaviest)
	t.Longest.Merge(o.Longest)
	t.Heaviest.Merge(o.Heaviest)
	return t
}

func (r *Range) merge(o *Range) *Range {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	return &Range{min(r.Low, o.Low), max(r.High, o.High)}
}

func merged(a, b sketch.Octaves) sketch.Octaves {
	out := a.Clone()
	out.Merge(&b)
	return out
}

func sum[K comparable](a, b map[K]uint64) map[K]uint64 {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	for k, n := range b {
		out[k] += n
	}
	return out
}

// together merges two sketches, and says how many different values there are. Where there are only estimates the larger one holds.
func together(a, b *sketch.Values, x, y float64) (*sketch.Values, float64) {
	if a == nil || b == nil {
		return nil, max(x, y)
	}
	out := a.Clone()
	if out.Merge(b) != nil { // of another size: made by another version
		return nil, max(x, y)
	}
	return out, out.Distinct()
}

func hotShare(v *sketch.Values) float64 {
	if top := v.Top(1); len(top) > 0 {
		return float64(top[0].Count) / float64(v.Total())
	}
	return 0
}
