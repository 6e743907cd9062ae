// Command with runs another command against a fresh Cassandra: it starts a cluster on free ports, sets
// HELENUS_TEST_CASSANDRA to its contact points (host:port, separated by commas), runs the command, stops the cluster
// and ends with the command's exit status. Without a command it keeps the cluster until it is interrupted.
//
//	go run ./internal/cassandra/with go test ./rewrite/...
//	go run ./internal/cassandra/with -port 19042 -dir /tmp/devcass
//
// It imports internal/cassandra and nothing else of the project.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/helenus-db/helenus/internal/cassandra"
)

// variable is where tests look for contact points.
const variable = "HELENUS_TEST_CASSANDRA"

// Exit statuses of our own; any other is the command's.
const (
	statusUsage   = 2
	statusFailure = 125 // no cluster, or the command could not be started
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main with its surroundings as parameters. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("with", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, "usage: with [flags] [command [argument...]]\n\nRuns the command against a fresh Cassandra named in %s;\nwithout a command, keeps it until interrupted.\n\n", variable)
		flags.PrintDefaults()
	}
	opt := cassandra.Options{Progress: func(line string) { _, _ = fmt.Fprintln(stderr, "with:", line) }}
	flags.StringVar(&opt.Version, "version", cassandra.DefaultVersion, "release of Apache Cassandra")
	flags.IntVar(&opt.Nodes, "nodes", 1, "number of nodes, 1 to 3")
	flags.StringVar(&opt.Heap, "heap", "", "Java heap of a node (default 512m)")
	flags.StringVar(&opt.Dir, "dir", "", "directory for data, logs and the file ADDRESS; it is kept (default a temporary one)")
	flags.StringVar(&opt.Host, "host", "", "address of the first node, in 127.0.0.0/8 (default chosen)")
	flags.IntVar(&opt.Port, "port", 0, "native protocol port (default a free one)")
	flags.BoolVar(&opt.Brief, "brief", false, "for minutes, and for nothing that is measured: a third less of processor time")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return statusUsage
	}
	cluster, err := cassandra.Start(ctx, opt)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "with:", err)
		return statusFailure
	}
	points := strings.Join(cluster.ContactPoints(), ",")
	status := 0
	if err := announce(opt.Dir, points); err != nil {
		_, _ = fmt.Fprintln(stderr, "with:", err)
		status = statusFailure
	} else if flags.NArg() == 0 {
		_, _ = fmt.Fprintf(stdout, "%s=%s\n", variable, points)
		<-ctx.Done()
	} else {
		status = command(ctx, flags.Args(), points, stdout, stderr)
	}
	if err := cluster.Stop(); err != nil {
		_, _ = fmt.Fprintln(stderr, "with:", err)
		if status == 0 {
			status = statusFailure
		}
	}
	return status
}

// announce writes the contact points into the file ADDRESS of a named directory, for programs that come later.
func announce(dir, points string) error {
	if dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "ADDRESS"), []byte(points+"\n"), 0o600)
}

// command runs the command to its end and returns its exit status. When we are interrupted, so is the command, and we
// wait for it.
func command(ctx context.Context, args []string, points string, stdout, stderr io.Writer) int {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), variable+"="+points)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	default:
		_, _ = fmt.Fprintln(stderr, "with:", err)
		return statusFailure
	}
}
