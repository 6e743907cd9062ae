package safety

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Group is what several writers must not meet in.
type Group string

// The groups, from the largest on: the unit of lightweight transactions, counters and throughput; of an application's read,
// change and write; of a blind overwrite.
const (
	Partition Group = "partition"
	Row       Group = "row"
	Cell      Group = "cell"
)

// Groups are all of them.
var Groups = []Group{Partition, Row, Cell}

// Table is a table with who writes it, by names of columns only.
type Table struct {
	Name       string
	Partition  []string
	Clustering []string
	Static     []string
	Values     []string
	// Collections are in the rows. Whoever writes an element does not write the row.
	Collections []Collection
	Shard       string // the column of Partition that spreads writers, if there is one; "": none
	Shards      float64
	Writes      []TableWrite
	Facts       []Fact
	Partitions  float64 // 0: not known
	Bytes       float64 // of the whole table; 0: not known
	Load        *Load   // what was measured of the busiest group; nil: the workload's means are all there is

	// What was concluded of the writers, for people: what it rests on (what is safe is so only if that holds), who sends what, and
	// what was measured.
	If, Senders, Remarks []string
}

// Collection is a collection in the rows of a table: Column holds the keys of its elements.
type Collection struct{ Name, Column string }

// TableWrite is a template of writes to a table.
type TableWrite struct {
	ID     string
	Text   string // as people know it
	Owner  Term
	Key    map[string]Term // by key column; one that is missing means all of its values
	Sets   []string        // columns that get a value; nil: the row as a whole
	Of     string          // the collection that it writes an element of; "": it writes rows
	Delete bool
	Class  Class
	Rate   float64 // rows a second
}

// CQL writes the primary key: PRIMARY KEY ((a, b), c).
func (t *Table) CQL() string {
	quoted := func(names []string) string {
		list := make([]string, len(names))
		for i, n := range names {
			list[i] = model.Quote(n)
		}
		return strings.Join(list, ", ")
	}
	key := "(" + quoted(t.Partition) + ")"
	if len(t.Clustering) > 0 {
		key += ", " + quoted(t.Clustering)
	}
	return "PRIMARY KEY (" + key + ")"
}

// Grammar encodes the table with groups of a size.
func (t *Table) Grammar(group Group) *Grammar {
	g := &Grammar{Facts: t.Facts}
	key := slices.Concat(t.Partition, t.Clustering)
	static, row := t.Name+".static", t.Name+".row"
	production := func(kind string, params []string, body *Expr) {
		g.Productions = append(g.Productions, &Production{Kind: kind, Params: params, Body: body})
	}
	// The elements of a row, which are groups of their own where groups are cells.
	elements := Empty()
	for i, c := range t.Collections {
		one := Star(Child(row+"."+c.Name, varsOf(append(slices.Clone(key), c.Column))...))
		if elements = Seq(elements, one); i == 0 {
			elements = one
		}
		production(row+"."+c.Name, append(slices.Clone(key), c.Column), Empty())
	}
	cells := func(columns []string) []string {
		if len(columns) == 0 {
			return []string{"·"} // the row's own mark of life
		}
		return columns
	}
	switch group {
	case Partition:
		rows := Star(Child(row, varsOf(key)...))
		if len(t.Clustering) == 0 {
			rows = Option(rows.Parts[0])
		}
		body := rows
		if len(t.Static) > 0 {
			body = Seq(Option(Child(static, varsOf(t.Partition)...)), rows)
			production(static, t.Partition, Empty())
		}
		g.Root = Child(t.Name, varsOf(t.Partition)...)
		production(t.Name, t.Partition, body)
		production(row, key, elements)
	case Row:
		g.Root = Child(row, varsOf(key)...)
		if len(t.Static) > 0 {
			g.Root = Alt(g.Root, Child(static, varsOf(t.Partition)...))
			production(static, t.Partition, Empty())
		}
		production(row, key, elements)
	case Cell:
		g.Root = Alt()
		for _, c := range cells(t.Values) {
			g.Root.Parts = append(g.Root.Parts, Child(row+"."+c, varsOf(key)...))
			production(row+"."+c, key, Empty())
		}
		for _, c := range t.Collections {
			g.Root.Parts = append(g.Root.Parts, Child(row+"."+c.Name, varsOf(append(slices.Clone(key), c.Column))...))
		}
		for _, c := range t.Static {
			g.Root.Parts = append(g.Root.Parts, Child(static+"."+c, varsOf(t.Partition)...))
			production(static+"."+c, t.Partition, Empty())
		}
	}
	for _, w := range t.Writes {
		put := func(kind string, columns []string) {
			x := &Write{ID: w.ID, Delete: w.Delete, Owner: w.Owner, Kind: kind, Class: w.Class}
			for _, c := range columns {
				term, ok := w.Key[c]
				if !ok {
					term = Var("any " + c) // all rows of a prefix
				}
				x.Key = append(x.Key, term)
			}
			g.Writes = append(g.Writes, x)
		}
		if i := slices.IndexFunc(t.Collections, func(c Collection) bool { return c.Name == w.Of }); w.Of != "" && i >= 0 {
			put(row+"."+w.Of, append(slices.Clone(key), t.Collections[i].Column))
			continue
		}
		whole := w.Sets == nil
		var statics, values []string
		for _, c := range t.Static {
			if whole || slices.Contains(w.Sets, c) {
				statics = append(statics, c)
			}
		}
		for _, c := range t.Values {
			if whole || slices.Contains(w.Sets, c) {
				values = append(values, c)
			}
		}
		toRow := whole || len(values) > 0 || len(statics) == 0
		switch group {
		case Cell:
			if toRow && len(values) == 0 && len(t.Values) > 0 {
				break // a row without values touches no cell of another
			}
			if toRow {
				for _, c := range cells(values) {
					put(row+"."+c, key)
				}
			}
			for _, c := range statics {
				put(static+"."+c, t.Partition)
			}
		default:
			if toRow {
				put(row, key)
			}
			if rowOnly := whole && w.Delete && len(t.Clustering) > 0; len(statics) > 0 && !rowOnly {
				put(static, t.Partition)
			}
		}
	}
	return g
}

