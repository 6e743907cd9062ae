package ring

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Key is what a row about a peer says of which node it is; what it does not say is zero.
type Key struct {
	HostID  []byte
	Address netip.Addr // for clients
	Port    int
	Peer    netip.Addr // among the nodes
}

func (k *Key) empty() bool { return k.HostID == nil && !k.Address.IsValid() && !k.Peer.IsValid() }

// Sight is what one client is to see.
type Sight struct {
	// Local replaces cells of the row of system.local.
	Local Row
	// Peer returns what replaces cells of a peer's row; false leaves the row out. Nil if Invented.
	Peer func(Key) (Row, bool)
	// Invented tells that Peers are the peers, whatever the cluster's are. Their rows have every column, of both tables;
	// the one that a table does not have is not asked for.
	Invented bool
	Peers    []Row
}

// Answer is what a RESULT Rows answers to a Select.
type Answer struct {
	Body  []byte   // after the result's kind: metadata, number of rows, rows
	Names []string // of the statement's result columns, for a Body without metadata; may be nil
	Bound []Bound  // values that came with the request; only needed if the Sight is Invented
}

// Rewrite returns the answer as this client is to see it. ok is false if the answer is not what the statement lets
// expect: it then passes as it is.
func (s *Sight) Rewrite(q *Select, a Answer) (body []byte, ok bool) {
	r := wire.NewReader(a.Body)
	m := wire.ReadMetadata(&r)
	var names []string
	wire.Columns(&r, m, func(name []byte) { names = append(names, string(name)) })
	if m.Flags&wire.MetaNoMetadata != 0 {
		names = a.Names
	}
	columns := int(m.Columns)
	if r.Bad() || columns < 1 || columns > len(a.Body) {
		return nil, false
	}
	list := q.list
	switch {
	case q.json && columns != 1:
		return nil, false
	case q.json:
	case q.star && len(names) == columns:
		list = nil
		for _, name := range names {
			list = append(list, selector{column: name})
		}
	case q.star || len(list) != columns:
		return nil, false
	}
	w := walk{sight: s, q: q, list: list, width: columns}
	at := r.Offset()
	if s.Invented && q.Table != Local {
		return w.invent(a, m, at, &r)
	}
	n := int(r.Int())
	out := append(make([]byte, 0, len(a.Body)+64), a.Body[:r.Offset()]...)
	kept := 0
	cells := make([][]byte, columns)
	for ; n > 0 && !r.Bad(); n-- {
		for i := range cells {
			cells[i] = r.Bytes()
		}
		if r.Bad() || !w.row(cells) {
			continue
		}
		kept++
		for _, cell := range cells {
			out = wire.AppendBytes(out, cell)
		}
	}
	if r.Bad() {
		return nil, false
	}
	binary.BigEndian.PutUint32(out[at:], uint32(kept))
	return append(out, r.Rest()...), true
}

// walk is one rewriting.
type walk struct {
	sight *Sight
	q     *Select
	list  []selector // by result column; of a JSON answer by key, or empty for *
	width int
}

// row changes a row's cells; false leaves it out.
func (w *walk) row(cells [][]byte) bool {
	var object []pair
	if w.q.json {
		var ok bool
		if object, ok = pairs(cells[0]); !ok || (!w.q.star && len(object) != len(w.list)) {
			return true // not what Cassandra writes
		}
	}
	patch := w.sight.Local
	if w.q.Table != Local {
		var k Key
		w.each(cells, object, func(column string, f form, value []byte, json bool) { w.learn(&k, column, f, value, json) })
		if k.empty() {
			return true // it does not say which node it is of
		}
		var shown bool
		if patch, shown = w.sight.Peer(k); !shown {
			return false
		}
	}
	if w.q.json {
		cells[0] = w.object(cells[0], object, patch)
		return true
	}
	for i, s := range w.list {
		v, ok := patch.find(s.column)
		if !ok || cells[i] == nil {
			continue
		}
		switch s.form {
		case bare:
			cells[i] = encode(v)
		case casted:
			cells[i] = []byte(asText(v))
		case toJSON:
			if string(cells[i]) != "null" {
				cells[i] = []byte(asJSON(v))
			}
		}
	}
	return true
}

// at is the selector of a JSON object's i-th key.
func (w *walk) at(i int, p pair) selector {
	if w.q.star {
		return selector{column: p.key}
	}
	return w.list[i]
}

// each calls f for every value of the row that shows a column.
func (w *walk) each(cells [][]byte, object []pair, f func(column string, f form, value []byte, json bool)) {
	if w.q.json {
		for i, p := range object {
			s := w.at(i, p)
			f(s.column, s.form, cells[0][p.from:p.to], true)
		}
		return
	}
	for i, s := range w.list {
		f(s.column, s.form, cells[i], false)
	}
}

