package design

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// What a Study has prepared, for who asks another question about it than which tables are best at one point in time. None of
// it depends on the statements' weights. What is returned is the study's own: to be read only.

// Demand is something to be answered: a query of the workload, or a support query of a write, which is there if one of
// the candidates in Needed is chosen.
type Demand struct {
	Name      string
	Statement int     // index in Prepared's statements
	Times     float64 // executions for one of the statement
	Space     *plan.Space
	Prices    []float64 // work of each of the space's arcs, per execution
	Needed    []int     // nil for a query
}

// Prepared returns the statements of the mix with which the study works.
func (s *Study) Prepared() *workload.Workload { return s.work }

// Candidates returns the tables that may be chosen, numbered by their place: those that can be of any use.
func (s *Study) Candidates() []*model.Table { return s.candidates }

// Number is the place of a candidate; false if it is none.
func (s *Study) Number(t *model.Table) (n int, ok bool) {
	n, ok = s.number[t]
	return n, ok
}

// Existing returns the application's own tables, which are there whatever is chosen.
func (s *Study) Existing() []*model.Table { return s.existing }

// Must reports whether a candidate must be among the tables.
func (s *Study) Must(candidate int) bool { return s.fixed[candidate] }

// Bytes is what a table takes.
func (s *Study) Bytes(t *model.Table) float64 { return s.arithmetic.TableBytes(t) }

// Limit is the space for new tables, bytes; 0: there is none.
func (s *Study) Limit() float64 { return s.space }

// Puts is the work of deletes and puts by which a statement keeps a candidate true, per execution, without support queries.
func (s *Study) Puts(statement, candidate int) float64 { return s.puts[statement][candidate] }

// Written is the work of a statement's writes of the existing tables, per execution.
func (s *Study) Written(statement int) float64 { return s.base[statement] }

// Cut says what limits have cut off: there may be better tables and plans beyond.
func (s *Study) Cut() []string { return append(slices.Clone(s.pool), s.truncated...) }

// Demands returns what is to be answered.
func (s *Study) Demands() []Demand {
	list := make([]Demand, len(s.demands))
	for i, d := range s.demands {
		list[i] = Demand{d.name, d.statement, d.times, d.space, d.prices, d.needed}
	}
	return list
}

// Read reads tables and plans off a choice of candidates, as they are with other weights of the statements. names are the
// tables' (Names); nil: each design has its own. Nothing is said of how good the choice is.
func (s *Study) Read(open []bool, weights []float64, names map[*model.Table]string) *Design {
	t := *s.task
	work := *t.work
	work.Statements = make([]*workload.Statement, len(t.work.Statements))
	for i, statement := range t.work.Statements {
		own := *statement
		own.Weight = weights[i]
		work.Statements[i] = &own
	}
	t.work, t.weights, t.names = &work, weights, names
	d := t.readDesign(open, s.options.Cost.Name())
	d.Candidates, d.Others, d.Truncated, d.Late = s.size, s.others, s.Cut(), d.lateWrites()
	d.Bound = d.After
	return d
}

// Names makes names for tables that have none, in order, so that no two share one, nor one with the existing tables.
func (s *Study) Names(tables []*model.Table) map[*model.Table]string {
	taken := map[string]bool{}
	for _, table := range s.existing {
		taken[table.Name] = true
	}
	names := map[*model.Table]string{}
	for _, table := range tables {
		name := table.Name
		if name == "" {
			name = tableName(table, taken)
		}
		taken[name], names[table] = true, name
	}
	return names
}
