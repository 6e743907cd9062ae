package given

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// reader reads the statements of a file, in order.
type reader struct {
	file     string
	graph    *model.Graph
	keyspace string // of USE
	existing bool
	tables   []*model.Table
	columns  []map[string]model.Field // by table
}

func readCQL(file, text string, g *model.Graph, existing bool) ([]*model.Table, error) {
	r := &reader{file: file, graph: g, existing: existing}
	l := lexer.Lexer{Source: text}
	start := int32(-1)
	for {
		token := l.Next()
		last := token.Kind == lexer.End
		if start < 0 && !last && !token.Is(';') {
			start = token.Start
		}
		if (last || token.Is(';')) && start >= 0 {
			if err := r.statement(text, int(start), int(token.Start)); err != nil {
				return nil, err
			}
			start = -1
		}
		if last {
			return r.tables, nil
		}
	}
}

func (r *reader) statement(text string, from, to int) error {
	line := 1 + strings.Count(text[:from], "\n")
	column := from - strings.LastIndexByte(text[:from], '\n')
	wrong := func(format string, args ...any) error {
		return &model.FileError{File: r.file, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
	}
	parsed, err := cql.Parse(text[from:to])
	if syntax := (*cql.SyntaxError)(nil); errors.As(err, &syntax) {
		if syntax.Line == 1 {
			column += syntax.Column - 1
		} else {
			column = syntax.Column
		}
		line += syntax.Line - 1
		return wrong("found %s, expected %s", syntax.Found, syntax.Expected)
	}
	switch s := parsed.(type) {
	case *cql.Use:
		r.keyspace = s.Keyspace
	case *cql.CreateKeyspace:
	case *cql.CreateTable:
		if err := r.table(s); err != nil {
			return wrong("table %s: %s", s.Table.Table, err)
		}
	case *cql.CreateIndex:
		if err := r.index(s); err != nil {
			return wrong("index %s: %s", s.Name, err)
		}
	default:
		return wrong("only CREATE TABLE, CREATE INDEX, CREATE KEYSPACE and USE are read")
	}
	return nil
}

// table makes a table of its definition: the columns' fields by their names, the graph by the path in the comment that our
// own definitions have, else the smallest that holds the fields.
func (r *reader) table(s *cql.CreateTable) error {
	t := &model.Table{Existing: r.existing, Keyspace: s.Table.Keyspace, Name: s.Table.Table, Columns: map[model.Field]string{}, Types: map[model.Field]string{}}
	if t.Keyspace == "" {
		t.Keyspace = r.keyspace
	}
	edges, entities := r.path(s)
	collections, elsewhere, rows, err := nests(s, edges, entities)
	if err != nil {
		return err
	}
	if len(collections) > 0 {
		edges, entities = rows.Edges, rows.Entities
	}
	m := &matcher{graph: r.graph, table: t.Name, within: entities}
	fields := map[string]model.Field{}
	for _, c := range s.Columns {
		if slices.Contains(elsewhere, c.Name) {
			continue
		}
		f, err := m.field(c.Name)
		if err != nil {
			return err
		}
		for other, taken := range fields {
			if taken == f {
				return fmt.Errorf("columns %s and %s would both be %s", other, c.Name, f)
			}
		}
		fields[c.Name] = f
		t.Columns[f], t.Types[f] = c.Name, c.Type.String()
		switch {
		case slices.Contains(s.PartitionKey, c.Name) || slices.Contains(s.ClusteringKey, c.Name):
		case c.Static:
			t.Static = append(t.Static, f)
			fallthrough
		default:
			t.Values = append(t.Values, f)
		}
	}
	for _, list := range []struct {
		names []string
		to    *[]model.Field
	}{{s.PartitionKey, &t.Partition}, {s.ClusteringKey, &t.Clustering}} {
		for _, name := range list.names {
			*list.to = append(*list.to, fields[name])
		}
	}
	for _, o := range s.ClusteringOrder {
		if o.Descending {
			t.Desc = append(t.Desc, fields[o.Column])
		}
	}
	if t.Tree, err = r.tree(t, edges); err != nil {
		return err
	}
	t.Nests = collections
	if err := t.Validate(); err != nil {
		return err
	}
	r.tables, r.columns = append(r.tables, t), append(r.columns, fields)
	return nil
}

// tree is the graph of a table: the one that is known, else the smallest that holds its fields.
func (r *reader) tree(t *model.Table, edges []*model.Relationship) (model.Tree, error) {
	var within []*model.Entity
	for _, f := range t.Fields() {
		within = with(within, f.Entity)
	}
	switch {
	case len(within) == 0:
		return model.Tree{}, errors.New("it has no columns that the model knows")
	case len(edges) > 0 || len(within) == 1:
		return model.NewTree(within[0], edges...)
	}
	return r.graph.Connect(within)
}

func (r *reader) index(s *cql.CreateIndex) error {
	keyspace := s.Table.Keyspace
	if keyspace == "" {
		keyspace = r.keyspace
	}
	for i, t := range r.tables {
		if t.Name != s.Table.Table || t.Keyspace != keyspace {
			continue
		}
		for _, target := range s.Targets {
			f, ok := r.columns[i][target.Column]
			if !ok {
				return fmt.Errorf("table %s has no column %s", t.Name, target.Column)
			}
			sai := strings.HasSuffix(strings.ToLower(s.Class), "sai") || strings.HasSuffix(s.Class, "StorageAttachedIndex")
			t.Indexes = append(t.Indexes, model.Index{Name: s.Name, Field: f, SAI: sai})
		}
		return nil
	}
	return fmt.Errorf("no table %s has been created before", s.Table.Table)
}

// path reads the path that a comment of ours begins with ("Guest.reservations.room; serves ..."); nothing if the comment is
// somebody else's.
func (r *reader) path(s *cql.CreateTable) (edges []*model.Relationship, entities []*model.Entity) {
	for _, p := range s.Properties {
		literal, ok := p.Value.(*cql.Literal)
		if !strings.EqualFold(p.Name, "comment") || !ok {
			continue
		}
		text, _, _ := strings.Cut(strings.Trim(literal.String(), "'"), ";")
		for _, path := range strings.Split(text, ",") {
			names := strings.Split(strings.TrimSpace(path), ".")
			e := r.graph.Entity(names[0])
			if e == nil {
				return nil, nil
			}
			entities = with(entities, e)
			for _, name := range names[1:] {
				edge, to, err := r.graph.Step(e, name)
				if err != nil {
					return nil, nil
				}
				if !slices.Contains(edges, edge) {
					edges = append(edges, edge)
				}
				entities = with(entities, to)
				e = to
			}
		}
	}
	return edges, entities
}

func with(entities []*model.Entity, e *model.Entity) []*model.Entity {
	if slices.Contains(entities, e) {
		return entities
	}
	return append(entities, e)
}
