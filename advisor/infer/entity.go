package infer

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// unknownRows is taken for the size of a table that could not be measured.
const unknownRows = 1000

// source is a table of the application and what it holds.
type source struct {
	name   table
	schema *schema.Table
	view   *schema.View  // of a materialised view; nil for a table
	stats  *schema.Stats // nil if it was not measured
	noun   []string
	plain  []string // the noun as it is written, several or not
	by     bool     // its name says by what rows are found
	short  []string // the noun without a word that many tables' names begin with, which says nothing of them; nil if there is none

	base   *source // of a table that holds another table's entity; itself for others
	copied *copied // of a table that does
	entity *model.Entity
	key    []string        // columns that are the entity's key
	linked bool            // holds nothing but the pairs of an m:n relationship, and what it says of their ends; entity is one end
	lent   map[string]loan // by column, what it says of a partner: of a table of pairs, and what is static

	own     map[string]model.Field // of a base: the entity's own attributes, by column
	held    map[string]*held       // of a base: the partners whose keys its columns hold
	fields  map[string]model.Field // by column
	edges   []*model.Relationship  // to the entities whose keys it holds
	table   *model.Table
	open    []schema.Column  // of a base: what leads nowhere by itself
	unique  []schema.Column  // nearlyUnique, once asked for
	text    *model.Attribute // its key of several columns as one text, if columns have it
	ids     map[string]string
	implied []string // why columns of the primary key are not of key: others determine them
}

// held is a relationship that a column holds, with the occurrence of the partner that stands for it in all tables of the entity.
type held struct {
	relation *model.Relationship
	to       *source
	partner  *model.Entity
	edge     *model.Relationship // between the entity and partner
	part     *model.Attribute    // of a key of several columns, which it is; nil: the key of one
	columns  map[string]string   // of a key of several columns, what holds each part
}

// modeller builds the graph.
type modeller struct {
	m       *Model
	sources []*source
	joins   map[pair]evidence   // columns between which values were seen to travel
	asked   map[pair]evidence   // columns of two tables that reads are asked for the same value by, one after the other
	travel  map[string]bool     // the columns of both
	beside  map[string][]beside // by column: those that values were seen to travel from or to
	duals   map[[2]table]dual   // tables that are inserted into together
	values  sketches            // of columns
	types   map[string]int      // how many types columns of a name have
	names   map[string]*columnNamed
	views   map[*source][]*source // copies, by what they are copies of
	said    map[table]uint64      // executions of statements on a table
	scanned map[table]bool        // tables read with ALLOW FILTERING
	taken   map[string]bool       // names of entities and relationships
	opaque  map[table]string      // tables that are not in the model, and why
	ruled   *rulings              // what people said
	samples samples               // rows by their values
	pieces  map[string][]piece    // what texts are made of, by column
	spelt   map[string]bool       // columns of which all values are UUIDs, also if they are texts

	together []*passage                // what travels by several columns at once
	directed map[[2]table][]*passage   // the same, by tables
	passing  map[[2]*source][]*passage // the same, by entities
	texts    []spelled                 // columns that hold a key of several columns as one text
}

// Own says whether a table is one of Helenus's own derived tables: these are no part of what the application means.
func Own(t *schema.Table) bool { return t.Own() }

// build makes entities, relationships and tables.
func (b *modeller) build(s *schema.Schema, stats []schema.Stats) {
	b.collect(s, stats)
	for _, src := range b.sources {
		key, said := b.ruled.keyOf(src.schema, src.name.String())
		if src.key = key; !said {
			src.key = b.findKey(src)
		}
	}
	for _, src := range b.sources {
		if _, said := b.ruled.keyOf(src.schema, src.name.String()); !said {
			b.narrow(src)
		}
	}
	b.group()
	b.link()
	each := func(do func(*source), which func(*source) bool) {
		for _, src := range b.sources {
			if which(src) {
				do(src)
			}
		}
	}
	isEntity := func(src *source) bool { return src.base == src && !src.linked }
	isView := func(src *source) bool { return src.base != src }
	each(b.makeEntity, isEntity)
	each(b.relate, isEntity)
	b.relateRest(slices.DeleteFunc(slices.Clone(b.sources), func(src *source) bool { return !isEntity(src) }))
	each(b.compose, func(src *source) bool { return isEntity(src) && src.schema.Counter }) // which are counted of something, and not the other way round
	each(b.compose, func(src *source) bool { return isEntity(src) && !src.schema.Counter })
	each(b.composeAlike, isEntity)
	each(b.give, isEntity)
	each(b.relateMany, func(src *source) bool { return src.linked })
	each(b.complete, isView)
	each(b.occur, func(src *source) bool { return src.base == src })
	each(b.place, func(*source) bool { return true })
	each(b.describe, isEntity)
	each(b.view, isView)
	each(b.express, func(*source) bool { return true })
	for _, src := range b.mirrors(s) {
		b.mirror(src)
	}
}

