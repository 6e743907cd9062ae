package cql

import "slices"

// Kind says what a statement does.
type Kind uint8

// The kinds of statement. The zero Kind belongs to no statement.
const (
	KindSelect Kind = iota + 1
	KindInsert
	KindUpdate
	KindDelete
	KindBatch
	KindUse
	KindTruncate
	KindDDL   // creates, alters or drops a keyspace, table, index, view, type, function, aggregate or trigger
	KindRole  // roles, users, identities and permissions
	KindOther // DESCRIBE
)

var kindNames = [...]string{"unknown", "select", "insert", "update", "delete", "batch", "use", "truncate", "ddl", "role", "other"}

// String returns the kind in lower case, "unknown" for a value that is none of the constants.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return kindNames[0]
	}
	return kindNames[k]
}

// Kinds are the names of all kinds, "unknown" first: a statement that could not be parsed has that.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// Statement is a parsed statement: *Select, *Insert, *Update, *Delete, *Batch, *Use, *Truncate; *CreateKeyspace, *CreateTable,
// *CreateType, *CreateIndex, *CreateView, *CreateFunction, *CreateAggregate, *CreateTrigger, *AlterKeyspace, *AlterTable,
// *AlterType, *AlterView, *Drop; *Role, *Grant, *GrantRole, *AddIdentity, *ListStatement; or *Describe.
type Statement interface {
	// Kind says what the statement does.
	Kind() Kind
	// String prints CQL that parses to an equal tree.
	String() string

	print(*printer)
}

// TableRef names a table. Names hold what Cassandra stores: an unquoted identifier is in lower case here, a quoted one
// as it was written. Keyspace is empty if the statement did not say.
type TableRef struct{ Keyspace, Table string }

// In returns the reference with keyspace filled in if it had none.
func (t TableRef) In(keyspace string) TableRef {
	if t.Keyspace == "" {
		t.Keyspace = keyspace
	}
	return t
}

// String prints the reference as CQL.
func (t TableRef) String() string {
	p := printer{}
	p.table(t)
	return p.String()
}

// Select is a SELECT statement.
type Select struct {
	Table             TableRef
	JSON, Distinct    bool
	Columns           []Selector // empty means *
	Where             []Relation
	GroupBy           []Expr
	OrderBy           []Ordering
	PerPartitionLimit Term // nil if absent
	Limit             Term // nil if absent
	AllowFiltering    bool
}

// Selector is one item of a selection, with its alias or "".
type Selector struct {
	Expr  Expr
	Alias string
}

// Ordering is one item of ORDER BY. ANN is the vector of "column ANN OF vector", nil otherwise.
type Ordering struct {
	Column     string
	ANN        Term
	Descending bool
}

// Op is the operator of a relation or condition.
type Op uint8

// The operators. OpBetween and the OpNot operators exist from Cassandra 5.1 on.
const (
	OpEQ Op = iota + 1
	OpLT
	OpLE
	OpGT
	OpGE
	OpNE
	OpIn
	OpNotIn
	OpContains
	OpContainsKey
	OpNotContains
	OpNotContainsKey
	OpLike
	OpBetween
	OpIsNotNull
	OpExpr // expr(index, value), a custom index expression
)

var opNames = [...]string{"?", "=", "<", "<=", ">", ">=", "!=", "IN", "NOT IN", "CONTAINS", "CONTAINS KEY",
	"NOT CONTAINS", "NOT CONTAINS KEY", "LIKE", "BETWEEN", "IS NOT NULL", "expr"}

// String returns the operator as CQL writes it.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return opNames[0]
	}
	return opNames[o]
}

// Relation is one restriction of a WHERE clause.
//
// Columns holds one column, or several for a multi-column relation or token(...), and none for OpExpr. Value is
// a *Tuple for OpIn and OpNotIn written as a list and for OpBetween (low, high), a *Marker for "IN ?", and nil for
// OpIsNotNull.
type Relation struct {
	Columns []string
	Op      Op
	Token   bool   // token(columns) op value
	Tuple   bool   // (columns) op value; implied by more than one column without Token
	Index   string // the index of OpExpr
	Element Term   // k of m[k] op value, else nil
	Value   Term
}

// Condition is one condition of IF: on a column, on an element of a collection or on a field of a user-defined type.
type Condition struct {
	Column  string
	Element Term   // nil if the condition is not on an element
	Field   string // "" if the condition is not on a field
	Op      Op
	Value   Term // as in Relation
}

// UsingOption is TTL or else TIMESTAMP, with its value.
type UsingOption struct {
	TTL   bool
	Value Term
}

// Using holds the USING options in the order of the text. One that is given again replaces the one before.
type Using []UsingOption

// Timestamp returns the timestamp, nil if none is given.
func (u Using) Timestamp() Term { return u.last(false) }

// TTL returns the time to live, nil if none is given.
func (u Using) TTL() Term { return u.last(true) }

func (u Using) last(ttl bool) (value Term) {
	for _, o := range u {
		if o.TTL == ttl {
			value = o.Value
		}
	}
	return value
}

// Insert is an INSERT statement: Columns and Values, or JSON. A server that prepares it refuses it if Columns and Values are
// not equally many; the grammar does not.
type Insert struct {
	Table        TableRef
	Columns      []string
	Values       []Term
	JSON         Term // *Literal of LiteralString or *Marker; nil for the VALUES form
	DefaultUnset bool // JSON ... DEFAULT UNSET
	IfNotExists  bool
	Using        Using
}

// AssignOp says what an assignment does to its column.
type AssignOp uint8

