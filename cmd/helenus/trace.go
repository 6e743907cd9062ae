package main

import (
	"net/url"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/rules"
)

// fingerprintForm is what the beginning of a fingerprint looks like, and a file of a model seldom does: ./beef is a file.
var fingerprintForm = regexp.MustCompile(`^[0-9a-f]{4,32}$`)

// traceCommand is one command for two traces: how a query becomes a table, and what Cassandra did for a statement. What it
// traces is in what it is given, so that nobody needs a second word for it.
func traceCommand() *cobra.Command {
	var r remote
	wait := 30 * time.Second
	c := &cobra.Command{
		Use: "trace FILE|FINGERPRINT", Short: "Show step by step how queries of a file become tables, or what Cassandra did for a statement", Args: usage(cobra.ExactArgs(1)),
		Long: `Of a FILE with a model and a workload, as for helenus design: what each mapping rule of the query-driven method (MR1 to MR5) does
to each query, the table that comes out, its pattern and class of access, and what is left to the client (docs/rules.md).

Of a FINGERPRINT, or its first digits (helenus statements lists them): the next execution of a prepared SELECT is said once more,
traced, and what Cassandra did is shown. --wait and the flags for the running process are for this.

What consists of 4 to 32 digits from 0 to f is a fingerprint: write ./beef for a file of such a name.

` + exitsText(exitDone, exitUsage, exitNotFound, exitRefused, exitUnreachable),
		RunE: func(c *cobra.Command, args []string) error {
			if !fingerprintForm.MatchString(args[0]) {
				return traceFile(c, args[0], &r)
			}
			raw, err := decide(c.Context(), &r, pathID("statements", args[0])+"/trace?wait="+url.QueryEscape(wait.String()), "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, printTrace)
		},
	}
	r.flags(c)
	c.Flags().Var((*span)(&wait), "wait", "how long to wait for an execution of a FINGERPRINT")
	return c
}

// traceFile applies the mapping rules to the queries of a file.
func traceFile(c *cobra.Command, file string, r *remote) error {
	w, _, err := loadAsIs(file)
	if err != nil {
		return usageError{err}
	}
	report := rules.TraceAll(w)
	for i := range report.Traced { // what would change answers is not shown to be carried out
		if err := lint.TryMapping(report.Traced[i].Trace, ""); err != nil {
			report.Traced[i].Refused = err.Error()
		}
	}
	if r.structured() {
		return r.by(c.OutOrStdout(), report.JSON)
	}
	return report.Text(c.OutOrStdout())
}