// collect makes a source of each table.
func (b *modeller) collect(s *schema.Schema, stats []schema.Stats) {
	types := map[string]map[string]bool{}
	for i := range s.Keyspaces {
		for j := range s.Keyspaces[i].Tables {
			t := &s.Keyspaces[i].Tables[j]
			name := table{t.Keyspace, t.Name}
			switch {
			case Own(t):
				b.opaque[name] = "a table that Helenus made"
				continue
			case len(t.PartitionKey()) == 0:
				b.opaque[name] = "no partition key is known of it"
				continue
			}
			plain, by := beforeBy(t.Name)
			src := &source{name: name, schema: t, noun: noun(t.Name), plain: plain, by: by, own: map[string]model.Field{}, held: map[string]*held{}, fields: map[string]model.Field{}, ids: map[string]string{}}
			src.base = src
			for k := range stats {
				if stats[k].Keyspace == t.Keyspace && stats[k].Table == t.Name {
					src.stats = &stats[k]
				}
			}
			for _, c := range t.Columns {
				if types[c.Name] == nil {
					types[c.Name] = map[string]bool{}
				}
				types[c.Name][c.Type] = true
			}
			b.sources = append(b.sources, src)
		}
	}
	for name, of := range types {
		b.types[name] = len(of)
	}
	sort.Slice(b.sources, func(i, j int) bool { return b.sources[i].name.String() < b.sources[j].name.String() })
	b.shorten()
}

// findKey returns the columns that identify a row's entity: the part of the primary key that is named after it, or that has each value
// once, unless the values seen speak against it; else the whole primary key.
func (b *modeller) findKey(s *source) []string {
	primary := s.schema.PrimaryKey()
	all := make([]string, len(primary))
	for i, c := range primary {
		all[i] = c.Name
	}
	if len(primary) == 1 {
		return all
	}
	for _, c := range primary {
		about := subject(c.Name)
		if !identifies(c.Name) || len(about) > 0 && !s.called(about) && !endsIn(s.noun, about) {
			continue
		}
		distinct := s.distinct(c.Name)
		if distinct == 0 && b.ownByName(s, c) || distinct >= 0.9*s.rows() {
			return []string{c.Name}
		}
	}
	if key := b.arrangedKey(s); s.stats == nil && key != "" {
		return []string{key}
	}
	if last := primary[len(primary)-1]; s.stats == nil && uuids(last.Type) && b.nowhereElse(s, last) {
		return []string{last.Name}
	}
	// What is last in the primary key was put there to tell rows apart, so it goes first where several columns do. What the rows are found by, guests by their e-mail address, is
	// not who they are.
	for i := len(primary) - 1; i >= 0; i-- {
		if c := primary[i]; !timelike(c.Type) && (identifies(c.Name) || !same(words(c.Name), s.foundBy())) && s.rows() >= fewRows && s.distinct(c.Name) >= once*s.rows() {
			return []string{c.Name}
		}
	}
	return all
}

func (s *source) rows() float64 {
	if s.stats == nil || s.stats.Rows < 1 {
		if s.stats == nil {
			return unknownRows
		}
		return 1
	}
	return math.Round(s.stats.Rows)
}

// distinct is the number of different values of a column, 0 if it is not known.
func (s *source) distinct(name string) float64 {
	if c := s.column(name); c != nil {
		return math.Round(c.Distinct)
	}
	return 0
}

func (s *source) column(name string) *schema.ColumnStats {
	if s.stats == nil {
		return nil
	}
	return s.stats.Column(name)
}

// spelled tells whether a copy has the key in another form: whoever has the key can not ask it.
func (s *source) spelled() bool {
	return s.base != s && slices.ContainsFunc(s.base.key, func(k string) bool {
		return s.schema.Column(s.copied.column(k)).Type != s.base.schema.Column(k).Type
	})
}

func (s *source) keyed(name string) bool { return slices.Contains(s.key, name) }

