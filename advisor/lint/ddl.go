package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Define returns a schema in which definitions have been carried out: CREATE TABLE, CREATE INDEX, ALTER TABLE ADD and DROP TABLE.
// keyspace is in use. The schema that is given, which may be nil, stays as it is.
func Define(s *schema.Schema, keyspace string, statements ...string) (*schema.Schema, error) {
	out := &schema.Schema{}
	if s != nil {
		for _, k := range s.Keyspaces {
			k.Tables = slices.Clone(k.Tables)
			out.Keyspaces = append(out.Keyspaces, k)
		}
	}
	for _, text := range statements {
		st, err := cql.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if err := applyDefinition(out, st, keyspace); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return out, nil
}

func applyDefinition(s *schema.Schema, st cql.Statement, keyspace string) error {
	switch x := st.(type) {
	case *cql.CreateTable:
		return applyCreateTable(s, x, keyspace)
	case *cql.CreateIndex:
		return applyCreateIndex(s, x, keyspace)
	case *cql.AlterTable:
		return applyAlterTable(s, x, keyspace)
	case *cql.Drop:
		ref := x.Name.In(keyspace)
		k := s.Keyspace(ref.Keyspace)
		if s.Table(ref.Keyspace, ref.Table) == nil {
			return fmt.Errorf("there is no table %s", ref.Table)
		}
		k.Tables = slices.DeleteFunc(k.Tables, func(t schema.Table) bool { return t.Name == ref.Table })
		return nil
	}
	return fmt.Errorf("%s defines no table", cql.Verb(st))
}

func applyCreateTable(s *schema.Schema, x *cql.CreateTable, keyspace string) error {
	ref := x.Table.In(keyspace)
	if s.Table(ref.Keyspace, ref.Table) != nil {
		return fmt.Errorf("table %s is there already", ref.Table)
	}
	t := schema.Table{Keyspace: ref.Keyspace, Name: ref.Table}
	for _, c := range x.Columns {
		column := schema.Column{Name: c.Name, Type: c.Type.String(), Kind: schema.Regular, Position: -1}
		if c.Static {
			column.Kind = schema.Static
		}
		if i := slices.Index(x.PartitionKey, c.Name); i >= 0 {
			column.Kind, column.Position = schema.PartitionKey, i
		}
		if i := slices.Index(x.ClusteringKey, c.Name); i >= 0 {
			column.Kind, column.Position = schema.Clustering, i
			column.Descending = slices.Contains(x.ClusteringOrder, cql.Ordering{Column: c.Name, Descending: true})
		}
		if column.Type == "duration" && column.Position >= 0 {
			return fmt.Errorf("%s is a duration, which can not be part of a primary key", c.Name)
		}
		t.Counter = t.Counter || column.Type == "counter"
		t.Columns = append(t.Columns, column)
	}
	for _, p := range x.Properties {
		if l, ok := p.Value.(*cql.Literal); ok && p.Name == "default_time_to_live" {
			t.DefaultTTL, _ = strconv.Atoi(l.Text) // Cassandra would refuse what is no number
		}
	}
	sortColumns(&t)
	i, ok := slices.BinarySearchFunc(s.Keyspaces, ref.Keyspace, func(k schema.Keyspace, name string) int { return cmp.Compare(k.Name, name) })
	if !ok {
		s.Keyspaces = slices.Insert(s.Keyspaces, i, schema.Keyspace{Name: ref.Keyspace})
	}
	k := &s.Keyspaces[i]
	j, _ := slices.BinarySearchFunc(k.Tables, ref.Table, func(t schema.Table, name string) int { return cmp.Compare(t.Name, name) })
	k.Tables = slices.Insert(k.Tables, j, t)
	return nil
}

// sortColumns brings columns into the order that schema.Table has them in.
func sortColumns(t *schema.Table) {
	kinds := []schema.ColumnKind{schema.PartitionKey, schema.Clustering, schema.Static, schema.Regular}
	slices.SortFunc(t.Columns, func(a, b schema.Column) int {
		return cmp.Or(slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), a.Position-b.Position, cmp.Compare(a.Name, b.Name))
	})
}

func applyCreateIndex(s *schema.Schema, x *cql.CreateIndex, keyspace string) error {
	ref := x.Table.In(keyspace)
	t := s.Table(ref.Keyspace, ref.Table)
	if t == nil {
		return fmt.Errorf("there is no table %s", ref.Table)
	}
	t.Indexes = slices.Clone(t.Indexes)
	for _, target := range x.Targets {
		one := schema.Index{Name: x.Name, Kind: "COMPOSITES", Column: target.Column, On: cmp.Or(target.Of, "values"), Options: map[string]string{}}
		if one.Name == "" {
			one.Name = ref.Table + "_" + target.Column + "_idx"
		}
		if x.Class != "" {
			one.Kind, one.Options["class_name"] = "CUSTOM", x.Class
			if strings.EqualFold(x.Class, "sai") {
				one.Options["class_name"] = "StorageAttachedIndex"
			}
		}
		for _, p := range x.Properties {
			options, _ := p.Value.(*cql.Map)
			if p.Name != "options" || options == nil {
				continue
			}
			for _, e := range options.Entries {
				key, named := e.Key.(*cql.Literal)
				if value, given := e.Value.(*cql.Literal); named && given {
					one.Options[key.Text] = value.Text
				}
			}
		}
		t.Indexes = append(t.Indexes, one)
	}
	return nil
}

func applyAlterTable(s *schema.Schema, x *cql.AlterTable, keyspace string) error {
	ref := x.Table.In(keyspace)
	t := s.Table(ref.Keyspace, ref.Table)
	if t == nil || x.Does != cql.AlterAdd {
		return fmt.Errorf("only columns are added, to tables that are there")
	}
	t.Columns = slices.Clone(t.Columns)
	for _, c := range x.Columns {
		if t.Column(c.Name) != nil {
			return fmt.Errorf("table %s has a column %s", ref.Table, c.Name)
		}
		t.Columns = append(t.Columns, schema.Column{Name: c.Name, Type: c.Type.String(), Kind: schema.Regular, Position: -1})
	}
	sortColumns(t)
	return nil
}

// createText writes the definition of a table.
func createText(t *schema.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", quotedName(refOf(t)))
	for _, c := range t.Columns {
		static := ""
		if c.Kind == schema.Static {
			static = " STATIC"
		}
		fmt.Fprintf(&b, "  %s %s%s,\n", model.Quote(c.Name), c.Type, static)
	}
	quote := func(list []schema.Column) []string {
		out := make([]string, len(list))
		for i, c := range list {
			out[i] = model.Quote(c.Name)
		}
		return out
	}
	key := append([]string{"(" + strings.Join(quote(t.PartitionKey()), ", ") + ")"}, quote(t.ClusteringKey())...)
	fmt.Fprintf(&b, "  PRIMARY KEY (%s)\n)", strings.Join(key, ", "))
	var with []string
	if slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Descending }) {
		var order []string
		for _, c := range t.ClusteringKey() {
			order = append(order, model.Quote(c.Name)+map[bool]string{true: " DESC", false: " ASC"}[c.Descending])
		}
		with = append(with, fmt.Sprintf("CLUSTERING ORDER BY (%s)", strings.Join(order, ", ")))
	}
	if t.DefaultTTL > 0 {
		with = append(with, fmt.Sprintf("default_time_to_live = %d", t.DefaultTTL))
	}
	if len(with) > 0 {
		b.WriteString(" WITH " + strings.Join(with, " AND "))
	}
	return b.String()
}

// quotedName is a table's name as CQL writes it.
func quotedName(r Reference) string {
	if r.Keyspace == "" {
		return model.Quote(r.Table)
	}
	return model.Quote(r.Keyspace) + "." + model.Quote(r.Table)
}
