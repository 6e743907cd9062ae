// Command rank measures the best options of a workload (advisor/options), and our own design for it, on a real Cassandra, and says whether the computed ranking of them
// is the measured one: what seed 000 asks to be done with the best five options (B-52).
//
//	bin/rank -contact-point 127.0.0.1:9042 -rows 1000 -for 15s examples/designs/twissandra.yaml
//
// Before, it measures what metrics 3a and 3b are made of, each by itself (costs.go), and the options are ranked by that. Each design gets a keyspace of its own,
// with tables filled from the same made-up data (bench/data, bench/load), and plans, the
// best that our planner finds over its tables, run by rewrite/exec. One client sends the same requests to all designs in turn
// (bench/contest). A statement for which some design has no plan is left out for all, and named. Designs are ranked by the
// mean time of a request, weighted as the workload says. Keyspaces are dropped at the end, also after an interrupt or a failure, and after a kill by the next run (rewrite/scratch).
//
// It imports advisor/{cost,design,model,options,solve,workload}, bench/{contest,data,load} and rewrite/exec.
//
// Thin: one client and one node, small data that is cached, so reads of many rows weigh less than on disks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/words"
)

func main() {
	coin.ServeIfWorker()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// settings are what the flags say.
type settings struct {
	Options
	file, mix, score string
	top              int
	json             bool
}

// execute is the whole program. Its exit codes: 0 done, 1 failed or interrupted, 2 wrong usage, 5 no Cassandra.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := read(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "rank:", err)
		return 2
	}
	if !s.json {
		s.Progress = func(line string) { fmt.Fprintln(stderr, line) }
	}
	switch err = s.run(ctx, stdout); {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		err = errors.New("interrupted; the keyspaces are dropped")
	}
	fmt.Fprintln(stderr, "rank:", err)
	if errors.Is(err, ErrUnreachable) {
		return 5
	}
	return 1
}

// read turns arguments into settings.
func read(args []string, stderr io.Writer) (*settings, error) {
	var s settings
	flags := flag.NewFlagSet("rank [flags] FILE", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.Point, "contact-point", "127.0.0.1:9042", "HOST:PORT of a Cassandra node; any will do: the keyspaces helenus_options_... are dropped at the end")
	flags.Float64Var(&s.Rows, "rows", 2000, "entities of the most frequent kind; others are shrunk as much")
	flags.DurationVar(&s.For, "for", 30*time.Second, "time for the requests")
	flags.Uint64Var(&s.Seed, "seed", 1, "of the data, the parameters and the order of options")
	flags.IntVar(&s.top, "top", options.Top, "options to measure, besides the design")
	flags.StringVar(&s.score, "score", "simple", "what to rank by: simple or weighted, as helenus options does")
	flags.StringVar(&s.mix, "mix", "", "the mix of weights; default: what the file says")
	flags.BoolVar(&s.json, "json", false, "print what was measured as JSON")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch s.file = flags.Arg(0); {
	case flags.NArg() != 1:
		return nil, errors.New("it takes one FILE, after the flags")
	case s.Rows < 1 || math.IsNaN(s.Rows) || math.IsInf(s.Rows, 0):
		return nil, fmt.Errorf("-rows: %g is not a number of entities", s.Rows)
	case s.For <= 0:
		return nil, fmt.Errorf("-for: %v is no time to measure in", s.For)
	case s.top < 1:
		return nil, fmt.Errorf("-top: %d is not a number of options", s.top)
	case s.score != "simple" && s.score != "weighted":
		return nil, fmt.Errorf("-score: %w", &model.NameError{What: "score", Name: s.score, Known: []string{"simple", "weighted"}})
	}
	return &s, nil
}

// run ranks, measures and prints. What was measured before an error or an interrupt is printed, too.
func (s *settings) run(ctx context.Context, stdout io.Writer) (err error) {
	data, err := model.ReadFile(s.file)
	if err != nil {
		return err
	}
	w, err := workload.Read(s.file, data)
	if err != nil {
		return err
	}
	if s.mix != "" {
		if err := w.SetMix(s.mix); err != nil {
			return fmt.Errorf("-mix: %w", err)
		}
	}
	if w = options.Supported(w); len(w.Statements) == 0 {
		return fmt.Errorf("%s: no statement that options are made for", s.file)
	}
	own, err := design.Choose(ctx, w, design.Options{Solver: solve.New(solve.Config{}), Allow: design.NoLookUps})
	if err != nil {
		return err
	}
	b, err := Open(s.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	costs, err := b.Costs(ctx)
	if err != nil {
		return err
	}
	c := options.Config{Indexes: 1, Given: []options.Given{options.FromDesign("design", own)}, Costs: perKey(costs)}
	if s.score == "weighted" {
		c.Score = options.EvenWeights
	}
	r, err := options.Find(ctx, w, c)
	if err != nil {
		return err
	}
	m, err := b.Measure(ctx, w, r.Best(s.top))
	if m == nil || len(m.Options) == 0 {
		return err
	}
	if m.Costs = &costs; err != nil {
		m.Incomplete = err.Error()
	}
	if s.json {
		return errors.Join(err, words.JSON(stdout, m))
	}
	return errors.Join(err, r.Text(stdout, s.top), m.Text(stdout))
}
