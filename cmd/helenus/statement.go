package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/tracer"
	"github.com/helenus-db/helenus/internal/admin"
)

func statementCommand() *cobra.Command {
	var (
		r            remote
		since, until time.Duration
	)
	c := &cobra.Command{
		Use: "statement FINGERPRINT", Short: "Everything about one statement: numbers, who says it, why it is slow, what it feeds", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return show(c, &r, pathID("statements", args[0])+inPeriod(url.Values{}, since, until), printStatement)
		},
	}
	r.flags(c)
	periodFlags(c, &since, &until)
	return c
}

func printStatement(w io.Writer, d admin.Detail) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-20s"+format+"\n", append([]any{name}, args...)...)
	}
	if d.Note != "" {
		line("note", "%s", d.Note)
	}
	line("statement", "%s", d.Fingerprint)
	line("text", "%s", short(d.Text, 2000))
	line("period", "%s", periodText(d.From, d.To))
	if d.Table != "" {
		line("table", "%s.%s", d.Keyspace, d.Table)
	}
	line("class", "%s%s", d.Access.Class, accessText(&d))
	line("calls", "%d, %d of them in batches; %.1f %% of the time of all statements", d.Count, d.InBatch, 100*d.Share)
	line("latency", "p50 %s ms, p99 %s ms, p99.9 %s ms, mean %s ms", ms(d.Latency.P50()), ms(d.Latency.P99()), ms(d.Latency.Quantile(0.999)), ms(d.Latency.Mean()))
	if len(d.Series) > 0 {
		line("calls, "+step(d.Series), "%s", sparkline(d.Series, func(p history.Point) float64 { return float64(p.Count) }))
		line("p99, "+step(d.Series), "%s", sparkline(d.Series, func(p history.Point) float64 { return p.P99 }))
	}
	line("rows", "%s on average, %s at p99", number(d.Rows.Mean()), number(d.Rows.P99()))
	line("bytes", "request %s, answer %s on average, %s at p99", bytesText(d.RequestBytes.Mean()), bytesText(d.ResponseBytes.Mean()), bytesText(d.ResponseBytes.P99()))
	line("pages", "%d answers had more, %d requests asked for a following page", d.MorePages, d.Paged)
	if d.Errors > 0 {
		line("errors", "%d: %s", d.Errors, countsText(d.ErrorCodes))
	}
	if d.Warned > 0 {
		line("warnings", "%d: %s", d.Warned, countsText(d.Warnings))
	}
	if d.Conditional {
		line("conditional", "%d applied, %d not", d.Applied, d.NotApplied)
	}
	line("consistency", "%s", countsText(d.Consistency))
	if len(d.SerialConsistency) > 0 {
		line("serial", "%s", countsText(d.SerialConsistency))
	}
	if d.Retried+d.Speculative > 0 {
		line("repeated", "%d after a failure, about %d while under way", d.Retried, d.Speculative)
	}
	if d.Rewritten > 0 {
		own := d.RewrittenLatency
		line("rewritten", "%d answered by Helenus, p50 %s ms, p99 %s ms, mean %s ms; the others p50 %s ms", d.Rewritten, ms(own.P50()), ms(own.P99()), ms(own.Mean()), ms(d.OriginalLatency().P50()))
	}
	line("seen", "%s to %s", d.First.Local().Format("2006-01-02 15:04:05"), d.Last.Local().Format("2006-01-02 15:04:05"))
	b.WriteString("\nwhy it is slow or dear\n")
	for _, why := range d.Why {
		fmt.Fprintf(&b, "  it %s\n", why)
	}
	if len(d.Why) == 0 {
		b.WriteString("  nothing stands out\n")
	}
	writeCallers(&b, d.Callers)
	writeFeeds(&b, "values come from", d.Into, func(f feed.Feed) feed.End { return f.From })
	writeFeeds(&b, "values go to", d.OutOf, func(f feed.Feed) feed.End { return f.To })
	_, err := io.WriteString(w, b.String())
	return err
}

