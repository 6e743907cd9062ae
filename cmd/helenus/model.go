package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/words"
)

func modelCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "model", Short: "The entity-relationship model found, and the joins that the application does by hand", Args: usage(cobra.NoArgs),
		Long: `What Helenus concluded: entities, relationships, which tables hold what, joins done by hand, the workload in these terms, and what
contradicts corrections of people. The sub-commands correct it; docs/model.md leads through that.`,
		RunE: func(c *cobra.Command, _ []string) error { return showText(c, &r, "model") },
	}
	r.flags(c)
	c.AddCommand(modelExportCommand(), modelImportCommand(), modelDiffCommand(), modelVersionsCommand(), modelResetCommand())
	return c
}

func modelExportCommand() *cobra.Command {
	var (
		r       remote
		version int
	)
	c := &cobra.Command{
		Use: "export", Short: "The model as a file: what `helenus design` takes, and `helenus model import` after its corrections were edited", Args: usage(cobra.NoArgs),
		Long: `Writes the model file to standard output: model, workload, existing tables, and the corrections in force, as
docs/schema/workload.json says. It is of the traffic seen up to now, so its weights are never quite those of a minute before.`,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := r.client()
			if err != nil {
				return err
			}
			path := "model/export"
			if c.Flags().Changed("version") {
				path += "?version=" + strconv.Itoa(version)
			}
			var raw []byte
			if err := client.Get(c.Context(), path, &raw); err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(raw)
			return err
		},
	}
	r.reach(c)
	c.Flags().IntVar(&version, "version", 0, "the file that was imported as this version, as it was (helenus model versions)")
	return c
}

func modelImportCommand() *cobra.Command {
	var (
		r      remote
		reason string
		dryRun bool
	)
	c := &cobra.Command{
		Use: "import FILE", Short: "Put the corrections of a model file in force, in place of those before", Args: usage(cobra.ExactArgs(1)),
		Long: `Takes the corrections of a model file (- is standard input). They hold from the next round of advice on, which begins at once, and
after a restart. All else in the file is what was inferred when it was exported: it is compared, and what differs is listed,
but nothing of it is taken. --dry-run shows what would change. Each import is a version: helenus model reset goes back.`,
		RunE: func(c *cobra.Command, args []string) error {
			text, err := modelFile(c, args[0])
			if err != nil {
				return err
			}
			return r.orderModel(c, "model/import", &admin.ModelOrder{Actor: actor(), Reason: reason, File: text, DryRun: dryRun})
		},
	}
	r.flags(c)
	whyFlags(c, &reason)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what it would do, and do nothing")
	return c
}

func modelDiffCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "diff [FILE]", Short: "How what is inferred now differs from a model file, or from the one imported last", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o := admin.ModelOrder{Actor: actor()}
			if len(args) == 1 {
				var err error
				if o.File, err = modelFile(c, args[0]); err != nil {
					return err
				}
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if len(args) == 0 {
				err = client.Get(c.Context(), "model/diff", &raw)
			} else {
				err = client.Post(c.Context(), "model/diff", &o, &raw)
			}
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, d admin.ModelDiff) error {
				if len(d.Differences) == 0 {
					_, err := fmt.Fprintln(w, "What is inferred now is as in the file.")
					return err
				}
				for i := range d.Differences {
					if _, err := fmt.Fprintln(w, d.Differences[i].String()); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	r.flags(c)
	return c
}

func modelVersionsCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "versions", Short: "Who corrected the model, when and why", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return show(c, &r, "model/versions", func(w io.Writer, all []advisor.Version) error {
				if len(all) == 0 {
					_, err := fmt.Fprintln(w, "Nobody has corrected the model.")
					return err
				}
				t := newTable("version", "when", "by", "corrections", "file", "what", "why")
				for i := range all {
					v := &all[i]
					file := "-"
					if v.File {
						file = "kept"
					}
					t.AppendRow([]any{v.Number, ago(v.At), v.Actor, len(v.Corrections), file, cut(v.What, 60), cut(v.Reason, 60)})
				}
				return render(w, t)
			})
		},
	}
	r.flags(c)
	return c
}

