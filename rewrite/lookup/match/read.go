package match

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Read is a SELECT that the look-up can answer.
type Read struct {
	LookUp    *LookUp
	Statement string // the fingerprint of the application's SELECT
	Find      string // keys of the entries: values of By, limit
	Fetch     string // the application's SELECT narrowed to one row: the values of Bound, then key...
	// Several is Fetch for one row of each of several partitions: the values of Bound, then the list of partition keys, then the rest of
	// the key. The partition key is a further column of its rows, the last. "" if there is no such statement.
	Several string
	Bound   []kind.Marker // which values of the request Fetch begins with
	Types   []string      // of those values; "" if that is not looked at
	// Unread: one of those values, or one that stands in Fetch, is such that only Cassandra judges it. It does where it reads a row.
	Unread bool
	By     []kind.Marker // which values of the request the look-up is asked by, one for each of LookUp.Asked
	// Nowhere is a key that a row of the base could have.
	Nowhere [][]byte
	// Twin is the application's SELECT without LIMIT, with markers in the place of the values that stand in it: what Cassandra says of its answer is
	// true of the original's. "" if a value is left in it.
	Twin string
	Text string // the application's SELECT with anonymous markers, for the values of All
	All  []kind.Marker
	// Scan is the application's SELECT without the values it asks by and without LIMIT, over a part of the ring: the values of
	// Others, then first token, last token. Each row has the values of the columns after the cells of the answer.
	Scan   string
	Others []kind.Marker
	all    bool // the SELECT asks for *
	limit  cql.Term
	given  [][]byte // values that stand in the text: marker -1, -2, ...
	takes  int      // markers of the text
}

// Has tells whether an answer may have these columns: one of SELECT * has those that the base has now, and a client that prepared it before a
// column was added or dropped knows others.
func (r *Read) Has(columns []proxy.Column) bool {
	missing := func(c proxy.Column) bool { return r.LookUp.Base.Column(c.Name) == nil }
	return !r.all || len(columns) == len(r.LookUp.Base.Columns) && !slices.ContainsFunc(columns, missing)
}

// Get finds the value of a marker in a request, or the one that stands in the text.
func (r *Read) Get(v kind.Values, m kind.Marker) (value proxy.Value, ok bool) {
	if m.Index < 0 {
		return proxy.Value{Bytes: r.given[-1-m.Index]}, true
	}
	return v.Get(m)
}

// Takes tells whether a request has as many values as the text has places for them. (Of those with names Cassandra takes what it needs.)
func (r *Read) Takes(v kind.Values) bool {
	return len(v.Values) == r.takes || len(v.Values) > 0 && v.Values[0].Name != ""
}

// AskedValues are the values that a request asks by, one for each of LookUp.Asked.
func (r *Read) AskedValues(v kind.Values) [][]byte {
	out := make([][]byte, len(r.By))
	for i, m := range r.By {
		value, _ := r.Get(v, m)
		out[i] = value.Bytes
	}
	return out
}

// Asked says what a request asks for, as At does.
func (r *Read) Asked(v kind.Values) string { return At(r.LookUp.Asked, r.AskedValues(v)) }

// CompileRead compiles a SELECT. The fingerprint is checked too: what nobody approved is not answered.
func (l *LookUp) CompileRead(st cql.Statement, keyspace string) (*Read, *condition.Refusal) {
	s, ok := st.(*cql.Select)
	if !ok {
		return nil, condition.Columns.Refuse("not a SELECT but a statement of kind %s", st.Kind())
	}
	if t := s.Table.In(keyspace); t.Keyspace != l.Keyspace || t.Table != l.Rewrite.Base {
		return nil, condition.Columns.Refuse("reads %s, not %s", t, l.BaseName())
	}
	fingerprint := cql.Fingerprint(st, keyspace).String()
	if !l.statements[fingerprint] {
		return nil, condition.Columns.Refuse("this statement is not among those that were approved")
	}
	r, refusal := l.compile(s)
	if refusal == nil {
		r.Statement = fingerprint
	}
	return r, refusal
}

