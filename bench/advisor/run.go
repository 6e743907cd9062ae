package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// caseVariable makes this program measure the one case on its standard input.
const caseVariable = "HELENUS_BENCH_ADVISOR"

// result is what came of a case.
type result struct {
	kase
	Value      float64            `json:"value"`
	Bound      float64            `json:"bound"`
	GapLeft    float64            `json:"gap_left"`
	Proven     bool               `json:"proven"`
	Tables     int                `json:"tables"`
	Statements int                `json:"statements"`
	Candidates int                `json:"candidates"`
	Columns    int                `json:"columns"`
	Rows       int                `json:"rows"`
	Took       float64            `json:"took_s"`      // seconds by the clock
	Processor  float64            `json:"processor_s"` // seconds, with the solver's
	Peak       float64            `json:"peak_mb"`
	ChildPeak  float64            `json:"child_peak_mb"`
	Phases     map[string]float64 `json:"phases_s"`
	Order      []string           `json:"order"`
	Cut        []string           `json:"cut,omitempty"`
}

// measure runs a case in a process of its own.
func measure(ctx context.Context, c kase) (result, error) {
	var r result
	program, err := os.Executable()
	if err != nil {
		return r, err
	}
	in, err := json.Marshal(c)
	if err != nil {
		return r, err
	}
	var out, words bytes.Buffer
	command := exec.CommandContext(ctx, program)
	command.Env = append(os.Environ(), caseVariable+"=1", "GOMAXPROCS=1")
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(in), &out, &words
	if err := command.Run(); err != nil {
		return r, fmt.Errorf("%w: %s", err, strings.TrimSpace(words.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, err
	}
	return r, nil
}

// serve is the process that measures one case.
func serve(in io.Reader, out, words io.Writer) int {
	var c kase
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		_, _ = fmt.Fprintln(words, err)
		return 1
	}
	r, err := measured(c)
	if err != nil {
		_, _ = fmt.Fprintln(words, err)
		return 1
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		_, _ = fmt.Fprintln(words, err)
		return 1
	}
	return 0
}

func measured(c kase) (result, error) {
	r := result{kase: c, Phases: map[string]float64{}}
	debug.SetGCPercent(100) // whatever the environment says
	began := time.Now()
	w, err := loaded(c)
	if err != nil {
		return r, err
	}
	o := design.Options{Solver: solve.New(solve.Config{})}
	if c.Gap > 0 || c.Wall > 0 {
		o.Limits = solve.Limits{Gap: c.Gap, Wall: c.Wall}
	}
	if c.Cost != "" {
		if o.Cost, err = cost.ByName(c.Cost); err != nil {
			return r, err
		}
	}
	d, err := design.Choose(context.Background(), w, o)
	if err != nil {
		return r, err
	}
	r.Took = time.Since(began).Seconds()
	r.Value, r.Bound, r.GapLeft, r.Proven = d.After, d.Bound, d.Gap, d.Proven
	r.Tables, r.Statements, r.Candidates, r.Columns, r.Rows, r.Cut = len(d.Tables), len(d.Statements), d.Candidates, d.Variables, d.Constraints, d.Truncated
	for _, p := range d.Phases {
		if _, ok := r.Phases[p.Name]; !ok {
			r.Order = append(r.Order, p.Name)
		}
		r.Phases[p.Name] += p.Duration.Seconds()
	}
	r.Peak, r.ChildPeak, r.Processor = used()
	return r, nil
}

func loaded(c kase) (*workload.Workload, error) {
	if c.File == "" {
		if c.Dense {
			return generate.Workload(generate.Dense(c.Scale), c.Seed), nil
		}
		return generate.Workload(generate.Scale(c.Scale), c.Seed), nil
	}
	w, err := workload.Load(c.File)
	if err != nil {
		return nil, err
	}
	w.Tables = nil // as NoSE: from nothing
	if c.Mix != "" {
		err = w.SetMix(c.Mix)
	}
	return w, err
}

// failed says in what the result is not what it must be.
func (r *result) failed() string {
	switch {
	case r.Most > 0 && r.Value > r.Most:
		return fmt.Sprintf("costs more than %g", r.Most)
	case r.Seconds > 0 && r.Processor > r.Seconds: // of the clock's others take their part
		return fmt.Sprintf("takes more than %g s of the processor", r.Seconds)
	case r.Megabytes > 0 && max(r.Peak, r.ChildPeak) > r.Megabytes:
		return fmt.Sprintf("needs more than %g MB", r.Megabytes)
	}
	return ""
}