// Principal says who the writers are: the fields that name them, by the key of their entity.
type Principal struct {
	Entity *model.Entity
	// Guessed: no one said so; what is safe with it is safe only if it is right.
	Guessed bool
	Owners  map[string]Term // of statements by id, where they are known otherwise
}

// PrincipalOf is who writes by what a workload says, guessed where it does not.
func PrincipalOf(w *workload.Workload) (Principal, error) {
	p := Principal{Owners: map[string]Term{}}
	if s := w.Safety; s != nil {
		p.Entity = w.Graph.Entity(s.Principal)
		for id, owner := range s.Owners {
			if owner == "*" {
				p.Owners[id] = Anyone()
				continue
			}
			f, err := w.Graph.Field(owner)
			if err != nil {
				return p, fmt.Errorf("the owner of %s: %w", id, err)
			}
			p.Owners[id] = Var(f.String())
		}
	}
	if p.Entity == nil {
		p.Entity, p.Guessed = Guess(w.Graph), true
	}
	return p, nil
}

// roles are names of entities whose members write, in the order in which they are guessed.
var roles = []string{"user", "account", "member", "customer", "guest", "player", "client", "author", "person", "people", "reader", "subscriber"}

// Guess returns the entity whose members are most likely to be the writers, nil if the names say nothing.
func Guess(g *model.Graph) *model.Entity {
	for _, w := range roles {
		for _, e := range g.Entities {
			if name := strings.ToLower(e.Name); name == w || name == w+"s" {
				return e
			}
		}
	}
	return nil
}

// Role reports whether a table or an entity is called as writers are.
func Role(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(roles, func(w string) bool { return name == w || name == w+"s" })
}

// Encode makes tables with writes of a workload's tables. Columns keep their names. Who writes: the principal that the
// statement names by key, as the entity it writes, as a partner or in a condition; else the one that its entity has over
// to-one relationships, which is only probable; else anyone.
func Encode(w *workload.Workload, tables []*model.Table, p Principal) []*Table {
	var list []*Table
	for i, t := range tables {
		list = append(list, encodeTable(w, t, i, p))
	}
	return list
}

