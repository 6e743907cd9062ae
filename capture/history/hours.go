package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// HourOf is what one proxy counted in a window of level Hour, without distributions and callers: what remains is small, and read
// some ten times sooner.
type HourOf struct {
	At      time.Time     // its begin
	Origin  string        // whose it is
	From    time.Time     // of the first window in it
	To      time.Time     // of the last
	Watched time.Duration // how long was counted in
	Said    []Executions  // by fingerprint
	Rest    Executions    // what has no record of its own
}

// Executions are those of one statement.
type Executions struct {
	Fingerprint, Keyspace, Table, Kind, Text string

	Count  uint64
	Micros uint64 // sum of latencies
}

// Work is how heavy they were, as capture.Statement's.
func (e *Executions) Work() float64 { return float64(e.Count) + float64(e.Micros)/1000 }

// counted is what is read of a packed window.
type counted struct {
	From       time.Time     `json:"from"`
	To         time.Time     `json:"to"`
	Watched    time.Duration `json:"watched"`
	Statements []countedOne  `json:"statements"`
	Other      countedOne    `json:"other"`
	Unknown    countedOne    `json:"unknown"`
}

type countedOne struct {
	Fingerprint string `json:"fingerprint"`
	Keyspace    string `json:"keyspace"`
	Table       string `json:"table"`
	Kind        string `json:"kind"`
	Text        string `json:"text"`
	Count       uint64 `json:"count"`
	Latency     struct {
		Sum uint64 `json:"sum"`
	} `json:"latency"`
}

func (c *countedOne) executions() Executions {
	return Executions{c.Fingerprint, c.Keyspace, c.Table, c.Kind, c.Text, c.Count, c.Latency.Sum}
}

// Hours calls yield for the windows of level Hour that begin from a time on and before another (zero: all later ones), by time, of
// all origins, until it returns an error, which is returned. Hours that are not over are not among them.
func Hours(ctx context.Context, shelf Shelf, from, to time.Time, yield func(*HourOf) error) error {
	return shelf.Each(ctx, store.Span{Level: Hour, From: from, To: to}, func(w store.Window) error {
		h, err := hourOf(w)
		if err != nil {
			return err
		}
		return yield(h)
	})
}

func hourOf(w store.Window) (*HourOf, error) {
	var c counted
	z, err := gzip.NewReader(bytes.NewReader(w.Body))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, maxWindow)).Decode(&c)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack the window of %s at %s: %w", name(w.Level), w.At.Format(time.RFC3339), err)
	}
	h := &HourOf{At: w.At, Origin: w.Origin, From: c.From, To: c.To, Watched: c.Watched, Rest: c.Other.executions()}
	if h.Watched <= 0 { // it was one window, or is of before that was kept
		h.Watched = max(0, c.To.Sub(c.From))
	}
	h.Rest.Count, h.Rest.Micros = h.Rest.Count+c.Unknown.Count, h.Rest.Micros+c.Unknown.Latency.Sum
	h.Said = make([]Executions, len(c.Statements))
	for i := range c.Statements {
		h.Said[i] = c.Statements[i].executions()
	}
	return h, nil
}

// Hours is as the function Hours, of this history's shelf. It does not keep the history from being written meanwhile.
func (h *History) Hours(ctx context.Context, from, to time.Time, yield func(*HourOf) error) error {
	h.mu.Lock()
	shelf, err := h.openForReading(ctx)
	h.mu.Unlock()
	if err != nil {
		return err
	}
	return Hours(ctx, shelf, from, to, yield)
}
