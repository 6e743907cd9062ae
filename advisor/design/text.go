package design

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Text writes the design for people: what it costs and why that is the least, the tables with those who need them, each
// statement before and after, what was turned down. The same design writes the same text.
func (d *Design) Text(w io.Writer) error {
	var b strings.Builder
	d.writeSummary(&b)
	if d.Robust != nil {
		d.Robust.writeText(&b, unitOf(d.Model))
	}
	for _, kind := range []struct {
		title string
		isNew bool
	}{{"New tables", true}, {"Tables that are there", false}} {
		d.writeTables(&b, kind.title, kind.isNew)
	}
	b.WriteString("\nStatements\n")
	name := d.tableNamer()
	for _, s := range d.Statements {
		s.writeText(&b, name, unitOf(d.Model))
	}
	d.byTheRules(&b)
	d.writeWhatIf(&b)
	d.writeCompared(&b)
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

// writeSummary says in a few lines what comes out.
func (d *Design) writeSummary(b *strings.Builder) {
	fmt.Fprintf(b, "Design for %s", d.Name)
	if d.Mix != "" {
		fmt.Fprintf(b, ", mix %s", d.Mix)
	}
	fmt.Fprintf(b, " (cost model %s)\n\n", d.Model)
	what := unitOf(d.Model)
	fmt.Fprintf(b, "  cost    %s, weighted by how often statements run", quantityText(d.After, what))
	if d.Answerable && d.Before > 0 {
		fmt.Fprintf(b, "; over the tables that are there: %s (%+.0f %%)", quantityText(d.Before, what), 100*(d.After/d.Before-1))
	}
	b.WriteString("\n")
	if d.Robust != nil && d.Robust.Worst {
		b.WriteString("  proof   of the greatest regret, see below\n")
	} else if d.Proven {
		fmt.Fprintf(b, "  proof   no choice of the %d candidates costs less\n", d.Candidates)
	} else {
		fmt.Fprintf(b, "  proof   none: a choice of the %d candidates might cost as little as %s (gap %.2g %%)\n", d.Candidates, quantityText(d.Bound, what), 100*d.Gap)
	}
	if d.Penalty > 0 {
		fmt.Fprintf(b, "  safety  %s of the cost is the penalty for writes to tables in which several writers can meet\n", quantityText(d.Penalty, what))
	}
	count := map[bool]int{}
	for _, t := range d.Tables {
		count[t.IsNew()]++
	}
	fmt.Fprintf(b, "  tables  %d new", count[true])
	if count[false] > 0 {
		fmt.Fprintf(b, ", %d of those that are there", count[false])
	}
	fmt.Fprintf(b, "\n  space   %s for the new ones, one copy, uncompressed\n", sizeText(d.Bytes()))
	for _, line := range d.trialLines() {
		fmt.Fprintf(b, "  %s\n", line)
	}
	for _, t := range d.Late {
		fmt.Fprintf(b, "  note    %s\n", t)
	}
	for _, x := range d.Breaches {
		when := "always"
		if !x.Always {
			when = "where there is one"
		}
		fmt.Fprintf(b, "  warning %s breaks what the model says, %s: %s\n", x.Statement, when, x.Reason)
	}
	if len(d.Others) > 0 {
		fmt.Fprintf(b, "  note    no part of the mix, and left out: %s\n", strings.Join(d.Others, ", "))
	}
	for _, t := range d.Truncated {
		fmt.Fprintf(b, "  note    %s\n", t)
	}
}

// writeTables lists the new tables, or those that are there, with their definitions and those who need them.
func (d *Design) writeTables(b *strings.Builder, title string, isNew bool) {
	use := d.tableUses()
	first := true
	for _, t := range d.Tables {
		if t.IsNew() != isNew {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n%s\n", title)
			first = false
		}
		fmt.Fprintf(b, "\n  %s  %s  %s\n", t.Name, t.Table, sizeText(t.Bytes))
		fmt.Fprintf(b, "    holds       %s\n", t.Table.Whole().Path())
		for _, by := range []struct {
			what string
			ids  []string
		}{{"read by", use.reads[t.Table]}, {"written by", use.writes[t.Table]}} {
			if len(by.ids) > 0 {
				fmt.Fprintf(b, "    %-11s %s\n", by.what, strings.Join(by.ids, ", "))
			}
		}
		if t.Safety != "" {
			fmt.Fprintf(b, "    safety      %s\n", t.Safety)
		}
		if counts := t.Table.Uncounted(); isNew && counts != nil {
			fmt.Fprintf(b, "    counts      %s as bigint: a table with a counter holds nothing else but its key; of two additions at once one may be lost\n", strings.Join(t.columnNames(counts), ", "))
		}
		for _, statement := range t.DDL() {
			b.WriteString(indentText(statement+";", "    "))
		}
	}
}

// writeCompared sets the other designs beside this one, statement by statement.
func (d *Design) writeCompared(b *strings.Builder) {
	if len(d.Compared) == 0 {
		return
	}
	fmt.Fprintf(b, "\nCompared with other tables (%s an execution; none: no plan)\n\n  %-24s %12s", unitOf(d.Model), "", "this design")
	costs := make([]map[string]float64, len(d.Compared))
	for i, x := range d.Compared {
		fmt.Fprintf(b, " %16s", x.Name)
		costs[i] = map[string]float64{}
		if x.Design != nil {
			for _, s := range x.Design.Statements {
				costs[i][s.Statement.ID] = s.Cost.Work
			}
		}
	}
	for _, s := range d.Statements {
		fmt.Fprintf(b, "\n  %-24s %12.5g", s.Statement.ID, s.Cost.Work)
		for _, c := range costs {
			if v, ok := c[s.Statement.ID]; ok {
				fmt.Fprintf(b, " %16.5g", v)
			} else {
				fmt.Fprintf(b, " %16s", "none")
			}
		}
	}
	fmt.Fprintf(b, "\n  %-24s %12.5g", "in all, weighted", d.After)
	for _, x := range d.Compared {
		if x.Design == nil {
			fmt.Fprintf(b, " %16s", "none")
			continue
		}
		text := fmt.Sprintf("%.5g", x.Design.After)
		if len(x.Missing) > 0 {
			text = "> " + text
		}
		fmt.Fprintf(b, " %16s", text)
	}
	fmt.Fprintf(b, "\n  %-24s %12s", "space", sizeText(d.Bytes()))
	for _, x := range d.Compared {
		fmt.Fprintf(b, " %16s", sizeText(x.Bytes))
	}
	b.WriteString("\n")
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

// tableNamer gives tables the names that the design gives them.
func (d *Design) tableNamer() func(*model.Table) string {
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

func (s *Statement) writeText(b *strings.Builder, name func(*model.Table) string, what string) {
	fmt.Fprintf(b, "\n  %s  (weight %.4g)\n    %s\n", s.Statement.ID, s.Statement.Weight, s.Statement)
	if s.Current != nil && s.Plan != nil && s.Current.String() != s.Plan.String() {
		fmt.Fprintf(b, "    now %s:\n", costText(s.CurrentCost, what))
		planText(b, s.Current, name, "      ")
		fmt.Fprintf(b, "    then %s:\n", costText(s.Cost, what))
	} else {
		fmt.Fprintf(b, "    takes %s", costText(s.Cost, what))
		if s.Statement.Write != nil && s.CurrentCost != s.Cost && s.CurrentCost.Work > 0 {
			fmt.Fprintf(b, ", now %s", costText(s.CurrentCost, what))
		}
		b.WriteString(":\n")
	}
	if s.Plan != nil {
		planText(b, s.Plan, name, "      ")
	}
	if s.Statement.Write != nil && len(s.Writes) == 0 {
		b.WriteString("      nothing: no table holds what it changes\n")
	}
	for _, w := range s.Writes {
		for _, support := range w.Support {
			fmt.Fprintf(b, "      first, for %s: %s\n", name(w.Table), support.Query)
			planText(b, support, name, "        ")
		}
		for i := range w.Steps {
			fmt.Fprintf(b, "      %s\n", w.Steps[i].Text(name))
		}
	}
}

func planText(b *strings.Builder, p *plan.Plan, name func(*model.Table) string, prefix string) {
	for i := range p.Steps {
		fmt.Fprintf(b, "%s%d. %s\n", prefix, i+1, p.Steps[i].Text(name))
	}
}

// costText says what an execution costs; latency only if the cost model tells it from work.
func costText(c cost.Cost, what string) string {
	if c.Latency == c.Work {
		return quantityText(c.Work, what)
	}
	return fmt.Sprintf("%s of work, %s until done", quantityText(c.Work, what), quantityText(c.Latency, what))
}

func quantityText(v float64, what string) string { return fmt.Sprintf("%.5g %s", v, what) }

func sizeText(bytes float64) string {
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

func indentText(text, prefix string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		b.WriteString(prefix + line + "\n")
	}
	return b.String()
}
