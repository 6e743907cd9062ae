package infer

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// This file places materialised views: copies that the database keeps. Of which table one is, and what its columns hold, is said by its definition, so nothing is guessed. What is known
// of them is where their reads lead, and what these cost; they are none of the model's tables, for nobody can write one, and nothing is to be found or proposed there.

// mirrors makes a source of each materialised view whose table is in the model.
func (b *modeller) mirrors(s *schema.Schema) (out []*source) {
	for i := range s.Keyspaces {
		for j := range s.Keyspaces[i].Views {
			v := &s.Keyspaces[i].Views[j]
			name := table{v.Keyspace, v.Name}
			of := b.m.tables[table{v.Keyspace, v.Of}]
			if of == nil {
				b.opaque[name] = fmt.Sprintf("a materialised view of %s.%s, which is not in the model", v.Keyspace, v.Of)
				continue
			}
			if len(v.PartitionKey()) == 0 {
				b.opaque[name] = "no partition key is known of it"
				continue
			}
			columns := map[string]string{}
			for _, c := range v.Columns {
				if columns[c.Name] = c.Name; of.base != of {
					columns[c.Name] = of.copied.columns[c.Name]
				}
			}
			out = append(out, &source{
				name: name, schema: &v.Table, view: v, stats: of.stats, base: of.base, copied: &copied{of: of.base, columns: columns}, key: of.key, lent: of.lent,
				fields: map[string]model.Field{}, ids: map[string]string{},
			})
		}
	}
	return out
}

// mirror places a materialised view, and notes it.
func (b *modeller) mirror(src *source) {
	b.place(src)
	b.express(src)
	if b.m.tables[src.name] == nil {
		return
	}
	text := fmt.Sprintf("%s is a materialised view of %s.%s, which the database keeps", src.name, src.view.Keyspace, src.view.Of)
	if src.view.Partial {
		text += ": of some of its rows, by what its WHERE asks for"
	}
	b.m.mirrored = append(b.m.mirrored, src.name.String())
	for i := range b.m.Entities {
		if e := &b.m.Entities[i]; e.Name == src.entity.Name && !src.base.linked {
			e.Evidence = append(e.Evidence, Evidence{"definition", 0, text})
		}
	}
	for i := range b.m.Relationships {
		if r := &b.m.Relationships[i]; src.base.linked && r.Name == src.edges[0].Name {
			r.Evidence = append(r.Evidence, Evidence{"definition", 0, text})
		}
	}
}

// unmirrored is an end of a feed as one of the table that a materialised view is of: their columns are the same.
func unmirrored(s *schema.Schema, e feed.End) feed.End {
	if v := s.View(e.Keyspace, e.Table); v != nil {
		e.Table = v.Of
	}
	return e
}
