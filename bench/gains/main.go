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

	"github.com/helenus-db/helenus/bench/product"
)

type settings struct {
	helenus, heap, out, command string
	reportOnly                  bool
	seed                        uint64
	sizes                       []int // of the tables, in rows
	warm, learned, turns        int   // reads of each statement: before, while it is learned, and measured
	patience                    time.Duration
	quiet                       time.Duration // for which is waited at most until the machine is at rest; 0: not at all
	say                         func(format string, args ...any)
}

func main() {
	s := settings{warm: 100, learned: 30, turns: 31, patience: 30 * time.Minute, quiet: 5 * time.Minute}
	flag.StringVar(&s.helenus, "helenus", "bin/helenus", "the program to measure")
	flag.StringVar(&s.heap, "heap", "1g", "Java heap of the Cassandra that is started")
	flag.StringVar(&s.out, "out", "", "folder for the report; default: docs/results, with -quick bin/results")
	flag.StringVar(&s.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.Uint64Var(&s.seed, "seed", 31, "of the values that are read")
	flag.BoolVar(&s.reportOnly, "report-only", false, "exit with 0 also where a figure misses what it must be")
	quick := flag.Bool("quick", false, "four tables")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "gains: it takes flags only; see -help")
		os.Exit(2)
	}
	out := "docs/results"
	if s.sizes = whole; *quick {
		s.sizes, out = few, "bin/results"
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
	_, err := measure(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gains:", err)
		os.Exit(1)
	}
}

// measure goes through all changes, and makes the report.
func measure(ctx context.Context, s settings) (r *report, err error) {
	began := time.Now()
	w, err := start(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop(err)) }()
	all := w.targets()
	for _, step := range []func(context.Context, []*target) error{w.rest, w.learn, w.carryOut, w.rest} {
		if err := step(ctx, all); err != nil {
			return nil, err
		}
	}
	earlier, err := w.served(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.compare(ctx, all); err != nil {
		return nil, err
	}
	served, err := w.served(ctx)
	if err != nil {
		return nil, err
	}
	for id, n := range earlier {
		served[id] -= n
	}
	var version string
	if err := w.direct.Query("SELECT release_version FROM system.local").WithContext(ctx).Scan(&version); err != nil {
		return nil, err
	}
	r = judged(all, served, s.turns+2)
	r.Command, r.Started, r.Cassandra, r.Seconds, r.Load = s.command, began.UTC(), version, time.Since(began).Seconds(), product.LoadAverage()
	r.wanted = min(mustChanges, len(all)*5/6)
	if err := r.write(s.out); err != nil {
		return nil, err
	}
	if list := r.missed(); len(list) > 0 && !s.reportOnly {
		return r, fmt.Errorf("missed: %s", strings.Join(list, ", "))
	}
	return r, nil
}
