package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"sync"
	"time"
)

// report is what a run writes as JSON. Latencies are in microseconds, exact, of the successful calls alone.
type report struct {
	Start       time.Time `json:"start"`
	End         time.Time `json:"end"`
	Seed        uint64    `json:"seed"`
	Concurrency int       `json:"concurrency"`
	Count       int       `json:"count"`  // operations
	Errors      int       `json:"errors"` // operations that failed
	Operations  []figures `json:"operations"`
	Statements  []figures `json:"statements"`
	// Complaints are the different error messages with how often they came, the most frequent first, at most ten.
	Complaints []complaint `json:"complaints"`
}

// figures describe one operation or one statement. Count includes the calls that failed.
type figures struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"` // CQL of a statement
	Count  int    `json:"count"`
	Errors int    `json:"errors"`
	P50    int64  `json:"p50_us"`
	P99    int64  `json:"p99_us"`
	Mean   int64  `json:"mean_us"`
}

type complaint struct {
	Message string `json:"message"`
	Count   int    `json:"count"`
}

const maxComplaints = 10

// tally collects latencies by name. It may be used by several goroutines.
type tally struct {
	mu   sync.Mutex
	sets map[string]*samples
	says map[string]int
}

type samples struct {
	text      string
	latencies []time.Duration
	errors    int
}

func newTally() *tally { return &tally{sets: map[string]*samples{}, says: map[string]int{}} }

// add records one call. A failed one counts, but its latency does not.
func (t *tally) add(name, text string, latency time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set := t.sets[name]
	if set == nil {
		set = &samples{text: text}
		t.sets[name] = set
	}
	if err != nil {
		set.errors++
		if _, known := t.says[err.Error()]; known || len(t.says) < 1000 {
			t.says[err.Error()]++
		}
		return
	}
	set.latencies = append(set.latencies, latency)
}

// figures returns what was collected, by name.
func (t *tally) figures() []figures {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]figures, 0, len(t.sets))
	for name, set := range t.sets {
		slices.Sort(set.latencies)
		f := figures{Name: name, Text: set.text, Count: len(set.latencies) + set.errors, Errors: set.errors}
		f.P50, f.P99 = quantile(set.latencies, 50), quantile(set.latencies, 99)
		var sum time.Duration
		for _, latency := range set.latencies {
			sum += latency
		}
		f.Mean = (sum / time.Duration(max(len(set.latencies), 1))).Microseconds()
		all = append(all, f)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

func (t *tally) complaints() []complaint {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]complaint, 0, len(t.says))
	for message, count := range t.says {
		all = append(all, complaint{message, count})
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Count != all[j].Count {
			return all[i].Count > all[j].Count
		}
		return all[i].Message < all[j].Message
	})
	return all[:min(len(all), maxComplaints)]
}

// quantile returns the least sample that at least percent of the sorted samples do not exceed, in microseconds, and 0
// when there is none.
func quantile(sorted []time.Duration, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1].Microseconds()
}

// print writes the report as tables for a person.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%d operations in %.1f s, %d failed\n", r.Count, r.End.Sub(r.Start).Seconds(), r.Errors)
	for _, part := range []struct {
		title string
		rows  []figures
	}{{"operation", r.Operations}, {"statement", r.Statements}} {
		fmt.Fprintf(out, "%-26s %8s %7s %10s %10s %10s\n", part.title, "count", "errors", "p50 ms", "p99 ms", "mean ms")
		for _, f := range part.rows {
			fmt.Fprintf(out, "%-26s %8d %7d %10.2f %10.2f %10.2f\n", f.Name, f.Count, f.Errors, ms(f.P50), ms(f.P99), ms(f.Mean))
		}
	}
	for _, c := range r.Complaints {
		fmt.Fprintf(out, "error, %d times: %s\n", c.Count, c.Message)
	}
}

func ms(microseconds int64) float64 { return float64(microseconds) / 1000 }

// write writes the report as JSON, whole or not at all.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	unfinished := path + ".part"
	if err := os.WriteFile(unfinished, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
