package proxy

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// stats are the server's counters. A connection adds to them once per write, not once per request.
type stats struct {
	accepted    atomic.Uint64 // connections
	refused     atomic.Uint64 // connections: too many
	unreachable atomic.Uint64 // connections: no node answered
	malformed   atomic.Uint64 // connections ended for what the client sent
	unfinished  atomic.Uint64 // connections ended because the handshake took too long
	untrusted   atomic.Uint64 // connections whose TLS handshake failed
	withoutTLS  atomic.Uint64 // connections that spoke CQL where TLS is spoken
	withTLS     atomic.Uint64 // connections that spoke TLS where it is not
	requests    atomic.Uint64 // answered
	failures    atomic.Uint64 // answered by an ERROR
	taken       atomic.Uint64 // offered to the Rewriter and taken
	rewritten   atomic.Uint64 // answered by the Rewriter
	bytesUp     atomic.Uint64 // of request bodies
	bytesDown   atomic.Uint64 // of answer bodies
	unread      atomic.Uint64 // statements and answers about nodes that could not be rewritten
	told        atomic.Uint64 // events about nodes that the server itself sent
	unlistened  atomic.Int64  // nodes that have no listener, now
}

func (s *stats) answered(list []finished) {
	var failures, up, down uint64
	for i := range list {
		x := &list[i].x
		up += uint64(x.RequestBytes)
		down += uint64(x.ResponseBytes)
		if x.Failed {
			failures++
		}
	}
	s.requests.Add(uint64(len(list)))
	s.bytesUp.Add(up)
	s.bytesDown.Add(down)
	if failures > 0 {
		s.failures.Add(failures)
	}
}

// count counts one request that the Rewriter answered.
func (s *stats) count(x *Exchange) {
	s.requests.Add(1)
	s.rewritten.Add(1)
	s.bytesUp.Add(uint64(x.RequestBytes))
	s.bytesDown.Add(uint64(x.ResponseBytes))
	if x.Failed {
		s.failures.Add(1)
	}
}

// Stats is a picture of the server's counters since it started.
type Stats struct {
	Connections        int // now
	Accepted           uint64
	Refused            uint64 // too many connections
	Unreachable        uint64 // no node answered
	Malformed          uint64 // ended for what the client sent
	Unfinished         uint64 // ended because their handshake took too long
	Untrusted          uint64 // their TLS handshake failed
	WithoutTLS         uint64 // they spoke CQL where TLS is spoken
	WithTLS            uint64 // they spoke TLS where it is not; also counted as Malformed
	Requests           uint64 // answered
	Failures           uint64 // of those, by an ERROR
	Taken              uint64 // taken by the Rewriter
	Rewritten          uint64 // of those, answered by it
	BytesUp, BytesDown uint64 // of bodies
	Unread             uint64 // statements and answers about nodes that could not be rewritten
	Told               uint64 // events about nodes that the server itself sent
	Unlistened         int    // nodes that have no listener, now
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	t := &s.stats
	s.mu.Lock()
	n := len(s.fronts)
	s.mu.Unlock()
	return Stats{Connections: n, Accepted: t.accepted.Load(), Refused: t.refused.Load(), Unreachable: t.unreachable.Load(),
		Malformed: t.malformed.Load(), Unfinished: t.unfinished.Load(),
		Untrusted: t.untrusted.Load(), WithoutTLS: t.withoutTLS.Load(), WithTLS: t.withTLS.Load(),
		Requests: t.requests.Load(), Failures: t.failures.Load(), Taken: t.taken.Load(),
		Unread: t.unread.Load(), Told: t.told.Load(), Unlistened: int(t.unlistened.Load()),
		Rewritten: t.rewritten.Load(), BytesUp: t.bytesUp.Load(), BytesDown: t.bytesDown.Load()}
}

var metrics = []struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(Stats) float64
}{
	{metric("connections", "Client connections now."), prometheus.GaugeValue, func(s Stats) float64 { return float64(s.Connections) }},
	{metric("connections_accepted_total", "Client connections accepted."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Accepted) }},
	{metric("connections_refused_total", "Client connections refused because there were too many."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Refused) }},
	{metric("connections_unreachable_total", "Client connections closed because no Cassandra node answered."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Unreachable) }},
	{metric("connections_malformed_total", "Client connections closed because of what the client sent."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Malformed) }},
	{metric("connections_unfinished_total", "Client connections closed because their handshake took too long."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Unfinished) }},
	{metric("connections_untrusted_total", "Client connections closed because their TLS handshake failed."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Untrusted) }},
	{metric("connections_without_tls_total", "Client connections closed because they spoke CQL without TLS to a listener that asks for it."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.WithoutTLS) }},
	{metric("connections_with_tls_total", "Client connections closed because they spoke TLS to a listener that does not; also counted as malformed."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.WithTLS) }},
	{metric("requests_total", "Requests answered."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Requests) }},
	{metric("request_failures_total", "Requests answered with an error."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Failures) }},
	{metric("requests_taken_total", "Requests taken by a rewrite."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Taken) }},
	{metric("requests_rewritten_total", "Requests answered by a rewrite instead of by Cassandra."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Rewritten) }},
	{metric("topology_unread_total", "Statements and answers about the cluster's nodes that could not be rewritten, and passed as they were."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Unread) }},
	{metric("topology_events_total", "Events about nodes, or members of the fleet, that Helenus itself sent to clients."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.Told) }},
	{metric("nodes_unlistened", "Nodes that have no listener, so that clients do not see them."), prometheus.GaugeValue, func(s Stats) float64 { return float64(s.Unlistened) }},
	{metric("request_bytes_total", "Bytes of request bodies."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.BytesUp) }},
	{metric("response_bytes_total", "Bytes of answer bodies."), prometheus.CounterValue, func(s Stats) float64 { return float64(s.BytesDown) }},
}

var readyMetric = metric("ready", "1 if the control connection to Cassandra is up.")

func metric(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("helenus_proxy_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range metrics {
		ch <- m.desc
	}
	ch <- readyMetric
}

// Collect implements prometheus.Collector.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	now := s.Stats()
	for _, m := range metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(now))
	}
	ready := 0.0
	if s.Ready() {
		ready = 1
	}
	ch <- prometheus.MustNewConstMetric(readyMetric, prometheus.GaugeValue, ready)
}
