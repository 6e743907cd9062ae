package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
)

// receiver takes what webhooks send.
func receiver(t *testing.T) (address string, next func() string) {
	t.Helper()
	got := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Header.Get("X-Helenus-Event") + " " + string(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		select {
		case body := <-got:
			return body
		case <-time.After(20 * time.Second):
			t.Fatal("nothing came")
			return ""
		}
	}
}

// TestWebhooksAreWired: what the audit trail has of a change, and advice that waits, is told, as the settings say.
func TestWebhooksAreWired(t *testing.T) {
	address, next := receiver(t)
	s := config.Defaults()
	s.StateDir, s.Admin, s.Webhooks, s.WebhookConsole = t.TempDir(), "127.0.0.1:0", []string{address}, "https://helenus.example.org"
	h, err := assemble(context.Background(), s, &inheritance{}, logger(s))
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); h.webhooks.Run(ctx) }()
	defer func() { stop(); <-over }()
	if err := h.store.Append(ctx, store.Entry{Action: "suspend", Target: "r-1", Before: "serving", After: "suspended"}.By(ctx, store.Guard)); err != nil {
		t.Fatal(err)
	}
	if got := next(); !strings.HasPrefix(got, "change.suspended ") || !strings.Contains(got, "https://helenus.example.org/ui/changes/r-1") {
		t.Error(got)
	}
	h.opened([]recommend.Recommendation{{ID: "r-2", Title: "orders by customer", State: recommend.Open, StateSince: time.Now()}})
	if got := next(); !strings.HasPrefix(got, "advice.new ") || !strings.Contains(got, "r-2 (orders by customer)") {
		t.Error(got)
	}
}

// TestLostStateIsTold: a process that begins with a damaged state says so to whom it is told to.
func TestLostStateIsTold(t *testing.T) {
	address, next := receiver(t)
	p := newProcess(t, startMock(t, nil).Addr, "--webhooks", address)
	if err := os.WriteFile(filepath.Join(p.state, store.File), []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start()
	if got := next(); !strings.HasPrefix(got, "state.lost ") {
		t.Error(got)
	}
	if strings.Contains(p.output.String(), address) {
		t.Error("the log tells the address")
	}
}
