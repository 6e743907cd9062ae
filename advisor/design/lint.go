package design

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Linted is the design as the linter looks at it: its tables under the names that it gives them, those that are there besides,
// and its plans. before is the same of the tables that are there alone.
func (d *Design) Linted(w *workload.Workload) (after, before *lint.Input, err error) {
	var there, all []*model.Table
	keyspace := ""
	for _, t := range w.Tables {
		there = append(there, t)
		keyspace = t.Keyspace
	}
	all = slices.Clone(there)
	named := map[*model.Table]*model.Table{}
	for _, t := range d.Tables {
		if slices.Contains(there, t.Table) {
			continue
		}
		own := *t.Table
		if own.Name = t.Name; own.Keyspace == "" {
			own.Keyspace = keyspace
		}
		named[t.Table] = &own
		all = append(all, &own)
		if t.Table.Kept {
			there = append(there, &own)
		}
	}
	var then, now []lint.Planned
	for _, s := range d.Statements {
		if s.Statement.Query != nil {
			then = append(then, lint.Planned{Statement: s.Statement, Plan: renamed(s.Plan, named)})
			now = append(now, lint.Planned{Statement: s.Statement, Plan: renamed(s.Current, named)})
		}
	}
	if after, err = lint.FromPlans(w, all, then); err != nil {
		return nil, nil, err
	}
	for _, s := range d.Statements {
		for _, write := range s.Writes {
			for _, support := range write.Support {
				for _, t := range renamed(support, named).Tables() {
					after.Support = append(after.Support, lint.Reference{Keyspace: t.Keyspace, Table: t.Name})
				}
			}
		}
	}
	before, err = lint.FromPlans(w, there, now)
	return after, before, err
}

// renamed is a plan over the tables' copies.
func renamed(p *plan.Plan, to map[*model.Table]*model.Table) *plan.Plan {
	if p == nil {
		return nil
	}
	out := &plan.Plan{Query: p.Query, Steps: slices.Clone(p.Steps)}
	for i := range out.Steps {
		if t := to[out.Steps[i].Table]; t != nil {
			out.Steps[i].Table = t
		}
	}
	return out
}
