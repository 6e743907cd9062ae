// Command faults breaks a fleet of Helenus processes while clients read and write through all of them, in the manner of Jepsen, and checks every answer: by the history of
// what was asked, in which each row must have been a register (history.go has the guarantee), and against what the database itself answers.
//
//	make bench-faults          the runs in process; QUICK=1: fewer
//	bin/faults -runs 5000      in process: real engines and members before a database and a state in memory, in simulated time, hundreds of seeds a minute
//	bin/faults -seed 307       from this seed on
//	bin/faults -runs 0 -scale 200   what a large fleet asks of its state (docs/scale.md)
//
// A run in process is a plan drawn from a seed: what clients ask, which faults strike once the change is in which state (a member is killed, stands still, can not reach the state; the
// database is down; entries can not be written), and which orders are given meanwhile. Requests of all kinds take a drawn time, and now and then are lost: carried out at once,
// later or never. After the last fault the change must come to its end within a minute, and every member answer by it. A plan that goes wrong is made smaller and printed. What
// happens at one moment of simulated time is not ordered by the seed, so a run is nearly, not wholly, repeatable.
//
// It exits with 1 if anything was wrong, missing or stuck. It imports rewrite, internal/fleet and internal/change. Thin: the relay is played, time stands still while a mutex is waited for, so most
// requests to the state take none, and a node is down with all others. Real processes before real nodes are killed and stopped in each state by TestMembersWithstand of cmd/helenus.
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
	"sync"
	"syscall"
	"testing"
	"time"
)

// settings are what the flags say.
type settings struct {
	runs, workers int
	seed          uint64
	out, command  string
	shrinks       int
	scale         int
}

func main() {
	var s settings
	flag.IntVar(&s.runs, "runs", 2000, "runs in process; 0: none")
	flag.Uint64Var(&s.seed, "seed", 0, "the first seed")
	flag.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "runs in process at a time")
	flag.IntVar(&s.shrinks, "shrink", 200, "runs to make a plan smaller that went wrong")
	flag.IntVar(&s.scale, "scale", 0, "members of a large fleet whose traffic with its state is measured, in simulated time; with 50 tables and half a change for each")
	flag.StringVar(&s.out, "out", "docs/results", "folder for the report")
	flag.StringVar(&s.command, "command", "", "what to call the command in the report; default: as it was run")
	flag.Parse()
	if flag.NArg() > 0 || s.runs < 0 || s.workers < 1 {
		fmt.Fprintln(os.Stderr, "faults: it takes flags only; see -help")
		os.Exit(2)
	}
	if s.command == "" {
		s.command = strings.Join(os.Args, " ")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	inBubbles(func(t *testing.T) {
		began := time.Now()
		r := &report{Command: s.command, Started: began.UTC(), Processors: runtime.NumCPU()}
		say := func(format string, args ...any) {
			fmt.Printf("%6.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
		err := run(ctx, t, s, r, say)
		r.Seconds = time.Since(began).Seconds()
		if err != nil {
			r.Incomplete = err.Error()
		}
		if err = errors.Join(err, r.write(s.out)); err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			os.Exit(2)
		}
		if r.bad() {
			os.Exit(1)
		}
		os.Exit(0)
	})
}

// inBubbles calls f with what package testing/synctest asks for: simulated time is to be had only from it, and it is to be had only with a test.
func inBubbles(f func(*testing.T)) {
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "faults", F: f}}, nil, nil)
}

// run is all of it.
func run(ctx context.Context, t *testing.T, s settings, r *report, say func(string, ...any)) error {
	if s.runs > 0 {
		say("%d runs in process from seed %d, %d at a time", s.runs, s.seed, s.workers)
		r.Simulated = simulateMany(ctx, t, s, say)
	}
	if s.scale > 0 {
		say("%d members in process, %d tables, %d changes", s.scale, 50*s.scale, s.scale/2)
		periods, err := simulateCrowd(t, s.scale, 50*s.scale, s.scale/2, func(format string, args ...any) {
			fmt.Printf("         %s\n", fmt.Sprintf(format, args...)) // from a bubble, whose clock is another
		})
		r.Scale = periods
		fmt.Print(scaleTable(periods))
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// simulateMany runs seeds until all are run, some went wrong, or ctx ends.
func simulateMany(ctx context.Context, t *testing.T, s settings, say func(string, ...any)) *simulated {
	const examples = 3
	var mu sync.Mutex
	out := &simulated{}
	next, last, told := s.seed, s.seed+uint64(s.runs), time.Now()
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == last || ctx.Err() != nil || len(out.Examples) >= examples {
			return 0, false
		}
		next++
		return next - 1, true
	}
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for range s.workers {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for {
					seed, more := take()
					if !more {
						return
					}
					p := draw(seed, small)
					v := simulate(t, p, mutant{})
					text := ""
					if v.bad() != "" {
						say("seed %d went wrong; it is made smaller", seed)
						text = example(t, p, mutant{}, v, s.shrinks)
						fmt.Println(text)
					}
					mu.Lock()
					out.add(seed, v)
					if text != "" {
						out.Examples = append(out.Examples, text)
					}
					if time.Since(told) > 10*time.Second {
						told = time.Now()
						say("%v", &out.sum)
					}
					mu.Unlock()
				}
			})
		}
	})
	out.Seconds = time.Since(began).Seconds()
	say("%v", &out.sum)
	return out
}
