package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// word is the log-odds of what a person said: nothing that was seen outweighs it, but what speaks against it is told (see state.go).
const word = 20

// rulings are corrections by what they are about, as the inference asks for them. Of nil nothing is said.
type rulings struct {
	list  correction.List
	same  map[string]string   // a table or column -> the first of its group
	alone map[string]bool     // tables that are no copy of another
	apart map[pair]string     // the firsts of two groups that are different -> because
	keys  map[string][]string // by table
	names map[string]string   // of entities by table, of roles and attributes by column
	holds map[string]string   // by column: a table, or correction.None
	joins map[[2]string]ruled // delivered and bound column, each with its statement's fingerprint or without
}

// ruled is an answer and its reason.
type ruled struct {
	yes     bool
	because string
}

func newRulings(list correction.List) *rulings {
	r := &rulings{
		list: list, same: map[string]string{}, alone: map[string]bool{}, apart: map[pair]string{}, keys: map[string][]string{}, names: map[string]string{},
		holds: map[string]string{}, joins: map[[2]string]ruled{},
	}
	unite := func(names ...string) {
		for _, n := range names {
			r.same[r.first(n)] = r.first(names[0])
		}
	}
	for i := range list {
		switch c := &list[i]; {
		case len(c.Same) > 0:
			unite(c.Same...)
		case c.Copy != "" && c.Of != correction.None:
			unite(c.Of, c.Copy)
		case c.Copy != "":
			r.alone[c.Copy] = true
		case c.Entity != "":
			if len(c.Key) > 0 {
				r.keys[c.Entity] = c.Key
			}
			if c.Name != "" {
				r.names[c.Entity] = c.Name
			}
		case c.Rename != "":
			r.names[c.Rename] = c.To
		case c.Relationship != "":
			r.holds[c.Relationship] = c.To
		case c.Join != "":
			r.joins[[2]string{c.From, c.To}] = ruled{c.Join == correction.Accept, c.Because}
			if c.Join == correction.Accept { // what travels between two columns is of one domain
				_, from := correction.Split(c.From)
				_, to := correction.Split(c.To)
				unite(from, to)
			}
		}
	}
	for i := range list { // when all groups are known
		for n, a := range list[i].Different {
			for _, b := range list[i].Different[n+1:] {
				r.apart[newPair(r.first(a), r.first(b))] = list[i].Because
			}
		}
	}
	return r
}

// first is the first of the group of a table or column.
func (r *rulings) first(name string) string {
	for r.same[name] != "" && r.same[name] != name {
		name = r.same[name]
	}
	return name
}

// alike says whether a person said that two tables, or two columns, are the same.
func (r *rulings) alike(a, b string) (yes, said bool) {
	if r == nil || a == b {
		return false, false
	}
	x, y := r.first(a), r.first(b)
	if x == y {
		return true, true
	}
	_, different := r.apart[newPair(x, y)]
	return false, different || r.alone[a] || r.alone[b]
}

// saidOf tells whether a person said whose key a column holds.
func (r *rulings) saidOf(column string) bool {
	if r == nil {
		return false
	}
	_, said := r.holds[column]
	return said
}

// holding says whether a person said that a column holds the key of a table's entity.
func (r *rulings) holding(column, table, key string) (yes, said bool) {
	if r == nil {
		return false, false
	}
	if to, ok := r.holds[column]; ok {
		same, _ := r.alike(to, table) // two tables of one entity
		return to == table || same, true
	}
	return r.alike(column, table+"."+key)
}

// rule adds what a person said about a column holding the key of a table to what else is known of it.
func (r *rulings) rule(p proof, column, table, key string) proof {
	yes, said := r.holding(column, table, key)
	switch {
	case said && yes:
		p.add("person", word, "a person said so")
	case said:
		p.add("person", -word, "a person said that it does not")
	}
	return p
}

// joined says whether a person said that a feed is a join.
func (r *rulings) joined(f *feed.Feed) (answer ruled, said bool) {
	if r == nil || len(r.joins) == 0 {
		return ruled{}, false
	}
	from, to := columnName(f.From), columnName(f.To)
	for _, a := range []string{f.From.Fingerprint + ":" + from, from} { // what is said of two statements, rather than of all
		for _, b := range []string{f.To.Fingerprint + ":" + to, to} {
			if answer, said := r.joins[[2]string{a, b}]; said {
				return answer, true
			}
		}
	}
	return ruled{}, false
}

// rate is what a statement counts, executions per second.
func (r *rulings) rate(fingerprint string, observed float64) float64 {
	if r == nil {
		return observed
	}
	for i := range r.list {
		if c := &r.list[i]; c.Weight != "" && strings.HasPrefix(fingerprint, bare(c.Weight)) {
			if c.PerSecond != nil {
				return *c.PerSecond
			}
			return *c.Times * observed
		}
	}
	return observed
}

// bare is a fingerprint without the mark of a conceptual statement.
func bare(weight string) string {
	return strings.TrimPrefix(strings.TrimPrefix(weight, "q-"), "w-")
}

// called is the name that a person gave to a table's entity or to what a column holds, or otherwise.
func (r *rulings) called(name, otherwise string) string {
	if r != nil && r.names[name] != "" {
		return r.names[name]
	}
	return otherwise
}

// keyOf is the key that a person said a table's entity has, if it has these columns.
func (r *rulings) keyOf(t *schema.Table, name string) ([]string, bool) {
	if r == nil || len(r.keys[name]) == 0 {
		return nil, false
	}
	for _, k := range r.keys[name] {
		if t.Column(k) == nil {
			return nil, false
		}
	}
	return r.keys[name], true
}

// ruledCopy is copyOf with what people said: of tables that they hold apart it is nil, and of those that are the same it is a copy
// whatever was seen, if the one has the other's key.
func (b *modeller) ruledCopy(src, base *source) *copied {
	yes, said := b.ruled.alike(src.name.String(), base.name.String())
	if !said {
		return b.copyOf(src, base)
	}
	if !yes {
		return nil
	}
	c := &copied{of: base, columns: map[string]string{}}
	for _, x := range src.schema.Columns {
		if of := b.counterpart(src, base, x.Name); of != x.Name && base.schema.Column(of).Type == x.Type {
			c.columns[x.Name] = of
		}
	}
	b.seen(c, src, base)
	for _, x := range src.schema.Columns {
		if o := base.schema.Column(x.Name); c.columns[x.Name] == "" && o != nil && o.Type == x.Type && c.column(o.Name) == "" {
			c.columns[x.Name] = o.Name
		}
	}
	for _, k := range base.key {
		if c.column(k) == "" {
			return nil
		}
	}
	b.alike(c, src, base)
	c.proof.add("person", word, "a person said so")
	return c
}

// seen adds what was seen of a copy's columns to what a person said of them: a person who says that a table is a copy does not say that of the columns
// nothing is known any more.
func (b *modeller) seen(c *copied, src, base *source) {
	found := &copied{of: base, columns: map[string]string{}}
	if !b.written(found, src, base) && !b.paired(found, src, base) && !b.identified(found, src, base) {
		if found = b.asMany(src, base); found == nil {
			return
		}
	}
	for _, x := range src.schema.Columns {
		if of := found.columns[x.Name]; of != "" && c.columns[x.Name] == "" && c.column(of) == "" {
			c.columns[x.Name] = of
		}
	}
	c.proof = append(c.proof, found.proof...)
}

// saidCopy reports whether a person said that a table holds the rows of another one, rather than that one its rows: of several tables
// that are the same the one that people name first is the base, unless only another has all columns.
func (b *modeller) saidCopy(src *source) bool {
	if b.ruled == nil {
		return false
	}
	return slices.ContainsFunc(b.sources, func(other *source) bool {
		if yes, said := b.ruled.alike(src.name.String(), other.name.String()); !said || !yes {
			return false
		}
		switch name := b.ruled.first(src.name.String()); {
		case name == other.name.String():
			return b.within(src, other) == "" || b.within(other, src) != ""
		case name == src.name.String():
			return b.within(src, other) == "" && b.within(other, src) != ""
		}
		return false
	})
}

// within says which column of a table has no counterpart in another one; "" if all have.
func (b *modeller) within(src, other *source) string {
	for _, c := range src.schema.Columns {
		o := other.schema.Column(b.counterpart(src, other, c.Name))
		if o == nil || o.Type != c.Type {
			return c.Name
		}
	}
	return ""
}

// counterpart is the column of a table that is the same as a column of another one: by what a person said, else by name.
func (b *modeller) counterpart(src, other *source, column string) string {
	if b.ruled == nil {
		return column
	}
	for _, c := range other.schema.Columns {
		if yes, said := b.ruled.alike(src.name.String()+"."+column, other.name.String()+"."+c.Name); said && yes {
			return c.Name
		}
	}
	return column
}

// Pinned writes down what is inferred now of what is pinned: each pin becomes lines of other kinds. notes say which.
func (m *Model) Pinned(list correction.List) (out correction.List, notes []string) {
	for i := range list {
		c := list[i]
		if c.Pin == "" {
			out = append(out, c)
			continue
		}
		for _, fixed := range m.pinned(c.Pin) {
			fixed.Because, fixed.Question = c.Because, c.Question
			if fixed.Because == "" {
				fixed.Because = "pinned"
			}
			if !out.Has(&fixed) && !list.Has(&fixed) {
				out = append(out, fixed)
			}
			notes = append(notes, fmt.Sprintf("%s is pinned: %s", c.Pin, fixed.String()))
		}
	}
	return out, notes
}

func (m *Model) pinned(name string) correction.List {
	if !correction.IsColumn(name) {
		for i := range m.Entities {
			e := &m.Entities[i]
			switch at := slices.Index(e.Tables, name); {
			case at == 0:
				keyspace, table, _ := correction.Parts(name)
				src := m.source(keyspace, table)
				if src == nil {
					return nil
				}
				return correction.List{{Entity: name, Name: e.Name, Key: slices.Clone(src.key)}}
			case at > 0:
				return correction.List{{Same: []string{e.Tables[0], name}}}
			}
		}
		return nil
	}
	for i := range m.Relationships {
		if r := &m.Relationships[i]; r.Column == name {
			for k := range m.Entities {
				if m.Entities[k].Name == r.To {
					return correction.List{{Relationship: name, To: m.Entities[k].Tables[0]}}
				}
			}
		}
	}
	return correction.List{{Relationship: name, To: correction.None}}
}

// source is a table of the model, nil if it is none.
func (m *Model) source(keyspace, name string) *source { return m.tables[table{keyspace, name}] }