// The assignments.
const (
	AssignSet      AssignOp = iota + 1 // c = v, c[k] = v or c.f = v
	AssignAdd                          // c = c + v, also written c += v
	AssignSubtract                     // c = c - v, also written c -= v
	AssignPrepend                      // c = v + c
)

// Assignment is one item of an UPDATE's SET clause.
type Assignment struct {
	Column  string
	Op      AssignOp
	Element Term   // k of c[k] = v, else nil
	Field   string // f of c.f = v, else ""
	Value   Term
}

// Update is an UPDATE statement.
type Update struct {
	Table       TableRef
	Using       Using
	Assignments []Assignment
	Where       []Relation
	IfExists    bool
	Conditions  []Condition
}

// Deletion is one item a DELETE removes: a column, an element of it or a field of it.
type Deletion struct {
	Column  string
	Element Term
	Field   string
}

// Delete is a DELETE statement; without Columns it removes rows.
type Delete struct {
	Table      TableRef
	Columns    []Deletion
	Using      Using // Timestamp only
	Where      []Relation
	IfExists   bool
	Conditions []Condition
}

// BatchType is the kind of a batch.
type BatchType uint8

// The kinds of batch.
const (
	BatchLogged BatchType = iota
	BatchUnlogged
	BatchCounter
)

// Batch is BEGIN BATCH ... APPLY BATCH. Its statements are *Insert, *Update and *Delete.
type Batch struct {
	Type       BatchType
	Using      Using
	Statements []Statement
}

// Use is a USE statement.
type Use struct{ Keyspace string }

// Truncate is a TRUNCATE statement.
type Truncate struct{ Table TableRef }

// Kind returns KindSelect.
func (*Select) Kind() Kind { return KindSelect }

// Kind returns KindInsert.
func (*Insert) Kind() Kind { return KindInsert }

// Kind returns KindUpdate.
func (*Update) Kind() Kind { return KindUpdate }

// Kind returns KindDelete.
func (*Delete) Kind() Kind { return KindDelete }

// Kind returns KindBatch.
func (*Batch) Kind() Kind { return KindBatch }

// Kind returns KindUse.
func (*Use) Kind() Kind { return KindUse }

// Kind returns KindTruncate.
func (*Truncate) Kind() Kind { return KindTruncate }

// Term is a value or an expression: *Marker, *Literal, *FunctionCall, *Cast, *TypeCast, *Arithmetic, *Negation, *Tuple,
// *List, *Set, *Map or *UDT, and within a selection also *ColumnRef, *Field, *Element and *Slice.
type Term interface {
	// String prints the term as CQL.
	String() string

	print(*printer)
}

// Expr is a term in a selection, where it may refer to columns.
type Expr = Term

// Marker is a bind marker: "?", or ":name" if Name is not empty. Index counts the markers of the whole statement in the
// order of the text, from 0, so value Index of a request belongs to it.
type Marker struct {
	Name  string
	Index int
}

// LiteralKind is the kind of a constant as it was written; the type of its column decides what it means.
type LiteralKind uint8

// The kinds of constant.
const (
	LiteralNull LiteralKind = iota
	LiteralString
	LiteralInteger
	LiteralFloat // also NaN and Infinity
	LiteralBoolean
	LiteralDuration
	LiteralUUID
	LiteralBlob
)

// Literal is a constant. Text is what was written, but without quotes for a string, in lower case for a boolean, empty
// for null, and one of NaN, Infinity, -Infinity for those.
type Literal struct {
	Kind LiteralKind
	Text string
}

// ColumnRef refers to a column.
type ColumnRef struct{ Name string }

// FunctionCall calls a function, token(...), count(*), or in a selection writetime, maxwritetime and ttl.
type FunctionCall struct {
	Keyspace, Name string
	Args           []Term
	Star           bool // count(*)
	OfColumn       bool // writetime, maxwritetime or ttl of a column, an element or a field, which are no functions
}

// Cast is CAST(term AS type).
type Cast struct {
	Term Term
	Type Type
}

// TypeCast is a type hint, (type) term.
type TypeCast struct {
	Type Type
	Term Term
}

// Arithmetic is left op right, where Op is one of + - * / %.
type Arithmetic struct {
	Op          byte
	Left, Right Term
}

// Negation is a minus sign before a term; a negative number is a Literal instead.
type Negation struct{ Term Term }

// Tuple is (a, b); with one element also an expression in brackets, which CQL does not tell apart.
type Tuple struct{ Elements []Term }

// List is [a, b]: a list or a vector.
type List struct{ Elements []Term }

// Set is {a, b}. An empty map is written, and so read, as an empty set.
type Set struct{ Elements []Term }

// MapEntry is one entry of a map.
type MapEntry struct{ Key, Value Term }

// Map is {k: v}. In a selection, a value of a user-defined type is a map from *ColumnRef.
type Map struct{ Entries []MapEntry }

// FieldValue is one field of a value of a user-defined type.
type FieldValue struct {
	Name  string
	Value Term
}

// UDT is a value of a user-defined type, {field: v}.
type UDT struct{ Fields []FieldValue }

// Field is of.name.
type Field struct {
	Of   Expr
	Name string
}

// Element is of[key].
type Element struct {
	Of  Expr
	Key Term
}

// Slice is of[from .. to]; either bound, but not both, may be nil.
type Slice struct {
	Of       Expr
	From, To Term
}

// Type is a CQL type: a native type, list, set, map, tuple, vector or frozen with arguments, a user-defined type, or the
// class name of a custom one.
type Type struct {
	Keyspace   string // of a user-defined type, "" if unqualified
	Name       string
	UDT        bool // a user-defined type
	Custom     bool // Name is a Java class, written in quotes
	Args       []Type
	Dimensions string // of a vector
}
