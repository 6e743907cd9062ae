package timeline

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
)

// readCalendar reads the best calendar off.
func (s *search) readCalendar(k *baselineDesigns) *Calendar {
	constant := s.existingWrites()
	c := &Calendar{Name: s.work.Name, Mix: s.work.Mix, Model: s.options.Cost.Name(), Cost: s.cost + constant, Bound: s.bound + constant,
		Proven: s.proven, Fewest: s.proven && s.fewest, Stopped: s.stopped, Space: s.space, Full: s.full, Pruned: !s.options.Exact,
		Candidates: len(s.tables), Kept: s.kept, Locals: s.locals, Rounds: s.rounds, Truncated: s.study.Cut(), Notes: s.notes}
	if s.result != nil {
		c.Engine = s.result.Engine
	}
	if c.Bound = min(c.Bound, c.Cost); c.Proven {
		c.Bound = c.Cost
	}
	if c.Cost > 0 && c.Bound < c.Cost*(1-1e-9) {
		c.Gap = (c.Cost - max(0, c.Bound)) / c.Cost
	}
	if s.loader.cut {
		c.Truncated = append(c.Truncated, fmt.Sprintf("migration plans cut off at %d reads for a table", mostPaths))
	}
	names := s.study.Names(s.chosenTables())
	for step := range s.steps {
		c.Steps = append(c.Steps, s.readStep(step, names))
	}
	for i := 1; i < len(c.Steps); i++ {
		c.Steps[i].markChangedPlans(c.Steps[i-1])
		if late := c.Steps[i].lateWarning(c.Steps[i-1]); late != "" {
			c.Notes = append(c.Notes, late)
		}
	}
	if !s.options.NoBaselines {
		c.Baselines = s.compareBaselines(k)
	}
	c.Unit = c.Steps[0].Design.Unit()
	return c
}

// chosenTables are the candidates that are there at any step, in order.
func (s *search) chosenTables() []*model.Table {
	var list []*model.Table
	for n, table := range s.tables {
		if slices.ContainsFunc(s.open, func(open []bool) bool { return open[n] }) {
			list = append(list, table)
		}
	}
	return list
}

func (s *search) readStep(step int, names map[*model.Table]string) *Step {
	open := s.open[step]
	x := &Step{Number: step, Duration: s.length[step], Bytes: s.bytesOf(open)}
	x.Design = s.study.Read(open, s.rates[step], names)
	x.Tables = x.Design.Tables
	seconds := s.length[step].Seconds()
	for _, st := range x.Design.Statements {
		p := &Plan{Statement: st, Rate: st.Statement.Weight, Total: st.Statement.Weight * seconds * st.Cost.Work}
		if st.Plan != nil {
			for _, table := range st.Plan.Tables() {
				p.Tables = append(p.Tables, nameOf(names, table))
			}
		}
		for _, w := range st.Writes {
			p.Tables = append(p.Tables, nameOf(names, w.Table))
		}
		x.Cost += p.Total
		x.Plans = append(x.Plans, p)
	}
	for n, table := range s.tables {
		before := table.Kept
		if step > 0 {
			before = s.open[step-1][n]
		}
		switch {
		case open[n] && !before:
			x.Created = append(x.Created, names[table])
			if step > 0 {
				m := s.readMigration(step, n, names)
				x.Migrations = append(x.Migrations, m)
				x.MigrationCost += m.Extract + m.Load + m.Keep
			} else {
				x.MigrationCost += s.problem.Tables[n].Birth[0]
			}
		case before && !open[n]:
			x.Dropped = append(x.Dropped, nameOf(names, table))
			x.MigrationCost += s.options.Drop
		}
	}
	return x
}

func nameOf(names map[*model.Table]string, table *model.Table) string {
	if name := names[table]; name != "" {
		return name
	}
	return table.Name
}

// readMigration is how a candidate is filled for a step.
func (s *search) readMigration(step, n int, names map[*model.Table]string) *Migration {
	table, open := s.tables[n], s.open[step-1]
	m := &Migration{Table: names[table], Target: table, Load: s.loading[n].Work, Keep: s.keepCost(step, n), Bytes: s.study.Bytes(table), Rows: table.Entries()}
	w := s.loader.fillPathsOf(n, math.Inf(1), func(n int) bool { return open[n] })
	d := choice.Demand{States: max(2, w.States), Arcs: w.Arcs}
	via, _ := d.CheapestPath(open)
	latency := s.loading[n].Latency
	for _, arc := range via {
		source := w.reads[arc]
		x := Source{Name: nameOf(names, source.Table), Table: source.Table, As: source.As, Cost: s.extractCost(source.Table)}
		x.On = joinedOn(table.Tree, m.Sources, source)
		m.Sources = append(m.Sources, x)
		m.Extract += x.Cost.Work
		latency += x.Cost.Latency
	}
	m.Estimated = time.Duration(cost.Seconds(s.options.Cost, latency) * float64(time.Second))
	s.planMigration(m)
	s.setQuestion(m)
	return m
}

// markChangedPlans notes which plans differ from the step before.
func (x *Step) markChangedPlans(before *Step) {
	for i, p := range x.Plans {
		p.Changed = !slices.Equal(p.Tables, before.Plans[i].Tables)
	}
}

// lateWarning says which tables can not be filled within the step before.
func (x *Step) lateWarning(before *Step) string {
	for _, m := range x.Migrations {
		if m.Estimated > before.Duration {
			return fmt.Sprintf("filling %s for step %d is estimated to take %v, longer than step %d lasts (%v): begin earlier, or forbid it", m.Table, x.Number, m.Estimated.Round(time.Second), before.Number, before.Duration)
		}
	}
	return ""
}
