package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/sleep"
)

// listing is what `helenus statements` was asked for.
type listing struct {
	remote
	query       report.Query
	since       time.Duration
	until       time.Duration
	diff, watch time.Duration
}

func statementsCommand() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "statements", Short: "What was said, how often, how slow, how big, by whom", Args: usage(cobra.NoArgs),
		Long: `What was said since the process started, or in a period (--since, --until).

  helenus statements --sort p99 --table shop.orders
  helenus statements --since 1h --diff 24h     the last hour against the same hour yesterday
  helenus statements --watch 2s                what is said now`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.query.Check(); err != nil {
				return usageError{fmt.Errorf("--%w", err)}
			}
			if err := l.check(); err != nil {
				return usageError{err}
			}
			switch {
			case l.diff > 0:
				return l.compare(c)
			case l.watch > 0:
				return l.follow(c)
			}
			return show(c, &l.remote, l.path(l.since, l.until, l.query.Limit), printStatements)
		},
	}
	l.flags(c)
	f := c.Flags()
	f.IntVar(&l.query.Limit, "limit", 40, "how many to list, 0 for all")
	f.StringVar(&l.query.Sort, "sort", "time", strings.Join(report.Sorts(), ", "))
	f.StringVar(&l.query.Table, "table", "", "only those on this table (table, or keyspace.table)")
	f.StringVar(&l.query.Keyspace, "keyspace", "", "only those in this keyspace")
	f.StringVar(&l.query.Class, "class", "", "only those that reach their rows so: "+strings.Join(report.Classes(), ", "))
	f.StringVar(&l.query.Kind, "kind", "", "only these: "+strings.Join(cql.Kinds(), ", "))
	f.StringVar(&l.query.User, "user", "", "only those that this role said")
	f.StringVar(&l.query.Application, "application", "", "only those that this application said")
	f.StringVar(&l.query.Driver, "driver", "", "only those that came by this driver")
	periodFlags(c, &l.since, &l.until)
	f.Var((*span)(&l.diff), "diff", "compare the period with one of the same length, so long before it")
	f.Var((*span)(&l.watch), "watch", "list what was said since the last look, again and again")
	return c
}

// check says which flags do not go together.
func (l *listing) check() error {
	switch {
	case l.query.Limit < 0:
		return fmt.Errorf("--limit %d: it may be 0, which lists all, or more", l.query.Limit)
	case l.watch > 0 && (l.since > 0 || l.until > 0 || l.diff > 0):
		return errors.New("--watch lists what is said from now on, so it goes with neither --since nor --until nor --diff")
	case l.diff > 0 && l.since == 0:
		return errors.New("--diff needs --since: how long the periods are that are compared")
	}
	return nil
}

// span is a flag for a time that is not negative.
type span time.Duration

// String is empty for none, so that help shows no default.
func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

// Type is how help calls it.
func (*span) Type() string { return "duration" }

// Set reads such as 90m or 30d.
func (s *span) Set(text string) error {
	d, err := config.Duration(text)
	if err != nil || d < 0 {
		return errors.New("it may be such as 10s, 90m or 30d")
	}
	*s = span(d)
	return nil
}

func periodFlags(c *cobra.Command, since, until *time.Duration) {
	c.Flags().Var((*span)(since), "since", "only what was said so long ago at most (from the history), such as 90m")
	c.Flags().Var((*span)(until), "until", "and so long ago at least")
}

