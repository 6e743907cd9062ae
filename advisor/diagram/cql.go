package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// ReadCQL reads definitions, as DESCRIBE writes them. Errors are *model.FileError.
func ReadCQL(file, text string) (*Schema, error) {
	s := &Schema{}
	r := &reader{schema: s}
	l := lexer.Lexer{Source: text}
	start := -1
	for {
		token := l.Next()
		last := token.Kind == lexer.End
		if start < 0 && !last && !token.Is(';') {
			start = int(token.Start)
		}
		if (last || token.Is(';')) && start >= 0 {
			if reason := r.statement(text[start:token.Start]); reason != "" {
				line := 1 + strings.Count(text[:start], "\n")
				return nil, &model.FileError{File: file, Line: line, Column: start - strings.LastIndexByte(text[:start], '\n'), Reason: reason}
			}
			start = -1
		}
		if last {
			break
		}
	}
	if len(s.Tables) == 0 {
		return nil, &model.FileError{File: file, Reason: "there is no CREATE TABLE in it, so there is nothing to draw"}
	}
	return s, nil
}

// reader makes a schema of statements, in order.
type reader struct {
	schema   *Schema
	keyspace string // of USE
}

func (r *reader) unshown(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.schema.Unshown, text) {
		r.schema.Unshown = append(r.schema.Unshown, text)
	}
}

// statement takes a statement in; what is wrong with it is returned.
func (r *reader) statement(text string) (wrong string) {
	parsed, err := cql.Parse(text)
	if err != nil {
		return err.Error()
	}
	switch s := parsed.(type) {
	case *cql.Use:
		r.keyspace = s.Keyspace
	case *cql.CreateKeyspace:
		r.unshown("keyspace %s: %s", s.Keyspace, properties(s.Properties))
	case *cql.CreateTable:
		return r.table(s)
	case *cql.CreateType:
		return r.userType(s)
	case *cql.CreateIndex:
		return r.index(s)
	case *cql.CreateView:
		r.unshown("materialised view %s of %s", s.View.Table, s.From.Table)
	case *cql.CreateFunction, *cql.CreateAggregate, *cql.CreateTrigger:
		r.unshown("%s", first(s.String(), 90))
	case *cql.AlterTable, *cql.AlterType, *cql.Drop:
		return "only definitions are drawn: write tables and types as they are in the end (DESCRIBE does), without ALTER and DROP"
	default:
		r.unshown("%s", first(s.String(), 90))
	}
	return ""
}

