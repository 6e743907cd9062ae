// Command timeline measures calendars on seed 004's workload: TPC-H in two groups of statements, of which the one runs often
// while the other seldom does.
//
//	make bench-timeline           the tables; QUICK=1: 12 steps alone
//	bin/timeline -only cycles -cost nose:cassandra -exact
//
// It prints what W-46 to W-51 (docs/design/acceptance.md) speak of, and writes it to docs/results/timeline.md: costs against the best single designs
// and the ideal, at which steps the plans of Q3, Q5, Q7 and Q9 change, how space counts, and how time grows with the steps. The
// patterns are W-43's, laid over examples/designs/tpch.yaml for any number of steps. Figures of the seed's authors are those of
// their paper: latencies of statements, measured while tables changed behind them, on another cluster. So beside all costs, changes
// included, stands what the statements cost alone: it is the latter that their percentages speak of.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
)

func main() {
	coin.ServeIfWorker()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// kase is something to measure.
type kase struct {
	pattern string
	steps   int
	space   float64 // share of W-45's 100 %
	exact   bool
	few     bool // over fewCandidates
}

// fewCandidates are so few that at 80 % of space there is no room for views of all statements of either group, as seed 004 has it: over these its table 1 is to be had. Over as many as
// there are by default Q5, Q7 and Q9 have views throughout.
const fewCandidates = 2000

func (k kase) String() string {
	mode := "pruned"
	if k.exact {
		mode = "exact"
	}
	name := fmt.Sprintf("%s, %d steps, %.0f %%, %s", k.pattern, k.steps, 100*k.space, mode)
	if k.few {
		name += fmt.Sprintf(", %d candidates", fewCandidates)
	}
	return name
}

// atFourFifths is a case as the paper's main runs have it: at 80 % of space, pruned.
func atFourFifths(pattern string, steps int) kase {
	return kase{pattern: pattern, steps: steps, space: 0.8}
}

// run measures and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("timeline", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "12 steps at 80 % alone")
	only := flags.String("only", "", "measure only the cases whose name contains this")
	model := flags.String("cost", "cassandra", "the cost model, or a file of parameters")
	file := flags.String("file", "examples/designs/tpch.yaml", "the workload")
	exact := flags.Bool("exact", false, "measure the exact mode, too: some minutes each")
	wall := flags.Duration("wall", 0, "the most that a calendar may take; 0: as `helenus design` does")
	out := flags.String("out", "", "a folder for the report; none: print alone")
	command := flags.String("command", "bin/timeline", "what the report says that it was made by")
	if flags.Parse(args) != nil {
		return 2
	}
	m, err := cost.Open(*model)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	_, _ = fmt.Fprintf(stdout, "cost model %s, %d cores\n\n", m.Name(), runtime.GOMAXPROCS(0))
	_, _ = fmt.Fprintln(stdout, heading)
	r := &report{command: *command, model: m.Name()}
	for _, k := range cases(*quick, *exact) {
		if !strings.Contains(k.String(), *only) {
			continue
		}
		w, err := workload.Load(*file)
		if err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 2
		}
		lay(w, k.pattern, k.steps)
		began, worked := time.Now(), processor()
		o := timeline.Options{Cost: m, Solver: solve.New(solve.Config{}), SpaceShare: k.space, Exact: k.exact, Limits: solve.Limits{Wall: *wall}}
		if k.few {
			o.MostTables = fewCandidates
		}
		c, err := timeline.Choose(ctx, w, o)
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "%s: %v\n", k, err)
			return 1
		}
		x := &measured{kase: k, calendar: c, took: time.Since(began), worked: processor() - worked}
		_, _ = fmt.Fprintln(stdout, x.row())
		for _, note := range c.Notes { // a solver that failed, above all: another run may find something else then
			_, _ = fmt.Fprintf(stderr, "%s: %s\n", k, note)
		}
		r.list = append(r.list, x)
	}
	_, _ = fmt.Fprintf(stdout, "\n%s", r.mustShow())
	if *out != "" {
		if err := r.write(*out); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 1
		}
	}
	return 0
}

// cases are W-46, W-48 and W-49; W-47 over few candidates; the sweep of W-50; the steps of W-51; and exact mode at 12 and 44 steps.
func cases(quick, exact bool) []kase {
	var list []kase
	for _, pattern := range []string{"cycles", "evolution", "spikes"} {
		list = append(list, atFourFifths(pattern, 12))
	}
	list = append(list, kase{pattern: "cycles", steps: 12, space: 0.8, few: true})
	if !quick {
		for percent := 100; percent >= 70; percent -= 5 {
			if percent != 80 {
				list = append(list, kase{pattern: "cycles", steps: 12, space: float64(percent) / 100})
			}
		}
		for steps := 4; steps <= 44; steps += 4 {
			if steps != 12 {
				list = append(list, atFourFifths("cycles", steps))
			}
		}
	}
	if exact {
		for _, steps := range []int{12, 44} {
			list = append(list, kase{pattern: "cycles", steps: steps, space: 0.8, exact: true})
		}
	}
	return list
}

// lay gives the statements a pattern of weights: those of the second group the inverse (W-43).
func lay(w *workload.Workload, pattern string, steps int) {
	w.Interval = []time.Duration{7200 * time.Second}
	for _, s := range w.Statements {
		list := make([]float64, steps)
		for i := range list {
			list[i] = weight(pattern, i, steps, strings.HasSuffix(s.ID, "-dup"))
		}
		s.Steps, s.MixSteps, s.Weights = list, nil, nil
		s.Weight = 0
		for _, x := range list {
			s.Weight += x / float64(steps)
		}
	}
	w.Mixes, w.Mix = nil, ""
}

func weight(pattern string, i, steps int, second bool) float64 {
	low, high := 0.1, 0.9
	switch pattern {
	case "cycles":
		if (i/3)%2 == 1 != second {
			return high
		}
		return low
	case "evolution":
		x := low + (high-low)*float64(i)/float64(max(1, steps-1))
		if second {
			return low + high - x
		}
		return x
	}
	spike := []int{3, 4}
	if second {
		spike = []int{7, 8}
	}
	if slices.Contains(spike, i) {
		return high
	}
	return low
}
