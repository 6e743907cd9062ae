package given

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// matcher finds the field that a column holds by the column's name: the attribute's name as CQL writes it, or with the
// entity's before it, in the singular or as the model has it (hotel_city, city; user_id and users_id for users.id). Of
// several fields of the same name, that of the entity that the table is named after, or of the only one of them among the
// entities that the table's comment names, is meant; or the one that all others are copies of.
type matcher struct {
	graph  *model.Graph
	table  string
	within []*model.Entity // what the table is known to hold; empty: not known
}

// The ways to match, the closest first.
const (
	qualified = iota // users_id, user_id
	named            // id
	ways
)

func (m *matcher) field(column string) (model.Field, error) {
	name := model.Identifier(column)
	var found [ways][]model.Field
	var known []string
	for _, e := range m.graph.Entities {
		if len(m.within) > 0 && !slices.Contains(m.within, e) {
			continue
		}
		entity := model.Identifier(e.Name)
		for _, a := range e.Attributes {
			f := model.Field{Entity: e, Attribute: a}
			attribute := model.Identifier(a.Name)
			known = append(known, attribute, entity+"_"+attribute)
			switch name {
			case entity + "_" + attribute, singular(entity) + "_" + attribute:
				found[qualified] = append(found[qualified], f)
			case attribute:
				found[named] = append(found[named], f)
			}
		}
	}
	all := slices.Concat(found[named], found[qualified])
	switch {
	case len(all) == 0:
		return model.Field{}, m.unknown(column, known)
	case len(all) == 1:
		return all[0], nil
	case len(found[qualified]) == 1 && len(found[named]) == 0:
		return found[qualified][0], nil
	}
	var own []model.Field
	for _, f := range all {
		if entity := model.Identifier(f.Entity.Name); entity == m.table || singular(entity) == singular(m.table) {
			own = append(own, f)
		}
	}
	if len(own) == 1 {
		return own[0], nil
	}
	if len(found[qualified]) == 1 {
		return found[qualified][0], nil
	}
	if f, ok := original(all); ok {
		return f, nil
	}
	var texts, names []string
	for _, f := range all {
		texts = append(texts, f.String())
		names = append(names, model.Identifier(f.Entity.Name)+"_"+model.Identifier(f.Attribute.Name))
	}
	return model.Field{}, fmt.Errorf("column %s could be %s: name it %s", column, strings.Join(texts, " or "), strings.Join(names, " or "))
}

// original returns the one of the fields that all others are copies of.
func original(all []model.Field) (model.Field, bool) {
	var first []model.Field
	for _, f := range all {
		if f.Attribute.Copied == nil {
			first = append(first, f)
		}
	}
	if len(first) != 1 {
		return model.Field{}, false
	}
	for _, f := range all {
		if c := f.Attribute.Copied; c != nil && c.Of != first[0].Attribute {
			return model.Field{}, false
		}
	}
	return first[0], true
}

func (m *matcher) unknown(column string, known []string) error {
	text := fmt.Sprintf("column %s is no attribute of the model", column)
	if near := model.Nearest(column, known); near != "" {
		text += fmt.Sprintf("; nearest is %q", near)
	}
	if len(m.within) > 0 {
		names := make([]string, len(m.within))
		for i, e := range m.within {
			names[i] = e.Name
		}
		text += fmt.Sprintf(" (the table's comment says that it holds %s)", strings.Join(names, ", "))
	}
	return fmt.Errorf("%s", text)
}

// singular takes the end of an English plural off.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "s"):
		return strings.TrimSuffix(name, "s")
	}
	return name
}
