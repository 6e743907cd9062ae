package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/sketch"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/access"
)

// looking plays package window.
type looking struct{ off bool }

func (l *looking) Statistics() window.Statistics { return window.Statistics{On: !l.off, Observed: 7} }

func (l *looking) Findings() window.Findings {
	return window.Findings{Profiles: &profile.Document{Epochs: []profile.Epoch{{Columns: []profile.Column{{Name: "c", Values: sketch.New(4)}}}}}}
}

func (l *looking) Switch(on bool) bool {
	changed := l.off == on
	l.off = !on
	return changed
}

func (l *looking) Record(out io.Writer, done <-chan struct{}) (int, error) {
	if l.off {
		return 0, window.ErrOff
	}
	<-done
	return out.Write([]byte("a trace"))
}

func TestValues(t *testing.T) {
	w := &looking{}
	var log bytes.Buffer
	flow := feed.Feed{From: feed.End{Fingerprint: "a"}, To: feed.End{Fingerprint: "b"}, Hits: 3}
	p := &parts{}
	state, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = state.Close() }()
	server := httptest.NewServer(New(Options{
		Gate: access.New(access.Options{Bootstrap: "t", Hosts: access.NewHosts("127.0.0.1:0", nil), Log: slog.New(slog.DiscardHandler)}), Audit: state, Windows: w, Log: slog.New(slog.NewTextHandler(&log, nil)), Advisor: p, Migrator: migrator{p}, Metrics: prometheus.NewRegistry(),
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
	if string(file) != "a trace" {
		t.Errorf("%q", file)
	}

	var s window.Statistics
	if err := c.Post(ctx, "sampling/off", Decision{Actor: "ann"}, &s); err != nil || s.On || !w.off {
		t.Errorf("off: %+v %v", s, err)
	}
	if got := code(t, c.Post(ctx, "capture/record?for=50ms", Decision{}, &file)); got != "refused" {
		t.Errorf("recorded though it is off: %s", got)
	}
	if err := c.Get(ctx, "sampling", &s); err != nil || s.On || s.Observed != 7 {
		t.Errorf("%+v %v", s, err)
	}
	if err := c.Post(ctx, "sampling/on", Decision{Actor: "bob"}, &s); err != nil || !s.On {
		t.Errorf("on: %+v %v", s, err)
	}
	if text := log.String(); !strings.Contains(text, "actor=ann") || !strings.Contains(text, "actor=bob") {
		t.Errorf("who switched is not in the log: %s", text)
	}
	if raw, err := json.Marshal(s); err != nil || !strings.Contains(string(raw), `"observed":7`) {
		t.Errorf("%s %v", raw, err)
	}
}
