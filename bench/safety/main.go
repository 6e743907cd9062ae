// Command safety repeats the experiment of seed 002's figure 4 on a real Cassandra, with lightweight transactions in place of
// Datastore's: comments that are all kept with one article (one partition) against comments kept with their authors (one
// partition for each), 20, 100, 500 and 1,000 writes, and the share of them that succeed at first try. It writes figures and a
// chart into docs/results.
//
//	make bench-safety        a minute or two
//	bin/safety -smoke        all of it in seconds, few writes
//
// Datastore's transactions are optimistic: who commits fails if somebody else has committed to the group since it was read. Three
// ways to write come nearest to that, each of which is measured over both schemas:
//
//	blind       INSERT ... IF NOT EXISTS, all writes at once: nothing is read before. It fails only if Paxos gives up
//	optimistic  the group's version is read, and the comment committed IF the version is still that one; all writes at once
//	browser     the same, but six at a time: the seed's writes were Ajax calls of a browser, and browsers open six connections
//
// Nothing is retried, neither by the driver nor by us. Rounds of both schemas and all ways take turns, so that what else the
// machine does falls on all alike. Ctrl-C stops it; what was measured so far is written, marked incomplete.
//
// It imports internal/chart, rewrite/scratch and internal/cassandra. Thin: one node, which holds all replicas; client and server share the machine;
// Datastore's own retries and its network are not imitated, so figures of the two need not agree, only what follows from them.
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
)

// settings are what the flags say.
type settings struct {
	point, heap, out, command string
	sizes                     []int // writes of a round
	writes                    int   // of each cell of the report, at least
	smoke                     bool
}

func main() {
	var s settings
	flag.StringVar(&s.point, "contact-point", "", "host:port of a Cassandra; default: start one")
	flag.StringVar(&s.heap, "heap", "1g", "Java heap of the Cassandra that is started")
	flag.IntVar(&s.writes, "writes", 1000, "writes of each size, schema and way, at least")
	flag.StringVar(&s.out, "out", "docs/results", "folder for the report")
	flag.StringVar(&s.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.BoolVar(&s.smoke, "smoke", false, "all of it in seconds, few writes")
	flag.Parse()
	s.sizes = []int{20, 100, 500, 1000}
	if s.command == "" {
		s.command = strings.Join(os.Args, " ")
	}
	if s.smoke {
		s.sizes, s.writes, s.heap = []int{20, 40}, 40, "512m"
	}
	if flag.NArg() > 0 || s.writes < 1 {
		fmt.Fprintln(os.Stderr, "safety: it takes flags only, and -writes 1 or more; see -help")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	began := time.Now()
	err := run(ctx, s, func(format string, args ...any) {
		fmt.Printf("%6.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "safety:", err)
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "safety: interrupted; what was measured so far is in", s.out)
		}
		stop()
		os.Exit(1) //nolint:gocritic // run has cleaned up
	}
}
