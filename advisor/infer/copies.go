package infer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file finds copies: tables whose rows are rows of another table, arranged otherwise, under other names, with more columns or
// with fewer.

// Bounds of copies.
const (
	// once is the share of rows with a value of their own from which on a column is taken to have each value once: measurements are estimates, within
	// some 2 % (HyperLogLog with 2^12 registers).
	once = 0.98
	// fewRows is how many rows say nothing about values being different: so many of a thousand are mostly different by chance.
	fewRows = 30
	// fewCounted is how many rows say, where all were counted, that values are there twice.
	fewCounted = 8
	// manyRows and fewValues are when a column is one of few values: a state, a bucket.
	manyRows, fewValues = 1000, 64
	// Full is the share of the base table's rows that a copy has to have to be asked in its place. Measurements of two tables differ by some percent.
	Full = 0.95
)

// copied is how a table holds the rows of another one.
type copied struct {
	of      *source
	columns map[string]string // its columns, and those of the other that they hold
	proof   proof
}

func (c *copied) certainty() float64 {
	if c == nil {
		return 0
	}
	return c.proof.probability()
}

// group finds the tables that hold another table's entity. Tables are looked at by how well they would do as the one that the others are copies of: one after the other
// becomes a copy of one before it, or a base. One that turns out to have the rows of a base before it, and many more, is looked at before that, and all after it anew.
func (b *modeller) group() {
	said := map[*source]bool{}
	for _, src := range b.sources {
		said[src] = b.saidCopy(src)
	}
	order := slices.Clone(b.sources)
	slices.SortStableFunc(order, func(x, y *source) int {
		if said[x] != said[y] { // what a person calls a copy is no base
			if said[x] {
				return 1
			}
			return -1
		}
		a, c := x.standing(), y.standing()
		for i := range a {
			if a[i] != c[i] {
				return a[i] - c[i]
			}
		}
		return strings.Compare(x.name.String(), y.name.String())
	})
	asked := make([]int, len(order)) // questions before each
	var bases []*source
	moves := 0
	for n := 0; n < len(order); n++ {
		src := order[n]
		asked[n] = len(b.m.Questions)
		whole := !said[src] && moves < len(order)
		if of := slices.IndexFunc(bases, func(x *source) bool { return whole && b.part(x, src) }); of >= 0 {
			moves++
			at := slices.Index(order, bases[of])
			for _, x := range order[at:n] {
				b.ungroup(x)
			}
			copy(order[at+1:n+1], order[at:n])
			order[at] = src
			b.m.Questions, bases = b.m.Questions[:asked[at]], bases[:of]
			n = at - 1
			continue
		}
		best, second := b.closest(src, bases)
		if best.certainty() < Probable || best.certainty() == second.certainty() {
			if best.certainty() < doubtful {
				best = b.likeliest(src, bases)
			}
			bases = append(bases, src)
			b.askCopy(src, best, second)
			continue
		}
		b.takeForCopy(src, best, second)
	}
	b.regroup(bases)
}

// takeForCopy makes a table a copy, and asks whether it is one unless that is proven. second is the next that it could be one of.
func (b *modeller) takeForCopy(src *source, best, second *copied) {
	if best.certainty() < Proven {
		b.askTaken(src, best, second)
	}
	src.base, src.copied = best.of, best
	b.views[best.of] = append(b.views[best.of], src)
}

// ungroup takes back of which table one was found to be a copy.
func (b *modeller) ungroup(src *source) {
	if src.base != src {
		b.views[src.base] = slices.DeleteFunc(b.views[src.base], func(x *source) bool { return x == src })
		src.base, src.copied = src, nil
	}
}

// closest are the two bases of which a table is most probably a copy; nil if there are none.
func (b *modeller) closest(src *source, bases []*source) (best, second *copied) {
	for _, base := range bases {
		switch c := b.ruledCopy(src, base); {
		case c == nil:
		case c.certainty() > best.certainty():
			best, second = c, best
		case c.certainty() > second.certainty():
			second = c
		}
	}
	return best, second
}

// likeliest is the one of the tables that a table is asked about because it has as many rows, nil if there is none.
func (b *modeller) likeliest(src *source, bases []*source) (best *copied) {
	for _, base := range bases {
		if _, said := b.ruled.alike(src.name.String(), base.name.String()); said {
			continue
		}
		if c := b.asMany(src, base); c != nil && c.certainty() < Probable && c.certainty() > best.certainty() {
			best = c
		}
	}
	return best
}

