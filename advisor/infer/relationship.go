package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// prior is the log-odds that any two columns of the same type are the same thing.
const prior = -1

// caps keep groups of evidence that say the same several times from piling up.
var caps = map[string]float64{"name": 2, "type": 1, "size": 3, "feed": 5, "values": 3, "dependency": 3, "definition": 2, "burst": 5, "person": word}

// groups are all of them, in a fixed order: floating-point sums depend on it.
var groups = []string{"name", "type", "size", "feed", "values", "dependency", "definition", "burst", "person"}

// proof is a list of evidence for one assertion.
type proof []Evidence

func (p *proof) add(group string, odds float64, format string, args ...any) {
	*p = append(*p, Evidence{group, odds, fmt.Sprintf(format, args...)})
}

// addIf is add that leaves the words out where nobody will read them: of a thousand assertions that are weighed against each other a few are told.
func (p *proof) addIf(worded bool, group string, odds float64, format string, args ...any) {
	if worded {
		p.add(group, odds, format, args...)
		return
	}
	*p = append(*p, Evidence{Group: group, LogOdds: odds})
}

// probability adds the groups up, each capped, on the prior.
func (p proof) probability() float64 {
	if len(p) == 0 {
		return 0
	}
	sum := float64(prior)
	for _, g := range groups {
		sum += min(p.odds(g), caps[g])
	}
	return math.Round(1000/(1+math.Exp(-sum))) / 1000
}

// odds is what a group says.
func (p proof) odds(group string) float64 {
	sum := 0.0
	for _, e := range p {
		if e.Group == group {
			sum += e.LogOdds
		}
	}
	return sum
}

// target is a table whose key a column may hold.
type target struct {
	to          *source
	in          *source // whose column the proof is of: the table, or one of its copies
	column      schema.Column
	as          string // the column with its values: itself, or a piece of its texts
	proof       proof  // worded, of the first that are told
	probability float64
}

// told is how many targets of a column are told of, in a question.
const told = 4

// targets lists the tables whose key a column may hold, the likeliest first. Those of another keyspace are among them if values say so, and if
// none of its own is as good: applications share a cluster, and their names.
func (b *modeller) targets(src *source, c schema.Column) []target {
	var out []target
	home := false
	for _, to := range b.sources {
		if to.base != to || to.linked || len(to.key) != 1 || to == src && src.keyed(c.Name) {
			continue
		}
		t := target{to: to, in: src, column: c, as: b.as(src, c, to)}
		if t.as == "" {
			continue
		}
		b.assert(&t, false)
		said := b.ruled.saidOf(src.id(c.Name))
		for _, view := range b.views[src] { // a copy's column is the same column under another name: what a person said of either, else whichever says most
			if said {
				break
			}
			if x := view.schema.Column(view.copied.column(c.Name)); x != nil {
				other := target{to: to, in: view, column: *x, as: b.as(view, *x, to)}
				if other.as == "" {
					continue
				}
				said = b.ruled.saidOf(view.id(x.Name))
				if b.assert(&other, false); said || other.probability > t.probability {
					t = other
				}
			}
		}
		p, probability := t.proof, t.probability
		travels := p.odds("feed")+p.odds("values")+p.odds("person") > 0 // or a person knows that they do
		switch {
		case to == src.base && !travels: // that something leads to its like is rarer than a second name for a thing
			continue
		case to.name.keyspace != src.name.keyspace && !travels:
			continue
		case to.name.keyspace == src.name.keyspace && probability >= Probable:
			home = true
		}
		out = append(out, t)
	}
	if home {
		out = slices.DeleteFunc(out, func(t target) bool { return t.to.name.keyspace != src.name.keyspace && t.proof.odds("feed") <= 0 })
	}
	slices.SortStableFunc(out, func(x, y target) int { return cmp.Compare(y.probability, x.probability) })
	for i := range out[:min(len(out), told)] {
		b.assert(&out[i], true)
	}
	return out
}

// assert proves that a column holds the key of a target, as far as it goes.
func (b *modeller) assert(t *target, worded bool) {
	t.proof = b.ruled.rule(b.weigh(t.in, t.column, t.to, worded), t.in.id(t.column.Name), t.to.name.String(), t.to.key[0])
	t.probability = t.proof.probability()
}

// tie is the difference of certainty below which one assertion is no better than another: that of the weakest evidence there is.
const tie = 0.01

// best finds the table whose key a column most probably holds, nil if none does, several equally, or now one and now another.
func (b *modeller) best(src *source, c schema.Column) (*source, proof) {
	list := b.targets(src, c)
	if len(list) > 1 && list[0].probability-list[1].probability < tie && list[0].probability >= doubtful {
		t := b.finest(list)
		if t == nil {
			t = b.nearest(src, c, list)
		}
		if t == nil {
			return nil, nil
		}
		return t.to, t.proof
	}
	if len(list) == 0 || b.either(list) {
		return nil, nil
	}
	return list[0].to, list[0].proof
}

