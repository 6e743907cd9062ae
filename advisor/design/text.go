package design

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Text writes the design for people: tables, plans, what was turned down. The same design writes the same text.
func (d *Design) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Design for %s (cost model %s)\n\n", d.Name, d.Model)
	if d.Answerable {
		fmt.Fprintf(&b, "Work a second: %s now, %s as designed.\n", ms(d.Before), ms(d.After))
	} else {
		fmt.Fprintf(&b, "Work a second: %s as designed.\n", ms(d.After))
	}
	if d.Proven {
		fmt.Fprintf(&b, "Proven the least over %d candidates.\n", d.Candidates)
	} else {
		fmt.Fprintf(&b, "Not proven the least: no choice of the %d candidates takes less than %s (gap %.1f %%).\n", d.Candidates, ms(d.Bound), 100*d.Gap)
	}
	for _, t := range d.Truncated {
		fmt.Fprintf(&b, "Note: %s.\n", t)
	}
	for _, kind := range []struct {
		title    string
		existing bool
	}{{"New tables", false}, {"Existing tables that are read", true}} {
		first := true
		for _, t := range d.Tables {
			if t.Table.Existing != kind.existing {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n%s\n", kind.title)
				first = false
			}
			fmt.Fprintf(&b, "\n  %s  %s  %s, for %s\n", t.Name, t.Table, size(t.Bytes), strings.Join(t.Statements, ", "))
			if t.CQL != "" {
				b.WriteString(indent(t.CQL+";", "    "))
			}
		}
	}
	b.WriteString("\nStatements\n")
	name := d.namer()
	for _, s := range d.Statements {
		s.text(&b, name)
	}
	if len(d.Rejected) > 0 {
		b.WriteString("\nNot chosen\n\n")
		for _, r := range d.Rejected {
			fmt.Fprintf(&b, "  %s: %s\n", r.Table, r.Reason)
		}
	}
	for i, s := range d.Sensitive {
		if i == 0 {
			b.WriteString("\nSensitivity\n\n")
		}
		b.WriteString("  " + s.String() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String says how far the weight may move.
func (s Sensitivity) String() string {
	text := fmt.Sprintf("%s (weight %.3g): ", s.Statement, s.Weight)
	switch {
	case s.Falls <= 0 && math.IsInf(s.Rises, 1):
		text += "no other tables are better at any weight"
	case s.Falls <= 0:
		text += fmt.Sprintf("the best tables change above %.3g (%s)", s.Rises, s.Above)
	case math.IsInf(s.Rises, 1):
		text += fmt.Sprintf("the best tables change below %.3g (%s)", s.Falls, s.Below)
	default:
		text += fmt.Sprintf("the best tables change below %.3g (%s) and above %.3g (%s)", s.Falls, s.Below, s.Rises, s.Above)
	}
	if !s.Proven {
		text += "; not proven"
	}
	return text
}

// namer gives tables the names that the design gives them.
func (d *Design) namer() func(*model.Table) string {
	names := map[*model.Table]string{}
	for _, t := range d.Tables {
		names[t.Table] = t.Name
	}
	return func(t *model.Table) string {
		if n, ok := names[t]; ok {
			return n
		}
		if t.Name != "" {
			return t.Name
		}
		return t.String()
	}
}

func (s *Statement) text(b *strings.Builder, name func(*model.Table) string) {
	fmt.Fprintf(b, "\n  %s  (weight %.4g)\n    %s\n", s.Statement.ID, s.Statement.Weight, s.Statement)
	if s.Plan != nil {
		planText(b, s.Plan, name, "    ")
	}
	for _, w := range s.Writes {
		for _, support := range w.Support {
			fmt.Fprintf(b, "    first, for %s: %s\n", name(w.Table), support.Query)
			planText(b, support, name, "      ")
		}
		for i := range w.Steps {
			fmt.Fprintf(b, "    %s\n", w.Steps[i].Text(name))
		}
	}
	fmt.Fprintf(b, "    costs %s of work, %s until done", ms(s.Cost.Work), ms(s.Cost.Latency))
	if s.Statement.Write != nil || s.Current != nil {
		fmt.Fprintf(b, " (over the existing tables: %s, %s)", ms(s.CurrentCost.Work), ms(s.CurrentCost.Latency))
	}
	b.WriteString("\n")
}

func planText(b *strings.Builder, p *plan.Plan, name func(*model.Table) string, prefix string) {
	for i := range p.Steps {
		fmt.Fprintf(b, "%s%d. %s\n", prefix, i+1, p.Steps[i].Text(name))
	}
}

func ms(v float64) string { return fmt.Sprintf("%.4g ms", v) }

func size(bytes float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if bytes >= unit.size {
			return fmt.Sprintf("%.3g %s", bytes/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f bytes", bytes)
}

func indent(text, prefix string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		b.WriteString(prefix + line + "\n")
	}
	return b.String()
}

// The design in JSON (docs/schema/design.json).
type (
	designJSON struct {
		Name        string            `json:"name"`
		Model       string            `json:"model"`
		Before      *float64          `json:"before_ms,omitempty"`
		After       float64           `json:"after_ms"`
		Bound       float64           `json:"bound_ms"`
		Gap         float64           `json:"gap"`
		Proven      bool              `json:"proven"`
		Engine      string            `json:"engine"`
		Candidates  int               `json:"candidates"`
		Truncated   []string          `json:"truncated,omitempty"`
		Tables      []tableJSON       `json:"tables"`
		Statements  []statementJSON   `json:"statements"`
		Rejected    []rejectionJSON   `json:"rejected"`
		Sensitivity []sensitivityJSON `json:"sensitivity,omitempty"`
	}
	tableJSON struct {
		Name       string   `json:"name"`
		Existing   bool     `json:"existing"`
		Notation   string   `json:"notation"`
		Graph      string   `json:"graph"`
		Partition  []string `json:"partition"`
		Clustering []string `json:"clustering"`
		Values     []string `json:"values"`
		Base       string   `json:"base,omitempty"`
		CQL        string   `json:"cql,omitempty"`
		Bytes      float64  `json:"bytes"`
		Statements []string `json:"statements"`
	}
	statementJSON struct {
		ID          string      `json:"id"`
		Text        string      `json:"text"`
		Weight      float64     `json:"weight"`
		Cost        cost.Cost   `json:"cost"`
		CurrentCost *cost.Cost  `json:"current_cost,omitempty"`
		Plan        []stepJSON  `json:"plan,omitempty"`
		Current     []stepJSON  `json:"current_plan,omitempty"`
		Writes      []writeJSON `json:"writes,omitempty"`
	}
	writeJSON struct {
		Table   string        `json:"table"`
		Support []supportJSON `json:"support,omitempty"`
		Steps   []stepJSON    `json:"steps"`
	}
	supportJSON struct {
		Query string     `json:"query"`
		Plan  []stepJSON `json:"plan"`
	}
	stepJSON struct {
		Kind     plan.Kind `json:"kind"`
		Table    string    `json:"table,omitempty"`
		Text     string    `json:"text"`
		Requests float64   `json:"requests,omitempty"`
		Rows     float64   `json:"rows,omitempty"`
	}
	rejectionJSON struct {
		Table     string  `json:"table"`
		Statement string  `json:"statement"`
		Work      float64 `json:"work_ms"`
		Instead   float64 `json:"instead_ms"`
		Saves     float64 `json:"saves_ms"`
		Costs     float64 `json:"costs_ms"`
		Reason    string  `json:"reason"`
	}
	sensitivityJSON struct {
		Statement string   `json:"statement"`
		Weight    float64  `json:"weight"`
		Falls     float64  `json:"falls"`
		Rises     *float64 `json:"rises,omitempty"`
		Proven    bool     `json:"proven"`
		Below     string   `json:"below,omitempty"`
		Above     string   `json:"above,omitempty"`
	}
)

// JSON writes the design for programs. The same design writes the same bytes.
func (d *Design) JSON(w io.Writer) error {
	name := d.namer()
	out := designJSON{Name: d.Name, Model: d.Model, After: d.After, Bound: d.Bound, Gap: d.Gap, Proven: d.Proven, Engine: d.Engine,
		Candidates: d.Candidates, Truncated: d.Truncated, Tables: []tableJSON{}, Rejected: []rejectionJSON{}}
	if d.Answerable {
		out.Before = &d.Before
	}
	for _, t := range d.Tables {
		j := tableJSON{Name: t.Name, Existing: t.Table.Existing, Notation: t.Table.String(), Graph: t.Table.Tree.Path(), CQL: t.CQL, Bytes: t.Bytes,
			Partition: names(t.Table.Partition), Clustering: names(t.Table.Clustering), Values: names(t.Table.Values), Statements: append([]string{}, t.Statements...)}
		if t.Table.Base != nil {
			j.Base = t.Table.Base.Name
		}
		out.Tables = append(out.Tables, j)
	}
	for _, s := range d.Statements {
		j := statementJSON{ID: s.Statement.ID, Text: s.Statement.String(), Weight: s.Statement.Weight, Cost: s.Cost, Plan: stepList(s.Plan, name), Current: stepList(s.Current, name)}
		if s.Statement.Write != nil || s.Current != nil {
			j.CurrentCost = &s.CurrentCost
		}
		for _, write := range s.Writes {
			wj := writeJSON{Table: name(write.Table), Steps: stepList(&plan.Plan{Steps: write.Steps}, name)}
			for _, support := range write.Support {
				wj.Support = append(wj.Support, supportJSON{support.Query.String(), stepList(support, name)})
			}
			j.Writes = append(j.Writes, wj)
		}
		out.Statements = append(out.Statements, j)
	}
	for _, r := range d.Rejected {
		out.Rejected = append(out.Rejected, rejectionJSON{r.Table.String(), r.Statement, r.Work, r.Instead, r.Saves, r.Costs, r.Reason})
	}
	for _, s := range d.Sensitive {
		j := sensitivityJSON{Statement: s.Statement, Weight: s.Weight, Falls: s.Falls, Proven: s.Proven, Below: s.Below, Above: s.Above}
		if !math.IsInf(s.Rises, 1) {
			j.Rises = &s.Rises
		}
		out.Sensitivity = append(out.Sensitivity, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func names(fields []model.Field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.String()
	}
	return list
}

func stepList(p *plan.Plan, name func(*model.Table) string) []stepJSON {
	if p == nil {
		return nil
	}
	list := make([]stepJSON, len(p.Steps))
	for i := range p.Steps {
		s := &p.Steps[i]
		list[i] = stepJSON{Kind: s.Kind, Text: s.Text(name), Requests: s.Requests, Rows: s.Rows}
		if s.Table != nil {
			list[i].Table = name(s.Table)
		}
	}
	return list
}