// asMany says how a table may have the rows of another one because it has as many, each called by an integer: counters beside what they count, of which no value
// travels between the two. That is worth a question, and no more; of keys that are no integers values say it.
func (b *modeller) asMany(src, base *source) *copied {
	one, other := src.schema.PrimaryKey(), base.schema.PrimaryKey()
	if len(one) != 1 || len(other) != 1 || one[0].Type != other[0].Type || !dense(one[0].Type) || src.name.keyspace != base.name.keyspace ||
		src.stats == nil || base.stats == nil || src.rows() < fewRows || src.rows() < Full*base.rows() || base.rows() < Full*src.rows() {
		return nil
	}
	c := &copied{of: base, columns: map[string]string{one[0].Name: other[0].Name}, proof: b.weigh(src, one[0], base, true)}
	c.proof.add("size", 0.3, "%s has %.0f rows, %s %.0f", src.name, src.rows(), base.name, base.rows())
	return c
}

// standing orders tables by how well they would do as a base, the best first: no counters; a key of one column; UUIDs before numbers before texts, since a
// text may be changed, and what it finds is called by something else; of several columns few, since what tells the same rows apart with fewer is their key, and the rest
// is there for its order; a key which is the whole primary key (a tenant may go before it); not asked for by something else by its name; called after its key, or else with a key
// that is called id and no more, which is a table's own; many columns; a name of few words, which others are called after.
func (s *source) standing() [9]int {
	out := [9]int{0, 1, 2, len(s.key), 1, 0, 2, -len(s.schema.Columns), len(s.noun)}
	if s.schema.Counter {
		out[0] = 1
	}
	if len(s.key) == 1 {
		out[1] = 0
		switch t := s.schema.Column(s.key[0]).Type; {
		case t == "uuid" || t == "timeuuid":
			out[2] = 0
		case dense(t):
			out[2] = 1
		}
	}
	if len(s.schema.PrimaryKey()) == 1 {
		out[4] = 0
	}
	if s.by {
		out[5] = 1
	}
	switch about := subject(s.key[0]); {
	case s.called(about):
		out[6] = 0
	case len(about) == 0:
		out[6] = 1
	}
	return out
}

// copyOf says how src holds the rows of base, nil if nothing speaks for that.
func (b *modeller) copyOf(src, base *source) *copied {
	if src.name.keyspace != base.name.keyspace && len(b.duals[[2]table{src.name, base.name}].columns) == 0 {
		return nil
	}
	c := &copied{of: base, columns: map[string]string{}}
	switch {
	case b.named(c, src, base), b.written(c, src, base), !slicesOfOne(src, base) && b.identified(c, src, base), b.paired(c, src, base), b.carried(c, src, base), b.namedWithMore(c, src, base), b.extended(c, src, base), b.rearranged(c, src, base), b.counted(c, src, base):
	default:
		return nil
	}
	b.alike(c, src, base)
	if !b.arranged(c, src, base) {
		return nil
	}
	return c
}

// written is a copy by what is written: an INSERT into the one goes with one into the other, and the key has the same values.
func (b *modeller) written(c *copied, src, base *source) bool {
	d := b.duals[[2]table{base.name, src.name}]
	for _, x := range d.columns {
		of, to := base.schema.Column(x[0]), src.schema.Column(x[1])
		if of == nil || to == nil || of.Type != to.Type {
			continue
		}
		if x[0] != x[1] && (c.columns[x[1]] != "" || c.column(x[0]) != "") { // of several equal columns those of one name belong together, else the first
			continue
		}
		for other, y := range c.columns {
			if y == x[0] {
				delete(c.columns, other)
			}
		}
		c.columns[x[1]] = x[0]
	}
	for _, k := range base.key {
		if c.column(k) == "" {
			clear(c.columns)
			return false
		}
	}
	for _, x := range src.schema.PrimaryKey() {
		if d.fans(base.key) && c.columns[x.Name] == "" { // writes of it for one of the other, with a key of their own: a fan-out
			clear(c.columns)
			return false
		}
	}
	if len(c.columns) == len(base.key) && b.numberedApart(c, src, base) {
		clear(c.columns)
		return false
	}
	c.proof.add("burst", 4, "%d times an INSERT went with one into %s, and %d columns had the same values", d.writes, base.name.table, len(c.columns))
	return true
}

