package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/rehearse"
)

// designFlags are what `helenus design` is asked for.
type designFlags struct {
	solver     solverFlag
	mix, model string
	maxBytes   config.Size
	timeLimit  time.Duration
	existing   string
	only       bool
	compare    []string
	whyNot     []string
	robust     []string
	worst      bool
	asked      []asked // of whyNot
	explain    bool
	pareto     bool
	ranges     []string
	safe       safeFlags
	json       bool
	out        string
	time       timelineFlags
}

func designCommand() *cobra.Command {
	var f designFlags
	c := &cobra.Command{
		Use: "design FILE", Short: "Design tables from a model and a workload in YAML, without a cluster", Args: usage(cobra.ExactArgs(1)),
		Long: `Design chooses the tables, and a plan for each statement, that cost least, and says how that was proven. FILE holds a
model and a workload, in our form (docs/schema/workload.json) or the neutral one. docs/optimiser.md explains how it works.

With --timeline it makes a calendar (docs/schema/timeline.json) for a workload whose statements have a list of weights, one
for each time step: which tables there are at each, how those that come are filled from those before, and what each step
and change costs, beside the best single designs. Steps are counted from 0.

Before it is shown, the design is run on made entities, before and after the workload's own writes, and its answers are held
against what the statements mean. A design that fails is printed with the counter-example, as WRONG.

Stopped with a gap, also by Ctrl-C, the best design so far is printed nevertheless.

` + exitsText(exitDone, exitUsage, exitGap, exitNoPlan, exitWrong),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	f.solver.flags(flags)
	f.time.register(flags)
	flags.StringVar(&f.mix, "mix", "", "the mix of weights; default: what the file says")
	flags.StringSliceVar(&f.robust, "robust", nil, "MIX,MIX,...: design for several mixes, by the mean of their weights, and say what each costs over that design and over the one whose greatest regret is least")
	flags.BoolVar(&f.worst, "worst-case", false, "of --robust, print the design whose greatest regret is least")
	flags.StringVar(&f.model, "cost", "", "the cost model, or a file of parameters of cassandra; default: cassandra, in milliseconds")
	flags.Var(&f.maxBytes, "max-bytes", "bytes that new tables may take, such as 2GB; 0: what the file says")
	flags.Var((*span)(&f.timeLimit), "time-limit", "stop after this long with the best so far; 0: a minute for each solve")
	flags.StringVar(&f.existing, "existing", "", "SCHEMA: tables that are there and stay, free but for their writes: the name of one of the file's schemas, or a file of tables in YAML or CQL")
	flags.BoolVar(&f.only, "only-existing", false, "no tables but those of --existing: what they cost")
	flags.StringArrayVar(&f.compare, "compare", nil, "SCHEMA: tables to compare with, statement by statement; may be given more than once")
	flags.StringArrayVar(&f.whyNot, "why-not", nil, "TABLE or STATEMENT: TABLE; TABLE...: what the best design costs that has this table, or that answers this statement from these tables alone: \"[Entity.attribute, ...][...][...]\"; may be given more than once")
	flags.BoolVar(&f.explain, "explain", false, "say of each new table what the best design without it costs, and of limited space what one more gigabyte would save")
	flags.BoolVar(&f.pareto, "pareto", false, "show how cost rises as space falls, down to the least that answers everything")
	flags.StringSliceVar(&f.ranges, "sensitivity", nil, "statements (IDs) of which to say how far their weights may move before other tables are better")
	f.safe.flags(flags)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "space-limit" { // as it was called before
			name = "max-bytes"
		}
		return pflag.NormalizedName(name)
	})
	flags.BoolVar(&f.json, "json", false, "print JSON (docs/schema/design.json)")
	flags.StringVar(&f.out, "out", "", "a folder to write schema.cql, plans.yaml, report.txt and design.json to; of --timeline: 00-create.cql, 00-drop.cql and 00-plans.yaml for each step, report.txt, timeline.json and the chart timeline.svg")
	return c
}

func (f *designFlags) run(c *cobra.Command, file string) error {
	if err := f.time.check(c.Flags()); err != nil {
		return usageError{err}
	}
	w, o, err := f.read(file)
	if err == nil {
		err = checkTypes(c.ErrOrStderr(), file, w.Graph)
	}
	if err != nil {
		return usageError{err}
	}
	if f.time.on {
		return f.timeline(c, w, o)
	}
	quietly := func() {}
	if !f.json {
		p := &progress{limit: cmp.Or(o.Limits.Wall, time.Minute), began: time.Now()}
		o.Progress = p.tell
		quietly = sync.OnceFunc(p.show(c.ErrOrStderr()))
		defer quietly()
	}
	d, study, missing, err := choose(c.Context(), w, o, f.only)
	if err != nil {
		return explained(err)
	}
	if err := f.whatIf(c.Context(), study, d); err != nil {
		return explained(err)
	}
	if err := f.comparisons(c.Context(), w, o, d); err != nil {
		return err
	}
	// Also of what an interrupt has ended: it takes little.
	if d.Trial, err = rehearse.Design(context.WithoutCancel(c.Context()), w, d); err != nil {
		return explained(err)
	}
	quietly()
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
	if err := tried(d); err != nil {
		return err
	}
	if len(missing) > 0 {
		return noPlan(missing)
	}
	return proven(d, o.Solver)
}

