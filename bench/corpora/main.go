// Command corpora measures how true the models are that advisor/infer concludes (docs/results/model.md): eight applications of which
// everything is known, each over a normalised design, one with copies, one with odd names and one with random names; and twenty-one that are no plain ones
// (grown.go), over one design, or two, with three sets of names.
//
//	make bench-model                  the table
//	bin/corpora -v -only "shop messy" what is wrong with one
//	bin/corpora -regret -answers      what designs for the models cost, as inferred and after ten answers (answer.go)
//
// One description of an application makes its schema, its data, its traffic and the truth about them. Its statements are given
// to the miners of capture as capture/window gives them, on a simulated clock: threads of one process read and write by pages, with
// answers after some 0.8 ms; grown ones have several processes, caches and troubles. The same seed makes the same traffic.
//
// What was looked at while infer was worked on are the applications that are not keptFromTuning with the seeds of tuned; of the
// rest only the figures are printed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func main() {
	coin.ServeIfWorker()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Seeds of data, names and traffic.
var (
	tunedSeeds = []uint64{1}
	heldSeeds  = []uint64{101}
)

// asked is what is to be measured.
type asked struct {
	only                            string
	quick, regret, answers, verbose bool
}

// run prints the table and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("corpora", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var a asked
	flags.StringVar(&a.only, "only", "", "measure only the cases that have all these words")
	flags.BoolVar(&a.quick, "quick", false, "the tuned cases alone")
	flags.BoolVar(&a.regret, "regret", false, "what designs for the inferred models cost, by those for the true ones (slow)")
	flags.BoolVar(&a.answers, "answers", false, fmt.Sprintf("a second line for each, after the %d questions that it is worth most to have answered were answered", mostAnswered))
	flags.BoolVar(&a.verbose, "v", false, "say what is wrong, of tuned cases only")
	if flags.Parse(args) != nil {
		return 2
	}
	fmt.Fprintln(stdout, heads[a.regret])
	for _, held := range []bool{false, true} {
		if held && a.quick {
			break
		}
		for _, line := range lines(held) {
			if err := a.measure(stdout, &line, a.verbose && !held); err != nil {
				fmt.Fprintln(stderr, "corpora:", err)
				return 1
			}
		}
	}
	return 0
}

// heads are those of the tables: of models, and of regrets.
var heads = map[bool]string{
	false: "|  | entities F1 by key; and tables | relationships F1 | feeds precision; recall; used | weight error | attributes F1 |\n| --- | --- | --- | --- | --- | --- |",
	true:  "|  | regret: mean; worst | statements without an answer over it |\n| --- | --- | --- |",
}

