package main

import (
	"fmt"
	"time"
)

// requests of a round.
func (b *bench) requests(n int) int { return max(64, int(float64(n)*b.scale)) }

// cpu is a row of CPU time for each request.
func (b *bench) cpu(what string, s shape, requests int, must float64, relay *way) ([]row, error) {
	c, err := compare(s, b.turns, b.requests(requests), b.splice, relay)
	if err != nil {
		return nil, err
	}
	return []row{{What: what, Splice: c.of(0, cpu), Helenus: c.of(1, cpu), Unit: "us", Measured: c.ratio(1, 0, cpu), Ratio: true, Must: must}}, nil
}

// busy is the load that most is said of: 8 connections x 16 in flight.
func (b *bench) busy() ([]row, error) {
	c, err := compare(shape{4, 8, 16, false, false, nil}, b.turns, b.requests(20_000), b.direct, b.splice, b.helenus)
	if err != nil {
		return nil, err
	}
	return []row{
		{What: "CPU per request, EXECUTE, 8 connections x 16 in flight", Splice: c.of(1, cpu), Helenus: c.of(2, cpu), Unit: "us", Measured: c.ratio(2, 1, cpu), Ratio: true, Must: 1.15},
		{What: "p99 latency, 8 x 16", Direct: c.of(0, p99), Splice: c.of(1, p99), Helenus: c.of(2, p99), Unit: "us", Measured: c.ratio(2, 1, p99), Ratio: true, Must: 1.1},
		{What: "allocations per forwarded request, 8 x 16", Helenus: c.of(2, allocs), Measured: c.of(2, allocs), Must: 0.1},
	}, nil
}

// single is one request at a time: what a relay adds to its latency.
func (b *bench) single() ([]row, error) {
	c, err := compare(shape{4, 1, 1, false, false, nil}, b.turns, b.requests(2000), b.direct, b.splice, b.helenus)
	if err != nil {
		return nil, err
	}
	added := func(way int) float64 { return c.median(func(i int) float64 { return c[way][i].p50 - c[0][i].p50 }) }
	return []row{{What: "added p50 latency, 1 connection x 1 in flight", Direct: c.of(0, p50), Splice: added(1), Helenus: added(2), Unit: "us",
		Measured: added(2) / added(1), Ratio: true, Must: 1.3, Note: "direct: the whole latency; the others: what they add to it"}}, nil
}

// many is more in flight than a pool of shared connections has streams for. Any error ends the bench.
func (b *bench) many() ([]row, error) {
	before, err := b.helenus.process.ask("")
	if err != nil {
		return nil, err
	}
	c, err := compare(shape{4, 64, 64, false, false, nil}, max(3, b.turns/4), b.requests(100_000), b.splice, b.helenus)
	if err != nil {
		return nil, err
	}
	after, err := b.helenus.process.ask("")
	if err != nil {
		return nil, err
	}
	failures := float64(after.Failures - before.Failures)
	return []row{{What: "CPU per request, 64 x 64", Splice: c.of(0, cpu), Helenus: c.of(1, cpu), Unit: "us", Measured: c.ratio(1, 0, cpu), Ratio: true,
		Note: fmt.Sprintf("%d requests, %.0f errors", after.Requests-before.Requests, failures)}}, nil
}

// stalled is a neighbour's latency while another client has asked for 24 MB and reads nothing.
func (b *bench) stalled() ([]row, error) {
	s := shape{4, 1, 4, false, false, nil}
	var alone, beside [2][]float64 // by relay
	for i, w := range []*way{b.splice, b.helenus} {
		f, err := connect(w.address, s)
		if err != nil {
			return nil, err
		}
		defer f.close()
		for turn := range 1 + b.turns {
			r, err := w.run(f, b.requests(4000))
			if err != nil {
				return nil, err
			}
			end, err := stall(w.address)
			if err != nil {
				return nil, err
			}
			q, err := w.run(f, b.requests(4000))
			end()
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				alone[i], beside[i] = append(alone[i], r.p99), append(beside[i], q.p99)
			}
		}
	}
	ratio := func(i int) float64 {
		r := make([]float64, len(alone[i]))
		for k := range r {
			r[k] = beside[i][k] / alone[i][k]
		}
		return median(r)
	}
	return []row{{What: "a neighbour's p99 while a client has stopped reading", Splice: median(beside[0]), Helenus: median(beside[1]), Unit: "us",
		Measured: ratio(1), Ratio: true, Must: 2, Note: fmt.Sprintf("measured: to the neighbour's p99 without; through the splice %.2fx", ratio(0))}}, nil
}

// stall asks for 2,000 long answers and does not read them.
func stall(address string) (end func(), err error) {
	c, err := dial(address, shape{4, 1, 2000, true, false, nil})
	if err != nil {
		return nil, err
	}
	for i := range 2000 {
		c.ask(int16(i))
	}
	if err := c.flush(); err != nil {
		c.conn.Close()
		return nil, err
	}
	time.Sleep(100 * time.Millisecond) // until everything in between is full
	return func() { c.conn.Close() }, nil
}

// window is what requests cost while values are looked at.
func (b *bench) window() ([]row, error) {
	relay, err := b.relay("helenus-sampling")
	if err != nil {
		return nil, err
	}
	defer relay.process.stop()
	rows, err := b.cpu("CPU per request while a value window is open, 8 x 16", shape{4, 8, 16, false, false, nil}, 20_000, 0, relay)
	for i := range rows {
		rows[i].Note = "2 s in 40 s by default; what the one that decodes can not keep up with is not looked at"
	}
	return rows, err
}

// capturing is what counting costs, and windows at their default share, against the same proxy without.
func (b *bench) capturing() ([]row, error) {
	roles := []string{bare, "helenus-unsampled", "helenus-windows"}
	ways := make([]*way, len(roles))
	for i, role := range roles {
		var err error
		if ways[i], err = b.relay(role); err != nil {
			return nil, err
		}
		defer ways[i].process.stop()
	}
	c, err := compare(shape{4, 8, 16, false, false, nil}, max(6, b.turns), b.requests(150_000), ways...)
	if err != nil {
		return nil, err
	}
	of := func(way int) float64 { return c.mean(way, cpu) }
	return []row{
		{What: "CPU per request, counted, to not counted; no window is open", Helenus: of(1), Unit: "us", Measured: c.ratio(1, 0, cpu), Ratio: true, Must: 1.03,
			Note: fmt.Sprintf("not counted: %.2f us", of(0))},
		{What: "the same, with value windows at their default share, averaged", Helenus: of(2), Unit: "us", Measured: of(2) / of(0), Ratio: true, Must: 1.10,
			Note: "100 ms in 2 s for 2 s in 40 s"},
	}, nil
}

// idle is what connections that were used once and now wait take. It is not asked of the splice: io.Copy holds two pipes for
// each of them, six file descriptors in all.
func (b *bench) idle() ([]row, error) {
	const connections = 5000
	w, err := b.relay("helenus") // its own, so that nothing else is in it
	if err != nil {
		return nil, err
	}
	defer w.process.stop()
	f, err := connect(w.address, shape{4, connections, 1, false, false, nil})
	if err != nil {
		return nil, fmt.Errorf("%w (are 11,000 file descriptors allowed? ulimit -n)", err)
	}
	defer f.close()
	if _, err := f.run(connections); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	u, err := w.process.ask("")
	if err != nil {
		return nil, err
	}
	resident := float64(u.Resident) / (1 << 20)
	return []row{{What: "memory with 5,000 idle connections", Helenus: resident, Unit: "MB", Measured: resident, Must: 250}}, nil
}