// tried is the error of a design whose plans answer wrongly.
func tried(d *design.Design) error {
	if d.Trial == nil || len(d.Trial.Wrong) == 0 {
		return nil
	}
	return exitError{fmt.Errorf("do not carry this design out: %s; report it, with the file", d.Trial.Wrong[0]), exitWrong}
}

// unplanned is a statement without a plan, and why.
type unplanned struct{ id, reason string }

// choose designs. With rest, what has no plan is left out and told of, so that the rest can be seen; else it is the error.
func choose(ctx context.Context, w *workload.Workload, o design.Options, rest bool) (d *design.Design, s *design.Study, missing []unplanned, err error) {
	left := *w
	for {
		if s, err = design.NewStudy(ctx, &left, o); err == nil {
			d, err = s.Design(ctx)
		}
		var none *design.UnanswerableError
		if !errors.As(err, &none) {
			return d, s, missing, err
		}
		if len(none.AllowScans(ctx, w, o)) > 0 {
			continue
		}
		reason := fmt.Sprintf("statement %s has no plan: no table answers %s", none.Statement, none.Query)
		if help := none.Help(ctx, w, o); help != "" {
			reason += "; this would: " + help
		} else {
			reason += "; nor could any that may be made"
		}
		missing = append(missing, unplanned{none.Statement, reason})
		left.Statements = slices.DeleteFunc(slices.Clone(left.Statements), func(s *workload.Statement) bool { return s.ID == none.Statement })
		if !rest || len(left.Statements) == 0 {
			return nil, nil, missing, noPlan(missing)
		}
	}
}

// noPlan is the error of statements without a plan.
func noPlan(missing []unplanned) error {
	reasons := make([]string, len(missing))
	for i, m := range missing {
		reasons[i] = m.reason
	}
	return exitError{errors.New(strings.Join(reasons, "; ")), exitNoPlan}
}

// frontPoints is how many points --pareto shows at most.
const frontPoints = 8

// whatIf solves again for what --why-not, --explain and --pareto ask.
func (f *designFlags) whatIf(ctx context.Context, s *design.Study, d *design.Design) (err error) {
	for _, asked := range f.asked {
		var x *design.WhatIf
		if asked.statement != "" {
			x, err = s.Over(ctx, asked.statement, asked.tables)
		} else {
			x, err = s.With(ctx, asked.tables[0])
		}
		if err != nil {
			return err
		}
		d.Insisted = append(d.Insisted, x)
	}
	if f.explain {
		if d.Absent, err = s.Absences(ctx); err != nil {
			return err
		}
		if s.Limited() {
			if d.Roomier, err = s.MoreSpace(ctx, design.Gigabyte); err != nil {
				return err
			}
		}
	}
	if f.pareto {
		d.Front, err = s.Pareto(ctx, frontPoints)
	}
	return err
}

// comparisons designs over each schema of --compare alone.
func (f *designFlags) comparisons(ctx context.Context, w *workload.Workload, o design.Options, d *design.Design) error {
	for _, name := range f.compare {
		tables, err := schemaNamed(w, name)
		if err != nil {
			return usageError{fmt.Errorf("--compare: %w", err)}
		}
		own := o
		own.Candidates, own.OnlyExisting, own.Sensitivity, own.Worst = keep(tables), true, nil, false
		x := design.Compared{Name: name}
		other, _, missing, err := choose(ctx, w, own, true)
		var coded exitError
		if err != nil && (!errors.As(err, &coded) || coded.code != exitNoPlan) {
			return explained(err)
		}
		x.Design = other
		for _, m := range missing {
			x.Missing = append(x.Missing, m.id)
		}
		for _, t := range tables {
			x.Bytes += cost.Arithmetic(o.Cost).TableBytes(t)
		}
		d.Compared = append(d.Compared, x)
	}
	return nil
}

