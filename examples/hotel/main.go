// Command hotel is a sample application: a hotel booking service on Apache Cassandra, designed by gut feeling, as many
// are. It reads a guest's reservations with ALLOW FILTERING, finds hotels by a secondary index, and lists a city's
// arrivals by one query per room and one more per guest.
//
// It is an ordinary program of an ordinary driver (gocql) and imports nothing else: it can be pointed at a Cassandra, or
// at anything that speaks like one, and cannot tell which it was.
//
//	hotel load  -hosts H:P                  create the keyspace and fill it
//	hotel run   -hosts H:P -ops 10000       work like guests and receptionists do, and report latencies
//	hotel check -direct H:P -through H:P    prove that two addresses give the same answers
//
// Everything is a function of seeds: the data of -data-seed and the sizes, the traffic of -seed. The three must be told
// the same data seed and sizes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses.
const (
	statusOK      = 0
	statusFailure = 1 // it could not be done, or the check found a difference
	statusUsage   = 2
)

// commands are the sub-commands by name. Each defines its flags, and then does its work.
var commands = map[string]func(*flag.FlagSet) func(context.Context, io.Writer) error{
	"load":  loadCommand,
	"run":   runCommand,
	"check": checkCommand,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// usageError is a mistake in the flags.
type usageError string

func (e usageError) Error() string { return string(e) }

// dispatch is main with its surroundings as parameters. It returns the exit status.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: hotel load|run|check [flags]; hotel COMMAND -h lists them")
		return statusUsage
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "hotel: unknown command %q; the commands are load, run and check\n", args[0])
		return statusUsage
	}
	flags := flag.NewFlagSet("hotel "+args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	work := command(flags)
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return statusOK
		}
		return statusUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "hotel: unexpected argument %q\n", flags.Arg(0))
		return statusUsage
	}
	if err := work(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "hotel:", err)
		if errors.As(err, new(usageError)) {
			return statusUsage
		}
		return statusFailure
	}
	return statusOK
}
