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

	"github.com/helenus-db/helenus/internal/words"
)

// report is what stands in the JSON file.
type report struct {
	Command    string    `json:"command"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"`
	Processors int       `json:"processors"`
	Cassandra  string    `json:"cassandra"`
	Heap       string    `json:"heap"`
	Load       float64   `json:"load_average"` // when it began
	Changes    int       `json:"changes"`      // that serve
	Rows       int       `json:"rows"`         // that are served over kill -9
	Rounds     int       `json:"rounds"`
	Tolerance  float64   `json:"tolerance"`
	Figures    []figure  `json:"figures"`
}

// figure is one row of the table.
type figure struct {
	What    string  `json:"what"`
	On      string  `json:"on"` // Cassandra or mock
	Seen    string  `json:"seen"`
	Against string  `json:"against,omitempty"`
	Value   float64 `json:"value"` // what is judged
	Unit    string  `json:"unit"`
	Must    float64 `json:"must"`
	AtLeast bool    `json:"at_least,omitempty"` // more is better
	OK      bool    `json:"ok"`                 // as it must be, within the tolerance
}

const (
	onCassandra = "Cassandra"
	onMock      = "mock"
)

// add judges a figure.
func (r *report) add(f figure) {
	f.OK = f.Value <= f.Must*(1+r.Tolerance)
	if f.AtLeast {
		f.OK = f.Value >= f.Must*(1-r.Tolerance)
	}
	r.Figures = append(r.Figures, f)
}

// exactly judges a figure that has no noise.
func (r *report) exactly(f figure) {
	f.OK = f.Value <= f.Must
	r.Figures = append(r.Figures, f)
}

func (r *report) missed() (n int) {
	for _, f := range r.Figures {
		if !f.OK {
			n++
		}
	}
	return n
}

// What must be: what a person would still accept of a change that serves.
const (
	mostBeside  = 1.1 // of the processor time without changes
	mostKeeping = 3   // of a plain write's
	mostServed  = 500 // us
	leastRate   = 0.3 // of Cassandra's own
	mostReady   = 1.6 // s
	mostServing = 5   // s
	micro       = "%.0f us"
)

func (r *report) processor(real, mock series, lookedUp, heavyStays int) {
	changes := lookedUp + 1
	both := []struct {
		name string
		s    series
	}{{onCassandra, real}, {onMock, mock}}
	for _, on := range both {
		beside := func(what, with, without string) {
			r.add(figure{What: what, On: on.name, Seen: fmt.Sprintf(micro, on.s.median(with)), Against: fmt.Sprintf(micro+" with no change", on.s.median(without)),
				Value: on.s.ratio(with, without), Unit: "x", Must: mostBeside})
		}
		beside(fmt.Sprintf("plain read beside %d serving changes, CPU", changes), plainReadWith, plainReadWithout)
		beside(fmt.Sprintf("plain write beside %d serving changes, CPU", changes), plainWriteWith, plainWriteWithout)
		beside(fmt.Sprintf("write of another column of a table with %d changes, CPU", lookedUp), otherColumn, plainWriteWithout)
	}
	for _, of := range []struct{ what, name string }{
		{"insert that sets a looked-up column, client timestamps, CPU", insertStamped}, {"update of a looked-up column, client timestamps, CPU", updateStamped},
		{"insert that sets a looked-up column, no timestamps, CPU", insertUnstamped}, {"update of a looked-up column, no timestamps, CPU", updateUnstamped},
	} {
		r.add(figure{What: of.what, On: onCassandra, Seen: fmt.Sprintf(micro, real.median(of.name)),
			Against: fmt.Sprintf(micro+" of a plain write", real.median(plainWriteWith)), Value: real.ratio(of.name, plainWriteWith), Unit: "x", Must: mostKeeping})
	}
	for _, on := range both {
		us := on.s.median(servedRead)
		r.add(figure{What: fmt.Sprintf("served read of %d rows, CPU", heavyStays), On: on.name, Seen: fmt.Sprintf(micro, us), Value: us, Unit: "us", Must: mostServed})
	}
}

