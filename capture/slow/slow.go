// Package slow is the log of slow requests: one line each at level WARN, with the statement's normalised text and never a
// value. It imports the standard library only; package capture hands it Requests.
//
// A request that is slow costs its relay goroutine one send to a bounded channel; if that is full, the request is counted
// and not waited for. One goroutine writes the lines: at most perSecond in a second that begins with the first of
// them. What went beyond is said in one line when that second is over, so a cluster that is slow as a whole does not
// bury the log that would explain it.
package slow

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
)

// Request is a request that was slow, and what is known of it. No field holds a value.
type Request struct {
	Fingerprint string
	Text        string // normalised; "" if the statement could not be parsed, for then its text may hold anything
	Kind        string
	Keyspace    string
	Table       string
	Children    int      // a BATCH: statements in it
	Parts       []string // a BATCH: fingerprints of the first different ones

	Client, Application, Driver, Role string
	Node                              string

	Opcode                      string
	Latency                     time.Duration
	RequestBytes, ResponseBytes int
	Rows                        int // -1 if the answer does not say
	Consistency                 string
	Error                       string // its name; "" if there was none
	Paged, MorePages            bool   // asked for a later page; there are more
	Rewritten                   bool   // answered by a rewrite
}

const (
	waiting   = 256         // requests that may wait to be written
	perSecond = 10          // lines
	window    = time.Second // of perSecond
	maxText   = 2000        // of a statement's text, bytes
)

// Log writes slow requests.
type Log struct {
	log   *slog.Logger
	queue chan Request
	done  chan struct{}
	after func(time.Duration) <-chan time.Time

	seen     atomic.Uint64
	unlogged atomic.Uint64
	lost     atomic.Uint64 // of unlogged: the queue was full; taken by the next summary

	closing sync.Once
	closed  chan struct{}
	end     context.CancelFunc // of the waiting for another try
}

// New starts a log. Close ends it.
func New(log *slog.Logger) *Log { return begin(log, time.After) }

func begin(log *slog.Logger, after func(time.Duration) <-chan time.Time) *Log {
	life, end := context.WithCancel(context.Background())
	l := &Log{end: end, log: log, queue: make(chan Request, waiting), done: make(chan struct{}), closed: make(chan struct{}), after: after}
	guard.Go(guard.SlowLog, func() {
		defer close(l.done)
		guard.Loop(life, guard.SlowLog, guard.Clock{After: after}, func(context.Context) { l.run() }, nil)
	}, nil)
	return l
}

// Add hands over a request. It never waits.
func (l *Log) Add(r Request) {
	l.seen.Add(1)
	select {
	case l.queue <- r:
	default:
		l.lost.Add(1)
		l.unlogged.Add(1)
	}
}

// Counts returns how many requests were slow, and how many of those have no line of their own.
func (l *Log) Counts() (seen, unlogged uint64) { return l.seen.Load(), l.unlogged.Load() }

// Close writes what waits and ends the log. Requests that are added later are counted only.
func (l *Log) Close() {
	l.closing.Do(func() { close(l.closed); l.end() })
	<-l.done
}

func (l *Log) run() {
	var (
		over    <-chan time.Time // the second's end; nil while none runs
		lines   int
		skipped uint64
	)
	write := func(r Request) {
		if over == nil {
			over, lines = l.after(window), 0
		}
		if lines == perSecond {
			skipped++
			l.unlogged.Add(1)
			return
		}
		lines++
		l.line(&r)
	}
	summary := func() {
		if n := skipped + l.lost.Swap(0); n > 0 {
			l.log.Warn("slow requests were not logged one by one", "requests", n, "logged_per_second", perSecond)
		}
		over, skipped = nil, 0
	}
	for {
		select {
		case r := <-l.queue:
			write(r)
		case <-over:
			summary()
		case <-l.closed:
			for {
				select {
				case r := <-l.queue:
					write(r)
				default:
					summary()
					return
				}
			}
		}
	}
}

func (l *Log) line(r *Request) {
	a := []any{"latency", r.Latency, "fingerprint", r.Fingerprint, "kind", r.Kind}
	add := func(name string, v any, is bool) {
		if is {
			a = append(a, name, v)
		}
	}
	text := r.Text
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	add("statement", text, text != "")
	add("keyspace", r.Keyspace, r.Keyspace != "")
	add("table", r.Table, r.Table != "")
	add("children", r.Children, r.Children > 0)
	add("parts", r.Parts, len(r.Parts) > 0)
	a = append(a, "opcode", r.Opcode, "node", r.Node, "client", r.Client)
	add("application", r.Application, r.Application != "")
	add("driver", r.Driver, r.Driver != "")
	add("role", r.Role, r.Role != "")
	a = append(a, "request_bytes", r.RequestBytes, "response_bytes", r.ResponseBytes)
	add("rows", r.Rows, r.Rows >= 0)
	a = append(a, "consistency", r.Consistency)
	add("error", r.Error, r.Error != "")
	add("paged", true, r.Paged)
	add("more_pages", true, r.MorePages)
	add("rewritten", true, r.Rewritten)
	l.log.Warn("slow request", a...)
}
