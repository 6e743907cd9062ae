package certs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	expiryMetric = prometheus.NewDesc("helenus_tls_certificate_expiry_timestamp_seconds",
		"When the first certificate expires, Unix time; side is client or cassandra, kind is own (shown) or ca (trusted).", []string{"side", "kind"}, nil)
	failedMetric = prometheus.NewDesc("helenus_tls_reload_errors_total",
		"Changes of TLS files that could not be used; what was loaded before stayed in use.", []string{"side"}, nil)
	staleMetric = prometheus.NewDesc("helenus_tls_files_stale",
		"1 while the TLS files on disk can not be used and older ones are in use.", []string{"side"}, nil)
)

// Metrics is a prometheus.Collector of the sides that speak TLS; there may be none.
type Metrics []interface{ Status() Status }

// Describe implements prometheus.Collector.
func (Metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- expiryMetric
	ch <- failedMetric
	ch <- staleMetric
}

// Collect implements prometheus.Collector. It looks at the files, so that a bad one is known before a client needs it.
func (m Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, one := range m {
		s := one.Status()
		for kind, t := range map[string]time.Time{"own": s.Expires, "ca": s.CA} {
			if !t.IsZero() {
				ch <- prometheus.MustNewConstMetric(expiryMetric, prometheus.GaugeValue, float64(t.Unix()), s.Side, kind)
			}
		}
		stale := 0.0
		if s.Problem != "" {
			stale = 1
		}
		ch <- prometheus.MustNewConstMetric(failedMetric, prometheus.CounterValue, float64(s.Failed), s.Side)
		ch <- prometheus.MustNewConstMetric(staleMetric, prometheus.GaugeValue, stale, s.Side)
	}
}