// either tells whether a column holds the key of one of several entities, as another column says (target_type, target_id): values of two domains that have nothing
// in common are both in it. That is no relationship to either of them, whichever is read by it more.
func (b *modeller) either(list []target) bool {
	if len(list) < 2 || list[0].probability < Probable || list[0].proof.odds("person") > 0 || list[0].proof.odds("values") <= 0 {
		return false
	}
	one := &list[0]
	for i := range list[1:] {
		other := &list[1+i]
		if b.mixed(one.as, one.to.id(one.to.key[0]), other.to.id(other.to.key[0]), one.to.schema.Column(one.to.key[0]).Type) {
			return true
		}
	}
	return false
}

// mixed tells whether a column has values of two columns that have none in common.
func (b *modeller) mixed(column, one, other, cqlType string) bool {
	v, x, y := b.values.of[column], b.values.of[one], b.values.of[other]
	if dense(cqlType) || v == nil || x == nil || y == nil || !v.meets(y) || x.meets(y) {
		return false
	}
	if high, n := x.values.Apart(y.values); n < leastUUIDs || high > apart {
		return false
	}
	share, low, _, n := v.values.Containment(y.values)
	return low >= apart || share*float64(n) >= leastUUIDs && (cqlType == "uuid" || cqlType == "timeuuid") // which are never equal by chance
}

// likely is best before copies are known, so that several tables may have one key.
func (b *modeller) likely(src *source, c schema.Column) (*source, proof) {
	if list := b.targets(src, c); len(list) > 0 {
		return list[0].to, list[0].proof
	}
	return nil, nil
}

// tells reports whether two columns of a name may be alike because of it. Names that are made up by a program (c1, col_2) are borne by columns of
// all types.
func (b *modeller) tells(name string) bool {
	letters, digits := 0, false
	for _, r := range name {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits = true
		}
	}
	numbered := digits && b.types[name] > 1
	return letters > 1 && len(subject(name)) > 0 && !numbered
}

// columnNamed is what a column's name says.
type columnNamed struct {
	words, subject    []string
	identifies, tells bool
	owners            []*source // see there
	sought            bool
}

// name takes a column's name apart, once.
func (b *modeller) name(column string) *columnNamed {
	n := b.names[column]
	if n == nil {
		n = &columnNamed{words: words(column), subject: subject(column), identifies: identifies(column), tells: b.tells(column)}
		b.names[column] = n
	}
	return n
}

// prove weighs what speaks for a column holding the key of another table.
func (b *modeller) prove(src *source, c schema.Column, to *source) proof {
	return b.weigh(src, c, to, true)
}