// numberedApart tells whether two tables, that have nothing but the base's key of several columns in common, count for themselves what belongs to something else: the lines of a booking and its
// passengers, each from one on. One counts what it is called after, and so does the other, or there are more of the one, or fewer, which it calls otherwise: the steps of a recipe and its ingredients.
func (b *modeller) numberedApart(c *copied, src, base *source) bool {
	measured := src.countable() && base.countable()
	for _, k := range base.key {
		x := c.column(k)
		if len(base.key) < 2 || !dense(base.schema.Column(k).Type) {
			continue
		}
		if x != k && (src.counts(x) && base.counts(k) || measured && src.rows() < Full*base.rows()) || measured && base.rows() < Full*src.rows() {
			return true
		}
	}
	return false
}

// counts tells whether a column is called after what a row of its table is: the line_no of booking_lines.
func (s *source) counts(column string) bool {
	about := subject(column)
	return len(about) > 0 && (s.called(about) || endsIn(s.noun, about))
}

// fans tells whether several INSERTs into the other table go with one, with its key. What has another value in common, as calls from one cell have, is something else.
func (d *dual) fans(key []string) bool {
	least := math.Inf(1)
	for i, x := range d.columns {
		if slices.Contains(key, x[0]) {
			least = min(least, d.means[i])
		}
	}
	return least > onceWritten
}

// identified is a copy by its key: a column that has each value once holds the other's key.
func (b *modeller) identified(c *copied, src, base *source) bool {
	if len(base.key) != 1 {
		return false
	}
	key := base.schema.Column(base.key[0])
	for _, x := range src.schema.Columns {
		alone := len(src.schema.PrimaryKey()) == 1 && src.keyed(x.Name)
		unique := src.once(x.Name) && !differentAnyway(src.rows(), base.rows())
		unmeasured := src.stats == nil && src.keyed(x.Name) && len(src.key) == 1
		if !alone && !unique && !unmeasured {
			continue
		}
		if as := b.as(src, x, base); as == "" || b.shared(src, x, as) || b.apart(src, x, base) {
			continue
		}
		weigh := func(worded bool) proof {
			p := b.weigh(src, x, base, worded)
			if c := p.probability(); dense(key.Type) && c < Probable && c >= doubtful/2 && src.rows() <= base.rows()/once {
				p = append(p, b.sibling(src, base)...)
			}
			return p
		}
		if weigh(false).probability() < Probable {
			continue
		}
		p := weigh(true)
		c.columns[x.Name] = key.Name
		c.proof = append(c.proof, p...)
		if unique || alone {
			c.proof.add("dependency", 2, "each value of %s is there once", x.Name)
		}
		return true
	}
	return false
}

// once tells whether a column has nearly as many values as the table has rows, as far as so many rows say something.
func (s *source) once(column string) bool {
	return s.rows() >= fewRows && s.distinct(column) >= once*s.rows()
}

// differentAnyway tells whether so many rows, each with one of so many keys, drawn as it comes, would have nearly as many different ones: 300 rides of 20,000 riders mostly are
// of 300 riders, and none of these has a single ride for that. Then rows that have a value each say nothing of whether another one may come.
func differentAnyway(rows, keys float64) bool {
	return keys > 0 && rows > 0 && keys*-math.Expm1(-rows/keys) >= once*rows
}

// sibling weighs whether a column that is no key, and has nearly as many values as rows, has those of one of the other table: a title, a name. Small integers say
// nothing of keys; this does.
func (b *modeller) sibling(src, base *source) (p proof) {
	for _, x := range src.nearlyUnique() {
		for _, y := range base.nearlyUnique() {
			if x.Type != y.Type || len(p) > 0 {
				continue
			}
			if odds, text := b.contained(src.id(x.Name), base.id(y.Name), x.Type, base.distinct(y.Name)); odds > 0 {
				p.add("values", odds, "%s and %s: %v", src.id(x.Name), base.id(y.Name), text)
			}
		}
	}
	return p
}

// nearlyUnique are the columns that are no key, have at least half as many values as rows, and values that say what they are of.
func (s *source) nearlyUnique() []schema.Column {
	if s.unique == nil {
		s.unique = []schema.Column{}
		for _, c := range s.schema.Columns {
			if !dense(c.Type) && !timelike(c.Type) && !s.keyed(c.Name) && s.distinct(c.Name) >= 0.5*s.rows() {
				s.unique = append(s.unique, c)
			}
		}
	}
	return s.unique
}

// column is the copy's column that holds one of the base, "" if none does.
func (c *copied) column(of string) string {
	found := ""
	for x, y := range c.columns {
		if y == of && (found == "" || x < found) {
			found = x
		}
	}
	return found
}

