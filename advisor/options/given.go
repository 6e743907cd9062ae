package options

import (
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
)

// Given is a design of another method, to rank beside the options. Its queries may take several requests.
type Given struct {
	Name   string
	Tables []*model.Table
	Reads  map[string]int // requests of one execution, by statement
	Writes map[string]int
}

// FromDesign is what the optimiser chose. A plan's step that reads a table once for each row counts as one request, so that it
// is compared in its favour; it still need not answer each query by one.
func FromDesign(name string, d *design.Design) Given {
	g := Given{Name: name, Reads: map[string]int{}, Writes: map[string]int{}}
	for _, t := range d.Tables {
		g.Tables = append(g.Tables, t.Table)
	}
	for _, s := range d.Statements {
		if s.Plan != nil {
			g.Reads[s.Statement.ID] = len(s.Plan.Tables())
			continue
		}
		n := 0
		for _, w := range s.Writes {
			n++
			for _, p := range w.Support {
				n += len(p.Tables())
			}
		}
		g.Writes[s.Statement.ID] = n
	}
	return g
}

// measureGiven measures a design by the same metrics: its partition key counts as one column, as a row key does, and every other field
// as one. A read costs a look-up by row key for each of its requests.
func (f *finder) measureGiven(g Given) *Option {
	o := &Option{Name: g.Name, Given: true, given: g.Tables}
	for _, t := range g.Tables {
		x := &Table{u: &f.universe, Tree: t.Tree, Purpose: Read}
		x.key = f.set(t.Partition...)
		for _, i := range t.Indexes {
			x.indexes = append(x.indexes, f.set(i.Field))
		}
		x.rest = f.set(t.Fields()...).minus(x.key)
		for _, i := range x.indexes {
			x.rest = x.rest.minus(i)
		}
		x.setNames()
		o.Tables = append(o.Tables, x)
	}
	o.Tables = sortTables(o.Tables)
	m := f.countMetrics(o.Tables)
	for _, s := range f.writes {
		o.Writes = append(o.Writes, WriteCost{Statement: s.ID, Writes: g.Writes[s.ID]})
	}
	f.writeMeans(&m, o)
	m.Storage = 0
	for _, t := range g.Tables {
		for _, x := range t.Fields() {
			m.Storage += x.Size()
		}
	}
	m.Storage /= max(1, f.entityBytes())
	weights := 0.0
	for _, q := range f.report.Queries {
		w := f.weightOf(q.Weight)
		weights += w
		m.Read += w * f.config.Costs.Key * float64(g.Reads[q.ID])
		if g.Reads[q.ID] == 1 {
			if _, surplus, ok := f.readCost(q, o.Tables); ok {
				m.Surplus += w * surplus
			}
		}
	}
	if weights > 0 {
		m.Read /= weights
		m.Surplus /= weights
	}
	m.JoinRows = joinRows(o.Tables)
	o.Metrics = m
	return o
}
