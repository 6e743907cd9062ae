package main

import (
	"context"
	"fmt"
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
// What is true is said in truth.go. Tables are carried over from one model to the other by what their columns hold: in the corpora each is a path over the gold
// model, in one form or another. What nothing answers over the carried tables runs as it does today.

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
	form      string   // ~ and what the value is made into, if the model has it in that form
}

func (p place) String() string { return fmt.Sprint(p.entity, p.relations, p.attribute, p.form) }

// bare is a place without a form that keeps the value: whoever has the one has the other.
func (p place) bare() place {
	if keeps(strings.TrimPrefix(p.form, "~")) {
		p.form = ""
	}
	return p
}

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
		if p, ok := located(held.of, *held.named(name), at); ok {
			if column := held.named(name); column.form != "" && (!keeps(column.form) || f.Attribute.Type == o.site.w.typeOf(held, *column)) {
				p.form = "~" + column.form // else it is taken for the key that it is made of
			}
			p.entity = at.name
			c.fields[f] = p
		}
	}
	for _, t := range o.site.tables { // also those that the model reads by their own statements only
		for _, x := range t.columns() {
			if f := m.Field(o.site.keyspace, t.name, x.name); !f.IsZero() {
				learn(f, t, x.name)
			}
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

// located follows a column's path to its attribute, and says what is left of it from an entity on.
func located(from *entity, c column, at *entity) (place, bool) {
	var p place
	found, path := from == at, c.path
	if c.form == "set" {
		p.attribute = from.name + "." + path
		return p, found
	}
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

// compared is the regret of a design, and what could not be carried over or answered.
type compared struct {
	truth      *score   // of the model that is taken for the truth
	cost, best float64  // of the true workload, over the carried tables and over its own
	lost       []string // tables
	missing    []string // statements
	dearer     []string // statements, and by how much
}

// regret designs for what was inferred of a case, and prices the true workload over it. truth is the same traffic, as variant.truth gives it.
func (o *observed) regret(ctx context.Context, inferred *infer.Model, truth *observed) (*compared, error) {
	gold, score, err := truth.known()
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
	out := &compared{truth: score}
	var tables []*model.Table
	for _, t := range made {
		if x, why := from.onto(to, t); why != "" {
			out.lost = append(out.lost, t.String()+": "+why)
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

// regret runs a case, and says what the design for what is inferred of it costs.
func (v variant) regret(ctx context.Context) (*compared, error) {
	o := v.observe()
	m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
	if err != nil {
		return nil, err
	}
	return o.regret(ctx, m, v.truth(o))
}
