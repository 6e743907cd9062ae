package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
)

// said is one statement of the traffic and what it means.
type said struct {
	statement *capture.Statement
	rate      float64 // executions per second
	source    *source
	query     *asked            // reads
	writes    []*workload.Write // writes; the first one is what the statement is counted as
	reason    string            // why it means nothing to the model; "" if it does
}

// asked is a read as a query over the model.
type asked struct {
	tree     model.Tree
	selected []model.Field
	where    []condition
	order    []workload.Order
	limit    int     // rows that it was answered with at most, of a statement with a LIMIT; 0: without one, or not seen
	returned float64 // rows of one execution in the mean, all its pages; 0: not seen
	limited  bool    // LIMIT
	each     bool    // PER PARTITION LIMIT
	perLimit int     // of a path: rows for each of per; 0: no limit
	per      []model.Field
	// lies is the order in which its rows come, if inOrder: those of one partition, sorted by its clustering columns.
	lies    []workload.Order
	inOrder bool
}

// condition is one relation of a read. A list (IN) has a meaning only if a feed supplies it.
type condition struct {
	workload.Predicate
	column string
	list   bool
}

// inexpressible is an error that says why a statement can not be expressed.
type inexpressible string

func (e inexpressible) Error() string { return string(e) }

// interpret expresses a statement over the model.
func (b *modeller) interpret(st *capture.Statement, rate float64) *said {
	s := &said{statement: st, rate: rate}
	parsed, err := st.Parse()
	switch {
	case st.Defines():
		s.reason = "neither reads nor writes rows (" + st.Kind + ")"
		return s
	case err != nil:
		s.reason = "Helenus can not parse it"
		return s
	case st.Errors >= st.Count:
		s.reason = "none of its executions succeeded"
		return s
	}
	var ref cql.TableRef
	switch x := parsed.(type) {
	case *cql.Select:
		ref = x.Table
	case *cql.Insert:
		ref = x.Table
	case *cql.Update:
		ref = x.Table
	case *cql.Delete:
		ref = x.Table
	case *cql.Batch:
		s.reason = "a batch: its statements are counted one by one"
		return s
	default:
		s.reason = "neither reads nor writes rows (" + parsed.Kind().String() + ")"
		return s
	}
	ref = ref.In(st.Keyspace)
	name := table{ref.Keyspace, ref.Table}
	if s.source = b.m.tables[name]; s.source == nil {
		if s.reason = b.opaque[name]; s.reason == "" {
			s.reason = fmt.Sprintf("table %s is not in the schema that was read", name)
			if schema.System(ref.Keyspace) {
				s.reason = driversOwn
			}
		}
		return s
	}
	if _, reads := parsed.(*cql.Select); s.source.view != nil && !reads {
		s.reason = "writes a materialised view, which Cassandra refuses"
		return s
	}
	switch x := parsed.(type) {
	case *cql.Select:
		if s.query, err = s.source.read(x); err == nil {
			s.query.returned = returned(st)
			if !s.query.inOrder && st.Rows.Count >= seen && st.Rows.P99() <= 1 { // one row is in any order
				s.query.lies, s.query.inOrder = nil, true
			}
		}
		if err == nil && x.Limit != nil {
			// The number is not kept, as no literal is: what the answers had is as much as the limit ever let through.
			s.query.limit, s.query.limited = roundest(st.Rows.P99()), true
		}
	case *cql.Insert:
		s.writes, err = s.source.insert(x)
	case *cql.Update:
		s.writes, err = s.source.update(x)
	case *cql.Delete:
		s.writes, err = s.source.remove(x)
	}
	if err != nil {
		s.reason = err.Error()
	}
	return s
}

// driversOwn is why statements on Cassandra's own tables are no part of the model.
const driversOwn = "it reads Cassandra's own tables, as drivers and tools do"

// roundest is the roundest whole number that a quantile of a histogram may stand for: people say LIMIT 200, not LIMIT 202.
func roundest(v float64) int {
	for _, step := range []float64{1000, 500, 100, 50, 10, 5} {
		if r := math.Round(v/step) * step; r > 0 && math.Abs(r-v) <= v*histogram.Error {
			return int(r)
		}
	}
	return int(math.Round(v))
}

