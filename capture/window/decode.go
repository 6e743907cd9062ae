package window

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/literal"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// Bounds of an execution.
const (
	maxBinds      = 256
	maxIndex      = 1<<11 - 1
	maxStatements = 1 << 14
)

// decoder turns samples into executions.
type decoder struct {
	hash    value.Hasher
	never   columns
	schema  func() *schema.Schema
	known   map[string]*known // by fingerprint
	refused uint64
	clients map[*proxy.Client]uint64 // their processes
	parts   []uint64
}

// read takes the values of a sample out of its text. false: there is nothing to learn.
func (d *decoder) read(x *sample) bool {
	said := literal.Said{Keyspace: x.keyspace, Text: x.text, Values: x.values}
	if d.schema != nil {
		said.Schema = d.schema()
	}
	st, values := literal.Read(x.statement, said)
	if st == nil {
		one := *x.statement
		st = &one
	}
	x.text, x.values = "", append(x.values[:0], values...)
	if st.Results = nil; x.response != nil {
		st.Results = value.Columns(x.response)
	}
	if len(st.Variables)+len(st.Results) == 0 {
		return false
	}
	// Two of the same fingerprint are described alike, nearly always.
	if k := d.known[st.Fingerprint]; k != nil && slices.EqualFunc(k.said.Variables, st.Variables, alike) && slices.EqualFunc(k.said.Results, st.Results, alike) {
		st = k.said
	}
	x.statement = st
	return true
}

func alike(a, b proxy.Column) bool {
	return a.Name == b.Name && a.Table == b.Table && a.Keyspace == b.Keyspace && sameType(a.Type, b.Type)
}

func sameType(a, b proxy.Type) bool {
	return a.Code == b.Code && slices.EqualFunc(a.Elements, b.Elements, sameType)
}

// known is what is remembered of a statement.
type known struct {
	said       *trace.Statement // as it was prepared
	statement  *trace.Statement // with the parts of what is one value (fold.go)
	variables  []int            // by variable of said: its first part in statement, 0 if it has none
	results    []int            // the same by result column
	places     []int            // by variable of statement
	looked     []bool           // by variable of statement: its values may be looked at
	read       []bool           // by result column of statement
	executions uint32
}

// decode hashes the values of a sample; nil if there is no room for its statement.
func (d *decoder) decode(x *sample) *trace.Execution {
	st := x.statement
	k := d.known[st.Fingerprint]
	if k == nil {
		if len(d.known) >= maxStatements {
			d.refused++
			return nil
		}
		k = &known{}
		d.known[st.Fingerprint] = k
	}
	if k.said != st {
		d.describe(k, st)
	}
	k.executions++
	e := &trace.Execution{
		Statement: k.statement, Start: x.t0, End: x.t1, Process: d.processOf(x.client), Sequence: k.executions, Failed: x.failed, Last: x.last,
		Rows: x.rows, Bytes: x.bytes,
	}
	if x.inBatch {
		e.Batch = x.client.ID<<44 ^ uint64(x.t0) | 1
		e.Rows, e.Bytes = -1, 0 // the batch's
	}
	if len(x.values) > 0 {
		e.Binds = make([]value.Value, 0, len(x.values))
	}
	for i := range x.values {
		if v := place(st, x.values, i); v >= 0 {
			d.bind(e, k, v, &x.values[i])
		}
	}
	e.Partition = d.partition(st, k, x.values)
	if len(x.response) > 0 {
		e.Cells = make([]value.Value, 0, min(max(x.rows, 1), value.MaxRows)*len(st.Results))
		value.Rows(x.response, st.Results, func(row, c int, cell []byte) {
			if k.read[c] && cell == nil {
				e.Cells = append(e.Cells, value.Value{Index: uint16(c), Row: uint16(row), Null: true})
			}
			d.apart(&st.Results[c].Type, cell, c, k.results[c], k.read, func(at int, t *proxy.Type, b []byte) {
				d.hash.Each(t, b, func(v value.Value) {
					v.Index, v.Row = uint16(at), uint16(row) // #nosec G115 -- maxIndex at most
					e.Cells = append(e.Cells, v)
				})
				e.MadeCells = d.made(e.MadeCells, t, b, len(e.Cells))
			})
		})
	}
	return e
}

// apart calls yield for a value, and for each of its parts, as far as they may be looked at, with the number of the variable or column.
func (d *decoder) apart(t *proxy.Type, b []byte, whole, first int, allowed []bool, yield func(at int, t *proxy.Type, b []byte)) {
	if allowed[whole] {
		yield(whole, t, b)
	}
	if first > 0 {
		each(t, b, first, func(at int, t *proxy.Type, b []byte) {
			if allowed[at] {
				yield(at, t, b)
			}
		})
	}
}

