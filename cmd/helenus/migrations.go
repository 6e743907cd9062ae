package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// pollEvery is how often a command that follows a change looks.
const pollEvery = 250 * time.Millisecond

func approveCommand() *cobra.Command {
	var (
		r      remote
		limits limitFlags
		detach bool
		terms  admin.Decision
		order  orderFlags
	)
	c := &cobra.Command{
		Use: "approve ID", Short: "Carry an advice out: create, dual-write, backfill, verify, compare, serve", Args: usage(cobra.ExactArgs(1)),
		Long: `Carries an advice out while the application runs: creates the table, writes to it along with the base table, fills it, compares
both, runs live reads both ways, and then answers them from it. Shows the progress until the change serves; Ctrl-C stops
the showing, not the change.

A timeline is approved as a whole: its tables come and go with the cycle until it is withdrawn (helenus rollback ID), or as
long as --until says. With --each, helenus approve ID.N approves the next change of its N-th table.`,
		RunE: func(c *cobra.Command, args []string) error {
			allowed, err := limits.limits(c)
			if err != nil {
				return err
			}
			name := "approve"
			if ofSeason(args[0]) {
				s, err := subjectOf(c, &r, args[0])
				if err != nil {
					return err
				}
				name = cmp.Or(nextOf(s), name)
			}
			if given, err := order.allows(c, &r, name, args[0]); !given {
				return err
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Post(c.Context(), pathID("changes", args[0])+"/approve", admin.Decision{Actor: actor(), Limits: allowed,
				OnEntryFailure: terms.OnEntryFailure, Fill: terms.Fill, Hold: terms.Hold, Despite: terms.Despite}, &raw); err != nil {
				return err
			}
			var awaits admin.Proposed
			if err := json.Unmarshal(raw, &awaits); err == nil && awaits.Proposal != nil {
				return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, p admin.Proposed) error {
					_, err := fmt.Fprintf(w, "%s is %s.\n", p.Proposal.ID, p.Message)
					return err
				})
			}
			var begun calendar.Calendar
			if err := json.Unmarshal(raw, &begun); err == nil && len(begun.Seasons) > 0 {
				return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, x calendar.Calendar) error { return printCalendar(w, &x) })
			}
			var m migrate.Change
			if err := json.Unmarshal(raw, &m); err != nil {
				return err
			}
			if detach {
				return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, m migrate.Change) error { return printMigration(w, &m) })
			}
			return follow(c.Context(), c.OutOrStdout(), &r, m.ID)
		},
	}
	r.flags(c)
	limits.flags(c)
	order.flags(c, true)
	c.Flags().StringVar(&terms.OnEntryFailure, "on-entry-failure", "", "what becomes of a write whose entry can not be written: turn-back (the default: it is carried out, and reads run as written until the table is verified again) or refuse (it is refused, before anything of it was sent)")
	c.Flags().StringVar(&terms.Fill, "fill", "", "who fills the table: own (the default: Helenus) or bulk (it waits for a bulk job; see helenus bulk)")
	c.Flags().StringSliceVar(&terms.Despite, "despite", nil, "conditions to overrule that refuse it because of a statement, such as "+plan.ExampleOverrule+"; they are kept in the history with your name")
	c.Flags().BoolVar(&terms.Hold, "hold", false, "keep it in shadow, where reads run as written and are compared, until `helenus cut-over` is given")
	c.Flags().BoolVar(&detach, "detach", false, "return at once instead of showing the progress")
	return c
}

