package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/trial/memory"
)

// Copy is a table made of the rows of another: columns of the same name hold the same. A row with a null in the copy's key is not in it.
type Copy struct {
	Of, In  *schema.Table
	Element *Element // nil: one row for each row
	Bucket  *Bucket  // nil: none
}

// Element is a column of the copy that has one element of a collection of the other: a row for each.
type Element struct{ Column, As string }

// Bucket is a column of the copy's partition key: a hash of columns modulo a count.
type Bucket struct {
	Column string
	Count  int
	By     []string
}

// Upkeep is what a write of the application takes, the write itself among it.
type Upkeep struct {
	Statement string `json:"statement"` // the application's, its values named
	Steps     []Step `json:"steps"`

	write cql.Statement     // as it is written
	names map[string]string // of values, to the keys of the statement's own markers
	fixed memory.Args       // values that are written in the statement
	count int
}

// Step is one statement of an Upkeep.
type Step struct {
	When string `json:"when"`
	CQL  string `json:"cql"`

	kind kind
}

type kind uint8

const (
	before  kind = iota // rows read before the write, as :old_
	itself              // the write
	after               // rows read after it, as :new_
	drop                // for each old row, unless a new one has its key in the copy
	none                // where no new row was read
	put                 // for each new row
	instead             // in place of the write
	buckets             // in place of the write, for each bucket
)

// ttl tells whether a write has a time to live.
func ttl(write cql.Statement) bool {
	switch x := write.(type) {
	case *cql.Insert:
		return x.Using.TTL() != nil
	case *cql.Update:
		return x.Using.TTL() != nil
	}
	return false
}

// Expires tells whether rows of the base expire, by a time to live of the table or of one of the writes.
func Expires(t *schema.Table, writes []cql.Statement) bool {
	return t.DefaultTTL > 0 || slices.ContainsFunc(writes, ttl)
}

// On is the table that a write is on, and whether it is one.
func On(write cql.Statement) (cql.TableRef, bool) {
	switch x := write.(type) {
	case *cql.Insert:
		return x.Table, true
	case *cql.Update:
		return x.Table, true
	case *cql.Delete:
		return x.Table, true
	}
	return cql.TableRef{}, false
}

// Fresh are the key columns of the copy that are not of the base's key, by their names in the base: statements change them.
func (c *Copy) Fresh() []string {
	var out []string
	for _, k := range c.In.PrimaryKey() {
		if c.bucket(k.Name) {
			continue
		}
		if !inKey(c.Of, c.source(k.Name)) {
			out = append(out, c.source(k.Name))
		}
	}
	return out
}

// NeverEmpty is the column that may be empty in the base and not in the copy, where it is the whole partition key; "" if there is none.
func (c *Copy) NeverEmpty() string {
	key := c.In.PartitionKey()
	if len(key) != 1 {
		return ""
	}
	of := c.Of.PartitionKey()
	switch k := key[0]; {
	case len(of) == 1 && of[0].Name == k.Name:
	case k.Type == "text", k.Type == "varchar", k.Type == "ascii", k.Type == "blob":
		return k.Name
	}
	return ""
}

func (c *Copy) bucket(column string) bool { return c.Bucket != nil && c.Bucket.Column == column }

// source is the column of the base that a column of the copy is made of.
func (c *Copy) source(column string) string {
	if c.Element != nil && c.Element.As == column {
		return c.Element.Column
	}
	return column
}

func inKey(t *schema.Table, column string) bool {
	return slices.ContainsFunc(t.PrimaryKey(), func(k schema.Column) bool { return k.Name == column })
}

