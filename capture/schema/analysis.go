package schema

import "github.com/helenus-db/helenus/capture/cql"

// Comparison says how a statement restricts a column.
type Comparison string

// The comparisons.
const (
	ByEquality    Comparison = "equality"
	ByList        Comparison = "in"
	ByRange       Comparison = "range"
	ByToken       Comparison = "token"
	ByContains    Comparison = "contains"
	ByContainsKey Comparison = "contains key"
	ByLike        Comparison = "like"
	ByNeighbours  Comparison = "ann"
	ByExpression  Comparison = "expr"  // of a custom index, which is in Column
	ByOther       Comparison = "other" // !=, IS NOT NULL and the NOT operators, which no server up to 5.0 takes in a SELECT
)

var comparisons = map[cql.Op]Comparison{
	cql.OpEQ: ByEquality, cql.OpIn: ByList, cql.OpLT: ByRange, cql.OpLE: ByRange, cql.OpGT: ByRange, cql.OpGE: ByRange, cql.OpBetween: ByRange,
	cql.OpContains: ByContains, cql.OpContainsKey: ByContainsKey, cql.OpLike: ByLike, cql.OpExpr: ByExpression,
}

// Predicate is what a statement says of one column. A relation on a row of columns gives one for each.
type Predicate struct {
	Column     string     `json:"column"`
	Role       ColumnKind `json:"role,omitempty"` // empty if the table has no such column
	Comparison Comparison `json:"comparison"`
	Element    bool       `json:"element,omitempty"` // of an element of the collection
}

// Order is one column of ORDER BY.
type Order struct {
	Column     string `json:"column"`
	Descending bool   `json:"descending,omitempty"`
}

// Analysis is all that a statement and the schema say together.
type Analysis struct {
	Access
	Predicates          []Predicate `json:"predicates,omitempty"`
	Order               []Order     `json:"order,omitempty"`
	Limited             bool        `json:"limited,omitempty"`
	LimitedPerPartition bool        `json:"limited_per_partition,omitempty"`
	// AllowFiltering is what a server makes of a SELECT with and without it; empty for other statements and unknown tables.
	AllowFiltering Filtering  `json:"allow_filtering,omitempty"`
	Refused        string     `json:"refused,omitempty"` // why, if AllowFiltering is FilteringRefused
	Conditional    bool       `json:"conditional,omitempty"`
	Idempotent     bool       `json:"idempotent"`
	Children       []Analysis `json:"children,omitempty"` // of a batch
}

// Analyse says how a statement reaches its rows and what becomes of them. Unlike Classify it gives a batch a class: that of
// its statements if they are on one partition as their literals say, otherwise MultiPartition.
func Analyse(st cql.Statement, s *Schema, keyspace string) Analysis {
	a := Analysis{Access: Classify(st, s, keyspace), Conditional: cql.Conditional(st)}
	t := s.Table(a.Keyspace, a.Table)
	a.Idempotent = idempotent(st, t)
	switch x := st.(type) {
	case *cql.Batch:
		a.batch(x, s, keyspace)
	case *cql.Select:
		a.predicates(x.Where, t)
		for _, o := range x.OrderBy {
			if o.ANN != nil {
				a.Predicates = append(a.Predicates, Predicate{Column: o.Column, Role: roleOf(t, o.Column), Comparison: ByNeighbours})
				continue
			}
			a.Order = append(a.Order, Order{o.Column, o.Descending})
		}
		a.Limited, a.LimitedPerPartition = x.Limit != nil, x.PerPartitionLimit != nil
		if t != nil {
			a.AllowFiltering, a.Refused = VerdictOf(t, x)
		}
	case *cql.Update:
		a.predicates(x.Where, t)
	case *cql.Delete:
		a.predicates(x.Where, t)
	case *cql.Insert:
		for _, c := range a.Equality {
			a.Predicates = append(a.Predicates, Predicate{Column: c, Role: roleOf(t, c), Comparison: ByEquality})
		}
	}
	return a
}

func roleOf(t *Table, column string) ColumnKind {
	if t != nil {
		if c := t.Column(column); c != nil {
			return c.Kind
		}
	}
	return ""
}

func (a *Analysis) predicates(where []cql.Relation, t *Table) {
	for i := range where {
		w := &where[i]
		by, ok := comparisons[w.Op]
		switch {
		case !ok:
			by = ByOther
		case w.Token:
			by = ByToken
		case w.Op == cql.OpExpr:
			a.Predicates = append(a.Predicates, Predicate{Column: w.Index, Comparison: by})
		}
		for _, c := range w.Columns {
			a.Predicates = append(a.Predicates, Predicate{Column: c, Role: roleOf(t, c), Comparison: by, Element: w.Element != nil})
		}
	}
}