// read turns the flags into a workload and options. All its errors are bad input.
func (f *designFlags) read(file string) (*workload.Workload, design.Options, error) {
	o := design.Options{Solver: f.solver.process(), SpaceLimit: float64(f.maxBytes), Sensitivity: f.ranges}
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
		if o.Cost, err = cost.Open(f.model); err != nil {
			return nil, o, fmt.Errorf("--cost: %w", err)
		}
	}
	if f.timeLimit > 0 {
		o.Limits = solve.Limits{Wall: f.timeLimit}
	}
	if o.Safety, err = f.safe.read(w); err != nil {
		return nil, o, err
	}
	for _, name := range f.compare {
		if _, err := schemaNamed(w, name); err != nil {
			return nil, o, fmt.Errorf("--compare: %w", err)
		}
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
	for _, notation := range f.whyNot {
		asked, err := readAsked(w, notation)
		if err != nil {
			return nil, o, fmt.Errorf("--why-not: %w", err)
		}
		f.asked = append(f.asked, asked)
		o.Candidates = append(o.Candidates, asked.tables...) // they may be none of those enumerated
	}
	if err := f.severalMixes(w); err != nil {
		return nil, o, err
	}
	o.Mixes, o.Worst = f.robust, f.worst
	mixes := []string{w.Mix}
	if len(f.robust) > 0 {
		mixes = f.robust
	}
	part, _ := w.In(mixes...)
	ids := make([]string, len(part.Statements))
	for i, s := range part.Statements {
		ids[i] = s.ID
	}
	for _, id := range f.ranges {
		if part.Statement(id) == nil {
			return nil, o, fmt.Errorf("--sensitivity: %w", &model.NameError{What: "statement", Name: id, Known: ids})
		}
	}
	if len(part.Statements) == 0 {
		return nil, o, fmt.Errorf("%s: there are no statements to design for", file)
	}
	return w, o, checkWeights(file, part, mixes)
}

// asked is a table, or the plan of a statement over tables, that somebody would have chosen.
type asked struct {
	statement string
	tables    []*model.Table
}

// readAsked reads "[..][..][..]", or "STATEMENT: [..][..][..]; [..][..][..]".
func readAsked(w *workload.Workload, text string) (asked, error) {
	var a asked
	if id, rest, ok := strings.Cut(text, ":"); ok {
		if a.statement, text = strings.TrimSpace(id), rest; w.Statement(a.statement) == nil || w.Statement(a.statement).Query == nil {
			ids := []string{}
			for _, s := range w.Statements {
				if s.Query != nil {
					ids = append(ids, s.ID)
				}
			}
			return a, &model.NameError{What: "query", Name: a.statement, Known: ids}
		}
	}
	for _, notation := range strings.Split(text, ";") {
		table, err := given.Notation(w.Graph, notation)
		if err != nil {
			return a, err
		}
		a.tables = append(a.tables, table)
	}
	if a.statement == "" && len(a.tables) > 1 {
		return a, fmt.Errorf("%q names several tables: write STATEMENT: before them for a plan, or --why-not for each", text)
	}
	return a, nil
}

// severalMixes checks --robust and --worst-case.
func (f *designFlags) severalMixes(w *workload.Workload) error {
	if f.worst {
		switch {
		case len(f.robust) == 0:
			return errors.New("--worst-case: name the mixes by --robust")
		case f.explain, f.pareto, len(f.whyNot)+len(f.ranges) > 0:
			return errors.New("--worst-case: --explain, --why-not, --pareto and --sensitivity speak of the least mean cost: ask for them without it")
		}
	}
	if len(f.robust) == 0 {
		return nil
	}
	if f.mix != "" {
		return errors.New("--robust: it names the mixes: leave --mix out")
	}
	for i, mix := range f.robust {
		if !slices.Contains(w.Mixes, mix) {
			return fmt.Errorf("--robust: %w", &model.NameError{What: "mix", Name: mix, Known: w.Mixes})
		}
		if slices.Contains(f.robust[:i], mix) {
			return fmt.Errorf("--robust: mix %s is named twice", mix)
		}
	}
	return nil
}

// explained gives an error of a design its exit code.
func explained(err error) error {
	var (
		coded exitError
		late  *design.CeilingError
		meet  *design.UnsafeError
	)
	switch {
	case errors.As(err, &coded):
	case errors.As(err, &late), errors.As(err, &meet):
		return exitError{err, exitNoPlan}
	case errors.Is(err, design.ErrSpace):
		return usageError{err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitError{fmt.Errorf("stopped before there was a design: %w", err), exitGap}
	}
	return err
}

// proven returns an error with its exit code if the design is not known to be the best.
func proven(d *design.Design, solver solve.Solver) error {
	if d.Proven {
		return nil
	}
	text := fmt.Sprintf("not proven the best: another design might cost %.2g %% less", 100*d.Gap)
	if p, ok := solver.(*solve.Process); ok {
		if err := p.Ready(); err != nil {
			text += "; " + err.Error()
		}
	}
	return exitError{errors.New(text), exitGap}
}