func encodeTable(w *workload.Workload, t *model.Table, n int, p Principal) *Table {
	columns := func(fields []model.Field) []string {
		var names []string
		for _, f := range fields {
			names = append(names, t.ColumnName(f))
		}
		return names
	}
	out := &Table{Name: t.Name, Partition: columns(t.Partition), Clustering: columns(t.Clustering), Static: columns(t.Static),
		Partitions: t.Partitions(), Bytes: t.Bytes()}
	if out.Name == "" {
		out.Name = fmt.Sprintf("table%d", n+1)
	}
	for _, f := range t.Values {
		if !slices.Contains(t.Static, f) {
			out.Values = append(out.Values, t.ColumnName(f))
		}
	}
	if b := t.Bucket; b != nil {
		out.Partition = append(out.Partition, t.BucketColumn())
		if b.Count > 1 {
			out.Shard, out.Shards = t.BucketColumn(), b.Count
		}
	}
	for _, f := range plan.Facets(t) {
		out.addFacet(w, t, f, p)
	}
	return out
}

// addFacet adds the writes to a table's rows, or to the elements of one of its collections.
func (t *Table) addFacet(w *workload.Workload, source *model.Table, f plan.Facet, p Principal) {
	name, of := source.ColumnName, ""
	if f.Nest != nil {
		of = source.NestColumn(f.Nest.Key)
		t.Collections = append(t.Collections, Collection{of, of + " key"})
		name = func(x model.Field) string {
			switch {
			case x == f.Nest.Key:
				return of + " key"
			case f.Nest.Holds(x):
				return source.NestColumn(x)
			}
			return source.ColumnName(x)
		}
	}
	add := func(more ...Fact) {
		for _, fact := range more {
			if !slices.ContainsFunc(t.Facts, func(g Fact) bool { return g.String() == fact.String() }) {
				t.Facts = append(t.Facts, fact)
			}
		}
	}
	add(factsOf(w.Graph, f.Table)...)
	for _, s := range w.Statements {
		if s.Write == nil || !plan.Modifies(s.Write, f.Table) {
			continue
		}
		for _, at := range plan.Targets(s.Write, f.Table) {
			x, fact := templateOf(w.Graph, s, at, f.Table, name, p)
			x.Of = of
			if x.Rate = s.Weight; len(plan.WriteSteps(s.Write, f.Table)) > 0 {
				x.Rate = s.Weight * plan.WriteSteps(s.Write, f.Table)[0].Requests
			}
			t.Writes = append(t.Writes, x)
			if fact != nil {
				add(*fact)
			}
		}
	}
}

// variableOf names the variable of a field: that of its entity's occurrence.
func variableOf(f model.Field) string { return f.String() }