func (r *report) requests(stamped, unstamped counts) {
	for _, c := range []struct {
		how  string
		seen counts
		must [4]float64
	}{{"client timestamps", stamped, [4]float64{3, 4, 2, 3}}, {"no timestamps", unstamped, [4]float64{5, 6, 5, 4}}} {
		for i, of := range []struct {
			what string
			requests
		}{{"insert", c.seen.insert}, {"update of the column", c.seen.update}, {"same value again", c.seen.same}, {"delete", c.seen.remove}} {
			r.exactly(figure{What: "requests inside Cassandra, " + of.what + ", " + c.how, On: onCassandra, Seen: fmt.Sprintf("%d reads, %d writes", of.Reads, of.Writes),
				Value: float64(of.all()), Unit: "requests", Must: c.must[i]})
		}
	}
}

func (r *report) throughput(with, direct []float64, lookedUp int) {
	s := series{"with": with, "direct": direct}
	r.add(figure{What: fmt.Sprintf("insert that sets %d looked-up columns, throughput", lookedUp), On: onCassandra, Seen: fmt.Sprintf("%.0f/s", s.median("with")),
		Against: fmt.Sprintf("%.0f/s direct", s.median("direct")), Value: s.ratio("with", "direct"), Unit: "x", Must: leastRate, AtLeast: true})
}

func (r *report) restarts(list []again) {
	for _, of := range []struct {
		what string
		of   func(again) float64
		must float64
	}{
		{"the port answers", func(a again) float64 { return a.port }, mostReady},
		{"it is ready", func(a again) float64 { return a.ready }, mostReady},
		{"it serves again", func(a again) float64 { return a.serves }, mostServing},
	} {
		var all []float64
		for _, a := range list {
			all = append(all, of.of(a))
		}
		seen := fmt.Sprintf("%.2f to %.2f s", slices.Min(all), slices.Max(all))
		r.add(figure{What: fmt.Sprintf("after kill -9, %d rows served: until %s", r.Rows, of.what), On: onCassandra, Seen: seen, Value: median(all), Unit: "s", Must: of.must})
	}
}

// table prints the figures.
func (r *report) table(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| what | on | seen | against | is | must | |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, f := range r.Figures {
		bound, mark := "<=", "ok"
		if f.AtLeast {
			bound = ">="
		}
		if !f.OK {
			mark = "**missed**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s %s | %s %g %s | %s |\n", f.What, f.On, f.Seen, f.Against, short(f.Value), f.Unit, bound, f.Must, f.Unit, mark)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func short(v float64) string {
	if v == float64(int(v)) || v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// write writes change.json and change.md.
func (r *report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, to := range map[string]func(io.Writer) error{"change.json": r.json, "change.md": r.markdown} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := errors.Join(to(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) json(w io.Writer) error {
	return words.JSON(w, r)
}

func (r *report) markdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, `# What serving changes cost

Written by `+"`%s`"+` on %s, in %.0f s; %d processors, load %.1f when it began, Cassandra %s on one node with a heap of %s.
%d changes serve, one of them over a table of %d rows. CPU is the Helenus process's own, per operation, what follows its answer included; medians of %d rounds
that take turns, of ratios the median of the rounds' ratios. The mock gives Cassandra's answers again without asking it. Both ways of the throughput go
through the relay that counts requests, and an operation is done when all that follows it is. Reads and writes count alike, a batch once.
A figure is missed if it is off by more than %.0f %%; requests are exact.

`, r.Command, r.Started.Format(time.DateOnly), r.Seconds, r.Processors, r.Load, r.Cassandra, r.Heap, r.Changes, r.Rows, r.Rounds, 100*r.Tolerance)
	if err != nil {
		return err
	}
	return r.table(w)
}
