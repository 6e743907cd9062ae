// Command scale measures what a round of advice takes on a cluster of many statements and tables (docs/results/scale.md): processor time and the greatest memory of the
// child process that works it out (advisor/round), as `helenus run` starts it, with its solvers.
//
//	make bench-scale                                                     the table
//	bin/scale -statements 5000 -tables 500 -keyspaces 10 -profile cpu    one size, in this process, with a profile
//
// The cluster is made up (workload.go), the same for the same seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

func main() {
	coin.ServeIfWorker()
	round.ServeIfWorker(kinds.All(kinds.Settings{}))
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run prints the table, or the figures of one size, and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	statements := flags.Int("statements", 0, "only this many, over -tables in -keyspaces; 0: the table")
	tables := flags.Int("tables", 500, "tables")
	keyspaces := flags.Int("keyspaces", 10, "keyspaces")
	seed := flags.Uint64("seed", 1, "of the made-up cluster")
	composed := flags.Bool("composed", false, "with -statements: keys are made of others")
	inference := flags.Bool("inference", false, "only the model, in this process")
	profile := flags.String("profile", "", "work in this process, and write a profile of its processor time to this file")
	if flags.Parse(args) != nil {
		return 2
	}
	sizes := []size{
		{625, 63, 2, *seed, false}, {1250, 125, 3, *seed, false}, {2500, 250, 5, *seed, false}, {5000, 500, 10, *seed, false}, {5000, 500, 1, *seed, false},
		{1250, 125, 3, *seed, true}, {5000, 500, 10, *seed, true}, {5000, 500, 1, *seed, true},
	}
	if *statements > 0 {
		sizes = []size{{*statements, *tables, *keyspaces, *seed, *composed}}
	}
	if *profile != "" {
		if err := profiled(sizes[0], *profile, *inference); err != nil {
			fmt.Fprintln(stderr, "scale:", err)
			return 1
		}
		return 0
	}
	if *inference {
		fmt.Fprintln(stdout, "| statements | tables | keyspaces | keys of others | inference, processor s |")
		fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- |")
		for _, s := range sizes {
			used, err := s.inferred()
			if err != nil {
				fmt.Fprintln(stderr, "scale:", err)
				return 1
			}
			fmt.Fprintf(stdout, "| %d | %d | %d | %t | %.2f |\n", s.statements, s.tables, s.keyspaces, s.composed, used.Seconds())
		}
		return 0
	}
	fmt.Fprintln(stdout, "| statements | tables | keyspaces | keys of others | processor s | greatest MB | advised |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range sizes {
		t, err := s.taken()
		if err != nil {
			fmt.Fprintln(stderr, "scale:", err)
			return 1
		}
		fmt.Fprintf(stdout, "| %d | %d | %d | %t | %.1f | %.0f | %d |\n", s.statements, s.tables, s.keyspaces, s.composed, t.processor.Seconds(), float64(t.memory)/1e6, len(t.advice.Recommendations))
	}
	return 0
}

// input is what a round is made of. The limits are those of advisor.Options.
func (s size) input() recommend.Input {
	snapshot, sc, stats := s.cluster()
	return recommend.Input{
		Snapshot: snapshot, Schema: sc, Statistics: stats, Nodes: 3, Driver: "GoCQL", Judge: kinds.All(kinds.Settings{}), Solver: solve.New(solve.Config{}),
		Limits: solve.Limits{Nodes: 2000, Gap: 0.001, Wall: 30 * time.Second}, At: infertest.Start.Add(time.Hour),
	}
}

// taken is what a round took.
type taken struct {
	processor time.Duration // of the child and its solvers
	memory    int64         // bytes, of whichever process had most so far
	advice    *recommend.Advice
}

// taken works out a round in a child process.
func (s size) taken() (*taken, error) {
	in := s.input()
	if err := forgetPeak(); err != nil {
		return nil, err
	}
	before := children()
	a, err := round.New(round.Config{}).Make(context.Background(), in)
	if err != nil {
		return nil, err
	}
	after := children()
	return &taken{processor(after) - processor(before), after.Maxrss << 10, a}, nil
}

// forgetPeak begins this process's greatest memory anew: a child process begins with its parent's.
func forgetPeak() error {
	debug.FreeOSMemory()
	const peak = "5" // proc(5), clear_refs
	return os.WriteFile("/proc/self/clear_refs", []byte(peak), 0)
}

// children is what child processes have used that have ended.
func children() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) // it can only fail for another address or word
	return u
}

// inferred is what a model takes.
func (s size) inferred() (time.Duration, error) {
	snapshot, sc, stats := s.cluster()
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before) // it can only fail for another address or word
	if _, err := infer.WithCorrections(snapshot, sc, stats, nil); err != nil {
		return 0, err
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return processor(after) - processor(before), nil
}

func processor(u syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// profiled works out a round in this process, or only the model.
func profiled(s size, file string, inference bool) error {
	in := s.input()
	f, err := os.Create(file) // #nosec G304 -- named by who runs it
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	if inference {
		_, err = infer.WithCorrections(in.Snapshot, in.Schema, in.Statistics, nil)
	} else {
		_, err = recommend.Make(context.Background(), in)
	}
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	return f.Close()
}
