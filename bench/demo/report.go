package main

import (
	"encoding/json"
	"fmt"
	"os"
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
	var lines []string
	for line := range strings.SplitSeq(t.Render(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

func ms(microseconds float64) string { return fmt.Sprintf("%.2f", microseconds/1000) }

// times says how many times faster after is.
func times(before, after float64) string {
	if after == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fx", before/after)
}
