package proxy

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/rule"
)

// stats are the server's counters of what is not of one connection.
type stats struct {
	unread     atomic.Uint64 // statements and answers about nodes that could not be rewritten
	told       atomic.Uint64 // events about nodes that the server itself sent
	unlistened atomic.Int64  // nodes that have no listener, now
	withTLS    atomic.Uint64 // connections that spoke TLS where it is not
	limited    atomic.Uint64 // requests: the client's address sent too many
	drains     atomic.Uint64
	drained    atomic.Uint64 // connections ended by a drain when they were quiet
	cut        atomic.Uint64 // connections that a drain had no more time for
	timeouts   atomic.Uint64 // requests answered because Cassandra did not in time
	late       atomic.Uint64 // answers of Cassandra to such requests
	stuck      atomic.Uint64 // connections closed because too many answers are late
	unresolved atomic.Uint64 // EXECUTEs, and children of BATCHes, whose text is not known
}

// RuleStats is the use of the rules of one name since the server started.
type RuleStats = rule.Stats

// Rules returns the use of rules, by name.
func (s *Server) Rules() []RuleStats { return s.rules.All() }

// Stats is a picture of the server's counters since it started.
type Stats struct {
	Connections        int    // now
	Accepted           uint64 // those that were refused included
	Refused            uint64 // too many connections
	Unreachable        uint64 // no node answered
	Malformed          uint64 // ended for what the client sent
	Unfinished         uint64 // ended because their handshake took too long
	Untrusted          uint64 // their TLS handshake failed
	WithoutTLS         uint64 // they spoke CQL where TLS is spoken
	WithTLS            uint64 // they spoke TLS where it is not; also counted as Malformed
	Limited            uint64 // requests refused because their client's address sent too many
	Drains             uint64
	Drained, Cut       uint64 // connections: ended by a drain when they were quiet, or cut off at the end of its time
	Requests           uint64 // answered
	Failures           uint64 // of those, by an ERROR
	Taken              uint64 // taken by the Rewriter
	Rewritten          uint64 // of those, answered by it
	Timeouts           uint64 // answered by the proxy because Cassandra did not in time
	Late               uint64 // of Cassandra's answers to those, dropped
	Stuck              uint64 // connections closed because too many answers are late
	Unresolved         uint64 // EXECUTEs, and children of BATCHes, of an id whose text is not known
	Resolved           uint64 // statements prepared elsewhere whose text was looked up
	Bypassed           bool   // the Rewriter is
	BytesUp, BytesDown uint64 // of bodies
	Unread             uint64 // statements and answers about nodes that could not be rewritten
	Told               uint64 // events about nodes that the server itself sent
	Unlistened         int    // nodes that have no listener, now
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	n := len(s.fronts)
	s.mu.Unlock()
	sum, accepted, ended := s.ledger.Sum()
	t := &s.stats
	return Stats{Connections: n, Accepted: accepted, Refused: ended[ledger.Refused], Unreachable: ended[ledger.Unreachable],
		Malformed: ended[ledger.Malformed], Unfinished: ended[ledger.Unfinished],
		Untrusted: ended[ledger.Untrusted], WithoutTLS: ended[ledger.WithoutTLS], WithTLS: t.withTLS.Load(),
		Limited: t.limited.Load(), Drains: t.drains.Load(), Drained: t.drained.Load(), Cut: t.cut.Load(),
		Requests: sum.Requests, Failures: sum.Errors, Taken: sum.Taken, Rewritten: sum.Rewritten,
		Timeouts: t.timeouts.Load(), Late: t.late.Load(), Stuck: t.stuck.Load(),
		Unresolved: t.unresolved.Load(), Resolved: s.resolver.Resolved(), Bypassed: s.bypass.Load(),
		Unread: t.unread.Load(), Told: t.told.Load(), Unlistened: int(t.unlistened.Load()),
		BytesUp: sum.BytesUp, BytesDown: sum.BytesDown}
}

