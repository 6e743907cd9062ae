package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/product"
)

// helenus is one process of the product, and sessions through it.
type helenus struct {
	*product.Process
	stamped   *gocql.Session // its driver sends timestamps
	unstamped *gocql.Session // it does not: the coordinator stamps
}

// newHelenus chooses ports and a state directory.
func newHelenus(name, program, dir, contactPoint string, args ...string) (*helenus, error) {
	p, err := product.New(name, program, dir, contactPoint, append([]string{
		"--advise-every", "1h", "--min-saved", "1ms", "--min-executions", strconv.Itoa(executions), "--sample-values=false", "--settle", "200ms", "--backfill-rate", "0", "--backfill-ranges", "16",
		"--shadow-reads", "10", "--shadow-for", "1s", "--shadow-probes", "10", "--pprof",
	}, args...)...)
	return &helenus{Process: p}, err
}

// open waits until the process is ready, and connects.
func (h *helenus) open(ctx context.Context) error {
	if err := h.Await(ctx); err != nil {
		return err
	}
	return h.connect()
}

func (h *helenus) connect() (err error) {
	if h.stamped, err = product.Connect(h.Listen, true); err != nil {
		return err
	}
	h.unstamped, err = product.Connect(h.Listen, false)
	return err
}

// disconnect closes the sessions.
func (h *helenus) disconnect() {
	for _, s := range []**gocql.Session{&h.stamped, &h.unstamped} {
		if *s != nil {
			(*s).Close()
			*s = nil
		}
	}
}

func (h *helenus) stop() {
	h.disconnect()
	h.Stop()
}

// served is how many reads were answered from look-ups since the process began.
func (h *helenus) served(ctx context.Context) (sum float64, err error) {
	_, text, err := h.Get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "helenus_change_reads_total{") && strings.Contains(line, `result="served"`) {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, fmt.Errorf("metrics say %q: %w", line, err)
			}
			sum += v
		}
	}
	return sum, nil
}

// unserved says, as its metrics do, why reads were not answered from look-ups; "" if it cannot be asked.
func (h *helenus) unserved(ctx context.Context) string {
	_, text, _ := h.Get(ctx, "/metrics")
	var said []string
	for line := range strings.SplitSeq(text, "\n") {
		if (strings.HasPrefix(line, "helenus_change_reads_") || strings.HasPrefix(line, "helenus_change_touched_total")) && !strings.HasSuffix(line, " 0") {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// advice is what the bench reads of one.
type advice struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Kind     string `json:"kind"`
	Table    string `json:"table"`
	Column   string `json:"column"`
	Eligible bool   `json:"eligible"`
}

// lookUps are the look-ups that are advised now and could be approved, by table.column.
func (h *helenus) lookUps(ctx context.Context) (map[string]string, error) {
	text, err := h.CLI(ctx, "recommendations", "--now", "--json")
	if err != nil {
		return nil, err
	}
	var all struct {
		Recommendations []advice `json:"recommendations"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("helenus recommendations: %w", err)
	}
	ids := map[string]string{}
	for _, a := range all.Recommendations {
		if a.Kind == "look-up table" && a.Eligible && a.State == "open" {
			ids[a.Table+"."+a.Column] = a.ID
		}
	}
	return ids, nil
}

var errNoAdvice = errors.New("no look-up was advised")
