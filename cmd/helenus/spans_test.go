package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestSpansJoinTheApplicationsTrace: a driver sends a traceparent as custom payload, and the collector gets the span of the request, as a part of
// the application's own; a request without one has none.
func TestSpansJoinTheApplicationsTrace(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	var (
		mu  sync.Mutex
		got []*v1.Span
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				got = append(got, scope.Spans...)
			}
		}
	}))
	defer server.Close()
	p := newProcess(t, contact, "--otlp-endpoint", server.URL, "--advise-every", "1h")
	p.start()
	p.awaitReady()
	through := session(t, p.listen)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ask := func(payload map[string][]byte) {
		t.Helper()
		if err := through.Query("SELECT release_version FROM system.local WHERE key = ?", "local").CustomPayload(payload).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	ask(nil)
	ask(map[string][]byte{"traceparent": []byte(parent)})
	p.stop() // what waits is sent
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 1 {
		t.Fatalf("%d spans, want 1: %v", len(got), got)
	}
	if x := got[0]; hex.EncodeToString(x.TraceId) != parent[3:35] || hex.EncodeToString(x.ParentSpanId) != parent[36:52] || !strings.HasPrefix(x.Name, "SELECT system.local") {
		t.Errorf("%v", x)
	}
}
