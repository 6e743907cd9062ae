package workload

import (
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/model"
)

// Workload is what an application asks of its data.
type Workload struct {
	Name       string
	Notes      []string // where it comes from and what it means, for people
	Graph      *model.Graph
	Statements []*Statement
	Tables     []*model.Table // existing ones
	// Schemas are designs that the file names besides: tables that are not Existing, to plan on or to compare with.
	Schemas    map[string][]*model.Table
	Mixes      []string // names of the mixes that weights are given for; may be empty
	Mix        string   // the mix that Weight speaks of
	SpaceLimit float64  // bytes that new tables may take in all; 0: no limit
	// Interval is how long the time steps are, in which statements' weights differ: one for all, or one for each. Empty:
	// nobody said.
	Interval []time.Duration
	Safety   *Safety // nil: nobody said
	// Corrections are what people said about the model that it was inferred into, if it was: designs take them as they are.
	Corrections correction.List
	// Exported is a digest of all but the corrections, as it was when an inferred model was written: while it is true, nobody edited anything else. Empty: unknown.
	Exported string
}

// Statement is a conceptual statement. Either Query or Write is set.
type Statement struct {
	ID      string             // unique in the workload, short
	Weight  float64            // executions per second (or any other unit, the same for all)
	Weights map[string]float64 // per mix, if the workload has mixes
	Query   *Query
	Write   *Write
	// Steps are weights over time, one for each step of the workload's cycle, if it has one.
	Steps       []float64
	MixSteps    map[string][]float64 // Steps per mix, where the mixes have some
	Group       string               // statements of one request of the application, which share nothing; for people's eyes
	Transaction string               // statements with the same name here run together, and may share what they read
	Consistency string               // ONE, QUORUM and so on; "": the cost model's own
	Ceiling     float64              // latency not to be exceeded, milliseconds; 0: none
	// Only is, of a query of a statement that stays as it is written, the table that it names: it is read from there, or by what finds rows of that table
	// (model.Table.Base), and by nothing else, however well another table might answer it. nil: any table will do.
	Only *model.Table
	// ByHand, of a query that the application does by several statements of its own, are these: it may go on so. Empty: any plan will do.
	ByHand []Part
	// Sources are the fingerprints of the statements seen that it stands for.
	Sources []string
}

// Part is a statement that an application says in place of a query, and how often for one execution of it.
type Part struct {
	Statement *Statement
	Times     float64
}

// Op is a comparison.
type Op string

// The comparisons.
const (
	Equal          Op = "="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
	Less           Op = "<"
	LessOrEqual    Op = "<="
	NotEqual       Op = "!="   // never bound to a column: always a filter
	In             Op = "IN"   // an equality with each of several values
	Like           Op = "LIKE" // a prefix: a range on one column
)

// Predicate compares a field with a value that is known when the statement starts.
type Predicate struct {
	Field model.Field
	Op    Op
	Value string // "?", "?name" or a literal
	// Items is the mean number of values of IN; 0 for all other comparisons.
	Items float64
}

// Order is a part of ORDER BY.
type Order struct {
	Field model.Field
	Desc  bool
}

// Aggregate is a function over the rows of a group.
type Aggregate struct {
	Func  string      // count, sum, min, max or avg
	Field model.Field // zero: count(*)
}

// Query asks for fields of the rows of the join over its tree that satisfy all predicates. Duplicates are kept (bag
// semantics).
type Query struct {
	Tree    model.Tree // its first entity is where FROM starts
	Select  []model.Field
	Where   []Predicate
	OrderBy []Order
	Limit   int // 0: none
	// PerLimit is how many rows are kept of those with the same values in Per; 0: all.
	PerLimit   int
	Per        []model.Field
	Distinct   bool          // of rows that are the same in Select, one
	GroupBy    []model.Field // with Aggregates: one row for each combination of values
	Aggregates []Aggregate   // besides Select, which is then among GroupBy
	// Known are fields whose values the application knows besides, of the one entity that Where names by key or of what
	// that determines (the rest of a table's primary key, say). They may be used, but need not be checked.
	Known []model.Field
	// Returned is how many rows one execution was seen to return in the mean, LIMIT applied; 0: not known. It is believed before
	// any estimate.
	Returned float64
}

// WriteKind says what a write does.
type WriteKind string

// The kinds of writes.
const (
	Insert     WriteKind = "INSERT"
	Update     WriteKind = "UPDATE"
	Delete     WriteKind = "DELETE"
	Connect    WriteKind = "CONNECT"
	Disconnect WriteKind = "DISCONNECT"
)

// Connection relates the write's entity to another, of which the key is known.
type Connection struct {
	Edge   *model.Relationship
	Entity *model.Entity // the other end
}

// Write changes entities and relationships.
type Write struct {
	Kind   WriteKind
	Entity *model.Entity // inserted, updated, deleted, or the first named of CONNECT and DISCONNECT
	// Tree is what Where speaks of; it holds Entity. For INSERT, CONNECT and DISCONNECT it is Entity alone.
	Tree        model.Tree
	Set         []model.Field // INSERT and UPDATE: fields of Entity that get a value
	Increments  []model.Field // UPDATE: fields of Entity that are added to
	Where       []Predicate   // UPDATE and DELETE
	Connections []Connection  // CONNECT and DISCONNECT: one; INSERT: any number
	// Given are further fields whose values the application knows when it writes, such as the rest of a primary key.
	Given []model.Field
}

// IsWrite tells whether s changes data.
func (s *Statement) IsWrite() bool { return s.Write != nil }

// WeightIn is the weight in a mix; "" is the workload's own mix.
func (s *Statement) WeightIn(mix string) float64 {
	if w, ok := s.Weights[mix]; ok {
		return w
	}
	if len(s.Weights) > 0 && mix != "" {
		return 0
	}
	return s.Weight
}

// PartOf tells whether the statement is part of one of the mixes. A statement with weights by mix is part of those alone
// that it has a weight for, be that 0; one without is part of all.
func (s *Statement) PartOf(mixes ...string) bool {
	if len(s.Weights) == 0 || len(mixes) == 0 || len(mixes) == 1 && mixes[0] == "" {
		return true
	}
	for _, mix := range mixes {
		if _, ok := s.Weights[mix]; ok {
			return true
		}
	}
	return false
}

// In returns the workload with those statements alone that are part of one of the mixes, and the IDs of the others.
func (w *Workload) In(mixes ...string) (part *Workload, others []string) {
	own := *w
	own.Statements = nil
	for _, s := range w.Statements {
		if s.PartOf(mixes...) {
			own.Statements = append(own.Statements, s)
		} else {
			others = append(others, s.ID)
		}
	}
	return &own, others
}

// SetMix makes the weights of a mix the statements' weights.
func (w *Workload) SetMix(mix string) error {
	if !slices.Contains(w.Mixes, mix) {
		return &model.NameError{What: "mix", Name: mix, Known: w.Mixes}
	}
	for _, s := range w.Statements {
		s.Weight = s.WeightIn(mix)
		if len(s.MixSteps) > 0 {
			s.Steps = s.MixSteps[mix]
		}
	}
	w.Mix = mix
	return nil
}

// Statement returns the statement of that ID, or nil.
func (w *Workload) Statement(id string) *Statement {
	for _, s := range w.Statements {
		if s.ID == id {
			return s
		}
	}
	return nil
}
