package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/internal/chart"
)

// report writes figures and charts into the folder.
func (b *bench) report(k *kase, r *contest.Result) error {
	if err := os.MkdirAll(b.options.out, 0o755); err != nil { //nolint:gosec // a folder of documents
		return err
	}
	var sections []contest.Section
	draw := func(title, text, name string, columns int, charts []*chart.Chart, err error) error {
		if err != nil || len(charts) == 0 {
			return err
		}
		file := k.name + "-" + name + ".svg"
		sections = append(sections, contest.Section{Title: title, Text: text, Charts: []string{file}})
		return b.write(file, func(w io.Writer) error { return chart.SVG(w, columns, charts...) })
	}
	one := func(c *chart.Chart, err error) ([]*chart.Chart, error) {
		if err != nil {
			return nil, err
		}
		return []*chart.Chart{c}, nil
	}
	must := k.mustShow(r)
	sections = append(sections, contest.Section{Title: "What had to be shown", Text: must})
	var failed []error
	made := []string{}
	for _, s := range k.made {
		made = append(made, s.name)
	}
	if len(r.Mixes) > 0 {
		mix := k.main
		charts, err := one(r.RequestsChart(mix, append([]string{ours(mix)}, made...), append([]string{"ours"}, made...)))
		failed = append(failed, draw("Each kind of request, after figure 17", "In ascending order of how often the mix sends it.", "requests", 1, charts, err))
	}
	if len(k.mixes) > 1 {
		whole := *r
		whole.Mixes = nil
		for _, m := range r.Mixes {
			if plain(&m) {
				whole.Mixes = append(whole.Mixes, m)
			}
		}
		charts, err := one(whole.MixesChart(made, made))
		failed = append(failed, draw("The mixes, after figure 18", "Our design is the one for the mix; the others are the same for all.", "mixes", 1, charts, err))
	}
	if len(r.Growth) > 0 {
		charts, err := one(r.GrowthChart())
		text := "Random workloads of seed 003's section 9.2, to a gap of 1 %, " + fmt.Sprint(r.Growth[0].Runs) + " of each size."
		failed = append(failed, draw("Running time of the advisor, after figure 19", text, "advisor", 1, charts, err))
	}
	if r.Prediction != nil {
		charts, err := r.Prediction.Charts()
		failed = append(failed, draw("Predicted and measured", "", "prediction", 2, charts, err))
	}
	if k.name == "rubis" {
		sections = append(sections, contest.Section{Title: "Beside the paper's figures", Text: beside(k, r)})
		sections = append(sections, contest.Section{Title: "How it was measured", Text: method + "\n\n" + asRun})
	} else {
		sections = append(sections, contest.Section{Title: "How it was measured", Text: method})
	}
	failed = append(failed,
		b.write(k.name+".md", func(w io.Writer) error { return r.Markdown(w, k.title, sections...) }),
		b.write(k.name+".json", r.JSON))
	b.say("%s", strings.ReplaceAll(must, "\n", "\n         "))
	b.say("the report on %s is in %s", k.name, filepath.Join(b.options.out, k.name+".md"))
	return errors.Join(failed...)
}

func (b *bench) write(name string, to func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(b.options.out, name)) //nolint:gosec // the folder that was asked for
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return to(f)
}

// mustShow is the table of what must be reached, and whether it is.
func (k *kase) mustShow(r *contest.Result) string {
	var t strings.Builder
	t.WriteString("| what | must | paper | here | with what they ran | one request at a time | both | |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, m := range k.must {
		here := factor(r, m.mix, m.entry)
		verdict := "reached"
		if here == 0 {
			verdict = "not measured"
		} else if here < m.least {
			verdict = "**not reached**"
		}
		name := m.entry + " / ours"
		if m.mix != "" {
			name = m.mix + ": " + name
		}
		fmt.Fprintf(&t, "| %s | >= %g | %s | %s ", name, m.least, m.paper, times(here))
		for _, suffix := range []string{asRunThere, oneByOne, oneByOne + asRunThere} {
			fmt.Fprintf(&t, "| %s ", times(factor(r, m.mix+suffix, m.entry+suffix)))
		}
		fmt.Fprintf(&t, "| %s |\n", verdict)
	}
	if p := r.Prediction; p != nil {
		row := func(what, must, here string, ok bool) {
			verdict := "reached"
			if !ok {
				verdict = "**not reached**"
			}
			fmt.Fprintf(&t, "| %s | %s | - | %s | - | - | - | %s |\n", what, must, here, verdict)
		}
		row(fmt.Sprintf("Kendall's tau over %d designs", len(p.Designs)), ">= 0.9", fmt.Sprintf("%.2f", p.Tau), p.Tau >= 0.9 && len(p.Designs) >= 12)
		row(fmt.Sprintf("median error over %d plans of statements", len(p.Statements)), "<= 25 %", fmt.Sprintf("%.0f %%", 100*p.MedianError), p.MedianError <= 0.25)
	}
	return t.String()
}

// plain tells whether a mix's figures are as they are.
func plain(m *contest.Mix) bool {
	return !strings.HasSuffix(m.Name, asRunThere) && !strings.HasSuffix(m.Name, oneByOne)
}

func factor(r *contest.Result, mix, entry string) float64 {
	for i := range r.Mixes {
		if r.Mixes[i].Name == mix {
			return r.Mixes[i].Factors[entry]
		}
	}
	return 0
}

func times(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
