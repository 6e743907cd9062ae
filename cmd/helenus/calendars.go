package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// memory reads what the history says for the advisor. Cycles are of hours, so the history, which may be of months, is read once in each, and the sizes
// of the tables are those of then: the calendar, which depends on nothing else that changes often, need not be designed anew more often either.
type memory struct {
	history interface {
		cycle.Source
		Between(ctx context.Context, from, to time.Time) (*capture.Snapshot, error)
	}
	zone       *time.Location
	statistics func() []schema.Stats

	mu   sync.Mutex
	hour time.Time // of past
	past *recommend.Past
}

func (m *memory) read(ctx context.Context) (*recommend.Past, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hour := time.Now().Truncate(cycle.Bin)
	if m.past != nil && m.hour.Equal(hour) {
		return m.past, nil
	}
	record, err := cycle.Read(ctx, m.history, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	report, err := cycle.Find(record, cycle.Options{Zone: m.zone})
	if err != nil {
		return nil, err
	}
	past := &recommend.Past{Report: report, Counts: &capture.Snapshot{}, Statistics: m.statistics()}
	if report.Cycle != nil {
		if past.Counts, err = m.history.Between(ctx, report.From, time.Time{}); err != nil {
			return nil, err
		}
	}
	m.hour, m.past = hour, past
	return past, nil
}

// recent is the history from a time on.
func (h *helenus) recent(ctx context.Context, from time.Time) (*cycle.Record, error) {
	return cycle.Read(ctx, h.history, from, time.Time{})
}

// limitFlags are what an approval of a timeline allows.
type limitFlags struct {
	until   string
	changes int
	bytes   config.Size
	windows []string
	each    bool
	drop    bool
}

func (f *limitFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.until, "until", "", "of a timeline: until when it is approved, such as 2027-01-31 or 2027-01-31T18:00:00Z; then it is withdrawn")
	flags.IntVar(&f.changes, "changes-per-day", 0, "of a timeline: tables made and dropped in 24 hours at most; 0: no limit")
	flags.Var(&f.bytes, "max-bytes", "of a timeline: what its tables may take together, such as 2GB")
	flags.StringArrayVar(&f.windows, "window", nil, "of a timeline: when changes may begin, by the cycle's clock, such as 22:00-06:00; may be repeated")
	flags.BoolVar(&f.each, "each", false, "of a timeline: every change waits for an approval of its own (helenus approve ID.N)")
	flags.BoolVar(&f.drop, "drop-at-end", false, "of a timeline: when it ends, what serves is rolled back and dropped, too; else it serves on, and is named")
}

// limits are the flags as the API takes them; nil if none was given.
func (f *limitFlags) limits(c *cobra.Command) (*calendar.Limits, error) {
	given := false
	for _, name := range []string{"until", "changes-per-day", "max-bytes", "window", "each", "drop-at-end"} {
		given = given || c.Flags().Changed(name)
	}
	if !given {
		return nil, nil //nolint:nilnil // none
	}
	l := &calendar.Limits{ChangesPerDay: f.changes, MaxBytes: float64(f.bytes), Each: f.each, Drop: f.drop}
	var err error
	if f.changes < 0 {
		return nil, usageError{fmt.Errorf("--changes-per-day %d: it may be 0, which is no limit, or more", f.changes)}
	}
	if c.Flags().Changed("until") {
		if l.Until, err = time.Parse(time.RFC3339, f.until); err != nil {
			if l.Until, err = time.ParseInLocation(time.DateOnly, f.until, time.Local); err != nil {
				return nil, usageError{fmt.Errorf("--until %q is neither like 2027-01-31 nor like 2027-01-31T18:00:00Z", f.until)}
			}
		}
	}
	for _, text := range f.windows {
		w, err := calendar.ParseWindow(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--window: %w", err)}
		}
		l.Windows = append(l.Windows, w)
	}
	return l, nil
}

// calendarOf is the calendar of an id, nil if it is none's.
func calendarOf(ctx context.Context, r *remote, id string) (*calendar.Calendar, []byte, error) {
	client, err := r.client()
	if err != nil {
		return nil, nil, err
	}
	var raw []byte
	var missing *admin.Error
	if err := client.Get(ctx, "calendars/"+url.PathEscape(id), &raw); errors.As(err, &missing) && missing.Code == "not_found" {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	var c calendar.Calendar
	return &c, raw, json.Unmarshal(raw, &c)
}

// orderCalendar gives an order about a calendar.
func orderCalendar(c *cobra.Command, r *remote, id, order string, d admin.Decision) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	d.Actor = actor()
	var raw []byte
	if err := client.Post(c.Context(), pathID("calendars", id)+"/"+order, d, &raw); err != nil {
		return err
	}
	return printed(c.OutOrStdout(), r, raw, func(w io.Writer, x calendar.Calendar) error { return printCalendar(w, &x) })
}

func pauseCommand() *cobra.Command {
	var (
		r      remote
		reason string
		order  orderFlags
	)
	c := &cobra.Command{
		Use: "pause ID", Short: "Let no further change of a calendar begin until `resume`; what serves goes on serving", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := order.allows(c, &r, "pause", args[0]); !given {
				return err
			}
			return orderCalendar(c, &r, args[0], "pause", admin.Decision{Reason: reason})
		},
	}
	r.flags(c)
	order.flags(c, false)
	whyFlags(c, &reason)
	return c
}

func printCalendars(w io.Writer, all []calendar.Calendar) error {
	if len(all) == 0 {
		return nil
	}
	t := newTable("calendar", "state", "since", "cycle", "tables there", "waiting", "reason")
	for i := range all {
		c := &all[i]
		var there, waiting []string
		for n := range c.Seasons {
			s, name := &c.Seasons[n], c.Plan.Seasons[n].Rewrite.Table
			if s.Stage != calendar.Out {
				there = append(there, name+" ("+string(s.Stage)+")")
			}
			if s.Waiting != "" {
				waiting = append(waiting, s.ID)
			}
		}
		t.AppendRow([]any{c.ID, c.State, ago(c.Approved), c.Cycle.Period, cut(strings.Join(there, ", "), 60), strings.Join(waiting, ", "), cut(c.Reason, 80)})
	}
	if err := render(w, t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func printCalendar(w io.Writer, c *calendar.Calendar) error {
	text := fmt.Sprintf("%s is %s, approved by %s\n", c.ID, c.State, c.Actor)
	if c.Reason != "" {
		text += "reason: " + c.Reason + "\n"
	}
	if h := c.Holding; h != nil {
		text += "cycle:  " + h.Why + "\n"
	}
	text += "limits: " + limitsText(&c.Limits) + "\n\n"
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	t := newTable("id", "table", "stage", "since", "there from", "took", "waiting")
	for n := range c.Seasons {
		s, p := &c.Seasons[n], &c.Plan.Seasons[n]
		var when []string
		for step, there := range p.Steps {
			if there {
				when = append(when, c.Cycle.When(step))
			}
		}
		took := "-"
		if s.Took > 0 {
			took = s.Took.Round(time.Second).String()
		}
		t.AppendRow([]any{s.ID, p.Rewrite.FullTable(), s.Stage, ago(s.Since), strings.Join(when, ", "), took, s.Waiting})
	}
	if err := render(w, t); err != nil {
		return err
	}
	for _, e := range c.Events {
		by := ""
		if e.Actor != "" {
			by = " (" + e.Actor + ")"
		}
		if _, err := fmt.Fprintf(w, "  %s  %s%s\n", e.Time.Format(time.RFC3339), e.Text, by); err != nil {
			return err
		}
	}
	return nil
}

func limitsText(l *calendar.Limits) string {
	var out []string
	if !l.Until.IsZero() {
		out = append(out, "until "+l.Until.Format(time.RFC3339))
	}
	if l.ChangesPerDay > 0 {
		out = append(out, fmt.Sprintf("%d changes a day", l.ChangesPerDay))
	}
	if l.MaxBytes > 0 {
		out = append(out, bytesText(l.MaxBytes))
	}
	for _, w := range l.Windows {
		out = append(out, "changes begin "+w.String())
	}
	if l.Each {
		out = append(out, "each change is approved by itself")
	}
	if l.Drop {
		out = append(out, "all is dropped when it ends")
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, "; ")
}
