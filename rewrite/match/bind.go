package match

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
)

// MaxRows is how many rows one write may name, by IN, and still be followed row by row.
const MaxRows = 100

// Cell is one value of a write: bytes that were bound, or a literal as CQL.
type Cell struct {
	Bytes   []byte // nil is null
	Literal string // if it stood in the text
}

// null tells whether the cell is a null, bound or written.
func (c Cell) null() bool { return c.Bytes == nil && c.Literal == "" }

// KeyBytes returns a copy of a row's key, nil if part of it stood as a literal in the text. A copy, because a request's
// memory is the relay's again once it was forwarded.
func KeyBytes(cells []Cell) [][]byte {
	key := make([][]byte, len(cells))
	for i, c := range cells {
		if c.Literal != "" {
			return nil
		}
		key[i] = bytes.Clone(c.Bytes)
	}
	return key
}

// Effect is what one execution of a Write will do.
type Effect struct {
	// Refused: it looks as if Cassandra will refuse the statement as a whole, so that there is nothing to prepare for.
	Refused bool
	// Guard says why the effect can not be known after all.
	Guard string
	// Entry is the value that needs an entry, for every row of Keys; the zero Cell if none does: the column is cleared,
	// or left alone, or the value is too small or too large to be a partition key.
	Entry Cell
	// Touched: the column is changed in the rows of Keys, so the entries of their former values become garbage.
	Touched bool
	// Clears: it becomes null.
	Clears bool
	Keys   [][]Cell // for each row the values of the primary key

	HasTimestamp bool // the statement says USING TIMESTAMP
	Timestamp    int64
	TTL          int32 // seconds, 0 if none
}

// Values are the values of one request together with the names by which some drivers send them.
type Values struct {
	Values    []proxy.Value
	Variables []proxy.Column // of the prepared statement, nil for a QUERY
}

// Get finds the value of a marker; ok is false if the request has none.
func (v Values) Get(m Marker) (value proxy.Value, ok bool) {
	named := len(v.Values) > 0 && v.Values[0].Name != ""
	if !named {
		if m.Index < 0 || m.Index >= len(v.Values) {
			return proxy.Value{}, false
		}
		return v.Values[m.Index], true
	}
	name := m.Name
	if m.Index < len(v.Variables) {
		name = v.Variables[m.Index].Name
	}
	for _, c := range v.Values {
		if name != "" && c.Name == name { // as Cassandra compares them: "A" and a are two columns
			return c, true
		}
	}
	return proxy.Value{}, false
}

// cell is the value of a term that is known.
func (v Values) cell(t cql.Term) (c Cell, unset, ok bool) {
	switch t := t.(type) {
	case *cql.Marker:
		value, ok := v.Get(Marker{t.Index, t.Name})
		switch {
		case !ok:
			return Cell{}, false, false
		case value.Unset:
			return Cell{}, true, true
		case value.Null:
			return Cell{}, false, true
		case value.Bytes == nil:
			return Cell{Bytes: []byte{}}, false, true
		}
		return Cell{Bytes: value.Bytes}, false, true
	case *cql.Literal:
		if t.Kind == cql.LiteralNull {
			return Cell{}, false, true
		}
		return Cell{Literal: t.String()}, false, true
	}
	return Cell{}, false, false
}

// Bind says what an execution with these values will do.
func (w *Write) Bind(v Values) Effect {
	if w.Guard != "" {
		return Effect{Guard: w.Guard}
	}
	e := w.bind(v)
	if e.Guard != "" && w.sets == nil {
		return Effect{} // it only takes values away, which the re-check of each read hides
	}
	return e
}

func (w *Write) bind(v Values) Effect {
	unknown := Effect{Guard: "C6: the request does not carry the values that its statement asks for"}
	e := Effect{Clears: w.clears, Touched: true}
	if w.sets != nil {
		c, unset, ok := v.cell(w.sets)
		switch {
		case !ok:
			return unknown
		case unset:
			return Effect{}
		case c.null():
			e.Clears = true
		case c.Literal != "" && emptyOrLong(w.sets.(*cql.Literal)), c.Literal == "" && !Indexable(c.Bytes):
			// The column gets a value that can not be a partition key. Reads that ask for it go to the base.
		default:
			e.Entry = c
		}
	}
	var ok bool
	if e.Timestamp, e.HasTimestamp, e.Refused, ok = v.integer(w.timestamp, 8); !ok {
		return unknown
	}
	ttl, _, refused, ok := v.integer(w.ttl, 4)
	if !ok {
		return unknown
	}
	if refused && v.null(w.ttl) {
		refused = false // Cassandra takes it for 0 (CASSANDRA-12216), unlike that of a timestamp
	}
	if ttl < 0 || ttl > math.MaxInt32 {
		refused = true
	}
	e.TTL = int32(ttl) // #nosec G115 -- checked, or not used
	if e.Refused || refused {
		return Effect{Refused: true}
	}
	keys, refused, reason := w.keys(v)
	switch {
	case reason != "":
		return Effect{Guard: reason}
	case refused:
		return Effect{Refused: true}
	}
	e.Keys = keys
	return e
}

// null tells whether a term is a null, bound or written.
func (v Values) null(t cql.Term) bool {
	c, unset, ok := v.cell(t)
	return ok && !unset && c.null()
}

