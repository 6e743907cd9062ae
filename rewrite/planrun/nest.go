package planrun

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Collections (model.Nest). A read asks for a nest's set, and for the maps of what is needed later, as for any column; their
// cells stand in slots of their own until unnest makes rows of them. A write puts and deletes elements by key.

// unnest makes rows of the elements of collections.
type unnest struct {
	number int
	table  string
	nests  []nested
}

// nested is a collection whose cells are at hand.
type nested struct {
	set    int // slot of the set's cell
	key    int // slot for the key; -1: nothing needs it
	values []mapped
}

// mapped is a map's cell, and where its values go.
type mapped struct{ from, to int }

// nestColumn is the slot of a collection's cell.
func (c *compiler) nestColumn(table *model.Table, f model.Field) int {
	at := nestedCell{table, f}
	n, ok := c.nests[at]
	if !ok {
		if c.nests == nil {
			c.nests = map[nestedCell]int{}
		}
		n = c.program.width
		c.program.width++
		c.nests[at] = n
	}
	return n
}

type nestedCell struct {
	table *model.Table
	field model.Field
}

// collections adds to a read the columns of its collections, as far as something later needs them.
func (r *reader) collections(needed map[model.Field]bool, names *[]string) {
	t := r.step.Table
	for _, n := range r.step.Nests {
		for _, f := range n.Fields() {
			if f != n.Key && !needed[r.step.As.Field(f)] {
				continue
			}
			r.read.targets = append(r.read.targets, target{slot: r.nestColumn(t, f)})
			*names = append(*names, model.Quote(t.NestColumn(f)))
		}
	}
}

// unnest compiles the step that makes rows of collections.
func (c *compiler) unnest(s *plan.Step, i int, needed map[model.Field]bool) (*unnest, error) {
	made := &unnest{number: i + 1, table: tableName(s.Table)}
	for _, n := range s.Nests {
		set, read := c.nests[nestedCell{s.Table, n.Key}]
		if !read {
			return nil, fmt.Errorf("the collection over %s has not been read", n.Edge.Name)
		}
		x := nested{set: set, key: -1}
		if f := s.As.Field(n.Key); needed[f] {
			x.key = c.slot(f)
			c.known[f] = true
		}
		for _, v := range n.Values {
			if f := s.As.Field(v); needed[f] {
				x.values = append(x.values, mapped{c.nestColumn(s.Table, v), c.slot(f)})
				c.known[f] = true
			}
		}
		made.nests = append(made.nests, x)
	}
	return made, nil
}

// run implements operation.
func (s *unnest) run(_ context.Context, r *running, hands []hand) ([]hand, error) {
	fail := func(reason, err error) error {
		return &StepError{Step: s.number, Kind: plan.Unnest, Table: s.table, Reason: reason, Err: err}
	}
	for i := range s.nests {
		n := &s.nests[i]
		var found []hand
		for _, h := range hands {
			keys, err := Elements(h[n.set], 1)
			if err != nil {
				return nil, fail(ErrMismatch, err)
			}
			values := make([]map[string][]byte, len(n.values))
			for j, v := range n.values {
				entries, err := Elements(h[v.from], 2)
				if err != nil {
					return nil, fail(ErrMismatch, err)
				}
				values[j] = make(map[string][]byte, len(entries)/2)
				for at := 0; at < len(entries); at += 2 {
					values[j][string(entries[at])] = entries[at+1]
				}
			}
			if len(found)+len(keys) > r.maxRows() {
				return nil, fail(exec.ErrTooManyRows, nil)
			}
			for _, k := range keys {
				more := slices.Clone(h)
				if n.key >= 0 {
					more[n.key] = k
				}
				for j, v := range n.values {
					more[v.to] = values[j][string(k)] // nil: it has none
				}
				found = append(found, more)
			}
		}
		hands = found
	}
	return hands, nil
}

// Elements takes the cell of a collection apart, of which each entry has so many parts; none if it is null.
func Elements(cell []byte, parts int) ([][]byte, error) {
	if cell == nil {
		return nil, nil
	}
	malformed := errors.New("a collection that is cut short or malformed")
	number := func() (n int32, ok bool) {
		if len(cell) < 4 {
			return 0, false
		}
		n = int32(binary.BigEndian.Uint32(cell)) // #nosec G115 -- the protocol's numbers are signed
		cell = cell[4:]
		return n, true
	}
	count, ok := number()
	if !ok || count < 0 || int64(count)*int64(parts) > int64(len(cell))/4 {
		return nil, malformed
	}
	list := make([][]byte, 0, int(count)*parts)
	for range int(count) * parts {
		n, ok := number()
		if !ok || int(n) > len(cell) {
			return nil, malformed
		}
		if n < 0 {
			list = append(list, nil)
			continue
		}
		list, cell = append(list, cell[:n:n]), cell[n:]
	}
	if len(cell) > 0 {
		return nil, malformed
	}
	return list, nil
}

// ElementOf is a set of one element, as a cell.
func ElementOf(key []byte) []byte {
	cell := exec.FromInt32(1)
	return append(binary.BigEndian.AppendUint32(cell, uint32(len(key))), key...) // #nosec G115 -- a value of a statement
}

// putText is the text that puts a row, or an element of one, with some columns, the key's first. Of an element those are the
// row's key, the element's, and values, see arranged.
func (h *holding) putText(columns []column) string {
	if h.nest == nil {
		return insertText(h.name, columns)
	}
	last := len(h.key) - 1
	set := columns[last].name
	parts := []string{set + " = " + set + " + ?"}
	for _, v := range columns[last+1:] {
		parts = append(parts, v.name+"[?] = ?")
	}
	return "UPDATE " + h.name + " SET " + strings.Join(parts, ", ") + " WHERE " + whereText(columns[:last])
}

// removeText is the text that deletes a row, or an element of one.
func (h *holding) removeText() string {
	if h.nest == nil {
		return "DELETE FROM " + h.name + " WHERE " + whereText(h.key)
	}
	last := len(h.key) - 1
	parts := []string{h.key[last].name + "[?]"}
	for _, v := range h.values {
		parts = append(parts, v.name+"[?]")
	}
	return "DELETE " + strings.Join(parts, ", ") + " FROM " + h.name + " WHERE " + whereText(h.key[:last])
}

func whereText(key []column) string {
	names := make([]string, len(key))
	for i, k := range key {
		names[i] = k.name + " = ?"
	}
	return strings.Join(names, " AND ")
}

// arranged returns a mutation's values, which are those of the key and of the columns that are put, in the order of its
// text.
func (m *mutation) arranged() (values [][]byte, routed int) {
	h := m.holding
	if h.nest == nil {
		return m.values, m.routed
	}
	last := len(h.key) - 1
	key := m.values[last]
	if m.put {
		values = append(values, ElementOf(key))
		for _, v := range m.values[last+1:] {
			values = append(values, key, v)
		}
	} else {
		for range 1 + len(h.values) {
			values = append(values, key)
		}
	}
	return append(values, m.values[:last]...), 0
}
