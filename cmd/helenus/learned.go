package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/condition"
)

func recommendationsCommand() *cobra.Command {
	var (
		r              remote
		now, all, whys bool
	)
	c := &cobra.Command{
		Use: "recommendations", Short: "The advice", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if now {
				if _, err := decide(c.Context(), &r, "advise", ""); err != nil {
					return err
				}
			}
			choose := func(found admin.Recommendations) admin.Recommendations {
				if !all {
					found.Recommendations = slices.DeleteFunc(found.Recommendations, over)
				}
				if r.structured() && !whys { // the table says how many there are
					found.Dismissed = []recommend.Dismissal{}
				}
				return found
			}
			return showChosen(c, &r, "recommendations", choose, func(w io.Writer, found admin.Recommendations) error {
				return printRecommendations(w, found, whys)
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&now, "now", false, "work the advice out now instead of showing the last")
	c.Flags().BoolVar(&all, "all", false, "also list what was dismissed or snoozed, superseded or has expired")
	c.Flags().BoolVar(&whys, "dismissed", false, "also list the statements that led to no advice, and why")
	return c
}

// over tells whether nothing is to be decided about a recommendation any more.
func over(r recommend.Recommendation) bool {
	return r.State != recommend.Open && r.State != recommend.Approved
}

func printRecommendations(w io.Writer, all admin.Recommendations, whys bool) error {
	for _, text := range append([]string{all.Trouble}, all.Problems...) {
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", text); err != nil {
			return err
		}
	}
	if len(all.Recommendations) == 0 {
		if _, err := fmt.Fprintf(w, "Nothing to advise so far; %d statements were looked at (--dismissed says why not).\n", len(all.Dismissed)); err != nil {
			return err
		}
	} else {
		t := newTable("id", "kind", "state", "saves", "of its reads", "served", "writes x", "storage", wideOnly("table"), wideOnly("confidence"), wideOnly("since"), "what")
		for i := range all.Recommendations {
			one := &all.Recommendations[i]
			t.AppendRow([]any{
				one.ID, one.Kind, stateOf(one), perSecond(one), fmt.Sprintf("%.0f %%", 100*one.BenefitRatio), served(one),
				fmt.Sprintf("%.1f", one.WriteCostRatio), bytesText(one.StorageBytes),
				one.Keyspace + "." + one.Table, fmt.Sprintf("%.2f", one.Confidence), ago(one.StateSince), cut(one.Title, 90),
			})
		}
		if err := render(w, t); err != nil {
			return err
		}
		if all.Timeline != "" {
			if _, err := fmt.Fprintf(w, "\nNo calendar: %s.\n", all.Timeline); err != nil {
				return err
			}
		}
		if err := printConditions(w, all.Recommendations); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "\nsaves: time of cluster work each second. `helenus explain ID` says why."); err != nil {
			return err
		}
	}
	if !whys {
		return nil
	}
	t := newTable("statement", "count", "why no advice", "text")
	for _, d := range all.Dismissed {
		t.AppendRow([]any{cut(d.Fingerprint, 8), d.Count, cut(d.Reason, 100), cut(d.Text, 80)})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return render(w, t)
}

// served is the share of the executions seen that an advice would have answered otherwise.
func served(r *recommend.Recommendation) string {
	share, _, ok := r.Served()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3g %%", 100*share)
}

func stateOf(r *recommend.Recommendation) string {
	switch {
	case r.Migration != "":
		return r.Migration
	case r.Executable() && !r.Eligible:
		text := string(r.State) + ", not eligible"
		if ids, _ := plan.RefusedBy(r.Verdicts); len(ids) > 0 {
			text += ": " + ids[0].Name()
		}
		return text
	}
	return string(r.State)
}

// printConditions says where to read of the conditions that refuse advice.
func printConditions(w io.Writer, all []recommend.Recommendation) error {
	said := map[condition.ID]bool{}
	for i := range all {
		ids, _ := plan.RefusedBy(all[i].Verdicts)
		for _, id := range ids {
			c := condition.Find(id)
			if c == nil || said[id] || all[i].Eligible {
				continue
			}
			said[id] = true
			if _, err := fmt.Fprintf(w, "\n%s: %s", c.Name(), c.Link()); err != nil {
				return err
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w)
	return err
}

func perSecond(r *recommend.Recommendation) string {
	if r.Kind == recommend.Keep {
		return "-"
	}
	return recommend.WorkTime(r.SavedSecondsPerSecond) + "/s"
}

func bytesText(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.0f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f TB", n)
}

func explainCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "explain ID", Short: "One advice: why, cost, saving, evidence, what was rejected and why", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return showText(c, &r, pathID("recommendations", args[0]))
		},
	}
	r.flags(c)
	return c
}