// learn takes from a value what it says of which node the row is of.
func (w *walk) learn(k *Key, column string, f form, value []byte, json bool) {
	address, port := w.q.Table.addresses()
	if f > toJSON || (column != "host_id" && column != address && column != port && column != w.q.Table.key()) || len(value) == 0 {
		return
	}
	if json || f != bare {
		s := string(value)
		if json {
			s = unquote(s)
		}
		if f == toJSON {
			s = unquote(s)
		}
		switch v := parse(s).(type) {
		case UUID:
			value = v[:]
		case netip.Addr:
			value = v.AsSlice()
		case int32:
			value = encode(v)
		default:
			return
		}
	}
	switch column {
	case "host_id":
		k.HostID = value
	case port:
		k.Port, _ = number(value)
	case address:
		k.Address, _ = netip.AddrFromSlice(value)
		k.Address = k.Address.Unmap()
	default:
		k.Peer, _ = netip.AddrFromSlice(value)
		k.Peer = k.Peer.Unmap()
	}
}

// object puts values into a JSON text.
func (w *walk) object(text []byte, object []pair, patch Row) []byte {
	out := make([]byte, 0, len(text)+32)
	done := 0
	for i, p := range object {
		s := w.at(i, p)
		v, ok := patch.find(s.column)
		if !ok || s.form > toJSON || string(text[p.from:p.to]) == "null" {
			continue
		}
		out = append(append(out, text[done:p.from]...), s.asJSON(v)...)
		done = p.to
	}
	return append(out, text[done:]...)
}

// asJSON is a value under the selector's form as a JSON object shows it.
func (s selector) asJSON(v any) string {
	switch s.form {
	case casted:
		return quote(asText(v))
	case toJSON:
		return quote(asJSON(v))
	}
	return asJSON(v)
}

// invent answers with the Sight's own peers. Schema versions are the cluster's peers', in turn, as drivers wait until
// they agree. All rows come in one page.
func (w *walk) invent(a Answer, m wire.Metadata, at int, r *wire.Reader) ([]byte, bool) {
	var versions [][]byte
	for n := int(r.Int()); n > 0 && !r.Bad(); n-- {
		for i := range w.width {
			cell := r.Bytes()
			if len(cell) == 16 && !w.q.json && w.list[i].column == "schema_version" && w.list[i].form == bare {
				versions = append(versions, cell)
			}
		}
	}
	if r.Bad() {
		return nil, false
	}
	var rows [][][]byte
	for _, peer := range w.wanted(a.Bound) {
		if w.q.json {
			rows = append(rows, [][]byte{[]byte(w.invented(peer))})
			continue
		}
		row := make([][]byte, len(w.list))
		for i, s := range w.list {
			v, ok := peer.find(s.column)
			switch {
			case !ok || v == nil:
			case s.form == bare:
				row[i] = encode(v)
				if s.column == "schema_version" && len(versions) > 0 {
					row[i] = versions[len(rows)%len(versions)]
				}
			case s.form == casted:
				row[i] = []byte(asText(v))
			case s.form == toJSON:
				row[i] = []byte(asJSON(v))
			}
		}
		rows = append(rows, row)
	}
	for _, s := range w.list {
		if s.form == counts {
			rows = w.counted(rows)
			break
		}
	}
	out := withoutPages(a.Body[:at], m)
	out = wire.AppendInt(out, int32(len(rows)))
	for _, row := range rows {
		for _, cell := range row {
			out = wire.AppendBytes(out, cell)
		}
	}
	return append(out, r.Rest()...), true
}

// counted makes one row of many, as an aggregate does.
func (w *walk) counted(rows [][][]byte) [][][]byte {
	one := make([][]byte, w.width)
	if w.q.json {
		b := []byte("{")
		for i, s := range w.list {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(append(b, quote(s.label())...), ": "...)
			if s.form == counts {
				b = append(b, asText(int64(len(rows)))...)
			} else {
				b = append(b, "null"...)
			}
		}
		return [][][]byte{{append(b, '}')}}
	}
	if len(rows) > 0 {
		copy(one, rows[0])
	}
	for i, s := range w.list {
		if s.form == counts {
			one[i] = encode(int64(len(rows)))
		}
	}
	return [][][]byte{one}
}

// wanted are the invented peers that the statement's WHERE and LIMIT select.
func (w *walk) wanted(bound []Bound) []Row {
	var rows []Row
	most := w.q.most(bound)
	if slices.ContainsFunc(w.list, func(s selector) bool { return s.form == counts }) {
		most = -1 // the limit is the counted row's
	}
	for _, peer := range w.sight.Peers {
		if most >= 0 && len(rows) == most {
			break
		}
		if w.q.selects(peer, bound) {
			rows = append(rows, peer)
		}
	}
	return rows
}

// selects tells whether a row meets the conditions that are understood.
func (q *Select) selects(row Row, bound []Bound) bool {
	for _, c := range q.where {
		v, ok := row.find(c.column)
		if !ok {
			continue
		}
		met := false
		for _, o := range c.in {
			met = met || o.same(v, bound)
		}
		if !met {
			return false
		}
	}
	return true
}

// withoutPages is a metadata's bytes (head and columns) without the promise of more pages.
func withoutPages(metadata []byte, m wire.Metadata) []byte {
	if m.Flags&wire.MetaMorePages == 0 {
		return append([]byte(nil), metadata...)
	}
	r := wire.NewReader(metadata)
	r.Int()
	r.Int()
	head := r.Offset()
	r.Bytes() // the paging state
	out := wire.AppendInt(nil, m.Flags&^wire.MetaMorePages)
	out = append(out, metadata[4:head]...)
	return append(out, metadata[r.Offset():]...)
}
