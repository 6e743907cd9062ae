package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/diagram/calendar"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/rehearse"
)

// timelineFlags are what `helenus design --timeline` is asked for besides.
type timelineFlags struct {
	on, pruned, exact bool
	space             string
	initial, overlap  bool
	windows           []string
	atOnce, life      int
	candidates        int
	drop              float64
	interval          time.Duration
	once              bool
}

// register adds the flags.
func (f *timelineFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "timeline", false, "design for each time step of a workload whose statements have weights over time, and for the changes between them")
	flags.BoolVar(&f.pruned, "pruned", false, "of --timeline: look at promising tables alone; the default")
	flags.BoolVar(&f.exact, "exact", false, "of --timeline: look at all tables together, and prove it")
	flags.StringVar(&f.space, "space", "", "of --timeline: bytes that new tables may take at each step, such as 2GB, or a share of what the best design for the mean weights takes: 80%")
	flags.BoolVar(&f.initial, "initial-load", false, "of --timeline: filling the tables of the first step costs, too: for a new deployment")
	flags.BoolVar(&f.overlap, "overlap", false, "of --timeline: tables that are being filled take space besides those of the step")
	flags.StringSliceVar(&f.windows, "window", nil, "of --timeline: steps for which tables may be created: 3, or 3-5; may be given more than once; default: all")
	flags.IntVar(&f.atOnce, "at-once", 0, "of --timeline: tables that may be created for one step, but for the first; 0: any number")
	flags.IntVar(&f.life, "life", 0, "of --timeline: steps for which a table that is created is kept at least; 0: any number")
	flags.Float64Var(&f.drop, "drop-cost", 0, "of --timeline: what dropping a table costs, in the unit of the cost model")
	flags.Var((*span)(&f.interval), "interval", "of --timeline: how long each step is; 0: what the file says, else an hour")
	flags.BoolVar(&f.once, "one-cut", false, "of --timeline: propose only tables that one cut of each query gives, as seed 004 does; without it, too, where these are more than --candidates")
	flags.IntVar(&f.candidates, "candidates", 0, "of --timeline: tables that are proposed at most: fewer take less memory, and calendars over them cost more mostly; 0: 6000")
}

// alone are the flags of `helenus design` that --timeline knows nothing of.
var alone = []string{"robust", "worst-case", "existing", "only-existing", "compare", "why-not", "explain", "pareto", "sensitivity", "max-bytes"}

// check returns what is wrong with flags that do not go together.
func (f *timelineFlags) check(flags *pflag.FlagSet) error {
	if !f.on {
		var wrong error
		flags.Visit(func(x *pflag.Flag) {
			if strings.HasPrefix(x.Usage, "of --timeline") {
				wrong = fmt.Errorf("--%s: it speaks of time steps: ask for --timeline", x.Name)
			}
		})
		return wrong
	}
	for _, name := range alone {
		if flags.Changed(name) {
			return fmt.Errorf("--%s: it speaks of one point in time: leave it or --timeline out", name)
		}
	}
	if flags.Changed("interval") && f.interval <= 0 {
		return fmt.Errorf("--interval: %v: a step lasts longer than that", f.interval)
	}
	if f.pruned && f.exact {
		return errors.New("--pruned and --exact: ask for one of them")
	}
	return nil
}

// options turns the flags into options for a workload.
func (f *timelineFlags) options(w *workload.Workload, o design.Options) (timeline.Options, error) {
	t := timeline.Options{Cost: o.Cost, Solver: o.Solver, Limits: o.Limits, Exact: f.exact, Once: f.once, MostTables: f.candidates, InitialLoad: f.initial, Overlap: f.overlap,
		Most: f.atOnce, Life: f.life, Drop: f.drop}
	if f.interval > 0 {
		t.Interval = []time.Duration{f.interval}
	}
	if f.space != "" {
		number, share := strings.CutSuffix(f.space, "%")
		var bytes config.Size
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !share {
			err = bytes.Set(number)
			v = float64(bytes)
		}
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return t, fmt.Errorf("--space: %q is neither a number of bytes, such as 2GB, nor a share such as 80%%", f.space)
		}
		if t.Space = v; share {
			t.Space, t.SpaceShare = 0, v/100
		}
	}
	if len(f.windows) > 0 {
		t.Windows = make([]bool, w.TimeSteps())
		for _, text := range f.windows {
			from, to, ok := strings.Cut(text, "-")
			if !ok {
				to = from
			}
			a, errA := strconv.Atoi(strings.TrimSpace(from))
			b, errB := strconv.Atoi(strings.TrimSpace(to))
			if errA != nil || errB != nil || a < 0 || b < a || b >= len(t.Windows) {
				return t, fmt.Errorf("--window: %q is no step, nor steps such as 3-5, of 0 to %d", text, len(t.Windows)-1)
			}
			for ; a <= b; a++ {
				t.Windows[a] = true
			}
		}
	}
	return t, nil
}

