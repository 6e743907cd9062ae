package admin

import (
	"bytes"
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestShareOfDescriptors(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 64, 10: 4, 200: 25, 1 << 20: 64} {
		if got := share(descriptors); got != want {
			t.Errorf("of %d: %d, want %d", descriptors, got, want)
		}
	}
}

func TestTooManyConnections(t *testing.T) {
	b := bounds{most: 2, open: map[net.Conn]*list.Element{}}
	open := func() net.Conn {
		mine, other := net.Pipe()
		t.Cleanup(func() { _ = other.Close() })
		b.changed(mine, http.StateNew)
		return mine
	}
	gone := func(c net.Conn) bool { return c.SetDeadline(time.Time{}) != nil }
	first, second := open(), open()
	b.changed(first, http.StateActive)
	b.changed(first, http.StateIdle) // second asks nothing for longer now
	third := open()
	if gone(first) || !gone(second) || gone(third) {
		t.Errorf("closed: %t %t %t", gone(first), gone(second), gone(third))
	}
	b.changed(second, http.StateClosed)
	b.changed(first, http.StateActive)
	b.changed(third, http.StateActive)
	if fourth := open(); !gone(fourth) || gone(first) || gone(third) {
		t.Error("one that is being answered was closed, or the new one was not")
	}
	b.changed(first, http.StateClosed)
	if fifth := open(); gone(fifth) || b.count() != 2 || b.evicted.Load() != 1 || b.refused.Load() != 1 {
		t.Errorf("%v are counted, %d evicted, %d refused", b.count(), b.evicted.Load(), b.refused.Load())
	}
}

func TestTokenAtTheDoor(t *testing.T) {
	var log bytes.Buffer
	now := time.Unix(0, 0)
	d := door{token: "secret", log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }}
	handler := d.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(header string) int {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/model", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for header, want := range map[string]int{
		"Bearer secret": 200, "bearer secret": 200, "BEARER  secret ": 200, "bEaReR secret": 200,
		"": 401, "secret": 401, "Basic secret": 401, "Bearer": 401, "Bearer wrong": 401, "bearer Secret": 401, "Bearersecret": 401,
	} {
		if got := ask(header); got != want {
			t.Errorf("%q: %d, want %d", header, got, want)
		}
	}
	if d.missing.Load() != 4 || d.wrong.Load() != 3 {
		t.Errorf("%d without, %d with a wrong token", d.missing.Load(), d.wrong.Load())
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "remote=192.0.2.1:1234") || strings.Contains(log.String(), "Secret") {
		t.Errorf("%d lines: %s", n, log.String())
	}
	now = now.Add(wrongTokenEvery)
	ask("Bearer other")
	if !strings.Contains(log.String(), "unlogged_before=2") {
		t.Error(log.String())
	}
}

// TestPartsInTime: what comes and goes in parts is whole.
func TestPartsInTime(t *testing.T) {
	answered := make(chan string, 1)
	s := httptest.NewServer(timely(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, err := b.ReadFrom(r.Body)
		if err != nil || r.Context().Err() != nil {
			t.Errorf("%v, %v", err, r.Context().Err())
		}
		answered <- b.String()
		_, _ = w.Write(bytes.Repeat([]byte("x"), 5*writePart+1))
	})))
	defer s.Close()
	a, err := http.Post(s.URL, "text/plain", strings.NewReader("body")) //nolint:gosec,noctx // of the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(a.Body); err != nil || b.Len() != 5*writePart+1 || <-answered != "body" {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
