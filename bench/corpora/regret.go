package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
)

// Regret is what it costs that a design was made for what was inferred, and not for what is true: the true workload over the tables that are
// designed for the inferred one, by its cost over those that are designed for itself.
//
// The true workload is what is inferred of the same design with its own names, one thread and nothing odd, of which the other columns of the
// page say that it is the truth. (With copies, and with one statement for each table, the application asks for other columns in other orders: each has
// a truth of its own.) Tables are carried over from one model to the other by what their columns hold: in the corpora each is
// a path over the gold model. What nothing answers over the carried tables runs as it does today.

// truth is the case whose inferred workload is the true one.
func (v variant) truth() variant {
	of := variant{v.app, "normalised", v.dao, 1, v.seed}
	if v.design == "denormalised" || v.design == "messy" {
		of.design = "denormalised"
	}
	return of
}

// carried names the fields and relationships of an inferred model by what they are in the gold model.
type carried struct {
	model  *infer.Model
	of     map[string]*entity // by the name of the inferred entity
	fields map[model.Field]place
	edges  map[*model.Relationship]string
	turned map[*model.Relationship]bool // m:n ones that were found the other way round
}

// place is an attribute at the end of relations that the inferred model does not know as such.
type place struct {
	entity    string
	relations []string // gold names, from the field's entity on
	attribute string   // Entity.attribute
}

func (p place) String() string { return fmt.Sprint(p.entity, p.relations, p.attribute) }

// relationName is what a relation of the gold model is called in both.
func relationName(r *relation) string { return r.of.name + "." + r.name + " " + r.to.name }

// carry finds out what an inferred model's fields and relationships are.
func (o *observed) carry(m *infer.Model) *carried {
	c := &carried{m, o.entities(m, &score{}), map[model.Field]place{}, map[*model.Relationship]string{}, map[*model.Relationship]bool{}}
	for i := range m.Relationships {
		if r := m.Graph.Relationship(m.Relationships[i].Name); r != nil {
			c.edges[r] = o.relationOf(&m.Relationships[i], c.of)
			if held := o.table(m.Relationships[i].Column); held != nil { // a table of pairs, whose first column is whom it leads from
				c.turned[r] = held.key()[0].path != held.of.edges[0].name
			}
		}
	}
	learn := func(f model.Field, held *table, name string) {
		at := c.of[f.Entity.Name]
		if _, known := c.fields[f]; known || held == nil || at == nil || held.named(name) == nil {
			return
		}
		if p, ok := located(held.of, held.named(name).path, at); ok {
			p.entity = at.name
			c.fields[f] = p
		}
	}
	for _, t := range m.Tables {
		for _, f := range slices.Concat(t.Partition, t.Clustering, t.Values) {
			learn(f, o.table(t.Keyspace+"."+t.Name), t.ColumnName(f))
		}
	}
	for i := range m.Entities { // keys of partners in its own key, which tables have as the partners' own
		e := m.Graph.Entity(m.Entities[i].Name)
		for _, a := range e.Attributes {
			learn(model.Field{Entity: e, Attribute: a}, o.table(m.Entities[i].Tables[0]), a.Name)
		}
	}
	return c
}

// located follows a path to its attribute, and says what is left of it from an entity on.
func located(from *entity, path string, at *entity) (place, bool) {
	var p place
	found := from == at
	for {
		first, rest, more := strings.Cut(path, ".")
		r := from.edge(first)
		if r == nil {
			p.attribute = from.name + "." + first
			return p, found
		}
		if found && at != r.to {
			p.relations = append(p.relations, relationName(r))
		}
		from = r.to
		if from == at {
			found, p.relations = true, nil
		}
		if path = rest; !more {
			path = r.to.key[0]
		}
	}
}

// onto makes a table of another model what it would be in this one; nil if it can not be said.
func (c *carried) onto(truth *carried, t *model.Table) *model.Table {
	x := &translation{from: c, fields: map[string][]model.Field{}, edges: map[string]*model.Relationship{}, ends: map[string]*model.Entity{}, graph: truth.model.Graph}
	for f, p := range truth.fields {
		x.fields[p.String()] = append(x.fields[p.String()], f)
	}
	for _, same := range x.fields {
		slices.SortFunc(same, func(a, b model.Field) int { return strings.Compare(a.String(), b.String()) })
	}
	for r, name := range truth.edges {
		x.edges[name] = r
	}
	for name, e := range truth.of {
		x.ends[e.name] = x.graph.Entity(name)
	}
	for _, r := range t.Tree.Edges {
		to := x.edges[c.edges[r.Base()]]
		if to != nil && c.turned[r.Base()] != truth.turned[to] {
			x.follow(to, r.To, r.From)
		} else {
			x.follow(to, r.From, r.To)
		}
	}
	partition, clustering, values, desc, static := x.take(t.Partition, false), x.take(t.Clustering, false), x.take(slices.Concat(t.Values, t.Partition, t.Clustering), true), x.take(t.Desc, false), x.take(t.Static, true)
	if x.failed {
		return nil
	}
	key := slices.Concat(partition, clustering)
	clustering = slices.DeleteFunc(clustering, func(f model.Field) bool { return slices.Contains(partition, f) })
	values = slices.DeleteFunc(values, func(f model.Field) bool { return slices.Contains(key, f) })
	out, err := model.NewTable(x.graph, partition, clustering, values, x.tree...)
	if err != nil {
		return nil
	}
	out.Desc, out.Static, out.Bucket = desc, static, t.Bucket
	return out
}

