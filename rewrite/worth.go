package rewrite

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/internal/native"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/gain"
)

// before is what the statements of a change took until now.
func (e *Engine) before(lu plan.Rewrite) gain.Before {
	if e.options.Before == nil {
		return gain.Before{}
	}
	return e.options.Before(lu)
}

// promised begins to measure a change that was approved. That it could not be saved is no reason not to carry it out.
func (e *Engine) promised(ctx context.Context, id string, lu plan.Rewrite, before gain.Before) {
	p := gain.Promise{Reads: lu.Promise.Reads, Writes: lu.Promise.Writes}
	if err := e.gains.Begin(ctx, id, p, before); err != nil {
		e.log.Error("after a restart it will not be known what was before this change", "change_id", id, "err", err)
	}
}

// measured adds what changes turned out to be worth.
func (e *Engine) measured(list []Change) []Change {
	for i := range list {
		record := e.gains.Meter(list[i].ID).Record()
		list[i].Gain = record.Report()
	}
	return list
}

// weigh judges all changes now and then, until the context ends.
func (e *Engine) weigh(ctx context.Context) {
	tick := time.NewTicker(e.gains.Every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			e.weighAll(context.WithoutCancel(ctx), true)
			return
		case <-tick.C:
			e.weighAll(ctx, false)
		}
	}
}

// weighAll turns back the changes that are slower than what was before, and saves what was measured.
func (e *Engine) weighAll(ctx context.Context, last bool) {
	e.mu.Lock()
	list := make([]*active, 0, len(e.active))
	for _, a := range e.active {
		list = append(list, a)
	}
	e.mu.Unlock()
	now, turned := e.options.Now(), last
	for _, a := range list {
		order, why := a.gain.Weigh(now, a.serve.Load())
		switch order {
		case gain.TurnBack:
			e.suspend(a, why)
		case gain.RollBack:
			if err := e.manager.GiveUp(ctx, a.id, why); err != nil {
				e.log.Error("a change could not be rolled back", "change_id", a.id, "reason", why, "err", err)
			}
		case gain.Keep:
			continue
		}
		turned = true
	}
	if m := e.options.Members; m != nil && !m.Leads() {
		return // what the leader measures stands for all
	}
	if err := e.gains.Save(ctx, now, turned); err != nil {
		e.log.Warn("what changes are worth could not be saved", "err", err)
	}
}

// asWritten sends a read on as it was written and counts how long that took.
func (e *Engine) asWritten(r *proxy.Request, count func(time.Duration)) {
	e.asWrittenUntil(r, count, func(proxy.Response) {})
}

// asWrittenUntil is asWritten for who wants to see the answer, too.
func (e *Engine) asWrittenUntil(r *proxy.Request, count func(time.Duration), ended func(proxy.Response)) {
	began := e.options.Uptime()
	r.Forward(proxy.Forward{Done: func(answer proxy.Response) {
		if !answer.Lost && !answer.Failed {
			count(e.options.Uptime() - began)
		}
		ended(answer)
	}})
}

// nativeSchema is that of the metric's native buckets: eight for each doubling.
const nativeSchema = 3

// latencyBounds are those of the metric, seconds.
var latencyBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// gained collects what a change turned out to be worth.
func (e *Engine) gained(c chan<- prometheus.Metric, id string) {
	r := e.gains.Meter(id).Record()
	for _, x := range []struct {
		side, kind string
		d          histogram.Distribution
	}{
		{"before", "read", r.Before.Reads}, {"after", "read", r.Since.Reads}, {"control", "read", r.Since.Controls},
		{"before", "write", r.Before.Writes}, {"after", "write", r.Since.Writes}, {"control", "write", r.Since.Alone},
	} {
		if x.d.Count == 0 {
			continue
		}
		buckets := map[float64]uint64{}
		for _, bound := range latencyBounds {
			buckets[bound] = x.d.CountUpTo(uint64(bound * 1e6))
		}
		fine := native.New(nativeSchema)
		x.d.Each(func(micros float64, n uint64) { fine.Add(micros/1e6, n) })
		c <- fine.Metric(descLatency, x.d.Count, float64(x.d.Sum)/1e6, buckets, id, x.side, x.kind)
	}
	report := r.Report()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		if v != 0 {
			c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
		}
	}
	gauge(descGain, report.Promised, id, "promised")
	gauge(descGain, report.Measured, id, "measured")
	gauge(descSaved, report.SavedSeconds, id)
}