// alike finds the rest of a copy's columns: those of the same name and type, then those whose values are the other's.
func (b *modeller) alike(c *copied, src, base *source) {
	free := func(name string) bool { return c.column(name) == "" }
	for _, x := range src.schema.Columns {
		if o := base.schema.Column(x.Name); c.columns[x.Name] == "" && o != nil && o.Type == x.Type && free(o.Name) && b.tells(x.Name) && !b.namesakes(c, src, base, x.Name) {
			c.columns[x.Name] = o.Name
		}
	}
	for _, x := range src.schema.Columns {
		if c.columns[x.Name] != "" || dense(x.Type) || timelike(x.Type) || src.rows() >= manyRows && src.distinct(x.Name) <= fewValues {
			continue
		}
		only, n := "", 0
		for _, y := range base.schema.Columns {
			if y.Type != x.Type || !free(y.Name) {
				continue
			}
			if odds, _ := b.contained(src.id(x.Name), base.id(y.Name), x.Type, base.distinct(y.Name)); odds > 0 {
				only, n = y.Name, n+1
			}
		}
		if n == 1 {
			c.columns[x.Name] = only
		}
	}
	b.agreeing(c, src, base)
}

// agreeing finds which columns of a copy are which by rows: a row of both says the same. Small integers say it only so.
func (b *modeller) agreeing(c *copied, src, base *source) {
	if len(base.key) != 1 || c.column(base.key[0]) == "" {
		return
	}
	at := c.column(base.key[0])
	for _, x := range src.schema.Columns {
		if c.columns[x.Name] != "" {
			continue
		}
		best, most := "", agreement{}
		for _, y := range base.schema.Columns {
			if y.Type != x.Type || c.column(y.Name) != "" {
				continue
			}
			if a := b.among(src, at, x.Name, base, base.key[0], y.Name); a.beyond() && a.excess() > most.excess() {
				best, most = y.Name, a
			}
		}
		if best != "" {
			c.columns[x.Name] = best
			c.proof.add("values", 1, "with the same %s, %s is %s in %d of %d rows looked at, %d by chance", at, src.id(x.Name), base.id(best), most.agreed, most.n, most.decoys)
		}
	}
}

// arranged tells whether a row of the base is one row of the copy: what else is in the copy's primary key is no identity of its own.
func (b *modeller) arranged(c *copied, src, base *source) bool {
	for _, k := range base.key {
		if c.column(k) == "" {
			return false
		}
	}
	identity := len(base.key) == 1 && src.once(c.column(base.key[0])) && !differentAnyway(src.rows(), base.rows())
	for _, x := range src.schema.PrimaryKey() {
		if d := src.distinct(x.Name); identity && d > 0 && d < once*src.rows() {
			continue // what it is is determined by the base's key, and it determines nothing
		}
		if c.columns[x.Name] != "" || timelike(x.Type) || b.bucket(x) || identity && b.lookUp(c, src, x) || src.rows() >= manyRows && src.distinct(x.Name) > 0 && src.distinct(x.Name) <= fewValues {
			continue
		}
		if to, p := b.likely(src, x); to != nil && to != base && p.probability() >= Probable {
			continue
		}
		return false
	}
	if b.overwrites(c, src, base) || b.outgrows(src, base) || b.repeats(c, src, base) {
		return false
	}
	if len(base.key) == 1 && b.severalOf(c, src, base) { // the copy's rows are different ones of the base
		return src.by && !slices.ContainsFunc(src.schema.PrimaryKey(), func(x schema.Column) bool { // by each of its tags, unless these are something themselves: then it holds pairs
			return c.columns[x.Name] == "" && slices.ContainsFunc(b.probable(src, x), func(to *source) bool { return to != base })
		})
	}
	return true
}

// severalOf tells whether a table has several rows of one key of the base: by its measurement; where that says nothing, by rows that were seen; and where none were, because more
// is inserted into it than into the base, with a key of its own. What is near to a write in time does not tell: of four stays written after a guest, only the first is, where each
// write takes long.
func (b *modeller) severalOf(c *copied, src, base *source) bool {
	key := c.column(base.key[0])
	if d := src.distinct(key); src.countable() && d > 0 {
		return d < leastOwn*src.rows()
	}
	if n, several := b.severally(c, src, base); n >= leastGroups {
		return float64(several) > (1-leastOwn)*float64(n)
	}
	ownKey := slices.ContainsFunc(src.schema.PrimaryKey(), func(x schema.Column) bool { return c.columns[x.Name] == "" })
	return ownKey && leastOwn*b.duals[[2]table{base.name, src.name}].times > 1
}

