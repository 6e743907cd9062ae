package cycle_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
)

var (
	ctx    = context.Background()
	monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
)

// made is traffic that is made up: the rates of statements, executions per hour, at any hour.
type made struct {
	start  time.Time
	hours  int
	rates  []func(hour int, at time.Time) float64 // of statement i
	noise  float64                                // rates vary besides by so much (log-normal), as real ones do
	exact  bool                                   // executions are the rates, not drawn by them
	down   func(hour int) float64                 // share of the hour in which the proxy was down
	random *rand.Rand
	names  []history.Executions
}

func newMade(days int, seed uint64) *made {
	return &made{start: monday, hours: 24 * days, random: rand.New(rand.NewPCG(seed, 1))}
}

func (m *made) say(rate func(hour int, at time.Time) float64) *made {
	m.rates = append(m.rates, rate)
	return m
}

// poisson draws a number of events.
func poisson(random *rand.Rand, mean float64) float64 {
	switch {
	case mean <= 0:
		return 0
	case mean > 200:
		return max(0, math.Round(mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	n, p := 0.0, math.Exp(-mean)
	for u := random.Float64(); u > p; n++ {
		u *= random.Float64()
	}
	return n
}

func (m *made) Hours(_ context.Context, from, to time.Time, yield func(*history.HourOf) error) error {
	for i := len(m.names); i < len(m.rates); i++ {
		m.names = append(m.names, history.Executions{Fingerprint: fmt.Sprintf("f%04d", i), Keyspace: "k", Kind: "select", Text: fmt.Sprintf("SELECT a FROM t%d WHERE id = ?", i)})
	}
	for hour := range m.hours {
		at := m.start.Add(time.Duration(hour) * time.Hour)
		up := 1.0
		if m.down != nil {
			up -= m.down(hour)
		}
		h := &history.HourOf{At: at, Origin: "o", From: at, To: at.Add(time.Hour), Watched: time.Duration(up * float64(time.Hour))}
		for i, rate := range m.rates {
			n := rate(hour, at)
			if m.noise > 0 {
				n *= math.Exp(m.noise*m.random.NormFloat64() - m.noise*m.noise/2)
			}
			if n *= up; !m.exact {
				n = poisson(m.random, n)
			}
			if n > 0 {
				said := m.names[i]
				said.Count, said.Micros = uint64(n), uint64(1000*n)
				h.Said = append(h.Said, said)
			}
		}
		if at.Before(from) || !to.IsZero() && !at.Before(to) || up <= 0 {
			continue
		}
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

func (m *made) record(t testing.TB) *cycle.Record {
	t.Helper()
	r, err := cycle.Read(ctx, m, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *made) find(t testing.TB, o cycle.Options) *cycle.Report {
	t.Helper()
	r, err := cycle.Find(m.record(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// begins lists when the steps begin.
func begins(c *cycle.Cycle) string {
	if c == nil {
		return "none"
	}
	out := ""
	for i := range c.Steps {
		if i > 0 {
			out += " "
		}
		out += c.When(i)
	}
	return out
}

func constant(v float64) func(int, time.Time) float64 {
	return func(int, time.Time) float64 { return v }
}

// pattern is a verdict of the workload.
func pattern(r *cycle.Report, name string) cycle.Pattern {
	for _, p := range r.Workload {
		if p.Name == name {
			return p
		}
	}
	return cycle.Pattern{}
}
