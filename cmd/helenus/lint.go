package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// lintFlags are what `helenus lint` is asked for.
type lintFlags struct {
	solver solverFlag
	remote
	live, designed, sarif bool
	schema, failOn        string
	since, until          time.Duration
}

func lintCommand() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use: "lint [FILE]", Short: "Find what is wrong with tables and with the statements that are asked of them", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Lint looks at tables and at what is asked of them by the rules of the query-driven method: keys that lose rows, scans, filtering,
ranges in the wrong place, partitions without bound, joins by hand, copies that nobody reads. Each finding has the id of its
rule (docs/rules.md), and a fix in CQL that was tried: with it the finding is gone.

FILE holds a model and a workload, as for helenus design, and the tables are its own, those of --schema, or those that helenus
design would make (--designed, or if it has none). With --live the tables and statements are those that the running process sees.

` + exitsText(exitDone, exitUsage, exitUnreachable, exitFindings),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	f.solver.flags(flags)
	f.flags(c)
	flags.BoolVar(&f.live, "live", false, "the tables and statements of the running process (see --server)")
	flags.StringVar(&f.schema, "schema", "", "SCHEMA: the name of one of the file's schemas, or a file of tables in YAML or CQL; default: the file's tables; if it has none, --designed")
	flags.BoolVar(&f.designed, "designed", false, "the tables that helenus design chooses for FILE")
	periodFlags(c, &f.since, &f.until)
	flags.BoolVar(&f.sarif, "sarif", false, "print SARIF 2.1.0, for the reports of CI")
	flags.StringVar(&f.failOn, "fail-on", string(lint.Warning), fmt.Sprintf("error, warning or note: findings as bad as this make the exit code %d; never: none do", exitFindings))
	return c
}

func (f *lintFlags) run(c *cobra.Command, args []string) error {
	switch {
	case f.live == (len(args) == 1):
		return usageError{errors.New("name a FILE, or --live, and not both")}
	case f.live && (f.schema != "" || f.designed):
		return usageError{errors.New("--live: it is the live tables that are looked at; leave --schema and --designed out")}
	case f.schema != "" && f.designed:
		return usageError{errors.New("--designed and --schema are two sets of tables: name one")}
	case f.structured() && f.sarif:
		return usageError{errors.New("-o and --sarif are two forms: name one")}
	case f.failOn != "never" && !slices.Contains(lint.Severities, lint.Severity(f.failOn)):
		return usageError{fmt.Errorf("--fail-on: %w", &model.NameError{What: "severity", Name: f.failOn, Known: []string{"error", "warning", "note", "never"}})}
	}
	report, places, err := f.report(c, args)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	switch {
	case f.sarif:
		err = report.SARIF(out, built().version, places)
	case f.structured():
		err = f.by(out, report.JSON)
	default:
		err = report.Text(out)
	}
	if err != nil {
		return err
	}
	if f.failOn != "never" && report.Worst(lint.Severity(f.failOn)) {
		return exitError{fmt.Errorf("there are findings: %s or worse", f.failOn), exitFindings}
	}
	return nil
}

// report looks, and says where in the file things stand.
func (f *lintFlags) report(c *cobra.Command, args []string) (*lint.Report, lint.Places, error) {
	if f.live {
		client, err := f.client()
		if err != nil {
			return nil, lint.Places{}, err
		}
		var r lint.Report
		return &r, lint.Places{}, client.Get(c.Context(), "lint"+inPeriod(url.Values{}, f.since, f.until), &r)
	}
	in, places, err := f.input(c, args[0])
	if err != nil {
		return nil, places, err
	}
	return lint.Lint(in), places, nil
}

// input reads FILE and its tables. All its errors are bad input, but for those of designing.
func (f *lintFlags) input(c *cobra.Command, file string) (*lint.Input, lint.Places, error) {
	places := lint.Places{File: file}
	w, data, err := loadAsIs(file)
	if err != nil {
		return nil, places, usageError{err}
	}
	places.Text = string(data)
	if designed, err := isDesigned(c.ErrOrStderr(), file, w, f.schema, f.designed); err != nil {
		return nil, places, err
	} else if designed {
		in, err := designedInput(c.Context(), w, f.solver.process())
		return in, places, err
	}
	tables := w.Tables
	if f.schema != "" {
		if tables, err = lintedSchema(w, f.schema); err != nil {
			return nil, places, usageError{fmt.Errorf("--schema: %w", err)}
		}
		if text, err := os.ReadFile(f.schema); err == nil {
			places.TablesFile, places.TablesText = f.schema, string(text)
		}
	}
	in, err := lint.FromWorkload(w, tables)
	if err != nil {
		return nil, places, usageError{err}
	}
	return in, places, nil
}

// loadAsIs reads a workload file, also one with tables that overwrite rows, and returns its text.
func loadAsIs(file string) (*workload.Workload, []byte, error) {
	data, err := model.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	w, err := readWorkload(file, data, workload.ReadAsIs)
	return w, data, err
}

// lintedSchema returns the tables of SCHEMA as they are, right or wrong.
func lintedSchema(w *workload.Workload, name string) ([]*model.Table, error) {
	if _, err := os.Stat(name); err == nil && w.Schemas[name] == nil {
		return given.LoadExisting(name, w.Graph)
	}
	return schemaNamed(w, name)
}

// designedInput designs, and looks at the design: its tables, and its plans over them.
func designedInput(ctx context.Context, w *workload.Workload, solver solve.Solver) (*lint.Input, error) {
	for _, t := range w.Tables {
		if !t.Identifies() {
			return nil, usageError{fmt.Errorf("table %s: its rows overwrite each other: nothing can be designed over it", t.Name)}
		}
	}
	d, _, _, err := choose(ctx, w, design.Options{Solver: solver}, false)
	if err != nil {
		return nil, explained(err)
	}
	in, _, err := d.Linted(w)
	return in, err
}