// follow shows a change's progress until it serves, or until it stopped for good.
func follow(ctx context.Context, w io.Writer, r *remote, id string) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	var shown progressLine
	for events := 0; ; {
		var m migrate.Change
		var raw []byte
		if err := client.Get(ctx, "migrations/"+url.PathEscape(id), &raw); ctx.Err() != nil {
			return errUnwatched(id)
		} else if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if !r.structured() {
			for ; events < len(m.Events); events++ {
				e := m.Events[events]
				if _, err := fmt.Fprintf(w, "%6.1fs  %-11s %s\n", e.Time.Sub(m.Approved).Seconds(), e.State, e.Text); err != nil {
					return err
				}
			}
			if line := progressOf(&m); line != shown && line != (progressLine{}) {
				shown = line
				if _, err := fmt.Fprintf(w, "%6.1fs  %-11s %s\n", time.Since(m.Approved).Seconds(), m.State, line.text(&m)); err != nil {
					return err
				}
			}
		}
		switch {
		case m.State == migrate.Shadow && m.Progress.Throttled == migrate.Held && !r.structured():
			_, err = fmt.Fprintf(w, "%s is held in shadow. `helenus cut-over %s` has reads answered by it.\n", m.ID, m.ID)
			return err
		case m.State == migrate.Shadow && m.Progress.Throttled == migrate.Held:
			return r.write(w, raw)
		}
		switch m.State {
		case migrate.Serving:
			if r.structured() {
				err = r.write(w, raw)
			} else {
				_, err = fmt.Fprintf(w, "%s serves. `helenus rollback %s` turns it back at once.\n", m.ID, m.ID)
			}
			return err
		case migrate.Suspended, migrate.Failed, migrate.RollingBack, migrate.RolledBack, migrate.Dropped:
			return fmt.Errorf("change %s is %s: %s", m.ID, m.State, m.Reason)
		}
		select {
		case <-ctx.Done():
			return errUnwatched(id)
		case <-time.After(pollEvery):
		}
	}
}

// errUnwatched says that a change goes on of which the progress is shown no longer: somebody pressed Ctrl-C.
func errUnwatched(id string) error {
	return fmt.Errorf("its progress is shown no longer, but %s goes on: `helenus changes %s` says how far it is, `helenus rollback %s` takes it back", id, id, id)
}

// progressLine is what makes a new line of progress worth printing: another state, another tenth, or another reason to wait.
type progressLine struct {
	state     migrate.State
	tenth     int
	throttled string
}

func progressOf(m *migrate.Change) progressLine {
	const tenths = 10
	p := m.Progress
	tenth := int(p.Ratio * tenths)
	if p.Throttled == "" && (p.Total == 0 || tenth == 0 && m.State != migrate.Shadow) { // which waits for the application, at times for long
		return progressLine{}
	}
	return progressLine{m.State, tenth, p.Throttled}
}

func (l progressLine) text(m *migrate.Change) string {
	if l.throttled != "" {
		return "waiting: " + l.throttled
	}
	text := fmt.Sprintf("%3d %%", l.tenth*10)
	if m.State == migrate.Shadow {
		text += "  " + doneOf(m)
	}
	if m.Progress.ETA > 0 {
		text += fmt.Sprintf("  about %v to go", m.Progress.ETA.Round(time.Second))
	}
	return text
}

// doneOf says how much of how much was done.
func doneOf(m *migrate.Change) string {
	p := m.Progress
	return fmt.Sprintf("%s of %s %s", words.Count(p.Done), words.Count(p.Total), p.Unit)
}

// advancing are the states whose work is counted until it is done.
var advancing = map[migrate.State]bool{migrate.Backfill: true, migrate.Verify: true, migrate.Shadow: true}

// advance says how far the work of a state has come, "" if it is not counted.
func advance(m *migrate.Change) string {
	if !advancing[m.State] || m.Progress.Total == 0 {
		return ""
	}
	text := ratio(m) + ", " + doneOf(m)
	if m.Progress.ETA > 0 {
		text += fmt.Sprintf(", about %s to go", words.Span(m.Progress.ETA))
	}
	return text
}

func printMigrations(w io.Writer, all []migrate.Change) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "No change yet; `helenus approve ID` starts one.")
		return err
	}
	t := newTable("change_id", "state", "since", "progress", "entries", "compared", "table", wideOnly("base"), wideOnly("by"), "reason")
	for i := range all {
		m := &all[i]
		t.AppendRow([]any{
			m.ID, m.State, ago(m.Progress.Started), ratio(m), m.Entries, m.Compared,
			tables(m), m.Rewrite.Base, m.Actor, cut(why(m), 120),
		})
	}
	return render(w, t)
}

// tables is the table that a change makes, or, if it makes none, the application's.
func tables(m *migrate.Change) string {
	if m.Rewrite.Table == "" {
		return m.Rewrite.Keyspace + "." + m.Rewrite.Base
	}
	return m.Rewrite.FullTable()
}

// ratio is how much of the work of its state is done, "-" if there is none that could be counted.
func ratio(m *migrate.Change) string {
	if m.Progress.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*m.Progress.Ratio)
}

// why is what a person should know of the state of a change.
func why(m *migrate.Change) string {
	if m.Pending != "" {
		return "PENDING: " + m.Pending
	}
	return m.Waits()
}

func printMigration(w io.Writer, m *migrate.Change) error {
	_, err := fmt.Fprintf(w, "%s is %s (%s: %s), approved by %s\n", m.ID, m.State, m.Title, tables(m), m.Actor)
	if err != nil {
		return err
	}
	if m.Compared > 0 {
		if _, err := fmt.Fprintf(w, "compared: %d in all; with reads of the application %d, with Helenus's own %d, with token ranges of the base %d\n",
			m.Compared, m.ByReads, m.ByOwn, m.ByRanges); err != nil {
			return err
		}
	}
	var despite []string
	for _, o := range m.Despite {
		despite = append(despite, o.String())
	}
	for _, line := range []struct{ label, text string }{
		{"if an entry can not be written", m.OnEntryFailure}, {"approved despite", strings.Join(despite, ", ")},
		{"pace", paceOf(m)}, {"progress", advance(m)}, {"pending", m.Pending}, {"reason", m.Reason}, {"waits", m.Progress.Throttled},
	} {
		if line.text == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", line.label, line.text); err != nil {
			return err
		}
	}
	if m.Gain != nil {
		for line := range strings.SplitSeq(m.Gain.Text, "\n") {
			if _, err := fmt.Fprintf(w, "measured: %s\n", line); err != nil {
				return err
			}
		}
	}
	for _, e := range m.Events {
		text := e.Text
		if e.Actor != "" {
			text += " (" + e.Actor + ")"
		}
		if _, err := fmt.Fprintf(w, "  %s  %-11s %s\n", e.Time.Format(time.RFC3339), e.State, text); err != nil {
			return err
		}
	}
	return nil
}

// paceOf is the pace that a person ordered, "" if nobody did.
func paceOf(m *migrate.Change) string {
	if m.Throttle == (migrate.Throttle{}) {
		return ""
	}
	return m.Throttle.String()
}

func verifyCommand() *cobra.Command {
	var r remote
	var order orderFlags
	c := &cobra.Command{
		Use: "verify ID", Short: "Compare a change's base and look-up table now, in both directions", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := order.allows(c, &r, "verify", args[0]); !given {
				return err
			}
			raw, err := decide(c.Context(), &r, pathID("changes", args[0])+"/verify", "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, m migrate.Change) error {
				l := m.Last
				_, err := fmt.Fprintf(w, "%s: %d rows, %d without entry (%d repaired); %d entries, %d without row (%d removed). It is %s.\n",
					m.ID, l.Rows, l.Missing, l.Repaired, l.Entries, l.Orphans, l.Removed, m.State)
				if err == nil && l.NoRoom > 0 {
					_, err = fmt.Fprintf(w, "%d rows have keys too long for the table: reads of their values run as written.\n", l.NoRoom)
				}
				return err
			})
		},
	}
	r.flags(c)
	order.flags(c, false)
	return c
}

// calendarOrders are what orders about a change are of a calendar.
var calendarOrders = map[string]string{"rollback": "withdraw", "resume": "resume"}

// previewOf is what package preview calls these.
var previewOf = map[string]string{"withdraw": "withdraw all", "resume": "continue"}

// orderCommand is an order about a change.
func orderCommand(name, about, done string) *cobra.Command {
	var r remote
	var flags orderFlags
	c := &cobra.Command{
		Use: name + " ID", Short: about, Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if order := calendarOrders[name]; order != "" {
				if x, _, err := calendarOf(c.Context(), &r, args[0]); err != nil {
					return err
				} else if x != nil {
					if given, err := flags.allows(c, &r, previewOf[order], args[0]); !given {
						return err
					}
					return orderCalendar(c, &r, args[0], order, admin.Decision{Drop: order == "withdraw"})
				}
			}
			if given, err := flags.allows(c, &r, name, args[0]); !given {
				return err
			}
			raw, err := decide(c.Context(), &r, pathID("changes", args[0])+"/"+name, "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, m migrate.Change) error {
				text := fmt.Sprintf("%s is %s", m.ID, done)
				switch {
				case m.State == migrate.RollingBack:
					text = m.ID + ": statements run as written again; its table is written until the last of them that needs it has ended"
				case strings.ReplaceAll(string(m.State), "-", " ") != done:
					text += fmt.Sprintf("; it is now %s", m.State)
				}
				_, err := fmt.Fprintln(w, text+".")
				return err
			})
		},
	}
	r.flags(c)
	flags.flags(c, name == "rollback" || name == "drop")
	return c
}
