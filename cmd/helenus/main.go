// Command helenus is the proxy, the advisor and the tool to command them. This folder holds no logic: it reads flags, wires the
// parts together (run.go) and prints what the API answers.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

// Exit codes; docs/operating.md explains them.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitRefused     = 4
	exitUnreachable = 5
)

func main() { os.Exit(execute()) }

func execute() int {
	err := root().ExecuteContext(untilSignal())
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "helenus:", err)
	return exitCode(err)
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. The second ends the process at once, as it would
// without us. One goroutine hears both, so that one that follows close upon the other is not lost.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-heard
		cancel()
		again := <-heard
		signal.Reset(again)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(again)
		}
	}()
	return ctx
}

// usageError is an error of the command line or the configuration, as opposed to one of what was asked for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	var (
		usage usageError
		api   *admin.Error
		own   designError
	)
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, admin.ErrUnreachable):
		return exitUnreachable
	case errors.As(err, &api):
		switch api.Status {
		case http.StatusNotFound:
			return exitNotFound
		case http.StatusConflict, http.StatusForbidden:
			return exitRefused
		case http.StatusBadRequest:
			return exitUsage
		}
	}
	return exitFailed
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "helenus",
		Short: "A proxy for Apache Cassandra that learns the workload, advises on tables, and makes the change",
		Long: `Helenus sits between an application and Apache Cassandra. It records what is said, maps it to a conceptual
model, works out which tables would serve it better, and, once a person approves, makes the change while
the application runs.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 no such thing, 4 refused, 5 not reachable.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(
		runCommand(), statementsCommand(), statementCommand(), traceCommand(), tablesCommand(), cyclesCommand(), historyCommand(), modelCommand(), recommendationsCommand(), explainCommand(),
		approveCommand(), rejectCommand(), reopenCommand(), migrationsCommand(),
		verifyCommand(), connectionsCommand(), bypassCommand(), flowsCommand(), samplingCommand(), captureCommand(),
		orderCommand("rollback", "Run the original statements again at once; its table stays until `drop`. Of a calendar: withdraw it, and drop its tables", "rolled back"),
		orderCommand("resume", "Verify a suspended migration again, or follow a paused calendar again, and go on", "resumed"), pauseCommand(),
		orderCommand("drop", "Drop the table of a migration that was rolled back", "dropped"),
		designCommand(), calibrateCommand(), optionsCommand(), safetyCommand(), lintCommand(), diagramCommand(), importCommand(), tokenCommand(), auditCommand(), configCommand(), versionCommand(), adviseWorkerCommand(),
	)
	return c
}

// usage makes a complaint about arguments a usage error.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())}
		}
		return nil
	}
}

// version is set by the Makefile from git; else the module's own.
var version = ""

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print what this is", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			b := built()
			_, err := fmt.Fprintf(c.OutOrStdout(), "helenus %s %s\n", b.version, b.goVersion)
			return err
		},
	}
}

// adviseWorkerCommand is the child process of package round: one round of advice, on standard input and output.
func adviseWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "advise-worker", Hidden: true, Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return round.Worker(c.InOrStdin(), c.OutOrStdout(), kinds.All(kinds.Settings{}))
		},
	}
}
