package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
)

// historyCommand reads and writes the history's file itself; the process may run meanwhile.
func historyCommand() *cobra.Command {
	parent := &cobra.Command{Use: "history", Short: "Carry the history of what was counted elsewhere", Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var stateDir string
	var since time.Duration
	defaults := config.Defaults().StateDir
	if v, ok := os.LookupEnv("HELENUS_STATE_DIR"); ok {
		defaults = v
	}
	export := &cobra.Command{
		Use: "export [FILE]", Short: "Write the history as JSON lines, one window a line, to a file or to standard output", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			var from time.Time
			if since > 0 {
				from = time.Now().Add(-since)
			}
			if err := historyThere(stateDir); err != nil {
				return usageError{fmt.Errorf("--state-dir: %w", err)}
			}
			return onShelf(stateDir, func(w *store.Windows) error {
				n := 0
				err := writing(c, args, func(out io.Writer) (err error) {
					n, err = history.Export(c.Context(), w, out, from, time.Time{})
					return err
				})
				if err == nil {
					_, err = fmt.Fprintf(c.ErrOrStderr(), "%d windows exported of %s\n", n, w.Path())
				}
				return err
			})
		},
	}
	export.Flags().Var((*span)(&since), "since", "only windows that began so long ago at most, such as 24h")
	load := &cobra.Command{
		Use: "import [FILE]", Short: "Add what export wrote, of this process or of another, from a file or from standard input", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Adds another process's history to this one's; the process may run meanwhile. What is there already is not counted again, so a file may
be imported twice, and also an older and a newer one of the same process, in any order. Of a file that was cut off, what could be read is
there then: import the whole one.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			in, name := c.InOrStdin(), "standard input"
			if named(args) {
				name = args[0]
				f, err := os.Open(args[0])
				if err != nil {
					return usageError{err}
				}
				defer func() { _ = f.Close() }() // it was only read
				in = f
			}
			return onShelf(stateDir, func(w *store.Windows) error {
				done, err := history.Import(context.WithoutCancel(c.Context()), w, in)
				var wrong *history.FormatError
				switch {
				case errors.As(err, &wrong) && done.Read > 0:
					return usageError{fmt.Errorf("%s: %w; the %d windows before it were imported (%d of them new): import the whole file again, nothing is counted twice", name, err, done.Read, done.Taken)}
				case errors.As(err, &wrong):
					return usageError{fmt.Errorf("%s: %w; nothing was imported", name, err)}
				case err != nil:
					return err
				}
				_, err = fmt.Fprintf(c.ErrOrStderr(), "%d windows imported into %s, %d of them new\n", done.Read, w.Path(), done.Taken)
				return err
			})
		},
	}
	for _, c := range []*cobra.Command{export, load} {
		c.Flags().StringVar(&stateDir, "state-dir", defaults, "state directory [HELENUS_STATE_DIR]")
		parent.AddCommand(c)
	}
	return parent
}

// named tells whether a file was named, as - is standard input or output.
func named(args []string) bool { return len(args) == 1 && args[0] != "-" }

// writing calls write with the file that was named, or with standard output. A file is for its owner only, as the history is.
func writing(c *cobra.Command, args []string, write func(io.Writer) error) error {
	if !named(args) {
		return write(c.OutOrStdout())
	}
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usageError{err}
	}
	return errors.Join(write(f), f.Close())
}

// historyThere says that there is none, which opening it would make.
func historyThere(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, store.WindowsFile)); err != nil {
		return fmt.Errorf("there is no history in %s: %w", dir, err)
	}
	return nil
}

func onShelf(dir string, do func(*store.Windows) error) error {
	w, err := store.OpenWindows(dir)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // what was written is there
	return do(w)
}