// batch gives a batch its class and its children.
func (a *Analysis) batch(b *cql.Batch, s *Schema, keyspace string) {
	partition, same := "", true
	a.Idempotent = b.Type != cql.BatchCounter
	for i, child := range b.Statements {
		c := Analyse(child, s, keyspace)
		a.Children = append(a.Children, c)
		a.Idempotent = a.Idempotent && c.Idempotent
		p := partitionOf(child, s.Table(c.Keyspace, c.Table))
		same = same && p != "" && (i == 0 || p == partition)
		partition = p
	}
	switch {
	case len(a.Children) == 0:
	case len(a.Children) == 1:
		a.Access = a.Children[0].Access
	case same:
		a.Class, a.Keyspace, a.Table = Partition, a.Children[0].Keyspace, a.Children[0].Table
	default:
		a.Class = MultiPartition
	}
	for i := range a.Children {
		if a.Children[i].Class == Unknown {
			a.Class = Unknown
		}
	}
}

// partitionOf writes the table and the values of the partition key of a write, "" unless they are all given as literals.
func partitionOf(st cql.Statement, t *Table) string {
	if t == nil {
		return ""
	}
	values := map[string]cql.Term{}
	relations := func(where []cql.Relation) {
		for _, w := range where {
			if w.Op == cql.OpEQ && !w.Token && w.Element == nil && len(w.Columns) == 1 {
				values[w.Columns[0]] = w.Value
			}
		}
	}
	switch x := st.(type) {
	case *cql.Insert:
		for i, c := range x.Columns {
			if i < len(x.Values) {
				values[c] = x.Values[i]
			}
		}
	case *cql.Update:
		relations(x.Where)
	case *cql.Delete:
		relations(x.Where)
	}
	key := t.Keyspace + "." + t.Name
	for _, c := range t.PartitionKey() {
		l, ok := values[c.Name].(*cql.Literal)
		if !ok {
			return ""
		}
		key += " " + l.String()
	}
	return key
}

// idempotent reports whether a statement that is sent twice does what it does sent once: it is not conditional, it calls no
// function whose value may differ, it counts nothing and does not add to or take by place from a list. The table, which may
// be nil, says which columns are lists and counters; what is not known is taken for the worse.
func idempotent(st cql.Statement, t *Table) bool {
	if cql.Conditional(st) {
		return false
	}
	sure := true
	cql.Walk(st, func(term cql.Term) bool {
		if call, ok := term.(*cql.FunctionCall); ok && !call.OfColumn && !steady[call.Name] {
			sure = false
		}
		return sure
	})
	switch x := st.(type) {
	case *cql.Select, *cql.Use, *cql.Describe, *cql.ListStatement:
		return true
	case *cql.Insert:
		return sure
	case *cql.Update:
		for _, a := range x.Assignments {
			sure = sure && (a.Op == cql.AssignSet || isCollection(t, a.Column, "set", "map"))
		}
		return sure
	case *cql.Delete:
		for _, d := range x.Columns {
			sure = sure && (d.Element == nil || isCollection(t, d.Column, "set", "map"))
		}
		return sure
	case *cql.Batch:
		return false // Analyse knows the children's tables
	}
	return false
}

// steady are the functions that give the same for the same.
var steady = map[string]bool{"token": true, "mintimeuuid": true, "maxtimeuuid": true, "blobasint": true, "intasblob": true, "blobastext": true,
	"textasblob": true, "blobasbigint": true, "bigintasblob": true, "todate": true, "totimestamp": true, "tounixtimestamp": true}

func isCollection(t *Table, column string, kinds ...string) bool {
	if t == nil {
		return false
	}
	c := t.Column(column)
	for _, k := range kinds {
		if c != nil && collectionOf(c.Type) == k {
			return true
		}
	}
	return false
}

// Pattern names the access pattern of a class as data models know it: one partition for a query is the aim, several are
// bearable, the rest is to be modelled away.
func (c Class) Pattern() string {
	switch c {
	case Row, Partition:
		return "partition-per-query"
	case MultiPartition:
		return "partition+-per-query"
	case IndexRead:
		return "index"
	case Scan:
		return "table scan"
	}
	return "none"
}
