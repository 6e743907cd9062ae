package schema

import (
	"sort"

	"github.com/helenus-db/helenus/capture/cql"
)

// Class says by which path a statement reaches its rows, from the cheapest to the dearest. Every statement has exactly one
// (Chebotko's access classes, told apart further).
type Class string

// The classes.
const (
	Row            Class = "row"             // the whole primary key is given
	Partition      Class = "partition"       // one partition, or a slice of it
	MultiPartition Class = "multi-partition" // a list of partitions
	IndexRead      Class = "index"           // a secondary index finds the rows, on all nodes
	Scan           Class = "scan"            // the table, or a token range of it, is read and filtered
	Unknown        Class = "unknown"         // no table of the schema, several, or not a statement on rows
)

// Access is how a statement reaches its rows.
type Access struct {
	Class     Class    `json:"class"`
	Keyspace  string   `json:"keyspace,omitempty"`
	Table     string   `json:"table,omitempty"`
	Equality  []string `json:"equality,omitempty"`  // columns that are to be equal to something, in the statement's order
	In        []string `json:"in,omitempty"`        // to be one of a list
	Range     []string `json:"range,omitempty"`     // compared by order, without token()
	Partition []string `json:"partition,omitempty"` // partition key columns given by = or IN, in key order
	UsesIndex string   `json:"uses_index,omitempty"`
	Token     bool     `json:"token,omitempty"`     // restricted by token()
	Filtering bool     `json:"filtering,omitempty"` // rows are read that do not belong to the answer
	// Projection is the columns that the answer is made from, in the statement's order; nil if all (SELECT *) or none.
	Projection []string `json:"projection,omitempty"`
}

// Classify says how a parsed statement reaches its rows when it is said while keyspace is in use. It is for one
// statement on one table; a batch is Unknown, its children are not.
func Classify(st cql.Statement, s *Schema, keyspace string) Access {
	var ref cql.TableRef
	var where []cql.Relation
	a := Access{Class: Unknown}
	switch x := st.(type) {
	case *cql.Select:
		ref, where = x.Table, x.Where
		a.Projection = projection(x.Columns)
	case *cql.Update:
		ref, where = x.Table, x.Where
	case *cql.Delete:
		ref, where = x.Table, x.Where
	case *cql.Insert:
		ref = x.Table
		for _, c := range x.Columns {
			where = append(where, cql.Relation{Columns: []string{c}, Op: cql.OpEQ})
		}
	default:
		return a
	}
	ref = ref.In(keyspace)
	a.Keyspace, a.Table = ref.Keyspace, ref.Table
	t := s.Table(ref.Keyspace, ref.Table)
	if t == nil {
		return a
	}
	if x, ok := st.(*cql.Insert); ok {
		keys := map[string]bool{}
		for _, c := range t.PrimaryKey() {
			keys[c.Name] = true
		}
		var kept []cql.Relation
		for _, w := range where {
			if keys[w.Columns[0]] {
				kept = append(kept, w)
			}
		}
		where = kept
		if x.JSON != nil {
			a.Class = Row // JSON must hold the whole key
			return a
		}
	}
	a.restrict(t, where)
	if x, ok := st.(*cql.Select); ok {
		a.filter(t, x)
	}
	return a
}

// given says how a column is restricted.
type given struct{ equal, in bool }

