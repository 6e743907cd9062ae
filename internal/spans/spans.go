// Package spans sends spans of requests to an OpenTelemetry collector: of those that are part of a trace which the application keeps, and
// of no others, so that what is sent is what the application decided to sample.
//
// A request names its trace by its custom payload (traceparent; proxy/trace.go). Its span says which statement it was (normalised,
// without values), who answered (Cassandra, or a change), how long it took in Helenus and behind it, how many rows came, and with which
// error it ended, in the words of OpenTelemetry's semantic conventions for databases. Spans wait in a queue of bounded length; what has
// no room, and what the collector does not take, is dropped and counted. The relay never waits.
//
// It imports capture, for what a request was.
package spans

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/helenus-db/helenus/capture"
)

// Sender sends spans. It implements prometheus.Collector.
type Sender struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	offered, sent, failed atomic.Int64
}

// queue is how many spans wait at most; a few megabytes.
const queue = 8192

// New returns a Sender to the collector at an address (http://host:4318; without a path spans go to /v1/traces), or, if that is "", one that
// is not to be sent anything. What else OpenTelemetry's exporter reads from the environment holds too: OTEL_EXPORTER_OTLP_HEADERS,
// _CERTIFICATE, _COMPRESSION, _TIMEOUT.
// version is this program's; what goes wrong later is logged and counted.
func New(ctx context.Context, address, version string, log *slog.Logger) (*Sender, error) {
	if address == "" {
		return &Sender{}, nil
	}
	address = complete(address)
	_, err := url.Parse(address) // the exporter would only log what is wrong with it
	if err != nil {
		return nil, fmt.Errorf("setting otlp-endpoint: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("setting otlp-endpoint, %q: %w", address, err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans were not sent", "to", address, "error", err) }))
	s := &Sender{}
	s.provider = sdk.NewTracerProvider(
		sdk.WithBatcher(&counting{exporter, s}, sdk.WithMaxQueueSize(queue)),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "helenus"), attribute.String("service.version", version))),
		sdk.WithSampler(sdk.ParentBased(sdk.NeverSample())),
	)
	s.tracer = s.provider.Tracer("github.com/helenus-db/helenus", trace.WithInstrumentationVersion(version))
	return s, nil
}

// complete adds the path that collectors take spans at, where the address has none.
func complete(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if ok && !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		return strings.TrimSuffix(address, "/") + "/v1/traces"
	}
	return address
}

// Close sends what waits, for as long as ctx allows.
func (s *Sender) Close(ctx context.Context) error {
	if s.provider == nil {
		return nil
	}
	return s.provider.Shutdown(ctx)
}

// Send makes the span of a request that has ended. It does not block.
func (s *Sender) Send(r capture.Traced) {
	config := trace.SpanContextConfig{TraceID: r.Trace.ID, SpanID: r.Trace.Span, TraceFlags: trace.TraceFlags(r.Trace.Flags), Remote: true}
	if state, err := trace.ParseTraceState(r.Trace.State); err == nil { // an invalid one is left out, as W3C wants it
		config.TraceState = state
	}
	s.offered.Add(1)
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(config))
	_, span := s.tracer.Start(ctx, name(r), trace.WithTimestamp(r.Start), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes(r)...))
	if r.Error != "" {
		span.SetStatus(codes.Error, r.Error)
		span.SetAttributes(attribute.String("error.type", r.Error))
	}
	span.End(trace.WithTimestamp(r.Start.Add(r.Latency)))
}

// name is what the span is called: what is done, and to which table.
func name(r capture.Traced) string {
	operation := strings.ToUpper(r.Kind)
	switch {
	case r.Table != "" && r.Keyspace != "":
		return operation + " " + r.Keyspace + "." + r.Table
	case r.Table != "":
		return operation + " " + r.Table
	}
	return operation
}

func attributes(r capture.Traced) []attribute.KeyValue {
	answered := "cassandra"
	if r.Rewritten {
		answered = "helenus"
	}
	list := []attribute.KeyValue{
		attribute.String("db.system.name", "cassandra"),
		attribute.String("db.operation.name", strings.ToUpper(r.Kind)),
		attribute.String("cassandra.consistency.level", strings.ToLower(r.Consistency)),
		attribute.String("helenus.fingerprint", r.Fingerprint),
		attribute.String("helenus.answered_by", answered),
		attribute.Int("helenus.request.bytes", r.RequestBytes),
		attribute.Int("helenus.response.bytes", r.ResponseBytes),
	}
	for _, known := range [...]struct{ key, value string }{
		{"db.namespace", r.Keyspace}, {"db.collection.name", r.Table}, {"db.query.text", r.Text},
		{"network.peer.address", r.Node}, {"client.address", r.Client}, {"enduser.id", r.Role},
	} {
		if known.value != "" {
			list = append(list, attribute.String(known.key, known.value))
		}
	}
	if r.Rows >= 0 {
		list = append(list, attribute.Int("db.response.returned_rows", r.Rows))
	}
	if r.Children > 0 {
		list = append(list, attribute.Int("db.operation.batch.size", r.Children))
	}
	return list
}

// counting is an exporter that counts what becomes of spans.
type counting struct {
	sdk.SpanExporter
	sender *Sender
}

// ExportSpans implements sdk.SpanExporter.
func (c *counting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		c.sender.sent.Add(int64(len(spans)))
	} else {
		c.sender.failed.Add(int64(len(spans)))
	}
	return err
}

var (
	offeredDesc = prometheus.NewDesc("helenus_spans_total", "Requests of traces that applications keep, of which a span was made for the OpenTelemetry collector (otlp-endpoint).", nil, nil)
	sentDesc    = prometheus.NewDesc("helenus_spans_exported_total", "Spans that the collector was sent, by result: sent or failed. What is in neither waits, or was dropped as the queue was full.", []string{"result"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Sender) Describe(descs chan<- *prometheus.Desc) {
	descs <- offeredDesc
	descs <- sentDesc
}

// Collect implements prometheus.Collector.
func (s *Sender) Collect(metrics chan<- prometheus.Metric) {
	metrics <- prometheus.MustNewConstMetric(offeredDesc, prometheus.CounterValue, float64(s.offered.Load()))
	metrics <- prometheus.MustNewConstMetric(sentDesc, prometheus.CounterValue, float64(s.sent.Load()), "sent")
	metrics <- prometheus.MustNewConstMetric(sentDesc, prometheus.CounterValue, float64(s.failed.Load()), "failed")
}
