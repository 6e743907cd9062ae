package calendar

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descState   = describe("helenus_calendar_state", "1 for the state that a calendar is in, following, paused or withdrawing, 0 for the others. One that is over is not told.", "change_id", "state")
	descStep    = describe("helenus_calendar_step", "The step of its cycle that a calendar is in, from 0.", "change_id")
	descTables  = describe("helenus_calendar_tables", "Tables of a calendar by stage: out, coming, there or going.", "change_id", "stage")
	descWaiting = describe("helenus_calendar_waiting_changes", "Changes of a calendar that are due, and wait for an approval, a window or a limit; the reason is in `helenus changes`.", "change_id")
	descNext    = describe("helenus_calendar_next_step_timestamp_seconds", "When the next step of a calendar's cycle begins, Unix time.", "change_id")
	descOff     = describe("helenus_calendar_off_ratio", "How far the last days were off what a calendar's cycle foretold, as a share of what still holds; absent before a whole day is known.", "change_id")
	descChanges = describe("helenus_calendar_changes_total", "Changes of calendars begun in this process: tables created, and dropped.", "action")
	descFailing = describe("helenus_calendar_failing", "1 while not all that is due can be done (Cassandra or the state directory can not be reached); the log says why.")

	descriptions = []*prometheus.Desc{descState, descStep, descTables, descWaiting, descNext, descOff, descChanges, descFailing}
)

// Describe implements prometheus.Collector.
func (k *Keeper) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		ch <- d
	}
}

// Collect implements prometheus.Collector. One calendar at most is not over, so there are few series.
func (k *Keeper) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	seconds := func(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
	for _, c := range k.Calendars() {
		if c.State == Withdrawn {
			continue
		}
		for _, s := range []State{Following, Paused, Withdrawing} {
			in := 0.0
			if s == c.State {
				in = 1
			}
			gauge(descState, in, c.ID, string(s))
		}
		step, next := c.Cycle.At(k.o.Clock())
		gauge(descStep, float64(step), c.ID)
		gauge(descNext, seconds(next), c.ID)
		stages, waiting := map[Stage]float64{Out: 0, Coming: 0, There: 0, Going: 0}, 0.0
		for n := range c.Seasons {
			stages[c.Seasons[n].Stage]++
			if c.Seasons[n].Waiting != "" {
				waiting++
			}
		}
		for stage, n := range stages {
			gauge(descTables, n, c.ID, string(stage))
		}
		gauge(descWaiting, waiting, c.ID)
		if h := c.Holding; h != nil && h.Known > 0 {
			gauge(descOff, h.Off/h.Limit, c.ID)
		}
	}
	k.mu.RLock()
	created, dropped, failing := k.created, k.dropped, k.failing
	k.mu.RUnlock()
	ch <- prometheus.MustNewConstMetric(descChanges, prometheus.CounterValue, float64(created), "create")
	ch <- prometheus.MustNewConstMetric(descChanges, prometheus.CounterValue, float64(dropped), "drop")
	v := 0.0
	if failing != "" {
		v = 1
	}
	gauge(descFailing, v)
}

var _ prometheus.Collector = (*Keeper)(nil)
