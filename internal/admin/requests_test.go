package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

type requestsCollector struct{ *requests }

func (requestsCollector) Describe(c chan<- *prometheus.Desc) { c <- descRequests }

func (q requestsCollector) Collect(c chan<- prometheus.Metric) { q.collect(c) }

// Whatever paths and methods clients think of, there are few series.
func TestRequestsAreCountedByFewRoutes(t *testing.T) {
	var q requests
	h := q.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ui/gone":
			w.WriteHeader(http.StatusEarlyHints) // says nothing of the answer
			w.WriteHeader(http.StatusNotFound)
			w.WriteHeader(http.StatusOK) // superfluous
		case "/api/v1/bypass/on":
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	for _, x := range [][2]string{
		{"GET", "/metrics"}, {"GET", "/metrics"}, {"GET", "/readyz"}, {"GET", "/api/v1/statements/ab"}, {"GET", "/api/v1/statements/cd"}, {"POST", "/api/v1/bypass/on"},
		{"BREW", "/api/v1/bypass/on"}, {"GET", "/ui/gone"}, {"GET", "/debug/pprof/heap"}, {"GET", "/wp-login.php"}, {"GET", "/a"}, {"GET", "/uiiii"},
	} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(x[0], x[1], nil))
	}
	const want = `
# HELP helenus_admin_requests_total Requests to the admin port, by kind of route (metrics, health, api-read, api-write, console, pprof or other) and status code.
# TYPE helenus_admin_requests_total counter
helenus_admin_requests_total{code="200",route="api-read"} 2
helenus_admin_requests_total{code="401",route="api-write"} 2
helenus_admin_requests_total{code="404",route="console"} 1
helenus_admin_requests_total{code="200",route="health"} 1
helenus_admin_requests_total{code="200",route="metrics"} 2
helenus_admin_requests_total{code="200",route="other"} 3
helenus_admin_requests_total{code="200",route="pprof"} 1
`
	if err := testutil.CollectAndCompare(requestsCollector{&q}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// Metrics come as text, as OpenMetrics, or as protocol buffers, which alone hold native histograms: whatever the scraper asks for first.
func TestMetricsSpeakWhatIsAsked(t *testing.T) {
	c := serve(t, someParts(), false)
	for accept, want := range map[string]string{
		"": "text/plain; version=0.0.4", "application/openmetrics-text;version=1.0.0": "application/openmetrics-text; version=1.0.0",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited": "application/vnd.google.protobuf",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.Address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if got := a.Header.Get("Content-Type"); a.StatusCode != http.StatusOK || !strings.HasPrefix(got, want) {
			t.Errorf("asked for %q: %d %s", accept, a.StatusCode, got)
		}
	}
}