// leastOwn is which share of a copy's rows is of different rows of the base, at least: some are there twice, where the application left what a row was before. Of an
// estimate it holds as well: none is seen twice in a sample of rows that are each there once.
const leastOwn = 0.75

// countable tells whether there are enough rows for what they have twice not to be chance: fewer, where all were counted.
func (s *source) countable() bool {
	return s.stats != nil && (s.rows() >= fewRows || s.stats.Exact && s.rows() >= fewCounted)
}

// lookUp tells whether a table is nothing but another name for what it holds: a text, each once, that finds the key, and beyond these only what the base
// or its partners have. The name may be one that is nowhere else, as a mail address in lower case is.
func (b *modeller) lookUp(c *copied, src *source, name schema.Column) bool {
	if len(src.schema.PrimaryKey()) != 1 || dense(name.Type) || timelike(name.Type) || name.Type == "uuid" || name.Type == "timeuuid" {
		return false
	}
	for _, x := range src.schema.Columns {
		if x.Name == name.Name || c.columns[x.Name] != "" {
			continue
		}
		if to, p := b.likely(src, x); to == nil || p.probability() < Probable {
			return false
		}
	}
	return true
}

// covers is the share of the base table's rows that a copy has: 1 if one of them was not measured.
func (s *source) covers() float64 {
	if s.base == s || s.stats == nil || s.base.stats == nil {
		return 1
	}
	return min(1, s.rows()/max(1, s.base.rows()))
}

// id names a column. It is asked for each two of them, so names are made once.
func (s *source) id(column string) string {
	id, known := s.ids[column]
	if !known {
		id = s.name.String() + "." + column
		s.ids[column] = id
	}
	return id
}

// position is where a column stands in the primary key, -1 if it does not.
func (s *source) position(column string) int {
	return slices.IndexFunc(s.schema.PrimaryKey(), func(c schema.Column) bool { return c.Name == column })
}

// doubtful is the certainty from which on an assertion that is not made is worth a question.
const doubtful = 0.3

// askCopy asks of a table that is taken for none whether it holds the rows of another one all the same.
func (b *modeller) askCopy(src *source, list ...*copied) {
	candidates, none := candidatesOf(list)
	b.ask(Question{
		Kind: SameEntity, Subject: src.name.String(), Text: fmt.Sprintf("Does %s hold the rows of another table?", src.name), Candidates: candidates,
	}, "no, it has an entity of its own", none, true)
}

// askTaken asks of a table that is taken for a copy whether it is one: it is likely, but not proven.
func (b *modeller) askTaken(src *source, taken *copied, list ...*copied) {
	candidates, none := candidatesOf(append([]*copied{taken}, list...))
	candidates[0].Used = true
	b.ask(Question{
		Kind: IsCopy, Subject: src.name.String(), Text: fmt.Sprintf("Is %s a copy of %s, whose rows it is taken to hold?", src.name, taken.of.name), Candidates: candidates,
	}, "no, it has an entity of its own", none, false)
}

// candidatesOf are the candidates of what a table may be a copy of, in the order of the list, and how certain it is that it is none.
func candidatesOf(list []*copied) (out []Candidate, none float64) {
	none = 1
	for _, c := range list {
		if p := c.certainty(); p >= doubtful {
			out = append(out, Candidate{Answer: c.of.name.String(), Text: fmt.Sprintf("those of %s", c.of.name), Certainty: p, Evidence: c.proof})
			none = min(none, 1-p)
		}
	}
	return out, none
}

// ask adds a question that has candidates, with the candidate that none of them is right.
func (b *modeller) ask(q Question, none string, certainty float64, used bool) {
	if len(q.Candidates) == 0 {
		return
	}
	q.ID = "m-" + digestOf(string(q.Kind), q.Subject)
	q.Candidates = append(q.Candidates, Candidate{Answer: None, Text: none, Certainty: certainty, Used: used})
	slices.SortStableFunc(q.Candidates, func(a, c Candidate) int {
		switch {
		case a.Certainty > c.Certainty:
			return -1
		case a.Certainty < c.Certainty:
			return 1
		}
		return 0
	})
	keyspace, rest, _ := strings.Cut(q.Subject, ".")
	name, _, _ := strings.Cut(rest, ".")
	q.Rate = float64(b.said[table{keyspace, name}]) / b.m.Seconds
	b.m.Questions = append(b.m.Questions, q)
}

// digestOf names things by what they are.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q ", p)
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}