// seen is how many answers of a statement say how many rows it returns.
const seen = 20

// none is what a statement returns of which all answers were empty: Query.Returned says with 0 that it is not known.
const none = 1e-3

// returned is how many rows an execution of a read returned in the mean, all its pages together; 0 if too few were seen.
func returned(st *capture.Statement) float64 {
	if st.Rows.Count < seen {
		return 0
	}
	whole := st.Rows.Count - min(st.Paged, st.Rows.Count-1) // following pages are executions too
	return max(none, float64(st.Rows.Sum)/float64(whole))
}

// tree is the part of the graph that fields of the table are on: its entity, and those whose keys are among them.
func (s *source) tree(fields []model.Field) (model.Tree, error) {
	var edges []*model.Relationship
	for _, r := range s.edges {
		if s.base.linked && r == s.edges[0] { // the pair
			edges = append(edges, r)
			continue
		}
		for _, f := range fields {
			if s.base.linked && f.Entity == r.To || !s.base.linked && f.Entity == r.Other(s.entity) {
				edges = append(edges, r)
				break
			}
		}
	}
	return model.NewTree(s.entity, edges...)
}

// field is the field of a column.
func (s *source) field(column string) (model.Field, error) {
	if f, ok := s.fields[column]; ok {
		return f, nil
	}
	return model.Field{}, inexpressible(fmt.Sprintf("column %s is not in the schema that was read", column))
}

// read expresses a SELECT.
func (s *source) read(x *cql.Select) (*asked, error) {
	switch {
	case x.JSON:
		return nil, inexpressible("SELECT JSON: the answer is built by Cassandra")
	case x.Distinct:
		return nil, inexpressible("SELECT DISTINCT reads partitions, not rows")
	case len(x.GroupBy) > 0:
		return nil, inexpressible("GROUP BY: an aggregate")
	case len(x.Where) == 0:
		return nil, inexpressible("reads the whole table")
	}
	q := &asked{}
	if len(x.Columns) == 0 {
		for _, c := range s.schema.Columns {
			q.selected = append(q.selected, s.fields[c.Name])
		}
	}
	for _, c := range x.Columns {
		ref, ok := c.Expr.(*cql.ColumnRef)
		if !ok {
			return nil, inexpressible("computes " + c.Expr.String() + " in Cassandra")
		}
		f, err := s.field(ref.Name)
		if err != nil {
			return nil, err
		}
		q.selected = append(q.selected, f)
	}
	q.selected = unique(q.selected)
	equality := false
	where := oneByOne(x.Where)
	for i := range where {
		c, err := s.condition(&where[i])
		if err != nil {
			return nil, err
		}
		equality = equality || c.Op == workload.Equal
		q.where = append(q.where, c)
	}
	if !equality {
		return nil, inexpressible("asks for a range only, nothing by equality")
	}
	for _, o := range x.OrderBy {
		if o.ANN != nil {
			return nil, inexpressible("a vector search")
		}
		f, err := s.field(o.Column)
		if err != nil {
			return nil, err
		}
		q.order = append(q.order, workload.Order{Field: f}) // tables are read in either direction
	}
	q.each = x.PerPartitionLimit != nil
	var err error
	if q.tree, err = s.tree(q.fields()); err == nil {
		q.lies, q.inOrder = s.lies(x, q.tree)
	}
	return q, err
}

// lies says in which order rows of an answer come. ok is false where none is promised, or it is by what the query does not speak of.
func (s *source) lies(x *cql.Select, tree model.Tree) (order []workload.Order, ok bool) {
	given := map[string]bool{}
	for _, w := range oneByOne(x.Where) {
		if w.Op == cql.OpEQ && len(w.Columns) == 1 {
			given[w.Columns[0]] = true
		}
	}
	for _, c := range s.schema.PartitionKey() {
		if !given[c.Name] {
			return nil, false
		}
	}
	reverse := false
	for _, o := range x.OrderBy {
		if c := s.schema.Column(o.Column); c != nil && !given[o.Column] {
			reverse = c.Descending != o.Descending
			break
		}
	}
	for _, c := range s.schema.ClusteringKey() {
		f := s.fields[c.Name]
		switch {
		case given[c.Name]:
		case f.IsZero() || !tree.Has(f.Entity):
			return nil, false
		default:
			order = append(order, workload.Order{Field: f, Desc: c.Descending != reverse})
		}
	}
	return order, true
}

