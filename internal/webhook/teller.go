package webhook

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
)

// Options say whom a Teller tells what.
type Options struct {
	URLs, Slack []string // addresses, by format
	Secret      string   // signs what is sent; "": it is not signed
	Events      []string // kinds that are told; none: all
	Timeout     time.Duration
	Console     string // where the console is, for links; "": there are none
	Agent       string // User-Agent
	// Describe completes what is known of a change, before it is told of. It may block, within ctx; nil: nothing is added.
	Describe func(ctx context.Context, c *Change)
	Log      *slog.Logger
	Clock    guard.Clock // zero: the machine's
}

// Bounds of what waits, and of trying.
const (
	waiting   = 64              // events for an address
	lastWords = 2 * time.Second // for what waits still at the end
)

// pauses are before the attempts after the first; after the last the event is given up.
var pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}

// Teller tells. Its methods that take events return at once, and may be called while locks are held. It is a prometheus.Collector.
type Teller struct {
	o       Options
	targets []*target
	counts  counts
}

// target is one address.
type target struct {
	format Format
	url    string
	client *http.Client

	mu    sync.Mutex // orders puts
	queue chan delivery
}

// delivery is an event on its way to one address.
type delivery struct {
	id    string
	event Event
}

// New returns a Teller. Without addresses it does nothing.
func New(o Options) *Teller {
	if o.Clock.Now == nil {
		o.Clock.Now = time.Now
	}
	if o.Clock.After == nil {
		o.Clock.After = time.After
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	t := &Teller{o: o, counts: newCounts()}
	for _, one := range o.URLs {
		t.targets = append(t.targets, newTarget(JSON, one))
	}
	for _, one := range o.Slack {
		t.targets = append(t.targets, newTarget(Slack, one))
	}
	return t
}

func newTarget(f Format, url string) *target {
	return &target{format: f, url: url, client: newClient(), queue: make(chan delivery, waiting)}
}

// Decided is told of new lines of the audit trail.
func (t *Teller) Decided(entries []store.Entry) {
	for i := range entries {
		if e, ok := of(&entries[i]); ok {
			t.tell(e)
		}
	}
}

// Advised is told of advice that is new.
func (t *Teller) Advised(at time.Time, all []Change) {
	for i := range all {
		t.tell(Event{Kind: "advice.new", Time: at, Change: &all[i]})
	}
}

// StateLost is told that the state was lost.
func (t *Teller) StateLost() { t.tell(Event{Kind: "state.lost", Time: t.o.Clock.Now()}) }

// tell puts an event into all queues.
func (t *Teller) tell(e Event) {
	if len(t.targets) == 0 || len(t.o.Events) > 0 && !slices.Contains(t.o.Events, e.Kind) {
		return
	}
	if e.Time.IsZero() {
		e.Time = t.o.Clock.Now()
	}
	t.counts.events.WithLabelValues(e.Kind).Inc()
	d := delivery{rand.Text(), e}
	for _, to := range t.targets {
		t.put(to, d)
	}
}

// put adds to a queue. The oldest goes if it is full: what happened last matters most.
func (t *Teller) put(to *target, d delivery) {
	to.mu.Lock()
	defer to.mu.Unlock()
	for {
		select {
		case to.queue <- d:
			return
		default:
		}
		select {
		case old := <-to.queue:
			t.done(to, old, dropped)
		default: // it has just been taken
		}
	}
}

// Run sends until ctx ends; then it tries once more what waits.
func (t *Teller) Run(ctx context.Context) {
	var work sync.WaitGroup
	for _, to := range t.targets {
		guard.In(&work, guard.Webhooks, func() {
			guard.Loop(ctx, guard.Webhooks, t.o.Clock, func(ctx context.Context) { t.serve(ctx, to) }, nil)
		})
	}
	work.Wait()
}

func (t *Teller) serve(ctx context.Context, to *target) {
	// What is under way when ctx ends is not cut off at once: the receiver may have it already.
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cut) })()
	for {
		select {
		case <-ctx.Done():
			t.finish(sending, to)
			return
		case d := <-to.queue:
			if !t.deliver(ctx, sending, to, d) {
				t.finish(sending, to, d)
				return
			}
		}
	}
}

// finish is the end: what waits is sent once, until sending ends.
func (t *Teller) finish(sending context.Context, to *target, left ...delivery) {
	for {
		for _, d := range left {
			if result, _ := t.attempt(sending, to, d); result == delivered {
				t.done(to, d, delivered)
			} else {
				t.done(to, d, dropped)
			}
		}
		select {
		case d := <-to.queue:
			left = []delivery{d}
		default:
			return
		}
	}
}

// deliver sends an event, again after a pause if that may help. It is false if ctx ended before.
func (t *Teller) deliver(ctx, sending context.Context, to *target, d delivery) bool {
	if t.o.Describe != nil && d.event.Change != nil {
		own := *d.event.Change
		asking, cancel := context.WithTimeout(ctx, t.o.Timeout)
		t.o.Describe(asking, &own)
		cancel()
		d.event.Change = &own
	}
	for _, pause := range append(slices.Clone(pauses), 0) {
		result, wish := t.attempt(sending, to, d)
		if result != retried {
			t.done(to, d, result)
			return true
		}
		if pause == 0 {
			break
		}
		t.counts.deliveries.WithLabelValues(string(to.format), string(retried)).Inc()
		select {
		case <-ctx.Done():
			return false
		case <-t.o.Clock.After(min(max(pause, wish), pauses[len(pauses)-1])):
		}
	}
	t.done(to, d, exhausted)
	return true
}