// first is the beginning of a text.
func first(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

func properties(list []cql.Property) string {
	parts := make([]string, len(list))
	for i, p := range list {
		if parts[i] = p.Name; p.Value != nil {
			parts[i] += " = " + p.Value.String()
		}
	}
	return strings.Join(parts, ", ")
}

func (r *reader) in(ref cql.TableRef) string {
	if ref.Keyspace != "" {
		return ref.Keyspace
	}
	return r.keyspace
}

func (r *reader) table(s *cql.CreateTable) (wrong string) {
	t := &Table{Keyspace: r.in(s.Table), Name: s.Table.Table}
	if slices.ContainsFunc(r.schema.Tables, func(other *Table) bool { return other.Keyspace == t.Keyspace && other.Name == t.Name }) {
		return fmt.Sprintf("table %s is there twice", t.Name)
	}
	if len(s.PartitionKey) == 0 {
		return fmt.Sprintf("table %s has no primary key", t.Name)
	}
	for _, c := range s.Columns {
		column := Column{Name: c.Name, Type: c.Type}
		switch {
		case slices.Contains(s.PartitionKey, c.Name):
			column.Part = Partition
		case slices.Contains(s.ClusteringKey, c.Name):
			column.Part = Clustering
		case c.Static:
			column.Part = Static
		}
		if c.Mask != nil {
			r.unshown("table %s: column %s is masked", t.Name, c.Name)
		}
		t.Columns = append(t.Columns, column)
	}
	for _, name := range append(slices.Clone(s.PartitionKey), s.ClusteringKey...) {
		if t.column(name) == nil {
			return fmt.Sprintf("table %s has no column %s, which its primary key names", t.Name, name)
		}
	}
	for _, o := range s.ClusteringOrder {
		c := t.column(o.Column)
		if c == nil || c.Part != Clustering {
			return fmt.Sprintf("table %s: CLUSTERING ORDER names %s, which is no clustering column", t.Name, o.Column)
		}
		c.Desc = o.Descending
	}
	t.sort(s.PartitionKey, s.ClusteringKey)
	if s.CompactStorage {
		r.unshown("table %s: COMPACT STORAGE", t.Name)
	}
	if len(s.Properties) > 0 {
		r.unshown("table %s: %s", t.Name, first(properties(s.Properties), 240))
	}
	r.schema.Tables = append(r.schema.Tables, t)
	return ""
}

func (r *reader) userType(s *cql.CreateType) (wrong string) {
	t := &Type{Keyspace: r.in(s.Type), Name: s.Type.Table}
	for _, f := range s.Fields {
		t.Fields = append(t.Fields, Field{f.Name, f.Type})
	}
	r.schema.Types = append(r.schema.Types, t)
	return ""
}

func (r *reader) index(s *cql.CreateIndex) (wrong string) {
	i := r.schema.table(r.in(s.Table), s.Table.Table)
	if i < 0 {
		return fmt.Sprintf("there is no table %s before its index", s.Table.Table)
	}
	t := r.schema.Tables[i]
	for _, target := range s.Targets {
		c := t.column(target.Column)
		if c == nil {
			return fmt.Sprintf("table %s has no column %s, which an index is on", t.Name, target.Column)
		}
		c.Indexed = true
		if target.Of != "" && !strings.EqualFold(target.Of, "values") {
			r.unshown("table %s: the index on %s is on its %s", t.Name, c.Name, strings.ToLower(target.Of))
		}
		if s.Class != "" {
			r.unshown("table %s: the index on %s is of class %s", t.Name, c.Name, s.Class)
		}
	}
	return ""
}

// typeOf reads a type.
func typeOf(text string) (cql.Type, error) {
	st, err := cql.Parse("CREATE TABLE t (c " + text + ", PRIMARY KEY (c))")
	if s, ok := st.(*cql.CreateTable); err == nil && ok && len(s.Columns) == 1 {
		return s.Columns[0].Type, nil
	}
	return cql.Type{}, fmt.Errorf("%q is no CQL type", text)
}

// Tables makes a schema of tables over a model.
func Tables(name string, tables []*model.Table) (*Schema, error) {
	s := &Schema{Name: name}
	r := &reader{schema: s}
	for _, t := range tables {
		for _, f := range t.Fields() {
			if _, err := typeOf(t.ColumnType(f)); err != nil {
				return nil, fmt.Errorf("table %s, column %s: %w", t.Name, t.ColumnName(f), err)
			}
		}
		if wrong := r.statement(t.CQL(t.Keyspace, t.Name)); wrong != "" {
			return nil, fmt.Errorf("table %s: %s", t.Name, wrong)
		}
		made := s.Tables[len(s.Tables)-1]
		for _, x := range t.Indexes {
			if c := made.column(t.ColumnName(x.Field)); c != nil {
				c.Indexed = true
			}
			if x.SAI {
				r.unshown("table %s: the index on %s is storage-attached (SAI)", t.Name, t.ColumnName(x.Field))
			}
		}
		if t.Bucket != nil {
			r.unshown("table %s: column %s is made up, %s", t.Name, t.BucketColumn(), t.Bucket)
		}
		if t.Base != nil {
			r.unshown("table %s is a look-up of %s: who reads it reads the base rows again", t.Name, t.Base.Name)
		}
	}
	return s, nil
}
