package safety

import (
	"fmt"
	"io"
	"strings"

	"github.com/helenus-db/helenus/internal/words"
)

// Text writes findings for people.
func Text(out io.Writer, list []*Finding) error {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		f.writeText(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (f *Finding) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "%s  %s\n", f.Name, f.Key)
	fmt.Fprintf(b, "  verdict  %s, group: %s", f.Verdict, f.Group)
	if f.By != "" && f.Answer.Safe {
		fmt.Fprintf(b, ", writer: %s", f.By)
	}
	b.WriteByte('\n')
	for _, c := range f.If {
		fmt.Fprintf(b, "  if       %s\n", c)
	}
	if w := f.Answer.Witness; w != nil {
		fmt.Fprintf(b, "  reason   %s\n", f.Reason)
		fmt.Fprintf(b, "  witness  %s\n", w.Tree)
		for _, m := range w.Writes {
			who := "written by " + m.Writer
			fmt.Fprintf(b, "           %s %s: %s\n", m.Key, who, m.Write.label())
		}
		fmt.Fprintf(b, "  effect   %s\n", effect[f.Class])
	}
	for _, s := range f.Senders {
		fmt.Fprintf(b, "  sent     %s\n", s)
	}
	for _, r := range f.Remarks {
		fmt.Fprintf(b, "  note     %s\n", r)
	}
	for _, o := range f.Options {
		fmt.Fprintf(b, "  option   %s: %s", o.What, o.Verdict)
		if o.Writer != "" {
			fmt.Fprintf(b, ", writer: %s", o.Writer)
		}
		fmt.Fprintf(b, "\n           %s\n", strings.ReplaceAll(o.Schema, "\n", "\n           "))
		fmt.Fprintf(b, "           %s\n", o.Cost)
	}
}

// label is the statement's id, and the template.
func (w *Write) label() string {
	if w.ID != "" {
		return w.ID + ", " + w.String()
	}
	return w.String()
}

// The JSON form.
type (
	findingJSON struct {
		Name    string       `json:"name"`
		Key     string       `json:"primary_key,omitempty"`
		Group   Group        `json:"group"`
		Verdict Verdict      `json:"verdict"`
		Class   Class        `json:"class,omitempty"`
		Writer  string       `json:"writer,omitempty"`
		If      []string     `json:"if,omitempty"`
		Reason  string       `json:"reason,omitempty"`
		Witness *treeJSON    `json:"witness,omitempty"`
		Writes  []writeJSON  `json:"writes,omitempty"`
		Options []optionJSON `json:"options,omitempty"`
		Senders []string     `json:"senders,omitempty"`
		Remarks []string     `json:"remarks,omitempty"`
		Rate    float64      `json:"writes_per_second_and_group,omitempty"`
		Chance  float64      `json:"chance_to_meet,omitempty"` // of a write, 0 to 1
		Load    *loadJSON    `json:"measured,omitempty"`
	}
	loadJSON struct {
		ServiceMs float64 `json:"service_ms"` // 0: nobody knows
		Overlaps  int     `json:"overlaps"`   // -1: no one has looked
		Failures  int     `json:"failures"`
		Bytes     float64 `json:"largest_bytes"`
	}
	treeJSON struct {
		Key      string      `json:"key"`
		Writer   string      `json:"writer,omitempty"`
		Also     string      `json:"also,omitempty"`
		Children []*treeJSON `json:"children,omitempty"`
	}
	writeJSON struct {
		Statement string `json:"statement,omitempty"`
		Template  string `json:"template"`
		Key       string `json:"key"`
		Writer    string `json:"writer"`
	}
	optionJSON struct {
		What    string  `json:"what"`
		Schema  string  `json:"schema"`
		Verdict Verdict `json:"verdict"`
		Writer  string  `json:"writer,omitempty"`
		Cost    string  `json:"cost"`
	}
)

// JSON writes findings for programs.
func JSON(out io.Writer, list []*Finding) error {
	return words.JSON(out, Document(list))
}

// Document is the findings as they stand in JSON.
func Document(list []*Finding) any {
	all := struct {
		Findings []findingJSON `json:"findings"`
	}{[]findingJSON{}}
	for _, f := range list {
		x := findingJSON{Name: f.Name, Key: f.Key, Group: f.Group, Verdict: f.Verdict, Class: f.Class, If: f.If, Senders: f.Senders, Remarks: f.Remarks, Rate: f.Load.Rate}
		if f.Load.Rate > 0 {
			x.Chance = f.Load.Chance()
		}
		if f.measured {
			x.Load = &loadJSON{1000 * f.Load.Service, f.Load.Overlaps, f.Load.Failures, f.Load.Bytes}
		}
		if f.Answer.Safe {
			x.Writer = f.By
		}
		if w := f.Answer.Witness; w != nil {
			x.Reason, x.Witness = f.Reason, w.Tree.toJSON()
			for _, m := range w.Writes {
				x.Writes = append(x.Writes, writeJSON{m.Write.ID, m.Write.String(), m.Key, m.Writer})
			}
		}
		for _, o := range f.Options {
			x.Options = append(x.Options, optionJSON(o))
		}
		all.Findings = append(all.Findings, x)
	}
	return all
}

func (t *Tree) toJSON() *treeJSON {
	x := &treeJSON{Key: t.Key, Writer: t.Writer, Also: t.Also}
	for _, c := range t.Children {
		x.Children = append(x.Children, c.toJSON())
	}
	return x
}
