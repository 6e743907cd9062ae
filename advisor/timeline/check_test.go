package timeline

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Check returns what is wrong with a calendar, nil if it can be followed (W-53): every plan of every step reads tables of
// that step alone, each change drops no table that the new step has, and each table that is created is filled from tables
// of the step before.
func (c *Calendar) Check() error {
	for i, s := range c.Steps {
		there := tablesOf(s)
		for _, p := range s.Plans {
			for _, t := range p.tablesRead() {
				if !t.Existing && !there[t] {
					return fmt.Errorf("step %d: statement %s reads %s, which is not there", s.Number, p.Statement.Statement.ID, t)
				}
			}
			if p.Statement.Statement.Query != nil && p.Plan == nil {
				return fmt.Errorf("step %d: statement %s has no plan", s.Number, p.Statement.Statement.ID)
			}
		}
		for _, dropped := range s.Dropped {
			if s.tableNamed(dropped) != nil {
				return fmt.Errorf("step %d: %s is dropped, and there", s.Number, dropped)
			}
		}
		if i == 0 {
			continue
		}
		if err := s.checkChange(c.Steps[i-1]); err != nil {
			return err
		}
	}
	return nil
}

// checkChange looks at how a step's tables come of those of the step before.
func (x *Step) checkChange(before *Step) error {
	there := tablesOf(before)
	for _, t := range x.Tables {
		created := slices.Contains(x.Created, t.Name)
		if t.IsNew() && created == there[t.Table] {
			return fmt.Errorf("step %d: table %s: created is %v, there before is %v", x.Number, t.Name, created, there[t.Table])
		}
	}
	for _, t := range before.Tables {
		if t.IsNew() && x.tableNamed(t.Name) == nil && !slices.Contains(x.Dropped, t.Name) {
			return fmt.Errorf("step %d: table %s of the step before is neither there nor dropped", x.Number, t.Name)
		}
	}
	for _, name := range x.Created {
		i := slices.IndexFunc(x.Migrations, func(m *Migration) bool { return m.Table == name })
		if i < 0 || len(x.Migrations[i].Sources) == 0 {
			return fmt.Errorf("step %d: nothing fills %s", x.Number, name)
		}
		m := x.Migrations[i]
		for _, source := range m.Sources {
			if !source.Table.Existing && !there[source.Table] {
				return fmt.Errorf("step %d: filling %s reads %s, which was not there", x.Number, name, source.Name)
			}
		}
		for _, f := range m.Target.Fields() {
			if !slices.ContainsFunc(m.Sources, func(b Source) bool { return b.Has(f) }) {
				return fmt.Errorf("step %d: filling %s: no source has %s", x.Number, name, f)
			}
		}
		if m.Plan != nil {
			for _, t := range m.Plan.Tables() {
				if !t.Existing && !there[t] {
					return fmt.Errorf("step %d: the plan that fills %s reads %s, which was not there", x.Number, name, t)
				}
			}
		}
	}
	return nil
}

func tablesOf(s *Step) map[*model.Table]bool {
	there := map[*model.Table]bool{}
	for _, t := range s.Tables {
		there[t.Table] = true
	}
	return there
}

func (x *Step) tableNamed(name string) *model.Table {
	for _, t := range x.Tables {
		if t.Name == name {
			return t.Table
		}
	}
	return nil
}

// tablesRead are the tables that a statement's plans read.
func (p *Plan) tablesRead() []*model.Table {
	var list []*model.Table
	plans := []*plan.Plan{}
	if p.Plan != nil {
		plans = append(plans, p.Plan)
	}
	for _, w := range p.Writes {
		plans = append(plans, w.Support...)
	}
	for _, x := range plans {
		list = append(list, x.Tables()...)
	}
	return list
}
