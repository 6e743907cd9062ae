package admin

import (
	"bytes"
	"container/list"
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