// restrict sorts the relations and finds the class.
func (a *Access) restrict(t *Table, where []cql.Relation) {
	by := map[string]given{}
	for _, w := range where {
		if w.Op == cql.OpExpr {
			a.UsesIndex = w.Index
			continue
		}
		if w.Token {
			a.Token = true
			continue
		}
		if w.Element != nil {
			continue
		}
		for _, c := range w.Columns {
			switch w.Op {
			case cql.OpEQ:
				a.Equality = append(a.Equality, c)
				by[c] = given{equal: true}
			case cql.OpIn:
				a.In = append(a.In, c)
				by[c] = given{in: true}
			case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE, cql.OpBetween:
				a.Range = append(a.Range, c)
			}
		}
	}
	list := false
	for _, c := range t.PartitionKey() {
		if g := by[c.Name]; g.equal || g.in {
			a.Partition = append(a.Partition, c.Name)
			list = list || g.in
		}
	}
	switch whole := len(a.Partition) == len(t.PartitionKey()); {
	case whole && list:
		a.Class = MultiPartition
	case whole:
		a.Class = Row
		for _, c := range t.ClusteringKey() {
			if !by[c.Name].equal {
				a.Class = Partition
			}
		}
	case a.UsesIndex != "":
		a.Class = IndexRead
	default:
		a.Class = Scan
		if x := usable(t, where); x != nil {
			a.Class, a.UsesIndex = IndexRead, x.Name
		}
	}
}

// IndexFor returns an index of the table by which a relation finds its rows, or nil: Cassandra's own, SASI or SAI.
func IndexFor(t *Table, w *cql.Relation) *Index { return usable(t, []cql.Relation{*w}) }

// usable returns the index that serves the earliest relation an index can serve.
func usable(t *Table, where []cql.Relation) *Index {
	for i := range where {
		w := &where[i]
		if w.Token || len(w.Columns) != 1 {
			continue
		}
		c := t.Column(w.Columns[0])
		for j := range t.Indexes {
			if x := &t.Indexes[j]; c != nil && x.Column == c.Name && x.servesRelation(c, w) {
				return x
			}
		}
	}
	return nil
}

// filter notes whether a SELECT reads rows that it then leaves out.
func (a *Access) filter(t *Table, s *cql.Select) {
	for _, o := range s.OrderBy {
		if o.ANN != nil {
			a.Class = IndexRead
			for _, x := range t.Indexes {
				if x.Column == o.Column {
					a.UsesIndex = x.Name
				}
			}
			return
		}
	}
	switch a.Class {
	case Scan:
		for _, w := range s.Where {
			a.Filtering = a.Filtering || !w.Token
		}
	case IndexRead, Partition, Row, MultiPartition:
		a.Filtering = s.AllowFiltering
	}
}

// projection lists the columns that selectors mention; nil for *.
func projection(selectors []cql.Selector) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range selectors {
		for _, c := range refs(s.Expr) {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

func refs(e cql.Term) []string {
	switch x := e.(type) {
	case *cql.ColumnRef:
		return []string{x.Name}
	case *cql.Field:
		return refs(x.Of)
	case *cql.Element:
		return refs(x.Of)
	case *cql.Slice:
		return refs(x.Of)
	case *cql.Cast:
		return refs(x.Term)
	case *cql.TypeCast:
		return refs(x.Term)
	case *cql.Negation:
		return refs(x.Term)
	case *cql.Arithmetic:
		return append(refs(x.Left), refs(x.Right)...)
	case *cql.FunctionCall:
		return all(x.Args)
	case *cql.Tuple:
		return all(x.Elements)
	case *cql.List:
		return all(x.Elements)
	case *cql.Set:
		return all(x.Elements)
	case *cql.Map:
		var out []string
		for _, entry := range x.Entries {
			if _, field := entry.Key.(*cql.ColumnRef); !field { // a name before the colon is a field's
				out = append(out, refs(entry.Key)...)
			}
			out = append(out, refs(entry.Value)...)
		}
		return out
	}
	return nil
}

func all(terms []cql.Term) []string {
	var out []string
	for _, t := range terms {
		out = append(out, refs(t)...)
	}
	return out
}

// Columns returns every column that the access path depends on (Equality, In and Range), sorted, each once.
func (a Access) Columns() []string {
	seen := map[string]bool{}
	var out []string
	for _, list := range [][]string{a.Equality, a.In, a.Range} {
		for _, c := range list {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	sort.Strings(out)
	return out
}
