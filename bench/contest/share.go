package contest

import (
	"strconv"

	"github.com/helenus-db/helenus/advisor/model"
)

// Shared are the tables of several entries, those that are the same once. Each has a name of its own.
//
// Writes of several entries meet in such tables. What one of them has changed, another finds changed: so runners of one
// keyspace are given different parameters (Runner.Keyspace), and only chance lets two of them write the same entity. A table
// that the writer does not know keeps a row of such an entity as it was.
type Shared struct {
	Tables []*model.Table
	same   map[*model.Table]*model.Table
}

// Share names the entries' tables.
func Share(entries []*Entry) *Shared {
	s := &Shared{same: map[*model.Table]*model.Table{}}
	known, names := map[string]*model.Table{}, map[string]bool{}
	for _, e := range entries {
		for _, t := range e.Tables {
			id := t.ID()
			first := known[id]
			if first == nil {
				first, known[id] = t, t
				for n, name := 2, t.Name; names[t.Name]; n++ {
					t.Name = name + "_" + strconv.Itoa(n)
				}
				names[t.Name] = true
				s.Tables = append(s.Tables, t)
			}
			t.Name = first.Name
			s.same[t] = first
		}
	}
	return s
}

// Join puts the entries' tables where Tables are, once they have a keyspace.
func (s *Shared) Join() {
	for t, first := range s.same {
		t.Keyspace = first.Keyspace
	}
}
