package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// changesCommand lists all changes, each in its one state.
func changesCommand() *cobra.Command {
	var (
		r     remote
		state []string
		all   bool
	)
	c := &cobra.Command{
		Use: "changes [ID]", Short: "All changes: proposed, under way, serving and over; or one, with its history", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return show(c, &r, pathID("changes", args[0]), printChange)
			}
			if err := noteBypass(c, &r); err != nil {
				return err
			}
			choose := func(list []admin.Change) []admin.Change { return list }
			if !all && len(state) == 0 {
				choose = timely
			}
			return showChosen(c, &r, "changes?state="+url.QueryEscape(strings.Join(state, ",")), choose, printChanges)
		},
	}
	r.flags(c)
	c.Flags().StringSliceVar(&state, "state", nil, "in these states only, such as serving,suspended")
	c.Flags().BoolVar(&all, "all", false, "also list what was dismissed or dropped, superseded or has expired")
	return c
}

// timely are the changes that wait for somebody, or that something is done for.
func timely(list []admin.Change) (left []admin.Change) {
	left = []admin.Change{}
	for i := range list {
		switch list[i].State {
		case change.Dismissed, change.Superseded, change.Expired, change.Dropped:
		default:
			left = append(left, list[i])
		}
	}
	return left
}

func printChanges(w io.Writer, list []admin.Change) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No change so far, or none in such a state (--all); `helenus recommendations` says what was looked at.")
		return err
	}
	t := newTable("change_id", "state", "done", "since", "kind", "table", "saves", wideOnly("by"), "what", "reason")
	for i := range list {
		x := &list[i]
		saves := "-"
		if x.Saves > 0 {
			saves = recommend.WorkTime(x.Saves) + "/s"
		}
		done := "-"
		if x.Done > 0 {
			done = fmt.Sprintf("%.0f %%", 100*x.Done)
		}
		t.AppendRow([]any{x.ID, x.State, done, ago(x.Since), x.Kind, x.Keyspace + "." + x.Table, saves, x.Actor, cut(x.Title, 60), cut(whyOf(x), 100)})
	}
	return render(w, t)
}

// whyOf is what a person should know of the state of a change.
func whyOf(x *admin.Change) string {
	switch {
	case x.Pending != "":
		return "PENDING: " + x.Pending
	case !x.Until.IsZero():
		return "until " + x.Until.Format(time.RFC3339) + ": " + x.Reason
	}
	return x.Reason
}

// printChange prints one change: how it is carried out, if it is, or else what is proposed.
func printChange(w io.Writer, x admin.Change) error {
	switch {
	case x.Calendar != nil && !x.State.Proposal():
		return printCalendar(w, x.Calendar)
	case x.Work != nil && !x.State.Proposal():
		return printMigration(w, x.Work)
	}
	text := fmt.Sprintf("%s is %s since %s: %s", x.ID, x.State, x.Since.Format(time.RFC3339), x.Title)
	if x.Actor != "" {
		text += ", by " + x.Actor
	}
	if why := whyOf(&x); why != "" {
		text += "\n  " + why
	}
	_, err := fmt.Fprintf(w, "%s\n`helenus explain %s` says why and what it would bring, `helenus audit --change %s` what was decided.\n", text, x.ID, x.ID)
	return err
}

// migrationsCommand is what changesCommand was called until the last release: it lists those that are carried out, or were.
func migrationsCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "migrations [ID]", Short: "What is under way and what was done (the older name of changes)", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if x, raw, err := calendarOf(c.Context(), &r, args[0]); err != nil {
					return err
				} else if x != nil {
					return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, x calendar.Calendar) error { return printCalendar(w, &x) })
				}
				return show(c, &r, pathID("migrations", args[0]), func(w io.Writer, m migrate.Change) error { return printMigration(w, &m) })
			}
			if err := noteBypass(c, &r); err != nil {
				return err
			}
			if !r.structured() { // which is one list; that of calendars is at the API
				if err := show(c, &r, "calendars", printCalendars); err != nil {
					return err
				}
			}
			return show(c, &r, "migrations", printMigrations)
		},
	}
	r.flags(c)
	return c
}

// whyFlags add --why, and --reason, which it was called until the last release.
func whyFlags(c *cobra.Command, why *string) {
	c.Flags().StringVar(why, "why", "", "why; kept with the decision")
	c.Flags().StringVar(why, "reason", "", "the same as --why")
}

// dismissCommand puts advice off for good. It was called reject until the last release.
func dismissCommand(name string) *cobra.Command {
	var (
		r     remote
		why   string
		order orderFlags
	)
	about := "Do not show an advice again until it changes materially"
	if name != "dismiss" {
		about += " (the older name of dismiss)"
	}
	c := &cobra.Command{
		Use: name + " ID --why TEXT", Short: about, Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := order.allows(c, &r, "dismiss", args[0]); !given {
				return err
			}
			raw, err := decide(c.Context(), &r, pathID("changes", args[0])+"/dismiss", why)
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, one recommend.Recommendation) error {
				_, err := fmt.Fprintf(w, "%s dismissed: %s\n", one.ID, why)
				return err
			})
		},
	}
	r.flags(c)
	order.flags(c, false)
	whyFlags(c, &why)
	return c
}

// snoozeCommand puts advice off for a while.
func snoozeCommand() *cobra.Command {
	var (
		r     remote
		why   string
		long  = "7d"
		order orderFlags
	)
	c := &cobra.Command{
		Use: "snooze ID --for TIME --why TEXT", Short: "Do not show an advice for a while, unless it changes materially", Args: usage(cobra.ExactArgs(1)),
		Long: `Takes an advice off the list. It is open again by itself when the time is over, or before if it would save more than twice as
much as now, or its tables are altered.`,
		RunE: func(c *cobra.Command, args []string) error {
			length, err := config.Duration(long)
			if err != nil {
				return usageError{fmt.Errorf("--for %q: %w", long, err)}
			}
			if given, err := order.allows(c, &r, "snooze", args[0]); !given {
				return err
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Post(c.Context(), pathID("changes", args[0])+"/snooze", admin.Decision{Actor: actor(), Reason: why, For: length.String()}, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, one recommend.Recommendation) error {
				_, err := fmt.Fprintf(w, "%s snoozed until %s: %s\n", one.ID, one.Until.Format(time.RFC3339), cmp.Or(why, one.StateReason))
				return err
			})
		},
	}
	r.flags(c)
	order.flags(c, false)
	whyFlags(c, &why)
	c.Flags().StringVar(&long, "for", long, "how long, such as 12h or 7d")
	return c
}
