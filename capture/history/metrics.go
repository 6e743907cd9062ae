package history

import "github.com/prometheus/client_golang/prometheus"

var (
	writableDesc = prometheus.NewDesc("helenus_history_writable",
		"1 while the history can be written, 0 while what is counted waits in memory.", nil, nil)
	waitingDesc = prometheus.NewDesc("helenus_history_waiting_windows",
		"Windows that wait in memory to be written.", nil, nil)
	writtenDesc = prometheus.NewDesc("helenus_history_windows_total",
		"Windows written to the history.", nil, nil)
	failuresDesc = prometheus.NewDesc("helenus_history_failures_total",
		"Attempts to write the history that failed.", nil, nil)
	asideDesc = prometheus.NewDesc("helenus_history_moved_aside_total",
		"Damaged histories that were moved aside, and a new one begun.", nil, nil)
	sizeDesc = prometheus.NewDesc("helenus_history_bytes",
		"Size of the history on disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (h *History) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{writableDesc, waitingDesc, writtenDesc, failuresDesc, asideDesc, sizeDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (h *History) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	counter := func(d *prometheus.Desc, v int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	gauge(writableDesc, h.writable.Load())
	gauge(waitingDesc, h.waits.Load())
	gauge(sizeDesc, h.size.Load())
	counter(writtenDesc, h.written.Load())
	counter(failuresDesc, h.failures.Load())
	counter(asideDesc, h.aside.Load())
}

var _ prometheus.Collector = (*History)(nil)
