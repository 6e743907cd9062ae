package infer

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// unknownRows is taken for the size of a table that could not be measured.
const unknownRows = 1000

// source is a table of the application and what it holds.
type source struct {
	name   table
	schema *schema.Table
	stats  *schema.Stats // nil if it was not measured
	noun   []string

	base   *source // of a table that holds another table's entity; itself for others
	entity *model.Entity
	key    []string // columns that are the entity's key
	linked bool     // holds nothing but the pairs of an m:n relationship; entity is nil

	fields map[string]model.Field // by column
	edges  []*model.Relationship  // to the entities whose keys it holds
	table  *model.Table
}

// modeller builds the graph.
type modeller struct {
	m       *Model
	sources []*source
	joins   map[pair]evidence // columns between which values were seen to travel
	scanned map[table]bool    // tables read with ALLOW FILTERING
	taken   map[string]bool   // names of entities and relationships
	opaque  map[table]string  // tables that are not in the model, and why
	ruled   *rulings          // what people said
}

// pair is two columns, "keyspace.table.column", in order.
type pair struct{ a, b string }

func newPair(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// evidence is what feeds say about a pair of columns.
type evidence struct {
	confidence float64
	hits       int
	observed   int
}

// Own says whether a table is one of Helenus's own derived tables: these are no part of what the application means.
func Own(t *schema.Table) bool { return strings.HasPrefix(t.Comment, "helenus ") }

// build makes entities, relationships and tables.
func (b *modeller) build(s *schema.Schema, stats []schema.Stats) {
	for i := range s.Keyspaces {
		for j := range s.Keyspaces[i].Tables {
			t := &s.Keyspaces[i].Tables[j]
			name := table{t.Keyspace, t.Name}
			switch {
			case Own(t):
				b.opaque[name] = "a table that Helenus made"
				continue
			case t.Counter:
				b.opaque[name] = "a counter table: its values are derived, and can not be copied"
				continue
			case len(t.PartitionKey()) == 0:
				b.opaque[name] = "no partition key is known of it"
				continue
			}
			src := &source{name: name, schema: t, noun: noun(t.Name), fields: map[string]model.Field{}}
			src.base = src
			for k := range stats {
				if stats[k].Keyspace == t.Keyspace && stats[k].Table == t.Name {
					src.stats = &stats[k]
				}
			}
			b.sources = append(b.sources, src)
		}
	}
	sort.Slice(b.sources, func(i, j int) bool { return b.sources[i].name.String() < b.sources[j].name.String() })
	b.group()
	b.regroup()
	for _, src := range b.sources {
		key, said := b.ruled.keyOf(src.schema, src.name.String())
		if src.key = key; !said {
			src.key = src.findKey()
		}
	}
	b.link()
	for _, src := range b.sources {
		if src.base == src && !src.linked {
			b.makeEntity(src)
		}
	}
	for _, src := range b.sources {
		if src.base == src && !src.linked {
			b.relate(src)
		}
	}
	for _, src := range b.sources {
		if src.linked {
			b.relateMany(src)
		}
	}
	for _, src := range b.sources {
		b.describe(src)
	}
	for _, src := range b.sources {
		if src.base != src {
			b.view(src)
		}
	}
	for _, src := range b.sources {
		b.express(src)
	}
}

// group finds the tables that hold another table's entity, asked for by something else: same noun, same keyspace, all
// their columns among the other's, which has no "by" in its name or is the first.
func (b *modeller) group() {
	for _, src := range b.sources {
		if !strings.Contains(src.name.table, "_by_") {
			continue
		}
		for _, other := range b.sources {
			if other == src || other.base != other || other.name.keyspace != src.name.keyspace || !same(other.noun, src.noun) {
				continue
			}
			if strings.Contains(other.name.table, "_by_") && other.name.table > src.name.table {
				continue
			}
			within := true
			for _, c := range src.schema.Columns {
				o := other.schema.Column(c.Name)
				within = within && o != nil && o.Type == c.Type
			}
			if within {
				src.base = other
				break
			}
		}
	}
}

// findKey returns the columns that identify a row's entity: the part of the primary key that is named after it, if there is
// one and the values seen do not speak against it, else the whole primary key.
func (s *source) findKey() []string {
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
		if !identifies(c.Name) || len(about) > 0 && !same(about, s.noun) && !endsIn(s.noun, about) {
			continue
		}
		distinct := s.distinct(c.Name)
		if distinct == 0 && (c.Type == "uuid" || c.Type == "timeuuid") || distinct >= 0.9*s.rows() {
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
	if s.stats == nil {
		return 0
	}
	if c := s.stats.Column(name); c != nil {
		return math.Round(c.Distinct)
	}
	return 0
}

func (s *source) keyed(name string) bool {
	for _, k := range s.key {
		if k == name {
			return true
		}
	}
	return false
}

// link marks tables that hold pairs of two other tables' keys and nothing else.
func (b *modeller) link() {
	for _, src := range b.sources {
		if src.base != src || len(src.schema.Columns) != 2 || len(src.key) != 2 || b.ruled.called(src.name.String(), "") != "" {
			continue
		}
		ends := map[*source]bool{}
		for _, c := range src.schema.Columns {
			if to, e := b.best(src, c); e.probability() >= Probable {
				ends[to] = true
			}
		}
		src.linked = len(ends) == 2
	}
}

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
		a := &model.Attribute{Name: b.attributeName(src.entity, b.ruled.called(src.name.String()+"."+c.Name, c.Name)), Type: c.Type}
		if src.stats != nil {
			if st := src.stats.Column(c.Name); st != nil {
				a.Size = math.Round(st.MeanBytes*10) / 10
				if d := math.Round(st.Distinct); d >= 1 {
					a.Distinct = d
				}
			}
		}
		src.entity.Attributes = append(src.entity.Attributes, a)
		src.fields[c.Name] = model.Field{Entity: src.entity, Attribute: a}
	}
	for _, k := range src.key {
		src.entity.Key = append(src.entity.Key, src.fields[k].Attribute)
	}
	if len(src.key) == 1 { // one value each
		src.fields[src.key[0]].Attribute.Distinct = 0
	}
	b.m.Graph.Entities = append(b.m.Graph.Entities, src.entity)
}

