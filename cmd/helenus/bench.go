package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/bench/verify"
)

// exitDifferences is the exit code of `helenus bench verify` where something differs.
const exitDifferences = 3

func benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Run designs on a real Cassandra", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(benchVerifyCommand())
	return c
}

// benchVerifyFlags are what `helenus bench verify` is asked for.
type benchVerifyFlags struct {
	verify.Options
	connection
	from uint64
	many int
	json bool
}

func benchVerifyCommand() *cobra.Command {
	var f benchVerifyFlags
	c := &cobra.Command{
		Use: "verify [FILE | random:NUMBER]...", Short: "Compare what designs answer, and hold after updates, with a reference",
		Long: `Verify makes small data for each workload, designs tables for it in several ways, loads them into a real Cassandra, and
compares every query's answer, by several plans, with what SQLite says of the same data. Then it applies random updates to both,
and compares every table with the one computed from scratch. A difference is reduced to the update that made it, and shown with
the arguments that show it again. It works in keyspaces of its own, called helenus_verify_..., and drops them, those that an
earlier run has left behind, too.

FILE holds a model and a workload, as for helenus design. random:NUMBER is a random workload of the whole language; --random
adds many. docs/verify.md tells more.

Exit codes: 0 nothing differs, 3 something does, 1 failed or interrupted, 2 wrong usage, 5 Cassandra is not there.`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	f.connection.flags(flags)
	flags.Uint64Var(&f.Seed, "seed", 1, "what is drawn: data, parameters, updates, random designs")
	flags.IntVar(&f.many, "random", 0, "random workloads besides those named")
	flags.Uint64Var(&f.from, "random-from", 1, "the number of the first of them")
	flags.StringVar(&f.Mix, "mix", "", "the mix of weights, for files that have any; default: the statements of all of them")
	flags.StringSliceVar(&f.Designs, "designs", nil, "ours, given (all schemas of the file), the name of one of them, random, random:NUMBER; default: ours,given,random")
	flags.IntVar(&f.Random, "random-designs", 1, "random designs of each workload")
	flags.IntVar(&f.Rows, "rows", 300, "entities of the largest set of a FILE; smaller ones are shrunk less. Random workloads are small already")
	flags.IntVar(&f.Draws, "draws", 10, "parameters drawn for each query")
	flags.IntVar(&f.Updates, "updates", 50, "updates of each design")
	flags.IntVar(&f.Every, "every", 10, "updates between comparisons of tables; what differs is reduced to one update")
	f.Choose, f.Wait = 5*time.Second, 2*time.Minute
	flags.Var((*span)(&f.Choose), "choose", "how long the optimiser may look for a design")
	flags.Var((*span)(&f.Wait), "wait", "how long to wait for a Cassandra that has gone away; what it was doing is begun anew")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *benchVerifyFlags) run(c *cobra.Command, args []string) error {
	reached, err := f.sessions()
	if err != nil {
		return err
	}
	if f.Cluster, err = reached.cluster("", 2, 30*time.Second); err != nil {
		return usageError{err}
	}
	f.Cluster.PoolConfig.HostSelectionPolicy = nil // each session has its own: a token-aware one is for one session
	for what, n := range map[string]int{"--random": f.many, "--random-designs": f.Random, "--draws": f.Draws, "--updates": f.Updates} {
		if n < 0 {
			return usageError{fmt.Errorf("%s: %d is less than none", what, n)}
		}
	}
	if f.Every < 1 || f.Rows < 2 {
		return usageError{errors.New("--every takes 1 or more, --rows 2 or more")}
	}
	f.Names = args
	for n := range uint64(f.many) { // #nosec G115 -- not negative
		f.Names = append(f.Names, "random:"+strconv.FormatUint(f.from+n, 10))
	}
	show := &verifyProgress{out: c.ErrOrStderr(), every: often}
	f.Progress = show.tell
	report, err := verify.Run(c.Context(), f.Options)
	if report != nil {
		print := report.Text
		if f.json {
			print = report.JSON
		}
		if err := print(c.OutOrStdout()); err != nil {
			return err
		}
	}
	var input *verify.InputError
	switch {
	case errors.As(err, &input):
		return usageError{err}
	case errors.Is(err, verify.ErrUnreachable):
		return designError{err, exitUnreachable}
	case err != nil:
		return err
	case !report.Clean():
		return designError{fmt.Errorf("%d differences", len(report.Differences)), exitDifferences}
	case report.Interrupted:
		return errors.New("interrupted before all was compared")
	}
	return nil
}

// verifyProgress tells how far a run is, every so often.
type verifyProgress struct {
	out   io.Writer
	every time.Duration
	last  time.Duration
	said  string
}

// tell takes what a run says.
func (p *verifyProgress) tell(x verify.Progress) {
	if x.Waiting != "" {
		if p.said != x.Waiting {
			fmt.Fprintf(p.out, "%v: %s, design %s: waiting for Cassandra, then it begins anew: %s\n", x.Elapsed.Round(time.Second), x.Workload, x.Design, x.Waiting)
		}
		p.said = x.Waiting
		return
	}
	if x.Elapsed < p.last+p.every {
		return
	}
	p.last, p.said = x.Elapsed, ""
	left := ""
	if x.Left > 0 {
		left = fmt.Sprintf(", about %v left", x.Left.Round(time.Second))
	}
	fmt.Fprintf(p.out, "%v: design %d of %d (%s, %s), %d answers and %d updates, %d differences%s\n",
		x.Elapsed.Round(time.Second), x.Done+1, x.Of, x.Workload, x.Design, x.Answers, x.Updates, x.Differences, left)
}