// weigh is prove, with words or without.
func (b *modeller) weigh(src *source, c schema.Column, to *source, worded bool) proof {
	p := make(proof, 0, 6) // one of each group, and a person's
	key := to.key[0]
	name := b.name(c.Name)
	switch {
	case c.Name == key && b.apiece(src, c, to):
	case c.Name == key && name.tells && (name.identifies || src.position(c.Name) >= 0 || b.elsewhere(src, c, to)) && !b.anyones(src, c, to): // what is in a primary key identifies, whatever it is called
		p.addIf(worded, "name", 2, "both columns are called %s", key)
	case c.Name == key && to.called(name.words) && !period(name.words) && len(to.schema.PrimaryKey()) == 1 && !b.anyones(src, c, to):
		p.addIf(worded, "name", 2, "%s is called after all of its key, %s", to.name.table, key)
	case name.identifies && to.called(name.subject):
		p.addIf(worded, "name", 1.8, "%s is named after %s", c.Name, to.name.table)
	case name.identifies && !same(name.subject, src.noun) && (endsIn(name.subject, to.noun) || len(to.short) > 0 && endsIn(name.subject, to.short)): // order_item_id is the key of order_items, not of items
		p.addIf(worded, "name", 0.8, "%s ends in the name of %s", c.Name, to.name.table)
	case c.Name == key && name.tells:
		p.addIf(worded, "name", 0.8, "both columns are called %s", key)
	case endsIn(name.words, b.name(key).words) && !b.name(key).identifies && len(to.schema.PrimaryKey()) == 1 && !b.describes(key) && len(b.owners(c.Name)) == 0:
		p.addIf(worded, "name", 1.8, "%s is a %s by its name", c.Name, key)
	case to.called(name.words):
		p.addIf(worded, "name", 0.8, "%s is the singular of %s", c.Name, to.name.table)
	case endsIn(name.words, to.noun):
		p.addIf(worded, "name", 0.8, "%s ends in the singular of %s", c.Name, to.name.table)
	}
	cqlType, as := to.schema.Column(key).Type, b.as(src, c, to)
	switch {
	case as != src.id(c.Name) && (cqlType == "uuid" || cqlType == "timeuuid"):
		p.addIf(worded, "type", 1, "%s is made of a %s", c.Name, cqlType)
	case as != src.id(c.Name) && dense(cqlType):
		p.addIf(worded, "type", 0.2, "%s is made of a number", c.Name)
	case as != src.id(c.Name):
		p.addIf(worded, "type", 0.2, "%s is made of texts", c.Name)
	case c.Type != cqlType:
		p.addIf(worded, "type", 1, "its values and the key's are UUIDs, as %s and as %s", c.Type, cqlType)
	case uuids(cqlType):
		p.addIf(worded, "type", 1, "both are %s", c.Type)
	default:
		p.addIf(worded, "type", 0.2, "both are %s", c.Type)
	}
	if d, rows := b.differing(src, c, as), to.rows(); d > 0 && to.stats != nil {
		switch {
		case d <= fewValues && fewOf*d < min(rows, src.rows()):
			p.addIf(worded, "size", -0.5, "only %.0f different values in %.0f rows, of %.0f keys", d, src.rows(), rows)
		case d <= 1.1*rows:
			p.addIf(worded, "size", 0.5, "%.0f different values against %.0f keys", d, rows)
		case d > 1.5*rows:
			p.addIf(worded, "size", -4, "%.0f different values, but only %.0f keys", d, rows)
		}
	}
	if odds, text := b.containedIn(as, to, cqlType); odds != 0 {
		p.addIf(worded, "values", odds, "%v", text)
	}
	switch e, copied := b.travels(src, c.Name, to); {
	case e == nil:
		if x, both := b.siblings(src, c.Name, to); both {
			p.addIf(worded, "feed", askedAlike*x.confidence, "both are asked for the same value, one after the other: %d of %d looked at", x.hits, x.observed)
		}
	case copied == "":
		p.addIf(worded, "feed", 3*e.confidence, "values travel between them: %d of %d looked at", e.hits, e.observed)
	default:
		p.addIf(worded, "feed", 3*e.confidence, "values travel between it and %s, a copy's: %d of %d looked at", copied, e.hits, e.observed)
	}
	return p
}

// fewOf is how many rows there are at least, and keys that they may have, for each different value of a column that is rather a state than a reference.
const fewOf = 10

// askedAlike is what it says that two columns are asked for the same value, which came from outside: half of what a value says that travels.
const askedAlike = 1.5

// siblings finds reads that are asked for the same value by a column and by another table's key, in that table or in one of its copies.
func (b *modeller) siblings(src *source, column string, to *source) (evidence, bool) {
	if !b.travel[src.id(column)] {
		return evidence{}, false
	}
	e, both := b.asked[newPair(src.id(column), to.id(to.key[0]))]
	for _, view := range b.views[to] {
		x := view.copied.column(to.key[0])
		if o, also := b.asked[newPair(src.id(column), view.id(x))]; also && x != "" && view != src && o.confidence > e.confidence {
			e, both = o, true
		}
	}
	return e, both
}

// travels finds the feed between a column and another table's key, in that table or in one of its copies, which is named then: a list delivers ids too.
func (b *modeller) travels(src *source, column string, to *source) (found *evidence, copied string) {
	if !b.travel[src.id(column)] {
		return nil, ""
	}
	if e, ok := b.joins[newPair(src.id(column), to.id(to.key[0]))]; ok {
		found = &e
	}
	for _, view := range b.views[to] {
		x := view.copied.column(to.key[0])
		if e, ok := b.joins[newPair(src.id(column), view.id(x))]; ok && x != "" && view != src && (found == nil || e.confidence > found.confidence) {
			found, copied = &e, view.id(x)
		}
	}
	return found, copied
}

// relate finds the relationships of an entity: columns that hold other entities' keys. Such a column stops being an
// attribute, unless it is part of the entity's own key: then the attribute is a copy of the partner's.
func (b *modeller) relate(src *source) {
	for _, c := range src.schema.Columns {
		if len(src.key) == 1 && src.keyed(c.Name) {
			continue
		}
		if b.spelledWhole(src, c) {
			continue // see compose
		}
		to, p := b.best(src, c)
		if to == nil || p.probability() < Probable {
			src.open = append(src.open, c)
			continue
		}
		b.hold(src, src, c, to, p)
	}
}

