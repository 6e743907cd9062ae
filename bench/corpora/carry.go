package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// This file carries tables over from one model to another one of the same application.

// translation makes a table of one model one of another.
type translation struct {
	from   *carried
	truth  *carried
	graph  *model.Graph             // the other's
	fields map[string][]model.Field // what is one in the gold model may be several there
	edges  map[string]*model.Relationship
	ends   map[string]*model.Entity // by the name of the gold model
	used   []*model.Entity          // the other's that the table has
	tree   []*model.Relationship
	failed string // why it can not be said in the other model
}

// onto makes a table of another model what it would be in this one, or says why it can not be said.
func (c *carried) onto(truth *carried, t *model.Table) (*model.Table, string) {
	x := &translation{from: c, truth: truth, fields: map[string][]model.Field{}, edges: map[string]*model.Relationship{}, ends: map[string]*model.Entity{}, graph: truth.model.Graph}
	x.index()
	for _, e := range t.Whole().Entities {
		x.used = append(x.used, x.end(e))
	}
	x.walk(t.Tree.Edges)
	partition, clustering := x.take(t.Partition, false), x.take(t.Clustering, false)
	values := x.take(slices.Concat(t.Values, t.Partition, t.Clustering), true)
	desc, static := x.take(t.Desc, false), x.take(t.Static, true)
	tree := x.tree
	nests := x.nests(t)
	bucket := x.bucket(t.Bucket)
	if x.failed != "" {
		return nil, x.failed
	}
	key := slices.Concat(partition, clustering)
	clustering = slices.DeleteFunc(clustering, func(f model.Field) bool { return slices.Contains(partition, f) })
	values = slices.DeleteFunc(values, func(f model.Field) bool { return slices.Contains(key, f) })
	out, err := model.NewTable(x.graph, partition, clustering, values, tree...)
	if err != nil {
		return nil, err.Error()
	}
	out.Desc, out.Static, out.Bucket, out.Nests = desc, static, bucket, nests
	for _, i := range t.Indexes {
		for _, f := range x.take([]model.Field{i.Field}, false) {
			out.Indexes = append(out.Indexes, model.Index{Name: i.Name, Field: f, SAI: i.SAI})
		}
	}
	if err := out.Validate(); err != nil {
		x.fail("%v", err)
	}
	return out, x.failed
}

// fail notes why, the first time.
func (x *translation) fail(format string, args ...any) {
	if x.failed == "" {
		x.failed = fmt.Sprintf(format, args...)
	}
}

// index notes what there is in the other model.
func (x *translation) index() {
	for f, p := range x.truth.fields {
		x.fields[p.String()] = append(x.fields[p.String()], f)
	}
	byName := func(a, b model.Field) int { return strings.Compare(a.String(), b.String()) }
	for _, same := range x.fields {
		slices.SortFunc(same, byName)
	}
	made := map[string][]model.Field{}
	for f, p := range x.truth.fields {
		if bare := p.bare(); bare.form != p.form && x.fields[bare.String()] == nil {
			made[bare.String()] = append(made[bare.String()], f)
		}
	}
	for name, list := range made {
		slices.SortFunc(list, byName)
		x.fields[name] = list
	}
	for r, name := range x.truth.edges {
		x.edges[name] = r
	}
	for name, e := range x.truth.of {
		if mine := x.graph.Entity(name); x.ends[e.name] == nil || mine.Name < x.ends[e.name].Name {
			x.ends[e.name] = mine
		}
	}
}

// end is the occurrence of an entity in the other model.
func (x *translation) end(e *model.Entity) *model.Entity {
	of := x.from.of[e.Base().Name]
	if of == nil || x.ends[of.name] == nil {
		x.fail("no entity %s", e.Name)
		return nil
	}
	return x.graph.Occurrence(x.ends[of.name], e.Nth)
}

// walk follows edges of the table.
func (x *translation) walk(edges []*model.Relationship) {
	for _, r := range edges {
		if to := x.edge(r); to != nil {
			x.follow(to)
		}
	}
}

