package given

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Notation reads a table written [partition][clustering][values], each a list of Entity.attribute, or of attributes where
// only one entity has one of that name. Its graph is the smallest that holds the fields.
func Notation(g *model.Graph, text string) (*model.Table, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "[")
	rest, closed := strings.CutSuffix(rest, "]")
	parts := strings.Split(rest, "][")
	if !ok || !closed || len(parts) != 3 {
		return nil, fmt.Errorf("%q is not a table: write [partition][clustering][values]", text)
	}
	var lists [3][]model.Field
	for i, part := range parts {
		for _, name := range strings.Split(part, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			f, err := fieldOf(g, name)
			if err != nil {
				return nil, err
			}
			lists[i] = append(lists[i], f)
		}
	}
	if len(lists[0]) == 0 {
		return nil, fmt.Errorf("%q has no partition key", text)
	}
	return model.NewTable(g, lists[0], lists[1], lists[2])
}

// fieldOf finds a field by its whole name, or by its attribute's.
func fieldOf(g *model.Graph, name string) (model.Field, error) {
	if strings.Contains(name, ".") {
		return g.Field(name)
	}
	var found []model.Field
	var known, texts []string
	for _, e := range g.Entities {
		for _, a := range e.Attributes {
			known = append(known, a.Name)
			if strings.EqualFold(a.Name, name) {
				f := model.Field{Entity: e, Attribute: a}
				found, texts = append(found, f), append(texts, f.String())
			}
		}
	}
	switch len(found) {
	case 0:
		return model.Field{}, &model.NameError{What: "attribute", Name: name, Known: known}
	case 1:
		return found[0], nil
	}
	return model.Field{}, fmt.Errorf("%s could be %s: write which", name, strings.Join(texts, " or "))
}
