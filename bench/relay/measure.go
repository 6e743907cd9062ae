package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// way is one of the paths to the backend: directly, or through a relay.
type way struct {
	name    string
	process *process // whose use counts; nil for the direct way
	address string
}

// round is what one round of a load cost one way.
type round struct {
	cpu      float64 // of the relay, microseconds for each request
	allocs   float64 // of the relay, for each request
	p50, p99 float64 // microseconds
	rate     float64 // requests a second
	sampling bool    // a value window was open
}

// run sends n requests one way.
func (w *way) run(f fleet, n int) (r round, err error) {
	before, after := usage{}, usage{}
	if w.process != nil {
		if before, err = w.process.ask(""); err != nil {
			return r, err
		}
	}
	start := time.Now()
	took, err := f.run(n)
	if err != nil {
		return r, fmt.Errorf("%s: %w", w.name, err)
	}
	elapsed := time.Since(start)
	if w.process != nil {
		if after, err = w.process.ask(""); err != nil {
			return r, err
		}
	}
	each := float64(len(took))
	return round{
		cpu: float64((after.CPU - before.Since).Nanoseconds()) / 1000 / each, allocs: float64(after.Mallocs-before.Mallocs) / each,
		p50: quantile(took, 0.5), p99: quantile(took, 0.99), rate: each / elapsed.Seconds(), sampling: before.Sampling || after.Sampling,
	}, nil
}

// compared are the rounds of several ways, by turns.
type compared [][]round // by way, then by turn

// compare runs a load each way by turns, so that whatever else the machine does hits all alike.
func compare(s shape, turns, requests int, ways ...*way) (c compared, err error) {
	fleets := make([]fleet, len(ways))
	defer func() {
		for _, f := range fleets {
			f.close()
		}
	}()
	for i, w := range ways {
		if fleets[i], err = connect(w.address, s); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if _, err := fleets[i].run(max(requests/2, s.connections*s.inFlight)); err != nil { // buffers grow, records are met
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	c = make(compared, len(ways))
	for turn := range turns {
		for k := range ways {
			i := (k + turn) % len(ways) // nobody is always first
			r, err := ways[i].run(fleets[i], requests)
			if err != nil {
				return nil, err
			}
			c[i] = append(c[i], r)
		}
	}
	return c, nil
}

// median of what is said of each turn.
func (c compared) median(of func(turn int) float64) float64 {
	v := make([]float64, len(c[0]))
	for i := range v {
		v[i] = of(i)
	}
	return median(v)
}

// of is the median of a figure one way.
func (c compared) of(way int, figure func(round) float64) float64 {
	return c.median(func(i int) float64 { return figure(c[way][i]) })
}

// ratio is the median, over the turns, of a figure one way to the same another way.
func (c compared) ratio(way, to int, figure func(round) float64) float64 {
	return c.median(func(i int) float64 { return figure(c[way][i]) / figure(c[to][i]) })
}

// mean is that of a figure one way, over the turns: where what is looked for comes only now and then the median would not show it.
func (c compared) mean(way int, figure func(round) float64) (sum float64) {
	for _, r := range c[way] {
		sum += figure(r) / float64(len(c[way]))
	}
	return sum
}

func cpu(r round) float64    { return r.cpu }
func allocs(r round) float64 { return r.allocs }
func p50(r round) float64    { return r.p50 }
func p99(r round) float64    { return r.p99 }

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.SortFunc(v, cmp.Compare[float64])
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
