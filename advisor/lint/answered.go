package lint

import (
	"cmp"
	"slices"
)

// Answer is a change that answers statements of the application now.
type Answer struct {
	ChangeID   string
	Statements []string // fingerprints
	Table      string   // of the application, by which it finds rows: keyspace.table, "" if it has a table of its own
}

// Answered takes into account what changes answer already: how such a statement finds its rows, and that no statement reads a table by which they are found, is a note then. The
// application need not mend it.
func (r *Report) Answered(by []Answer) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, a := range by {
			if says := a.instead(f); says != "" {
				f.Severity, f.ChangeID, f.Fix, f.NoFix = Note, a.ChangeID, nil, "change "+a.ChangeID+" "+says
			}
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
}

// instead says what a change does about what was found; "" if that is another's.
func (a Answer) instead(f *Finding) string {
	switch {
	case f.Statement != "" && slices.Contains(a.Statements, f.Statement):
		return "answers it: see `helenus changes " + a.ChangeID + "`"
	case f.Table != "" && f.Table == a.Table && (f.Rule == UnusedTable || f.Rule == DuplicateTable):
		return "finds rows by it: `helenus rollback " + a.ChangeID + "` comes before whatever drops it"
	}
	return ""
}
