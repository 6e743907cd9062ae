package design

import (
	"fmt"
	"strings"
)

// whatIf writes the answers that a design carries.
func (d *Design) whatIf(b *strings.Builder) {
	what, name := unit(d.Model), d.namer()
	for i, x := range d.Absent {
		if i == 0 {
			b.WriteString("\nWithout a table\n\n")
		}
		if !x.Possible {
			fmt.Fprintf(b, "  %s: not everything could be answered, or it would not fit\n", name(x.Table))
			continue
		}
		fmt.Fprintf(b, "  %s: %s, %s more%s%s\n", name(x.Table), quantity(x.Cost, what), quantity(x.Worse, what), doubt(x.Proven), exchange(x))
	}
	for i, x := range d.Insisted {
		if i == 0 {
			b.WriteString("\nWhy not\n\n")
		}
		if x.Statement != "" {
			x.overText(b, what)
			continue
		}
		readers := strings.Join(x.Readers(), ", ")
		switch {
		case x.Same:
			fmt.Fprintf(b, "  %s: it is there, read by %s\n", x.Table, readers)
		case !x.Possible:
			fmt.Fprintf(b, "  %s: there is no design with it: %s\n", x.Table, x.Reason)
		case readers == "":
			fmt.Fprintf(b, "  %s: nothing would read it; keeping it costs %s more%s\n", x.Table, quantity(x.Worse, what), doubt(x.Proven))
		default:
			fmt.Fprintf(b, "  %s: with it the best design costs %s, %s more%s; %s would read it%s\n", x.Table, quantity(x.Cost, what), quantity(x.Worse, what), doubt(x.Proven), readers, exchange(x))
		}
	}
	switch x := d.Roomier; {
	case x == nil:
	case x.Worse < -1e-9*d.After:
		fmt.Fprintf(b, "\nWith one more gigabyte the best design costs %s, %s less%s%s\n", quantity(x.Cost, what), quantity(-x.Worse, what), doubt(x.Proven), exchange(x))
	default:
		fmt.Fprintf(b, "\nOne more gigabyte would save nothing%s\n", doubt(x.Proven))
	}
	for i, p := range d.Front {
		if i == 0 {
			b.WriteString("\nSpace against cost\n\n")
		}
		fmt.Fprintf(b, "  %10s  %s, %d tables%s\n", size(p.Bytes), quantity(p.Cost, what), p.Tables, doubt(p.Proven))
	}
}

// overText answers why a plan was not chosen.
func (x *WhatIf) overText(b *strings.Builder, what string) {
	switch {
	case !x.Possible:
		fmt.Fprintf(b, "  %s: %s\n", x.Condition, x.Reason)
	case x.Same:
		fmt.Fprintf(b, "  %s: that is its plan, or costs the same with the same tables\n", x.Condition)
	default:
		fmt.Fprintf(b, "  %s: so the best design costs %s, %s more%s%s\n", x.Condition, quantity(x.Cost, what), quantity(x.Worse, what), doubt(x.Proven), exchange(x))
	}
}

// exchange says which tables come and go besides the one asked about.
func exchange(x *WhatIf) string {
	text := ""
	for _, side := range []struct {
		word   string
		tables []string
	}{{"; without ", x.Go}, {"; with ", x.Come}} {
		var others []string
		for _, t := range side.tables {
			if x.Table == nil || t != x.Table.String() {
				others = append(others, t)
			}
		}
		if len(others) > 0 {
			text += side.word + strings.Join(others, ", ")
		}
	}
	return text
}

func doubt(proven bool) string {
	if proven {
		return ""
	}
	return " (not proven)"
}
