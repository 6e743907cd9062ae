package verify

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/words"
)

// Report is what a run found.
type Report struct {
	Seed      uint64  `json:"seed"`
	Workloads int     `json:"workloads"`
	Designs   int     `json:"designs"`
	Tables    int     `json:"tables"`
	Loaded    int     `json:"rows_loaded"`
	Queries   int     `json:"queries"`           // queries of the workloads, once for each design
	Plans     int     `json:"plans"`             // by which they were answered
	Answers   int     `json:"answers_compared"`  // queries and plans times drawn parameters
	Filled    int     `json:"answers_with_rows"` // of them
	Writes    int     `json:"writes"`            // writes of the workloads, once for each design
	Updates   int     `json:"updates_applied"`
	Contents  int     `json:"tables_compared"` // tables times comparisons
	Restarts  int     `json:"restarts"`        // designs begun anew because Cassandra was away
	Seconds   float64 `json:"seconds"`

	ByDesign map[string]int `json:"designs_by_kind"`
	Met      map[string]int `json:"met"` // plans that have a feature, and updates of a kind

	Differences []Difference `json:"differences"`
	Missing     []Left       `json:"without_plan"` // statements that hand-made schemas have no plan for
	Untried     []Left       `json:"untried"`      // writes that were never applied: the model does not allow them, or nothing was there for them
	Skipped     []Left       `json:"skipped"`      // random designs that grew too large
	Swept       []string     `json:"keyspaces_removed,omitempty"`
	Interrupted bool         `json:"interrupted"`
}

// Left is something that was not compared, and why.
type Left struct {
	Workload  string `json:"workload"`
	Design    string `json:"design"`
	Statement string `json:"statement,omitempty"`
	Reason    string `json:"reason"`
}

// Difference is an answer, or a table, that is not as the reference has it; or a statement that failed.
type Difference struct {
	Workload   string            `json:"workload"`
	Design     string            `json:"design"`
	Kind       string            `json:"kind"` // answer, table, error
	Statement  string            `json:"statement,omitempty"`
	Text       string            `json:"text,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Table      string            `json:"table,omitempty"`
	Plan       string            `json:"plan,omitempty"`
	Tables     string            `json:"tables,omitempty"`
	Reason     string            `json:"reason"`
	Missing    []string          `json:"missing,omitempty"` // rows that the reference has
	Extra      []string          `json:"extra,omitempty"`   // rows that it has not
	Again      string            `json:"again"`             // arguments that show it once more
}

// Clean tells whether nothing differs.
func (r *Report) Clean() bool { return len(r.Differences) == 0 }

// count counts one more thing that was met.
func (r *Report) count(what string) {
	if r.Met == nil {
		r.Met = map[string]int{}
	}
	r.Met[what]++
}

// meets counts what a plan has, each once.
func (r *Report) meets(p *plan.Plan) {
	met := map[string]bool{}
	reads := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		met[string(s.Kind)] = true
		if s.Table == nil {
			continue
		}
		reads++
		bindings := slices.Concat(s.Partition, s.Clustering)
		in := slices.ContainsFunc(s.Partition, func(b plan.Binding) bool { return b.Op == workload.In })
		like := slices.ContainsFunc(s.Clustering, func(b plan.Binding) bool { return b.Op == workload.Like })
		fed := slices.ContainsFunc(bindings, func(b plan.Binding) bool { return b.Value == "" })
		met["multi-get"] = met["multi-get"] || in || fed
		met["prefix"] = met["prefix"] || like
		met["join"] = met["join"] || reads > 1
		met["reverse"] = met["reverse"] || s.Reverse
		met["grouped by the server"] = met["grouped by the server"] || s.Grouped
		met["limited by the server"] = met["limited by the server"] || s.Limit > 0 || s.PerPartition > 0
		met["buckets"] = met["buckets"] || s.Table.Bucket != nil
		met["static columns"] = met["static columns"] || len(s.Table.Static) > 0
		met["descending"] = met["descending"] || len(s.Table.Desc) > 0
	}
	for what, there := range met {
		if there {
			r.count("plans: " + what)
		}
	}
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	return words.JSON(w, r)
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	for i := range r.Differences {
		fmt.Fprintf(&b, "DIFFERENCE %d\n%s\n", i+1, r.Differences[i].text())
	}
	kinds := make([]string, 0, len(r.ByDesign))
	for _, kind := range slices.Sorted(maps.Keys(r.ByDesign)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", r.ByDesign[kind], kind))
	}
	fmt.Fprintf(&b, "%d workloads, %d designs (%s) of %d tables, %d rows loaded, seed %d\n", r.Workloads, r.Designs, strings.Join(kinds, ", "), r.Tables, r.Loaded, r.Seed)
	fmt.Fprintf(&b, "%d queries by %d plans: %d answers compared, %d of them with rows\n", r.Queries, r.Plans, r.Answers, r.Filled)
	fmt.Fprintf(&b, "%d writes: %d updates applied, tables compared %d times\n", r.Writes, r.Updates, r.Contents)
	met := make([]string, 0, len(r.Met))
	for _, what := range slices.Sorted(maps.Keys(r.Met)) {
		met = append(met, fmt.Sprintf("%s %d", what, r.Met[what]))
	}
	fmt.Fprintf(&b, "met: %s\n", strings.Join(met, ", "))
	for _, l := range r.Missing {
		fmt.Fprintf(&b, "no plan: %s, %s, %s: %s\n", l.Workload, l.Design, l.Statement, l.Reason)
	}
	for _, l := range r.Untried {
		if !strings.HasPrefix(l.Workload, randomPrefix) { // of those there are many
			fmt.Fprintf(&b, "never applied: %s, %s, %s: %s\n", l.Workload, l.Design, l.Statement, l.Reason)
		}
	}
	for _, l := range r.Skipped {
		fmt.Fprintf(&b, "skipped: %s, %s: %s\n", l.Workload, l.Design, l.Reason)
	}
	if r.Restarts > 0 {
		fmt.Fprintf(&b, "Cassandra was away: %d designs were begun anew\n", r.Restarts)
	}
	for _, name := range r.Swept {
		fmt.Fprintf(&b, "removed keyspace %s, which an earlier run had left behind\n", name)
	}
	if r.Interrupted {
		b.WriteString("interrupted: the rest was not compared\n")
	}
	fmt.Fprintf(&b, "%d differences in %v\n", len(r.Differences), time.Duration(r.Seconds*float64(time.Second)).Round(time.Second/10))
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes a difference in words.
func (d *Difference) text() string {
	var b strings.Builder
	say := func(what, text string) {
		if text == "" {
			return
		}
		if strings.Contains(text, "\n") {
			text = "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
		} else {
			text = " " + text
		}
		fmt.Fprintf(&b, "  %s:%s\n", what, text)
	}
	say("workload", d.Workload+", design "+d.Design)
	say("what", d.Reason)
	say("table", d.Table)
	say("statement", strings.TrimSpace(d.Statement+" "+d.Text))
	for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
		say(name, d.Parameters[name])
	}
	say("plan", d.Plan)
	say("tables", d.Tables)
	say("missing", strings.Join(d.Missing, "\n"))
	say("too many", strings.Join(d.Extra, "\n"))
	say("again", "bin/verify "+d.Again)
	return b.String()
}
