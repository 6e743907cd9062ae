package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// Keys is a table of the application's in which the primary keys of base rows are found, as in a look-up table of ours: under other names, if
// need be, and beside other columns.
type Keys struct {
	Table     cql.TableRef
	Partition []string // its partition key
	Asked     []string // the columns of the base that this holds, one for each
	Key       []string // its columns that hold the primary key of the base, in that key's order
	// Sorted: of one value it has the keys of one partition of the base in the base's order.
	Sorted bool
}

// overChecks are what reads through an application's table ask of the base, for each column that they ask by.
var overChecks = []check[*candidate]{
	{condition.Schema, func(c *candidate) string {
		return when(c.base == nil, "table %s.%s is not in the schema", c.Keyspace, c.Base)
	}},
	{condition.Schema, func(c *candidate) string {
		return when(c.column == nil, "table %s.%s has no column %s", c.Keyspace, c.Base, c.Column)
	}},
	{condition.Statics, func(c *candidate) string {
		return when(c.column.Kind == schema.Static, "%s is a static column: one value belongs to all rows of a partition", c.Column)
	}},
	{condition.Types, func(c *candidate) string {
		return when(!schema.ByteEqual(c.column.Type), "%s is of type %s, whose equality is not equality of bytes", c.Column, c.column.Type)
	}},
	{condition.Types, func(c *candidate) string { return c.base.FindsMore(c.Column) }},
	{condition.Schema, func(c *candidate) string {
		return when(len(c.base.PartitionKey()) == 0, "the partition key of %s.%s is not known", c.Keyspace, c.Base)
	}},
	{condition.Types, (*candidate).keyTypes},
	{condition.Masks, func(c *candidate) string {
		for _, k := range append([]schema.Column{*c.column}, c.base.PrimaryKey()...) {
			if k.Masked {
				return fmt.Sprintf("%s is masked: what is found by it depends on who asks", k.Name)
			}
		}
		return ""
	}},
}

// Over prepares reads that find keys in a table of the application's, or says which condition forbids them. Of the result only what reads
// need is there: nothing of ours is written.
func Over(c plan.Rewrite, base *schema.Table, keys Keys) (*LookUp, *condition.Refusal) {
	l := &LookUp{Rewrite: c, Base: base, foreign: &keys}
	for _, name := range keys.Asked {
		own := c
		own.Column = name
		x := &candidate{Rewrite: own, base: base}
		if base != nil {
			x.column = base.Column(name)
		}
		if refusal := first(overChecks, x); refusal != nil {
			return nil, refusal
		}
		l.Asked = append(l.Asked, *x.column)
	}
	if len(keys.Asked) == 0 {
		return nil, condition.Schema.Refuse("it is not said by which columns of %s.%s the table %s is asked", c.Keyspace, c.Base, keys.Table)
	}
	l.Key, l.Partition = base.PrimaryKey(), len(base.PartitionKey())
	l.approve(c.Statements)
	return l, nil
}

// Sorted tells whether the keys of one partition of the base are found in the base's order.
func (l *LookUp) Sorted() bool { return l.foreign == nil || l.foreign.Sorted }

// Kept tells whether the keys are found in a table of the application's.
func (l *LookUp) Kept() bool { return l.foreign != nil }

// FoundIn is the table in which keys are found, as CQL.
func (l *LookUp) FoundIn() string {
	if l.foreign != nil {
		return l.foreign.Table.String()
	}
	return l.LookUpName()
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return out
}

// find reads the keys of one value: its partition key, limit.
func (k *Keys) find() string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s LIMIT ?", strings.Join(quoted(k.Key), ", "), k.Table, equal(quoted(k.Partition)))
}

// Scan reads Key and Partition after one token and up to another.
func (k *Keys) Scan() string {
	token := "token(" + strings.Join(quoted(k.Partition), ", ") + ")"
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s > ? AND %s <= ?", strings.Join(quoted(slices.Concat(k.Key, k.Partition)), ", "), k.Table, token, token)
}

// Sample reads some distinct values of Partition, starting after a token.
func (k *Keys) Sample() string {
	all := strings.Join(quoted(k.Partition), ", ")
	return fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE token(%s) > ? LIMIT ?", all, k.Table, all)
}

// baseColumns are the key of the base, and what it is asked by.
func (l *LookUp) baseColumns() (key, all []string) {
	for _, c := range l.Key {
		key = append(key, quote(c.Name))
	}
	all = slices.Clone(key)
	for _, c := range l.Asked {
		all = append(all, quote(c.Name))
	}
	return key, all
}

// ScanAsked reads key... and Asked of the base after one token and up to another.
func (l *LookUp) ScanAsked() string {
	key, all := l.baseColumns()
	token := "token(" + strings.Join(key[:l.Partition], ", ") + ")"
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s > ? AND %s <= ?", strings.Join(all, ", "), l.BaseName(), token, token)
}

// SampleAsked reads key... and Asked of some rows of the base, starting after a token.
func (l *LookUp) SampleAsked() string {
	key, all := l.baseColumns()
	return fmt.Sprintf("SELECT %s FROM %s WHERE token(%s) > ? LIMIT ?", strings.Join(all, ", "), l.BaseName(), strings.Join(key[:l.Partition], ", "))
}

// RowAsked reads key... and Asked of a row of the base: key...
func (l *LookUp) RowAsked() string {
	key, all := l.baseColumns()
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(all, ", "), l.BaseName(), equal(key))
}
