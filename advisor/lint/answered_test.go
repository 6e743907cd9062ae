package lint

import (
	"strings"
	"testing"
)

// What a change answers already is no error of the application, and what it reads is not unused.
func TestAnswered(t *testing.T) {
	r := &Report{Findings: []Finding{
		{Rule: "L1", Severity: Error, Table: "k.orders", Statement: "f1", Fix: &Fix{Says: "make a table"}},
		{Rule: "L2", Severity: Error, Table: "k.orders", Statement: "f2", Fix: &Fix{Says: "make another"}},
		{Rule: UnusedTable, Severity: Warning, Table: "k.orders_by_guest"},
		{Rule: UnusedTable, Severity: Warning, Table: "k.old"},
	}}
	r.Answered([]Answer{{ChangeID: "r-1", Statements: []string{"f1"}}, {ChangeID: "r-2", Statements: []string{"f9"}, Table: "k.orders_by_guest"}})
	var got []string
	for _, f := range r.Findings {
		fix := f.NoFix
		if f.Fix != nil {
			fix = f.Fix.Says
		}
		got = append(got, strings.Join([]string{string(f.Severity), f.Rule, f.Statement, f.ChangeID, fix}, "|"))
	}
	want := []string{
		"error|L2|f2||make another",
		"warning|L17|||", // of k.old
		"note|L1|f1|r-1|change r-1 answers it: see `helenus changes r-1`",
		"note|L17||r-2|change r-2 finds rows by it: `helenus rollback r-2` comes before whatever drops it",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
