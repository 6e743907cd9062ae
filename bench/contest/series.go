package contest

import (
	"math"
	"os"
	"slices"
	"time"
)

// Sample is what one execution took.
type Sample struct {
	Time           time.Duration // by the clock, as the client sees it
	Server, Client time.Duration // processor time of Cassandra and of this process, 0 where it is not known
	Requests       int           // CQL statements sent
	Rows           int           // that they returned or wrote
	Bytes          int           // that they returned or wrote
}

func (s *Sample) add(t Sample) {
	s.Time += t.Time
	s.Server += t.Server
	s.Client += t.Client
	s.Requests += t.Requests
	s.Rows += t.Rows
	s.Bytes += t.Bytes
}

// Series collects samples. The zero value is empty.
type Series struct {
	times []float64 // milliseconds
	sum   Sample
}

// Add adds a sample.
func (s *Series) Add(t Sample) {
	s.times = append(s.times, milliseconds(t.Time))
	s.sum.add(t)
}

// Figures are the figures of a series; times in milliseconds, the rest means of one execution.
type Figures struct {
	Count    int     `json:"count"`
	Mean     float64 `json:"mean_ms"`
	Error    float64 `json:"standard_error_ms"` // of the mean
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Server   float64 `json:"server_cpu_ms,omitempty"`
	Client   float64 `json:"client_cpu_ms,omitempty"`
	Requests float64 `json:"requests"`
	Rows     float64 `json:"rows"`
	Bytes    float64 `json:"bytes"`
}

// Figures returns the figures, all zero of an empty series.
func (s *Series) Figures() Figures {
	n := float64(len(s.times))
	if n == 0 {
		return Figures{}
	}
	f := Figures{
		Count: len(s.times), Mean: milliseconds(s.sum.Time) / n, Server: milliseconds(s.sum.Server) / n, Client: milliseconds(s.sum.Client) / n,
		Requests: float64(s.sum.Requests) / n, Rows: float64(s.sum.Rows) / n, Bytes: float64(s.sum.Bytes) / n,
	}
	sorted := slices.Clone(s.times)
	slices.Sort(sorted)
	f.P50, f.P99 = quantile(sorted, 0.5), quantile(sorted, 0.99)
	for _, t := range sorted {
		f.Error += (t - f.Mean) * (t - f.Mean)
	}
	if n > 1 {
		f.Error = math.Sqrt(f.Error / (n - 1) / n)
	}
	return f
}

// quantile is the nearest-rank quantile of sorted values, of which there is one at least.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Processors returns what Loop.Processor asks for: the processor time of a server's process (of which the id is asked each
// time, 0 for none: it may be started anew), and of this one.
func Processors(server func() int) func() (time.Duration, time.Duration) {
	self := os.Getpid()
	return func() (time.Duration, time.Duration) { return processorTime(server()), processorTime(self) }
}
