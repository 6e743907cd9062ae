// Command advisor measures the optimiser: the workloads of seed 003 against what NoSE finds for them, and random ones of
// growing size (N-61, bench/generate), and denser ones than those.
//
//	make bench-advisor            the table, each line as soon as it is measured; QUICK=1: smaller sizes and fewer seeds
//	bin/advisor -only rubis -json
//
// Each case runs in a process of its own, this program once more (run.go), on one core (GOMAXPROCS=1); so its time and its
// peak memory are its own. The solver's child is measured apart: its memory is not the process's. What must be quick is judged by
// processor time, which is the same beside other work. Figures of NoSE are those
// of docs/design/nose.md and of seed 003's section 9: other machines, the same workloads.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/internal/words"
)

func main() {
	coin.ServeIfWorker()
	if os.Getenv(caseVariable) != "" {
		os.Exit(serve(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run measures all cases and returns the exit status: 1 if a figure is not what it must be.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("advisor", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "random workloads of scales 1 and 2 with three seeds only")
	asJSON := flags.Bool("json", false, "print the results as JSON")
	only := flags.String("only", "", "measure only the cases whose name contains this")
	designs := flags.String("designs", "examples/designs", "the folder of the workloads")
	if flags.Parse(args) != nil {
		return 2
	}
	scales, seeds := 4, 10
	if *quick {
		scales, seeds = 2, 3
	}
	cases := append(published(*designs), random("random", false, scales, seeds)...)
	cases = append(cases, random("dense", true, min(scales, 2), min(seeds, 3))...)
	cases = slices.DeleteFunc(cases, func(c kase) bool { return !strings.Contains(c.Name, *only) })
	if !*asJSON {
		heading(stdout)
	}
	var results []result
	printed := 0 // results
	for i, c := range cases {
		_, _ = fmt.Fprintf(stderr, "measuring %d of %d: %s %s seed %d\n", i+1, len(cases), c.Name, c.Cost, c.Seed)
		r, err := measure(ctx, c)
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "advisor: %s: %v\n", c.Name, err)
			return 1
		}
		results = append(results, r)
		if !*asJSON && (c.Scale == 0 || i+1 == len(cases) || cases[i+1].Name != c.Name) { // a size's seeds are one line
			row(stdout, results[printed:])
			printed = len(results)
		}
	}
	if *asJSON {
		if err := words.JSON(stdout, results); err != nil {
			_, _ = fmt.Fprintln(stderr, "advisor:", err)
			return 1
		}
	} else {
		growth(stdout, results)
	}
	for _, r := range results {
		if r.failed() != "" {
			return 1
		}
	}
	return 0
}
