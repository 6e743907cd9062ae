package timeline

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Text writes the calendar for people: what it costs beside the baselines, what changes at each step, how tables are filled,
// and which plans change. The same calendar writes the same text.
func (c *Calendar) Text(w io.Writer) error {
	var b strings.Builder
	c.writeSummary(&b)
	c.writeComparison(&b)
	for _, run := range c.tableSpans() {
		c.writeSpan(&b, run)
	}
	c.writeChanges(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Calendar) writeSummary(b *strings.Builder) {
	fmt.Fprintf(b, "Calendar for %s", c.Name)
	if c.Mix != "" {
		fmt.Fprintf(b, ", mix %s", c.Mix)
	}
	fmt.Fprintf(b, " (cost model %s)\n\n", c.Model)
	fmt.Fprintf(b, "  steps   %d, %v in all\n", len(c.Steps), c.totalLength())
	changes := 0
	for _, s := range c.Steps {
		changes += len(s.Migrations)
	}
	fmt.Fprintf(b, "  cost    %s, of which %s for %s\n", c.quantity(c.Cost), c.quantity(c.migrationCost()), countText(changes, "table that is filled on the way", "tables that are filled on the way"))
	switch {
	case c.Proven && c.Pruned:
		fmt.Fprintf(b, "  proof   no calendar of the %d promising candidates, of %d, costs less; see --exact\n", c.Kept, c.Candidates)
	case c.Proven:
		fmt.Fprintf(b, "  proof   no calendar of the %d candidates costs less\n", c.Candidates)
	case c.Pruned:
		fmt.Fprintf(b, "  proof   none: one of the %d promising candidates, of %d, might cost as little as %s (gap %.2g %%)\n", c.Kept, c.Candidates, c.quantity(c.Bound), 100*c.Gap)
	default:
		fmt.Fprintf(b, "  proof   none: a calendar might cost as little as %s (gap %.2g %%)\n", c.quantity(c.Bound), 100*c.Gap)
	}
	if c.Space > 0 {
		fmt.Fprintf(b, "  space   at most %s at each step", gigabytes(c.Space))
		if c.Full > 0 {
			fmt.Fprintf(b, ", %.3g %% of the %s that the best design for the mean weights takes", 100*c.Space/c.Full, gigabytes(c.Full))
		}
		b.WriteString("\n")
	}
	switch c.Stopped {
	case solve.LimitWall:
		b.WriteString("  note    the time limit was reached: this is the best calendar so far\n")
	case sequence.StoppedCancelled:
		b.WriteString("  note    interrupted: this is the best calendar so far\n")
	}
	for _, note := range c.Notes {
		fmt.Fprintf(b, "  note    %s\n", note)
	}
	if n := len(c.Truncated); n > 0 {
		fmt.Fprintf(b, "  note    limits have cut candidates or plans off in %s: there may be better calendars beyond\n", countText(n, "place", "places"))
	}
}

// migrationCost is what all changes cost.
func (c *Calendar) migrationCost() float64 {
	sum := 0.0
	for _, s := range c.Steps {
		sum += s.MigrationCost
	}
	return sum
}

func (c *Calendar) totalLength() time.Duration {
	var sum time.Duration
	for _, s := range c.Steps {
		sum += s.Duration
	}
	return sum
}

func (c *Calendar) quantity(v float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.5g %s", v, c.Unit))
}

func gigabytes(bytes float64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.3g GB", bytes/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.3g MB", bytes/1e6)
	}
	return fmt.Sprintf("%.0f B", bytes)
}