// relateRest finds the relationships of entities' columns that lead nowhere by themselves: by what leads somewhere, one step after the other, so that it does not matter which
// column is looked at first; then by company. Of the others it asks.
func (b *modeller) relateRest(entities []*source) {
	for again := true; again; {
		again = b.relateOpen(entities, b.led) || b.relateOpen(entities, b.likened)
	}
	for _, src := range entities {
		for _, c := range src.open {
			b.askRelationship(src, c)
		}
	}
}

// relateOpen makes the relationships that are found of what is open, by what is known before, and tells whether there are any.
func (b *modeller) relateOpen(entities []*source, find func(*source, schema.Column) (*source, proof)) bool {
	var found []func()
	for _, src := range entities {
		src.open = slices.DeleteFunc(src.open, func(c schema.Column) bool {
			to, p := find(src, c)
			if to != nil {
				found = append(found, func() { b.hold(src, src, c, to, p) })
			}
			return to != nil
		})
	}
	for _, hold := range found {
		hold()
	}
	return len(found) > 0
}

// hold makes the relationship that a column of a table of src's entity holds.
func (b *modeller) hold(src, in *source, c schema.Column, to *source, p proof) {
	role := strings.Join(subject(c.Name), "_")
	if role == "" {
		role = strings.Join(to.noun, "_")
	}
	role = b.ruled.called(in.id(c.Name), role)
	r := &model.Relationship{From: src.entity, To: to.entity, Kind: model.ManyToOne, Forward: b.role(src.entity, plain(role))}
	back := plain(plural(strings.Join(src.noun, "_")))
	if b.between(src.entity, to.entity) {
		back += "_as_" + r.Forward
	}
	if r.Backward = b.role(to.entity, back); src == to && r.Backward == r.Forward {
		r.Backward += "_of"
	}
	if st := in.column(c.Name); st != nil && st.Nulls > 0 {
		r.Optional = true
	}
	d := b.differing(in, c, b.as(in, c, to))
	if d > 0 {
		r.Reached = min(d, max(1, to.rows()))
	}
	if d > 0 && d >= 0.99*src.rows() && src.rows() >= max(fewRows, to.rows()/2) && c.Kind == schema.Regular {
		r.Kind = model.OneToOne
		p.add("size", 0, "%.0f different values in %.0f rows: each only once", d, src.rows())
	}
	r.Name = b.unique(strings.ToLower(src.entity.Name) + "_" + r.Forward)
	b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
	b.m.Relationships = append(b.m.Relationships, Relationship{
		Name: r.Name, From: r.From.Name, To: r.To.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
		Column: in.id(c.Name), Confidence: p.probability(), Evidence: p,
	})
	if in != src {
		src.held[in.id(c.Name)] = &held{relation: r, to: to}
		return
	}
	src.held[c.Name] = &held{relation: r, to: to}
	own := src.own[c.Name]
	if src.keyed(c.Name) {
		own.Attribute.Copied = &model.Copy{Edge: r, Of: to.entity.Key[0]}
		return
	}
	delete(src.own, c.Name)
	src.entity.Attributes = slices.DeleteFunc(src.entity.Attributes, func(a *model.Attribute) bool { return a == own.Attribute })
}

// askRelationship asks whose key a column holds, if there is something to choose from.
func (b *modeller) askRelationship(src *source, c schema.Column) {
	q := Question{Kind: WhichRelationship, Subject: src.id(c.Name), Text: fmt.Sprintf("Whose key does %s hold?", src.id(c.Name))}
	list, none := b.targets(src, c), 1.0
	for _, t := range list {
		if p := t.probability; p >= doubtful && len(q.Candidates) < told {
			q.Candidates = append(q.Candidates, Candidate{Answer: t.to.name.String(), Text: "that of " + t.to.name.String(), Certainty: p, Evidence: t.proof})
			none = min(none, 1-p)
		}
	}
	if b.either(list) {
		for i := range q.Candidates { // each explains a part of its values only
			q.Candidates[i].Certainty = min(q.Candidates[i].Certainty, 1-Proven)
		}
		b.ask(q, "now one's and now another's: it is no relationship", Proven, true)
		return
	}
	b.ask(q, "nobody's: it is an attribute", none, true)
}

func (b *modeller) between(a, c *model.Entity) bool {
	for _, r := range b.m.Graph.Edges(a) {
		if r.Other(a) == c {
			return true
		}
	}
	return false
}

// role makes a role name that e has not.
func (b *modeller) role(e *model.Entity, name string) string {
	if name == "" {
		name = "other"
	}
	free := func(s string) bool {
		for _, r := range b.m.Graph.Edges(e) {
			if strings.EqualFold(r.Role(e), s) {
				return false
			}
		}
		return true
	}
	for n := 2; !free(name); n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

func (b *modeller) unique(name string) string {
	for n := 2; b.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	b.taken[name] = true
	return name
}
