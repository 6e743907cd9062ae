package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/internal/words"
)

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error { return encodeJSON(w, r) }

func encodeJSON(w io.Writer, v any) error {
	return words.JSON(w, v)
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	count := map[Severity]int{}
	for i := range r.Findings {
		count[r.Findings[i].Severity]++
	}
	fmt.Fprintf(&b, "%s: %s, %s; %s, %s, %s (docs/rules.md explains the ids)\n", r.Name, countText(r.Tables, "table"), countText(len(r.Statements), "statement"),
		countText(count[Error], "error"), countText(count[Warning], "warning"), countText(count[Note], "note"))
	classes := map[rules.Access]int{}
	for _, s := range r.Statements {
		classes[s.Access]++
	}
	for _, a := range append(rules.Accesses, rules.None) {
		if classes[a] > 0 {
			fmt.Fprintf(&b, "  %-22s %d\n", a, classes[a])
		}
	}
	for i := range r.Findings {
		r.Findings[i].writeText(&b)
	}
	if len(r.Unsupported) > 0 {
		b.WriteString("\nNot looked at\n\n")
		for _, u := range r.Unsupported {
			fmt.Fprintf(&b, "  %s: %s\n", u.Statement, u.Reason)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// countText writes "1 error", "2 errors".
func countText(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (f *Finding) writeText(b *strings.Builder) {
	where := f.Table
	if f.Statement != "" {
		where = strings.TrimPrefix(where+", statement "+f.Statement, ", ")
	}
	fmt.Fprintf(b, "\n%s  %s %s  %s\n  %s\n", f.Severity, f.Rule, f.Name, where, f.Reason)
	if f.Text != "" {
		fmt.Fprintf(b, "    %s\n", f.Text)
	}
	if f.Fix == nil {
		fmt.Fprintf(b, "  no fix: %s\n", f.NoFix)
		return
	}
	fmt.Fprintf(b, "  fix: %s\n", f.Fix.Says)
	for _, s := range append(append([]string{}, f.Fix.CQL...), f.Fix.Statements...) {
		for _, line := range strings.Split(s+";", "\n") {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	for _, u := range f.Fix.Writes {
		fmt.Fprintf(b, "  where it says %s\n", u.Statement)
		for _, s := range u.Steps {
			fmt.Fprintf(b, "    %s: %s;\n", s.When, s.CQL)
		}
	}
}
