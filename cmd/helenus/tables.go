package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
)

func tablesCommand() *cobra.Command {
	var (
		r            remote
		since, until time.Duration
		only         string
	)
	c := &cobra.Command{
		Use: "tables", Short: "How tables and their columns are used: reads, writes, columns that nobody reads, large partitions", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return show(c, &r, "tables"+inPeriod(url.Values{}, since, until), func(w io.Writer, a admin.TablesAnswer) error {
				return printTables(w, a, only)
			})
		},
	}
	r.flags(c)
	periodFlags(c, &since, &until)
	c.Flags().StringVar(&only, "table", "", "one table, with its columns (table, or keyspace.table)")
	return c
}

func printTables(w io.Writer, a admin.TablesAnswer, only string) error {
	if err := printNote(w, a.Note); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", periodText(a.From, a.To)); err != nil {
		return err
	}
	t := newTable("table", "statements", "reads", "scans", "rows", "writes", "errors", "time s", "partitions", "rows/partition", "unread columns", "remarks")
	for i := range a.Tables {
		x := &a.Tables[i]
		if only != "" && only != x.Name && only != x.Keyspace+"."+x.Name {
			continue
		}
		if only != "" {
			if err := printColumns(w, x); err != nil {
				return err
			}
		}
		per := 0.0
		if x.Partitions > 0 {
			per = x.Rows / x.Partitions
		}
		unread := orDash(short(strings.Join(x.Unread, ", "), 60))
		if x.Unsure > 0 {
			unread = "?"
		}
		t.AppendRow([]any{
			x.Keyspace + "." + x.Name, x.Statements, x.Reads, x.Scans, x.RowsRead, x.Writes, x.Errors, number(float64(x.Micros) / 1e6), number(x.Partitions),
			number(per), unread, strings.Join(x.Remarks, "; "),
		})
	}
	if t.Length() == 0 {
		said := "No statement was on a table."
		if only != "" {
			said = fmt.Sprintf("Nothing was said of a table %s.", only)
		}
		_, err := fmt.Fprintln(w, said)
		return err
	}
	return render(w, t)
}

func printColumns(w io.Writer, x *report.Table) error {
	t := newTable("column", "kind", "read", "written", "filtered by")
	for _, c := range x.Columns {
		t.AppendRow([]any{c.Name, c.Kind, c.Read, c.Written, c.Filtered})
	}
	if err := render(w, t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

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
		Use: "export", Short: "Write the history as JSON, one window a line, to standard output", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			var from time.Time
			if since > 0 {
				from = time.Now().Add(-since)
			}
			return onShelf(stateDir, func(w *store.Windows) error {
				n, err := history.Export(c.Context(), w, c.OutOrStdout(), from, time.Time{})
				return reported(c, n, "exported", err)
			})
		},
	}
	export.Flags().DurationVar(&since, "since", 0, "only windows that ended so long ago at most")
	load := &cobra.Command{
		Use: "import", Short: "Read what export wrote, of this process or of another, from standard input", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return onShelf(stateDir, func(w *store.Windows) error {
				n, err := history.Import(context.WithoutCancel(c.Context()), w, c.InOrStdin())
				return reported(c, n, "imported", err)
			})
		},
	}
	for _, c := range []*cobra.Command{export, load} {
		c.Flags().StringVar(&stateDir, "state-dir", defaults, "state directory [HELENUS_STATE_DIR]")
		parent.AddCommand(c)
	}
	return parent
}

func onShelf(dir string, do func(*store.Windows) error) error {
	w, err := store.OpenWindows(dir)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // what was written is there
	return do(w)
}

func reported(c *cobra.Command, n int, what string, err error) error {
	if err == nil {
		_, err = fmt.Fprintf(c.ErrOrStderr(), "%d windows %s\n", n, what)
	}
	return err
}