func reopenCommand() *cobra.Command {
	var r remote
	var order orderFlags
	c := &cobra.Command{
		Use: "reopen ID", Short: "Take a dismissal or a snooze back", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := order.allows(c, &r, "reopen", args[0]); !given {
				return err
			}
			raw, err := decide(c.Context(), &r, pathID("changes", args[0])+"/reopen", "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, one recommend.Recommendation) error {
				_, err := fmt.Fprintf(w, "%s is open again\n", one.ID)
				return err
			})
		},
	}
	r.flags(c)
	order.flags(c, false)
	return c
}

// rounds is how rounds of advice are worked out: each in a process of its own, where that can be.
func (h *helenus) rounds() func(context.Context, recommend.Input) (*recommend.Advice, error) {
	if err := round.Possible(); err != nil {
		h.log.Warn("rounds of advice are worked out in this process: nothing bounds their memory and time (advise-memory, advise-time)", "why", err)
		return recommend.Make
	}
	return round.New(round.Config{Memory: int64(h.settings.AdviseMemory), Time: h.settings.AdviseTime, Solver: h.settings.Solver}).Make
}

// comparisons is how model files are made and read: in a process of their own, one after the other, where that can be.
func (h *helenus) comparisons() func(context.Context, *capture.Snapshot, *schema.Schema, []schema.Stats, correction.List, string) (*infer.Comparison, error) {
	compare := infer.Compare
	if round.Possible() == nil {
		compare = round.New(round.Config{Memory: int64(h.settings.AdviseMemory), Time: h.settings.AdviseTime, Solver: h.settings.Solver}).Compare
	}
	one := make(chan struct{}, 1)
	return func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, inForce correction.List, file string) (*infer.Comparison, error) {
		return inTurn(ctx, one, func() (*infer.Comparison, error) { return compare(ctx, snapshot, s, stats, inForce, file) })
	}
}

// worked fills in what of the API takes long: one thing after another, each in a process of its own, where that can be.
func (h *helenus) worked(to admin.Schemas) admin.Schemas {
	lintNow, weighNow := lint.LiveCorrected, infer.WeighedCorrected
	if round.Possible() == nil {
		p := round.New(round.Config{Memory: int64(h.settings.AdviseMemory), Time: h.settings.AdviseTime, Solver: h.settings.Solver})
		lintNow, weighNow = p.Lint, p.Weigh
	}
	one := make(chan struct{}, 1)
	to.Lint = func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) (*lint.Report, error) {
		return inTurn(ctx, one, func() (*lint.Report, error) {
			said, err := h.advisor.Corrections(ctx)
			if err != nil {
				return nil, err
			}
			return lintNow(ctx, snapshot, s, stats, said)
		})
	}
	to.Weigh = func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, c *cycle.Cycle) (string, error) {
		return inTurn(ctx, one, func() (string, error) {
			said, err := h.advisor.Corrections(ctx)
			if err != nil {
				return "", err
			}
			return weighNow(ctx, snapshot, s, stats, said, c)
		})
	}
	return to
}

// inTurn does something when nothing else is done that takes the same place.
func inTurn[T any](ctx context.Context, place chan struct{}, f func() (T, error)) (none T, err error) {
	select {
	case place <- struct{}{}:
		defer func() { <-place }()
		return f()
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
