package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/rehearse"
)

// optionsFlags are what `helenus options` is asked for.
type optionsFlags struct {
	solver                solverFlag
	indexes, top, columns int
	rows                  float64
	refuse                bool
	score, weights, mix   string
	steps, json           bool
}

func optionsCommand() *cobra.Command {
	var f optionsFlags
	c := &cobra.Command{
		Use: "options FILE", Short: "Rank all schemas that answer each query by one request, without a cluster", Args: usage(cobra.ExactArgs(1)),
		Long: `Options makes every schema in which each query of FILE is one request, merges its tables as far as they go, adds
what the writes need, and ranks the schemas, lowest score first. What helenus design would choose is one more row.
FILE holds a model and a workload, as for helenus design. What had to be cut off is said, and so are queries that
the method does not support.

` + exitsText(exitDone, exitFailed, exitUsage, exitNoPlan),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	f.solver.flags(flags)
	flags.IntVar(&f.indexes, "indexes", 1, "secondary indexes that a table may have")
	flags.StringVar(&f.score, "score", "simple", "what to rank by: simple (indexes per table, and columns per field), or weighted (requests of writes, storage, cost of reads, surplus bytes)")
	flags.StringVar(&f.weights, "weights", "", "weights of --score weighted; default: writes=1,storage=1,read=1,surplus=1")
	flags.IntVar(&f.top, "top", options.Top, "options to print")
	flags.BoolVar(&f.steps, "steps", false, "print what each step made, too")
	flags.IntVar(&f.columns, "column-growth", 10, "columns more than one of its queries needs, up to which a merged table draws no warning")
	flags.BoolVar(&f.refuse, "refuse-columns", false, "do not merge beyond --column-growth, instead of warning")
	flags.Float64Var(&f.rows, "row-growth", 0, "merge over 1:n and n:m relationships, too, where that makes at most this share of rows more")
	flags.StringVar(&f.mix, "mix", "", "the mix of weights; default: what the file says")
	flags.BoolVar(&f.json, "json", false, "print JSON (docs/schema/options.json)")
	return c
}

func (f *optionsFlags) run(c *cobra.Command, file string) error {
	w, config, err := f.read(file)
	if err != nil {
		return usageError{err}
	}
	solver := f.solver.process()
	given, absent, err := chosen(c.Context(), w, solver)
	if err != nil {
		return explained(err)
	}
	config.Given = given
	r, err := options.Find(c.Context(), w, config)
	var large *options.TooLargeError
	switch {
	case errors.As(err, &large):
		return usageError{err}
	case err != nil:
		return explained(err)
	}
	if absent != "" {
		r.Remarks = append(r.Remarks, options.Remark{Text: absent})
	}
	if err := tryOptions(c.Context(), w, r, f.top, solver); err != nil {
		return explained(err)
	}
	print := r.Text
	if f.json {
		print = r.JSON
	}
	if err := print(c.OutOrStdout(), f.top); err != nil {
		return err
	}
	if len(r.Queries) == 0 {
		return exitError{fmt.Errorf("%s: no query that the method supports, so there is nothing to make options of", file), exitNoPlan}
	}
	return nil
}

// tryOptions runs the options that will be shown on made entities. One whose answers differ is not shown, which is remarked on; what could not be
// tried of one is its warning.
func tryOptions(ctx context.Context, w *workload.Workload, r *options.Report, top int, solver solve.Solver) error {
	fit := options.Supported(w)
	seen := map[*options.Option]bool{}
	for again := true; again; {
		again = false
		for _, o := range r.Best(top) {
			if seen[o] || len(fit.Statements) == 0 {
				continue
			}
			seen[o] = true
			x, err := rehearse.Tables(ctx, fit, o.Physical(), design.Options{Solver: solver})
			if err != nil {
				return err
			}
			for _, u := range x.Untried {
				o.Warnings = append(o.Warnings, fmt.Sprintf("%s was not tried on made entities: %s", u.Statement, u.Reason))
			}
			if len(x.Wrong) > 0 {
				r.Withdraw(o, x.Wrong[0].String())
				again = true
			}
		}
	}
	return nil
}

// chosen is the optimiser's own design for what options are made for; where it has none, why. That takes nothing from them.
func chosen(ctx context.Context, w *workload.Workload, solver solve.Solver) (given []options.Given, absent string, err error) {
	fresh := options.Supported(w)
	if len(fresh.Statements) == 0 {
		return nil, "", nil
	}
	d, err := design.Choose(ctx, fresh, design.Options{Solver: solver, Allow: design.NoLookUps})
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, fmt.Sprintf("helenus design has no design to rank beside the options: %v", err), nil
	}
	return []options.Given{options.FromDesign("design", d)}, "", nil
}

// read turns the flags into a workload and a configuration. All its errors are bad input.
func (f *optionsFlags) read(file string) (*workload.Workload, options.Config, error) {
	c := options.Config{Indexes: f.indexes, ColumnGrowth: f.columns, RefuseColumns: f.refuse, RowGrowth: f.rows, Steps: f.steps}
	w, err := loadWorkload(file)
	if err != nil {
		return nil, c, err
	}
	if f.mix != "" {
		if err := w.SetMix(f.mix); err != nil {
			return nil, c, fmt.Errorf("--mix: %w", err)
		}
	}
	if len(w.Statements) == 0 {
		return nil, c, fmt.Errorf("%s: there are no statements to make options for", file)
	}
	switch {
	case f.indexes < 0:
		return nil, c, fmt.Errorf("--indexes: %d is not a number of indexes", f.indexes)
	case f.top < 1:
		return nil, c, fmt.Errorf("--top: %d is not a number of options to print", f.top)
	case f.columns < 0:
		return nil, c, fmt.Errorf("--column-growth: %d is not a number of columns", f.columns)
	case f.rows < 0 || math.IsNaN(f.rows) || math.IsInf(f.rows, 0):
		return nil, c, fmt.Errorf("--row-growth: %g is not a share", f.rows)
	}
	if f.columns == 0 {
		c.ColumnGrowth = -1 // none: 0 is the default
	}
	switch f.score {
	case "simple":
		if f.weights != "" {
			return nil, c, errors.New("--weights are those of --score weighted")
		}
	case "weighted":
		weighted, err := weights(f.weights)
		if err != nil {
			return nil, c, fmt.Errorf("--weights: %w", err)
		}
		c.Score = weighted
	default:
		return nil, c, fmt.Errorf("--score: %w", &model.NameError{What: "score", Name: f.score, Known: []string{"simple", "weighted"}})
	}
	return w, c, nil
}

// weights reads "writes=1,storage=2"; those not named keep their default.
func weights(text string) (options.Weighted, error) {
	w := options.EvenWeights
	if text == "" {
		return w, nil
	}
	into := map[string]*float64{"writes": &w.Writes, "storage": &w.Storage, "read": &w.Read, "surplus": &w.Surplus}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		at, ok := into[strings.TrimSpace(name)]
		if !ok {
			return w, &model.NameError{What: "metric", Name: name, Known: []string{"writes", "storage", "read", "surplus"}}
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !workload.IsWeight(n) {
			return w, fmt.Errorf("%s=%s is not a weight, a number from 0 on", name, value)
		}
		*at = n
	}
	return w, nil
}
