// Package exectest is a Cassandra for tests: an exec.Session over tables in memory, with cell timestamps, tombstones and
// times to live as Cassandra reconciles them, and with a hook before every statement, so that a test decides in which
// order concurrent statements take effect, and which of them fail.
//
// It understands the statements that package rewrite issues and simple statements of an application: INSERT, UPDATE and
// DELETE by whole primary keys, SELECT by equality, by token range, or whole. Every statement is atomic, as quorum
// operations are in the model of docs/design/maintenance.md. It imports capture/cql, capture/schema and rewrite/exec.
package exectest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Memory is the database.
type Memory struct {
	// Before is called before each statement takes effect, without a lock; an error is the statement's answer.
	Before Hook[func(ctx context.Context, q exec.Query) error]
	// Now is the clock by which cells expire, and which gives a timestamp to a write that has none.
	Now func() time.Time

	mu     sync.Mutex
	tables map[string]*table
	made   int // tables, by CREATE TABLE
	// keyspaces are the replications of those that were defined.
	keyspaces map[string]map[string]string
}

type table struct {
	schema.Table
	key    []schema.Column // the primary key
	whole  int             // of which are the partition key
	rows   map[string]*row
	ranges map[string]int64 // deletes by the beginning of a primary key, as one string: their timestamps
}

type row struct {
	key       [][]byte
	tombstone int64 // math.MinInt64 if none
	marker    cell
	cells     map[string]cell
}

type cell struct {
	at      int64 // 0: there is none
	value   []byte
	dead    bool
	expires int64 // unix seconds, 0 for never
}

func newTable(t schema.Table) *table {
	return &table{Table: t, key: t.PrimaryKey(), whole: len(t.PartitionKey()), rows: map[string]*row{}, ranges: map[string]int64{}}
}

// New returns an empty database.
func New() *Memory {
	return &Memory{Now: time.Now, tables: map[string]*table{}}
}

// Add creates a table.
func (m *Memory) Add(t schema.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tables[t.Keyspace+"."+t.Name] = newTable(t)
}

// Schema returns the tables as package schema would.
func (m *Memory) Schema() *schema.Schema {
	m.mu.Lock()
	defer m.mu.Unlock()
	by := map[string]*schema.Keyspace{}
	for name, replication := range m.keyspaces {
		by[name] = &schema.Keyspace{Name: name, Replication: maps.Clone(replication)}
	}
	for _, t := range m.tables {
		if by[t.Keyspace] == nil {
			by[t.Keyspace] = &schema.Keyspace{Name: t.Keyspace, Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}}
		}
		by[t.Keyspace].Tables = append(by[t.Keyspace].Tables, t.Table)
	}
	out := &schema.Schema{}
	for _, k := range by {
		sort.Slice(k.Tables, func(i, j int) bool { return k.Tables[i].Name < k.Tables[j].Name })
		out.Keyspaces = append(out.Keyspaces, *k)
	}
	sort.Slice(out.Keyspaces, func(i, j int) bool { return out.Keyspaces[i].Name < out.Keyspaces[j].Name })
	return out
}

// Drop removes a table, as somebody might behind our back.
func (m *Memory) Drop(keyspace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tables, keyspace+"."+name)
}

// Snapshot returns a copy with the same content, for looking ahead. It has no hook.
func (m *Memory) Snapshot() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &Memory{Now: m.Now, tables: map[string]*table{}, made: m.made, keyspaces: maps.Clone(m.keyspaces)}
	for name, t := range m.tables {
		c := &table{Table: t.Table, key: t.key, whole: t.whole, rows: map[string]*row{}, ranges: maps.Clone(t.ranges)}
		for k, r := range t.rows {
			n := *r
			n.cells = map[string]cell{}
			for name, v := range r.cells {
				n.cells[name] = v
			}
			c.rows[k] = &n
		}
		out.tables[name] = c
	}
	return out
}

// Agree implements exec.Session.
func (m *Memory) Agree(ctx context.Context) error {
	if before, ok := m.Before.Get(); ok {
		return before(ctx, exec.Query{Text: "AGREE"})
	}
	return nil
}

