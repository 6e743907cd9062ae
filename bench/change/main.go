package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/bench/product"
)

// settings are what the flags say, and how much is measured.
type settings struct {
	helenus, heap, out, command string
	tolerance                   float64 // by so much a figure may miss what it must be
	reportOnly                  bool
	say                         func(format string, args ...any)

	rows                               int // that the change of stays serves
	heavyStays                         int // of each heavy guest: rows of a served read
	turns, plainOps, writeOps, readOps int
	lookedUp                           int // columns of the wide table, each with a change
	counted                            int // writes of each kind whose requests are counted
	quiet                              time.Duration
	kills                              int
}

// full, quick and smoke are how much is measured; smoke is for the test.
func (s *settings) full() {
	s.rows, s.heavyStays, s.turns, s.plainOps, s.writeOps, s.readOps, s.lookedUp, s.counted, s.quiet, s.kills = 20_000, 48, 11, 4000, 1000, 500, 10, 9, time.Second, 5
}

func (s *settings) quickly() {
	s.rows, s.heavyStays, s.turns, s.plainOps, s.writeOps, s.readOps, s.lookedUp, s.counted, s.quiet, s.kills = 20_000, 48, 5, 2000, 400, 200, 10, 5, 300*time.Millisecond, 3
}

func main() {
	var s settings
	flag.StringVar(&s.helenus, "helenus", "bin/helenus", "the program to measure")
	flag.StringVar(&s.heap, "heap", "1g", "Java heap of the Cassandra that is started")
	flag.StringVar(&s.out, "out", "", "folder for the report; default: docs/results, with -quick bin/results")
	flag.StringVar(&s.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.Float64Var(&s.tolerance, "tolerance", 0.1, "share by which a figure may miss what it must be before the command fails")
	flag.BoolVar(&s.reportOnly, "report-only", false, "exit with 0 also where a figure misses what it must be")
	quick := flag.Bool("quick", false, "fewer and shorter rounds")
	flag.Parse()
	if flag.NArg() > 0 || s.tolerance < 0 {
		fmt.Fprintln(os.Stderr, "change: it takes flags only, and -tolerance 0 or more; see -help")
		os.Exit(2)
	}
	out := "docs/results"
	if s.full(); *quick {
		s.quickly()
		out = "bin/results"
	}
	if s.out == "" {
		s.out = out
	}
	if s.command == "" {
		s.command = strings.Join(os.Args, " ")
	}
	began := time.Now()
	s.say = func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "change:", err)
		os.Exit(1)
	}
}

// measure makes the report. It is an error if a figure misses what it must be, unless only the report is wanted.
func measure(ctx context.Context, s settings) (err error) {
	r := report{Command: s.command, Started: time.Now().UTC(), Processors: runtime.NumCPU(), Heap: s.heap, Load: product.LoadAverage(),
		Changes: s.lookedUp + 1, Rows: s.rows, Rounds: s.turns, Tolerance: s.tolerance}
	w, err := start(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop(err)) }()
	if err := w.direct.Query("SELECT release_version FROM system.local").WithContext(ctx).Scan(&r.Cassandra); err != nil {
		return err
	}
	if err := w.change(ctx); err != nil {
		return err
	}
	real, mock, err := w.processor(ctx)
	if err != nil {
		return err
	}
	stamped, err := w.count(ctx, w.with.stamped)
	if err != nil {
		return err
	}
	unstamped, err := w.count(ctx, w.with.unstamped)
	if err != nil {
		return err
	}
	with, direct, err := w.throughput(ctx)
	if err != nil {
		return err
	}
	restarts, err := w.restart(ctx)
	if err != nil {
		return err
	}
	r.processor(real, mock, s.lookedUp, s.heavyStays)
	r.requests(stamped, unstamped)
	r.throughput(with, direct, s.lookedUp)
	r.restarts(restarts)
	r.Seconds = time.Since(r.Started).Seconds()
	if err := errors.Join(r.write(s.out), r.table(os.Stdout)); err != nil {
		return err
	}
	if missed := r.missed(); missed > 0 && !s.reportOnly {
		return fmt.Errorf("%d of %d figures miss what they must be by more than %.0f %%", missed, len(r.Figures), 100*s.tolerance)
	}
	return nil
}
