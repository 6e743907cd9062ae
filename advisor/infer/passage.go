package infer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
)

// This file finds keys of several columns by what travels together: a stay's house, ward and bed number, from the stay that was read to the bed that is read next. Numbers
// that are alike everywhere say nothing one by one, but that all parts of a key are bound to what one statement delivered, or was asked for, does.

// passage is what travels between two statements, of two tables or of one.
type passage struct {
	from, to table
	links    []link
}

// link is a column whose values are bound to another one's variable, or, of a sibling, that is asked for the same.
type link struct {
	from, to   string
	confidence float64
	odds       float64
}

// passages notes what travels, by pair of statements, in the order of these.
func (b *modeller) passages(snapshot *capture.Snapshot) {
	of := map[[2]string]*passage{}
	note := func(f *feed.Feed, odds float64) {
		k := [2]string{f.From.Fingerprint, f.To.Fingerprint}
		if of[k] == nil {
			of[k] = &passage{from: table{f.From.Keyspace, f.From.Table}, to: table{f.To.Keyspace, f.To.Table}}
		}
		of[k].links = append(of[k].links, link{f.From.Column, f.To.Column, f.Confidence, odds})
	}
	for i := range snapshot.Feeds {
		f := &snapshot.Feeds[i]
		if answer, said := b.ruled.joined(f); f.Shape != feed.Pagination && (!said || answer.yes) {
			note(f, 3)
		}
	}
	for i := range snapshot.Echoes {
		if f := &snapshot.Echoes[i]; f.Shape == feed.Sibling {
			note(f, askedAlike)
		}
	}
	byStatements := func(x, y [2]string) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) }
	for _, k := range slices.SortedFunc(maps.Keys(of), byStatements) {
		b.together = append(b.together, of[k])
		way := [2]table{of[k].from, of[k].to}
		b.directed[way] = append(b.directed[way], of[k])
	}
}

// inBase is the column of an entity's base table that a column of one of its tables is, "" if none.
func (s *source) inBase(column string) string {
	if s.base == s {
		return column
	}
	if in := s.copied.columns[column]; s.base.schema.Column(in) != nil {
		return in
	}
	return ""
}

// linkedParts are the columns of a table that travel together with all parts of another table's key, by part, each with how sure that is; nil if some part does not.
func (b *modeller) linkedParts(p *passage, src, to *source) map[string][]link {
	one, other := b.at(p.from), b.at(p.to)
	if one == nil || other == nil {
		return nil
	}
	parts := map[string][]link{}
	note := func(in, key *source, column, part string, l link) {
		column, part = in.inBase(column), key.inBase(part)
		if column == "" || !slices.Contains(to.key, part) || in.base != src || key.base != to {
			return
		}
		l.from, l.to = column, part
		parts[part] = append(parts[part], l)
	}
	for _, l := range p.links {
		if note(one, other, l.from, l.to, l); src != to {
			note(other, one, l.to, l.from, l)
		}
	}
	for _, k := range to.key {
		if parts[k] != nil || to.held[k] == nil || len(parts) == 0 {
			continue
		}
		if src == to { // what leads to its like is of the same partner: a parent is called by its number alone
			parts[k] = []link{{k, k, 1, 3}}
		} else if c := src.only(to.held[k].to); c != "" { // so is what leads to another thing of a partner that both have
			parts[k] = []link{{c, k, 1, askedAlike}}
		}
	}
	if len(parts) < len(to.key) {
		return nil
	}
	return parts
}

// only is the column that holds the key of a partner, "" if none does, or several.
func (s *source) only(partner *source) (found string) {
	for _, c := range s.schema.Columns {
		if h := s.held[c.Name]; h != nil && h.to == partner && h.part == nil {
			if found != "" {
				return ""
			}
			found = c.Name
		}
	}
	return found
}

// passagesBetween are those between tables of two entities, in the order of their statements. They are brought into order of entities once these are known.
func (b *modeller) passagesBetween(src, to *source) []*passage {
	if b.passing == nil {
		b.passing = map[[2]*source][]*passage{}
		for _, p := range b.together {
			one, other := b.at(p.from), b.at(p.to)
			if one == nil || other == nil {
				continue
			}
			b.passing[[2]*source{one.base, other.base}] = append(b.passing[[2]*source{one.base, other.base}], p)
			if one.base != other.base {
				b.passing[[2]*source{other.base, one.base}] = append(b.passing[[2]*source{other.base, one.base}], p)
			}
		}
	}
	return b.passing[[2]*source{src, to}]
}

// at is the table of a name, nil if it is not in the model.
func (b *modeller) at(name table) *source {
	i, found := slices.BinarySearchFunc(b.sources, name.String(), func(s *source, name string) int { return cmp.Compare(s.name.String(), name) })
	if !found {
		return nil
	}
	return b.sources[i]
}

// referred is a key of several columns that columns of another table hold.
type referred struct {
	columns map[string]string // by part of the key
	proof   proof
}

// travelling finds the keys of another table that columns of a table hold by what travels together between the two, or their copies.
func (b *modeller) travelling(src, to *source) (out []referred) {
	for _, p := range b.passagesBetween(src, to) {
		parts := b.linkedParts(p, src, to)
		if parts == nil {
			continue
		}
		for _, columns := range b.pairings(src, to, parts) {
			if slices.ContainsFunc(out, func(r referred) bool { return maps.Equal(r.columns, columns) }) || src == to && itself(columns) {
				continue
			}
			r := referred{columns: columns}
			least := parts[to.key[0]][0]
			for _, k := range to.key {
				for _, l := range parts[k] {
					if l.from == columns[k] && l.odds*l.confidence < least.odds*least.confidence {
						least = l
					}
				}
			}
			r.proof.add("feed", least.odds*least.confidence, "all %d parts of the key of %s travel together between %s and %s", len(to.key), to.name, p.from, p.to)
			r.proof.add("definition", 2, "%s has them for its key", to.name)
			if b.contradicted(src, to, columns) {
				r.proof.add("values", -4, "the rows looked at do not have the same")
			}
			out = append(out, r)
		}
	}
	return out
}

