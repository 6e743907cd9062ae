package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/chart"
	"github.com/helenus-db/helenus/internal/words"
)

// result is what stands in the JSON file.
type result struct {
	Command    string    `json:"command"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"`
	Processors int       `json:"processors"`
	Cassandra  string    `json:"cassandra"`
	Heap       string    `json:"heap,omitempty"`
	Load       float64   `json:"load_average"` // when it began
	Incomplete string    `json:"incomplete,omitempty"`
	Cells      []*cell   `json:"cells"`
}

// cell is all rounds of one size, schema and way.
type cell struct {
	Way       string         `json:"way"`
	Schema    string         `json:"schema"`
	Size      int            `json:"writes_of_a_round"`
	Writes    int            `json:"writes"`
	Succeeded int            `json:"succeeded"`
	Failures  map[string]int `json:"failures,omitempty"` // by kind
	MeanMs    float64        `json:"mean_ms"`
	Low       float64        `json:"low"` // 95 % interval (Wilson) of the share that succeeded
	High      float64        `json:"high"`
}

func (r *result) cell(way, schema string, size int) *cell {
	for _, c := range r.Cells {
		if c.Way == way && c.Schema == schema && c.Size == size {
			return c
		}
	}
	c := &cell{Way: way, Schema: schema, Size: size, Failures: map[string]int{}}
	r.Cells = append(r.Cells, c)
	return c
}

func (c *cell) add(list []outcome) {
	total := c.MeanMs * float64(c.Writes)
	for _, o := range list {
		total += float64(o.took) / float64(time.Millisecond)
		if c.Writes++; o.ok {
			c.Succeeded++
		} else {
			c.Failures[o.kind]++
		}
	}
	c.MeanMs = total / float64(c.Writes)
	c.Low, c.High = wilson(c.Succeeded, c.Writes)
}

func (c *cell) share() float64 { return float64(c.Succeeded) / float64(max(1, c.Writes)) }

// wilson is the 95 % interval of a share.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle, spread := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-spread)/(1+z*z/m)), min(1, (middle+spread)/(1+z*z/m))
}

// What seed 002 measured: shares that succeeded, in per cent. Which of the four belongs to which number of writes can not be read
// off its figure 4 for certain.
const (
	seedLeast, seedMost, seedUser = 65, 81, 100
	seedLabels                    = "65 %, 68.7 %, 79 % and 81 %"
)

// chart is figure 4: the share that succeeded by the number of writes.
func (r *result) chart() (*chart.Chart, error) {
	var list []chart.Series
	sizes := r.sizes()
	for _, w := range ways {
		for _, schema := range schemas {
			s := chart.Series{Name: "one partition, " + w.name}
			if schema == user {
				s.Name = "one per user, " + w.name
			}
			for _, c := range r.Cells {
				if c.Way == w.name && c.Schema == schema {
					s.X, s.Y = append(s.X, float64(c.Size)), append(s.Y, 100*c.share())
				}
			}
			same := slices.IndexFunc(list, func(x chart.Series) bool { return slices.Equal(x.X, s.X) && slices.Equal(x.Y, s.Y) })
			if same >= 0 { // one line would hide the other
				list[same].Name += " and " + w.name
				continue
			}
			list = append(list, s)
		}
	}
	for name, y := range map[string]float64{"seed 002, one group, least": seedLeast, "seed 002, one group, most": seedMost} {
		s := chart.Series{Name: name, Guide: true}
		for _, x := range sizes {
			s.X, s.Y = append(s.X, float64(x)), append(s.Y, y)
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b chart.Series) int {
		if a.Guide && b.Guide {
			return strings.Compare(a.Name, b.Name)
		}
		return 0
	})
	return chart.Lines(chart.Frame{Title: "Writes that succeed at first try (S-23, after figure 4 of seed 002)", X: "concurrent writes", Y: "%", LogX: true, Width: 760, Height: 420}, list...)
}

func (r *result) sizes() []int {
	set := map[int]bool{}
	for _, c := range r.Cells {
		set[c.Size] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// write writes safety.json, safety.md and safety.svg.
func (r *result) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a report
		return err
	}
	c, err := r.chart()
	if err != nil {
		return err
	}
	for name, to := range map[string]func(io.Writer) error{"safety.json": r.json, "safety.md": r.markdown, "safety.svg": c.SVG} {
		f, err := os.Create(filepath.Join(folder, name)) //nolint:gosec // named by whoever runs it
		if err != nil {
			return err
		}
		if err := errors.Join(to(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (r *result) json(w io.Writer) error {
	return words.JSON(w, r)
}

func (r *result) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# One partition against one for each writer\n\nWritten by `%s` on %s, in %.0f s; %d processors, load %.1f when it began, Cassandra %s on one node",
		r.Command, r.Started.Format("2006-01-02"), r.Seconds, r.Processors, r.Load, r.Cassandra)
	if r.Heap != "" {
		fmt.Fprintf(&b, " with a heap of %s", r.Heap)
	}
	b.WriteString(". The experiment of seed 002, figure 4, with lightweight\ntransactions: comments kept with one article, or with their authors; the share that succeeds at first try (S-23, S-24).\n\n")
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "**Incomplete**: %s.\n\n", r.Incomplete)
	}
	b.WriteString("![share of writes that succeed](safety.svg)\n\n")
	for _, x := range ways {
		fmt.Fprintf(&b, "- **%s**: %s\n", x.name, x.text)
	}
	fmt.Fprintf(&b, "\n| concurrent writes | way | one partition | 95 %% | mean ms | one per user | 95 %% | mean ms |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, size := range r.sizes() {
		for _, x := range ways {
			a, u := r.cell(x.name, article, size), r.cell(x.name, user, size)
			fmt.Fprintf(&b, "| %d | %s | %.1f %% | %.1f–%.1f | %.1f | %.1f %% | %.1f–%.1f | %.1f |\n", size, x.name,
				100*a.share(), 100*a.Low, 100*a.High, a.MeanMs, 100*u.share(), 100*u.Low, 100*u.High, u.MeanMs)
		}
	}
	fmt.Fprintf(&b, "\nThe seed, on Google's Datastore: one group %s, one per user %d %%.\n", seedLabels, seedUser)
	if failures := r.failures(); len(failures) > 0 {
		b.WriteString("\nWhy writes failed:\n\n")
		for _, f := range failures {
			fmt.Fprintf(&b, "- %s\n", f)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *result) failures() []string {
	var list []string
	for _, x := range ways {
		for _, schema := range schemas {
			all := map[string]int{}
			writes := 0
			for _, c := range r.Cells {
				if c.Way == x.name && c.Schema == schema {
					writes += c.Writes
					for k, n := range c.Failures {
						all[k] += n
					}
				}
			}
			for _, k := range slices.Sorted(maps.Keys(all)) {
				list = append(list, fmt.Sprintf("%s, by %s: %s, %d of %d writes", x.name, schema, k, all[k], writes))
			}
		}
	}
	return list
}
