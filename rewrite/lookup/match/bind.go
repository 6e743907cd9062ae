package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// MaxRows is how many rows one write may name, by IN, and still be followed row by row.
const MaxRows = 1000

// Cell is one value of a write, as it was bound or as its literal is serialised.
type Cell struct {
	Bytes []byte // nil is null
}

// KeyBytes returns a copy of a row's key: a request's memory is the relay's again once it was forwarded.
func KeyBytes(cells []Cell) [][]byte {
	key := make([][]byte, len(cells))
	for i, c := range cells {
		key[i] = bytes.Clone(c.Bytes)
	}
	return key
}

// Effect is what one execution of a Write will do.
type Effect struct {
	// Refused: Cassandra is certain to refuse the statement as a whole, and with it the batch that it is part of, or to
	// change nothing by it. There is nothing to prepare for.
	Refused bool
	// Unknown says why the new value of the column can not be known beforehand, nil if it is. The rows are those of Keys;
	// without Keys it is not known either which they are.
	Unknown *condition.Refusal
	// Conditional: it may be carried out, or not, and at a timestamp of Cassandra's own choice.
	Conditional bool
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

// carried tells whether a request carries a value for each marker of the statement, and no more: if it certainly does not
// Cassandra refuses it.
func (w *Write) carried(v kind.Values) state {
	n := len(w.markers)
	if v.Variables != nil {
		n = len(v.Variables)
	}
	if len(v.Values) == 0 || v.Values[0].Name == "" {
		if len(v.Values) != n {
			return refused
		}
		return known
	}
	for i, m := range w.markers {
		if v.Name(kind.Marker{Index: i, Name: m.Name}) == "" {
			return known // by a name that is not known here
		}
		if _, ok := v.Get(kind.Marker{Index: i, Name: m.Name}); !ok {
			return refused
		}
	}
	return known
}

// value is what a term stands for, as a cqlType.
func value(v kind.Values, t cql.Term, cqlType string) ([]byte, state) {
	t = unhinted(t, cqlType)
	m, ok := t.(*cql.Marker)
	if !ok {
		return literal(t, cqlType)
	}
	value, ok := v.Get(kind.Marker{Index: m.Index, Name: m.Name})
	switch {
	case !ok:
		return nil, unknown
	case value.Unset:
		return nil, unset
	case value.Null:
		return nil, null
	case value.Bytes == nil:
		value.Bytes = []byte{}
	}
	return value.Bytes, valid(value.Bytes, cqlType)
}

// unhinted is a term without the hints that name its own type: Cassandra prepares what stands behind them as if they were not there.
func unhinted(t cql.Term, cqlType string) cql.Term {
	for {
		hint, ok := t.(*cql.TypeCast)
		if !ok || strings.ToLower(hint.Type.String()) != cqlType || !among(native, cqlType) {
			return t
		}
		t = hint.Term
	}
}

// Bind says what an execution with these values will do.
func (w *Write) Bind(v kind.Values) Effect {
	if w.Refused {
		return Effect{Refused: true}
	}
	if w.Unknown != nil {
		return Effect{Unknown: w.Unknown, Conditional: w.Conditional}
	}
	e := w.bind(v)
	if e.Unknown != nil && slices.ContainsFunc(e.Keys, w.LookUp.noRoom) {
		e.Keys = nil // verification finds out what they hold
	}
	if e.Unknown != nil && w.deletes() {
		return Effect{}
	}
	e.Conditional = w.Conditional && (e.Touched || e.Unknown != nil)
	return e
}

func (w *Write) bind(v kind.Values) (e Effect) {
	if w.carried(v) == refused || !w.options(&e, v) {
		return Effect{Refused: true}
	}
	given := given{sets: w.sets, clears: w.clears}
	var s state
	if w.json != nil {
		given, e.Keys, s = w.object(v)
	} else {
		e.Keys, s = w.keys(v)
	}
	switch s {
	case known:
	case refused:
		return Effect{Refused: true}
	default:
		e.Unknown = condition.Values.Refuse("the rows that it changes are computed by Cassandra, or too many")
		return e
	}
	switch {
	case slices.ContainsFunc(e.Keys, w.LookUp.refuses):
		return Effect{Refused: true}
	case len(e.Keys) == 0:
		return Effect{} // IN of nothing
	}
	e.Touched = true
	if w.computed != nil {
		e.Unknown = w.computed
		return e
	}
	b, s := given.bytes, given.state
	if given.sets != nil {
		b, s = value(v, given.sets, w.LookUp.By.Type)
	}
	switch {
	case given.clears, s == null:
		e.Clears = true
	case s == unset:
		return Effect{}
	case s == refused:
		return Effect{Refused: true}
	case s == unknown:
		e.Unknown = condition.Values.Refuse("%s is computed by Cassandra, or written in a form that is not read", w.LookUp.By.Name)
	case Indexable(b):
		e.Entry = Cell{b}
	}
	// Else the column gets a value that can not be a partition key. Reads that ask for it go to the base.
	return e
}

// given is the new value of the column: a term, or what a document of JSON has.
type given struct {
	sets   cql.Term
	bytes  []byte
	state  state
	clears bool
}

// maxTTL is the longest time to live that Cassandra takes, in seconds.
const maxTTL = 20 * 365 * 24 * 3600

// options reads USING TIMESTAMP and TTL; ok is false if Cassandra refuses them.
func (w *Write) options(e *Effect, v kind.Values) (ok bool) {
	var s state
	if e.Timestamp, e.HasTimestamp, s = signed(v, w.timestamp, 8); s != known {
		return false
	}
	ttl, _, s := signed(v, w.ttl, 4)
	if s != known && s != null { // a null Cassandra takes for 0 (CASSANDRA-12216), unlike that of a timestamp
		return false
	}
	if ttl < 0 || ttl > maxTTL {
		return false
	}
	e.TTL = int32(ttl) // #nosec G115 -- checked
	return true
}

// signed reads USING TIMESTAMP or TTL.
func signed(v kind.Values, t cql.Term, size int) (n int64, set bool, s state) {
	var b []byte
	switch t := t.(type) {
	case nil:
		return 0, false, known
	case *cql.Literal:
		b, s = integerOf(t.Text, size)
	default:
		b, s = value(v, t, map[int]string{4: "int", 8: "bigint"}[size])
	}
	switch {
	case s == unset:
		return 0, false, known
	case s != known:
		return 0, false, s
	case len(b) == 0:
		return 0, false, null // so Cassandra takes it
	case len(b) != size:
		return 0, false, refused
	case size == 8:
		return int64(binary.BigEndian.Uint64(b)), true, known // #nosec G115 -- two's complement
	}
	return int64(int32(binary.BigEndian.Uint32(b))), true, known // #nosec G115 -- two's complement
}

// noRoom tells whether a row of the base has no entry of its own.
func (l *LookUp) noRoom(key []Cell) bool {
	_, own := l.EntryKey(KeyBytes(key))
	return !own
}

// refuses tells whether Cassandra certainly refuses a key: an empty partition key of one column, or one that is too long.
func (l *LookUp) refuses(key []Cell) bool {
	if l.Partition == 1 {
		return !Indexable(key[0].Bytes)
	}
	n := 0
	for _, c := range key[:l.Partition] {
		n += len(c.Bytes) + 3 // its length before it, an end after it
	}
	return n > MaxValue
}

// keys multiplies the factors out. It is unknown which rows they name if there are more than MaxRows.
func (w *Write) keys(v kind.Values) (keys [][]Cell, s state) {
	keys = [][]Cell{make([]Cell, len(w.LookUp.Key))}
	n, worst, lists := 1, known, make([][][]Cell, len(w.key))
	for i, f := range w.key {
		if lists[i], s = f.alternatives(w.LookUp, v); s == refused {
			return nil, refused
		}
		worst, n = max(worst, s), min(n*len(lists[i]), MaxRows+1)
	}
	if worst != known || n > MaxRows {
		return nil, unknown
	}
	for i, f := range w.key {
		next := make([][]Cell, 0, len(keys)*len(lists[i]))
		for _, key := range keys {
			for _, a := range lists[i] {
				k := append([]Cell(nil), key...)
				for i, c := range f.columns {
					k[c] = a[i]
				}
				next = append(next, k)
			}
		}
		keys = next
	}
	return keys, known
}

// alternatives lists the values that a factor allows.
func (f factor) alternatives(l *LookUp, v kind.Values) (out [][]Cell, s state) {
	if !f.in {
		a, s := f.alternative(l, v, f.value)
		return [][]Cell{a}, s
	}
	if m, ok := f.value.(*cql.Marker); ok {
		return f.list(l, v, kind.Marker{Index: m.Index, Name: m.Name})
	}
	list, ok := f.value.(*cql.Tuple)
	if !ok {
		return nil, unknown
	}
	worst := known
	for _, t := range list.Elements {
		a, s := f.alternative(l, v, t)
		if s == refused {
			return nil, refused
		}
		worst = max(worst, s)
		out = append(out, a)
	}
	return out, worst
}

// list takes the list apart that is bound to IN ?.
func (f factor) list(l *LookUp, v kind.Values, m kind.Marker) (out [][]Cell, s state) {
	value, ok := v.Get(m)
	if !ok {
		return nil, unknown
	}
	if value.Null || value.Unset {
		return nil, refused
	}
	elements, ok := listElements(value.Bytes)
	if !ok {
		return nil, unknown
	}
	for _, e := range elements {
		a, s := f.bound(l, e)
		if s != known {
			return nil, s
		}
		out = append(out, a)
	}
	return out, known
}

// alternative is one value of a factor: a term, or for several columns a tuple of terms or a tuple that is bound.
func (f factor) alternative(l *LookUp, v kind.Values, t cql.Term) (out []Cell, s state) {
	terms := []cql.Term{t}
	if tuple, ok := t.(*cql.Tuple); ok && f.tuple {
		terms = tuple.Elements
	} else if f.tuple {
		b, s := value(v, t, "")
		switch s {
		case known:
			return f.bound(l, b)
		case null, unset:
			return nil, refused
		}
		return nil, s
	}
	if len(terms) != len(f.columns) {
		return nil, unknown
	}
	worst := known
	for i, t := range terms {
		b, s := value(v, t, l.Key[f.columns[i]].Type)
		if s == null || s == unset || s == refused {
			return nil, refused
		}
		worst = max(worst, s)
		out = append(out, Cell{b})
	}
	return out, worst
}

// bound takes one bound alternative apart: the value itself, or for several columns a tuple of values.
func (f factor) bound(l *LookUp, value []byte) (out []Cell, s state) {
	if value == nil {
		return nil, refused
	}
	if !f.tuple {
		return []Cell{{value}}, valid(value, l.Key[f.columns[0]].Type)
	}
	for _, c := range f.columns {
		e, rest, ok := bytesOf(value)
		if !ok {
			return nil, unknown
		}
		if e == nil {
			return nil, refused
		}
		if s := valid(e, l.Key[c].Type); s != known {
			return nil, s
		}
		out, value = append(out, Cell{e}), rest
	}
	if len(value) > 0 {
		return nil, unknown
	}
	return out, known
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