var (
	readyMetric    = metric("ready", "1 if the control connection to Cassandra is up and the proxy does not drain.")
	drainingMetric = metric("draining", "1 while the proxy drains: it stops, accepts nobody and answers new requests with an error.")
	nodesMetric    = metric("nodes", "Nodes of the cluster, as the control connection last read them.")
	unreadMetric   = metric("topology_unread_total", "Statements and answers about the cluster's nodes that could not be rewritten, and passed as they were.")
	toldMetric     = metric("topology_events_total", "Events about nodes, or members of the fleet, that Helenus itself sent to clients.")
	unlistedMetric = metric("nodes_unlistened", "Nodes that have no listener, so that clients do not see them.")
	gatesMetric    = metric("listeners", "Listeners for applications.")
	limitedMetric  = metric("requests_limited_total", "Requests refused because their client's address sent more than max-requests-per-client.")
	drainsMetric   = metric("drains_total", "Drains: of all connections at a stop or a hand-over, of some when their node has left.")
	drainedMetric  = metric("connections_drained_total", "Client connections ended by a drain, once they were quiet.")
	cutMetric      = metric("connections_cut_total", "Client connections that were not quiet before a drain's time was over.")
	timeoutsMetric = metric("request_timeouts_total", "Requests that the proxy answered because Cassandra did not in time.")
	lateMetric     = metric("late_answers_total", "Answers that came after their request had timed out, and were dropped.")
	stuckMetric    = metric("connections_stuck_total", "Client connections closed because too many of Cassandra's answers were late.")
	unknownMetric  = metric("unresolved_total", "Executions of prepared ids whose text was not known (yet).")
	resolvedMetric = metric("resolved_total", "Statements prepared elsewhere whose text was looked up in system.prepared_statements.")
	bypassMetric   = metric("bypass", "1 while the rewriting of requests is switched off.")
)

func metric(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("helenus_proxy_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	s.ledger.Describe(ch)
	for _, d := range []*prometheus.Desc{readyMetric, drainingMetric, nodesMetric, gatesMetric, unlistedMetric, unreadMetric, toldMetric,
		limitedMetric, drainsMetric, drainedMetric, cutMetric, timeoutsMetric, lateMetric, stuckMetric,
		unknownMetric, resolvedMetric, bypassMetric} {
		ch <- d
	}
	s.rules.Describe(ch)
}

// Collect implements prometheus.Collector. What is in flight is counted where it is remembered, in the tables of streams:
// that costs the scrape some microseconds a connection, and a request nothing.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	now := ledger.InFlight{}
	for _, c := range s.connections() {
		now[c.sheet.Place()] += c.inFlight()
	}
	s.ledger.Collect(ch, now)
	s.rules.Collect(ch)
	gauge := func(d *prometheus.Desc, v int) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	yes := map[bool]int{true: 1}
	gauge(readyMetric, yes[s.Ready()])
	gauge(drainingMetric, yes[s.draining.Load()])
	gauge(nodesMetric, len(s.Nodes()))
	gauge(gatesMetric, len(s.Addrs()))
	gauge(unlistedMetric, int(s.stats.unlistened.Load()))
	counter := func(d *prometheus.Desc, v *atomic.Uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v.Load()))
	}
	counter(unreadMetric, &s.stats.unread)
	counter(toldMetric, &s.stats.told)
	counter(limitedMetric, &s.stats.limited)
	counter(drainsMetric, &s.stats.drains)
	counter(drainedMetric, &s.stats.drained)
	counter(cutMetric, &s.stats.cut)
	counter(timeoutsMetric, &s.stats.timeouts)
	counter(lateMetric, &s.stats.late)
	counter(stuckMetric, &s.stats.stuck)
	counter(unknownMetric, &s.stats.unresolved)
	ch <- prometheus.MustNewConstMetric(resolvedMetric, prometheus.CounterValue, float64(s.resolver.Resolved()))
	gauge(bypassMetric, yes[s.bypass.Load()])
}
