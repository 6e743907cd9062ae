package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Source is a table that has each row of the join over a tree, or over a connected part of it, exactly once: read whole, it
// gives those rows, and several sources can be joined to the rows of the tree.
type Source struct {
	Table  *model.Table
	As     *Embedding    // nil: the tree's entities are the table's
	Covers uint64        // entities of the tree, by their place in it
	Fields []model.Field // of the tree, that the table has
	// Lacking are fields of the tree that are in the table's key and may have no value: rows without one are not in the
	// table. Beyond: there is such a field of an entity beyond the tree.
	Lacking []model.Field
	Beyond  bool
}

// Sources returns the ways in which tables are sources of a tree's rows. Look-up tables are none, as they may have entries
// that no longer hold. Of a table with collections it is the rows.
func Sources(tree model.Tree, tables []*model.Table) []Source {
	b := &builder{query: &workload.Query{Tree: tree}}
	var list []Source
	for _, t := range tables {
		if t.Base != nil {
			continue
		}
		for _, u := range b.usablesOf(t) {
			if len(u.nests) > 0 {
				continue
			}
			s := Source{Table: t, As: u.as, Covers: u.common}
			for _, column := range t.Fields() {
				f := u.as.Field(column)
				if u.as == nil && !tree.Has(column.Entity) {
					f = model.Field{}
				}
				if !f.IsZero() {
					s.Fields = append(s.Fields, f)
				}
				if t.Existing || column.Attribute.Null == 0 || !t.InKey(column) && (t.Bucket == nil || t.Bucket.Of != column) {
					continue
				}
				if f.IsZero() {
					s.Beyond = true
				} else {
					s.Lacking = append(s.Lacking, f)
				}
			}
			list = append(list, s)
		}
	}
	return list
}

// Holds reports whether the table has a field of the tree.
func (s *Source) Holds(f model.Field) bool { return slices.Contains(s.Fields, f) }
