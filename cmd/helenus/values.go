package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/window"
)

func flowsCommand() *cobra.Command {
	var (
		r     remote
		limit rowLimit
		texts bool
	)
	c := &cobra.Command{
		Use: "flows", Short: "The joins that the application does by hand: from which result column to which bind variable", Args: usage(cobra.NoArgs),
		Long: `Lists where a value that one statement returned was bound in another shortly after, more often than by coincidence. After these
come checks (the first statement is there to see whether there is a row: that decides whether the second follows),
read-modify-writes (the second changes the row that the first read), siblings (two tables are read by the same value) and what is faint (too little of the second to be told for a flow, about which "helenus questions" asks). "race" says that the second is a write without IF, so what
was read may have changed meanwhile.

support   of the values bound that were looked at, how many had been returned shortly before; chance is how many of as many
          older values would have been
followed  share of the first statement's executions that the second followed, and how many different values of each
rows      which rows of an answer are followed: all, the first ones, those that a column chooses, or some; "again" is the share of
          executions that ask for what was fetched for the same answer already. Of a check: how often the second follows after a
          row was found, and after none was. Of a change: the columns that are set anew
lag       from the first answer to the second request: half of them, and 99 of 100
saves     executions of the second statement that one joined statement would spare, of those counted so far`,
		RunE: func(c *cobra.Command, _ []string) error {
			return showChosen(c, &r, "flows", func(all []capture.Flow) []capture.Flow { return cutJSON(c, &r, all, limit) },
				func(w io.Writer, all []capture.Flow) error { return printFlows(w, all, int(limit), texts) })
		},
	}
	r.flags(c)
	r.limitFlag(c, &limit, 40)
	c.Flags().BoolVar(&texts, "texts", false, "print the statements too; they are in JSON in any case")
	return c
}

func printFlows(w io.Writer, all []capture.Flow, limit int, texts bool) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "No joins by hand were found yet. It takes some traffic, and sampling: see `helenus sampling`.")
		return err
	}
	n := len(all)
	if limit > 0 {
		n = min(n, limit)
	}
	t := newTable("flow", "from", "to", "shape", "support", "chance", "followed", "values", "rows", "lag ms", "p99 ms", "saves")
	for i := range all[:n] {
		x := &all[i]
		t.AppendRow([]any{
			x.ID, end(&x.From), end(&x.To), shapeText(x), fmt.Sprintf("%d of %d", x.Hits, x.Executions), x.Decoys,
			fmt.Sprintf("%.0f %%", 100*x.Followed), fmt.Sprintf("%.1f", x.PerExecution), rowsText(&x.Feed), ms(x.LagP50), ms(x.LagP99), fmt.Sprintf("%.0f", x.Saved),
		})
	}
	if err := render(w, t); err != nil {
		return err
	}
	if texts {
		for i := range all[:n] {
			x := &all[i]
			if _, err := fmt.Fprintf(w, "\n%s\n  %s\n  %s\n", x.ID, orDash(x.FromText), orDash(x.ToText)); err != nil {
				return err
			}
		}
	}
	if n < len(all) {
		_, err := fmt.Fprintf(w, "%d of %d flows; --limit 0 lists all\n", n, len(all))
		return err
	}
	return nil
}

func end(e *feed.End) string { return plain(e.Table + "." + e.Column) }

// rowsText says what is made of the rows of an answer.
func rowsText(f *feed.Feed) string {
	var out []string
	if o := f.Outcome; o != nil {
		share := func(k, n int) float64 { return 100 * float64(k) / float64(max(n, 1)) }
		out = append(out, fmt.Sprintf("row %.0f %%, none %.0f %%", share(o.FoundFollowed, o.Found), share(o.EmptyFollowed, o.Empty)))
	}
	switch f.Use {
	case feed.UseAll:
		out = append(out, "all")
	case feed.UseFirst:
		out = append(out, fmt.Sprintf("first %.0f %%", 100*f.RowsFollowed))
	case feed.UseBy:
		out = append(out, fmt.Sprintf("%.0f %% by %s", 100*f.RowsFollowed, plain(f.By)))
	case feed.UseSome:
		out = append(out, fmt.Sprintf("%.0f %%", 100*f.RowsFollowed))
	}
	if f.Repeated >= 0.01 {
		out = append(out, fmt.Sprintf("again %.0f %%", 100*f.Repeated))
	}
	if f.Change != nil {
		out = append(out, "sets "+plain(strings.Join(f.Change.Columns, ", ")))
	}
	return orDash(strings.Join(out, "; "))
}

func shapeText(x *capture.Flow) string {
	s := string(x.Shape)
	if x.Chain {
		s += ", chain"
	}
	if x.SupportRead && !x.From.Bound { // of an echo it goes without saying
		s += ", for a write"
	}
	if x.Change != nil && !x.From.Bound {
		s += " to the same row"
	}
	if x.Race {
		s += ", race"
	}
	return s
}

func samplingCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "sampling [on|off]", Short: "Look at values, or not: the kill-switch of value windows", Args: usage(onOrOff),
		Long: `Without an argument: tells whether values are looked at, and how much was.

off  From now on no value is looked at; what waits is thrown away, the hash key and all that was hashed is forgotten. Joins and
     estimates that were found stay. It holds until the process ends: to keep it, set sample-values to false.
on   Values are looked at again, in windows, whatever sample-values says.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return show(c, &r, "sampling", printSampling)
			}
			raw, err := decide(c.Context(), &r, "sampling/"+args[0], "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, printSampling)
		},
	}
	r.flags(c)
	return c
}

func printSampling(w io.Writer, s window.Statistics) error {
	state := "off: no value is looked at"
	if s.On {
		state = "on"
		if s.Open {
			state = "on, and a window is open"
		}
	}
	_, err := fmt.Fprintf(w, "Sampling is %s. %d exchanges were looked at, %d dropped for want of room, %d taken for retries; %d bind variables, %d columns.\n",
		state, s.Observed, s.Dropped, s.Duplicates, s.Parameters, s.Columns)
	return err
}

func captureCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "capture", Short: "Record hashed traffic to a file, and look for joins in one", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(recordCommand(), replayCommand())
	return c
}

func recordCommand() *cobra.Command {
	var r remote
	length := 10 * time.Second
	c := &cobra.Command{
		Use: "record FILE", Short: "Write what is said in the next seconds, hashed, to a file", Args: usage(cobra.ExactArgs(1)),
		Long: `Holds a value window open and writes what it sees: which statement ran when, and its values as hashes under a key that
is made for this one file and forgotten. There is no value and no statement's text in it, but names of tables and columns are, and
equal values can be told to be equal.`,
		RunE: func(c *cobra.Command, args []string) error {
			before, err := os.Stat(args[0])
			fresh := errors.Is(err, os.ErrNotExist)
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE, 0o600) // before anything is recorded, which may take minutes
			if err != nil {
				return usageError{err}
			}
			raw, err := decide(c.Context(), &r, "capture/record?for="+length.String(), "")
			if err == nil && !fresh && before.Mode().IsRegular() {
				err = f.Truncate(0)
			}
			if err == nil {
				_, err = f.Write(raw)
			}
			if err = errors.Join(err, f.Close()); err != nil {
				if fresh {
					_ = os.Remove(args[0])
				}
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", args[0], bytesText(float64(len(raw))))
			return err
		},
	}
	r.reach(c)
	c.Flags().Var((*span)(&length), "for", "how long, at most 10m")
	return c
}

func replayCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "replay FILE", Short: "Look for joins in a recording; no process is needed", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) (err error) {
			f, err := os.Open(args[0])
			if err != nil {
				return usageError{err}
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			found, n, err := window.Replay(f)
			if err != nil {
				return err
			}
			s := capture.Snapshot{Feeds: found.Feeds, Echoes: found.Echoes, Bursts: found.Bursts, Templates: found.Templates, Profiles: found.Profiles.Derived()}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(s)
			}
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%d executions; %d columns; %d pairs of writes that go together\n", n, columnsOf(&s), len(s.Bursts)); err != nil {
				return err
			}
			if err := printTemplates(c.OutOrStdout(), s.Templates); err != nil {
				return err
			}
			return printFlows(c.OutOrStdout(), s.Flows(), 0, false)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printTemplates lists the writes that go together, each set in a line.
func printTemplates(w io.Writer, all []burst.Template) error {
	for _, t := range all {
		var parts []string
		for _, m := range t.Writes {
			parts = append(parts, fmt.Sprintf("%s x%.1f (%.8s)", plain(m.Table), m.Mean, m.Fingerprint))
		}
		order := "in one BATCH"
		if t.Batched < t.Count {
			order = fmt.Sprintf("%.0f %% in this order, %.0f %% one after the other was answered", 100*t.Ordered, 100*t.Waited)
			if t.Batched > 0 {
				order = fmt.Sprintf("%d in one BATCH, of the others %s", t.Batched, order)
			}
		}
		if _, err := fmt.Fprintf(w, "written together %d times: %s; %s\n", t.Count, strings.Join(parts, ", "), order); err != nil {
			return err
		}
	}
	return nil
}

func columnsOf(s *capture.Snapshot) (n int) {
	names := map[string]bool{}
	for _, e := range s.Profiles.Epochs {
		for _, c := range e.Columns {
			names[strings.Join([]string{c.Keyspace, c.Table, c.Name}, ".")] = true
		}
	}
	return len(names)
}