// measure prints a line, and another one with answers.
func (a *asked) measure(stdout io.Writer, line *line, verbose bool) error {
	var sums [2]sum
	for _, v := range line.cases {
		if !matches(v.String(), a.only) {
			continue
		}
		o := v.observe()
		models, err := o.models(a.answers)
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		var truth *observed
		if a.regret {
			truth = v.truth(o)
		}
		for i, m := range models {
			name := v.String()
			if i > 0 {
				name = fmt.Sprintf("%s, %d answers", name, len(m.asked))
			}
			notes, err := sums[i].add(o, m, truth, v.app.name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if verbose {
				fmt.Fprintf(stdout, "%s: %s\n", name, strings.Join(append(notes, m.asked...), "\n     "))
			}
		}
	}
	for i := range sums {
		if name := line.name; sums[i].n > 0 {
			if i > 0 {
				name = fmt.Sprintf("%s, after %.1f answers", name, float64(sums[i].asked)/sums[i].n)
			}
			fmt.Fprintf(stdout, "| %s | %s |\n", name, sums[i].text(a.regret))
		}
	}
	return nil
}

// models are what is inferred of a case, and, if asked for, what is with answers.
func (o *observed) models(answers bool) ([]*answered, error) {
	m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
	if err != nil {
		return nil, err
	}
	out := []*answered{{model: m}}
	if answers {
		told, err := o.answer()
		if err != nil {
			return nil, err
		}
		out = append(out, told)
	}
	return out, nil
}

// sum is of the cases of a line.
type sum struct {
	score          score
	n              float64
	regret, worst  float64
	who            string
	missing, asked int
}

// add adds a case, its regret if the truth is given, and returns what is wrong with it.
func (s *sum) add(o *observed, m *answered, truth *observed, name string) ([]string, error) {
	s.n++
	s.asked += len(m.asked)
	if truth == nil {
		one := o.score(m.model)
		s.score.add(*one)
		return append([]string{one.String()}, one.notes...), nil
	}
	r, err := o.regret(context.Background(), m.model, truth)
	if err != nil {
		return nil, err
	}
	x := r.cost / r.best
	s.regret, s.missing = s.regret+x, s.missing+len(r.missing)
	if x > s.worst {
		s.worst, s.who = x, name
	}
	return append([]string{fmt.Sprintf("%.3f; not carried over %v; without an answer %v; the truth %s", x, r.lost, r.missing, r.truth)}, r.dearer...), nil
}

// text is what a line of a table says.
func (s *sum) text(regret bool) string {
	if !regret {
		return s.score.String()
	}
	return fmt.Sprintf("%.2f; %.2f (%s) | %d", s.regret/s.n, s.worst, s.who, s.missing)
}

func matches(name, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// line is a line of the table: the mean of some cases.
type line struct {
	name  string
	cases []variant
}

// lines are those of the tuned cases, or of those that were kept from tuning.
func lines(held bool) []line {
	seeds, mark := tunedSeeds, "tuned"
	if held {
		seeds, mark = heldSeeds, "kept back"
	}
	var out []line
	add := func(name string, make func(app *application, seed uint64) variant) {
		l := line{name: name + ", " + mark}
		for i := range applications {
			for _, seed := range seeds {
				if held || !applications[i].keptFromTuning {
					l.cases = append(l.cases, make(&applications[i], seed))
				}
			}
		}
		out = append(out, l)
	}
	for _, d := range designs {
		add(d, func(app *application, seed uint64) variant { return variant{app, d, false, 8, seed} })
	}
	for _, threads := range []int{1, 64, 512} {
		add(fmt.Sprintf("normalised, %d threads", threads), func(app *application, seed uint64) variant {
			return variant{app, "normalised", false, threads, seed}
		})
	}
	add("normalised, DAO", func(app *application, seed uint64) variant { return variant{app, "normalised", true, 8, seed} })
	add("denormalised, DAO, 64 threads", func(app *application, seed uint64) variant { return variant{app, "denormalised", true, 64, seed} })
	for _, app := range []*application{&market, &workspace, &depot, &tracker, &hospital, &ledger, &meters, &chat, &journal, &crowd, &retail, &access, &league, &papers, &courier, &codes, &estate, &outlet, &wallet, &stream, &rides} {
		for _, seed := range seeds {
			if !held && app.keptFromTuning {
				continue
			}
			out = append(out,
				line{"grown: " + app.name + ", " + mark, []variant{{app, "grown", false, 8, seed}}},
				line{"grown: " + app.name + ", odd names, " + mark, []variant{{app, "grown, odd", false, 8, seed}}},
				line{"grown: " + app.name + ", random names, " + mark, []variant{{app, "grown, random", false, 8, seed}}},
				line{"grown: " + app.name + ", 64 threads, " + mark, []variant{{app, "grown", false, 64, seed}}},
			)
			if app.copied != "" {
				out = append(out,
					line{"grown: " + app.name + ", copies, " + mark, []variant{{app, "grown, copied", false, 8, seed}}},
					line{"grown: " + app.name + ", copies, odd names, " + mark, []variant{{app, "grown, copied, odd", false, 8, seed}}},
					line{"grown: " + app.name + ", copies, random names, " + mark, []variant{{app, "grown, copied, random", false, 8, seed}}},
				)
			}
		}
	}
	return out
}

// String is a line of the table.
func (s *score) String() string {
	return fmt.Sprintf("%.2f; %.2f | %.2f | %.2f; %.2f; %.2f | %.2f | %.2f", s.byKey.f1(), s.byTables.f1(), s.relationships.f1(),
		s.feeds.precision(), s.feeds.recall(), s.used.recall(), share(s.weight, s.weights), s.attributes.f1())
}
