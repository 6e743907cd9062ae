package rewrite

import (
	"sync/atomic"
	"time"
)

// breaker says whether entries of a change could not be written a moment ago, so that not every write waits for the next
// that can not be written either. Its zero value is closed.
type breaker struct {
	until, pause atomic.Int64 // nanoseconds of uptime; of the next pause
	why          atomic.Pointer[string]
}

const (
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// open tells whether it is not to be tried now.
func (b *breaker) open(uptime time.Duration) bool { return int64(uptime) < b.until.Load() }

// trip notes a failure: nothing is tried for a while, each time twice as long. Further entries of the same attempt change nothing.
func (b *breaker) trip(uptime time.Duration, why string) {
	if b.open(uptime) {
		return
	}
	b.why.Store(&why)
	pause := max(b.pause.Load(), int64(firstPause))
	b.until.Store(int64(uptime) + pause)
	b.pause.Store(min(2*pause, int64(mostPause)))
}

// reason is why entries were not tried, of one that is open: what tripped it is stored before it opens.
func (b *breaker) reason() string {
	return "entries could not be written a moment ago: " + *b.why.Load()
}

// close notes a success.
func (b *breaker) close() {
	if b.pause.Load() != 0 {
		b.pause.Store(0)
		b.until.Store(0)
	}
}
