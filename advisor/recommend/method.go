package recommend

import (
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Method is what the query-driven method says of a recommendation. Its ids are explained in docs/rules.md.
type Method struct {
	lint.Effect
	Tables []MethodTable `json:"tables"` // the new ones
}

// MethodTable is a new table by the method.
type MethodTable struct {
	Name    string         `json:"name"`
	Pattern string         `json:"pattern"` // P1 to P9
	Says    string         `json:"says"`    // the pattern in words
	Rules   []rules.Reason `json:"rules"`   // the mapping rules that its primary key follows
}

// methodOf says what a change means by the rules: with tables that come, and statements (by fingerprint, or the id of a join) that
// are answered by plans; writes read the support tables to find out what to change. It is nil where the tables can not be defined,
// which is noted.
func (k *maker) methodOf(tables []*model.Table, planned map[string]lint.Planned, support ...lint.Reference) *Method {
	if k.linted == nil {
		k.linted = lint.FromModel(k.model, k.Snapshot, k.Schema, k.Statistics)
	}
	after, err := k.linted.With(tables, planned)
	if err != nil {
		k.advice.Problems = append(k.advice.Problems, "not judged by the rules: "+err.Error())
		return nil
	}
	after.Support = support
	var ids []string
	var queries []*workload.Query
	for id, p := range planned { // sets, both of them: in any order
		ids, queries = append(ids, id), append(queries, p.Statement.Query)
	}
	m := &Method{Effect: *lint.Compare(k.linted, after, ids...), Tables: []MethodTable{}}
	for _, t := range tables {
		match := rules.MatchTable(t)
		m.Tables = append(m.Tables, MethodTable{Name: t.Name, Pattern: match.Pattern, Says: match.String(), Rules: rules.Explain(t, queries...)})
	}
	return m
}

// lookUpMethod is the method's word on a look-up table for some reads; without a design, on leaving them as they are.
func (k *maker) lookUpMethod(o *offer, users []*read, d *design.Design) *Method {
	planned := map[string]lint.Planned{}
	var tables []*model.Table
	for _, u := range users {
		planned[u.statement.Fingerprint] = lint.Planned{Statement: u.asked, Plan: u.plan}
		if d == nil {
			continue
		}
		for _, s := range d.Statements {
			if s.Statement.ID == u.asked.ID {
				planned[u.statement.Fingerprint] = lint.Planned{Statement: u.asked, Plan: s.Plan}
			}
		}
	}
	if d != nil {
		own := *o.table
		own.Keyspace, own.Name = k.homeOf(o), o.name
		tables = []*model.Table{&own}
		for id, p := range planned {
			p.Plan = replaceTable(p.Plan, o.table, &own)
			planned[id] = p
		}
	}
	return k.methodOf(tables, planned)
}

// replaceTable is a plan with a table in another's place.
func replaceTable(p *plan.Plan, from, to *model.Table) *plan.Plan {
	out := &plan.Plan{Query: p.Query, Steps: append([]plan.Step(nil), p.Steps...)}
	for i := range out.Steps {
		if out.Steps[i].Table == from {
			out.Steps[i].Table = to
		}
	}
	return out
}

// changeMethod is the method's word on a change of the application.
func (k *maker) changeMethod(j *joined, made []*design.Table, d *design.Design) *Method {
	p := d.Statements[0].Plan
	var tables []*model.Table
	var support []lint.Reference
	read := map[*model.Table]bool{}
	for _, s := range d.Statements {
		for _, w := range s.Writes {
			for _, x := range w.Support {
				for _, t := range x.Tables() {
					read[t] = true
				}
			}
		}
	}
	for _, t := range made {
		own := *t.Table
		own.Name = t.Name
		if own.Keyspace == "" {
			own.Keyspace = j.reads[0].access.Keyspace
		}
		p = replaceTable(p, t.Table, &own)
		tables = append(tables, &own)
		if read[t.Table] {
			support = append(support, lint.Reference{Keyspace: own.Keyspace, Table: own.Name})
		}
	}
	return k.methodOf(tables, map[string]lint.Planned{j.asked.ID: {Statement: j.asked, Plan: p}}, support...)
}

// writeMethod prints what the query-driven method says.
func (p *textPage) writeMethod(m *Method) {
	if m == nil {
		return
	}
	p.heading("By the rules (docs/rules.md)")
	if m.Before == m.After {
		p.line("  access    %s", m.Before)
	} else {
		p.line("  access    %s -> %s", m.Before, m.After)
	}
	for _, t := range m.Tables {
		p.paragraph("pattern   " + t.Says + " (" + t.Name + ")")
		p.paragraph("made by   " + rules.Reasons(t.Rules))
	}
	for _, list := range []struct {
		what string
		all  []lint.Brief
	}{{"cures", m.Cures}, {"causes", m.Causes}, {"leaves", m.Leaves}} {
		for _, b := range list.all {
			p.paragraph(list.what + "  " + b.String())
		}
	}
}
