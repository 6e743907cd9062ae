package admin

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// descRequests counts requests by few routes: a path of its own for each would be as many series as clients think of.
var descRequests = prometheus.NewDesc("helenus_admin_requests_total",
	"Requests to the admin port, by kind of route (metrics, health, api-read, api-write, console, pprof or other) and status code.", []string{"route", "code"}, nil)

// routeOf is the kind of route that a request takes.
func routeOf(r *http.Request) string {
	path := r.URL.Path
	switch {
	case path == "/metrics":
		return "metrics"
	case path == "/healthz", path == "/readyz":
		return "health"
	case strings.HasPrefix(path, "/api/") && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return "api-read"
	case strings.HasPrefix(path, "/api/"):
		return "api-write"
	case path == "/ui", strings.HasPrefix(path, "/ui/"):
		return "console"
	case strings.HasPrefix(path, "/debug/pprof/"):
		return "pprof"
	}
	return "other"
}

type outcome struct {
	route string
	code  int
}

// requests counts those that were answered.
type requests struct {
	mu sync.Mutex
	of map[outcome]int64
}

func (q *requests) add(o outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of = map[outcome]int64{}
	}
	q.of[o]++
}

func (q *requests) collect(c chan<- prometheus.Metric) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for o, n := range q.of {
		c <- prometheus.MustNewConstMetric(descRequests, prometheus.CounterValue, float64(n), o.route, strconv.Itoa(o.code))
	}
}

// counted counts the requests that next answers, also those that end with a panic.
func (q *requests) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		defer func() { q.add(outcome{routeOf(r), max(seen.code, http.StatusOK)}) }()
		next.ServeHTTP(seen, r)
	})
}

// statusWriter remembers the status of an answer; 0: none was written, which is 200.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) WriteHeader(code int) {
	if w.code == 0 && code >= http.StatusOK {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}
