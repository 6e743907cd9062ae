package design_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

var update = flag.Bool("update", false, "write the golden files")

// requests is a model that counts requests in our arithmetic: what can be followed by hand.
type requests struct{}

func (requests) Name() string { return "requests" }

func (requests) Step(s *plan.Step, _ bool) cost.Cost {
	return cost.Cost{Work: s.Requests, Latency: s.Requests}
}

// worked is the example that docs/worked-example.md works out by hand: the numbers that the page shows.
type worked struct {
	t   *testing.T
	b   strings.Builder
	all *workload.Workload
}

func (x *worked) say(format string, args ...any) { fmt.Fprintf(&x.b, format+"\n", args...) }

// choose designs over the named tables of the paper's alone, counting requests.
func (x *worked) choose(w *workload.Workload, o design.Options, names ...string) *design.Design {
	o.Cost, o.NoEnumeration = requests{}, true
	for _, t := range w.Schemas["paper"] {
		if slices.Contains(names, t.Name) {
			o.Candidates = append(o.Candidates, t)
		}
	}
	return choose(x.t, w, o)
}

func (x *worked) tables() {
	x.say("| table | rows | bytes of a row | bytes |")
	x.say("| --- | --- | --- | --- |")
	for _, t := range x.all.Schemas["paper"] {
		x.say("| %s `%s` | %.0f | %.0f | %.0f |", t.Name, t, t.Entries(), t.RowBytes(), t.Bytes())
	}
}

func (x *worked) plans() {
	x.say("| plan | step | requests | rows returned | rows left |")
	x.say("| --- | --- | --- | --- | --- |")
	name := func(t *model.Table) string { return t.Name }
	for i, names := range [][]string{{"CF1"}, {"CF2", "CF5"}, {"CF3", "CF4", "CF5"}} {
		query := only(load(x.t, "figure7.yaml"), "rooms")
		d := x.choose(query, design.Options{}, names...)
		steps := d.Statements[0].Plan.Steps
		for j := range steps {
			s := &steps[j]
			text, _, _ := strings.Cut(s.Text(name), " (")
			if s.Table == nil { // in the client
				x.say("| %d | %s | | | %.4g |", i+1, text, s.Left)
				continue
			}
			x.say("| %d | %s | %.4g | %.4g | %.4g |", i+1, text, s.Requests, s.Rows, s.Left)
		}
		x.say("| %d | **in all** | **%.4g** | | |", i+1, d.Statements[0].Cost.Work)
	}
}

func (x *worked) writes() {
	x.say("| change of a rate | requests |")
	x.say("| --- | --- |")
	names := []string{"CF1", "CF5", "CF6"}
	w := load(x.t, "figure7.yaml")
	for _, t := range w.Schemas["paper"] {
		t.Kept = slices.Contains(names, t.Name)
	}
	d := x.choose(w, design.Options{OnlyExisting: true}, names...)
	name := func(t *model.Table) string { return t.Name }
	for _, write := range d.Statements[1].Writes {
		for _, p := range write.Support {
			for i := range p.Steps {
				text, _, _ := strings.Cut(p.Steps[i].Text(name), " (")
				x.say("| for %s: %s | %.4g |", write.Table.Name, text, p.Steps[i].Requests)
			}
		}
		for i := range write.Steps {
			x.say("| %s | %.4g |", write.Steps[i].Text(name), write.Steps[i].Requests)
		}
	}
}

func (x *worked) program() {
	x.say("| rate changes a second | tables | cost | proven |")
	x.say("| --- | --- | --- | --- |")
	all := []string{"CF1", "CF2", "CF3", "CF4", "CF5", "CF6"}
	for _, weight := range []float64{1, 50, 100} {
		w := load(x.t, "figure7.yaml")
		w.Statement("new-rate").Weight = weight
		d := x.choose(w, design.Options{}, all...)
		var names []string
		for _, t := range d.Tables {
			names = append(names, t.Table.Name)
		}
		slices.Sort(names)
		x.say("| %.4g | %s | %.5g | %v |", weight, strings.Join(names, ", "), d.After, d.Proven)
	}
	d := x.choose(load(x.t, "figure7.yaml"), design.Options{Sensitivity: []string{"new-rate"}}, all...)
	if math.IsInf(d.Sensitive[0].Rises, 1) {
		x.t.Error("no weight of the change makes other tables better")
	}
	x.say("\nThe best tables change at %.5g changes a second.", d.Sensitive[0].Rises)
}

// TestWorkedExample keeps the numbers of docs/worked-example.md true: N-9, N-22 (three plans), N-26, N-27 (the program), N-31,
// N-32 (requests), N-40 (delete and put), N-45 (writes in the objective), N-63 (GMAP's question, to which structures that are given queries can be mapped,
// is named where docs/optimiser.md says what answers it; the plans over the figure's given tables are such a mapping).
func TestWorkedExample(t *testing.T) {
	const page = "../../docs/worked-example.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	guide, err := os.ReadFile("../../docs/optimiser.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "With `--existing` it answers the question that GMAP asked") {
		t.Error("N-63: docs/optimiser.md does not tell how given structures and queries relate to GMAP")
	}
	for name, part := range map[string]func(*worked){"tables": (*worked).tables, "plans": (*worked).plans, "writes": (*worked).writes, "program": (*worked).program} {
		x := &worked{t: t, all: load(t, "figure7.yaml")}
		part(x)
		begin, end := "<!-- computed: "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, begin)
		shown, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no place for %q", page, name)
		}
		if *update {
			text = before + begin + x.b.String() + end + after
		} else if diff := cmp.Diff(x.b.String(), shown); diff != "" {
			t.Errorf("%s: run with -update\n%s", name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