func modelResetCommand() *cobra.Command {
	var (
		r      remote
		reason string
		dryRun bool
	)
	c := &cobra.Command{
		Use: "reset [VERSION]", Short: "Go back to the corrections of a version; without one, to what is inferred without any", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o := admin.ModelOrder{Actor: actor(), Reason: reason, DryRun: dryRun}
			if len(args) == 1 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 0 {
					return usageError{fmt.Errorf("%q is no version: helenus model versions lists them", args[0])}
				}
				o.Version = n
			}
			return r.orderModel(c, "model/reset", &o)
		},
	}
	r.flags(c)
	whyFlags(c, &reason)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what it would do, and do nothing")
	return c
}

// modelFile reads a model file, "-" from standard input.
func modelFile(c *cobra.Command, name string) (string, error) {
	if name != "-" {
		data, err := model.ReadFile(name)
		if err != nil {
			return "", usageError{err}
		}
		return nonEmpty(name, data)
	}
	const most = 16 << 20
	data, err := io.ReadAll(io.LimitReader(c.InOrStdin(), most+1))
	if err == nil && len(data) > most {
		err = errors.New("standard input is larger than 16 MiB")
	}
	if err != nil {
		return "", usageError{err}
	}
	return nonEmpty("standard input", data)
}

func nonEmpty(name string, data []byte) (string, error) {
	if strings.TrimSpace(string(data)) == "" {
		return "", usageError{fmt.Errorf("%s is empty; helenus model export makes a model file", name)}
	}
	return string(data), nil
}

// orderModel gives an order about the model, and prints what it did or would do.
func (r *remote) orderModel(c *cobra.Command, path string, o *admin.ModelOrder) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := client.Post(c.Context(), path, o, &raw); err != nil {
		return err
	}
	return printed(c.OutOrStdout(), r, raw, printImported)
}

func printImported(w io.Writer, in advisor.Imported) error {
	var b strings.Builder
	instead := ""
	if in.Version > 0 {
		instead = fmt.Sprintf(", in place of those of version %d", in.Version)
	}
	switch {
	case in.DryRun && in.Changed:
		fmt.Fprintf(&b, "Nothing was done. It would put %s in force%s.\n", words.Plural(len(in.Corrections), "correction", "corrections"), instead)
	case in.DryRun:
		fmt.Fprintf(&b, "Nothing was done, and nothing would be: version %d has the same corrections.\n", in.Version)
	case in.Changed:
		fmt.Fprintf(&b, "Version %d is in force, with %s. The next round of advice, which begins now, uses it.\n", in.Version, words.Plural(len(in.Corrections), "correction", "corrections"))
	default:
		fmt.Fprintf(&b, "Nothing was changed: version %d has the same corrections.\n", in.Version)
	}
	for _, n := range in.Notes {
		fmt.Fprintf(&b, "%s\n", n)
	}
	section(&b, "What changes in the model", in.Changes)
	section(&b, "Not taken: the file says this otherwise than what is inferred with its corrections; say it as a correction", in.Unused)
	for i := range in.States {
		if s := &in.States[i]; s.Contradicted() {
			fmt.Fprintf(&b, "\nCONTRADICTED: %s\n  %s\n", s.Text, s.Contradiction())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, head string, list []infer.Difference) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", head)
	for i := range list {
		fmt.Fprintf(b, "  %s\n", list[i].String())
	}
}

func questionsCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "questions", Short: "What Helenus is not sure of, those answers first that are worth most", Args: usage(cobra.NoArgs),
		Long: `At most ten. WORTH is how much of the cluster's work each second depends on the answer, as far as it is uncertain. What is open
is not used for anything that a person would carry out. helenus answer answers.`,
		RunE: func(c *cobra.Command, _ []string) error { return show(c, &r, "questions", printQuestions) },
	}
	r.flags(c)
	return c
}

