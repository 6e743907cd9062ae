// Command rubis repeats the experiment of seed 003's section 9 on a real Cassandra: RUBiS's requests over the tables that
// Helenus designs, over the expert's and over the normalised ones, side by side; and the EasyAntiCheat workload over our tables
// and over those of figure 16. It writes figures, charts and the facts that they depend on into docs/results.
//
//	make bench-rubis SCALE=10           RUBiS, entity counts times 10 (20,000 users), and EAC
//	bin/rubis -smoke                    all of it in seconds, on next to no data
//
// In order: a Cassandra of its own (or -contact-point), the cost model calibrated on it (or -parameters), the designs, their
// tables filled, the measurements, and how well the cost model foretold a dozen and more designs. Ctrl-C stops it at any time:
// what was measured so far is written, marked incomplete, and no keyspace is left behind.
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
	flag.StringVar(&o.workloads, "workloads", "rubis,eac", "which to run")
	flag.StringVar(&o.files, "files", "examples/designs", "folder of the workload files")
	flag.Float64Var(&o.scale, "scale", 1, "entity counts of RUBiS are multiplied by this; 1 is 2,000 users")
	flag.Float64Var(&o.eacScale, "eac-scale", 0.03, "the same of EAC; 1 is 4,000,000 states")
	flag.Uint64Var(&o.seed, "seed", 1, "of the data, the parameters, and the order of designs")
	flag.DurationVar(&o.measure, "for", 4*time.Minute, "time for the measurements of RUBiS; a third of it for those of EAC")
	flag.DurationVar(&o.study, "study", 100*time.Second, "time for the measurements behind the prediction quality; 0: none")
	flag.Float64Var(&o.studyScale, "study-scale", 0.3, "entity counts there")
	flag.IntVar(&o.most, "most", 1000, "a kind of request is measured so often at most")
	flag.IntVar(&o.warmUp, "warm-up", 5, "and so often at first without being counted")
	flag.IntVar(&o.trace, "trace", 10, "executions of each kind of request that Cassandra traces after the measurements, to say where their time goes; 0: none")
	flag.IntVar(&o.parallel, "parallel", 0, "CQL requests of one step on their way at once; 0: as the executor does in production")
	flag.StringVar(&o.point, "contact-point", "", "host:port of a Cassandra; default: start one")
	flag.StringVar(&o.heap, "heap", "3g", "Java heap of the Cassandra that is started")
	flag.StringVar(&o.parameters, "parameters", "", "file of the cost model's parameters (helenus calibrate); default: calibrate now")
	flag.BoolVar(&o.plain, "uncalibrated", false, "take the cost model's defaults")
	flag.DurationVar(&o.calibration, "calibration", time.Minute, "time for the calibration")
	flag.StringVar(&o.out, "out", "docs/results", "folder for the report")
	flag.BoolVar(&o.smoke, "smoke", false, "everything in seconds, on next to no data")
	flag.StringVar(&o.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.Parse()
	if o.command == "" {
		o.command = strings.Join(os.Args, " ")
	}
	if o.smoke {
		o.small()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o, os.Stdout)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "rubis: interrupted; what was measured so far is in", o.out)
		stop()
		os.Exit(1) //nolint:gocritic // run has cleaned up
	case err != nil:
		var misuse *usageError
		status := 1
		if errors.As(err, &misuse) {
			status = 2
		}
		fmt.Fprintln(os.Stderr, "rubis:", err)
		stop()
		os.Exit(status)
	}
}

// options are what the flags say.
type options struct {
	workloads, files            string
	scale, eacScale, studyScale float64
	seed                        uint64
	measure, study, calibration time.Duration
	most, parallel, warmUp      int
	trace                       int
	point, heap, parameters     string
	plain, smoke                bool
	out, command                string
}

// small is for a test that everything works.
func (o *options) small() {
	o.smoke = true
	o.scale, o.eacScale, o.studyScale = 0.01, 0.0005, 0.005
	o.measure, o.study, o.most = 3*time.Second, 2*time.Second, 3
	o.heap, o.warmUp, o.trace = "768m", 1, 1
	if o.parameters == "" {
		o.plain = true
	}
}

// usageError is a mistake of whoever runs it.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }
