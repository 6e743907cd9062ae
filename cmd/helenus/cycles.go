package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, in an image that has none

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/store"
)

// cyclesFlags are what `helenus cycles` is asked for.
type cyclesFlags struct {
	remote
	since, minStep    time.Duration
	period, zone      string
	limit             int
	history, workload string
	options           cycle.Options
}

func cyclesCommand() *cobra.Command {
	var f cyclesFlags
	c := &cobra.Command{
		Use: "cycles", Short: "How the traffic goes with the time of day and week: patterns, whether they can be relied on, and steps at their change points",
		Args: usage(cobra.NoArgs),
		Long: `Cycles looks in the history for what repeats: for each statement, and for all together, whether it goes with the
day or the week or changes steadily, how much of its variance that explains, and how well each period told the next.
Where a cycle can be relied on it is cut into steps where the traffic changes; where not, it says why, and
what would be needed. docs/cycles.md explains how it is done.

  helenus cycles --zone Europe/Berlin
  helenus cycles --period day --min-step 2h --out workload.yaml     for helenus design workload.yaml --timeline
  helenus cycles --history helenus-state                            of the file, without a running process

That there is no cycle is no failure; --out is refused then, as there are no steps to write.

` + exitsText(exitDone, exitFailed, exitUsage, exitRefused, exitUnreachable),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.flags(c)
	flags := c.Flags()
	flags.Var((*span)(&f.since), "since", "only what was executed so long ago at most, such as 21d; 0: all that the history knows by the hour")
	flags.StringVar(&f.period, "period", cycle.Auto, "day, week, or auto: the longer one that can be relied on")
	flags.StringVar(&f.zone, "zone", "UTC", "whose days and weeks are meant, such as Europe/Berlin")
	flags.Var((*span)(&f.minStep), "min-step", "no step is to be shorter; 0: an hour")
	flags.IntVar(&f.limit, "limit", 20, "how many statements to list, 0 for all")
	flags.StringVar(&f.history, "history", "", "the state directory whose history file is to be read, instead of asking the running process")
	flags.StringVar(&f.workload, "out", "", "a file to write the workload to, with a weight for each statement and step, as design reads it")
	return c
}

func (f *cyclesFlags) check() error {
	zone, err := cycle.Zone(f.zone)
	f.options = cycle.Options{Zone: zone, Period: f.period, MinStep: f.minStep}
	switch {
	case err != nil:
		return fmt.Errorf("--zone: %w", err)
	case f.limit < 0:
		return fmt.Errorf("--limit: %d is no number from 0 on", f.limit)
	case f.history != "" && f.workload != "":
		return errors.New("--out: the workload needs the schema, which the running process knows and the history's file does not: leave --history out")
	}
	return f.options.Check()
}

func (f *cyclesFlags) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return usageError{err}
	}
	if f.history != "" {
		r, err := f.read(c)
		if err != nil {
			return err
		}
		raw, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		return printed(c.OutOrStdout(), &f.remote, append(raw, '\n'), f.print)
	}
	if f.workload != "" {
		if err := f.write(c); err != nil {
			return err
		}
	}
	return show(c, &f.remote, "cycles"+f.query(), f.print)
}

// query is the question as the API takes it.
func (f *cyclesFlags) query() string {
	v := url.Values{"zone": {f.zone}, "period": {f.period}}
	if f.minStep > 0 {
		v.Set("min_step", f.minStep.String())
	}
	return inPeriod(v, f.since, 0)
}

// read finds the cycles in a history's file, which a process may be writing to.
func (f *cyclesFlags) read(c *cobra.Command) (*cycle.Report, error) {
	if err := historyThere(f.history); err != nil {
		return nil, usageError{fmt.Errorf("--history: %w", err)}
	}
	var from time.Time
	if f.since > 0 {
		from = time.Now().Add(-f.since)
	}
	var r *cycle.Report
	err := onShelf(f.history, func(w *store.Windows) error {
		record, err := cycle.Read(c.Context(), cycle.Shelf(w), from, time.Time{})
		if err != nil {
			return err
		}
		r, err = cycle.Find(record, f.options)
		return err
	})
	return r, err
}

// write gets the workload and writes it to the file.
func (f *cyclesFlags) write(c *cobra.Command) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := client.Get(c.Context(), "cycles/workload"+f.query(), &raw); err != nil {
		return err
	}
	if err := os.WriteFile(f.workload, raw, 0o600); err != nil {
		return usageError{fmt.Errorf("--out: %w", err)}
	}
	_, err = fmt.Fprintf(c.ErrOrStderr(), "%s written\n", f.workload)
	return err
}

func (f *cyclesFlags) print(w io.Writer, r cycle.Report) error {
	if r.Bins == 0 {
		_, err := fmt.Fprintf(w, "No cycles: %s.\n", r.Why)
		return err
	}
	if _, err := fmt.Fprintf(w, "%s to %s: %d hours, %.0f %% of them known (zone %s)\n\nAll statements together\n", r.From.Format("2006-01-02 15:04"), r.To.Format("2006-01-02 15:04 MST"),
		r.Bins, 100*r.Watched, r.Zone); err != nil {
		return err
	}
	t := newTable("pattern", "verdict", "strength", "foretold", "alike", "chance", "periods", "why")
	for i := range r.Workload {
		p := &r.Workload[i]
		t.AppendRow([]any{p.Name, p.Verdict, share(p, p.Strength), share(p, p.Skill), share(p, p.Share), chance(p), p.Periods, p.Why})
	}
	if err := render(w, t); err != nil {
		return err
	}
	list := r.Statements
	if f.limit > 0 {
		list = list[:min(len(list), f.limit)]
	}
	if err := printPatterns(w, &r, list); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s%s.\n", strings.ToUpper(r.Why[:1]), r.Why[1:]); err != nil || r.Cycle == nil {
		return err
	}
	return printCycle(w, r.Cycle, len(list))
}

func share(p *cycle.Pattern, v float64) string {
	if !judged(p) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

func chance(p *cycle.Pattern) string {
	switch {
	case !judged(p):
		return "-"
	case p.Chance < 0.001:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p.Chance)
}

// judged tells whether there was enough to judge.
func judged(p *cycle.Pattern) bool { return p.Verdict != cycle.Short && p.Verdict != cycle.Irregular }

func printPatterns(w io.Writer, r *cycle.Report, list []cycle.Statement) error {
	if _, err := fmt.Fprint(w, "\nStatements\n"); err != nil {
		return err
	}
	t := newTable("statement", "work", "calls", "day", "week", "trend", "mean day or week", "text")
	for i := range list {
		s := &list[i]
		row := []any{statementID(s.Fingerprint), fmt.Sprintf("%.1f %%", 100*s.Share), s.Count}
		for _, name := range []string{cycle.Day, cycle.Week, cycle.Trend} {
			cell := "-"
			for j := range s.Patterns {
				if p := &s.Patterns[j]; p.Name == name {
					cell = string(p.Verdict)
					if p.Verdict == cycle.Reliable || p.Verdict == cycle.Weak || p.Verdict == cycle.Unstable {
						cell += " " + share(p, p.Strength)
					}
				}
			}
			row = append(row, cell)
		}
		text, most := s.Text, 80
		switch {
		case !s.Vanished.IsZero():
			since := "(not since " + s.Vanished.Format("2006-01-02") + ") "
			text, most = since+text, most+len(since)
		case !s.Appeared.IsZero():
			since := "(since " + s.Appeared.Format("2006-01-02") + ") "
			text, most = since+text, most+len(since)
		}
		if s.Fingerprint == cycle.Rest {
			text = fmt.Sprintf("%d statements of little work, and what has no record", r.Left)
		}
		t.AppendRow(append(row, bars(s.Mean, nil), cut(text, most)))
	}
	if err := render(w, t); err != nil {
		return err
	}
	if len(r.Statements) > len(list) {
		_, err := fmt.Fprintf(w, "%d of %d; --limit 0 lists all\n", len(list), len(r.Statements))
		return err
	}
	return nil
}

func statementID(fingerprint string) string { return fingerprint[:min(8, len(fingerprint))] }

// printCycle prints the steps, and each statement's mean cycle with the steps marked in it.
func printCycle(w io.Writer, c *cycle.Cycle, limit int) error {
	t := newTable("step", "begins", "lasts", "calls/s", "most of them")
	for k := range c.Steps {
		all, most := 0.0, 0
		for i := range c.Members {
			if all += c.Members[i].Weights[k]; c.Members[i].Weights[k] > c.Members[most].Weights[k] {
				most = i
			}
		}
		t.AppendRow([]any{k + 1, c.When(k), strings.TrimSuffix(c.Steps[k].Length.String(), "0m0s"), perSecondText(all), mostOf(c, most, k)})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := render(w, t); err != nil {
		return err
	}
	unit := time.Hour
	if c.Period == cycle.Trend {
		unit = 24 * time.Hour
	}
	var marks []int
	for _, s := range c.Steps {
		marks = append(marks, int(s.Begin/unit))
	}
	if _, err := fmt.Fprintf(w, "\nCalls a second in each step; | is where one begins\n"); err != nil {
		return err
	}
	t = newTable("statement", "mean "+c.Period, "calls/s")
	for i := range c.Members[:min(limit, len(c.Members))] {
		m := &c.Members[i]
		weights := make([]string, len(m.Weights))
		for k, v := range m.Weights {
			weights[k] = perSecondText(v)
		}
		t.AppendRow([]any{statementID(m.Fingerprint), bars(m.Mean, marks), strings.Join(weights, " ")})
	}
	return render(w, t)
}

// perSecondText prints three digits of what may be very little.
func perSecondText(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", v)
}

func mostOf(c *cycle.Cycle, member, step int) string {
	if c.Members[member].Weights[step] == 0 {
		return "-"
	}
	return statementID(c.Members[member].Fingerprint)
}

// maxBars is how wide a line of bars is at most.
const maxBars = 56

// bars draws a line, several places in one bar if it is long, with a mark before those places in marks.
func bars(list []float64, marks []int) string {
	if len(list) == 0 {
		return "-"
	}
	each := (len(list) + maxBars - 1) / maxBars
	most := slices.Max(list)
	var b strings.Builder
	for i := 0; i < len(list); i += each {
		part := list[i:min(len(list), i+each)]
		for k := range part {
			if slices.Contains(marks, i+k) {
				b.WriteByte('|')
			}
		}
		b.WriteRune(bar(slices.Max(part), most))
	}
	return b.String()
}