// path is the request for a period.
func (l *listing) path(since, until time.Duration, limit int) string {
	v := url.Values{}
	for name, value := range map[string]string{
		"sort": l.query.Sort, "table": l.query.Table, "keyspace": l.query.Keyspace, "class": l.query.Class, "kind": l.query.Kind,
		"user": l.query.User, "application": l.query.Application, "driver": l.query.Driver,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if limit > 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	return "statements" + inPeriod(v, since, until)
}

// inPeriod is the query of a URL.
func inPeriod(v url.Values, since, until time.Duration) string {
	if since > 0 {
		v.Set("since", since.String())
	}
	if until > 0 {
		v.Set("until", until.String())
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func (l *listing) get(c *cobra.Command, path string) (*report.Statements, error) {
	client, err := l.client()
	if err != nil {
		return nil, err
	}
	var s report.Statements
	return &s, client.Get(c.Context(), path, &s)
}

// compare prints two periods side by side.
func (l *listing) compare(c *cobra.Command) error {
	after, err := l.get(c, l.path(l.since, l.until, 0))
	if err != nil {
		return err
	}
	before, err := l.get(c, l.path(l.since+l.diff, l.until+l.diff, 0))
	if err != nil {
		return err
	}
	changes := report.Diff(before, after, l.query.Limit)
	w := c.OutOrStdout()
	if l.structured() {
		return l.encode(w, changes)
	}
	if _, err := fmt.Fprintf(w, "before: %s\nafter:  %s\n\n", knownPeriod(before.From, before.To), knownPeriod(after.From, after.To)); err != nil {
		return err
	}
	t := newTable("statement", "class", "calls/s", "now", "busy ms/s", "now", "p50 ms", "now", "p99 ms", "now", "errors/s", "now", "text")
	for _, x := range changes {
		t.AppendRow([]any{
			x.Fingerprint[:8], x.Class, number(x.Before.Calls), number(x.After.Calls), number(1000 * x.Before.Busy), number(1000 * x.After.Busy),
			ms(x.Before.P50), ms(x.After.P50), ms(x.Before.P99), ms(x.After.P99), number(x.Before.Errors), number(x.After.Errors), cut(x.Text, 70),
		})
	}
	return render(l.paper(w), t)
}

// next writes one document of several: JSON on one line, YAML behind a line of its own.
func (l *listing) next(w io.Writer, v any) error {
	if l.form == asJSON {
		return json.NewEncoder(w).Encode(v)
	}
	if _, err := fmt.Fprintln(w, "---"); err != nil {
		return err
	}
	return l.encode(w, v)
}

// follow lists what is said, again and again, until it is interrupted.
func (l *listing) follow(c *cobra.Command) error {
	before, err := l.get(c, l.path(0, 0, 0))
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	for sleep.For(c.Context(), l.watch) == nil {
		now, err := l.get(c, l.path(0, 0, 0))
		if err != nil {
			return err
		}
		delta := report.Since(before, now, l.query)
		before = now
		if l.structured() {
			if err := l.next(w, delta); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprint(w, "\x1b[H\x1b[2J"); err != nil { // home, clear
			return err
		}
		if err := printStatements(l.paper(w), delta); err != nil {
			return err
		}
	}
	return nil
}

func printStatements(w io.Writer, s *report.Statements) error {
	if err := printNote(w, s.Note); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s: %d requests\n\n", periodText(s.From, s.To), s.Requests); err != nil {
		return err
	}
	var all float64
	for i := range s.Statements {
		all += float64(s.Statements[i].Latency.Sum)
	}
	all += float64(s.Other.Latency.Sum)
	t := newTable("statement", wideOnly("fingerprint"), wideOnly("table"), "class", "calls", "errors", "time", "p50 ms", "p99 ms", "rows", "bytes", "text")
	row := func(x *report.Statement, id, class string, text clipped) {
		share := "-"
		if all > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(x.Latency.Sum)/all)
		}
		t.AppendRow([]any{
			id, x.Fingerprint, orDash(strings.TrimPrefix(x.Keyspace+"."+x.Table, ".")), class, x.Count, x.Errors, share, ms(x.Latency.P50()), ms(x.Latency.P99()), number(x.Rows.Mean()),
			bytesText(x.RequestBytes.Mean() + x.ResponseBytes.Mean()), text,
		})
	}
	for i := range s.Statements {
		x := &s.Statements[i]
		row(x, x.Fingerprint[:8], string(x.Access.Class), cut(x.Text, 100))
	}
	if s.Other.Count > 0 {
		row(&report.Statement{Statement: s.Other}, "other", "-", cut("statements counted together (see --max-statements and --capture-memory)", 100))
	}
	if s.Unknown.Count > 0 {
		row(&report.Statement{Statement: s.Unknown}, "unknown", "-", cut("requests that could not be read, or of ids prepared elsewhere", 100))
	}
	if t.Length() == 0 {
		_, err := fmt.Fprintln(w, "None of them was such a statement.")
		return err
	}
	if err := render(w, t); err != nil {
		return err
	}
	if s.Matching > len(s.Statements) {
		_, err := fmt.Fprintf(w, "%d of %d statements; --limit 0 lists all; time is the share of those listed\n", len(s.Statements), s.Matching)
		return err
	}
	return nil
}

func printNote(w io.Writer, note string) error {
	if note == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "note: %s\n", note)
	return err
}

// knownPeriod is a period, or that nothing is known of it: what is compared with nothing looks as if it were all new.
func knownPeriod(from, to time.Time) string {
	if from.IsZero() {
		return "nothing is known of that time: the history does not go back so far"
	}
	return periodText(from, to)
}

func periodText(from, to time.Time) string {
	return fmt.Sprintf("%s to %s (%s)", from.Local().Format("2006-01-02 15:04:05"), to.Local().Format("15:04:05"), to.Sub(from).Round(time.Second))
}

// number prints three digits that matter.
func number(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 0.01:
		return "<0.01"
	case v < 1:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
