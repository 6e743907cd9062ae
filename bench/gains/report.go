package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/bench/contest"
)

// What the figures must be.
const (
	mustChanges = 40
	mustTau     = 0.9
	mustError   = 0.25
)

// report is what was found.
type report struct {
	Command   string    `json:"command"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Cassandra string    `json:"cassandra"`
	Load      float64   `json:"load"` // of the machine at the end

	Reads   int    `json:"reads"`   // statements that changes were wanted for
	Advised int    `json:"advised"` // of them
	Serving int    `json:"serving"` // changes that came to serve
	Gains   figure `json:"gain_ms"`
	Faster  figure `json:"times_faster"`
	Before  figure `json:"before_ms"`
	After   figure `json:"after_ms"`
	Slower  int    `json:"slower"` // changes whose reads are slower served
	Rows    []row  `json:"changes"`

	wanted int // changes that a run of its size is to carry out
}

// figure is how well something was foretold.
type figure struct {
	Tau   float64 `json:"kendall_tau"`
	Error float64 `json:"median_relative_error"`
	Bias  float64 `json:"median_signed_error"` // above 0: more was said than is measured
}

// row is one read.
type row struct {
	Table     string  `json:"table"`
	Column    string  `json:"column"`
	TableRows int     `json:"table_rows"`
	Width     int     `json:"width"`
	Rows      int     `json:"rows"` // of a value
	Form      string  `json:"form"`
	State     string  `json:"state"` // of its change; "not advised"
	Reason    string  `json:"reason,omitempty"`
	Served    float64 `json:"served"` // share of the measured reads that the change answered

	SaidBefore float64 `json:"said_before_ms"`
	SaidAfter  float64 `json:"said_after_ms"`
	Before     float64 `json:"before_ms"`
	After      float64 `json:"after_ms"`
	Learned    float64 `json:"learned_ms"` // before, as helenus saw it
}

// slower tells whether served reads take longer: by the median, and by more than a twentieth.
func (r *row) slower() bool { return r.After > 1.05*r.Before }

// wrong is how far a gain is off where there is none.
const wrong = 10

// judged is the report of what was measured, turns times each.
func judged(all []*target, served map[string]float64, turns int) *report {
	r := &report{Reads: len(all)}
	for _, t := range all {
		one := row{Table: t.shape.table(), Column: t.column.name, TableRows: t.shape.rows, Width: t.shape.width, Rows: t.column.rows, Form: t.column.form, State: "not advised", Learned: median(t.learned)}
		if t.advice != nil {
			r.Advised++
			one.State, one.Reason = t.state, t.reason
			one.SaidBefore, one.SaidAfter = t.advice.Statements[0].Before, t.advice.Statements[0].After
		}
		if t.state == "serving" {
			r.Serving++
			one.Before, one.After, one.Served = median(t.before), median(t.after), served[t.advice.ID]/float64(turns)
			if one.slower() {
				r.Slower++
			}
		}
		r.Rows = append(r.Rows, one)
	}
	r.figures()
	return r
}

// figures works out how well things were foretold, from the rows.
func (r *report) figures() {
	r.Gains = r.foretold(func(x *row) float64 { return x.SaidBefore - x.SaidAfter }, func(x *row) float64 { return x.Before - x.After })
	r.Faster = r.foretold(func(x *row) float64 { return x.SaidBefore / x.SaidAfter }, func(x *row) float64 { return x.Before / x.After })
	r.Before = r.foretold(func(x *row) float64 { return x.SaidBefore }, func(x *row) float64 { return x.Before })
	r.After = r.foretold(func(x *row) float64 { return x.SaidAfter }, func(x *row) float64 { return x.After })
}

// foretold compares what was said of all changes that serve with what was measured.
func (r *report) foretold(said, measured func(*row) float64) figure {
	var list []contest.Foretold
	var off, signed []float64
	for i := range r.Rows {
		one := &r.Rows[i]
		if one.State != "serving" {
			continue
		}
		f := contest.Foretold{Said: said(one), Measured: measured(one)}
		list, off, signed = append(list, f), append(off, wrong), append(signed, wrong)
		if f.Measured > 0 {
			off[len(off)-1], signed[len(signed)-1] = f.Off(), f.Said/f.Measured-1
		}
	}
	if len(list) == 0 { // nothing serves, which Serving says
		return figure{}
	}
	return figure{contest.KendallTau(list), median(off), median(signed)}
}

// missed are the figures that are not what they must be.
func (r *report) missed() (list []string) {
	for _, f := range []struct {
		name string
		ok   bool
	}{{"changes carried out", r.Serving >= r.wanted}, {"Kendall's tau of the gain", r.Gains.Tau >= mustTau}, {"median error of the gain", r.Gains.Error <= mustError}, {"advice that made its reads slower", r.Slower == 0}} {
		if !f.ok {
			list = append(list, f.name)
		}
	}
	return list
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// write writes gains.json and gains.md into a folder.
func (r *report) write(folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, "gains.json"), append(data, '\n'), 0o600), os.WriteFile(filepath.Join(folder, "gains.md"), []byte(r.markdown()), 0o600))
}

func (r *report) markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# What advice promises, and what it brings\n")
	line("Written by `%s` on %s, in %.0f s, on Cassandra %s of one node; load of the machine at the end %.1f. What is compared is said in the comment of `bench/gains`: of each read the median of what it takes, milliseconds, as written straight to Cassandra, and served by the change, in turn.\n",
		r.Command, r.Started.Format(time.DateOnly), r.Seconds, r.Cassandra, r.Load)
	line("| | must | is |\n| --- | ---: | ---: |")
	line("| changes carried out | >= %d | %d (of %d reads, %d advised on) |", mustChanges, r.Serving, r.Reads, r.Advised)
	line("| gain of a read: Kendall's tau | >= %.1f | %.2f |", mustTau, r.Gains.Tau)
	line("| gain of a read: median error | <= %.0f %% | %.0f %% |", 100*mustError, 100*r.Gains.Error)
	line("| advice that made its reads slower | 0 | %d |", r.Slower)
	line("\nNothing is demanded of these, which the gain is made of:\n\n| | tau | median error | with its sign |\n| --- | ---: | ---: | ---: |")
	for _, x := range []struct {
		name string
		figure
	}{{"gain, ms", r.Gains}, {"times faster", r.Faster}, {"what it takes before, ms: observed", r.Before}, {"what it takes served, ms: the cost model's", r.After}} {
		line("| %s | %.2f | %.0f %% | %+.0f %% |", x.name, x.Tau, 100*x.Error, 100*x.Bias)
	}
	line("\nAll are look-up tables, on a cluster of one node, read by one client that waits for each answer, without writes. Said of a read before is what Helenus observed of that same read, not what a model foretells: where a read served takes next to nothing, the gain is foretold well if reads take again what they took. Said of a read served is what the cost model says, which takes client and Helenus for nothing.\n")
	line("## Each\n")
	line("| table | rows; bytes each | by | rows of a value; form | foretold before -> after | measured before -> after | times faster | served |\n| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |")
	for i := range r.Rows {
		x := &r.Rows[i]
		said, measured, faster, served := "", x.State, "", ""
		if x.SaidBefore > 0 {
			said = fmt.Sprintf("%.1f -> %.1f", x.SaidBefore, x.SaidAfter)
		}
		if x.State == "serving" {
			measured, faster, served = fmt.Sprintf("%.1f -> %.1f", x.Before, x.After), fmt.Sprintf("%.1f", x.Before/x.After), fmt.Sprintf("%.0f %%", 100*x.Served)
		} else if x.Reason != "" {
			measured += ": " + x.Reason
		}
		line("| %s | %d; %d | %s | %d; %s | %s | %s | %s | %s |", strings.TrimPrefix(x.Table, keyspace+"."), x.TableRows, x.Width, x.Column, x.Rows, x.Form, said, measured, faster, served)
	}
	return b.String()
}