// makeEntity makes the entity of a base table, with all of its columns as attributes; relate takes some away.
func (b *modeller) makeEntity(src *source) {
	name := title(src.noun)
	for _, try := range []string{title(words(src.name.table)), title(append(words(src.name.keyspace), words(src.name.table)...))} {
		if b.taken[name] && try != "" {
			name = try
		}
	}
	name = b.ruled.called(src.name.String(), plain(name))
	for n := 2; b.taken[name]; n++ {
		name = fmt.Sprintf("%s%d", name, n)
	}
	b.taken[name] = true
	src.entity = &model.Entity{Name: name, Count: src.rows()}
	for _, c := range src.schema.Columns {
		b.attribute(src, src, c)
	}
	for _, k := range src.key {
		src.entity.Key = append(src.entity.Key, src.own[k].Attribute)
	}
	if len(src.key) == 1 { // one value each
		src.own[src.key[0]].Attribute.Distinct = 0
	}
	b.m.Graph.Entities = append(b.m.Graph.Entities, src.entity)
}

// attribute gives the entity of a base an attribute for a column of a table that holds it.
func (b *modeller) attribute(base, in *source, c schema.Column) {
	name := c.Name
	a := &model.Attribute{Name: b.attributeName(base.entity, b.ruled.called(in.id(c.Name), c.Name)), Type: c.Type}
	if st := in.column(c.Name); st != nil {
		a.Size = math.Round(st.MeanBytes*10) / 10
		if d := math.Round(st.Distinct); d >= 1 {
			a.Distinct = d
		}
	}
	if in != base {
		name = in.id(c.Name)
	}
	base.entity.Attributes = append(base.entity.Attributes, a)
	base.own[name] = model.Field{Entity: base.entity, Attribute: a}
}

