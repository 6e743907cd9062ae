package given

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
)

// nests finds the collections among a table's columns: a set that has the name of a role, of the keys of the partners that an
// entity has in it, and maps whose names begin with it (model.Table.NestColumn). The graph is that of the comment, as with
// fields; without one collections are columns like any other. It returns the names of their columns, and what is left of
// the graph for the rows.
func nests(s *cql.CreateTable, edges []*model.Relationship, entities []*model.Entity) (list []*model.Nest, columns []string, rows model.Tree, err error) {
	if len(edges) == 0 {
		return nil, nil, model.Tree{}, nil
	}
	if rows, err = model.NewTree(entities[0], edges...); err != nil {
		return nil, nil, model.Tree{}, err
	}
	for _, set := range s.Columns {
		if !strings.HasPrefix(set.Type.String(), "set<") {
			continue
		}
		for _, r := range rows.Edges {
			owner := r.From
			if r.ToOne(owner) || model.Identifier(r.Role(owner)) != set.Name {
				owner = r.To
			}
			if r.ToOne(owner) || model.Identifier(r.Role(owner)) != set.Name {
				continue
			}
			first := r.Other(owner)
			if len(first.Key) != 1 {
				return nil, nil, rows, fmt.Errorf("column %s is a collection of %s, whose key has several attributes", set.Name, first.Name)
			}
			n := &model.Nest{Edge: r, Key: first.KeyFields()[0]}
			rows, n.Tree = rows.Cut(r, owner)
			columns = append(columns, set.Name)
			for _, c := range s.Columns {
				if name, ok := strings.CutPrefix(c.Name, set.Name+"_"); ok && strings.HasPrefix(c.Type.String(), "map<") {
					f, err := nested(n, name)
					if err != nil {
						return nil, nil, rows, fmt.Errorf("column %s: %w", c.Name, err)
					}
					n.Values = append(n.Values, f)
					columns = append(columns, c.Name)
				}
			}
			list = append(list, n)
			break
		}
	}
	return list, columns, rows, nil
}

// nested finds the field of a collection by what its column's name has after the role's; a number at the end tells those of
// one name apart, in the order of the definition.
func nested(n *model.Nest, name string) (model.Field, error) {
	var known []string
	plain := strings.TrimRight(strings.TrimRight(name, "0123456789"), "_")
	for _, want := range []string{name, plain} {
		for _, e := range n.Tree.Entities {
			for _, a := range e.Attributes {
				f := model.Field{Entity: e, Attribute: a}
				known = append(known, model.Identifier(a.Name))
				if model.Identifier(a.Name) == want && f != n.Key && !slices.Contains(n.Values, f) {
					return f, nil
				}
			}
		}
	}
	return model.Field{}, &model.NameError{What: "attribute of " + n.Tree.Path(), Name: name, Known: known}
}
