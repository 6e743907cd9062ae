// Command calendar lives through the calendar of a workload over time on a real Cassandra (seed 004, section 7): at each step it
// answers the statements from the tables that package timeline has chosen for it, while the tables of the next step are made
// and filled out of them; then it changes over, and drops what is no longer needed. The three static baselines (the best tables
// for the mean weights, for those of the first step, and of the last) answer the same statements side by side, and so does the ideal, whose tables of every step are
// there from the begin on.
//
//	make bench-calendar                 TPC-H with cycles, 20,000 line items, twelve steps
//	bin/calendar -file evolution        another pattern
//
// In order: the calendar and the baselines, designed for the data that there are; a Cassandra of its own (or -contact-point); the
// tables of the first step and of the baselines, filled; then the steps. At each, every statement's answers are compared
// with those of SQLite (package reference), so that W-53 is tested and not only promised. What a step costs is the mean response
// time of each statement times its weight in the step. It writes figures and a chart into docs/results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func main() {
	coin.ServeIfWorker()
	var o options
	flag.StringVar(&o.file, "file", "cycles", "cycles, evolution or spikes: the pattern of seed 004; or a workload file with weights over time")
	flag.StringVar(&o.files, "files", "examples/designs", "folder of the patterns' workload files")
	flag.Float64Var(&o.rows, "rows", 20_000, "entities of the largest set; the others are shrunk with it")
	flag.Float64Var(&o.share, "space", 0.8, "of what the best tables for the mean weights take (W-45); 0: no limit")
	flag.Uint64Var(&o.seed, "seed", 1, "of the data and the parameters")
	flag.DurationVar(&o.measure, "for", 6*time.Minute, "time for the measurements of all steps")
	flag.DurationVar(&o.limit, "limit", 0, "time to look for the calendar, and for each static design; 0: as long as it takes, which the same data make the same work")
	flag.IntVar(&o.checks, "checks", 3, "answers of each statement compared at each step")
	flag.BoolVar(&o.exact, "exact", false, "look at all candidates at once")
	flag.StringVar(&o.point, "contact-point", "", "host:port of a Cassandra; default: start one")
	flag.StringVar(&o.heap, "heap", "3g", "Java heap of the Cassandra that is started")
	flag.StringVar(&o.parameters, "parameters", "", "file of the cost model's parameters (helenus calibrate); default: those for one node")
	flag.StringVar(&o.kept, "calendar", "", "file that the calendar and the baselines are kept in: read if it is there, else written; to design once and run again")
	flag.StringVar(&o.out, "out", "docs/results", "folder for the report")
	flag.BoolVar(&o.smoke, "smoke", false, "all of it in a minute, on next to no data")
	flag.StringVar(&o.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.Parse()
	if o.command == "" {
		o.command = strings.Join(os.Args, " ")
	}
	if o.smoke {
		o.rows, o.measure, o.heap, o.checks = 300, 12*time.Second, "768m", 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	var misuse *usageError
	switch {
	case interrupted:
		fmt.Fprintln(os.Stderr, "calendar: interrupted; what was measured so far is in", o.out)
		os.Exit(1)
	case errors.As(err, &misuse):
		fmt.Fprintln(os.Stderr, "calendar:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "calendar:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	file, files, point, heap, parameters, kept, out, command string
	rows, share                                              float64
	seed                                                     uint64
	measure, limit                                           time.Duration
	checks                                                   int
	exact, smoke                                             bool
}

// usageError is a mistake of whoever runs it.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }
