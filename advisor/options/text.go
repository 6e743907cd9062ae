package options

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// shown is how many schemas of each step are printed: there may be thousands.
const shown = 32

// Text writes the report, with the best options in full; top bounds how many are ranked on it. Where a design was given, it is
// shown whatever its rank.
func (r *Report) Text(w io.Writer, top int) error {
	b := bufio.NewWriter(w)
	p := printer{b}
	p.say("# options for %s", r.Name)
	if r.Mix != "" {
		p.say("weights of mix %s", r.Mix)
	}
	p.say("%d queries, at most %s a table; ranked by the %s score, lowest first", len(r.Queries), countText(r.Indexes, "secondary index"), r.Score)
	p.say("%.6g combinations of table variants, %.6g different schemas after merging, %d options with their look-up tables", r.Combined, r.Merged, r.madeCount())
	p.writeList("not supported, and not part of any option", remarkTexts(r.Unsupported))
	p.writeList("cut off", r.Cut)
	if r.Groups != nil {
		p.writeSteps(r)
	}
	p.say("\n## ranking\n")
	p.say("%-5s %-12s %10s %7s %8s %8s %9s %9s %9s %9s", "rank", "option", "score", "tables", "indexes", "columns", "requests", "storage", "read", "surplus")
	best := r.Best(top)
	for _, o := range best {
		m := o.Metrics
		p.say("%-5d %-12s %10.4f %7d %8d %8d %9.3f %9.3f %9.3f %9.3f", o.Rank, o.Name, o.Score, m.Tables, m.Indexes, m.Columns, m.WriteRequests, m.Storage, m.Read, m.Surplus)
	}
	p.say("\nrequests: per write, weighted; storage: bytes per byte of the fields stored once; read: of a query's look-up, weighted (a row key is %g); surplus: of bytes not asked for", DefaultCosts.Key)
	for _, o := range best {
		p.writeOption(o)
	}
	p.writeList("remarks", remarkTexts(r.Remarks))
	return b.Flush()
}

// Best is the best options, that many, and all designs that were given, in order.
func (r *Report) Best(top int) []*Option {
	var list []*Option
	for _, o := range r.Options {
		if !o.Given {
			top--
		}
		if o.Given || top >= 0 {
			list = append(list, o)
		}
	}
	return list
}

// Withdraw takes an option out of the ranking, and remarks on why.
func (r *Report) Withdraw(o *Option, why string) {
	r.Options = slices.DeleteFunc(r.Options, func(x *Option) bool { return x == o })
	for i, x := range r.Options {
		x.Rank = i + 1
	}
	r.Remarks = append(r.Remarks, Remark{Text: fmt.Sprintf("%s is not offered: %s", o.Name, why)})
}

// madeCount counts options without the designs that were given.
func (r *Report) madeCount() int {
	n := 0
	for _, o := range r.Options {
		if !o.Given {
			n++
		}
	}
	return n
}

func remarkTexts(list []Remark) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.String()
	}
	return out
}

// printer writes to a buffer, whose first error Flush returns.
type printer struct{ b *bufio.Writer }

func (p printer) say(format string, args ...any) { fmt.Fprintf(p.b, format+"\n", args...) }

func (p printer) writeList(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.say("\n## %s\n", title)
	for _, l := range lines {
		p.say("- %s", l)
	}
}

func (p printer) writeOption(o *Option) {
	p.say("\n### %d: %s, score %.4f\n", o.Rank, o.Name, o.Score)
	for _, t := range o.Tables {
		p.say("- %s (%s)", t, purposeText(t))
		if !o.Given {
			p.say("  %s", physicalText(t))
		}
	}
	for _, w := range o.Writes {
		p.say("- %s: %s%s", w.Statement, countText(w.Reads+w.Writes, "request"), readsText(w))
	}
	for _, w := range o.Warnings {
		p.say("- warning: %s", w)
	}
}

// countText writes "1 request", "2 requests".
func countText(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "x"):
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func readsText(w WriteCost) string {
	if w.Reads == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them look-ups", w.Reads)
}

// physicalText is a table as Cassandra has it: [partition][clustering][values], and indexes.
func physicalText(t *Table) string {
	x := t.Physical()
	text := "Cassandra: " + x.String()
	if len(x.Indexes) > 0 {
		var list []string
		for _, i := range x.Indexes {
			list = append(list, i.Field.String())
		}
		text += " indexes " + strings.Join(list, ", ")
	}
	return text
}

// writeSteps writes what each step made (B-2).
func (p printer) writeSteps(r *Report) {
	p.say("\n## step 1a: table variants")
	for _, q := range r.Queries {
		p.say("\n%s: filter %s, selected %s: %d variants", q.ID, strings.Join(model.Names(q.Filters), ", "), strings.Join(model.Names(q.Selected), ", "), len(q.Variants))
		p.writeSome(len(q.Variants), func(i int) string { return q.Variants[i].String() })
	}
	p.say("\n## steps 1b and 1c: schema options, and what merging makes of them")
	for _, g := range r.Groups {
		p.say("\ngroup %s (its tables merge with no others'):", strings.Join(g.Queries, ", "))
		p.writeSome(len(g.Steps), func(i int) string {
			s := g.Steps[i]
			after := make([]string, len(s.After))
			for j, list := range s.After {
				after[j] = briefText(list)
			}
			return briefText(s.Before) + "\n    -> " + strings.Join(after, "\n    or ")
		})
	}
	p.say("\n## step 1d: different schemas")
	for _, g := range r.Groups {
		p.say("\ngroup %s: %d", strings.Join(g.Queries, ", "), len(g.Schemas))
		p.writeSome(len(g.Schemas), func(i int) string { return briefText(g.Schemas[i]) })
	}
	p.say("\n## step 1e: tables for writes\n")
	n := 0
	for _, o := range r.Options {
		for _, t := range o.Tables {
			if t.Purpose == Read || o.Given {
				continue
			}
			if n++; n <= shown {
				p.say("- %s: %s (%s)", o.Name, t, purposeText(t))
			}
		}
	}
	switch {
	case n == 0:
		p.say("none: every write finds its rows")
	case n > shown:
		p.say("- and %d more", n-shown)
	}
}

func (p printer) writeSome(n int, line func(int) string) {
	for i := range min(n, shown) {
		p.say("- %s", line(i))
	}
	if n > shown {
		p.say("- and %d more", n-shown)
	}
}

func briefText(list []*Table) string {
	lines := make([]string, len(list))
	for i, t := range list {
		lines[i] = "{" + t.String() + "}"
	}
	return strings.Join(lines, " ")
}