func countText(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// writeComparison sets the calendar beside the baselines.
func (c *Calendar) writeComparison(b *strings.Builder) {
	if len(c.Baselines) == 0 {
		return
	}
	fmt.Fprintf(b, "\nBeside others, within the same space\n\n  %-16s %14s  %10s  %s\n", "", "cost", "", "tables")
	fmt.Fprintf(b, "  %-16s %14.5g\n", "this calendar", c.Cost)
	for _, x := range c.Baselines {
		word := "less than it"
		share := 100 * c.Less(x)
		switch {
		case math.Abs(share) < 1e-6:
			share, word = 0, "from it"
		case share < 0:
			word = "above it"
		}
		note := ""
		if !x.Proven {
			note = "; there may be a better one of its kind"
		}
		fmt.Fprintf(b, "  %-16s %14.5g  %.4g %% %s%s\n", x.Name, x.Cost, max(share, -share), word, note)
	}
}

// span is a stretch of steps with the same tables and plans.
type span struct{ from, to int }

func (c *Calendar) tableSpans() []span {
	var list []span
	for i, s := range c.Steps {
		same := i > 0 && len(s.Created)+len(s.Dropped) == 0
		if same {
			for _, p := range s.Plans {
				same = same && !p.Changed
			}
		}
		if same {
			list[len(list)-1].to = i
		} else {
			list = append(list, span{i, i})
		}
	}
	return list
}

func (r span) String() string {
	if r.from == r.to {
		return fmt.Sprintf("Step %d", r.from)
	}
	return fmt.Sprintf("Steps %d to %d", r.from, r.to)
}

// writeSpan says what comes and goes with the first step of a run, and how.
func (c *Calendar) writeSpan(b *strings.Builder, r span) {
	s := c.Steps[r.from]
	cost := 0.0
	for _, x := range c.Steps[r.from : r.to+1] {
		cost += x.Cost
	}
	fmt.Fprintf(b, "\n%s: %s in %s, statements cost %s", r, countText(len(s.Tables), "table", "tables"), gigabytes(s.Bytes), c.quantity(cost))
	if s.MigrationCost > 0 {
		fmt.Fprintf(b, ", coming here %s", c.quantity(s.MigrationCost))
	}
	b.WriteString("\n")
	for _, t := range s.Tables {
		if t.IsNew() && (r.from == 0 || slices.Contains(s.Created, t.Name)) {
			fmt.Fprintf(b, "  + %s  %s  %s\n", t.Name, t.Table, gigabytes(t.Bytes))
		}
		for _, m := range s.Migrations {
			if m.Table == t.Name {
				fmt.Fprintf(b, "      filled during step %d from %s, in about %v (reading %s, writing %s", s.Number-1, m.sourcesText(), m.Estimated.Round(time.Second), c.quantity(m.Extract), c.quantity(m.Load))
				if m.Keep > 0 {
					fmt.Fprintf(b, ", keeping it meanwhile %s", c.quantity(m.Keep))
				}
				b.WriteString(")\n")
			}
		}
	}
	for _, name := range s.Dropped {
		fmt.Fprintf(b, "  - %s\n", name)
	}
}

// planKind is how a statement is executed: over a view of its own, by joins in the client, or writing.
func (p *Plan) planKind() string {
	switch {
	case p.Plan == nil:
		return "write"
	case p.View():
		return "view"
	}
	return "join"
}

// sourcesText says what a migration reads.
func (m *Migration) sourcesText() string {
	parts := make([]string, len(m.Sources))
	for i, s := range m.Sources {
		if parts[i] = s.Name; len(s.On) > 0 {
			on := make([]string, len(s.On))
			for k, f := range s.On {
				on[k] = f.Attribute.Name
			}
			parts[i] += " on " + strings.Join(on, ", ")
		}
	}
	how := ""
	if m.Plan == nil {
		how = ", scanned and joined in the client"
	}
	return strings.Join(parts, " joined with ") + how
}

// writeChanges lists the statements whose plans change: what one execution costs and which tables it reads, by runs of steps.
func (c *Calendar) writeChanges(b *strings.Builder) {
	first := true
	for i, p := range c.Steps[0].Plans {
		var list []span
		for n, s := range c.Steps {
			if n > 0 && !s.Plans[i].Changed {
				list[len(list)-1].to = n
			} else {
				list = append(list, span{n, n})
			}
		}
		if len(list) == 1 {
			continue
		}
		if first {
			b.WriteString("\nPlans that change\n")
			first = false
		}
		fmt.Fprintf(b, "\n  %s\n", p.Statement.Statement.ID)
		for _, r := range list {
			x := c.Steps[r.from].Plans[i]
			fmt.Fprintf(b, "    %-14s %10.4g  %-5s %s\n", strings.ToLower(r.String()), x.Cost.Work, x.planKind(), strings.Join(x.Tables, ", "))
		}
	}
}