// Keep says what a write of the base takes so that the copy, which stands beside it, stays true. expires tells that rows of the base have times
// to live. The error says why nothing does.
func (c *Copy) Keep(write cql.Statement, expires bool) (*Upkeep, error) {
	u, scope, err := c.begin(write)
	if err != nil {
		return nil, err
	}
	if x, ok := u.named().(*cql.Insert); ok && c.mirrors(x) {
		x.Table = cql.TableRef{Keyspace: c.In.Keyspace, Table: c.In.Name}
		c.narrow(x)
		u.Steps = []Step{u.self(), {When: "and", CQL: x.String(), kind: instead}}
		return u, nil
	}
	if expires {
		return nil, fmt.Errorf("rows of %s expire, and %s takes reading a row and writing it to the copy, where it would live on", c.Of.Name, u.Statement)
	}
	whole := len(scope) == len(c.Of.PrimaryKey()) && !slices.ContainsFunc(scope, func(w cql.Relation) bool { return w.Op != cql.OpEQ })
	fresh := len(c.Fresh()) > 0 || c.Element != nil
	if x, ok := write.(*cql.Delete); ok && len(x.Columns) == 0 && whole && !fresh && !cql.Conditional(write) {
		u.Steps = []Step{u.self(), {When: "and", CQL: c.removal(""), kind: instead}}
		return u, nil
	}
	u.Steps = nil
	if fresh || !whole {
		u.Steps = append(u.Steps, Step{When: "first, its rows as :old_...", CQL: c.reading(scope, true), kind: before})
	}
	u.Steps = append(u.Steps, u.self(), Step{When: "then, its rows as :new_...", CQL: c.reading(scope, false), kind: after})
	if fresh || !whole {
		u.Steps = append(u.Steps, Step{
			When: fmt.Sprintf("for each :old_ row whose (%s) no :new_ row has", strings.Join(c.entry(), ", ")), CQL: c.removal("old_"), kind: drop,
		})
	} else {
		u.Steps = append(u.Steps, Step{When: "if there is no :new_ row", CQL: c.removal(""), kind: none})
	}
	when := "for each :new_ row"
	if names := c.Fresh(); len(names) > 0 {
		when += " (of which " + strings.Join(names, ", ") + " is not null)"
	}
	if c.Element != nil {
		when += fmt.Sprintf(", once for each element of %s", c.Element.Column)
	}
	u.Steps = append(u.Steps, Step{When: when, CQL: c.putting(), kind: put})
	return u, nil
}

// Fill are the steps that fill the copy from the base.
func (c *Copy) fill() *Upkeep {
	u := &Upkeep{names: map[string]string{}}
	c.hash(u)
	u.Steps = []Step{{CQL: c.reading(nil, false), kind: after}, {CQL: c.putting(), kind: put}}
	return u
}

func (c *Copy) hash(u *Upkeep) {
	if c.Bucket != nil {
		u.count = c.Bucket.Count
	}
}

// begin names the values of a write, and says which rows of the base it is about.
func (c *Copy) begin(write cql.Statement) (*Upkeep, []cql.Relation, error) {
	u := &Upkeep{write: write, names: map[string]string{}, fixed: memory.Args{}}
	c.hash(u)
	named := cql.Clone(write)
	var scope []cql.Relation
	switch x := named.(type) {
	case *cql.Insert:
		if x.JSON != nil {
			return nil, nil, fmt.Errorf("INSERT JSON INTO %s: which columns it sets is not known before it runs", c.Of.Name)
		}
		for i, column := range x.Columns {
			u.name(x.Values[i], column)
			if inKey(c.Of, column) {
				scope = append(scope, cql.Relation{Columns: []string{column}, Op: cql.OpEQ, Value: x.Values[i]})
			}
		}
		if slices.ContainsFunc(x.Columns, c.static) {
			scope = c.partition(scope)
		}
	case *cql.Update:
		for i := range x.Assignments {
			u.name(x.Assignments[i].Value, x.Assignments[i].Column)
		}
		u.where(x.Where)
		scope = x.Where
		if slices.ContainsFunc(x.Assignments, func(a cql.Assignment) bool { return c.static(a.Column) }) {
			scope = c.partition(scope)
		}
	case *cql.Delete:
		u.where(x.Where)
		scope = x.Where
		if slices.ContainsFunc(x.Columns, func(d cql.Deletion) bool { return c.static(d.Column) }) {
			scope = c.partition(scope)
		}
	}
	for _, w := range scope {
		if memory.Computed(w.Value) {
			return nil, nil, fmt.Errorf("%s names the row by %s, which nobody knows afterwards", cql.Verb(write), w.Value)
		}
	}
	u.Statement = named.String()
	return u, scope, nil
}

func (c *Copy) static(column string) bool {
	x := c.Of.Column(column)
	return x != nil && x.Kind == schema.Static
}

// partition keeps the conditions on the partition key.
func (c *Copy) partition(where []cql.Relation) []cql.Relation {
	return slices.DeleteFunc(slices.Clone(where), func(w cql.Relation) bool {
		x := c.Of.Column(w.Columns[0])
		return x == nil || x.Kind != schema.PartitionKey
	})
}