// translation makes a table of one model one of another.
type translation struct {
	from   *carried
	graph  *model.Graph             // the other's
	fields map[string][]model.Field // what is one in the gold model may be several there
	edges  map[string]*model.Relationship
	ends   map[string]*model.Entity // by the name of the gold model
	tree   []*model.Relationship
	failed bool
}

// end is the occurrence of an entity in the other model.
func (x *translation) end(e *model.Entity) *model.Entity {
	of := x.from.of[e.Base().Name]
	if of == nil || x.ends[of.name] == nil {
		x.failed = true
		return nil
	}
	return x.graph.Occurrence(x.ends[of.name], e.Nth)
}

// follow adds an edge of the other model between two occurrences.
func (x *translation) follow(r *model.Relationship, from, to *model.Entity) {
	a, b := x.end(from), x.end(to)
	if r == nil || x.failed {
		x.failed = true
		return
	}
	if r = x.graph.Between(r, a, b); !slices.Contains(x.tree, r) {
		x.tree = append(x.tree, r)
	}
}

// take makes fields those of the other model, all that they are there or the first, and follows the relations that they stand for there.
func (x *translation) take(list []model.Field, all bool) (out []model.Field) {
	for _, f := range list {
		p, known := x.from.fields[model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute}]
		same, there := x.fields[p.String()]
		if there {
			p.relations = nil
		} else { // what is an attribute here is one at the end of a relationship there
			owner, _, _ := strings.Cut(p.attribute, ".")
			same, there = x.fields[place{entity: owner, attribute: p.attribute}.String()]
		}
		if !known || !there || len(p.relations) > 0 && f.Entity.Of != nil {
			x.failed = true
			return nil
		}
		for _, name := range p.relations {
			r := x.edges[name]
			if r == nil {
				x.failed = true
				return nil
			}
			if !slices.Contains(x.tree, r) {
				x.tree = append(x.tree, r)
			}
		}
		for _, to := range same {
			if len(p.relations) == 0 {
				if to.Entity = x.end(f.Entity); x.failed {
					return nil
				}
			}
			if !slices.Contains(out, to) {
				out = append(out, to)
			}
			if !all {
				break
			}
		}
	}
	return out
}

// compared is the regret of a design, and what could not be carried over or answered.
type compared struct {
	cost, best float64  // of the true workload, over the carried tables and over its own
	lost       []string // tables
	missing    []string // statements
	dearer     []string // statements, and by how much
}

// regret designs for what was inferred of a case, and prices the true workload over it. truth is the same application with the same seed.
func (o *observed) regret(ctx context.Context, truth *observed) (*compared, error) {
	inferred, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
	if err != nil {
		return nil, err
	}
	gold, err := infer.WithCorrections(truth.snapshot, truth.schema, truth.stats, nil)
	if err != nil {
		return nil, err
	}
	from, to := o.carry(inferred), truth.carry(gold)
	own, err := designed(ctx, gold)
	if err != nil {
		return nil, fmt.Errorf("the true design: %w", err)
	}
	made, err := designed(ctx, inferred)
	if err != nil {
		return nil, fmt.Errorf("the inferred design: %w", err)
	}
	out := &compared{}
	var tables []*model.Table
	for _, t := range made {
		if x := from.onto(to, t); x == nil {
			out.lost = append(out.lost, t.String())
		} else {
			tables = append(tables, x)
		}
	}
	best, err := over(ctx, gold, own)
	if err != nil {
		return nil, err
	}
	got, err := over(ctx, gold, tables)
	if err != nil {
		return nil, err
	}
	today, err := over(ctx, gold, gold.Tables)
	if err != nil {
		return nil, err
	}
	for _, s := range gold.Workload.Statements {
		b, answered := best.Statements[s.ID]
		if !answered {
			continue // by nobody
		}
		out.best += s.Weight * b.Cost.Work
		if g := got.Statements[s.ID]; g != nil && g.Cost.Work > 1.2*b.Cost.Work {
			out.dearer = append(out.dearer, fmt.Sprintf("%s (%.0f times): %s", s.ID, g.Cost.Work/b.Cost.Work, s))
		}
		switch g, t := got.Statements[s.ID], today.Statements[s.ID]; {
		case g != nil:
			out.cost += s.Weight * g.Cost.Work
		case t != nil:
			out.cost += s.Weight * t.Cost.Work
			out.missing = append(out.missing, s.ID)
		default:
			out.missing = append(out.missing, s.ID+" (nor today)")
		}
	}
	return out, nil
}

// designed are the tables that are best for a workload, of all that there can be.
func designed(ctx context.Context, m *infer.Model) ([]*model.Table, error) {
	d, err := design.Choose(ctx, fresh(m), design.Options{Solver: solve.New(solve.Config{}), Allow: design.NoLookUps})
	if err != nil {
		return nil, err
	}
	var out []*model.Table
	for _, t := range d.Tables {
		out = append(out, t.Table)
	}
	return out, nil
}

// fresh is a workload without the tables that there are.
func fresh(m *infer.Model) *workload.Workload {
	w := *m.Workload
	w.Tables = nil
	return &w
}

// over plans the true workload over some tables.
func over(ctx context.Context, m *infer.Model, tables []*model.Table) (*contest.Entry, error) {
	own := make([]*model.Table, len(tables))
	for i, t := range tables {
		one := *t
		one.Existing = false
		own[i] = &one
	}
	return contest.Over(ctx, fresh(m), "carried", own, design.Options{Cost: cost.Default(), Solver: solve.New(solve.Config{}), Allow: design.NoLookUps})
}
