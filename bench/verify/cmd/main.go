// Command verify compares what designs answer, and hold after updates, with a reference, on a real Cassandra (bench/verify).
//
//	bin/verify -contact-point 127.0.0.1:9042 -random 20 examples/designs/rubis.yaml
//
// FILE holds a model and a workload, as for helenus design. random:NUMBER is a random workload of the whole language; -random adds many. docs/verify.md tells more.
//
// Exit codes: 0 nothing differs, 3 something does, 1 failed or interrupted, 2 wrong usage, 5 Cassandra is not there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/bench/verify"
)

const (
	exitFailed      = 1 // or interrupted
	exitUsage       = 2
	exitDifferences = 3
	exitUnreachable = 5
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
	verify.Options
	point string
	from  uint64
	many  int
	json  bool
}

// read turns arguments into settings.
func read(args []string, stderr io.Writer) (*settings, error) {
	var s settings
	designs := ""
	flags := flag.NewFlagSet("verify [flags] [FILE | random:NUMBER]...", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.point, "contact-point", "127.0.0.1:9042", "HOST:PORT of a Cassandra node")
	flags.Uint64Var(&s.Seed, "seed", 1, "what is drawn: data, parameters, updates, random designs")
	flags.IntVar(&s.many, "random", 0, "random workloads besides those named")
	flags.Uint64Var(&s.from, "random-from", 1, "the number of the first of them")
	flags.StringVar(&s.Mix, "mix", "", "the mix of weights, for files that have any; default: the statements of all of them")
	flags.StringVar(&designs, "designs", "", "ours, given (all schemas of the file), the name of one of them, random, random:NUMBER, parted by commas; default: ours,given,random")
	flags.IntVar(&s.Random, "random-designs", 1, "random designs of each workload")
	flags.IntVar(&s.Rows, "rows", 300, "entities of the largest set of a FILE; smaller ones are shrunk less. Random workloads are small already")
	flags.IntVar(&s.Draws, "draws", 10, "parameters drawn for each query")
	flags.IntVar(&s.Updates, "updates", 50, "updates of each design")
	flags.IntVar(&s.Every, "every", 10, "updates between comparisons of tables; what differs is reduced to one update")
	flags.DurationVar(&s.Choose, "choose", 5*time.Second, "how long the optimiser may look for a design")
	flags.DurationVar(&s.Wait, "wait", 2*time.Minute, "how long to wait for a Cassandra that has gone away; what it was doing is begun anew")
	flags.BoolVar(&s.json, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	for what, n := range map[string]int{"random": s.many, "random-designs": s.Random, "draws": s.Draws, "updates": s.Updates} {
		if n < 0 {
			return nil, fmt.Errorf("-%s: %d is less than none", what, n)
		}
	}
	if s.Every < 1 || s.Rows < 2 || s.Wait < 0 || s.Choose < 0 {
		return nil, errors.New("-every takes 1 or more, -rows 2 or more, -wait and -choose no less than no time")
	}
	if designs != "" {
		s.Designs = strings.Split(designs, ",")
	}
	s.Names = flags.Args()
	for n := range uint64(s.many) { // #nosec G115 -- not negative
		s.Names = append(s.Names, "random:"+strconv.FormatUint(s.from+n, 10))
	}
	var err error
	s.Cluster, err = cluster(s.point)
	return &s, err
}

// cluster says how to connect to the node at an address.
func cluster(point string) (*gocql.ClusterConfig, error) {
	host, text, err := net.SplitHostPort(point)
	if err != nil {
		return nil, fmt.Errorf("-contact-point %q is not host:port: %w", point, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("-contact-point %s: its port is no number", point)
	}
	c := gocql.NewCluster(host)
	c.Port, c.ProtoVersion, c.NumConns = port, 4, 2
	c.Timeout, c.ConnectTimeout, c.ReconnectInterval = 30*time.Second, 5*time.Second, time.Second
	c.WriteCoalesceWaitTime = 0 // a request goes out at once: gocql would wait for others to send along
	c.Logger = quiet{}
	return c, nil
}

// quiet keeps gocql's remarks out of the report: what matters comes back as an error.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// execute is the whole program, and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := read(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "verify:", err)
		return exitUsage
	}
	show := &progressText{out: stderr, every: 2 * time.Second}
	s.Progress = show.tell
	report, err := verify.Run(ctx, s.Options)
	if report != nil {
		print := report.Text
		if s.json {
			print = report.JSON
		}
		err = errors.Join(err, print(stdout))
	}
	var input *verify.InputError
	code := exitFailed
	switch {
	case errors.As(err, &input):
		code = exitUsage
	case errors.Is(err, verify.ErrUnreachable):
		code = exitUnreachable
	case err != nil:
	case !report.Clean():
		code, err = exitDifferences, fmt.Errorf("%d differences", len(report.Differences))
	case report.Interrupted:
		err = errors.New("interrupted before all was compared")
	default:
		return 0
	}
	fmt.Fprintln(stderr, "verify:", err)
	return code
}

// progressText tells how far a run is, every so often.
type progressText struct {
	out   io.Writer
	every time.Duration
	last  time.Duration
	said  string
}

// tell takes what a run says.
func (p *progressText) tell(x verify.Progress) {
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