// timeline designs over time.
func (f *designFlags) timeline(c *cobra.Command, w *workload.Workload, o design.Options) error {
	options, err := f.time.options(w, o)
	if err != nil {
		return usageError{err}
	}
	quietly := func() {}
	if !f.json {
		p := &progress{limit: o.Limits.Wall, began: time.Now()}
		options.Progress = func(x sequence.Progress) { p.tell(choice.Progress{Cost: x.Cost, Bound: x.Bound, Elapsed: x.Elapsed}) }
		quietly = sync.OnceFunc(p.show(c.ErrOrStderr()))
		defer quietly()
	}
	calendar, err := timeline.Choose(c.Context(), w, options)
	if err != nil {
		return unscheduled(err)
	}
	if err := tryCalendar(context.WithoutCancel(c.Context()), w, calendar); err != nil {
		return err
	}
	quietly()
	if f.out != "" {
		if err := writeCalendar(f.out, calendar); err != nil {
			return err
		}
	}
	print := calendar.Text
	if f.json {
		print = calendar.JSON
	}
	if err := print(c.OutOrStdout()); err != nil {
		return err
	}
	if calendar.Proven {
		return nil
	}
	return proven(&design.Design{Gap: calendar.Gap}, o.Solver)
}

// tryCalendar runs the design of each step on made entities; of steps with the same tables and plans one. A calendar with a wrong one is none.
func tryCalendar(ctx context.Context, w *workload.Workload, calendar *timeline.Calendar) (err error) {
	done := map[string]*design.Trial{}
	for _, s := range calendar.Steps {
		var key strings.Builder
		for _, t := range s.Design.Tables {
			fmt.Fprintln(&key, t.Name, t.Table.ID())
		}
		for _, x := range s.Design.Statements {
			fmt.Fprintln(&key, x.Statement.ID, x.Plan, len(x.Writes))
		}
		if s.Design.Trial = done[key.String()]; s.Design.Trial == nil {
			if s.Design.Trial, err = rehearse.Design(ctx, w, s.Design); err != nil {
				return explained(err)
			}
			done[key.String()] = s.Design.Trial
		}
		if err := tried(s.Design); err != nil {
			return exitError{fmt.Errorf("step %d: %w", s.Number, err), exitWrong}
		}
	}
	return nil
}

// unscheduled gives an error of a calendar its exit code.
func unscheduled(err error) error {
	var (
		input     *timeline.InputError
		statement *timeline.StatementError
		space     *timeline.SpaceError
		none      *design.UnanswerableError
	)
	switch {
	case errors.As(err, &input), errors.As(err, &statement), errors.As(err, &space):
		return usageError{err}
	case errors.As(err, &none):
		return exitError{err, exitNoPlan}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitError{fmt.Errorf("stopped before there was a calendar: %w", err), exitGap}
	}
	return explained(err)
}

// writeCalendar writes a calendar to a folder, which is made if it is not there: for each step what is created for it, what
// is dropped once it has begun, and its plans; and the whole as text, JSON and a chart. Each file is whole or not changed.
func writeCalendar(folder string, c *timeline.Calendar) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	files := []struct {
		name  string
		write func(io.Writer) error
	}{{"report.txt", c.Text}, {"timeline.json", c.JSON}, {"timeline.svg", func(w io.Writer) error { return calendar.Of(c).SVG(w, svg.Auto) }}}
	add := func(name string, write func(io.Writer) error) {
		files = append(files, struct {
			name  string
			write func(io.Writer) error
		}{name, write})
	}
	for _, s := range c.Steps {
		add(fmt.Sprintf("%02d-create.cql", s.Number), s.CreateCQL)
		add(fmt.Sprintf("%02d-drop.cql", s.Number), s.DropCQL)
		add(fmt.Sprintf("%02d-plans.yaml", s.Number), s.Design.Plans)
	}
	for _, f := range files {
		if err := writeWhole(filepath.Join(folder, f.name), f.write); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}
