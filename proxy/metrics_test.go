package proxy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// page gathers the metrics as a map from name and labels to the value; of a histogram to its count.
func page(t *testing.T, s *proxy.Server) map[string]float64 {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(s)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := strings.TrimPrefix(f.GetName(), "helenus_proxy_")
			for _, l := range m.GetLabel() {
				key += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
			}
			switch {
			case m.GetHistogram() != nil:
				out[key] = float64(m.GetHistogram().GetSampleCount())
			case m.GetCounter() != nil:
				out[key] = m.GetCounter().GetValue()
			default:
				out[key] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

// TestMetrics scripts traffic and knows the whole page that it leaves.
func TestMetrics(t *testing.T) {
	release := make(chan struct{})
	m := startMock(t, func(r *proxytest.Request) {
		switch r.Text() {
		case "unavailable":
			r.Reply(wire.OpError, wire.AppendError(nil, 0x1000, "no replicas"))
		case "strange":
			r.Reply(wire.OpError, wire.AppendError(nil, 0x7777, "?"))
		case "waits":
			go func() {
				<-release
				proxytest.Default(r)
			}()
		default:
			proxytest.Default(r)
		}
	})
	s := startProxy(t, m, proxy.Options{MaxConnections: 2})
	await(t, s.Ready)
	for range 2 { // two connections one after the other: what ended is not forgotten
		c := connect(t, s, 4)
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, "p"))
		call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID("p"), []byte("value")))
		call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID("p"), []byte("value")))
		call(t, c, wire.OpQuery, proxytest.QueryBody(4, "unavailable"))
		call(t, c, wire.OpQuery, proxytest.QueryBody(4, "strange"))
		call(t, c, wire.OpBatch, wire.AppendShort(append(wire.AppendShort([]byte{0}, 0), 0), 0))
		c.Close()
		await(t, func() bool { return s.Stats().Connections == 0 })
	}
	bad, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bad.Conn.Write([]byte{4, 0, 0, 0, 7, 0x7F, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bad.Read(); err != nil {
		t.Fatal(err)
	}
	bad.Close()
	await(t, func() bool { return s.Stats().Connections == 0 })
	waits, idle := connect(t, s, 4), connect(t, s, 5)
	defer idle.Close()
	for i := range int16(3) {
		if err := waits.Send(i, wire.OpQuery, 0, proxytest.QueryBody(4, "waits")); err != nil {
			t.Fatal(err)
		}
	}
	third, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if _, _, err := third.Read(); err == nil {
		t.Error("a third connection is kept")
	}
	at := fmt.Sprintf(" listen=%s node=%s", s.Addrs()[0], m.Addr)
	await(t, func() bool { return page(t, s)["in_flight_requests"+at] == 3 })
	await(t, func() bool { return page(t, s)["added_seconds direction=request"+at] == 19 })

	class := func(name, class string) string { return name + " class=" + class + at }
	query := func(text string) float64 { return float64(len(proxytest.QueryBody(4, text))) }
	failure := func(message string) float64 { return float64(len(wire.AppendError(nil, 0, message))) }
	ended := func(node, reason string) string {
		return fmt.Sprintf("connections_closed_total listen=%s node=%s reason=%s", s.Addrs()[0], node, reason)
	}
	want := map[string]float64{
		"ready": 1, "draining": 0, "nodes": 1, "listeners": 1, "nodes_unlistened": 0, "topology_unread_total": 0, "topology_events_total": 0,
		"bypass": 0, "drains_total": 0, "connections_drained_total": 0, "connections_cut_total": 0, "connections_stuck_total": 0,
		"late_answers_total": 0, "request_timeouts_total": 0, "requests_limited_total": 0, "resolved_total": 0, "unresolved_total": 0,
		"connections_accepted_total listen=" + s.Addrs()[0]: 6,

		"connections" + at: 2, "in_flight_requests" + at: 3, "requests_taken_total" + at: 0, "requests_rewritten_total" + at: 0,
		ended(m.Addr, "client"): 2, ended(m.Addr, "malformed"): 1, ended("any", "refused"): 1,
		"frames_refused_total" + at + " reason=too_big": 1,

		class("requests_total", "other"): 4, class("requests_total", "prepare"): 2, class("requests_total", "execute"): 4,
		class("requests_total", "query"): 4, class("requests_total", "batch"): 2,
		"errors_total error=unavailable" + at: 2, "errors_total error=other" + at: 2,

		class("request_bytes_total", "query"):   2 * (query("unavailable") + query("strange")),
		class("request_bytes_total", "prepare"): 2 * float64(len(proxytest.PrepareBody(4, "p"))),
		class("request_bytes_total", "execute"): 4 * float64(len(proxytest.ExecuteBody(4, proxytest.PreparedID("p"), []byte("value")))),
		class("request_bytes_total", "batch"):   2 * 6,
		class("request_bytes_total", "other"):   4 * 22,

		class("response_bytes_total", "query"):   2 * (failure("no replicas") + failure("?")),
		class("response_bytes_total", "prepare"): 2 * float64(len(proxytest.PreparedBody(4, "p", nil, nil))),
		class("response_bytes_total", "execute"): 4 * 4,
		class("response_bytes_total", "batch"):   2 * 4,

		"added_seconds direction=request" + at: 19, "added_seconds direction=response" + at: 16,
	}
	for _, c := range []string{"other", "prepare", "execute", "query", "batch"} {
		want[class("request_duration_seconds", c)] = want[class("requests_total", c)]
	}
	if diff := cmp.Diff(want, page(t, s)); diff != "" {
		t.Error(diff)
	}
	close(release)
	for range 3 {
		if _, _, err := waits.Read(); err != nil {
			t.Fatal(err)
		}
	}
	waits.Close()
	await(t, func() bool { return page(t, s)["in_flight_requests"+at] == 0 })
}

// TestMetricsNeverGoBack scrapes while connections come, ask and go.
func TestMetricsNeverGoBack(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{})
	const clients, rounds, requests = 6, 25, 4
	var work sync.WaitGroup
	for range clients {
		work.Go(func() {
			for range rounds {
				c, err := proxytest.Connect(s.Addrs()[0], 4)
				if err != nil {
					t.Error(err)
					return
				}
				for range requests {
					if _, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "q")); err != nil {
						t.Error(err)
					}
				}
				c.Close()
			}
		})
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	before := map[string]float64{}
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		now := page(t, s)
		s.Connections()
		for _, k := range slices.Sorted(maps.Keys(before)) {
			if (strings.Contains(k, "_total") || strings.Contains(k, "_seconds")) && now[k] < before[k] {
				t.Fatalf("%s went from %v to %v", k, before[k], now[k])
			}
		}
		before = now
	}
	await(t, func() bool { return s.Stats().Connections == 0 })
	if n := s.Stats().Requests; n != clients*rounds*(requests+1) {
		t.Errorf("%d requests are counted", n)
	}
	if n := s.Stats().Accepted; n != clients*rounds {
		t.Errorf("%d connections are counted", n)
	}
}
