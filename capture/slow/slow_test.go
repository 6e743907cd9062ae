package slow

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is a log's output, which several goroutines may read.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSuffix(p.b.String(), "\n"), "\n")
}

// clock is a time.After whose moments the test brings about.
type clock struct{ asked, ticks chan time.Time }

func (c *clock) after(time.Duration) <-chan time.Time {
	c.asked <- time.Time{}
	return c.ticks
}

func start() (*Log, *page, *clock) {
	p := &page{}
	c := &clock{asked: make(chan time.Time, 10), ticks: make(chan time.Time)}
	return begin(slog.New(slog.NewTextHandler(p, nil)), c.after), p, c
}

// TestRate: ten lines a second, then one that says how many more there were.
func TestRate(t *testing.T) {
	l, p, c := start()
	for second := range 3 {
		for range 25 {
			l.Add(Request{Fingerprint: "f"})
		}
		<-c.asked
		for len(l.queue) > 0 { //nolint:revive // the goroutine takes them
			time.Sleep(time.Millisecond)
		}
		c.ticks <- time.Time{}
		if second == 2 {
			break
		}
	}
	l.Close()
	lines := p.lines()
	if len(lines) != 33 {
		t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		if i%11 == 10 != strings.Contains(line, "not logged one by one\" requests=15") {
			t.Errorf("line %d: %s", i, line)
		}
	}
	if seen, unlogged := l.Counts(); seen != 75 || unlogged != 45 {
		t.Errorf("%d seen, %d unlogged", seen, unlogged)
	}
}

// TestAFullQueueIsNotWaitedFor: what writes the log hangs; who adds does not, and nothing is forgotten.
func TestAFullQueueIsNotWaitedFor(t *testing.T) {
	hang := make(chan struct{})
	p := &page{}
	l := begin(slog.New(slog.NewTextHandler(hanging{p, hang}, nil)), time.After)
	const n = 3 * waiting
	for range n {
		l.Add(Request{})
	}
	seen, unlogged := l.Counts()
	if seen != n || unlogged < n-waiting-1 {
		t.Errorf("%d seen, %d unlogged", seen, unlogged)
	}
	close(hang)
	l.Close()
	seen, unlogged = l.Counts()
	logged := 0
	for _, line := range p.lines() {
		if strings.Contains(line, "msg=\"slow request\"") {
			logged++
		}
	}
	if seen != unlogged+uint64(logged) {
		t.Errorf("%d seen, %d logged, %d not", seen, logged, unlogged)
	}
	l.Add(Request{}) // after the end: counted only
	l.Close()
}

type hanging struct {
	p    *page
	hang chan struct{}
}

func (h hanging) Write(b []byte) (int, error) {
	<-h.hang
	return h.p.Write(b)
}

func TestALongTextIsCut(t *testing.T) {
	l, p, _ := start()
	l.Add(Request{Text: strings.Repeat("x", 1<<20)})
	l.Close()
	if n := len(p.lines()[0]); n > 3000 {
		t.Errorf("a line of %d bytes", n)
	}
}
