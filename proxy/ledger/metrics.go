package ledger

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/internal/native"
	"github.com/helenus-db/helenus/proxy/wire"
)

// InFlight is how many requests are in flight at each place.
type InFlight map[Place]int

var (
	placeLabels = []string{"listen", "node"}
	classLabels = []string{"listen", "node", "class"}
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("helenus_proxy_"+name, help, labels, nil)
}

func more(label string) []string { return append([]string{"listen", "node"}, label) }

var (
	acceptedDesc = desc("connections_accepted_total",
		"Client connections accepted, those that were refused for being too many included.", "listen")
	connectionsDesc = desc("connections", "Client connections now; node is 'any' until one is reached.", placeLabels...)
	closedDesc      = desc("connections_closed_total",
		"Client connections that ended, by reason: client or cassandra (that side closed it), refused (too many), unreachable (no node answered), malformed (what the client sent), unfinished (handshake too slow), stalled (a side did not take what was sent to it), untrusted (its TLS handshake failed), without_tls (it spoke CQL where TLS is spoken), drained (the proxy stops, or the node left).",
		more("reason")...)
	inFlightDesc = desc("in_flight_requests", "Requests in flight now.", placeLabels...)
	requestsDesc = desc("requests_total", "Requests answered, by class: query, execute, prepare, batch or other (the handshake's).", classLabels...)
	upDesc       = desc("request_bytes_total", "Bytes of request bodies.", classLabels...)
	downDesc     = desc("response_bytes_total", "Bytes of answer bodies.", classLabels...)
	tookDesc     = desc("request_duration_seconds", "Time from reading a request to handing its answer to the client.", classLabels...)
	addedDesc    = desc("added_seconds",
		"Time that requests and answers spent in the proxy itself: from the read that completed them to the end of the write that sent them on. Those that a rewrite took, and those beside a message too long for the buffer, are left out.",
		more("direction")...)
	errorsDesc    = desc("errors_total", "Requests answered with an error, by the error's name.", more("error")...)
	refusedDesc   = desc("requests_refused_total", "Requests that the proxy did not send on but answered with an error of its own, by the error's name; not in requests_total.", more("error")...)
	framesDesc    = desc("frames_refused_total", "Frames of clients that could not be read on after, by reason; each ends its connection.", more("reason")...)
	takenDesc     = desc("requests_taken_total", "Requests taken by a rewrite.", placeLabels...)
	rewrittenDesc = desc("requests_rewritten_total", "Requests answered by a rewrite instead of by Cassandra.", placeLabels...)
)

// Describe sends the descriptions of all metrics.
func (l *Ledger) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{acceptedDesc, connectionsDesc, closedDesc, inFlightDesc, requestsDesc, upDesc, downDesc,
		tookDesc, addedDesc, errorsDesc, refusedDesc, framesDesc, takenDesc, rewrittenDesc} {
		out <- d
	}
}

// picture is a place's numbers at a moment.
type picture struct {
	place    Place
	accepted uint64
	open     int
	ended    [ends]uint64
	numbers  numbers
}

func (l *Ledger) pictures() []*picture {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*picture, 0, len(l.pages))
	for place, g := range l.pages {
		p := &picture{place: place, accepted: g.accepted, open: len(g.sheets), ended: g.ended}
		p.numbers.take(&g.past)
		for s := range g.sheets {
			p.numbers.take(&s.numbers)
		}
		list = append(list, p)
	}
	return list
}

// Collect sends all metrics. What never happened has no series.
func (l *Ledger) Collect(out chan<- prometheus.Metric, now InFlight) {
	accepted := map[string]uint64{}
	for _, p := range l.pictures() {
		accepted[p.place.Listen] += p.accepted
		c := collector{out, p.place}
		if p.place.Node != Any || p.open > 0 {
			c.gauge(connectionsDesc, p.open)
			c.gauge(inFlightDesc, now[p.place])
			c.counter(takenDesc, &p.numbers.taken)
			c.counter(rewrittenDesc, &p.numbers.rewritten)
		}
		for i, n := range p.ended {
			c.some(closedDesc, n, endNames[i])
		}
		for i := range p.numbers.took {
			h := &p.numbers.took[i]
			c.some(requestsDesc, h.count(), classNames[i])
			c.some(upDesc, p.numbers.bytesUp[i].Load(), classNames[i])
			c.some(downDesc, p.numbers.bytesDown[i].Load(), classNames[i])
			c.histogram(tookDesc, h, tookFirst, classNames[i])
		}
		for i := range p.numbers.added {
			c.histogram(addedDesc, &p.numbers.added[i], addedFirst, directionNames[i])
		}
		for i, name := range wire.ErrorNames {
			c.some(errorsDesc, p.numbers.errors[i].Load(), name)
			c.some(refusedDesc, p.numbers.refused[i].Load(), name)
		}
		for i, name := range frameNames {
			c.some(framesDesc, p.numbers.frames[i].Load(), name)
		}
	}
	for listen, n := range accepted {
		out <- prometheus.MustNewConstMetric(acceptedDesc, prometheus.CounterValue, float64(n), listen)
	}
}

type collector struct {
	out   chan<- prometheus.Metric
	place Place
}

func (c collector) gauge(d *prometheus.Desc, n int) {
	c.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), c.place.Listen, c.place.Node)
}

func (c collector) counter(d *prometheus.Desc, n interface{ Load() uint64 }) {
	c.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n.Load()), c.place.Listen, c.place.Node)
}

func (c collector) some(d *prometheus.Desc, n uint64, label string) {
	if n > 0 {
		c.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), c.place.Listen, c.place.Node, label)
	}
}

func (c collector) histogram(d *prometheus.Desc, h *histogram, first int, label string) {
	buckets := make(map[float64]uint64, steps)
	fine := native.New(0) // one for each doubling, as ours; theirs end 7 % lower or 93 % higher
	var n uint64
	for i := range steps {
		here, end := h.buckets[i].Load(), float64(uint64(1)<<(first+i))/1e9
		n += here
		buckets[end] = n
		fine.Add(end/math.Sqrt2, here)
	}
	over := h.buckets[steps].Load()
	if n += over; n == 0 {
		return
	}
	fine.Add(float64(uint64(1)<<(first+steps))/1e9, over)
	c.out <- fine.Metric(d, n, float64(h.sum.Load())/1e9, buckets, c.place.Listen, c.place.Node, label)
}