// fields lists all that the query speaks of.
func (q *asked) fields() []model.Field {
	all := append([]model.Field(nil), q.selected...)
	for _, o := range q.order {
		all = append(all, o.Field)
	}
	for _, c := range q.where {
		all = append(all, c.Field)
	}
	return all
}

// query is q in the conceptual language.
func (q *asked) query() *workload.Query {
	if q.limited && q.inOrder { // which rows come first is what the statement means
		q = &asked{tree: q.tree, selected: q.selected, where: q.where, order: q.lies, limit: q.limit, returned: q.returned, perLimit: q.perLimit, per: q.per}
	}
	out := &workload.Query{Tree: q.tree, Select: q.selected, OrderBy: q.order, Limit: q.limit, PerLimit: q.perLimit, Per: q.per, Returned: q.returned}
	for _, c := range q.where {
		out.Where = append(out.Where, c.Predicate)
	}
	return out
}

// lists tells whether q has a condition that has a meaning only in a join.
func (q *asked) lists() bool {
	for _, c := range q.where {
		if c.list {
			return true
		}
	}
	return false
}

var comparisons = map[cql.Op]workload.Op{
	cql.OpEQ: workload.Equal, cql.OpIn: workload.Equal, cql.OpLT: workload.Less, cql.OpLE: workload.LessOrEqual,
	cql.OpGT: workload.Greater, cql.OpGE: workload.GreaterOrEqual,
}

// oneByOne says of several columns at once one by one: (a, b) = ? is both, and (a, b) IN ? lists of both, which have a meaning only where both are supplied.
func oneByOne(where []cql.Relation) (out []cql.Relation) {
	for _, w := range where {
		if !w.Tuple && len(w.Columns) < 2 || w.Token || w.Op != cql.OpEQ && w.Op != cql.OpIn {
			out = append(out, w)
			continue
		}
		for _, c := range w.Columns {
			out = append(out, cql.Relation{Columns: []string{c}, Op: w.Op, Value: w.Value})
		}
	}
	return out
}

// condition expresses one relation.
func (s *source) condition(r *cql.Relation) (condition, error) {
	switch {
	case r.Token:
		return condition{}, inexpressible("a scan by token ranges")
	case r.Op == cql.OpExpr:
		return condition{}, inexpressible("an expression of a custom index")
	case r.Element != nil || len(r.Columns) != 1 || r.Tuple:
		return condition{}, inexpressible("compares elements of a collection, or several columns at once")
	}
	op, ok := comparisons[r.Op]
	if !ok {
		return condition{}, inexpressible("the conceptual language has no " + r.Op.String())
	}
	f, err := s.field(r.Columns[0])
	if err != nil {
		return condition{}, err
	}
	return condition{Predicate: workload.Predicate{Field: f, Op: op, Value: "?"}, column: r.Columns[0], list: r.Op == cql.OpIn}, nil
}

// insert expresses an INSERT: of an entity and its connections, or, into a table of pairs, a connection.
func (s *source) insert(x *cql.Insert) ([]*workload.Write, error) {
	if x.JSON != nil {
		return nil, inexpressible("INSERT JSON: its columns are not known before it runs")
	}
	if s.base.linked {
		return s.pairs(workload.Connect), nil
	}
	w := &workload.Write{Kind: workload.Insert, Entity: s.entity, Tree: model.Tree{Entities: []*model.Entity{s.entity}}}
	for _, c := range x.Columns {
		f, err := s.field(c)
		if err != nil {
			return nil, err
		}
		if f.Entity == s.entity {
			w.Set = append(w.Set, f)
			continue
		}
		if c := s.connection(f); !slices.Contains(w.Connections, c) {
			w.Connections = append(w.Connections, c)
		}
		if own, ok := s.ownKey(c); ok {
			w.Set = append(w.Set, own)
		}
	}
	w.Set = unique(w.Set)
	for _, k := range s.entity.KeyFields() {
		if !has(w.Set, k) {
			return nil, inexpressible("sets static columns only")
		}
	}
	return []*workload.Write{w}, nil
}

