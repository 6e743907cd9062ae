package admin

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/internal/guard"
)

// The admin port takes no more than its share of what the process has: a part of the file descriptors, so that the CQL
// port is never short of them because of it, and no connection for ever.
const (
	headerTimeout = 10 * time.Second // to read a request's header
	bodyTimeout   = 30 * time.Second // between parts of its body
	writeTimeout  = 30 * time.Second // for each part of the answer
	idleTimeout   = 2 * time.Minute  // between requests
	writePart     = 64 << 10         // bytes
	maxHeader     = 64 << 10         // bytes

	connectionShare = 8 // one of so many descriptors may be the admin port's
	minConnections  = 4
	maxConnections  = 64
)

// share is how many connections the admin port may have, of a process that may have so many descriptors; 0: nobody knows how many.
func share(descriptors uint64) int {
	if descriptors == 0 {
		return maxConnections
	}
	return int(min(max(descriptors/connectionShare, minConnections), maxConnections)) //nolint:gosec // at most maxConnections
}

// bounds keeps the connections of a server few: of too many the one that has asked nothing for the longest time is closed, or, if all are being
// answered, the new one.
type bounds struct {
	most int

	mu      sync.Mutex
	waiting list.List                  // of net.Conn, those that ask nothing, the longest first
	open    map[net.Conn]*list.Element // nil while it is being answered

	evicted, refused atomic.Int64
}

// changed is an http.Server's ConnState.
func (b *bounds) changed(c net.Conn, to http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.open[c]; at != nil {
		b.waiting.Remove(at)
	}
	switch to {
	case http.StateNew, http.StateIdle:
		b.open[c] = b.waiting.PushBack(c)
	case http.StateActive:
		b.open[c] = nil
	case http.StateClosed, http.StateHijacked:
		delete(b.open, c)
	}
	if to != http.StateNew || len(b.open) <= b.most {
		return
	}
	longest := b.waiting.Front() // there is one: c
	if longest.Value == c {
		b.refused.Add(1)
	} else {
		b.evicted.Add(1)
	}
	gone := b.waiting.Remove(longest).(net.Conn)
	delete(b.open, gone) // it counts no more: its descriptor is free when this returns
	_ = gone.Close()
}

func (b *bounds) count() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(len(b.open))
}

// timely gives each part of a request's body, and of the answer, its time, however long the whole takes: a large table is verified, or a trace is recorded,
// for minutes.
func timely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		r.Body = &timelyBody{body: r.Body, control: control}
		next.ServeHTTP(&timelyWriter{ResponseWriter: w, control: control}, r)
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // for what is left of the body; a writer of a test knows none
	})
}

// caught answers a request whose handler panicked.
func caught(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer guard.Recover(guard.API, func(err error) { writeError(w, err) })
		next.ServeHTTP(w, r)
	})
}

type timelyBody struct {
	body interface {
		Read([]byte) (int, error)
		Close() error
	}
	control *http.ResponseController
}

func (b *timelyBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(bodyTimeout))
	n, err := b.body.Read(p)
	// While nothing is read there is none: it would end the request's context.
	_ = b.control.SetReadDeadline(time.Time{})
	return n, err
}

func (b *timelyBody) Close() error { return b.body.Close() }

type timelyWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Unwrap is for http.ResponseController.
func (w *timelyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timelyWriter) Write(p []byte) (written int, err error) {
	for {
		_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout))
		n, err := w.ResponseWriter.Write(p[:min(len(p), writePart)])
		written += n
		if p = p[n:]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

var (
	descConnections = prometheus.NewDesc("helenus_admin_connections", "Connections to the admin port.", nil, nil)
	descClosed      = prometheus.NewDesc("helenus_admin_closed_connections_total",
		"Connections to the admin port that were closed because there were too many: the one that was idle for longest, or a new one (refused) while all others were being answered.",
		[]string{"reason"}, nil)
	descUnauthorised = prometheus.NewDesc("helenus_admin_unauthorised_total", "Requests to the API without a token, with a wrong one, or from an address from which too many wrong ones came (limited).", []string{"token"}, nil)
	descForbidden    = prometheus.NewDesc("helenus_admin_forbidden_total",
		"Requests to the admin port that were refused to whoever sent them: the role does not allow it (role), or a page of another site may have made them (site).", []string{"reason"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Server) Describe(c chan<- *prometheus.Desc) {
	c <- descConnections
	c <- descClosed
	c <- descUnauthorised
	c <- descRequests
	c <- descForbidden
}

// Collect implements prometheus.Collector.
func (s *Server) Collect(c chan<- prometheus.Metric) {
	total := func(d *prometheus.Desc, n int64, label string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), label)
	}
	c <- prometheus.MustNewConstMetric(descConnections, prometheus.GaugeValue, s.bounds.count())
	total(descClosed, s.bounds.evicted.Load(), "idle")
	total(descClosed, s.bounds.refused.Load(), "refused")
	n := s.o.Gate.Counts()
	total(descUnauthorised, n.Missing.Load(), "missing")
	total(descUnauthorised, n.Wrong.Load(), "wrong")
	total(descUnauthorised, n.Limited.Load(), "limited")
	total(descForbidden, n.Forbidden.Load(), "role")
	total(descForbidden, n.Foreign.Load(), "site")
	s.requests.collect(c)
}
