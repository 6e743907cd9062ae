package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/internal/chart"
	"github.com/helenus-db/helenus/internal/words"
)

// report is everything that a run came to, as it stands in the JSON file.
type report struct {
	Workload   string             `json:"workload"`
	Pattern    string             `json:"pattern"`
	Command    string             `json:"command"`
	Started    time.Time          `json:"started"`
	Rows       float64            `json:"rows_of_largest_set"`
	Entities   map[string]float64 `json:"entities"`
	Seed       uint64             `json:"seed"`
	Machine    contest.Machine    `json:"machine"`
	CostModel  string             `json:"cost_model"`
	Space      float64            `json:"space_bytes"`
	Cost       float64            `json:"cost_predicted"`
	Bound      float64            `json:"bound"`
	Said       []float64          `json:"baselines_predicted"`
	Names      []string           `json:"names"` // the calendar's, then the baselines'
	Steps      []*step            `json:"steps"`
	Incomplete string             `json:"incomplete,omitempty"`
}

// step is what was measured of a step.
type step struct {
	Number        int          `json:"step"`
	Created       []string     `json:"created,omitempty"`
	Dropped       []string     `json:"dropped,omitempty"`
	Latency       []float64    `json:"latency_ms_per_second"` // by name: the sum of mean response times, each times the statement's executions per second
	Said          float64      `json:"cost_predicted"`
	SaidMigration float64      `json:"migration_cost_predicted"`
	Migrations    []*migration `json:"migrations,omitempty"` // that made the step's new tables, during the step before
	Answers       int          `json:"answers_compared"`
	Filled        int          `json:"answers_with_rows"`
	Wrong         []string     `json:"answers_wrong,omitempty"`
	Counted       int          `json:"requests_counted"` // of each of Names
	Failures      int          `json:"failures,omitempty"`
	Writes        int          `json:"writes,omitempty"`               // applied during the step
	Dual          int          `json:"writes_while_filling,omitempty"` // of them also to tables that were being filled
}

// migration is how a table was filled.
type migration struct {
	Table     string   `json:"table"`
	Sources   []string `json:"sources"`
	Scanned   int      `json:"rows_scanned"`
	Rows      int      `json:"rows_written"`
	Seconds   float64  `json:"seconds"`
	Estimated float64  `json:"seconds_estimated"`
	Said      float64  `json:"cost_predicted"`
	Held      int      `json:"rows_that_it_must_hold"`
	Differ    int      `json:"rows_that_differ"`
	Sample    []string `json:"differences,omitempty"`

	target *model.Table
}

func (s *step) line(names []string) string {
	var parts []string
	for i, n := range names {
		parts = append(parts, fmt.Sprintf("%s %.4g", n, s.Latency[i]))
	}
	return fmt.Sprintf("%s; %d tables made, %d dropped, %d answers compared, %d wrong", strings.Join(parts, ", "), len(s.Created), len(s.Dropped), s.Answers, len(s.Wrong))
}

// totals are the sums over all steps, by name.
func (r *report) totals() []float64 {
	sum := make([]float64, len(r.Names))
	for _, s := range r.Steps {
		for i, v := range s.Latency {
			sum[i] += v
		}
	}
	return sum
}

// write writes the report in all its forms.
func (b *bench) write() error {
	b.report.Names = b.names()
	if err := os.MkdirAll(b.options.out, 0o755); err != nil { //nolint:gosec // documents
		return err
	}
	path := func(ext string) string { return filepath.Join(b.options.out, b.report.file(ext)) }
	for ext, write := range map[string]func(io.Writer) error{".json": b.report.json, ".md": b.report.markdown, ".svg": b.report.svg} {
		f, err := os.Create(path(ext))
		if err != nil {
			return err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", path(ext), err)
		}
	}
	b.say("the report is %s", path(".md"))
	return nil
}

func (r *report) json(w io.Writer) error {
	return words.JSON(w, r)
}

// svg draws the cumulative latency of each.
func (r *report) svg(w io.Writer) error {
	var list []chart.Series
	for i, n := range r.Names {
		s := chart.Series{Name: n}
		sum := 0.0
		for _, x := range r.Steps {
			sum += x.Latency[i]
			s.X, s.Y = append(s.X, float64(x.Number)), append(s.Y, sum)
		}
		list = append(list, s)
	}
	c, err := chart.Lines(chart.Frame{Title: "Response times added up over the steps", X: "step", Y: "ms in each second, cumulated"}, list...)
	if err != nil {
		return err
	}
	return c.SVG(w)
}