// update expresses an UPDATE: of attributes, of connections, or of both.
func (s *source) update(x *cql.Update) ([]*workload.Write, error) {
	if s.base.linked {
		return nil, inexpressible("updates what a table of pairs repeats of what they are of")
	}
	var columns []string
	for _, a := range x.Assignments {
		columns = append(columns, a.Column)
	}
	writes, err := s.change(x.Where, columns, workload.Connect)
	if err == nil && s.schema.Counter {
		writes[0].Set, writes[0].Increments = nil, writes[0].Set // there is no other way to change a counter
	}
	return writes, err
}

// change expresses what happens to columns of one row: attributes are updated, relationships connected or disconnected.
func (s *source) change(at []cql.Relation, columns []string, relate workload.WriteKind) ([]*workload.Write, error) {
	var ofPartner []*workload.Write
	for _, c := range columns {
		if f, err := s.field(c); err == nil && f.Entity != s.entity && !f.IsKey() {
			ofPartner = append(ofPartner, s.writeOf(f, at))
		}
	}
	if len(ofPartner) > 0 && len(ofPartner) == len(columns) { // no row has to be named
		return ofPartner, nil
	}
	where, given, err := s.row(at)
	if err != nil {
		return nil, err
	}
	update := &workload.Write{Kind: workload.Update, Entity: s.entity, Tree: model.Tree{Entities: []*model.Entity{s.entity}}, Where: where, Given: given}
	var connects []*workload.Write
	for _, c := range columns {
		f, err := s.field(c)
		switch {
		case err != nil:
			return nil, err
		case f.Entity == s.entity:
			update.Set = append(update.Set, f)
		case !f.IsKey(): // a static column says something of what the partition is of
		default:
			connects = append(connects, s.write(relate, f, given))
		}
	}
	update.Set, connects = unique(update.Set), append(connects, ofPartner...)
	if len(update.Set) == 0 {
		return connects, nil
	}
	return append([]*workload.Write{update}, connects...), nil
}

// remove expresses a DELETE of rows or columns.
func (s *source) remove(x *cql.Delete) ([]*workload.Write, error) {
	if len(x.Columns) == 0 {
		if s.base.linked {
			return s.pairs(workload.Disconnect), nil
		}
		return s.removeRows(x)
	}
	var columns []string
	for _, d := range x.Columns {
		columns = append(columns, d.Column)
	}
	return s.change(x.Where, columns, workload.Disconnect)
}

// removeRows expresses a DELETE of a row, a range or a partition.
func (s *source) removeRows(x *cql.Delete) ([]*workload.Write, error) {
	w := &workload.Write{Kind: workload.Delete, Entity: s.entity}
	if where, given, err := s.row(x.Where); err == nil {
		w.Where, w.Given, w.Tree = where, given, model.Tree{Entities: []*model.Entity{s.entity}}
		return []*workload.Write{w}, nil
	}
	var fields []model.Field
	for _, relation := range oneByOne(x.Where) {
		c, err := s.condition(&relation)
		if err != nil {
			return nil, err
		}
		if c.list {
			return nil, inexpressible("deletes a list of rows")
		}
		w.Where = append(w.Where, c.Predicate)
		fields = append(fields, c.Field)
	}
	var err error
	w.Tree, err = s.tree(fields)
	return []*workload.Write{w}, err
}

