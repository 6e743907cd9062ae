package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// sparkConnector is what the script needs besides Spark, from Maven Central.
const sparkConnector = "com.datastax.spark:spark-cassandra-connector_2.12:3.5.1"

func bulkCommand() *cobra.Command {
	var (
		r            remote
		engine       string
		submit, done bool
		program      string
		packages     string
	)
	c := &cobra.Command{
		Use: "bulk ID [-- ARGUMENTS OF SPARK-SUBMIT]", Short: "Fill a change's table on a Spark cluster, where one process takes too long", Args: usage(cobra.MinimumNArgs(1)),
		Long: `For tables of more than some 100 GB. Approve the change with --fill bulk: it makes its table, writes to it along with the base, and waits in state
backfill. Then one of:

  helenus bulk ID --engine spark > fill.py     writes the PySpark script, to run as you run others; afterwards: helenus bulk ID --done
  helenus bulk ID --submit -- --master yarn --conf spark.cassandra.connection.host=10.0.0.1
                                               runs it with your spark-submit, and says that it is done when it has ended well

The script writes what Helenus's own backfill would, at the timestamps of the rows, and verifies it. It may be run again. Helenus then verifies the table itself,
and goes on. Without --fill bulk Helenus fills the table; --done ends that, too.

` + exitsText(exitDone, exitFailed, exitUsage, exitNotFound, exitRefused, exitUnreachable, exitNotAllowed),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case engine != "spark":
				return usageError{fmt.Errorf("--engine %q: there is spark", engine)}
			case submit && done:
				return usageError{errors.New("--submit says by itself that it is done: leave --done out")}
			case len(args) > 1 && !submit:
				return usageError{errors.New("arguments of spark-submit are for --submit")}
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			id := args[0]
			if !done {
				var script []byte
				if err := client.Get(c.Context(), pathID("changes", id)+"/spark", &script); err != nil {
					return err
				}
				if !submit {
					_, err := c.OutOrStdout().Write(script)
					return err
				}
				if err := submitSpark(c, script, program, append([]string{"--packages", packages}, args[1:]...)); err != nil {
					return err
				}
			}
			var raw []byte
			if err := client.Post(c.Context(), pathID("changes", id)+"/filled", admin.Decision{Actor: actor()}, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, m migrate.Change) error {
				_, err := fmt.Fprintf(w, "%s is filled, and verified next. `helenus changes %s` shows how far it is.\n", m.ID, m.ID)
				return err
			})
		},
	}
	r.flags(c)
	f := c.Flags()
	f.StringVar(&engine, "engine", "spark", "what runs it: spark (3.5, Scala 2.12)")
	f.BoolVar(&submit, "submit", false, "run it with spark-submit; what comes after -- is handed to it")
	f.BoolVar(&done, "done", false, "say that the script, run elsewhere, has ended well")
	f.StringVar(&program, "spark-submit", "spark-submit", "the program to run, of --submit")
	f.StringVar(&packages, "packages", sparkConnector, "the Spark connector for Cassandra, as spark-submit takes it, of --submit; another for another Spark or Scala")
	return c
}

// submitSpark runs a script to its end. Its output is shown.
func submitSpark(c *cobra.Command, script []byte, program string, args []string) error {
	dir, err := os.MkdirTemp("", "helenus-bulk-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "fill.py")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return err
	}
	run := exec.CommandContext(c.Context(), program, append(args, file)...) //nolint:gosec // the operator names it
	run.Stdout, run.Stderr = c.ErrOrStderr(), c.ErrOrStderr()
	if err := run.Run(); err != nil {
		return fmt.Errorf("the bulk job did not end well, and nothing was said to Helenus; it may be run again: %s: %w", program, err)
	}
	return nil
}
