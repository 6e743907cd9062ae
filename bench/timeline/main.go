// Command timeline measures calendars on seed 004's workload: TPC-H in two groups of statements, of which the one runs often
// while the other seldom does.
//
//	make bench-timeline           the tables; QUICK=1: 12 steps alone
//	bin/timeline -only cycles -cost nose:cassandra -exact
//
// It prints what acceptance W-46 to W-51 and issue 8 speak of: costs against the best single designs and the ideal, at which
// steps the plans of Q3, Q5, Q7 and Q9 change, how space counts, and how time grows with the steps. The patterns are W-43's, laid
// over examples/designs/tpch.yaml for any number of steps. Figures of the seed's authors are those of their paper: measured
// latencies, on another cluster, with another cost model.
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
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
)

func main() {
	solve.ServeIfWorker()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// kase is something to measure.
type kase struct {
	pattern string
	steps   int
	space   float64 // share of W-45's 100 %
	exact   bool
}

func (k kase) String() string {
	mode := "pruned"
	if k.exact {
		mode = "exact"
	}
	return fmt.Sprintf("%s, %d steps, %.0f %%, %s", k.pattern, k.steps, 100*k.space, mode)
}

// run measures and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("timeline", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "12 steps at 80 % alone")
	only := flags.String("only", "", "measure only the cases whose name contains this")
	model := flags.String("cost", "cassandra", "the cost model, or a file of parameters")
	file := flags.String("file", "examples/designs/tpch.yaml", "the workload")
	exact := flags.Bool("exact", false, "measure the exact mode, too")
	wall := flags.Duration("wall", 0, "the most that a calendar may take; 0: as `helenus design` does")
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
		began := time.Now()
		c, err := timeline.Choose(ctx, w, timeline.Options{Cost: m, Solver: solve.New(solve.Config{}), SpaceShare: k.space, Exact: k.exact, Limits: solve.Limits{Wall: *wall}})
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "%s: %v\n", k, err)
			return 1
		}
		_, _ = fmt.Fprintln(stdout, row(k, c, time.Since(began)))
	}
	return 0
}

// cases are W-46, W-48 and W-49; the sweep of W-50; and the steps of W-51.
func cases(quick, exact bool) []kase {
	var list []kase
	modes := []bool{false}
	if exact {
		modes = append(modes, true)
	}
	for _, mode := range modes {
		for _, pattern := range []string{"cycles", "evolution", "spikes"} {
			list = append(list, kase{pattern, 12, 0.8, mode})
		}
		if quick {
			continue
		}
		for percent := 100; percent >= 70; percent -= 5 {
			if percent != 80 {
				list = append(list, kase{"cycles", 12, float64(percent) / 100, mode})
			}
		}
		for steps := 4; steps <= 44; steps += 4 {
			if steps != 12 {
				list = append(list, kase{"cycles", steps, 0.8, mode})
			}
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

const heading = `| workload | cost | of that changes | ideal | average | first | last | flips of Q3 Q5 Q7 Q9 | inverse flips | tables kept, rounds | gap | time |
|---|---|---|---|---|---|---|---|---|---|---|---|`

// row is what was found, against what.
func row(k kase, c *timeline.Calendar, took time.Duration) string {
	moving := 0.0
	for _, s := range c.Steps {
		moving += s.MigrationCost
	}
	less := func(name string) string { return fmt.Sprintf("%+.2f %%", 100*(c.Cost/c.Baseline(name).Cost-1)) }
	gap := "0"
	if !c.Proven {
		gap = fmt.Sprintf("%.2g %%", 100*c.Gap)
	}
	return fmt.Sprintf("| %s | %.5g | %.2g %% | %s | %s | %s | %s | %s | %s | %d, %d | %s | %.1f s |", k, c.Cost, 100*moving/c.Cost, less(timeline.Ideal), less(timeline.Average),
		less(timeline.First), less(timeline.Last), flips(c, ""), flips(c, "-dup"), c.Kept, c.Rounds, gap, took.Seconds())
}

// flips are the steps at which the plans of some statements change, cheaper or dearer: "2>3 Q3- Q5-" is less for Q3 and Q5.
func flips(c *timeline.Calendar, suffix string) string {
	var list []string
	for i := 1; i < len(c.Steps); i++ {
		var at []string
		for n, p := range c.Steps[i].Plans {
			id := p.Statement.Statement.ID
			if !slices.Contains([]string{"Q3" + suffix, "Q5" + suffix, "Q7" + suffix, "Q9" + suffix}, id) {
				continue
			}
			before := c.Steps[i-1].Plans[n].Cost.Work
			switch {
			case p.Cost.Work < before*(1-1e-6):
				at = append(at, strings.TrimSuffix(id, "-dup")+"-")
			case p.Cost.Work > before*(1+1e-6):
				at = append(at, strings.TrimSuffix(id, "-dup")+"+")
			}
		}
		if len(at) > 0 {
			list = append(list, fmt.Sprintf("%d>%d %s", i-1, i, strings.Join(at, " ")))
		}
	}
	return strings.Join(list, "; ")
}
