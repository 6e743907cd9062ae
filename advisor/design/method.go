package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/rules"
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
			then = append(then, lint.Planned{Statement: s.Statement, Plan: overCopies(s.Plan, named)})
			now = append(now, lint.Planned{Statement: s.Statement, Plan: overCopies(s.Current, named)})
		}
	}
	if after, err = lint.FromPlans(w, all, then); err != nil {
		return nil, nil, err
	}
	for _, s := range d.Statements {
		for _, write := range s.Writes {
			for _, support := range write.Support {
				for _, t := range overCopies(support, named).Tables() {
					after.Support = append(after.Support, lint.Reference{Keyspace: t.Keyspace, Table: t.Name})
				}
			}
		}
	}
	before, err = lint.FromPlans(w, there, now)
	return after, before, err
}

// What the query-driven method says of a design, in JSON. The ids are explained in docs/rules.md.
type (
	methodJSON struct {
		Tables     []methodTableJSON     `json:"tables"`
		Statements []methodStatementJSON `json:"statements"`
		Cures      []briefJSON           `json:"cures"`
		Causes     []briefJSON           `json:"causes"`
	}
	methodTableJSON struct {
		Name    string           `json:"name"`
		Pattern string           `json:"pattern"`
		Says    string           `json:"says"`
		Rules   []methodRuleJSON `json:"rules"`
	}
	methodRuleJSON struct {
		Rule   string   `json:"rule"`
		Fields []string `json:"fields"`
	}
	methodStatementJSON struct {
		ID     string       `json:"id"`
		Before rules.Access `json:"access_before"`
		After  rules.Access `json:"access"`
	}
	briefJSON struct {
		Rule      string        `json:"rule"`
		Name      string        `json:"name"`
		Severity  lint.Severity `json:"severity"`
		Table     string        `json:"table,omitempty"`
		Statement string        `json:"statement,omitempty"`
		Reason    string        `json:"reason"`
	}
)

// methodOf works out what the query-driven method says of the design, as against the tables that are there; nil if the
// tables can not be defined in CQL.
func (d *Design) methodOf() (*methodJSON, *lint.Effect) {
	if d.work == nil {
		return nil, nil
	}
	after, before, err := d.Linted(d.work)
	if err != nil {
		return nil, nil
	}
	m := &methodJSON{Tables: []methodTableJSON{}, Statements: []methodStatementJSON{}, Cures: []briefJSON{}, Causes: []briefJSON{}}
	for _, t := range d.Tables {
		if !t.IsNew() {
			continue
		}
		var queries []*workload.Query
		for _, id := range t.Statements {
			if s := d.work.Statement(id); s != nil && s.Query != nil {
				queries = append(queries, s.Query)
			}
		}
		match := rules.MatchTable(t.Table)
		x := methodTableJSON{Name: t.Name, Pattern: match.Pattern, Says: match.String(), Rules: []methodRuleJSON{}}
		for _, r := range rules.Explain(t.Table, queries...) {
			x.Rules = append(x.Rules, methodRuleJSON(r))
		}
		m.Tables = append(m.Tables, x)
	}
	for _, s := range d.Statements {
		if s.Statement.Query != nil {
			m.Statements = append(m.Statements, methodStatementJSON{s.Statement.ID, before.ClassOf(s.Statement.ID), after.ClassOf(s.Statement.ID)})
		}
	}
	effect := lint.Compare(before, after)
	for _, b := range effect.Cures {
		m.Cures = append(m.Cures, briefJSON(b))
	}
	for _, b := range effect.Causes {
		m.Causes = append(m.Causes, briefJSON(b))
	}
	return m, effect
}

// byTheRules writes what the query-driven method says.
func (d *Design) byTheRules(b *strings.Builder) {
	m, effect := d.methodOf()
	if m == nil {
		return
	}
	b.WriteString("\nBy the rules (docs/rules.md)\n\n")
	for _, t := range m.Tables {
		made := make([]string, len(t.Rules))
		for i, r := range t.Rules {
			made[i] = r.Rule + " " + strings.Join(r.Fields, ", ")
		}
		fmt.Fprintf(b, "  %s: %s; %s\n", t.Name, t.Says, strings.Join(made, "; "))
	}
	for _, s := range m.Statements {
		if s.Before == rules.None || s.Before == s.After {
			fmt.Fprintf(b, "  %s: %s\n", s.ID, s.After)
		} else {
			fmt.Fprintf(b, "  %s: %s -> %s\n", s.ID, s.Before, s.After)
		}
	}
	for _, list := range []struct {
		what string
		all  []lint.Brief
	}{{"cures", effect.Cures}, {"causes", effect.Causes}} {
		for _, x := range list.all {
			fmt.Fprintf(b, "  %s %s\n", list.what, x)
		}
	}
}

// overCopies is a plan over the tables' copies.
func overCopies(p *plan.Plan, to map[*model.Table]*model.Table) *plan.Plan {
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
