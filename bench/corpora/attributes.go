package main

// This file scores whose the attributes are.

import (
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
)

// property is an attribute of a true entity.
type property struct {
	of *entity
	at *attribute
}

// attributes matches attributes by whose they are: a copy of a customer's name is the customer's, not another attribute of the order that has it, and what a static column says is said of what the partition is about.
func (o *observed) attributes(m *infer.Model, s *score, of map[string]*entity) {
	left, taken := map[property]bool{}, map[model.Field]bool{}
	holding := func(see func(t *table, c column, p property)) {
		for _, t := range o.site.tables {
			for _, c := range t.columns() {
				if c.form != "" || t.view != "" {
					continue
				}
				e, a := t.of.attributeOf(c.path)
				if o.base(e) != nil {
					see(t, c, property{e, a})
				}
			}
		}
	}
	holding(func(_ *table, _ column, p property) { left[p] = true })
	s.attributes.there = float64(len(left))
	holding(func(t *table, c column, p property) {
		f := m.Field(o.site.keyspace, t.name, c.name)
		if f.IsZero() {
			return
		}
		if f = (model.Field{Entity: f.Entity.Base(), Attribute: f.Attribute}); taken[f] {
			return
		}
		taken[f] = true
		s.attributes.found++
		if of[f.Entity.Name] == p.of && left[p] {
			delete(left, p)
			s.attributes.right++
			return
		}
		s.note("%s.%s is %s, not %s.%s", t.name, c.name, f, p.of.name, p.at.name)
	})
	for p := range left {
		s.note("no attribute %s.%s", p.of.name, p.at.name)
	}
}