// row expresses the WHERE clause of a write of one row: the entity's key, and what else of the primary key is given.
func (s *source) row(where []cql.Relation) (key []workload.Predicate, given []model.Field, err error) {
	bound := map[string]bool{}
	var whole []workload.Predicate
	for _, relation := range oneByOne(where) {
		c, err := s.condition(&relation)
		if err != nil {
			return nil, nil, err
		}
		if c.list || c.Op != workload.Equal {
			return nil, nil, inexpressible("writes several rows at once")
		}
		bound[c.column] = true
		own, copied := s.ownKey(c.column)
		switch {
		case c.Field.Entity == s.entity && c.Field.IsKey():
			key = append(key, c.Predicate)
			continue
		case copied:
			key = append(key, workload.Predicate{Field: own, Op: workload.Equal, Value: c.Value})
		}
		given = append(given, c.Field)
		whole = append(whole, c.Predicate)
	}
	for _, c := range s.schema.PrimaryKey() {
		if !bound[c.Name] {
			return nil, nil, inexpressible("writes static columns, or several rows at once")
		}
	}
	if len(key) < len(s.entity.Key) { // of a copy by something else: what it is asked by finds the row
		for _, p := range whole {
			if p.Field.Entity != s.entity {
				return nil, nil, inexpressible("names a row of a copy without the key of what it is")
			}
		}
		return append(key, whole...), nil, nil
	}
	return key, given, nil
}

// ownKey is the entity's own key attribute that is a copy of the partner's key that a column holds.
func (s *source) ownKey(column string) (model.Field, bool) {
	if s.base != s {
		column = s.copied.columns[column]
	}
	if s.base.held[column] == nil {
		return model.Field{}, false
	}
	f, ok := s.base.own[column]
	return f, ok
}

func (s *source) connection(f model.Field) workload.Connection {
	for _, r := range s.edges {
		if r.Other(s.entity) == f.Entity {
			return workload.Connection{Edge: r.Base(), Entity: f.Entity.Base()}
		}
	}
	return workload.Connection{}
}

func (s *source) write(kind workload.WriteKind, f model.Field, given []model.Field) *workload.Write {
	return &workload.Write{
		Kind: kind, Entity: s.entity, Tree: model.Tree{Entities: []*model.Entity{s.entity}},
		Connections: []workload.Connection{s.connection(f)}, Given: given,
	}
}

// writeOf is an update of what a table says of a partner.
func (s *source) writeOf(f model.Field, at []cql.Relation) *workload.Write {
	of := f.Entity.Base()
	w := &workload.Write{Kind: workload.Update, Entity: of, Tree: model.Tree{Entities: []*model.Entity{of}}, Set: []model.Field{{Entity: of, Attribute: f.Attribute}}}
	for _, relation := range oneByOne(at) {
		if c, err := s.condition(&relation); err == nil && c.Field.Entity == f.Entity && c.Field.IsKey() {
			c.Field.Entity = of
			w.Where = append(w.Where, c.Predicate)
		}
	}
	return w
}

// pairs writes to a table that holds an m:n relationship.
func (s *source) pairs(kind workload.WriteKind) []*workload.Write {
	r := s.edges[0].Base()
	return []*workload.Write{{
		Kind: kind, Entity: r.From, Tree: model.Tree{Entities: []*model.Entity{r.From}},
		Connections: []workload.Connection{{Edge: r, Entity: r.To}},
	}}
}

// digest shortens a fingerprint for IDs.
func digest(fingerprint string) string {
	if len(fingerprint) > 8 {
		fingerprint = fingerprint[:8]
	}
	return strings.ToLower(fingerprint)
}

func unique(fields []model.Field) []model.Field {
	out := fields[:0:0]
	for _, f := range fields {
		if !has(out, f) {
			out = append(out, f)
		}
	}
	return out
}

func has(fields []model.Field, f model.Field) bool {
	for _, x := range fields {
		if x == f {
			return true
		}
	}
	return false
}

// filters tells whether a statement reads its table with ALLOW FILTERING.
func filters(st *capture.Statement, s *schema.Schema) (table, bool) {
	parsed, err := st.Parse()
	if err != nil {
		return table{}, false
	}
	a := schema.Classify(parsed, s, st.Keyspace)
	return table{a.Keyspace, a.Table}, a.Class == schema.Scan && a.Filtering
}
