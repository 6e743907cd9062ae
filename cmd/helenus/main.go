// Command helenus is the proxy, the advisor and the tool to command them. This folder holds no logic: it reads flags, wires the
// parts together (run.go) and prints what the API answers.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

//go:generate go test -run Reference -update .

func main() { os.Exit(execute()) }

func execute() int {
	ctx := untilSignal()
	err := root().ExecuteContext(ctx)
	if err != nil && err.Error() == context.Canceled.Error() && ctx.Err() != nil { // what says more, or has an exit code of its own, stays
		err = errInterrupted
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "helenus:", err)
	}
	return exitCode(err)
}

// errInterrupted is what a command ends with that a signal ended, and that says nothing better.
var errInterrupted = errors.New("interrupted")

// oneOrder is how long signals after the first are the same order: timeout(1), and a shell whose keys a wrapper passes on, send it to the process, and to its group.
const oneOrder = time.Second

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. Another one, later, ends the process at once, as it would without us.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-heard
		cancel()
		first, again := time.Now(), <-heard
		for time.Since(first) < oneOrder {
			again = <-heard
		}
		signal.Reset(again)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(again)
		}
	}()
	return ctx
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "helenus",
		Short: "A proxy for Apache Cassandra that learns the workload, advises on tables, and makes the change",
		Long: `Helenus sits between an application and Apache Cassandra. It records what is said, maps it to a conceptual
model, works out which tables would serve it better, and, once a person approves, makes the change while
the application runs.

` + exitsText(),
		Version:       built().version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SetVersionTemplate(built().text())
	c.SetFlagErrorFunc(wrongFlag)
	c.AddCommand(
		runCommand(), statusCommand(), statementsCommand(), statementCommand(), traceCommand(), tablesCommand(), cyclesCommand(), historyCommand(), modelCommand(), questionsCommand(), answerCommand(), recommendationsCommand(), explainCommand(),
		approveCommand(), dismissCommand("dismiss"), dismissCommand("reject"), snoozeCommand(), reopenCommand(), changesCommand(), migrationsCommand(),
		verifyCommand(), bulkCommand(), cdcAgentCommand(), connectionsCommand(), bypassCommand(), membersCommand(), stateCommand(), flowsCommand(), samplingCommand(), captureCommand(),
		orderCommand("rollback", "Run the original statements again at once; its table stays until `drop`. Of a calendar: withdraw it, and drop its tables", "rolled back"),
		orderCommand("hold", "Keep a change in shadow, where reads run as written and are compared, once it has come there", "held"),
		orderCommand("cut-over", "Let a change that is held serve, once enough reads were compared", "no longer held"),
		throttleCommand(),
		orderCommand("resume", "Verify a suspended change again, or follow a paused calendar again, and go on", "resumed"), pauseCommand(),
		orderCommand("drop", "Drop the table of a change that was rolled back", "dropped"),
		checkCommand(), designCommand(), calibrateCommand(), optionsCommand(), safetyCommand(), lintCommand(), diagramCommand(), importCommand(), tokenCommand(), auditCommand(), contextCommand(), configCommand(), versionCommand(), adviseWorkerCommand(),
	)
	complete(c)
	strictHelp(c)
	return c
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