// where names the values of conditions.
func (u *Upkeep) where(list []cql.Relation) {
	words := map[cql.Op]string{cql.OpGT: "_from", cql.OpGE: "_from", cql.OpLT: "_to", cql.OpLE: "_to", cql.OpIn: "_in"}
	for _, w := range list {
		if t, ok := w.Value.(*cql.Tuple); ok {
			for i, e := range t.Elements {
				u.name(e, w.Columns[min(i, len(w.Columns)-1)]+words[w.Op])
			}
			continue
		}
		u.name(w.Value, w.Columns[0]+words[w.Op])
	}
}

// name gives a marker a name of its own; a literal goes by one, too.
func (u *Upkeep) name(t cql.Term, name string) {
	first := name
	for n := 2; u.names[name] != "" || u.fixed[name] != nil; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	switch x := t.(type) {
	case *cql.Marker:
		u.names[name] = memory.Key(x)
		x.Name = name
	case *cql.Literal, *cql.TypeCast, *cql.Negation:
		if v, err := memory.Of(x, nil); err == nil {
			u.fixed[name] = v
		}
	}
}

// named is the write with its values named.
func (u *Upkeep) named() cql.Statement {
	st, err := cql.Parse(u.Statement)
	if err != nil {
		return nil // what was printed parses: held by the parser's own tests
	}
	return st
}

func (u *Upkeep) self() Step {
	return Step{When: "the statement itself", CQL: u.Statement, kind: itself}
}

// mirrors tells whether an INSERT may be said of the copy as it is: the copy's key is the base's, so that it names the row, and no other row changes.
func (c *Copy) mirrors(x *cql.Insert) bool {
	return len(c.Fresh()) == 0 && c.Element == nil && c.Bucket == nil && !x.IfNotExists && !slices.ContainsFunc(x.Columns, c.static) &&
		!slices.ContainsFunc(x.Values, memory.Computed) && c.namesAll(x)
}

func (c *Copy) namesAll(x *cql.Insert) bool {
	return !slices.ContainsFunc(c.Of.PrimaryKey(), func(k schema.Column) bool { return !slices.Contains(x.Columns, k.Name) })
}

// narrow leaves out what the copy does not have.
func (c *Copy) narrow(x *cql.Insert) {
	for i := len(x.Columns) - 1; i >= 0; i-- {
		if c.In.Column(x.Columns[i]) == nil {
			x.Columns, x.Values = slices.Delete(x.Columns, i, i+1), slices.Delete(x.Values, i, i+1)
		}
	}
}

// entry are the columns of the base that tell entries of the copy apart.
func (c *Copy) entry() []string {
	var out []string
	for _, k := range c.In.PrimaryKey() {
		if !c.bucket(k.Name) {
			out = append(out, c.source(k.Name))
		}
	}
	return out
}

// reading is the SELECT of the rows of the base that a write is about: of what tells entries apart, or of all that the copy holds.
func (c *Copy) reading(scope []cql.Relation, key bool) string {
	s := &cql.Select{Table: cql.TableRef{Keyspace: c.Of.Keyspace, Table: c.Of.Name}, Where: scope}
	columns := c.entry()
	for _, k := range c.Of.PrimaryKey() {
		if !slices.Contains(columns, k.Name) {
			columns = append(columns, k.Name)
		}
	}
	for _, x := range c.In.Columns {
		if name := c.source(x.Name); !key && !c.bucket(x.Name) && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	for _, name := range columns {
		s.Columns = append(s.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: name}})
	}
	return s.String()
}

// removal is the DELETE of an entry.
func (c *Copy) removal(prefix string) string {
	d := &cql.Delete{Table: cql.TableRef{Keyspace: c.In.Keyspace, Table: c.In.Name}}
	for _, k := range c.In.PrimaryKey() {
		name := prefix + k.Name
		if c.bucket(k.Name) {
			name = k.Name
		}
		d.Where = append(d.Where, cql.Relation{Columns: []string{k.Name}, Op: cql.OpEQ, Value: &cql.Marker{Name: name}})
	}
	return d.String()
}

// Removal is the DELETE of the entry that a row had, by its former values.
func (c *Copy) Removal() string { return c.removal("old_") }

// putting is the INSERT of an entry.
func (c *Copy) putting() string {
	x := &cql.Insert{Table: cql.TableRef{Keyspace: c.In.Keyspace, Table: c.In.Name}}
	for _, k := range c.In.Columns {
		name := "new_" + k.Name
		if c.bucket(k.Name) {
			name = k.Name
		}
		x.Columns, x.Values = append(x.Columns, k.Name), append(x.Values, &cql.Marker{Name: name})
	}
	return x.String()
}
