package main

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/internal/admin"
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
			return showChosen(c, &r, "tables"+inPeriod(url.Values{}, since, until), func(a admin.TablesAnswer) admin.TablesAnswer {
				a.Tables = slices.DeleteFunc(a.Tables, func(x report.Table) bool { return only != "" && only != x.Name && only != x.Keyspace+"."+x.Name })
				return a
			}, func(w io.Writer, a admin.TablesAnswer) error { return printTables(w, a, only) })
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
		if only != "" {
			if err := printColumns(w, x); err != nil {
				return err
			}
		}
		per := 0.0
		if x.Partitions > 0 {
			per = x.Rows / x.Partitions
		}
		unread := cut(orDash(strings.Join(x.Unread, ", ")), 60)
		if x.Unsure > 0 {
			unread = cut("?", 1)
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