func (l *LookUp) compile(s *cql.Select) (*Read, *condition.Refusal) {
	if r := first(clauseChecks, s); r != nil {
		return nil, r
	}
	if r := l.projection(s.Columns); r != nil {
		return nil, r
	}
	r := &Read{LookUp: l, Find: l.Find(), Nowhere: l.nowhere(), all: len(s.Columns) == 0, limit: s.Limit, takes: len(cql.Markers(s))}
	switch limit := s.Limit.(type) {
	case nil, *cql.Marker:
	case *cql.Literal:
		if n, err := strconv.ParseInt(limit.Text, 10, 32); limit.Kind != cql.LiteralInteger || err != nil || n <= 0 {
			return nil, condition.Limits.Refuse("LIMIT %s is not a positive number", limit)
		}
	default:
		return nil, condition.Limits.Refuse("LIMIT is neither a number nor bound")
	}
	where, places, left := l.lift(s.Where, r)
	r.Unread = left // a null, perhaps
	r.By = make([]kind.Marker, len(l.Asked))
	found := make([]bool, len(l.Asked))
	for i := range where {
		by, n, refusal := l.relation(&where[i])
		if refusal != nil {
			return nil, refusal
		}
		if by == nil {
			continue
		}
		if found[n] {
			return nil, condition.Columns.Refuse("%s is restricted more than once", l.Asked[n].Name)
		}
		found[n], r.By[n] = true, places.of(by)
	}
	if n := slices.Index(found, false); n >= 0 {
		return nil, condition.Columns.Refuse("does not ask for rows by %s = ?", l.Asked[n].Name)
	}
	if needs, _ := schema.VerdictOf(l.Base, s); needs == schema.FilteringNeeded && !s.AllowFiltering {
		return nil, condition.Schema.Refuse("Cassandra refuses it without ALLOW FILTERING: no index of %s serves it", l.BaseName())
	}
	whole := *s
	whole.Where = where
	whole.Table = cql.TableRef{Keyspace: l.Keyspace, Table: l.Rewrite.Base}
	r.Text, r.All = anonymous(&whole, places)
	r.Scan, r.Others = l.scan(&whole, places)
	fetch := whole
	fetch.Limit, fetch.AllowFiltering = nil, true
	fetch.Where = nil
	for _, relation := range where { // a part of the key is restricted by the whole key
		if n := l.askedBy(&relation); n < 0 || l.key(l.Asked[n].Name) < 0 {
			fetch.Where = append(fetch.Where, relation)
		}
	}
	bound := cql.Markers(&fetch)
	for _, k := range l.Key {
		fetch.Where = append(fetch.Where, cql.Relation{Columns: []string{k.Name}, Op: cql.OpEQ, Value: &cql.Marker{}})
	}
	for _, m := range bound {
		r.Bound, r.Types = append(r.Bound, places.of(m)), append(r.Types, places[m].cqlType)
		r.Unread = r.Unread || !among(judged, places[m].cqlType)
	}
	r.Fetch, _ = anonymous(&fetch, nil)
	r.Several = l.several(&fetch)
	if !left {
		twin := whole
		twin.Limit = nil
		r.Twin, _ = anonymous(&twin, nil)
	}
	return r, nil
}