// factsOf are what the model says of the table's rows: a key determines its entity's attributes, and the keys of its
// entity's partners over to-one relationships.
func factsOf(g *model.Graph, t *model.Table) []Fact {
	var list []Fact
	names := func(e *model.Entity) []string {
		var keys []string
		for _, f := range e.KeyFields() {
			keys = append(keys, variableOf(f))
		}
		return keys
	}
	for _, e := range t.Tree.Entities {
		key := names(e)
		for _, f := range t.Fields() {
			if f.Entity == e && !f.IsKey() {
				list = append(list, Fact{Name: f.String(), From: key, To: variableOf(f)})
			}
		}
		for _, r := range t.Tree.Edges {
			if other := r.Other(e); other != nil && r.ToOne(e) {
				list = append(list, partnerFacts(r, e, other, key)...)
			}
		}
		// Partners over relationships that the table does not hold: writes may connect to them.
		for _, r := range g.Edges(e.Base()) {
			if e == e.Base() && !t.Tree.HasEdge(r) && r.From != r.To && r.ToOne(e) {
				for _, f := range partnerFacts(r, e, r.Other(e), key) {
					f.To += " by " + r.Name
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// partnerFacts are the facts of a to-one relationship: the key of e, in variables, determines that of its partner.
func partnerFacts(r *model.Relationship, e, other *model.Entity, key []string) []Fact {
	var list []Fact
	for _, f := range other.KeyFields() {
		list = append(list, Fact{Name: partnerFunction(r, e, f), From: key, To: variableOf(f)})
	}
	return list
}

// partnerFunction names the function from an entity to a key of its partner.
func partnerFunction(r *model.Relationship, e *model.Entity, f model.Field) string {
	return r.Name + "." + r.Role(e) + "." + f.Attribute.Name
}

// templateOf is what a statement writes to a table, for one occurrence of its entity there, with the fact that its writer
// rests on if that is only probable.
func templateOf(g *model.Graph, s *workload.Statement, at *workload.Write, t *model.Table, column func(model.Field) string, p Principal) (TableWrite, *Fact) {
	x := TableWrite{ID: s.ID, Text: s.String(), Key: map[string]Term{}, Delete: at.Kind == workload.Delete || at.Kind == workload.Disconnect}
	for _, f := range t.Key() {
		x.Key[column(f)] = Var(variableOf(f))
	}
	if b := t.Bucket; b != nil {
		switch {
		case b.Of.IsZero():
			x.Key[t.BucketColumn()] = Const("0")
		default:
			x.Key[t.BucketColumn()] = Func("bucket", Var(variableOf(b.Of)))
		}
	}
	x.Class = Append
	if at.Kind == workload.Update {
		x.Class = Overwrite
		moved := false
		for _, f := range slices.Concat(at.Set, at.Increments) {
			if moved = moved || t.InKey(f); t.Has(f) {
				x.Sets = append(x.Sets, column(f))
			}
		}
		if len(at.Increments) > 0 {
			x.Class = Modify
			if slices.ContainsFunc(at.Increments, func(f model.Field) bool { return f.Attribute.Type == "counter" }) {
				x.Class = Counter
			}
		}
		if moved {
			x.Sets = nil // its rows are deleted and put again
		}
	}
	owner, fact := p.ownerOf(g, s, at, t)
	x.Owner = owner
	return x, fact
}

// ownerOf is who sends a statement.
func (p Principal) ownerOf(g *model.Graph, s *workload.Statement, at *workload.Write, t *model.Table) (Term, *Fact) {
	if o, ok := p.Owners[s.ID]; ok {
		return o, nil
	}
	e := p.Entity
	if e == nil {
		return Anyone(), nil
	}
	name := func(e *model.Entity, by string) Term { // by: not the one that the table holds
		keys := e.KeyFields()
		if len(keys) == 1 {
			return Var(variableOf(keys[0]) + by)
		}
		var args []Term
		for _, k := range keys {
			args = append(args, Var(variableOf(k)+by))
		}
		return Func("writer", args...)
	}
	if at.Entity.Base() == e {
		return name(at.Entity, ""), nil
	}
	for _, c := range at.Connections {
		if c.Entity.Base() == e {
			if !t.Tree.HasEdge(c.Edge) {
				return name(c.Entity, " by "+c.Edge.Name), nil
			}
			return name(c.Entity, ""), nil
		}
	}
	for _, f := range at.Given {
		if f.Entity.Base() == e && f.IsKey() {
			return name(f.Entity, ""), nil
		}
	}
	for _, c := range at.Where {
		if c.Op == workload.Equal && c.Field.Entity.Base() == e && c.Field.IsKey() {
			for _, r := range s.Write.Tree.Edges {
				if !t.Tree.HasEdge(r) {
					return name(c.Field.Entity, " of "+s.ID), nil // met another way than in the table
				}
			}
			return name(c.Field.Entity, ""), nil
		}
	}
	// No one says who: its own partner, probably.
	if !toOneReaches(g, at.Entity.Base(), e, 4) {
		return Anyone(), nil
	}
	var from []string
	for _, f := range at.Entity.KeyFields() {
		from = append(from, variableOf(f))
	}
	to := writerOf + s.ID
	called := e.Name + " of " + at.Entity.Name
	for _, r := range g.Edges(at.Entity.Base()) { // the same function as that of the model's fact
		if r.Other(at.Entity.Base()) == e && r.ToOne(at.Entity.Base()) && len(e.Key) == 1 {
			called = partnerFunction(r, at.Entity.Base(), e.KeyFields()[0])
		}
	}
	return Var(to), &Fact{Name: called, From: from, To: to, Probable: true}
}

// toOneReaches reports whether to-one relationships lead from an entity to another in so many steps.
func toOneReaches(g *model.Graph, from, to *model.Entity, steps int) bool {
	if from == to {
		return true
	}
	if steps == 0 {
		return false
	}
	return slices.ContainsFunc(g.Edges(from), func(r *model.Relationship) bool {
		return r.ToOne(from) && toOneReaches(g, r.Other(from), to, steps-1)
	})
}

// Name is that of the writers' entity, "" if there is none.
func (p Principal) Name() string {
	if p.Entity == nil {
		return ""
	}
	return p.Entity.Name
}
