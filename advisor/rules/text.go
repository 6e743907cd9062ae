package rules

import (
	"fmt"
	"io"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/words"
)

// Report is what the rules make of each query of a workload.
type Report struct {
	Name        string
	Traced      []Traced
	Unsupported []Unsupported
}

// Traced is a query with its trace.
type Traced struct {
	Statement *workload.Statement
	Trace     *Trace
	Fronts    []Front // of several attributes that are compared for equality, all ways to begin the primary key
	MoreWays  bool    // than Fronts lists
	Refused   string  // why the table is not to be made: it was tried, and would change answers; "" if it would not
}

// Unsupported is a statement that the method has nothing for, and why.
type Unsupported struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason"`
}

// TraceAll applies the rules to each query of a workload. Writes are listed as what the method has nothing for.
func TraceAll(w *workload.Workload) *Report {
	r := &Report{Name: w.Name, Unsupported: []Unsupported{}}
	for _, s := range w.Statements {
		if s.Query == nil {
			r.Unsupported = append(r.Unsupported, Unsupported{s.ID, "a write: the method makes tables of queries"})
			continue
		}
		t, err := Map(s.Query)
		if err != nil {
			r.Unsupported = append(r.Unsupported, Unsupported{s.ID, err.Error()})
			continue
		}
		one := Traced{Statement: s, Trace: t}
		if len(t.Table.Partition) > 1 {
			one.Fronts, one.MoreWays = Fronts(Identity(t.Table)[0], t.Table.Partition)
		}
		r.Traced = append(r.Traced, one)
	}
	return r
}

// mostFrontsShown is how many ways to begin a key the text shows.
const mostFrontsShown = 6

// Text writes the traces for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Mapping rules for %s (docs/rules.md explains the ids)\n", r.Name)
	for _, x := range r.Traced {
		x.text(&b)
	}
	if len(r.Unsupported) > 0 {
		b.WriteString("\nNot for this method\n\n")
		for _, u := range r.Unsupported {
			fmt.Fprintf(&b, "  %s: %s\n", u.Statement, u.Reason)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x *Traced) text(b *strings.Builder) {
	t := x.Trace
	fmt.Fprintf(b, "\n%s\n  %s\n", x.Statement.ID, x.Statement)
	for _, s := range t.Steps {
		adds := strings.Join(s.Adds, ", ")
		if adds == "" {
			adds = "-"
		}
		fmt.Fprintf(b, "  %s  %s\n       %s\n       %s\n", s.Rule, adds, s.Reason, s.Table)
	}
	fmt.Fprintf(b, "  pattern  %s\n", t.Match.String())
	fmt.Fprintf(b, "  access   %s; nesting %s, duplication %s\n", t.Access, yesNo(t.Match.Nesting), yesNo(t.Match.Duplication))
	for _, remark := range t.Match.Remarks {
		fmt.Fprintf(b, "  remark   %s\n", remark)
	}
	for _, l := range t.Left {
		fmt.Fprintf(b, "  left     %s\n", l)
	}
	for i, f := range x.Fronts {
		if i == 0 {
			continue // the table itself
		}
		if i > mostFrontsShown {
			fmt.Fprintf(b, "  or       %d more ways to begin the primary key\n", len(x.Fronts)-i)
			break
		}
		fmt.Fprintf(b, "  or       %s: primary key beginning with ((%s), %s)\n", f.Name, list(f.Partition), list(f.Clustering))
	}
	if x.Refused != "" {
		fmt.Fprintf(b, "  refused  %s\n", x.Refused)
		return
	}
	for _, line := range strings.Split(t.Table.CQL("", t.Name)+";", "\n") {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

func yesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// The report in JSON.
type (
	stepJSON struct {
		Rule   string   `json:"rule"`
		Adds   []string `json:"adds"`
		Reason string   `json:"reason"`
		Table  string   `json:"table"`
	}
	frontJSON struct {
		Name       string   `json:"name"`
		Partition  []string `json:"partition"`
		Clustering []string `json:"clustering"`
	}
	traceJSON struct {
		Statement string      `json:"statement"`
		Text      string      `json:"text"`
		Steps     []stepJSON  `json:"steps"`
		Pattern   string      `json:"pattern"`
		Direction string      `json:"direction,omitempty"`
		Path      []string    `json:"path,omitempty"`
		Access    Access      `json:"access"`
		Nesting   bool        `json:"nesting"`
		Duplicate []string    `json:"duplicated"`
		Static    []string    `json:"static"`
		Remarks   []string    `json:"remarks,omitempty"`
		Left      []string    `json:"left,omitempty"`
		Fronts    []frontJSON `json:"fronts,omitempty"`
		More      bool        `json:"more_fronts,omitempty"`
		Table     string      `json:"table"`
		CQL       string      `json:"cql,omitempty"`
		Refused   string      `json:"refused,omitempty"`
	}
	reportJSON struct {
		Name        string        `json:"name"`
		Statements  []traceJSON   `json:"statements"`
		Unsupported []Unsupported `json:"unsupported"`
	}
)

// JSON writes the traces for programs.
func (r *Report) JSON(w io.Writer) error {
	out := reportJSON{Name: r.Name, Statements: []traceJSON{}, Unsupported: r.Unsupported}
	for _, x := range r.Traced {
		t := x.Trace
		j := traceJSON{
			Statement: x.Statement.ID, Text: x.Statement.String(), Pattern: t.Match.Pattern, Direction: t.Match.Direction, Path: t.Match.Path, Access: t.Access,
			Nesting: t.Match.Nesting, Duplicate: t.Match.Duplicated, Static: t.Match.Static, Remarks: t.Match.Remarks, Left: t.Left, More: x.MoreWays,
			Table: t.Name, Refused: x.Refused,
		}
		if x.Refused == "" {
			j.CQL = t.Table.CQL("", t.Name)
		}
		for _, s := range t.Steps {
			j.Steps = append(j.Steps, stepJSON(s))
		}
		for _, f := range x.Fronts {
			j.Fronts = append(j.Fronts, frontJSON{f.Name, model.Names(f.Partition), model.Names(f.Clustering)})
		}
		out.Statements = append(out.Statements, j)
	}
	return words.JSON(w, out)
}