// scan writes the statement that reads what a SELECT finds for all values of the columns that it asks by.
func (l *LookUp) scan(whole *cql.Select, at places) (string, []kind.Marker) {
	s := *whole
	s.Limit, s.AllowFiltering, s.Where = nil, true, nil
	if len(s.Columns) == 0 {
		for _, c := range l.Base.Columns {
			s.Columns = append(s.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
		}
	}
	s.Columns = append([]cql.Selector(nil), s.Columns...)
	for _, c := range l.Asked {
		s.Columns = append(s.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
	}
	for _, relation := range whole.Where {
		if l.askedBy(&relation) < 0 {
			s.Where = append(s.Where, relation)
		}
	}
	var others []kind.Marker
	for _, m := range cql.Markers(&s) {
		others = append(others, at.of(m))
	}
	partition := make([]string, l.Partition)
	for i := range partition {
		partition[i] = l.Key[i].Name
	}
	for _, op := range []cql.Op{cql.OpGT, cql.OpLE} {
		s.Where = append(s.Where, cql.Relation{Columns: partition, Token: true, Op: op, Value: &cql.Marker{}})
	}
	text, _ := anonymous(&s, nil)
	return text, others
}

// anonymous prints a SELECT with question marks for all its markers.
func anonymous(s *cql.Select, at places) (string, []kind.Marker) {
	var out []kind.Marker
	markers := cql.Markers(s)
	names := make([]string, len(markers))
	for i, m := range markers {
		out = append(out, at.of(m))
		names[i], m.Name = m.Name, ""
	}
	text := s.String()
	for i, m := range markers {
		m.Name = names[i]
	}
	return text, out
}

func (l *LookUp) projection(columns []cql.Selector) *condition.Refusal {
	if len(columns) == 0 {
		for _, c := range l.Base.Columns {
			if c.Masked {
				return condition.Masks.Refuse("* includes %s, which is masked", c.Name)
			}
			if expands(c.Type) {
				return condition.Types.Refuse("* includes %s of type %s, which can not be carried as one value yet", c.Name, c.Type)
			}
		}
		return nil
	}
	statics, rows := "", false // what is selected: a static column, and one that each row has for itself
	for _, c := range columns {
		expr := c.Expr
		if call, ok := expr.(*cql.FunctionCall); ok {
			if call.Keyspace != "" || (call.Name != "writetime" && call.Name != "ttl") || len(call.Args) != 1 {
				return condition.Functions.Refuse("selects a function or aggregate: %s", call)
			}
			expr = call.Args[0]
		}
		ref, ok := expr.(*cql.ColumnRef)
		if !ok {
			return condition.Functions.Refuse("selects an expression: %s", c.Expr)
		}
		column := l.Base.Column(ref.Name)
		if column == nil {
			return condition.Schema.Refuse("selects %s, which the table did not have when the look-up was approved", ref.Name)
		}
		if column.Masked {
			return condition.Masks.Refuse("selects %s, which is masked", column.Name)
		}
		if expands(column.Type) {
			return condition.Types.Refuse("selects %s of type %s, which can not be carried as one value yet", column.Name, column.Type)
		}
		switch column.Kind {
		case schema.Static:
			statics = column.Name
		case schema.PartitionKey:
		default:
			rows = true
		}
	}
	if statics != "" && !rows {
		return condition.Statics.Refuse("selects the static column %s and none of the rows' own: Cassandra answers that with partitions, and refuses it for a row's whole key", statics)
	}
	return nil
}

// filters are the operators that Cassandra may evaluate on a regular column of one row.
var filters = map[cql.Op]bool{cql.OpEQ: true, cql.OpLT: true, cql.OpLE: true, cql.OpGT: true, cql.OpGE: true,
	cql.OpContains: true, cql.OpContainsKey: true}

// askedBy tells which of the columns that the look-up is asked by a relation gives the value of, -1 if none.
func (l *LookUp) askedBy(r *cql.Relation) int {
	if r.Op != cql.OpEQ || len(r.Columns) != 1 || r.Element != nil || r.Token || r.Tuple {
		return -1
	}
	return slices.IndexFunc(l.Asked, func(c schema.Column) bool { return c.Name == r.Columns[0] })
}

// relation checks one relation; it returns the marker, and of which column, if this is one that the look-up is asked by.
func (l *LookUp) relation(r *cql.Relation) (*cql.Marker, int, *condition.Refusal) {
	refuse := func(refusal *condition.Refusal) (*cql.Marker, int, *condition.Refusal) { return nil, -1, refusal }
	if r.Token {
		return refuse(condition.Limits.Refuse("token() is about the ring of the base"))
	}
	if len(r.Columns) != 1 || r.Tuple {
		return refuse(condition.Columns.Refuse("relation on several columns"))
	}
	column := l.Base.Column(r.Columns[0])
	if column == nil {
		return refuse(condition.Schema.Refuse("asks by %s, which the table did not have when the look-up was approved", r.Columns[0]))
	}
	if column.Masked {
		return refuse(condition.Masks.Refuse("asks by %s, which is masked", column.Name))
	}
	n := l.askedBy(r)
	switch {
	case column.Kind == schema.Static:
		return refuse(condition.Statics.Refuse("filters by the static column %s", column.Name))
	case n < 0 && (column.Kind == schema.PartitionKey || column.Kind == schema.Clustering):
		return refuse(condition.Columns.Refuse("restricts the key column %s, which can not be combined with a row's whole key", column.Name))
	}
	if n >= 0 {
		marker, ok := r.Value.(*cql.Marker)
		if !ok {
			return refuse(condition.Values.Refuse("the value of %s stands in the text in a form that only Cassandra reads: bind it", column.Name))
		}
		return marker, n, nil
	}
	if !filters[r.Op] {
		return refuse(condition.Columns.Refuse("operator %s on %s", r.Op, column.Name))
	}
	for _, t := range []cql.Term{r.Element, r.Value} {
		switch t.(type) {
		case nil, *cql.Marker, *cql.Literal:
		default:
			return refuse(condition.Functions.Refuse("%s is compared with an expression, which each sub-read would evaluate anew", column.Name))
		}
	}
	return nil, -1, nil
}

// Limit is the LIMIT of a request, math.MaxInt if it has none; ok is false if Cassandra would refuse it.
func (r *Read) Limit(value func(kind.Marker) (bytes []byte, set bool, ok bool)) (n int, ok bool) {
	switch limit := r.limit.(type) {
	case *cql.Literal:
		n, err := strconv.Atoi(limit.Text)
		return n, err == nil
	case *cql.Marker:
		m := kind.Marker{Index: limit.Index, Name: limit.Name}
		if m.Name == "" {
			m.Name = "[limit]" // as Cassandra calls it
		}
		v, set, ok := value(m)
		if !ok {
			return 0, false
		}
		if !set {
			return math.MaxInt, true
		}
		if len(v) != 4 {
			return 0, false
		}
		n := int32(binary.BigEndian.Uint32(v)) // #nosec G115 -- LIMIT is a signed int
		return int(n), n > 0
	}
	return math.MaxInt, true
}

// Check tells whether one of the approved statements, as its normalised text, can be answered.
func (l *LookUp) Check(text string) *condition.Refusal {
	st, err := cql.Parse(text)
	if err != nil {
		return condition.Columns.Refuse("it can not be read: %v", err)
	}
	_, refusal := l.CompileRead(st, l.Keyspace)
	return refusal
}

// Alone compiles those of the approved statements that bind nothing but the values they ask by.
func (l *LookUp) Alone() []*Read {
	var out []*Read
	for _, text := range l.Texts {
		st, err := cql.Parse(text)
		if err != nil {
			continue
		}
		if read, refusal := l.CompileRead(st, l.Keyspace); refusal == nil && len(read.All) == len(read.By) {
			out = append(out, read)
		}
	}
	return out
}
