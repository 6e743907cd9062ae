package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

func TestValues(t *testing.T) {
	w := window.New(window.Options{Seed: 1, Ticks: make(chan time.Time)})
	defer w.Close()
	st := &trace.Statement{Fingerprint: "f", Keyspace: "k", Table: "t", Variables: []proxy.Column{{Keyspace: "k", Table: "t", Name: "c", Type: proxy.Type{Code: 9}}}}
	look := func() {
		w.Observe(&proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, 7}}}}, st)
	}
	look()
	var log bytes.Buffer
	flow := feed.Feed{From: feed.End{Fingerprint: "a"}, To: feed.End{Fingerprint: "b"}, Hits: 3}
	p := &parts{}
	server := httptest.NewServer(New(Options{
		Token: "t", Windows: w, Log: slog.New(slog.NewTextHandler(&log, nil)), Advisor: p, Migrator: migrator{p}, Metrics: prometheus.NewRegistry(),
		Statements: func() *capture.Snapshot { return &capture.Snapshot{Feeds: []feed.Feed{flow}} },
	}).Handler())
	defer server.Close()
	c := &Client{Address: server.Listener.Addr().String(), Token: "t"}
	ctx := context.Background()

	var flows []capture.Flow
	if err := c.Get(ctx, "flows", &flows); err != nil || len(flows) != 1 || flows[0].Hits != 3 || flows[0].ID == "" {
		t.Errorf("flows: %+v %v", flows, err)
	}
	var d profile.Document
	if err := c.Get(ctx, "profiles", &d); err != nil || len(d.Epochs) != 1 || len(d.Epochs[0].Columns) != 1 || d.Epochs[0].Columns[0].Values != nil {
		t.Errorf("profiles: %+v %v", d, err)
	}
	if err := c.Get(ctx, "profiles?hashes=true", &d); err != nil || d.Epochs[0].Columns[0].Values == nil {
		t.Errorf("profiles with hashes: %+v %v", d, err)
	}

	var file []byte
	for _, bad := range []string{"", "?for=x", "?for=-1s", "?for=11m"} {
		if got := code(t, c.Post(ctx, "capture/record"+bad, Decision{}, &file)); got != "invalid" {
			t.Errorf("record%s: %s", bad, got)
		}
	}
	if err := c.Post(ctx, "capture/record?for=50ms", Decision{Actor: "ann"}, &file); err != nil {
		t.Fatal(err)
	}
	if _, n, err := window.Replay(bytes.NewReader(file)); err != nil || n != 0 {
		t.Errorf("%d executions: %v", n, err)
	}

	var s window.Statistics
	if err := c.Post(ctx, "sampling/off", Decision{Actor: "ann"}, &s); err != nil || s.On || s.Open || w.On() {
		t.Errorf("off: %+v %v", s, err)
	}
	if look(); w.Statistics().Observed != 1 {
		t.Error("something was looked at though it is off")
	}
	if got := code(t, c.Post(ctx, "capture/record?for=50ms", Decision{}, &file)); got != "refused" {
		t.Errorf("recorded though it is off: %s", got)
	}
	if err := c.Get(ctx, "sampling", &s); err != nil || s.On || s.Observed != 1 {
		t.Errorf("%+v %v", s, err)
	}
	if err := c.Post(ctx, "sampling/on", Decision{Actor: "bob"}, &s); err != nil || !s.On {
		t.Errorf("on: %+v %v", s, err)
	}
	if text := log.String(); !strings.Contains(text, "actor=ann") || !strings.Contains(text, "actor=bob") {
		t.Errorf("who switched is not in the log: %s", text)
	}
	if raw, err := json.Marshal(s); err != nil || !strings.Contains(string(raw), `"observed":1`) {
		t.Errorf("%s %v", raw, err)
	}
}
