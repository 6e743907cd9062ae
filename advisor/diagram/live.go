package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
)

// Live makes a schema of a cluster's.
func Live(name string, cluster *schema.Schema) (*Schema, error) {
	s := &Schema{Name: name}
	r := &reader{schema: s}
	for i := range cluster.Keyspaces {
		k := &cluster.Keyspaces[i]
		for _, t := range k.Types {
			made := &Type{Keyspace: k.Name, Name: t.Name}
			for _, f := range t.Fields {
				typ, err := typeOf(f.Type)
				if err != nil {
					return nil, fmt.Errorf("type %s.%s, field %s: %w", k.Name, t.Name, f.Name, err)
				}
				made.Fields = append(made.Fields, Field{f.Name, typ})
			}
			s.Types = append(s.Types, made)
		}
		for j := range k.Tables {
			if err := r.live(&k.Tables[j]); err != nil {
				return nil, err
			}
		}
		for _, f := range k.Functions {
			r.unshown("function %s.%s(%s)", k.Name, f.Name, strings.Join(f.Arguments, ", "))
		}
	}
	return s, nil
}

// live takes a table of a cluster in.
func (r *reader) live(t *schema.Table) error {
	made := &Table{Keyspace: t.Keyspace, Name: t.Name}
	var keys [2][]string
	for _, c := range t.Columns {
		typ, err := typeOf(c.Type)
		if err != nil {
			return fmt.Errorf("table %s.%s, column %s: %w", t.Keyspace, t.Name, c.Name, err)
		}
		made.Columns = append(made.Columns, Column{Name: c.Name, Type: typ, Desc: c.Descending, Part: map[schema.ColumnKind]Part{
			schema.PartitionKey: Partition, schema.Clustering: Clustering, schema.Static: Static,
		}[c.Kind]})
	}
	for i, list := range [][]schema.Column{t.PartitionKey(), t.ClusteringKey()} {
		for _, c := range list {
			keys[i] = append(keys[i], c.Name)
		}
	}
	made.sort(keys[0], keys[1])
	for _, x := range t.Indexes {
		if c := made.column(x.Column); c != nil {
			c.Indexed = true
		}
		if class := x.Class(); class != "" {
			r.unshown("table %s: the index on %s is of class %s", t.Name, x.Column, class)
		}
		if x.On != "" && x.On != "values" {
			r.unshown("table %s: the index on %s is on its %s", t.Name, x.Column, x.On)
		}
	}
	for _, v := range t.Views {
		r.unshown("materialised view %s of %s", v, t.Name)
	}
	for _, trigger := range t.Triggers {
		r.unshown("trigger %s of %s", trigger, t.Name)
	}
	if t.DefaultTTL > 0 {
		r.unshown("table %s: rows live for %d seconds", t.Name, t.DefaultTTL)
	}
	r.schema.Tables = append(r.schema.Tables, made)
	return nil
}

// Observed adds the queries that were seen to a schema, at most so many of those that are said most, and arrows for how they
// come to its tables: from where a feed was seen, or else from outside.
func (s *Schema) Observed(said []report.Statement, feeds []feed.Feed, most int) {
	var reads []*report.Statement
	for i := range said {
		if x := &said[i]; x.Kind == cql.KindSelect.String() && s.table(x.Access.Keyspace, x.Access.Table) >= 0 {
			reads = append(reads, x)
		}
	}
	slices.SortStableFunc(reads, func(a, b *report.Statement) int {
		switch {
		case a.Count > b.Count:
			return -1
		case a.Count < b.Count:
			return 1
		}
		return strings.Compare(a.Fingerprint, b.Fingerprint)
	})
	if len(reads) > most {
		s.Unshown = append(s.Unshown, fmt.Sprintf("%d queries that were said less often", len(reads)-most))
		reads = reads[:most]
	}
	for _, x := range reads {
		q, to := len(s.Queries), s.table(x.Access.Keyspace, x.Access.Table)
		s.Queries = append(s.Queries, Query{Number: fmt.Sprintf("Q%d", q+1), Name: x.Fingerprint[:min(8, len(x.Fingerprint))], Text: x.Text})
		entry := true
		for _, f := range feeds {
			from := s.table(f.From.Keyspace, f.From.Table)
			if a := (Arrow{q, from, to}); f.To.Fingerprint == x.Fingerprint && from >= 0 {
				entry = false
				if !slices.Contains(s.Arrows, a) {
					s.Arrows = append(s.Arrows, a)
				}
			}
		}
		if entry {
			s.Arrows = append(s.Arrows, Arrow{q, -1, to})
		}
	}
}

// Inferred makes a workload of a model that was inferred, as far as diagrams need it: names, keys, relationships, statements.
// What can not be made is said. Statements are left out if they are not asked for.
func Inferred(name string, d *infer.Description, statements bool) (w *workload.Workload, missing []string) {
	w = &workload.Workload{Name: name, Graph: &model.Graph{}}
	for _, x := range d.Entities {
		e := &model.Entity{Name: x.Name, Count: max(1, x.Count)}
		for _, a := range append(slices.Clone(x.Key), x.Attributes...) {
			if e.Attribute(a) == nil {
				e.Attributes = append(e.Attributes, &model.Attribute{Name: a, Type: "text"}) // types are not drawn
			}
		}
		for _, k := range x.Key {
			e.Key = append(e.Key, e.Attribute(k))
		}
		w.Graph.Entities = append(w.Graph.Entities, e)
	}
	for _, x := range d.Relationships {
		r := &model.Relationship{Name: x.Name, From: w.Graph.Entity(x.From), To: w.Graph.Entity(x.To), Kind: x.Kind, Forward: x.Forward, Backward: x.Backward}
		if r.From == nil || r.To == nil {
			missing = append(missing, fmt.Sprintf("relationship %s leads to an entity that is not there", x.Name))
			continue
		}
		w.Graph.Relationships = append(w.Graph.Relationships, r)
	}
	for _, x := range d.Workload {
		if !statements {
			break
		}
		s, err := workload.Parse(w.Graph, x.Text)
		if err != nil {
			missing = append(missing, fmt.Sprintf("statement %s: %s", x.ID, first(x.Text, 120)))
			continue
		}
		s.ID, s.Weight = x.ID, x.Weight
		w.Statements = append(w.Statements, s)
	}
	return w, missing
}

// Sure marks in a diagram of an inferred model what is only probable: broken lines, and how sure it is in titles.
func Sure(p *picture.Picture, d *infer.Description) {
	for i := range p.Links {
		l := &p.Links[i]
		for _, r := range d.Relationships {
			if r.Name == l.Label {
				l.Broken = r.Confidence < infer.Proven
				l.Detail += fmt.Sprintf("\nconfidence %.2f", r.Confidence)
			}
		}
	}
	if slices.ContainsFunc(p.Links, func(l picture.Link) bool { return l.Broken }) {
		p.Add(picture.List{Heading: "Confidence", Items: []picture.Item{{Text: fmt.Sprintf("A broken line is a relationship that is probable only (below %.2f).", infer.Proven)}}})
	}
}

// Unshown adds a list of what a diagram does not show.
func Unshown(p *picture.Picture, list []string) { p.Add(unshown(list)) }
