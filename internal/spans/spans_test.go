package spans

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/slow"
)

var quiet = slog.New(slog.DiscardHandler)

// sink is a collector.
type sink struct {
	mu    sync.Mutex
	paths []string
	got   []*v1.Span
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths = append(s.paths, r.URL.Path)
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			s.got = append(s.got, scope.Spans...)
		}
	}
}

func request(id byte) capture.Traced {
	t := capture.Traced{
		Request: slow.Request{Fingerprint: "f1", Text: "SELECT a FROM shop.orders WHERE id = ?", Kind: "select", Keyspace: "shop", Table: "orders",
			Latency: 3 * time.Millisecond, Rows: 2, Consistency: "QUORUM", Node: "127.0.0.1:9042", Rewritten: true},
		Start: time.Unix(1000, 5),
	}
	t.Trace.ID[0], t.Trace.Span[0], t.Trace.Flags, t.Trace.State = id, 7, 1, "vendor=x"
	return t
}

func TestSpans(t *testing.T) {
	s := &sink{}
	server := httptest.NewServer(s)
	defer server.Close()
	sender, err := New(t.Context(), server.URL, "1.2.3", quiet)
	if err != nil {
		t.Fatal(err)
	}
	failed := request(2)
	failed.Error, failed.Rows, failed.Rewritten, failed.Table, failed.Trace.State = "overloaded", -1, false, "", "not a state"
	sender.Send(request(1))
	sender.Send(failed)
	if err := sender.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(s.got) != 2 || s.paths[0] != "/v1/traces" {
		t.Fatalf("%v %v", s.paths, s.got)
	}
	show := func(x *v1.Span) string {
		var list []string
		for _, a := range x.Attributes {
			list = append(list, fmt.Sprintf("%s=%s%v", a.Key, a.Value.GetStringValue(), a.Value.GetIntValue()))
		}
		return strings.Join(list, " ")
	}
	x := s.got[0]
	if x.Name != "SELECT shop.orders" || hex.EncodeToString(x.TraceId)[:2] != "01" || hex.EncodeToString(x.ParentSpanId)[:2] != "07" || x.TraceState != "vendor=x" ||
		x.StartTimeUnixNano != 1000_000_000_005 || x.EndTimeUnixNano-x.StartTimeUnixNano != 3_000_000 || x.Status.GetCode() != v1.Status_STATUS_CODE_UNSET {
		t.Errorf("%v", x)
	}
	for _, want := range []string{"db.system.name=cassandra", "db.query.text=SELECT a FROM shop.orders WHERE id = ?", "helenus.answered_by=helenus", "db.response.returned_rows=2"} {
		if !strings.Contains(show(x), want) {
			t.Errorf("no %s in %s", want, show(x))
		}
	}
	if x = s.got[1]; x.Status.GetCode() != v1.Status_STATUS_CODE_ERROR || x.TraceState != "" || strings.Contains(show(x), "returned_rows") ||
		!strings.Contains(show(x), "helenus.answered_by=cassandra") || x.Name != "SELECT" {
		t.Errorf("%v", x)
	}
	if err := testutil.CollectAndCompare(sender, strings.NewReader(`
# HELP helenus_spans_exported_total Spans that the collector was sent, by result: sent or failed. What is in neither waits, or was dropped as the queue was full.
# TYPE helenus_spans_exported_total counter
helenus_spans_exported_total{result="failed"} 0
helenus_spans_exported_total{result="sent"} 2
`), "helenus_spans_exported_total"); err != nil {
		t.Error(err)
	}
}

// TestCollectorThatFails: the sender never waits for it, and counts what it did not take; and without a collector there is nothing to do.
func TestCollectorThatFails(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	sender, err := New(t.Context(), server.URL+"/custom/path", "1", quiet)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		sender.Send(request(3))
	}
	_ = sender.Close(context.Background())
	if sent, failed := sender.sent.Load(), sender.failed.Load(); sent != 0 || failed != 3 {
		t.Errorf("%d sent, %d failed", sent, failed)
	}
	none, err := New(t.Context(), "", "1", quiet)
	if err != nil || none.Close(context.Background()) != nil {
		t.Error(err)
	}
	if _, err := New(t.Context(), "http://[::1", "1", quiet); err == nil {
		t.Error("an address that is none was taken")
	}
}

func TestAddressIsCompleted(t *testing.T) {
	for address, want := range map[string]string{
		"http://c:4318": "http://c:4318/v1/traces", "https://c:4318/": "https://c:4318/v1/traces", "https://c/otlp/v1/traces": "https://c/otlp/v1/traces",
	} {
		if got := complete(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