// itself tells whether columns are the key's own: a row leads to itself then.
func itself(columns map[string]string) bool {
	for part, c := range columns {
		if part != c {
			return false
		}
	}
	return true
}

// pairings are the sets of columns that may hold a key, where some of its parts are bound to several columns, as those of who pays and of who is paid are: which belong
// together is told by rows, else by the first word of their names.
func (b *modeller) pairings(src, to *source, parts map[string][]link) (out []map[string]string) {
	head := to.key[0]
	for _, k := range to.key {
		if to.held[k] == nil && (to.held[head] != nil || len(parts[k]) > len(parts[head])) {
			head = k
		}
	}
	taken := map[string]bool{}
	for _, l := range parts[head] {
		if taken[l.from] {
			continue
		}
		columns := map[string]string{head: l.from}
		for _, k := range to.key {
			if k == head {
				continue
			}
			c := b.partnered(src, to, l.from, head, k, parts[k])
			if c == "" {
				columns = nil
				break
			}
			columns[k] = c
		}
		if columns != nil {
			taken[l.from] = true
			out = append(out, columns)
		}
	}
	return out
}

// partnered is which of the columns that hold a part of a key goes with a column that holds another part, "" if that is open.
func (b *modeller) partnered(src, to *source, column, head, part string, of []link) string {
	var found []string
	for _, l := range of {
		if !slices.Contains(found, l.from) {
			found = append(found, l.from)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	best, most := "", agreement{}
	for _, c := range found {
		for _, a := range []agreement{b.among(src, c, column, to, part, head), b.among(src, column, c, to, head, part)} {
			if a.beyond() && a.excess() > most.excess() {
				best, most = c, a
			}
		}
	}
	if best != "" {
		return best
	}
	for _, c := range found {
		if x, y := words(column), words(c); b.tells(column) && b.tells(c) && x[0] == y[0] {
			if best != "" {
				return ""
			}
			best = c
		}
	}
	return best
}

// contradicted tells whether rows speak against columns holding a key: under a value of the one they have mostly what the other table has not, though enough of
// both was seen.
func (b *modeller) contradicted(src, to *source, columns map[string]string) bool {
	if !b.samples.has(src.name) || !b.samples.has(to.name) {
		return false
	}
	for _, k := range to.key {
		for _, part := range to.key {
			if k == part || columns[k] == columns[part] {
				continue
			}
			if a := b.among(src, columns[k], columns[part], to, k, part); a.n >= 3*leastGroups && float64(a.agreed) < 0.1*float64(a.n) && a.excess() <= 0 {
				return true
			}
		}
	}
	return false
}

// calledAlike finds a key that the columns of the same names hold, in a primary key that goes on where that one ends: a comment's project and number, of an issue. The
// part that is the other table's own has to be called like an identifier, or like the table.
func (b *modeller) calledAlike(src, to *source) (out []referred) {
	if src == to || len(src.schema.PrimaryKey()) < len(to.key) {
		return nil
	}
	columns, own, outside := map[string]string{}, false, false
	continued := b.continues(src, to)
	for _, k := range to.key {
		c, x := src.schema.Column(k), to.schema.Column(k)
		n := b.name(k)
		if c == nil || c.Type != x.Type || to.held[k] == nil && !continued && (!n.identifies || !numbered(n.words)) && !to.called(n.words) {
			return nil
		}
		columns[k] = k
		own = own || to.held[k] == nil && !b.another(*x, to)
		outside = outside || src.position(k) < 0
	}
	if !own || !outside && len(src.schema.PrimaryKey()) == len(to.key) || b.contradicted(src, to, columns) {
		return nil
	}
	for _, other := range b.sources {
		if other != to && other.base == other && slices.Equal(other.key, to.key) && other != src { // called alike by two
			return nil
		}
	}
	r := referred{columns: columns}
	r.proof.add("name", 2, "its columns are called like all parts of the key of %s", to.name)
	r.proof.add("definition", 1, "%s has them for its key", to.name)
	return []referred{r}
}

// continues tells whether a table's primary key begins with all of another one's, in the same order and under the same names, which are no times' unless it is called after that one, and goes on: what
// there is of each version of a document. Unless it is called so, most rows have to agree, though small numbers do that by chance, too.
func (b *modeller) continues(src, to *source) bool {
	one, other := src.schema.PrimaryKey(), to.schema.PrimaryKey()
	if len(one) <= len(other) || len(other) != len(to.key) {
		return false
	}
	parts := begins(src.noun, to.noun) && len(src.noun) > len(to.noun) // slip_lines are of slips
	agreed := parts
	for i, k := range other {
		if one[i].Name != k.Name || one[i].Type != k.Type || timelike(k.Type) || to.held[k.Name] == nil && (!b.tells(k.Name) || period(b.name(k.Name).words) && !parts) {
			return false
		}
		for _, part := range other {
			a := b.among(src, k.Name, part.Name, to, k.Name, part.Name)
			agreed = agreed || part.Name != k.Name && a.n >= leastGroups && 2*a.agreed > a.n && a.excess() >= 0
		}
	}
	return agreed
}

// numbered tells whether a name says more than that it identifies: "bed_no" and "number", but not "id", which everything has.
func numbered(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return !marks[w] || w == "number" || w == "no" || w == "num" })
}
