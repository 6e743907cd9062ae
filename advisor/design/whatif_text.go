package design

import (
	"fmt"
	"strings"
)

// writeWhatIf writes the answers that a design carries.
func (d *Design) writeWhatIf(b *strings.Builder) {
	what, name := unitOf(d.Model), d.tableNamer()
	for i, x := range d.Absent {
		if i == 0 {
			b.WriteString("\nWithout a table\n\n")
		}
		if !x.Possible {
			fmt.Fprintf(b, "  %s: not everything could be answered, or it would not fit\n", name(x.Table))
			continue
		}
		fmt.Fprintf(b, "  %s: %s, %s more%s%s\n", name(x.Table), quantityText(x.Cost, what), quantityText(x.Worse, what), notProvenText(x.Proven), exchangedText(x))
	}
	for i, x := range d.Insisted {
		if i == 0 {
			b.WriteString("\nWhy not\n\n")
		}
		if x.Statement != "" {
			x.writeOver(b, what)
			continue
		}
		readers := strings.Join(x.Readers(), ", ")
		switch {
		case x.Same:
			fmt.Fprintf(b, "  %s: it is there, read by %s\n", x.Table, readers)
		case !x.Possible:
			fmt.Fprintf(b, "  %s: there is no design with it: %s\n", x.Table, x.Reason)
		case readers == "":
			fmt.Fprintf(b, "  %s: nothing would read it; keeping it costs %s more%s\n", x.Table, quantityText(x.Worse, what), notProvenText(x.Proven))
		default:
			fmt.Fprintf(b, "  %s: with it the best design costs %s, %s more%s; %s would read it%s\n", x.Table, quantityText(x.Cost, what), quantityText(x.Worse, what), notProvenText(x.Proven), readers, exchangedText(x))
		}
	}
	switch x := d.Roomier; {
	case x == nil:
	case x.Worse < -1e-9*d.After:
		fmt.Fprintf(b, "\nWith one more gigabyte the best design costs %s, %s less%s%s\n", quantityText(x.Cost, what), quantityText(-x.Worse, what), notProvenText(x.Proven), exchangedText(x))
	default:
		fmt.Fprintf(b, "\nOne more gigabyte would save nothing%s\n", notProvenText(x.Proven))
	}
	for i, p := range d.Front {
		if i == 0 {
			b.WriteString("\nSpace against cost\n\n")
		}
		fmt.Fprintf(b, "  %10s  %s, %d tables%s\n", sizeText(p.Bytes), quantityText(p.Cost, what), p.Tables, notProvenText(p.Proven))
	}
}

// writeOver answers why a plan was not chosen.
func (x *WhatIf) writeOver(b *strings.Builder, what string) {
	switch {
	case !x.Possible:
		fmt.Fprintf(b, "  %s: %s\n", x.Condition, x.Reason)
	case x.Same:
		fmt.Fprintf(b, "  %s: that is its plan, or costs the same with the same tables\n", x.Condition)
	default:
		fmt.Fprintf(b, "  %s: so the best design costs %s, %s more%s%s\n", x.Condition, quantityText(x.Cost, what), quantityText(x.Worse, what), notProvenText(x.Proven), exchangedText(x))
	}
}

// exchangedText says which tables come and go besides the one asked about.
func exchangedText(x *WhatIf) string {
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

func notProvenText(proven bool) string {
	if proven {
		return ""
	}
	return " (not proven)"
}
