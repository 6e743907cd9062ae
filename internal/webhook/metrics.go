package webhook

import "github.com/prometheus/client_golang/prometheus"

type counts struct {
	events, deliveries *prometheus.CounterVec
	waiting            *prometheus.Desc
}

func newCounts() counts {
	c := counts{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helenus_webhook_events_total", Help: "Events that webhooks were to tell of, by kind; none while no address is set.",
		}, []string{"event"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helenus_webhook_deliveries_total",
			Help: "What became of events at addresses of a format: delivered, refused by the receiver, exhausted after all attempts, dropped as too many waited or the process ended; and attempts that are retried.",
		}, []string{"format", "result"}),
		waiting: prometheus.NewDesc("helenus_webhook_waiting", "Events that wait to be sent to addresses of a format.", []string{"format"}, nil),
	}
	for _, kind := range known {
		c.events.WithLabelValues(kind)
	}
	for _, f := range []Format{JSON, Slack} {
		for _, r := range results {
			c.deliveries.WithLabelValues(string(f), string(r))
		}
	}
	return c
}

// Describe implements prometheus.Collector.
func (t *Teller) Describe(ch chan<- *prometheus.Desc) {
	t.counts.events.Describe(ch)
	t.counts.deliveries.Describe(ch)
	ch <- t.counts.waiting
}

// Collect implements prometheus.Collector.
func (t *Teller) Collect(ch chan<- prometheus.Metric) {
	t.counts.events.Collect(ch)
	t.counts.deliveries.Collect(ch)
	n := map[Format]int{JSON: 0, Slack: 0}
	for _, to := range t.targets {
		n[to.format] += len(to.queue)
	}
	for f, waits := range n {
		ch <- prometheus.MustNewConstMetric(t.counts.waiting, prometheus.GaugeValue, float64(waits), string(f))
	}
}