func (b *modeller) attributeName(e *model.Entity, name string) string {
	name = plain(name)
	for n := 2; e.Attribute(name) != nil && e.Attribute(name).Name == name; n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

// view maps the columns of a table that holds another's entity onto that entity.
func (b *modeller) view(src *source) {
	src.entity = src.base.entity
	for _, c := range src.schema.Columns {
		src.fields[c.Name] = src.base.fields[b.counterpart(src, src.base, c.Name)]
	}
	for _, r := range src.base.edges {
		for _, c := range src.schema.Columns {
			if src.fields[c.Name].Entity == r.Other(src.base.entity) {
				src.edges = append(src.edges, r)
				break
			}
		}
	}
	for i := range b.m.Entities {
		e := &b.m.Entities[i]
		if e.Name != src.entity.Name {
			continue
		}
		e.Tables = append(e.Tables, src.name.String())
		primary := src.schema.PrimaryKey()
		if len(primary) == 1 && !src.base.keyed(primary[0].Name) {
			e.Alternate = append(e.Alternate, primary[0].Name)
			if f := src.fields[primary[0].Name]; f.Entity == src.entity {
				src.entity.Alternate = append(src.entity.Alternate, []*model.Attribute{f.Attribute})
			}
		}
	}
}

// describe notes how an entity was found.
func (b *modeller) describe(src *source) {
	if src.base != src || src.linked {
		return
	}
	e := Entity{Name: src.entity.Name, Tables: []string{src.name.String()}, Count: src.entity.Count, Confidence: 0.99}
	e.Evidence = append(e.Evidence, Evidence{"definition", 4, "table " + src.name.String() + " has a primary key"})
	for _, k := range src.entity.Key {
		e.Key = append(e.Key, k.Name)
	}
	for _, a := range src.entity.Attributes {
		e.Attributes = append(e.Attributes, a.Name)
	}
	if primary := src.schema.PrimaryKey(); len(src.key) < len(primary) {
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
	b.m.Tables = append(b.m.Tables, t)
	b.m.tables[src.name] = src
}
