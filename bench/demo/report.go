package main

import (
	"cmp"
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

// round is the same traffic, made at the same time through Helenus and through the control.
type round struct {
	through, control *report
	reads            int // that Cassandra had meanwhile
}

// abreast are rounds one after the other: in any of them the machine may have been kinder to one side.
type abreast []round

// middle is how long a statement took both ways in the round whose ratio is the middle one; zero if a round lacks it.
func (a abreast) middle(name string) (through, control float64) {
	var list [][2]float64
	for _, r := range a {
		x, y := r.through.statement(name).P50, r.control.statement(name).P50
		if x == 0 || y == 0 {
			return 0, 0
		}
		list = append(list, [2]float64{x, y})
	}
	slices.SortFunc(list, func(x, y [2]float64) int { return cmp.Compare(x[0]*y[1], y[0]*x[1]) })
	m := list[len(list)/2]
	return m[0], m[1]
}

// asked is how many reads the application made, both ways, and reads how many Cassandra had.
func (a abreast) asked() (asked, reads int) {
	for _, r := range a {
		for _, s := range slices.Concat(r.through.Statements, r.control.Statements) {
			if isRead[s.Name] {
				asked += s.Count
			}
		}
		reads += r.reads
	}
	return asked, reads
}

func (a abreast) faults() (n int) {
	for _, r := range a {
		n += r.through.faults()
	}
	return n
}

// tolerated is how much longer a statement may take than by the control before it is said to be slower: ten per cent.
const tolerated = 1.1

// slower names, with figures, the statements that the change made slower. By how much they are slower through the control, too, is the machine's doing.
func slower(before, after abreast) (all string) {
	for _, s := range before[0].through.Statements {
		was, controlWas := before.middle(s.Name)
		is, controlIs := after.middle(s.Name)
		if was == 0 || is == 0 {
			all += fmt.Sprintf(" %s was not asked each time;", s.Name)
		} else if is/controlIs > tolerated*was/controlWas {
			all += fmt.Sprintf(" %s %s -> %s ms, where the control went %s -> %s ms;", s.Name, ms(was), ms(is), ms(controlWas), ms(controlIs))
		}
	}
	return all
}

// table compares them with those after the change.
func (a abreast) table(after abreast) string {
	t := newTable("statement", "p50 ms before", "control", "after", "control")
	for _, s := range a[0].through.Statements {
		was, controlWas := a.middle(s.Name)
		is, controlIs := after.middle(s.Name)
		t.AppendRow([]any{s.Name, ms(was), ms(controlWas), ms(is), ms(controlIs)})
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
