package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// runOptions is what traffic to make.
type runOptions struct {
	seed        uint64
	ops         int           // 0: no limit
	duration    time.Duration // 0: no limit
	rate        float64       // operations a second; 0: as fast as they come back
	concurrency int
	writersOnly bool
	only        names // operations; empty: all
}

// opTimeout bounds one operation, so that a server which never answers cannot hold the run for ever.
const opTimeout = 90 * time.Second

func runCommand(flags *flag.FlagSet) func(context.Context, io.Writer) error {
	var o runOptions
	hosts := flags.String("hosts", "127.0.0.1:9042", "address of Cassandra, or of what stands for it, host:port")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the traffic: operation k of a seed is always the same")
	var access access
	access.flags(flags)
	flags.IntVar(&o.ops, "ops", 0, "number of operations (0: until -for has passed)")
	flags.DurationVar(&o.duration, "for", 0, "how long to start operations, such as 30s (0: until -ops are done)")
	flags.Float64Var(&o.rate, "rate", 0, "operations a second at most (0: no limit)")
	flags.IntVar(&o.concurrency, "concurrency", 8, "operations at a time")
	flags.BoolVar(&o.writersOnly, "writers-only", false, "only operations that write")
	flags.Var(&o.only, "only", "only these operations, separated by commas (empty: all)")
	file := flags.String("report", "", "file for the report in JSON (empty: only the tables on standard output)")
	named := keyspaceFlag(flags)
	data := sizeFlags(flags, "data-seed")
	return func(ctx context.Context, out io.Writer) error {
		d, err := data()
		switch {
		case err != nil:
			return err
		case o.ops < 0 || o.duration < 0 || o.rate < 0 || o.concurrency < 1:
			return usageError("-ops, -for and -rate must not be negative, and -concurrency at least 1")
		case o.ops == 0 && o.duration == 0:
			return usageError("say when to end: give -ops N, or -for DURATION, or both")
		case o.writersOnly && len(o.only) > 0:
			return usageError("-only and -writers-only both say which operations there are: give one of them")
		}
		keyspace, err := named()
		if err != nil {
			return err
		}
		session, err := access.connect(*hosts, keyspace)
		if err != nil {
			return err
		}
		defer session.Close()
		c := &client{session: session, data: d, statements: newTally()}
		r := run(ctx, c, o)
		r.print(out)
		if *file != "" {
			return r.write(*file)
		}
		return nil
	}
}

// run makes the traffic and returns the report. When the context ends it starts no more operations, and the report is
// of those that were made.
func run(ctx context.Context, c *client, o runOptions) *report {
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	r := &report{Seed: o.seed, Concurrency: o.concurrency, Start: time.Now().UTC()}
	made := newTally()
	choice := chooser(func(op operation) bool {
		return (op.writes || !o.writersOnly) && (len(o.only) == 0 || slices.Contains(o.only, op.name))
	})
	var next atomic.Int64
	var wait sync.WaitGroup
	for range o.concurrency {
		wait.Go(func() {
			for {
				number := int(next.Add(1)) - 1
				if o.ops > 0 && number >= o.ops || !pace(ctx, r.Start, number, o.rate) {
					return
				}
				random := rand.New(rand.NewPCG(o.seed, uint64(number)))
				op := choice(random)
				opCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opTimeout)
				begin := time.Now()
				err := op.do(call{client: c, ctx: opCtx, random: random, seed: o.seed, number: number})
				cancel()
				made.add(op.name, "", time.Since(begin), err)
			}
		})
	}
	wait.Wait()
	r.End = time.Now().UTC()
	r.Operations, r.Statements, r.Complaints = made.figures(), c.statements.figures(), made.complaints()
	for _, f := range r.Operations {
		r.Count += f.Count
		r.Errors += f.Errors
	}
	return r
}

// pace waits until operation number n is due and reports whether it may still start.
func pace(ctx context.Context, start time.Time, n int, rate float64) bool {
	if ctx.Err() != nil {
		return false
	}
	if rate == 0 {
		return true
	}
	due := time.Until(start.Add(time.Duration(float64(n) / rate * float64(time.Second))))
	if due <= 0 {
		return true
	}
	timer := time.NewTimer(due)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// names are operations that a flag lists.
type names []string

// String lists them.
func (n *names) String() string { return strings.Join(*n, ",") }

// Set reads a list; an operation that there is not is a mistake.
func (n *names) Set(text string) error {
	*n = nil
	for name := range strings.SplitSeq(text, ",") {
		if !slices.ContainsFunc(operations, func(op operation) bool { return op.name == name }) {
			return fmt.Errorf("there is no operation %q", name)
		}
		*n = append(*n, name)
	}
	return nil
}

// chooser returns a function that draws an operation by its weight, among some.
func chooser(wanted func(operation) bool) func(*rand.Rand) operation {
	var among []operation
	total := 0
	for _, op := range operations {
		if wanted(op) {
			among = append(among, op)
			total += op.weight
		}
	}
	return func(random *rand.Rand) operation {
		n := random.IntN(total)
		for _, op := range among {
			if n -= op.weight; n < 0 {
				return op
			}
		}
		panic(fmt.Sprintf("the weights of %d operations do not add up to %d", len(among), total))
	}
}
