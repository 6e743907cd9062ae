package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Exit codes of `helenus design`, which asks no server: 3 and 4 mean something else there.
const (
	exitGap    = 3 // a design, but not proven the best
	exitNoPlan = 4 // no plan for a statement
)

// designError is an error with its own exit code.
type designError struct {
	error
	code int
}

func (e designError) Unwrap() error { return e.error }

// designFlags are what `helenus design` is asked for.
type designFlags struct {
	mix, model string
	maxBytes   float64
	timeLimit  time.Duration
	existing   string
	only       bool
	ranges     []string
	json       bool
	out        string
}

func designCommand() *cobra.Command {
	var f designFlags
	c := &cobra.Command{
		Use: "design FILE", Short: "Design tables from a model and a workload in YAML, without a cluster", Args: usage(cobra.ExactArgs(1)),
		Long: `Design chooses the tables, and a plan for each statement, that cost least, and says how that was proven. FILE holds a
model and a workload, in our form (docs/schema/workload.json) or the neutral one. docs/optimiser.md explains how it works.

Exit codes: 0 the optimum, 3 stopped with a gap (the design is printed nevertheless, also after Ctrl-C), 2 bad input,
4 no plan for a statement.`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.mix, "mix", "", "the mix of weights; default: what the file says")
	flags.StringVar(&f.model, "cost", "", "the cost model; default: ours, in milliseconds")
	flags.Float64Var(&f.maxBytes, "max-bytes", 0, "bytes that new tables may take; 0: what the file says")
	flags.DurationVar(&f.timeLimit, "time-limit", 0, "stop after this long with the best so far; 0: a minute for each solve")
	flags.StringVar(&f.existing, "existing", "", "SCHEMA: tables that are there and stay, free but for their writes: the name of one of the file's schemas, or a file of tables in YAML or CQL")
	flags.BoolVar(&f.only, "only-existing", false, "no tables but those of --existing: what they cost")
	flags.StringSliceVar(&f.ranges, "sensitivity", nil, "statements (IDs) of which to say how far their weights may move before other tables are better")
	flags.BoolVar(&f.json, "json", false, "print JSON (docs/schema/design.json)")
	flags.StringVar(&f.out, "out", "", "a folder to write schema.cql, plans.yaml, report.txt and design.json to")
	return c
}

func (f *designFlags) run(c *cobra.Command, file string) error {
	w, o, err := f.read(file)
	if err != nil {
		return usageError{err}
	}
	d, missing, err := f.choose(c.Context(), w, o)
	if err != nil {
		return explained(err)
	}
	if f.out != "" {
		if err := writeDesign(f.out, d); err != nil {
			return err
		}
	}
	print := d.Text
	if f.json {
		print = d.JSON
	}
	if err := print(c.OutOrStdout()); err != nil {
		return err
	}
	if len(missing) > 0 {
		return designError{errors.New(strings.Join(missing, "; ")), exitNoPlan}
	}
	return proven(d)
}

// choose designs. Where the tables are given, what has no plan over them is left out and told of, so that the rest can be
// seen; else it is the error.
func (f *designFlags) choose(ctx context.Context, w *workload.Workload, o design.Options) (d *design.Design, missing []string, err error) {
	rest := *w
	for {
		d, err = design.Choose(ctx, &rest, o)
		var none *design.UnanswerableError
		if !errors.As(err, &none) {
			return d, missing, err
		}
		if f.existing != "" && len(none.AllowScans(ctx, w, o)) > 0 {
			continue
		}
		text := fmt.Sprintf("statement %s has no plan: no table answers %s", none.Statement, none.Query)
		if help := none.Help(ctx, w, o); help != "" {
			text += "; this would: " + help
		} else {
			text += "; nor could any that may be made"
		}
		missing = append(missing, text)
		rest.Statements = slices.DeleteFunc(slices.Clone(rest.Statements), func(s *workload.Statement) bool { return s.ID == none.Statement })
		if !f.only || len(rest.Statements) == 0 {
			return nil, nil, designError{errors.New(strings.Join(missing, "; ")), exitNoPlan}
		}
	}
}

// read turns the flags into a workload and options. All its errors are bad input.
func (f *designFlags) read(file string) (*workload.Workload, design.Options, error) {
	o := design.Options{Solver: solve.New(solve.Config{}), SpaceLimit: f.maxBytes, Sensitivity: f.ranges}
	w, err := loadWorkload(file)
	if err != nil {
		return nil, o, err
	}
	if f.mix != "" {
		if err := w.SetMix(f.mix); err != nil {
			return nil, o, fmt.Errorf("--mix: %w", err)
		}
	}
	if f.model != "" {
		if o.Cost, err = cost.ByName(f.model); err != nil {
			return nil, o, fmt.Errorf("--cost: %w", err)
		}
	}
	if f.maxBytes < 0 || math.IsNaN(f.maxBytes) || math.IsInf(f.maxBytes, 0) {
		return nil, o, fmt.Errorf("--max-bytes: %g is not a number of bytes", f.maxBytes)
	}
	if f.timeLimit < 0 {
		return nil, o, fmt.Errorf("--time-limit: %v is no time to have", f.timeLimit)
	}
	if f.timeLimit > 0 {
		o.Limits = solve.Limits{Wall: f.timeLimit}
	}
	if f.only && f.existing == "" {
		return nil, o, errors.New("--only-existing: name the tables by --existing")
	}
	if f.existing != "" {
		tables, err := schemaNamed(w, f.existing)
		if err != nil {
			return nil, o, fmt.Errorf("--existing: %w", err)
		}
		o.Candidates, o.OnlyExisting = keep(tables), f.only
	}
	ids := make([]string, len(w.Statements))
	for i, s := range w.Statements {
		ids[i] = s.ID
	}
	for _, id := range f.ranges {
		if w.Statement(id) == nil {
			return nil, o, fmt.Errorf("--sensitivity: %w", &model.NameError{What: "statement", Name: id, Known: ids})
		}
	}
	if len(w.Statements) == 0 {
		return nil, o, fmt.Errorf("%s: there are no statements to design for", file)
	}
	return w, o, nil
}

// explained gives an error of a design its exit code.
func explained(err error) error {
	switch {
	case errors.Is(err, design.ErrSpace):
		return usageError{err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return designError{fmt.Errorf("stopped before there was a design: %w", err), exitGap}
	}
	return err
}

// proven returns an error with its exit code if the design is not known to be the best.
func proven(d *design.Design) error {
	if d.Proven {
		return nil
	}
	text := fmt.Sprintf("not proven the best: another design might cost %.2g %% less", 100*d.Gap)
	if !solve.Exact() {
		text += "; this helenus was built without its solver: install Debian's coinor-libcbc-dev and coinor-libclp-dev, and build it with CGO_ENABLED=1"
	}
	return designError{errors.New(text), exitGap}
}