// bind enters a value of a variable.
func (d *decoder) bind(e *trace.Execution, k *known, v int, x *proxy.Value) {
	if x.Null || x.Unset || len(x.Bytes) == 0 {
		if x.Null && k.looked[v] && len(e.Binds) < maxBinds {
			e.Binds = append(e.Binds, value.Value{Index: uint16(k.places[v]), Null: true}) // #nosec G115 -- maxIndex at most
		}
		return
	}
	d.apart(&k.said.Variables[v].Type, x.Bytes, v, k.variables[v], k.looked, func(at int, t *proxy.Type, b []byte) {
		if len(e.Binds) >= maxBinds {
			return
		}
		d.hash.Each(t, b, func(h value.Value) {
			if len(e.Binds) < maxBinds {
				h.Index = uint16(k.places[at]) // #nosec G115 -- maxIndex at most
				e.Binds = append(e.Binds, h)
			}
		})
		e.MadeBinds = d.made(e.MadeBinds, t, b, len(e.Binds))
	})
}

// maxMade is how many identifiers that texts are made of an execution has at most.
const maxMade = 256

// made notes what a text, the last of n values, is made of.
func (d *decoder) made(out []value.Made, t *proxy.Type, b []byte, n int) []value.Made {
	if t.Elements != nil || value.ClassOf(t) != value.Text || n == 0 || n > 1<<16 {
		return out
	}
	d.hash.Made(b, func(m value.Made) {
		if len(out) < maxMade {
			m.Of = uint32(n - 1) // #nosec G115 -- 65,536 at most
			out = append(out, m)
		}
	})
	return out
}

// describe works out what is asked of a statement for each of its values.
func (d *decoder) describe(k *known, st *trace.Statement) {
	k.said = st
	k.statement, k.variables, k.results = unfolded(st)
	k.places = trace.Places(k.statement)
	k.looked = d.allowed(k.statement.Variables, k.variables, func(i int) bool { return k.places[i] <= maxIndex && !synthetic(k.statement.Variables[i].Name) })
	k.read = d.allowed(k.statement.Results, k.results, func(i int) bool { return i <= maxIndex })
}

// allowed says which columns may be looked at, of those that others require: parts of what is never to be looked at may not.
func (d *decoder) allowed(columns []proxy.Column, first []int, may func(i int) bool) []bool {
	out := make([]bool, len(columns))
	for i := range columns {
		out[i] = may(i) && !d.never.has(&columns[i])
	}
	for i, from := range first {
		if from > 0 && d.never.has(&columns[i]) {
			clear(out[from : from+len(parts(&columns[i]))])
		}
	}
	return out
}

// place returns which of the variables a value is bound to, -1 if none.
func place(st *trace.Statement, values []proxy.Value, i int) int {
	if values[i].Name == "" {
		if i < len(st.Variables) {
			return i
		}
		return -1
	}
	for k := range st.Variables {
		if st.Variables[k].Name == values[i].Name {
			return k
		}
	}
	return -1
}

// partition is the hash of the partition key, if all of it is bound and may be looked at.
func (d *decoder) partition(st *trace.Statement, k *known, values []proxy.Value) uint64 {
	if len(st.PartitionKey) == 0 {
		return 0
	}
	d.parts = d.parts[:0]
	for _, v := range st.PartitionKey {
		if v < 0 || v >= len(k.looked) || !k.looked[v] || trace.ColumnOf(st.Variables[v].Name) != st.Variables[v].Name {
			return 0 // not to be looked at, or a list: several partitions
		}
		found := false
		for i := range values {
			if place(st, values, i) == v && len(values[i].Bytes) > 0 {
				one := d.hash.Of(value.ClassOf(&st.Variables[v].Type), values[i].Bytes)
				if found = one.Class != value.None; found {
					d.parts = append(d.parts, one.Hash)
				}
				break
			}
		}
		if !found {
			return 0
		}
	}
	return d.hash.Tuple(d.parts)
}

// maxClients is how many clients' processes are remembered.
const maxClients = 4_096

// processOf tells client processes apart as well as the wire allows: what they say of themselves, and their host.
func (d *decoder) processOf(c *proxy.Client) uint64 {
	if p, ok := d.clients[c]; ok {
		return p
	}
	host := c.Address
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	p := d.hash.Of(value.Text, []byte(strings.Join([]string{host, c.Application, c.Instance, c.Driver}, "\x00"))).Hash
	if d.clients == nil || len(d.clients) >= maxClients {
		d.clients = map[*proxy.Client]uint64{}
	}
	d.clients[c] = p
	return p
}

// synthetic reports whether a bind variable's name is made up by Cassandra and stands for no column: [limit], [ttl], key(m), ...
// in(c) stands for c.
func synthetic(name string) bool {
	return strings.HasPrefix(name, "[") || strings.ContainsRune(name, '(') && !strings.HasPrefix(strings.ToLower(name), "in(")
}

// columns is a set of columns: "keyspace.table.column", or "keyspace.table" for all of a table's, or "keyspace.*".
type columns map[string]bool

func newColumns(names []string) columns {
	out := columns{}
	for _, n := range names {
		out[strings.TrimSuffix(strings.TrimSpace(n), ".*")] = true
	}
	return out
}

func (c columns) has(column *proxy.Column) bool {
	if len(c) == 0 {
		return false
	}
	if c[column.Keyspace] || c[column.Keyspace+"."+column.Table] {
		return true
	}
	return c[column.Keyspace+"."+column.Table+"."+trace.ColumnOf(column.Name)]
}
