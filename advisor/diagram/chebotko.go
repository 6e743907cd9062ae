package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/internal/words"
)

// perLabel is how many queries stand in one label; more of the same way have a label each for so many.
const perLabel = 6

// Picture is the Chebotko diagram of a schema, at the logical or the physical level.
func (s *Schema) Picture(kind picture.Kind) *picture.Picture {
	level := "logical"
	if kind == picture.Physical {
		level = "physical"
	}
	p := &picture.Picture{Kind: kind, Title: s.Name, Subtitle: fmt.Sprintf("Chebotko diagram, %s level: %s%s", level, words.Plural(len(s.Tables), "table", "tables"), s.within())}
	if len(s.Queries) > 0 {
		p.Subtitle += ", " + words.Plural(len(s.Queries), "access pattern", "access patterns")
	}
	for _, t := range s.Tables {
		p.Boxes = append(p.Boxes, picture.Box{Shape: picture.Table, Name: s.title(t), Rows: t.rows(kind)})
	}
	s.arrows(p)
	if kind == picture.Physical {
		for _, t := range s.Types {
			p.Boxes = append(p.Boxes, picture.Box{Shape: picture.UserType, Name: t.Title(), Rows: fieldRows(t.Fields, kind)})
		}
	} else {
		p.Boxes = append(p.Boxes, s.composites()...)
	}
	p.Add(s.notation(kind))
	var items []picture.Item
	for _, q := range s.Queries {
		items = append(items, picture.Item{Sign: q.Number, Name: q.Name, Text: q.Text})
	}
	p.Add(picture.List{Heading: "Access patterns", Items: items})
	p.Add(unshown(s.Unshown))
	return p
}

// within names the one keyspace of all tables.
func (s *Schema) within() string {
	if len(s.Tables) == 0 || s.Tables[0].Keyspace == "" || slices.ContainsFunc(s.Tables, func(t *Table) bool { return t.Keyspace != s.Tables[0].Keyspace }) {
		return ""
	}
	return " of keyspace " + s.Tables[0].Keyspace
}

func unshown(list []string) picture.List {
	l := picture.List{Heading: "What the diagram does not show"}
	for _, text := range list {
		l.Items = append(l.Items, picture.Item{Text: text})
	}
	return l
}

func (t *Table) rows(kind picture.Kind) []picture.Row {
	rows := make([]picture.Row, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		rows[i] = picture.Row{Name: c.Name, Mark: c.Mark()}
		if kind == picture.Physical {
			rows[i].Type = c.Type.String()
		} else {
			rows[i].Name = Logical(c.Name, c.Type)
		}
		before := i > 0 && (t.Columns[i-1].Part == Partition || t.Columns[i-1].Part == Clustering)
		rows[i].Split = before && c.Part != Partition && c.Part != Clustering
	}
	return rows
}

func fieldRows(fields []Field, kind picture.Kind) []picture.Row {
	rows := make([]picture.Row, len(fields))
	for i, f := range fields {
		rows[i] = picture.Row{Name: f.Name, Type: f.Type.String()}
		if kind != picture.Physical {
			rows[i] = picture.Row{Name: Logical(f.Name, f.Type)}
		}
	}
	return rows
}

// composites are the boxes of user-defined types and tuples at the logical level: one for each column that has some, called
// after it with its notation (D-6). Columns of the same name and type share one.
func (s *Schema) composites() []picture.Box {
	var boxes []picture.Box
	add := func(name string, t cql.Type, names []string) {
		found, ok := composite(t)
		if !ok {
			return
		}
		b := picture.Box{Shape: picture.UserType, Name: Logical(name, t)}
		if found.UDT {
			i := slices.IndexFunc(s.Types, func(u *Type) bool {
				return u.Title() == found.Name && (found.Keyspace == "" || u.Keyspace == found.Keyspace)
			})
			if i < 0 {
				return // it was not defined: its name says all there is
			}
			b.Rows = fieldRows(s.Types[i].Fields, picture.Logical)
		} else {
			for i, of := range found.Args {
				field := fmt.Sprint(i + 1) // CQL has no names for them
				if i < len(names) {
					field = names[i]
				}
				b.Rows = append(b.Rows, picture.Row{Name: Logical(field, of)})
			}
		}
		if !slices.ContainsFunc(boxes, func(o picture.Box) bool { return o.Name == b.Name && slices.Equal(o.Rows, b.Rows) }) {
			boxes = append(boxes, b)
		}
	}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			add(c.Name, c.Type, c.Fields)
		}
	}
	for _, t := range s.Types {
		for _, f := range t.Fields {
			add(f.Name, f.Type, nil)
		}
	}
	return boxes
}

// arrows draws access patterns: those of the same way in one link, entries from a label of their own.
func (s *Schema) arrows(p *picture.Picture) {
	type way struct{ from, to int }
	var ways []way
	queries := map[way][]int{}
	for _, a := range s.Arrows {
		w := way{a.From, a.To}
		if len(queries[w]) == 0 {
			ways = append(ways, w)
		}
		if !slices.Contains(queries[w], a.Query) {
			queries[w] = append(queries[w], a.Query)
		}
	}
	for _, w := range ways {
		for chunk := range slices.Chunk(queries[w], perLabel) {
			var numbers, names []string
			for _, q := range chunk {
				numbers = append(numbers, s.Queries[q].Number)
				names = append(names, s.Queries[q].Number+" "+s.Queries[q].Name)
			}
			label, detail := strings.Join(numbers, ", "), strings.Join(names, "; ")
			l := picture.Link{From: w.from, To: w.to, Label: label, Finish: picture.Arrow, Detail: detail}
			if w.from < 0 {
				l.From, l.Label = len(p.Boxes), ""
				p.Boxes = append(p.Boxes, picture.Box{Shape: picture.Entry, Name: label})
			}
			p.Links = append(p.Links, l)
		}
	}
}

// notation explains the signs that occur.
func (s *Schema) notation(kind picture.Kind) picture.List {
	l := picture.List{Heading: "Notation"}
	has := func(sign, text string, found bool) {
		if found {
			l.Items = append(l.Items, picture.Item{Sign: sign, Text: text})
		}
	}
	any := func(is func(*Column) bool) bool {
		return slices.ContainsFunc(s.Tables, func(t *Table) bool {
			return slices.ContainsFunc(t.Columns, func(c Column) bool { return is(&c) })
		})
	}
	named := func(sign byte) bool { // of types, in any field
		return any(func(c *Column) bool { return strings.IndexByte(Logical(" ", c.Type), sign) >= 0 })
	}
	has("K", "partition key", true)
	has("C↑ C↓", "clustering column, in ascending or descending order", any(func(c *Column) bool { return c.Part == Clustering }))
	has("S", "static: once for each partition", any(func(c *Column) bool { return c.Part == Static }))
	has("IDX", "secondary index", any(func(c *Column) bool { return c.Indexed }))
	has("++", "counter", any(func(c *Column) bool { return c.Type.Name == "counter" }))
	if kind != picture.Physical {
		has("[ ]", "list", named('['))
		has("{ }", "set", named('{'))
		has("< >", "map", named('<'))
		has("* *", "user-defined type, in a box of its own", named('*'))
		has("( )", "tuple, in a box of its own", named('('))
	}
	has("Qn →", "from a label: the query's values come from outside; from a table: what was found there is what it asks by", len(s.Arrows) > 0)
	return l
}