func (r *report) markdown(w io.Writer) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	m := r.Machine
	p("# %s, lived through on a real Cassandra\n", r.Workload)
	p("| what | this run |\n| --- | --- |")
	p("| command | `%s` |", r.Command)
	p("| when | %s |", r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	var entities []string
	for _, name := range sorted(r.Entities) {
		entities = append(entities, fmt.Sprintf("%.0f %s", r.Entities[name], name))
	}
	p("| data | %s; seed %d |", strings.Join(entities, ", "), r.Seed)
	p("| machine | %d processors (%s, %s), %s |", m.Processors, m.Model, m.System, m.Go)
	p("| server | Apache Cassandra %s, one node on the same machine, replication 1, consistency ONE |", m.Cassandra)
	p("| cost model | %s |", r.CostModel)
	p("| space | %.1f MB |", r.Space/1e6)
	if r.Incomplete != "" {
		p("\n**Incomplete**: %s", r.Incomplete)
	}
	sum := r.totals()
	p("\n## Over all steps\n\nThe mean response time of each statement, times its executions per second in the step, added up.\n")
	p("| | measured, ms a second, summed over steps | the calendar takes less by | the model said |\n| --- | ---: | ---: | ---: |")
	for i, n := range r.Names {
		less, said := "", ""
		if i > 0 {
			less = fmt.Sprintf("%.1f %%", 100*(sum[i]-sum[0])/sum[i])
			said = fmt.Sprintf("%.1f %%", 100*(r.Said[i-1]-r.Cost)/r.Said[i-1])
		}
		p("| %s | %.5g | %s | %s |", n, sum[i], less, said)
	}
	p("\nA minus is more. The ideal has the best tables of each step, there from the begin on and changed for nothing; the model counts what changing costs to the calendar, what was measured is the statements while it goes on.")
	answers, filled, wrong := 0, 0, 0
	for _, s := range r.Steps {
		answers, filled, wrong = answers+s.Answers, filled+s.Filled, wrong+len(s.Wrong)
	}
	p("\n%d answers of the calendar's plans were compared with SQLite's over all steps (%d with rows): **%d wrong** (W-53).", answers, filled, wrong)
	compared, differ, writes, dual := 0, 0, 0, 0
	for _, s := range r.Steps {
		writes, dual = writes+s.Writes, dual+s.Dual
		for _, m := range s.Migrations {
			compared, differ = compared+m.Held, differ+m.Differ
		}
	}
	p("\n%d rows of the tables that were filled while the statements ran were compared with what they must hold, **%d differ** (W-5); %d writes went on, %d of them while tables were being filled.", compared, differ, writes, dual)
	p("\n![Response times added up over the steps](%s)", r.file(".svg"))
	p("\n## Each step\n\n| step | %s | tables made | dropped | answers | wrong |\n| --- |%s --- | --- | ---: | ---: |", strings.Join(r.Names, " | "), strings.Repeat(" ---: |", len(r.Names)))
	for _, s := range r.Steps {
		row := ""
		for _, v := range s.Latency {
			row += fmt.Sprintf(" %.5g |", v)
		}
		p("| %d |%s %s | %s | %d | %d |", s.Number, row, strings.Join(s.Created, ", "), strings.Join(s.Dropped, ", "), s.Answers, len(s.Wrong))
		for _, x := range s.Wrong {
			p("\nWrong at step %d: %s\n", s.Number, x)
		}
	}
	p("\n## Migrations\n\nEach ran during the step before, beside the statements.\n\n| for step | table | out of | rows read | rows written | seconds | estimated |\n| --- | --- | --- | ---: | ---: | ---: | ---: |")
	for _, s := range r.Steps {
		for _, x := range s.Migrations {
			p("| %d | %s | %s | %d | %d | %.1f | %.1f |", s.Number, x.Table, strings.Join(x.Sources, ", "), x.Scanned, x.Rows, x.Seconds, x.Estimated)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// file is what a form of the report is called.
func (r *report) file(ext string) string { return "calendar-" + r.Pattern + ext }

func sorted(m map[string]float64) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
