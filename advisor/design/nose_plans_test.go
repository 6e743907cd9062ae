package design_test

import (
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// chains goes through the plans that NoSE's planner makes for a query (docs/design/nose.md, section 5), depth first:
// the first lookup by equalities, each later one by exactly the id of an entity reached, over tables whose graph is part
// of the query's; filters as soon as they apply, a sort at the end. It shares no code with package plan.
type chains struct {
	oracle *oracle
	query  *workload.Query
	tables []*model.Table
	least  float64
	found  int
}

// leastOf is the cost of the cheapest such plan, +Inf if there is none.
func leastOf(name string, q *workload.Query, tables []*model.Table) (float64, int) {
	c := &chains{oracle: &oracle{model: name}, query: q, tables: tables, least: math.Inf(1)}
	c.extend(nil, nil, map[model.Field]bool{}, map[model.Field]bool{})
	return c.least, c.found
}

func (c *chains) extend(steps []plan.Step, joined []*model.Entity, hand, applied map[model.Field]bool) {
	if len(steps) > 0 && c.finish(steps, joined, hand, applied) || len(steps) > 8 {
		return
	}
	for _, t := range c.tables {
		if !c.within(t) || slices.ContainsFunc(steps, func(s plan.Step) bool { return s.Table == t }) {
			continue
		}
		s := plan.Step{Kind: plan.Get, Table: t}
		if len(joined) == 0 {
			if !c.byEqualities(&s) {
				continue
			}
		} else if !byReached(&s, joined, hand) {
			continue
		}
		c.clustering(&s, applied)
		now, have, members := map[model.Field]bool{}, map[model.Field]bool{}, slices.Clone(joined)
		for f := range applied {
			now[f] = true
		}
		for f := range hand {
			have[f] = true
		}
		for _, f := range t.Fields() {
			have[f] = true
		}
		for _, b := range append(slices.Clone(s.Partition), s.Clustering...) {
			if b.Value != "" {
				now[b.Field] = true
			}
		}
		for _, e := range t.Tree.Entities {
			if !slices.Contains(members, e) {
				members = append(members, e)
			}
		}
		if len(joined) > 0 && len(t.Tree.Entities) == 1 && len(members) < len(c.query.Tree.Entities) {
			continue // attributes are looked up for the last entity only
		}
		next := append(slices.Clone(steps), s)
		filter := plan.Step{Kind: plan.Filter}
		for _, p := range c.query.Where {
			if have[p.Field] && !now[p.Field] {
				now[p.Field] = true
				filter.Where = append(filter.Where, plan.Binding{Field: p.Field, Op: p.Op, Value: p.Value})
			}
		}
		if len(filter.Where) > 0 {
			next = append(next, filter)
		}
		c.extend(next, members, have, now)
	}
}

// within reports whether a table's graph is part of the query's.
func (c *chains) within(t *model.Table) bool {
	for _, e := range t.Tree.Entities {
		if !c.query.Tree.Has(e) {
			return false
		}
	}
	for _, r := range t.Tree.Edges {
		if !c.query.Tree.HasEdge(r) {
			return false
		}
	}
	return true
}

func (c *chains) byEqualities(s *plan.Step) bool {
	for _, f := range s.Table.Partition {
		i := slices.IndexFunc(c.query.Where, func(p workload.Predicate) bool { return p.Field == f && p.Op == workload.Equal })
		if i < 0 {
			return false
		}
		s.Partition = append(s.Partition, plan.Binding{Field: f, Op: workload.Equal, Value: "?"})
	}
	return true
}

// byReached: the table is keyed by the id of an entity reached, and shares nothing else with what is joined.
func byReached(s *plan.Step, joined []*model.Entity, hand map[model.Field]bool) bool {
	t := s.Table
	if len(t.Partition) != 1 || !t.Partition[0].IsKey() || len(t.Partition[0].Entity.Key) != 1 || !hand[t.Partition[0]] {
		return false
	}
	for _, e := range t.Tree.Entities {
		if e != t.Partition[0].Entity && slices.Contains(joined, e) {
			return false
		}
	}
	s.Partition = []plan.Binding{{Field: t.Partition[0], Op: workload.Equal}}
	return true
}

// clustering binds a prefix of the clustering columns to equalities, then one to a range.
func (c *chains) clustering(s *plan.Step, applied map[model.Field]bool) {
	for _, f := range s.Table.Clustering {
		i := slices.IndexFunc(c.query.Where, func(p workload.Predicate) bool { return p.Field == f && !applied[f] })
		if i < 0 {
			return
		}
		p := c.query.Where[i]
		s.Clustering = append(s.Clustering, plan.Binding{Field: f, Op: p.Op, Value: "?"})
		if p.Op != workload.Equal {
			return
		}
	}
}

// finish notes a plan that answers the query.
func (c *chains) finish(steps []plan.Step, joined []*model.Entity, hand, applied map[model.Field]bool) bool {
	if len(joined) != len(c.query.Tree.Entities) {
		return false
	}
	for _, p := range c.query.Where {
		if !applied[p.Field] {
			return false
		}
	}
	for _, f := range append(slices.Clone(c.query.Select), c.query.Ordered()...) {
		if !hand[f] && !slices.ContainsFunc(c.query.Where, func(p workload.Predicate) bool { return p.Field == f && p.Op == workload.Equal }) {
			return false
		}
	}
	if len(c.query.OrderBy) > 0 {
		steps = append(slices.Clone(steps), plan.Step{Kind: plan.Sort})
	}
	if c.query.Limit > 0 {
		steps = append(slices.Clone(steps), plan.Step{Kind: plan.Limit, Limit: c.query.Limit})
	}
	total, _ := c.oracle.plan(&plan.Plan{Query: c.query, Steps: steps})
	c.least, c.found = min(c.least, total), c.found+1
	return true
}

// TestNeverAboveNoSEsPlans: over a given schema no query costs more than the cheapest plan of NoSE's kind, by the oracle.
func TestNeverAboveNoSEsPlans(t *testing.T) {
	for _, schema := range []string{"rubis_expert", "rubis_baseline"} {
		for _, name := range noseModels {
			w := load(t, "rubis.yaml")
			if err := w.SetMix("bidding"); err != nil {
				t.Fatal(err)
			}
			m, err := cost.ByName("nose:" + name)
			if err != nil {
				t.Fatal(err)
			}
			tables := keptCopies(w.Schemas[schema])
			w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool {
				return s.Query == nil || schema == "rubis_baseline" && s.ID == "q31"
			})
			planned := 0
			for _, s := range choose(t, w, design.Options{Cost: m, Candidates: tables, OnlyExisting: true}).Statements {
				least, found := leastOf(name, s.Statement.Query, tables)
				if found > 0 {
					planned++
				}
				if s.Cost.Work > least*(1+1e-9) {
					t.Errorf("%s, nose:%s, %s: %g, but NoSE has a plan of %g\n%s\n%s", schema, name, s.Statement.ID, s.Cost.Work, least, s.Statement, s.Plan)
				}
				if s.Cost.Work < least*(1-1e-9) && found > 0 {
					t.Logf("%s, nose:%s, %s: %g, NoSE's kind of plan %g\n%s", schema, name, s.Statement.ID, s.Cost.Work, least, s.Plan)
				}
			}
			// Their code finds plans for 5 and 14 of the 28 (docs/design/nose.md, section 5); this search for one more, as it
			// does not keep to their order of joins.
			if want := map[string]int{"rubis_expert": 5, "rubis_baseline": 15}[schema]; planned != want {
				t.Errorf("%s: %d queries have a plan of NoSE's kind, want %d", schema, planned, want)
			}
		}
	}
}
