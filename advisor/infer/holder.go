package infer

import (
	"sort"

	"github.com/helenus-db/helenus/capture/schema"
)

// Holder is a table that holds the rows of another one, which is asked about.
type Holder struct {
	Keyspace, Name string
	Columns        map[string]string // its columns, and those of the other table that they hold
	// Coverage is the share of the other table's rows that it has, as both were measured; 0 if one of them was not.
	Coverage  float64
	Counted   bool // Coverage is of rows that were counted in both, not estimated
	Certainty float64
	Evidence  []Evidence
}

// Holders lists the tables that hold the rows of a table, by name: its copies, what it is a copy of, and other copies of that.
func (m *Model) Holders(keyspace, name string) (list []Holder) {
	of := m.tables[table{keyspace, name}]
	if of == nil || of.view != nil {
		return nil
	}
	for _, s := range m.tables {
		if s == of || s.base != of.base || s.view != nil { // what the database keeps is behind its table for a while, and nothing here compares the two
			continue
		}
		h := Holder{Keyspace: s.name.keyspace, Name: s.name.table, Columns: map[string]string{}, Certainty: 1}
		for _, c := range s.schema.Columns {
			in := c.Name // of the base of both
			if s.base != s {
				in = s.copied.columns[c.Name]
			}
			if of.base != of && in != "" {
				in = of.copied.column(in)
			}
			if x := of.schema.Column(in); x != nil && x.Type == c.Type { // not what is made of it: the values are others
				h.Columns[c.Name] = in
			}
		}
		for _, x := range []*source{of, s} {
			if x.base != x {
				h.Certainty *= x.copied.certainty()
				h.Evidence = append(h.Evidence, x.copied.proof...)
			}
		}
		if measured(of.stats) && measured(s.stats) {
			h.Coverage, h.Counted = min(1, s.rows()/of.rows()), s.stats.Exact && of.stats.Exact
		}
		list = append(list, h)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Keyspace+"."+list[i].Name < list[j].Keyspace+"."+list[j].Name
	})
	return list
}

// measured tells whether it is known how many rows a table has, and that it has some.
func measured(s *schema.Stats) bool { return s != nil && s.Rows > 0 }