func (b *modeller) attributeName(e *model.Entity, name string) string {
	name = plain(name)
	for n := 2; e.Attribute(name) != nil && e.Attribute(name).Name == name; n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

// complete finds what the columns of a copy are that its base has not: a partner's key, or an attribute of the same entity that only the copy has.
func (b *modeller) complete(src *source) {
	base := src.base
	if !base.linked {
		b.give(src)
	}
	for _, c := range src.schema.Columns {
		if _, given := src.lent[c.Name]; given || src.copied.columns[c.Name] != "" {
			continue
		}
		to, p := b.best(src, c)
		if to != nil && to.entity != nil && p.probability() >= Probable && !base.linked {
			var same []string
			for column, h := range base.held {
				if h.to == to && src.copied.column(column) == "" {
					same = append(same, column)
				}
			}
			if len(same) == 1 {
				src.copied.columns[c.Name] = same[0]
				continue
			}
			if len(same) == 0 && to != base {
				b.hold(base, src, c, to, p)
				src.copied.columns[c.Name] = src.id(c.Name)
				continue
			}
		}
		if !base.linked {
			b.attribute(base, src, c)
			src.copied.columns[c.Name] = src.id(c.Name)
		}
	}
}

// occur gives each relationship of an entity an occurrence of the partner of its own: a message's sender and recipient are two.
func (b *modeller) occur(src *source) {
	met := map[*model.Entity]int{src.entity: 1}
	if src.linked {
		from, to := src.held[src.key[0]], src.held[src.key[1]]
		from.partner, to.partner = from.to.entity, to.to.entity
		if from.to == to.to {
			to.partner = b.m.Graph.Occurrence(to.to.entity, 2)
		}
		from.edge = b.m.Graph.Between(from.relation, from.partner, to.partner)
		to.edge = from.edge
		b.lend(src)
		return
	}
	for _, column := range src.holding() {
		h := src.held[column]
		if other := src.sharing(h); other != nil { // another part of the same key
			h.partner, h.edge = other.partner, other.edge
			continue
		}
		met[h.to.entity]++
		h.partner = b.m.Graph.Occurrence(h.to.entity, met[h.to.entity])
		h.edge = b.m.Graph.Between(h.relation, src.entity, h.partner)
	}
}

// sharing is what else holds a relationship, and has an occurrence of the partner already.
func (s *source) sharing(h *held) *held {
	for _, other := range s.held {
		if other != h && other.relation == h.relation && other.partner != nil {
			return other
		}
	}
	return nil
}

// holding lists the columns that hold partners: in the order of the table, then those of copies.
func (s *source) holding() []string {
	var out []string
	for _, c := range s.schema.Columns {
		if s.held[c.Name] != nil {
			out = append(out, c.Name)
		}
	}
	var more []string
	for c := range s.held {
		if !slices.Contains(out, c) {
			more = append(more, c)
		}
	}
	slices.Sort(more)
	return append(out, more...)
}

// place says which field each column of a table holds.
func (b *modeller) place(src *source) {
	base := src.base
	src.entity, src.edges = base.entity, nil
	if base.linked {
		src.edges = append(src.edges, base.held[base.key[0]].edge)
	}
	for _, c := range src.schema.Columns {
		of := c.Name
		if src != base {
			of = src.copied.columns[c.Name]
		}
		l, lent := src.lent[c.Name]
		if !lent && src != base {
			l, lent = base.lent[of]
		}
		h := base.held[of]
		if lent {
			if h = base.held[l.name()]; h == nil {
				src.fields[c.Name] = model.Field{Entity: base.held[l.by].partner, Attribute: l.end.own[l.column].Attribute}
				continue
			}
		}
		if h != nil {
			src.fields[c.Name] = model.Field{Entity: h.partner, Attribute: h.attribute()}
			if h.edge != nil && !slices.Contains(src.edges, h.edge) {
				src.edges = append(src.edges, h.edge)
			}
			continue
		}
		if f, ok := base.own[of]; ok {
			src.fields[c.Name] = f
		}
	}
}

// view notes a table that holds another's entity.
func (b *modeller) view(src *source) {
	for i := range b.m.Entities {
		e := &b.m.Entities[i]
		if src.base.linked || e.Name != src.entity.Name {
			continue
		}
		e.Tables = append(e.Tables, src.name.String())
		e.Evidence = append(e.Evidence, Evidence{"copy", 0, fmt.Sprintf("%s holds it too, %.0f %% of it, certainty %.2f", src.name, 100*src.covers(), src.copied.certainty())})
		e.Evidence = append(e.Evidence, src.copied.proof...)
		primary := src.schema.PrimaryKey()
		if f := src.fields[primary[0].Name]; len(primary) == 1 && !f.IsZero() && !f.IsKey() {
			e.Alternate = append(e.Alternate, f.Attribute.Name)
			if f.Entity == src.entity {
				src.entity.Alternate = append(src.entity.Alternate, []*model.Attribute{f.Attribute})
			}
		}
	}
}

// describe notes how an entity was found.
func (b *modeller) describe(src *source) {
	e := Entity{Name: src.entity.Name, Tables: []string{src.name.String()}, Count: src.entity.Count, Confidence: 0.99}
	e.Evidence = append(e.Evidence, Evidence{"definition", 4, "table " + src.name.String() + " has a primary key"})
	for _, k := range src.entity.Key {
		e.Key = append(e.Key, k.Name)
	}
	for _, a := range src.entity.Attributes {
		e.Attributes = append(e.Attributes, a.Name)
	}
	for _, text := range src.implied {
		e.Evidence = append(e.Evidence, Evidence{"dependency", 2, text})
		e.Confidence = 0.95
	}
	if primary := src.schema.PrimaryKey(); len(src.key) < len(primary) && len(src.implied) == 0 {
		text, odds := "the key column is named after the table", 2.0
		e.Confidence = 0.95
		if d := src.distinct(src.key[0]); d > 0 {
			text, odds = fmt.Sprintf("%s has %.0f different values in %.0f rows", src.key[0], d, src.rows()), 3
			e.Confidence = 0.98
		}
		e.Evidence = append(e.Evidence, Evidence{"dependency", odds, text})
	}
	if src.stats == nil {
		e.Evidence = append(e.Evidence, Evidence{"size", 0, fmt.Sprintf("the table was not measured: %d rows are assumed", unknownRows)})
	}
	b.m.Entities = append(b.m.Entities, e)
}

// express describes a table over the graph.
func (b *modeller) express(src *source) {
	t := &model.Table{
		Keyspace: src.name.keyspace, Name: src.name.table, Existing: true, ScanAllowed: b.scanned[src.name],
		Count: src.rows(), Columns: map[model.Field]string{},
	}
	for _, c := range src.schema.Columns {
		f, ok := src.fields[c.Name]
		if !ok {
			continue
		}
		t.Columns[f] = c.Name
		switch c.Kind {
		case schema.PartitionKey:
			t.Partition = append(t.Partition, f)
		case schema.Clustering:
			t.Clustering = append(t.Clustering, f)
			if c.Descending {
				t.Desc = append(t.Desc, f)
			}
		default:
			t.Values = append(t.Values, f)
		}
	}
	var err error
	if t.Tree, err = model.NewTree(src.entity, src.edges...); err == nil {
		for _, i := range src.schema.Indexes {
			if f, ok := src.fields[i.Column]; ok && i.On == "values" {
				t.Indexes = append(t.Indexes, model.Index{Name: i.Name, Field: f})
			}
		}
		err = t.Validate()
	}
	if err != nil {
		b.opaque[src.name] = "it does not fit the model: " + err.Error()
		return
	}
	src.table = t
	b.m.tables[src.name] = src
	if src.view == nil && src.covers() >= Full && !src.spelled() { // of what holds a part only its own statements know what part, and how a key is made
		b.m.Tables = append(b.m.Tables, t)
	}
}