func accessText(d *admin.Detail) string {
	a, out := d.Access, ""
	for _, p := range []struct {
		name string
		list []string
	}{{"=", a.Equality}, {"IN", a.In}, {"range", a.Range}} {
		if len(p.list) > 0 {
			out += fmt.Sprintf("; %s %s", p.name, strings.Join(p.list, ", "))
		}
	}
	if a.UsesIndex != "" {
		out += "; index " + a.UsesIndex
	}
	if a.Filtering {
		out += "; filters"
	}
	return out
}

func writeCallers(b *strings.Builder, list []capture.Share) {
	b.WriteString("\nwho says it\n")
	for _, c := range list {
		name := fmt.Sprintf("%s, driver %s, role %s", orDash(plain(c.Application)), orDash(plain(c.Driver)), orDash(plain(c.Role)))
		if c.Rest {
			name = "all others"
		}
		mean := 0.0
		if c.Count > 0 {
			mean = float64(c.Micros) / float64(c.Count)
		}
		fmt.Fprintf(b, "  %s: %d calls, %d errors, mean %s ms\n", name, c.Count, c.Errors, ms(mean))
	}
}

func writeFeeds(b *strings.Builder, title string, list []feed.Feed, end func(feed.Feed) feed.End) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, f := range list {
		e := end(f)
		fmt.Fprintf(b, "  %s %s.%s.%s -> %s (%s, %.1f per execution, lag p50 %s ms, confidence %.2f)\n", e.Fingerprint[:8], f.From.Keyspace, f.From.Table,
			f.From.Column, f.To.Column, f.Shape, f.PerExecution, ms(f.LagP50), f.Confidence)
	}
}

// countsText lists counts by name, the largest first.
func countsText(t capture.Tally) string {
	t = slices.Clone(t)
	slices.SortStableFunc(t, func(a, b capture.Tallied) int { return cmp.Compare(b.Count, a.Count) })
	var out []string
	for _, x := range t {
		out = append(out, fmt.Sprintf("%s %d", x.Name, x.Count))
	}
	return orDash(strings.Join(out, ", "))
}

// maxSparks is how wide a sparkline is at most.
const maxSparks = 60

// sparkline draws the last windows, each by its share of the largest.
func sparkline(list []history.Point, of func(history.Point) float64) string {
	list = list[max(0, len(list)-maxSparks):]
	var most float64
	for _, p := range list {
		most = max(most, of(p))
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteRune(bar(of(p), most))
	}
	return b.String()
}

// bar is one value of a line, as a share of the largest.
func bar(v, most float64) rune {
	if v <= 0 || most <= 0 {
		return '.'
	}
	return []rune("▁▂▃▄▅▆▇█")[min(7, int(8*v/most))]
}

// step is how long a window of a series is.
func step(list []history.Point) string {
	d := list[len(list)-1].To.Sub(list[len(list)-1].From)
	switch {
	case d > 12*time.Hour:
		return "by days"
	case d > 30*time.Minute:
		return "by hours"
	}
	return "by " + d.Round(time.Second).String()
}

func printTrace(w io.Writer, t tracer.Trace) error {
	if _, err := fmt.Fprintf(w, "%s, %s, coordinator %s: %s ms, %d rows in the first page\n\n",
		t.Fingerprint, t.Consistency, t.Coordinator, ms(float64(t.Duration.Microseconds())), t.Rows); err != nil {
		return err
	}
	table := newTable("ms", "node", "what", "thread")
	for _, e := range t.Events {
		table.AppendRow([]any{fmt.Sprintf("%.3f", float64(e.Elapsed.Microseconds())/1000), e.Node, cut(e.Activity, 120), cut(e.Thread, 40)})
	}
	if err := render(w, table); err != nil {
		return err
	}
	return printNote(w, t.Kept)
}
