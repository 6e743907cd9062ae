package design

import (
	"context"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Help says what would answer the query: the tables that a design for it alone has, in our notation; "" if there is none.
func (e *UnanswerableError) Help(ctx context.Context, w *workload.Workload, o Options) string {
	d := e.designAlone(ctx, w, Options{Cost: o.Cost, Solver: o.Solver, Limits: o.Limits})
	if d == nil {
		return ""
	}
	tables := make([]string, len(d.Tables))
	for i, t := range d.Tables {
		tables[i] = t.Table.String()
	}
	return strings.Join(tables, " and ")
}

// designAlone designs for the query alone, nil if that can not be.
func (e *UnanswerableError) designAlone(ctx context.Context, w *workload.Workload, o Options) *Design {
	s, err := workload.Parse(w.Graph, e.Query)
	if err != nil || s.Query == nil {
		return nil
	}
	s.ID, s.Weight = e.Statement, 1
	d, err := Choose(ctx, &workload.Workload{Name: e.Statement, Graph: w.Graph, Statements: []*workload.Statement{s}}, o)
	if err != nil {
		return nil
	}
	return d
}

// AllowScans allows that those kept tables are scanned without which the query has no plan, and returns their names. A
// schema made by hand may leave a write no other way to find the rows that it changes; where there is another, none is
// scanned, so that costs stay those of a schema without scans.
func (e *UnanswerableError) AllowScans(ctx context.Context, w *workload.Workload, o Options) []string {
	originals := map[string]*model.Table{}
	o.Candidates = append([]*model.Table(nil), o.Candidates...)
	for i, t := range o.Candidates {
		own := *t
		own.ScanAllowed = true
		o.Candidates[i], originals[t.ID()] = &own, t
	}
	d := e.designAlone(ctx, w, o)
	if d == nil {
		return nil
	}
	var names []string
	for i := range d.Statements[0].Plan.Steps {
		s := &d.Statements[0].Plan.Steps[i]
		if s.Kind != plan.Scan {
			continue
		}
		if t := originals[s.Table.ID()]; t != nil && !t.ScanAllowed {
			t.ScanAllowed = true
			names = append(names, t.Name)
		}
	}
	return names
}
