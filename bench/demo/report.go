package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// report is what `hotel run -report` writes. Latencies are microseconds.
type report struct {
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Count      int       `json:"count"`
	Errors     int       `json:"errors"`
	Operations []figures `json:"operations"`
	Statements []figures `json:"statements"`
	Complaints []struct {
		Message string `json:"message"`
		Count   int    `json:"count"`
	} `json:"complaints"`
}

// scanning is the operation whose statement reads the whole table until it is answered from the look-up.
const scanning = "guest-reservations"

// faults are the operations that failed, but for scans that Cassandra itself gave up: on a busy machine it does, with Helenus and
// without, and says so in words of its own.
func (r *report) faults() int {
	gaveUp := 0
	for _, c := range r.Complaints {
		if strings.HasPrefix(c.Message, "Operation timed out") || strings.HasPrefix(c.Message, "Operation failed - received ") {
			gaveUp += c.Count
		}
	}
	return r.Errors - min(gaveUp, named(r.Operations, scanning).Errors)
}

type figures struct {
	Name   string  `json:"name"`
	Count  int     `json:"count"`
	Errors int     `json:"errors"`
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
}

func readReport(file string) (*report, error) {
	text, err := os.ReadFile(file) //nolint:gosec // our own folder
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &r, nil
}

// statement returns the figures of one statement; zero if it did not occur.
func (r *report) statement(name string) figures { return named(r.Statements, name) }

// rate is the operations a second.
func (r *report) rate() float64 { return float64(r.Count) / r.End.Sub(r.Start).Seconds() }

func named(all []figures, name string) figures {
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	return figures{}
}

func newTable(headers ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.AppendHeader(headers)
	return t
}

// compared is the before/after table of a set of figures.
func compared(what string, before, after []figures) string {
	t := newTable(what, "count", "p50 ms before", "after", "times", "p99 ms before", "after")
	for _, b := range before {
		a := named(after, b.Name)
		t.AppendRow([]any{b.Name, b.Count, ms(b.P50), ms(a.P50), times(b.P50, a.P50), ms(b.P99), ms(a.P99)})
	}
	return rendered(t)
}

// rendered is a table without spaces at the ends of lines.
func rendered(t table.Writer) string {
	var lines []string
	for line := range strings.SplitSeq(t.Render(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// abreast is the same traffic, made at the same time through Helenus and through the control.
type abreast struct {
	through, control *report
	reads            int // that Cassandra had meanwhile
}

// asked is how many reads the application made, both ways.
func (r abreast) asked() (n int) {
	for _, s := range slices.Concat(r.through.Statements, r.control.Statements) {
		if isRead[s.Name] {
			n += s.Count
		}
	}
	return n
}

// tolerated is how much longer a statement may take than by the control before it is said to be slower: ten per cent.
const tolerated = 1.1

// slower names, with figures, the statements that the change made slower between two such runs. By how much they are slower through the control, too, is the
// machine's doing.
func slower(before, after abreast) (all string) {
	for _, was := range before.through.Statements {
		is, controlWas, controlIs := after.through.statement(was.Name), before.control.statement(was.Name), after.control.statement(was.Name)
		if is.P50 == 0 || controlWas.P50 == 0 || controlIs.P50 == 0 {
			all += fmt.Sprintf(" %s was not asked each time;", was.Name)
		} else if is.P50/controlIs.P50 > tolerated*was.P50/controlWas.P50 {
			all += fmt.Sprintf(" %s %s -> %s ms, where the control went %s -> %s ms;", was.Name, ms(was.P50), ms(is.P50), ms(controlWas.P50), ms(controlIs.P50))
		}
	}
	return all
}

// table compares two such runs.
func (r abreast) table(after abreast) string {
	t := newTable("statement", "count", "p50 ms before", "control", "after", "control")
	for _, was := range r.through.Statements {
		t.AppendRow([]any{was.Name, was.Count, ms(was.P50), ms(r.control.statement(was.Name).P50), ms(after.through.statement(was.Name).P50), ms(after.control.statement(was.Name).P50)})
	}
	return rendered(t)
}

func ms(microseconds float64) string { return fmt.Sprintf("%.2f", microseconds/1000) }

// times says how many times faster after is.
func times(before, after float64) string {
	if after == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fx", before/after)
}
