// Command corpora measures how true the models are that advisor/infer concludes (docs/results/model.md): eight applications of which
// everything is known, each over a normalised design, one with copies, one with odd names and one with random names; and four that are no plain ones
// (grown.go), over one design with three sets of names.
//
//	make bench-model                  the table
//	bin/corpora -v -only "shop messy" what is wrong with one
//
// One description of an application makes its schema, its data, its traffic and the truth about them. Its statements are given
// to the miners of capture as capture/window gives them, on a simulated clock: threads of one process read and write by pages, with
// answers after some 0.8 ms; grown ones have several processes, caches and troubles. The same seed makes the same traffic.
//
// What was looked at while infer was worked on are the applications that are not keptFromTuning with the seeds of tuned; of the
// rest only the figures are printed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func main() {
	coin.ServeIfWorker()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Seeds of data, names and traffic.
var (
	tunedSeeds = []uint64{1}
	heldSeeds  = []uint64{101}
)

// run prints the table and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("corpora", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "measure only the cases that have all these words")
	quick := flags.Bool("quick", false, "the tuned cases alone")
	regret := flags.Bool("regret", false, "what designs for the inferred models cost, by those for the true ones (slow)")
	verbose := flags.Bool("v", false, "say what is wrong, of tuned cases only")
	if flags.Parse(args) != nil {
		return 2
	}
	if *regret {
		return regrets(stdout, stderr, *only, *quick, *verbose)
	}
	fmt.Fprintln(stdout, "|  | entities F1 by key; and tables | relationships F1 | feeds precision; recall; used | weight error |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- |")
	for _, held := range []bool{false, true} {
		if held && *quick {
			break
		}
		for _, line := range lines(held) {
			var sum score
			n := 0
			for _, v := range line.cases {
				if !matches(v.String(), *only) {
					continue
				}
				s, err := v.observe().judge()
				if err != nil {
					fmt.Fprintln(stderr, "corpora:", v, err)
					return 1
				}
				sum.add(*s)
				n++
				if *verbose && !held {
					fmt.Fprintf(stdout, "%s: %s\n", v, s)
					for _, note := range s.notes {
						fmt.Fprintln(stdout, "    ", note)
					}
				}
			}
			if n > 0 {
				fmt.Fprintf(stdout, "| %s | %s |\n", line.name, &sum)
			}
		}
	}
	return 0
}

// regrets prints a table of regrets: the mean of a line, and its worst case.
func regrets(stdout, stderr io.Writer, only string, quick, verbose bool) int {
	fmt.Fprintln(stdout, "|  | regret: mean; worst | statements without an answer over it |")
	fmt.Fprintln(stdout, "| --- | --- | --- |")
	truths := map[string]*observed{}
	for _, held := range []bool{false, true} {
		if held && quick {
			break
		}
		for _, line := range lines(held) {
			sum, worst, n, missing, who := 0.0, 0.0, 0.0, 0, ""
			for _, v := range line.cases {
				if !matches(v.String(), only) {
					continue
				}
				of := v.truth()
				if truths[of.String()] == nil {
					truths[of.String()] = of.observe()
				}
				r, err := v.observe().regret(context.Background(), truths[of.String()])
				if err != nil {
					fmt.Fprintln(stderr, "corpora:", v, err)
					return 1
				}
				x := r.cost / r.best
				sum, n, missing = sum+x, n+1, missing+len(r.missing)
				if x > worst {
					worst, who = x, v.app.name
				}
				if verbose && !held {
					fmt.Fprintf(stdout, "%s: %.3f; not carried over %v; without an answer %v\n", v, x, r.lost, r.missing)
					for _, text := range r.dearer {
						fmt.Fprintln(stdout, "    ", text)
					}
				}
			}
			if n > 0 {
				fmt.Fprintf(stdout, "| %s | %.2f; %.2f (%s) | %d |\n", line.name, sum/n, worst, who, missing)
			}
		}
	}
	return 0
}

func matches(name, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// line is a line of the table: the mean of some cases.
type line struct {
	name  string
	cases []variant
}

// lines are those of the tuned cases, or of those that were kept from tuning.
func lines(held bool) []line {
	seeds, mark := tunedSeeds, "tuned"
	if held {
		seeds, mark = heldSeeds, "kept back"
	}
	var out []line
	add := func(name string, make func(app *application, seed uint64) variant) {
		l := line{name: name + ", " + mark}
		for i := range applications {
			for _, seed := range seeds {
				if held || !applications[i].keptFromTuning {
					l.cases = append(l.cases, make(&applications[i], seed))
				}
			}
		}
		out = append(out, l)
	}
	for _, d := range designs {
		add(d, func(app *application, seed uint64) variant { return variant{app, d, false, 8, seed} })
	}
	for _, threads := range []int{1, 64, 512} {
		add(fmt.Sprintf("normalised, %d threads", threads), func(app *application, seed uint64) variant {
			return variant{app, "normalised", false, threads, seed}
		})
	}
	add("normalised, DAO", func(app *application, seed uint64) variant { return variant{app, "normalised", true, 8, seed} })
	add("denormalised, DAO, 64 threads", func(app *application, seed uint64) variant { return variant{app, "denormalised", true, 64, seed} })
	for _, app := range []*application{&market, &workspace, &depot, &rides} {
		for _, seed := range seeds {
			if !held && app.keptFromTuning {
				continue
			}
			out = append(out,
				line{"grown: " + app.name + ", " + mark, []variant{{app, "grown", false, 8, seed}}},
				line{"grown: " + app.name + ", odd names, " + mark, []variant{{app, "grown, odd", false, 8, seed}}},
				line{"grown: " + app.name + ", random names, " + mark, []variant{{app, "grown, random", false, 8, seed}}},
				line{"grown: " + app.name + ", 64 threads, " + mark, []variant{{app, "grown", false, 64, seed}}},
			)
		}
	}
	return out
}

// String is a line of the table.
func (s *score) String() string {
	return fmt.Sprintf("%.2f; %.2f | %.2f | %.2f; %.2f; %.2f | %.2f", s.byKey.f1(), s.byTables.f1(), s.relationships.f1(),
		s.feeds.precision(), s.feeds.recall(), s.used.recall(), share(s.weight, s.weights))
}