// Scan implements exec.Session. Rows that are written meanwhile are seen or not, as the whole is read at once.
func (m *Memory) Scan(ctx context.Context, q exec.Query, each func([][]byte) error) error {
	a, err := m.Query(ctx, q)
	if err != nil {
		return err
	}
	for _, r := range a.Rows {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// failure is an error that Cassandra answers; it is a gocql.RequestError.
type failure struct {
	code    int
	message string
}

func (f *failure) Code() int       { return f.code }
func (f *failure) Message() string { return f.message }
func (f *failure) Error() string   { return f.message }

// Refuse is what Cassandra answers to a statement that is not allowed.
func Refuse(message string) error { return &failure{gocql.ErrCodeInvalid, message} }

// Answers by which Cassandra says that it could not do it now, that it failed by its own fault, and that it may not.
var (
	Timeout  error = &failure{gocql.ErrCodeWriteTimeout, "too few replicas answered in time"}
	Internal error = &failure{gocql.ErrCodeServer, "java.lang.NullPointerException"}
	// Unauthorized is what a role is told that lacks a right.
	Unauthorized error = &failure{gocql.ErrCodeUnauthorized, "User helenus has no CREATE permission on <all keyspaces> or any of its parents"}
)

// Query implements exec.Session.
func (m *Memory) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if before, ok := m.Before.Get(); ok {
		if err := before(ctx, q); err != nil {
			return exec.Answer{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return exec.Answer{}, err
	}
	st, err := parse(q.Text)
	if err != nil {
		return exec.Answer{}, fmt.Errorf("%s: %w", q.Text, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch s := st.(type) {
	case *cql.CreateKeyspace:
		if m.keyspaces[s.Keyspace] == nil {
			m.replicate(s.Keyspace, replicationOf(s.Properties))
		}
		return exec.Answer{}, nil
	case *cql.AlterKeyspace:
		m.replicate(s.Keyspace, replicationOf(s.Properties))
		return exec.Answer{}, nil
	case *cql.CreateTable:
		m.define(s)
		return exec.Answer{}, nil
	case *cql.Drop:
		delete(m.tables, s.Name.Keyspace+"."+s.Name.Table)
		return exec.Answer{}, nil
	case *cql.Truncate:
		t, err := m.table(s.Table)
		if err == nil {
			clear(t.rows)
			clear(t.ranges)
		}
		return exec.Answer{}, err
	case *cql.AlterTable:
		t, err := m.table(s.Table)
		if err == nil {
			t.option(s.Properties)
		}
		return exec.Answer{}, err
	case *cql.Select:
		return m.read(s, q.Values)
	}
	return exec.Answer{}, m.write(st, q.Values, nil)
}

// parsed are the statements met so far, by text: explorations say the same few again and again.
var parsed sync.Map

func parse(text string) (cql.Statement, error) {
	if st, ok := parsed.Load(text); ok {
		return st.(cql.Statement), nil
	}
	st, err := cql.Parse(text)
	if err == nil {
		parsed.Store(text, st)
	}
	return st, err
}

// Unlogged carries out writes as an unlogged batch does: one by one, up to the first that fails, as those of one partition all take
// effect or none.
func (m *Memory) Unlogged(ctx context.Context, writes []exec.Query) error {
	for _, q := range writes {
		if _, err := m.Query(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Write runs a write of the application at the timestamp that its request carries.
func (m *Memory) Write(text string, values [][]byte, timestamp int64) error {
	st, err := parse(text)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write(st, values, &timestamp)
}

// define carries out the DDL that match.LookUp writes.
func (m *Memory) define(s *cql.CreateTable) {
	full := s.Table.Keyspace + "." + s.Table.Table
	if m.tables[full] != nil {
		return
	}
	m.made++
	t := schema.Table{Keyspace: s.Table.Keyspace, Name: s.Table.Table, ID: fmt.Sprintf("00000000-0000-0000-0000-%012x", m.made), GCGrace: 10 * 24 * 3600}
	for _, c := range s.Columns {
		column := schema.Column{Name: c.Name, Type: c.Type.String(), Kind: schema.Regular, Position: -1}
		if i := slices.Index(s.PartitionKey, c.Name); i >= 0 {
			column.Kind, column.Position = schema.PartitionKey, i
		}
		if i := slices.Index(s.ClusteringKey, c.Name); i >= 0 {
			column.Kind, column.Position = schema.Clustering, i
			column.Descending = slices.Contains(s.ClusteringOrder, cql.Ordering{Column: c.Name, Descending: true})
		}
		t.Columns = append(t.Columns, column)
	}
	m.tables[full] = newTable(t)
	m.tables[full].option(s.Properties)
}

// option sets the options of a table that are known here.
func (t *table) option(properties []cql.Property) {
	for _, o := range properties {
		if l, ok := o.Value.(*cql.Literal); ok && o.Name == "comment" {
			t.Comment = l.Text
		}
	}
}

// Redefine changes a table and keeps its rows, as ALTER TABLE does.
func (m *Memory) Redefine(t schema.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tables[t.Keyspace+"."+t.Name].Table = t
}

func (m *Memory) table(ref cql.TableRef) (*table, error) {
	t := m.tables[ref.Keyspace+"."+ref.Table]
	if t == nil {
		return nil, Refuse("unconfigured table " + ref.String())
	}
	return t, nil
}

// value is the value of a term for a column; nil is null.
func value(t *table, column string, term cql.Term, values [][]byte) ([]byte, error) {
	if marker, ok := term.(*cql.Marker); ok {
		if marker.Index >= len(values) {
			return nil, Refuse("too few values")
		}
		return values[marker.Index], nil
	}
	l, ok := term.(*cql.Literal)
	if !ok {
		return nil, Refuse("not a value: " + term.String())
	}
	kind := "bigint"
	if c := t.Column(column); c != nil {
		kind = c.Type
	}
	return encode(l, kind)
}

func encode(l *cql.Literal, kind string) ([]byte, error) {
	switch {
	case l.Kind == cql.LiteralNull:
		return nil, nil
	case l.Kind == cql.LiteralString:
		return []byte(l.Text), nil
	case l.Kind == cql.LiteralBoolean:
		return []byte{map[string]byte{"true": 1}[l.Text]}, nil
	case l.Kind == cql.LiteralInteger && kind == "int":
		n, err := strconv.ParseInt(l.Text, 10, 32)
		return exec.FromInt32(int32(n)), err // #nosec G115
	case l.Kind == cql.LiteralInteger:
		n, err := strconv.ParseInt(l.Text, 10, 64)
		return exec.FromInt64(n), err
	case l.Kind == cql.LiteralUUID:
		return hex.DecodeString(strings.ReplaceAll(l.Text, "-", ""))
	case l.Kind == cql.LiteralBlob:
		return hex.DecodeString(strings.TrimPrefix(l.Text, "0x"))
	}
	return nil, Refuse("no such literal here: " + l.String())
}

func number(term cql.Term, values [][]byte) (int64, error) {
	if marker, ok := term.(*cql.Marker); ok && marker.Index < len(values) {
		if b := values[marker.Index]; len(b) == 4 {
			return int64(int32(binary.BigEndian.Uint32(b))), nil // #nosec G115
		} else if n, ok := exec.Int64(b); ok {
			return n, nil
		}
	}
	if l, ok := term.(*cql.Literal); ok {
		return strconv.ParseInt(l.Text, 10, 64)
	}
	return 0, Refuse("not a number: " + term.String())
}

// timeToLive is a number, or a null, which Cassandra takes for 0.
func timeToLive(term cql.Term, values [][]byte) (int64, error) {
	if marker, ok := term.(*cql.Marker); ok && marker.Index < len(values) && values[marker.Index] == nil {
		return 0, nil
	}
	return number(term, values)
}

var errKey = Refuse("the whole primary key is needed")

// keyName is a primary key, or the beginning of one, as one string: that of a longer key begins with it.
func keyName(key [][]byte) string {
	var id []byte
	for _, k := range key {
		id = binary.BigEndian.AppendUint32(id, uint32(len(k))) // #nosec G115
		id = append(id, k...)
	}
	return string(id)
}

func (t *table) row(key [][]byte) *row {
	id := keyName(key)
	r := t.rows[id]
	if r == nil {
		r = &row{key: key, cells: map[string]cell{}, tombstone: math.MinInt64}
		for begin, at := range t.ranges {
			if strings.HasPrefix(id, begin) {
				r.tombstone = max(r.tombstone, at)
			}
		}
		t.rows[id] = r
	}
	return r
}

// deleteRange deletes the rows whose key begins so, also those that come later with an earlier timestamp.
func (t *table) deleteRange(begin [][]byte, at int64) {
	name := keyName(begin)
	if before, ok := t.ranges[name]; !ok || at > before {
		t.ranges[name] = at
	}
	for id, r := range t.rows {
		if strings.HasPrefix(id, name) {
			r.tombstone = max(r.tombstone, at)
		}
	}
}

func (t *table) equalities(where []cql.Relation, values [][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, r := range where {
		if r.Op != cql.OpEQ || len(r.Columns) != 1 {
			return nil, Refuse("only equalities here")
		}
		v, err := value(t, r.Columns[0], r.Value, values)
		if err != nil {
			return nil, err
		}
		out[r.Columns[0]] = v
	}
	return out, nil
}

func (t *table) keyOf(given map[string][]byte) ([][]byte, error) {
	var key [][]byte
	for _, c := range t.key {
		v := given[c.Name]
		if v == nil || (len(v) == 0 && t.whole == 1 && c.Kind == schema.PartitionKey) {
			return nil, errKey
		}
		key = append(key, v)
	}
	return key, nil
}

// beginning is as much of the primary key as is given without a gap.
func (t *table) beginning(given map[string][]byte) [][]byte {
	var key [][]byte
	for _, c := range t.key {
		if given[c.Name] == nil {
			break
		}
		key = append(key, given[c.Name])
	}
	return key
}

// write carries out a write; fallback is the timestamp of the request, nil for our own statements without one.
func (m *Memory) write(st cql.Statement, values [][]byte, fallback *int64) error {
	var using cql.Using
	var ref cql.TableRef
	set := map[string][]byte{}
	var where []cql.Relation
	var cleared []string
	whole, insert := false, false
	switch s := st.(type) {
	case *cql.Insert:
		ref, using, insert = s.Table, s.Using, true
	case *cql.Update:
		ref, using, where = s.Table, s.Using, s.Where
	case *cql.Delete:
		ref, using, where, whole = s.Table, s.Using, s.Where, len(s.Columns) == 0
		for _, d := range s.Columns {
			cleared = append(cleared, d.Column)
		}
	default:
		return Refuse("no such statement here: " + st.String())
	}
	t, err := m.table(ref)
	if err != nil {
		return err
	}
	given, err := t.equalities(where, values)
	if err != nil {
		return err
	}
	if s, ok := st.(*cql.Insert); ok {
		if len(s.Columns) != len(s.Values) {
			return Refuse("unmatched column names and values")
		}
		for i, c := range s.Columns {
			v, err := value(t, c, s.Values[i], values)
			if err != nil {
				return err
			}
			if t.Column(c).Kind == schema.Regular {
				set[c] = v
			} else {
				given[c] = v
			}
		}
	}
	if s, ok := st.(*cql.Update); ok {
		for _, a := range s.Assignments {
			v, err := value(t, a.Column, a.Value, values)
			if err != nil {
				return err
			}
			set[a.Column] = v
		}
	}
	key, err := t.keyOf(given)
	if begin := t.beginning(given); err != nil && whole && len(begin) >= t.whole && len(begin) == len(given) {
		key, err = begin, nil
	}
	if err != nil {
		return err
	}
	at, expires := m.Now().UnixMicro(), int64(0)
	if fallback != nil && *fallback != 0 {
		at = *fallback
	}
	if using.Timestamp() != nil {
		if at, err = number(using.Timestamp(), values); err != nil {
			return err
		}
	}
	if using.TTL() != nil {
		ttl, err := timeToLive(using.TTL(), values)
		if err != nil {
			return err
		}
		if ttl > 0 {
			expires = m.Now().Unix() + ttl
		}
	}
	if whole {
		t.deleteRange(key, at)
		return nil
	}
	r := t.row(key)
	if insert {
		r.marker = later(r.marker, cell{at: at, expires: expires})
	}
	for c, v := range set {
		r.cells[c] = later(r.cells[c], cell{at: at, value: v, dead: v == nil, expires: expires})
	}
	for _, c := range cleared {
		r.cells[c] = later(r.cells[c], cell{at: at, dead: true})
	}
	return nil
}

// later is Cassandra's choice between two versions of a cell.
func later(a, b cell) cell {
	switch {
	case a.at != b.at:
		if a.at > b.at {
			return a
		}
		return b
	case a.dead != b.dead:
		if a.dead {
			return a
		}
		return b
	case (a.expires != 0) != (b.expires != 0): // of two at one timestamp the one that expires wins
		if a.expires != 0 {
			return a
		}
		return b
	case bytes.Compare(a.value, b.value) > 0:
		return a
	}
	return b
}

func (m *Memory) live(r *row, c cell) bool {
	return c.at != 0 && c.at > r.tombstone && !c.dead && (c.expires == 0 || c.expires > m.Now().Unix())
}

func (m *Memory) exists(r *row) bool {
	if m.live(r, r.marker) {
		return true
	}
	for _, c := range r.cells {
		if m.live(r, c) {
			return true
		}
	}
	return false
}