// emptyOrLong tells whether a literal can not be a partition key. A literal close to the limit counts as too long only
// if it certainly is: an entry that Cassandra then refuses is dealt with where it is written.
func emptyOrLong(t *cql.Literal) bool {
	switch t.Kind {
	case cql.LiteralString:
		return t.Text == "" || len(t.Text) > MaxValue
	case cql.LiteralBlob:
		return len(t.Text) <= 2 || (len(t.Text)-2)/2 > MaxValue
	}
	return false
}

// integer reads USING TIMESTAMP or TTL.
func (v Values) integer(t cql.Term, width int) (n int64, set, refused, ok bool) {
	if t == nil {
		return 0, false, false, true
	}
	c, unset, ok := v.cell(t)
	switch {
	case !ok:
		return 0, false, false, false
	case unset:
		return 0, false, false, true
	case c.null():
		return 0, false, true, true
	case c.Literal != "":
		n, err := strconv.ParseInt(c.Literal, 10, 64)
		return n, err == nil, err != nil, true
	case len(c.Bytes) != width:
		return 0, false, true, true
	case width == 8:
		return int64(binary.BigEndian.Uint64(c.Bytes)), true, false, true // #nosec G115
	}
	return int64(int32(binary.BigEndian.Uint32(c.Bytes))), true, false, true // #nosec G115
}

// keys multiplies the factors out.
func (w *Write) keys(v Values) (keys [][]Cell, refused bool, reason string) {
	keys = [][]Cell{make([]Cell, len(w.LookUp.Key))}
	for _, f := range w.key {
		alternatives, refused, ok := f.alternatives(v)
		if !ok {
			return nil, false, "C6: a key of the request could not be read"
		}
		if refused {
			return nil, true, ""
		}
		if len(alternatives)*len(keys) > MaxRows {
			return nil, false, "C16: writes more than " + strconv.Itoa(MaxRows) + " rows at once"
		}
		next := make([][]Cell, 0, len(keys)*len(alternatives))
		for _, key := range keys {
			for _, a := range alternatives {
				k := append([]Cell(nil), key...)
				for i, c := range f.columns {
					k[c] = a[i]
				}
				next = append(next, k)
			}
		}
		keys = next
	}
	return keys, false, ""
}

// alternatives lists the values that a factor allows. refused: a null or unset key, which Cassandra does not take.
func (f factor) alternatives(v Values) (out [][]Cell, refused, ok bool) {
	if !f.in {
		a, refused, ok := f.alternative(v, f.value)
		return [][]Cell{a}, refused, ok
	}
	if m, isMarker := f.value.(*cql.Marker); isMarker {
		value, ok := v.Get(Marker{m.Index, m.Name})
		if !ok {
			return nil, false, false
		}
		if value.Null || value.Unset {
			return nil, true, true
		}
		elements, ok := listElements(value.Bytes)
		if !ok {
			return nil, false, false
		}
		for _, e := range elements {
			a, refused, ok := f.bound(e)
			if refused || !ok {
				return nil, refused, ok
			}
			out = append(out, a)
		}
		return out, false, true
	}
	list, isTuple := f.value.(*cql.Tuple)
	if !isTuple {
		return nil, false, false
	}
	for _, t := range list.Elements {
		a, refused, ok := f.alternative(v, t)
		if refused || !ok {
			return nil, refused, ok
		}
		out = append(out, a)
	}
	return out, false, true
}

func (f factor) alternative(v Values, t cql.Term) (out []Cell, refused, ok bool) {
	if tuple, isTuple := t.(*cql.Tuple); isTuple {
		if len(tuple.Elements) != len(f.columns) {
			return nil, false, false
		}
		for _, e := range tuple.Elements {
			c, unset, ok := v.cell(e)
			if !ok {
				return nil, false, false
			}
			if unset || c.null() {
				return nil, true, true
			}
			out = append(out, c)
		}
		return out, false, true
	}
	c, unset, ok := v.cell(t)
	if !ok {
		return nil, false, false
	}
	if unset || c.null() {
		return nil, true, true
	}
	if len(f.columns) > 1 {
		return f.bound(c.Bytes)
	}
	return []Cell{c}, false, true
}

// bound takes one bound alternative apart: the value itself, or for several columns a tuple of values.
func (f factor) bound(value []byte) (out []Cell, refused, ok bool) {
	if value == nil {
		return nil, true, true
	}
	if len(f.columns) == 1 {
		return []Cell{{Bytes: value}}, false, true
	}
	for range f.columns {
		e, rest, ok := bytesOf(value)
		if !ok {
			return nil, false, false
		}
		if e == nil {
			return nil, true, true
		}
		out, value = append(out, Cell{Bytes: e}), rest
	}
	return out, false, len(value) == 0
}

// listElements reads a serialised list: a count, then each element with its length.
func listElements(b []byte) (out [][]byte, ok bool) {
	if len(b) < 4 {
		return nil, false
	}
	n := int32(binary.BigEndian.Uint32(b)) // #nosec G115
	b = b[4:]
	if n < 0 || int64(n)*4 > int64(len(b)) {
		return nil, false
	}
	for range n {
		e, rest, ok := bytesOf(b)
		if !ok {
			return nil, false
		}
		out, b = append(out, e), rest
	}
	return out, len(b) == 0
}

// bytesOf reads one [bytes]: a length, negative for null, and so many bytes.
func bytesOf(b []byte) (value, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int32(binary.BigEndian.Uint32(b)) // #nosec G115
	b = b[4:]
	if n < 0 {
		return nil, b, true
	}
	if int64(n) > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
