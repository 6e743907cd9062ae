package infertest

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/sketch"
)

// Rows builds what was kept of rows: sketches of columns, and the rows by each value in them.
type Rows struct {
	Keyspace string
	sketches map[[2]string]*sketch.Values
	keys     map[uint64]*profile.Key
	pieces   map[[2]string][]profile.Piece
	classes  map[[2]string]string
}

// Hash stands for a value's hash. Equal values have equal ones, whatever column they are in.
func Hash(value string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(value)) // never fails
	return h.Sum64() * 0x9E3779B97F4A7C15
}

// Add adds a row of a table: column, value, column, value.
func (r *Rows) Add(table string, cells ...string) {
	if r.keys == nil {
		r.sketches, r.keys = map[[2]string]*sketch.Values{}, map[uint64]*profile.Key{}
	}
	row := profile.Row{Keyspace: r.Keyspace, Table: table, Seen: 1, ID: uint64(len(r.keys))}
	for i := 0; i < len(cells); i += 2 {
		h, of := Hash(cells[i+1]), [2]string{table, cells[i]}
		if r.sketches[of] == nil {
			r.sketches[of] = sketch.New(1024)
		}
		r.sketches[of].Add(h)
		row.Cells = append(row.Cells, profile.Cell{Column: cells[i], Hash: h})
	}
	slices.SortFunc(row.Cells, func(a, b profile.Cell) int { return cmp.Compare(a.Column, b.Column) })
	for _, c := range row.Cells {
		if r.keys[c.Hash] == nil {
			r.keys[c.Hash] = &profile.Key{Hash: c.Hash}
		}
		r.keys[c.Hash].Rows = append(r.keys[c.Hash].Rows, row)
	}
}

// Made adds a row with one text, which is made of an identifier of a class, after something else: "user:5".
func (r *Rows) Made(table, column, class, prefix, identifier string) {
	r.Add(table, column, prefix+identifier)
	r.piece(table, column, 1, class, identifier)
}

// Joined adds a row with a text that is joined of parts ("acme|bob"), and further cells.
func (r *Rows) Joined(table, column string, parts []string, cells ...string) {
	r.Add(table, append([]string{column, strings.Join(parts, "|")}, cells...)...)
	for i, part := range parts {
		r.piece(table, column, i, "text", part)
	}
}

// Are says of which class all values of a column are: texts that spell UUIDs, "uuid".
func (r *Rows) Are(table, column, class string) {
	if r.classes == nil {
		r.classes = map[[2]string]string{}
	}
	r.classes[[2]string{table, column}] = class
}

func (r *Rows) piece(table, column string, number int, class, part string) {
	if r.pieces == nil {
		r.pieces = map[[2]string][]profile.Piece{}
	}
	of := [2]string{table, column}
	list := r.pieces[of]
	i := slices.IndexFunc(list, func(p profile.Piece) bool { return int(p.Number) == number && p.Class == class })
	if i < 0 {
		list = append(list, profile.Piece{Number: uint8(number), Class: class, Values: sketch.New(256)}) // #nosec G115 -- few
		i, r.pieces[of] = len(list)-1, list
	}
	list[i].Seen++
	list[i].Values.Add(Hash(part))
}

// Document is what was built, of one epoch.
func (r *Rows) Document() *profile.Document {
	e := profile.Epoch{ID: 1, Source: 1, Began: Start, Last: Start}
	for of, values := range r.sketches {
		c := profile.Column{Keyspace: r.Keyspace, Table: of[0], Name: of[1], Read: values.Total(), Values: values, Distinct: values.Distinct()}
		c.Pieces = r.pieces[of]
		if class := r.classes[of]; class != "" {
			c.Classes = map[string]uint64{class: c.Read}
		}
		e.Columns = append(e.Columns, c)
	}
	slices.SortFunc(e.Columns, func(a, b profile.Column) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
	})
	for _, hash := range slices.Sorted(maps.Keys(r.keys)) {
		e.Keys = append(e.Keys, *r.keys[hash])
	}
	return &profile.Document{Epochs: []profile.Epoch{e}}
}