// edge is an edge of the table in the other model, nil if there is none.
func (x *translation) edge(r *model.Relationship) *model.Relationship {
	to := x.edges[x.from.edges[r.Base()]]
	from, end := x.end(r.From), x.end(r.To)
	if to == nil {
		x.fail("no relationship %s (%s)", r.Name, x.from.edges[r.Base()])
	}
	if x.failed != "" {
		return nil
	}
	if x.from.turned[r.Base()] != x.truth.turned[to] {
		from, end = end, from
	}
	return x.graph.Between(to, from, end)
}

func (x *translation) follow(r *model.Relationship) {
	if !slices.Contains(x.tree, r) {
		x.tree = append(x.tree, r)
	}
}

// partner is where a relation leads to from an entity of the other model: where the tree leads already, else to an occurrence of its own.
func (x *translation) partner(name string, from *model.Entity) *model.Entity {
	r := x.edges[name]
	if r == nil {
		x.fail("no relationship %s", name)
		return nil
	}
	for _, known := range x.tree {
		if known.Base() == r && known.From == from {
			return known.To
		}
	}
	for n := 1; ; n++ {
		if to := x.graph.Occurrence(r.To, n); !slices.Contains(x.used, to) {
			x.used = append(x.used, to)
			x.follow(x.graph.Between(r, from, to))
			return to
		}
	}
}

// same are the fields of the other model that hold what one of this model does, with the relations over which they are reached from its entity.
func (x *translation) same(f model.Field) (same []model.Field, relations []string) {
	p, known := x.from.fields[model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute}]
	if !known {
		return nil, nil
	}
	owner, _, _ := strings.Cut(p.attribute, ".")
	over := place{entity: owner, attribute: p.attribute, form: p.form} // an attribute here may be one at the end of a relationship there
	for _, try := range []place{p, over, p.bare(), over.bare()} {
		if same, there := x.fields[try.String()]; there {
			if len(try.relations) > 0 || len(p.relations) == 0 {
				return same, nil
			}
			return same, p.relations
		}
	}
	return nil, nil
}

// take makes fields those of the other model, all that they are there or the first, and follows the relations that they stand for there.
func (x *translation) take(list []model.Field, all bool) (out []model.Field) {
	for _, f := range list {
		same, relations := x.same(f)
		at := x.end(f.Entity)
		if len(same) == 0 {
			x.fail("nothing holds %s (%v)", f, x.from.fields[model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute}])
		}
		for _, name := range relations {
			if x.failed == "" {
				at = x.partner(name, at)
			}
		}
		if x.failed != "" {
			return nil
		}
		for _, to := range same {
			if to.Entity = at; !slices.Contains(out, to) {
				out = append(out, to)
			}
			if !all {
				break
			}
		}
	}
	return out
}

// nests are the collections of a table in the other model.
func (x *translation) nests(t *model.Table) (out []*model.Nest) {
	for _, n := range t.Nests {
		edge := x.edge(n.Edge)
		first := x.end(n.Tree.Entities[0])
		x.tree = nil
		x.walk(n.Tree.Edges)
		key, values := x.take([]model.Field{n.Key}, false), x.take(n.Values, true)
		if x.failed != "" {
			return nil
		}
		tree, err := model.NewTree(first, x.tree...)
		if err != nil {
			x.fail("%v", err)
			return nil
		}
		values = slices.DeleteFunc(values, func(f model.Field) bool { return f == key[0] })
		out = append(out, &model.Nest{Edge: edge, Tree: tree, Key: key[0], Values: values})
	}
	return out
}

// bucket is a table's bucket in the other model.
func (x *translation) bucket(b *model.Bucket) *model.Bucket {
	if b == nil || b.Of.IsZero() {
		return b
	}
	of := x.take([]model.Field{b.Of}, false)
	if len(of) == 0 {
		return nil
	}
	own := *b
	own.Of = of[0]
	return &own
}
