package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// report is what stands in faults.json, and as text in faults.md.
type report struct {
	Command    string     `json:"command"`
	Started    time.Time  `json:"started"`
	Seconds    float64    `json:"seconds"`
	Processors int        `json:"processors"`
	Incomplete string     `json:"incomplete,omitempty"`
	Simulated  *simulated `json:"simulated,omitempty"`
	Scale      []period   `json:"scale,omitempty"`
}

// simulated is what came of the runs in process.
type simulated struct {
	sum
	Seconds  float64  `json:"seconds"`
	Examples []string `json:"examples,omitempty"` // plans that went wrong, as small as they could be made
}

// bad reports whether anything was wrong.
func (r *report) bad() bool {
	return r.Simulated != nil && r.Simulated.bad()
}

func (s *sum) bad() bool {
	return s.Wrong+s.Breaches+s.Missing+s.Stuck+s.Undecided > 0 || s.Longest > stuckAfter.Seconds()
}

// write writes the report.
func (r *report) write(folder string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	return errors.Join(err, os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "faults.json"), append(raw, '\n'), 0o644),
		os.WriteFile(filepath.Join(folder, "faults.md"), []byte(r.markdown()), 0o644))
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A fleet under faults\n\nWritten by `%s` on %s, in %.0f s; %d processors. Clients read and write through all members of a fleet while faults strike in every state of a change; what is checked is in the comment of\n`bench/faults` and of its `history.go`.\n\n",
		r.Command, r.Started.Format("2006-01-02"), r.Seconds, r.Processors)
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "**Incomplete**: %s.\n\n", r.Incomplete)
	}
	b.WriteString("| | must |")
	cells := []*sum{}
	if r.Simulated != nil {
		b.WriteString(" in process |")
		cells = append(cells, &r.Simulated.sum)
	}
	b.WriteString("\n| --- | ---: |" + strings.Repeat(" ---: |", len(cells)) + "\n")
	line := func(name, must string, value func(*sum) string) {
		fmt.Fprintf(&b, "| %s | %s |", name, must)
		for _, c := range cells {
			fmt.Fprintf(&b, " %s |", value(c))
		}
		b.WriteString("\n")
	}
	number := func(n func(*sum) int) func(*sum) string {
		return func(s *sum) string { return fmt.Sprint(n(s)) }
	}
	line("runs", "", number(func(s *sum) int { return s.Runs }))
	line("answers whose history was checked", "", number(func(s *sum) int { return s.Reads }))
	line("of which by the change", "", number(func(s *sum) int { return s.Served }))
	line("answers compared with the database's own", "", number(func(s *sum) int { return s.Compared }))
	line("writes", "", number(func(s *sum) int { return s.Writes }))
	line("of which with unknown outcome", "", number(func(s *sum) int { return s.Unknown }))
	line("**wrong answers**", "0", number(func(s *sum) int { return s.Wrong }))
	line("**histories that can not have been**", "0", number(func(s *sum) int { return s.Breaches }))
	line("histories not decided", "0", number(func(s *sum) int { return s.Undecided }))
	line("**rows without entry at the end**", "0", number(func(s *sum) int { return s.Missing }))
	line("**stuck**", "0", number(func(s *sum) int { return s.Stuck }))
	line("longest from the end of the last fault until the change is where it was to be, s", "60", func(s *sum) string { return fmt.Sprintf("%.1f", s.Longest) })
	if s := r.Simulated; s != nil {
		fmt.Fprintf(&b, "\n## In process: what struck in which state\n\n%.0f runs a minute.\n\n%s", float64(s.Runs)/s.Seconds*60, s.table())
		for _, e := range s.Examples {
			fmt.Fprintf(&b, "\n### Went wrong\n\n```\n%s```\n", e)
		}
	}
	if len(r.Scale) > 0 {
		fmt.Fprintf(&b, "\n## A large fleet and its state\n\n%s", scaleTable(r.Scale))
	}
	return b.String()
}
