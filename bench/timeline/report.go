package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/internal/chart"
)

// measured is a case with what came of it.
type measured struct {
	kase
	calendar *timeline.Calendar
	took     time.Duration
	worked   time.Duration // of processors, the solvers' included
}

// processor is how long this process and its children have worked.
func processor() time.Duration {
	sum := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // can not fail for these
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// changes is what all changes of a calendar cost.
func changes(c *timeline.Calendar) (sum float64) {
	for _, s := range c.Steps {
		sum += s.MigrationCost
	}
	return sum
}

// less is by what share a calendar costs less than a baseline, in percent; alone: without its changes.
func less(c *timeline.Calendar, name string, alone bool) float64 {
	cost := c.Cost
	if alone {
		cost -= changes(c)
	}
	return 100 * (1 - cost/c.Baseline(name).Cost)
}

const heading = `| workload | cost | of that changes | ideal | statements alone | average | first | last | flips of Q3 Q5 Q7 Q9 | inverse flips | tables kept, rounds | gap | time, processors' |
|---|---|---|---|---|---|---|---|---|---|---|---|---|`

// row is what was found, against what.
func (x *measured) row() string {
	c := x.calendar
	than := func(name string, alone bool) string { return fmt.Sprintf("%+.2f %%", -less(c, name, alone)) }
	gap := "0"
	if !c.Proven {
		gap = fmt.Sprintf("%.2g %%", 100*c.Gap)
	}
	return fmt.Sprintf("| %s | %.5g | %.2g %% | %s | %s | %s | %s | %s | %s | %s | %d, %d | %s | %.1f s, %.1f s |", x.kase, c.Cost, 100*changes(c)/c.Cost,
		than(timeline.Ideal, false), than(timeline.Ideal, true), than(timeline.Average, false), than(timeline.First, false), than(timeline.Last, false),
		flips(c, ""), flips(c, "-dup"), c.Kept, c.Rounds, gap, x.took.Seconds(), x.worked.Seconds())
}

// flipping are the statements of tables 1 and 2.
var flipping = []string{"Q3", "Q5", "Q7", "Q9"}

// turns are by how much the plan of a statement gets dearer at each step: below 0 cheaper, 0 the same.
func turns(c *timeline.Calendar, id string) []int {
	list := make([]int, len(c.Steps))
	for i := 1; i < len(c.Steps); i++ {
		for n, p := range c.Steps[i].Plans {
			if p.Statement.Statement.ID != id {
				continue
			}
			before := c.Steps[i-1].Plans[n].Cost.Work
			switch {
			case p.Cost.Work < before*(1-1e-6):
				list[i] = -1
			case p.Cost.Work > before*(1+1e-6):
				list[i] = 1
			}
		}
	}
	return list
}

// flips are the steps at which the plans of some statements change, cheaper or dearer: "2>3 Q3- Q5-" is less for Q3 and Q5.
func flips(c *timeline.Calendar, suffix string) string {
	at := make([][]string, len(c.Steps))
	for _, id := range flipping {
		for i, turn := range turns(c, id+suffix) {
			if turn != 0 {
				at[i] = append(at[i], id+map[int]string{-1: "-", 1: "+"}[turn])
			}
		}
	}
	var list []string
	for i := range at {
		if at[i] != nil {
			list = append(list, fmt.Sprintf("%d>%d %s", i-1, i, strings.Join(at[i], " ")))
		}
	}
	return strings.Join(list, "; ")
}

// asPublished counts the statements, of both groups, whose plans get cheaper and dearer at just the steps where tables 1 and 2 have it.
// first is how they go for Q3: its copy goes the other way. never counts those whose plans stay as they are.
func asPublished(c *timeline.Calendar, first map[int]int) (n, never int) {
	for _, id := range flipping {
		for suffix, sign := range map[string]int{"": 1, "-dup": -1} {
			want := make([]int, len(c.Steps))
			for i, turn := range first {
				want[i] = sign * turn
			}
			switch is := turns(c, id+suffix); {
			case slices.Equal(is, want):
				n++
			case !slices.ContainsFunc(is, func(turn int) bool { return turn != 0 }):
				never++
			}
		}
	}
	return n, never
}

// report is all that was measured.
type report struct {
	command, model string
	list           []*measured
}

func (r *report) find(k kase) *measured {
	for _, x := range r.list {
		if x.kase == k {
			return x
		}
	}
	return nil
}

// mustShow holds calendars against what they must come to, as far as those cases were measured.
func (r *report) mustShow() string {
	var b strings.Builder
	b.WriteString("| what | must | measured | held |\n|---|---|---|---|\n")
	line := func(what, must, measured string, held bool) {
		word := "no"
		if held {
			word = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", what, must, measured, word)
	}
	for _, p := range []struct {
		pattern, flips     string
		turns              map[int]int
		average            float64 // percent less than that, and than
		first, last        float64
		above, aboveStated float64 // percent above the ideal, at most
	}{
		{"cycles", "W-47: 2>3, 5>6, 8>9", map[int]int{3: -1, 6: 1, 9: -1}, 31.8, 31.8, 31.8, 5.41, 5.41},
		{"evolution", "W-48: 5>6", map[int]int{6: -1}, 12.2, 20.5, 20, 100 * (1/(1-0.034) - 1), 3.4},
		{"spikes", "", nil, 0, 12, 12, 2, 2},
	} {
		x := r.find(atFourFifths(p.pattern, 12))
		if x == nil {
			continue
		}
		c := x.calendar
		few := r.find(kase{pattern: p.pattern, steps: 12, space: 0.8, few: true})
		for _, x := range []*measured{x, few} {
			if p.turns == nil || x == nil {
				continue
			}
			over := ""
			if x.few {
				over = fmt.Sprintf(", of %d candidates", fewCandidates)
			}
			n, never := asPublished(x.calendar, p.turns)
			line(fmt.Sprintf("%s%s: plans of Q3, Q5, Q7, Q9 and their copies change as published", p.pattern, over), p.flips, fmt.Sprintf("%d of 8, %d never", n, never), n == 8)
		}
		for _, base := range []struct {
			name string
			must float64
		}{{timeline.Average, p.average}, {timeline.First, p.first}, {timeline.Last, p.last}} {
			v := less(c, base.name, false)
			line(fmt.Sprintf("%s: less than %s, changes included", p.pattern, base.name), fmt.Sprintf("%.3g %%", base.must), fmt.Sprintf("%.1f %%", v), v >= base.must)
		}
		all, alone := -less(c, timeline.Ideal, false), -less(c, timeline.Ideal, true)
		line(p.pattern+": above the ideal, changes included", fmt.Sprintf("%.3g %%", p.aboveStated), fmt.Sprintf("%.1f %%", all), all <= p.above)
		line(p.pattern+": above the ideal, statements alone", fmt.Sprintf("%.3g %%", p.aboveStated), fmt.Sprintf("%.1f %%", alone), alone <= p.above)
		if bound := 100 * (c.Bound/c.Baseline(timeline.Ideal).Cost - 1); bound > p.above {
			fmt.Fprintf(&b, "| %s: no calendar over these tables is nearer to the ideal, changes included, than | | %.1f %% | |\n", p.pattern, bound)
		}
	}
	for _, limit := range []struct {
		k       kase
		seconds float64
	}{{atFourFifths("cycles", 12), 15}, {atFourFifths("evolution", 12), 15}, {atFourFifths("spikes", 12), 15}, {atFourFifths("cycles", 44), 60}, {kase{pattern: "cycles", steps: 44, space: 0.8, exact: true}, 600}} {
		x := r.find(limit.k)
		if x == nil {
			continue
		}
		must, held := fmt.Sprintf("%g s", limit.seconds), x.took.Seconds() <= limit.seconds
		measured := fmt.Sprintf("%.1f s, %.1f s of processors", x.took.Seconds(), x.worked.Seconds())
		if limit.k.exact { // a limit of time ends any search
			must += ", or a gap of 1 %"
			held = held && x.calendar.Proven || x.calendar.Gap <= 0.01
			measured += fmt.Sprintf(", a gap of %.2g %%", 100*x.calendar.Gap)
		}
		line(limit.k.String(), must, measured, held)
	}
	for _, x := range r.list {
		k := x.kase
		k.exact = false
		if pruned := r.find(k); x.exact && pruned != nil {
			above := 100 * (pruned.calendar.Cost/x.calendar.Cost - 1)
			found, most := fmt.Sprintf("%.2f %%", above), 1.0
			if !x.calendar.Proven {
				found, most = found+", and exact mode proves nothing", math.Inf(1)
			}
			line(k.String()+": above exact mode's", "0 to 1 % of what exact mode proves", found, above > -1e-4 && above <= most)
		}
	}
	return b.String()
}

// write puts the report into a folder.
func (r *report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a folder of documents
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# TPC-H over time\n\nBy `%s`, cost model %s. A minus is less, a plus more.\n\n## What had to be shown\n\n%s\n## All\n\n%s\n", r.command, r.model, r.mustShow(), heading)
	for _, x := range r.list {
		b.WriteString(x.row() + "\n")
	}
	for _, c := range []struct {
		title, file string
		chart       func() (*chart.Chart, error)
	}{{"Time by steps, after figure 8", "timeline-growth.svg", r.growth}, {"Cost by space, after figure 7", "timeline-space.svg", r.sweep}} {
		drawn, err := c.chart()
		if err != nil {
			return err
		}
		if drawn == nil {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n![%s](%s)\n", c.title, c.title, c.file)
		if err := create(filepath.Join(folder, c.file), drawn.SVG); err != nil {
			return err
		}
	}
	return create(filepath.Join(folder, "timeline.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name) //nolint:gosec // the folder that was asked for
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// growth is how long cycles of more and more steps take; nil if fewer than three were measured.
func (r *report) growth() (*chart.Chart, error) {
	s := chart.Series{Name: "pruned"}
	for steps := 4; steps <= 44; steps += 4 {
		if x := r.find(atFourFifths("cycles", steps)); x != nil {
			s.X, s.Y = append(s.X, float64(steps)), append(s.Y, x.worked.Seconds())
		}
	}
	if len(s.X) < 3 {
		return nil, nil //nolint:nilnil // nothing to draw
	}
	return chart.Lines(chart.Frame{X: "steps", Y: "processor seconds"}, s)
}

// sweep is what cycles cost in less and less space; nil if fewer than three limits were measured.
func (r *report) sweep() (*chart.Chart, error) {
	series := []chart.Series{{Name: "calendar"}, {Name: timeline.Ideal}, {Name: timeline.Average}, {Name: timeline.First}, {Name: timeline.Last}}
	for percent := 70; percent <= 100; percent += 5 {
		x := r.find(kase{pattern: "cycles", steps: 12, space: float64(percent) / 100})
		if x == nil {
			continue
		}
		for i := range series {
			cost := x.calendar.Cost
			if i > 0 {
				cost = x.calendar.Baseline(series[i].Name).Cost
			}
			series[i].X, series[i].Y = append(series[i].X, float64(percent)), append(series[i].Y, cost)
		}
	}
	if len(series[0].X) < 3 {
		return nil, nil //nolint:nilnil // nothing to draw
	}
	return chart.Lines(chart.Frame{X: "space, % of the best mean design's", Y: "cost", LogY: true}, series...)
}