func printQuestions(w io.Writer, q advisor.Questions) error {
	var b strings.Builder
	if len(q.Open) == 0 {
		b.WriteString("No question is open.\n")
	}
	for i := range q.Open {
		x := &q.Open[i]
		fmt.Fprintf(&b, "%s  %s\n", x.ID, x.Text)
		for n := range x.Candidates {
			c := &x.Candidates[n]
			used := ""
			if c.Used {
				used = ", taken for now"
			}
			fmt.Fprintf(&b, "  %d  %s (%.0f %% certain%s)\n", n+1, c.Text, 100*c.Certainty, used)
			for _, e := range c.Evidence {
				fmt.Fprintf(&b, "       %s %+.1f: %s\n", e.Group, e.LogOdds, e.Text)
			}
		}
		fmt.Fprintf(&b, "  worth %s of work each second", workText(x.Worth))
		if len(x.Advice) > 0 {
			fmt.Fprintf(&b, "; on it rest %s", strings.Join(x.Advice, ", "))
		}
		b.WriteString("\n\n")
	}
	if q.More > 0 {
		fmt.Fprintf(&b, "%d more, which are worth less.\n", q.More)
	}
	if len(q.Open) > 0 {
		b.WriteString("`helenus answer ID CHOICE` answers, with the number of a choice.\n")
	}
	for _, a := range q.Answered {
		for i := range a.Corrections {
			fmt.Fprintf(&b, "answered  %s  %s\n", a.ID, a.Corrections[i].String())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// workText words milliseconds of work.
func workText(ms float64) string {
	if ms < 0.01 {
		return "less than 0.01 ms"
	}
	return fmt.Sprintf("%.3g ms", ms)
}

func answerCommand() *cobra.Command {
	var (
		r         remote
		why       string
		undo, dry bool
	)
	c := &cobra.Command{
		Use: "answer ID CHOICE", Short: "Answer a question, by the number of the choice; the answer is a correction from then on", Args: usage(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case undo && len(args) == 2:
				return usageError{errors.New("--undo takes the answer back, and no choice")}
			case !undo && len(args) == 1:
				return usageError{errors.New("name the choice, by its number: helenus questions lists them")}
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			d := admin.Decision{Actor: actor(), Reason: why}
			path := pathID("questions", args[0]) + "/undo"
			if !undo {
				path, d.Choice = pathID("questions", args[0])+"/answer", args[1]
			}
			if dry {
				return foretellAnswer(c, &r, client, args, undo)
			}
			var raw []byte
			if err := client.Post(c.Context(), path, &d, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, v advisor.Version) error {
				_, err := fmt.Fprintf(w, "%s. Version %d is in force, with %s; the next round of advice, which begins now, uses it.\n", v.What, v.Number, words.Plural(len(v.Corrections), "correction", "corrections"))
				return err
			})
		},
	}
	r.flags(c)
	whyFlags(c, &why)
	c.Flags().BoolVar(&undo, "undo", false, "take the answer back: the question is open again")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what it would do, and do nothing")
	return c
}

// foretellAnswer says what an answer, or taking one back, would do.
func foretellAnswer(c *cobra.Command, r *remote, client *admin.Client, args []string, undo bool) error {
	var q advisor.Questions
	if err := client.Get(c.Context(), "questions", &q); err != nil {
		return err
	}
	would := foresight{Order: "answer", ID: args[0]}
	for _, a := range q.Answered {
		for i := range a.Corrections {
			if undo && a.ID == args[0] {
				would.Would = append(would.Would, "the correction goes: "+a.Corrections[i].String())
			}
		}
	}
	for i := range q.Open {
		x := &q.Open[i]
		if undo || x.ID != args[0] {
			continue
		}
		for n := range x.Candidates {
			if args[1] == strconv.Itoa(n+1) || args[1] == x.Candidates[n].Answer {
				would.Would = append(would.Would, "from the next round on this holds: "+x.Candidates[n].Text)
			}
		}
		if would.Would == nil {
			return usageError{fmt.Errorf("%q is no choice of question %s: helenus questions lists them", args[1], x.ID)}
		}
	}
	if would.Would == nil {
		return &admin.Error{Status: 404, Code: "not_found", Message: fmt.Sprintf("there is no question %q that this could be said of: helenus questions lists them", args[0])}
	}
	return would.print(c.OutOrStdout(), r)
}
