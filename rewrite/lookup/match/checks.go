package match

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// check is one way in which a condition may be broken. Those of a list are made in its order, and the first that finds something
// refuses: it may rest on those before it.
type check[T any] struct {
	condition *condition.Condition
	broken    func(T) string // what breaks it, "" if nothing does
}

// first returns the refusal of the first check that finds something.
func first[T any](checks []check[T], of T) *condition.Refusal {
	for _, c := range checks {
		if reason := c.broken(of); reason != "" {
			return c.condition.Refuse("%s", reason)
		}
	}
	return nil
}

// candidate is a look-up that is being considered.
type candidate struct {
	plan.Rewrite
	base   *schema.Table
	column *schema.Column // that it is to be keyed by; nil if the base does not have it
}

// tableChecks are what a look-up asks of its table.
var tableChecks = []check[*candidate]{
	{condition.Schema, func(c *candidate) string {
		return when(c.base == nil, "table %s.%s is not in the schema", c.Keyspace, c.Base)
	}},
	{condition.Counters, func(c *candidate) string {
		return when(c.base.Counter, "%s.%s is a counter table: its writes have no timestamp and can not be written twice", c.Keyspace, c.Base)
	}},
	{condition.Columns, func(c *candidate) string {
		return when(c.Table == "" || len(c.Table) > schema.MaxName || c.Table == c.Base && c.Home() == c.Keyspace,
			"%q can not be the name of a look-up table over %s: 1 to %d letters, and not the base's own", c.Table, c.Base, schema.MaxName)
	}},
	{condition.Schema, func(c *candidate) string {
		return when(c.column == nil, "table %s.%s has no column %s", c.Keyspace, c.Base, c.Column)
	}},
	{condition.Statics, func(c *candidate) string {
		return when(c.column.Kind == schema.Static, "%s is a static column: one value belongs to all rows of a partition", c.Column)
	}},
	{condition.Timestamps, func(c *candidate) string {
		return when(c.column.Kind == schema.PartitionKey || c.column.Kind == schema.Clustering,
			"%s is part of the primary key: a key column has no WRITETIME to settle its entries by", c.Column)
	}},
	{condition.Collections, func(c *candidate) string {
		t := c.column.Type
		return when(strings.Contains(t, "<") && !strings.HasPrefix(t, "frozen<") && !strings.HasPrefix(t, "vector<"),
			"%s is a collection (%s): it can not be a key", c.Column, t)
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
				return fmt.Sprintf("%s is masked: the look-up would hold its values for who may not read them, or masks in their place", k.Name)
			}
		}
		return ""
	}},
}

// when is what breaks a condition, "" if it is not so.
func when(so bool, format string, args ...any) string {
	if !so {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// keyTypes says which column of the base's key an entry can not have.
func (c *candidate) keyTypes() string {
	partition := len(c.base.PartitionKey())
	for i, k := range c.base.PrimaryKey() {
		switch {
		case schema.ByteEqual(k.Type):
		case i < partition: // they differ if their bytes do, but are clustered in the look-up, where equal ones are one row
			return fmt.Sprintf("partition key column %s is of type %s, whose equality is not equality of bytes: two partitions may have one entry", k.Name, k.Type)
		default: // one row, which its writers, its entries and the base may each write with other bytes
			return fmt.Sprintf("clustering column %s is of type %s, whose equality is not equality of bytes: one row may have several keys", k.Name, k.Type)
		}
	}
	return ""
}

// clauseChecks are what a look-up asks of the clauses of a SELECT that it is to answer.
var clauseChecks = []check[*cql.Select]{
	{condition.Functions, func(s *cql.Select) string { return when(s.JSON, "SELECT JSON") }},
	{condition.Limits, func(s *cql.Select) string {
		return when(s.Distinct, "SELECT DISTINCT is about partitions, which the look-up does not keep together")
	}},
	{condition.Functions, func(s *cql.Select) string { return when(len(s.GroupBy) > 0, "GROUP BY") }},
	{condition.Order, func(s *cql.Select) string { return when(len(s.OrderBy) > 0, "ORDER BY") }},
	{condition.Limits, func(s *cql.Select) string {
		return when(s.PerPartitionLimit != nil, "PER PARTITION LIMIT counts by the partitions of the base")
	}},
}

// habitChecks refuse a statement that is always asked in a way that is never answered.
var habitChecks = []check[*capture.Statement]{
	{condition.Conditional, func(c *capture.Statement) string {
		return when(c.Count > 0 && c.Serial >= c.Count, "it is always read at a serial consistency")
	}},
	{condition.Paging, func(c *capture.Statement) string {
		return when(c.Count > 0 && c.Paged+c.MorePages >= c.Count, "its answers always have more than one page")
	}},
}
