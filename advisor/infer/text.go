package infer

import (
	"fmt"
	"io"
	"strings"
)

// Describe returns the model for readers.
func (m *Model) Describe() Description {
	d := Description{
		Entities: m.Entities, Relationships: m.Relationships, Joins: m.Joins, Unexplained: m.Unexplained, Window: m.Seconds,
		Questions: m.Questions, Corrections: m.Corrections,
		Tables: []TableView{}, Workload: []Conceptual{},
	}
	for _, t := range m.Tables {
		d.Tables = append(d.Tables, TableView{Name: t.Keyspace + "." + t.Name, Holds: t.String(), Path: t.Tree.Path(), Rows: t.Entries()})
	}
	for _, s := range m.Workload.Statements {
		d.Workload = append(d.Workload, Conceptual{ID: s.ID, Weight: s.Weight, Text: s.String(), Uses: m.UsesOf(s.ID)})
	}
	return d
}

// Text prints the description.
func (d Description) Text(w io.Writer) error {
	p := &printer{w: w}
	p.line("Entities")
	for _, e := range d.Entities {
		p.line("  %s, key %s, %d attributes, %s rows, confidence %.2f", e.Name, strings.Join(e.Key, ", "), len(e.Attributes), count(e.Count), e.Confidence)
		p.line("    in %s", strings.Join(e.Tables, ", "))
		if len(e.Alternate) > 0 {
			p.line("    also identified by %s", strings.Join(e.Alternate, ", "))
		}
		p.evidence(e.Evidence)
	}
	p.line("")
	p.line("Relationships")
	for _, r := range d.Relationships {
		p.line("  %s.%s -> %s (%s), held by %s, confidence %.2f", r.From, r.Forward, r.To, r.Kind, r.Column, r.Confidence)
		p.evidence(r.Evidence)
	}
	if len(d.Relationships) == 0 {
		p.line("  none")
	}
	p.line("")
	p.line("Tables over the model")
	for _, t := range d.Tables {
		p.line("  %s = %s, %s rows, over %s", t.Name, t.Holds, count(t.Rows), t.Path)
	}
	p.line("")
	p.line("Joins done by hand")
	for _, j := range d.Joins {
		p.line("  %s -> %s, %s, %.1f values an execution, lag p50 %s p99 %s", j.From, j.To, j.Feed.Shape, j.Feed.PerExecution, micros(j.Feed.LagP50), micros(j.Feed.LagP99))
		verdict := "part of " + j.Query
		if !j.Accepted {
			verdict = "not used: " + j.Reason
		}
		p.line("    %d of %d values looked at, %d by chance, confidence %.2f; %s", j.Feed.Hits, j.Feed.Executions, j.Feed.Decoys, j.Feed.Confidence, verdict)
	}
	if len(d.Joins) == 0 {
		p.line("  none seen")
	}
	p.line("")
	p.line("Workload (executions per second)")
	for _, s := range d.Workload {
		p.line("  %8.3f  %s  %s", s.Weight, s.ID, s.Text)
		if len(s.Uses) > 1 {
			for _, u := range s.Uses {
				p.line("            %.1f x %s", u.PerExecution, u.Fingerprint)
			}
		}
	}
	d.corrections(p)
	if len(d.Questions) > 0 {
		p.line("")
		p.line("Open questions (`helenus questions` ranks them, `helenus answer` answers)")
		for i := range d.Questions {
			p.line("  %s  %s", d.Questions[i].ID, d.Questions[i].Text)
		}
	}
	if len(d.Unexplained) > 0 {
		p.line("")
		p.line("Not in the model")
		drivers := 0
		for _, u := range d.Unexplained {
			if u.Reason == driversOwn {
				drivers++
				continue
			}
			p.line("  %s", u.Text)
			p.line("    %d executions, %.1f %% of all work: %s", u.Count, 100*u.Share, u.Reason)
		}
		if drivers > 0 {
			p.line("  Statements on Cassandra's own tables, as drivers and tools say them: %d", drivers)
		}
	}
	return p.err
}

// corrections prints what people said, and what contradicts it.
func (d Description) corrections(p *printer) {
	if len(d.Corrections) == 0 {
		return
	}
	p.line("")
	p.line("Corrections by people (`helenus model export` has them, `helenus model import` replaces them)")
	for i := range d.Corrections {
		c := &d.Corrections[i]
		text := c.Text
		if c.Because != "" {
			text += " (" + c.Because + ")"
		}
		p.line("  %s", text)
		if c.Contradicted() {
			p.line("    CONTRADICTED, %s", c.Contradiction())
		}
	}
}

// printer writes lines until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (p *printer) evidence(list []Evidence) {
	for _, e := range list {
		p.line("    %s %+.1f: %s", e.Group, e.LogOdds, e.Text)
	}
}

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

func micros(us float64) string {
	if us < 1000 {
		return fmt.Sprintf("%.0f us", us)
	}
	return fmt.Sprintf("%.1f ms", us/1000)
}
