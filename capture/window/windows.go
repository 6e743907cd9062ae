package window

import (
	"context"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
)

// Options configure Windows. The zero value is the default.
type Options struct {
	// Window and Period: values are looked at during Window (2 s) in every Period (40 s).
	Window, Period time.Duration
	// Warm is how many exchanges are looked at without a break first, so that small traffic is learnt soon (20,000).
	Warm int
	// Budget is how many exchanges a window looks at (20,000). The first windows (Warm) and extra ones have none.
	Budget int
	// Queue is how many exchanges may wait to be decoded (4,096).
	Queue int
	// Off keeps every window closed, until Switch.
	Off bool
	// Never lists the columns that are not to be looked at, LiteralsAllowed those whose frequent values may be shown:
	// "keyspace.table.column", "keyspace.table", "keyspace.*".
	Never, LiteralsAllowed []string
	// Schema is what is known of the tables, which tells the types of values that come with a text that was not prepared. It may return nil;
	// nil: such values are not looked at.
	Schema func() *schema.Schema
	// Rotation is how long a hash key is used (24 h), Retention how long what was found is kept after it was seen last (30 days).
	Rotation, Retention time.Duration
	// Secret makes the keys of an epoch the same in all processes that share it; "": random ones.
	Secret string
	// Place names the process among those that see the same cluster ("": host and process id): it decides where in their periods its
	// windows lie, so that many proxies do not open theirs at once.
	Place string
	// Seed, if not 0, takes the place of the random hash key and makes a run repeatable. For tests.
	Seed uint64
	// Now is the clock (time.Now) that epochs go by, and Started the moment from which Exchange.Start counts.
	Now     func() time.Time
	Started time.Time
	// Ticks drives the windows. nil: a ticker of a quarter of Window.
	Ticks <-chan time.Time
}

func (o *Options) complete() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Window, 2 * time.Second}, {&o.Period, 40 * time.Second}, {&o.Rotation, 24 * time.Hour}, {&o.Retention, 30 * 24 * time.Hour}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, n := range []struct {
		field *int
		value int
	}{{&o.Warm, 20_000}, {&o.Budget, 20_000}, {&o.Queue, 4_096}} {
		if *n.field <= 0 {
			*n.field = n.value
		}
	}
	if o.Place == "" && o.Seed == 0 {
		host, _ := os.Hostname() // the process id alone will do
		o.Place = fmt.Sprintf("%s %d", host, os.Getpid())
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Started.IsZero() {
		o.Started = o.Now()
	}
}

// Windows looks at values. Sampling and Observe are for the data path; the rest may take its time.
type Windows struct {
	options  Options
	schedule schedule
	ring     *ring

	stop     chan struct{}
	stopped  chan struct{}
	stopOnce sync.Once
	end      context.CancelFunc // of the waiting for another try

	mu      sync.Mutex // guards the rest
	decoder decoder
	source  uint64    // names this process in documents
	keyed   time.Time // when the key was made
	feeds   *feed.Miner
	book    *profile.Book
	bursts  *burst.Miner
	former  Findings // of former keys
	record  *recording
	shared  *sharing // nil: this process looks for itself alone
}

// New starts looking. Close ends it.
func New(o Options) *Windows {
	o.complete()
	w := &Windows{
		options: o, source: o.Seed, ring: newRing(o.Queue), stop: make(chan struct{}), stopped: make(chan struct{}),
		schedule: schedule{window: o.Window, period: o.Period, warm: o.Warm, budget: o.Budget, due: true, started: o.Now(), begun: o.Now()},
	}
	if w.source == 0 {
		w.source = rand.Uint64()
	}
	w.schedule.offset = offset(o.Place, o.Period)
	w.schedule.off.Store(o.Off)
	w.schedule.limit.Store(math.MaxInt64)
	w.schedule.settle()
	w.rotate(o.Now())
	life, end := context.WithCancel(context.Background())
	w.end = end
	guard.Go(guard.Windows, func() {
		defer close(w.stopped)
		guard.Loop(life, guard.Windows, guard.Clock{}, func(context.Context) { w.run() }, nil)
	}, nil)
	return w
}

// offset is a place in a period; 0 for none.
func offset(place string, period time.Duration) time.Duration {
	if place == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(place))
	return time.Duration(binary.LittleEndian.Uint64(sum[:8]) % uint64(period)) //nolint:gosec // less than period
}

// Close ends the goroutine that decodes. What was found may still be asked for.
func (w *Windows) Close() {
	w.stopOnce.Do(func() { close(w.stop); w.end() })
	<-w.stopped
}

// Open tells whether a window is open: one atomic load.
func (w *Windows) Open() bool { return w.schedule.open.Load() }

// Extra opens a window because something is being said that was not said before.
func (w *Windows) Extra(now time.Time) { w.schedule.extra(now) }

// Switch is the kill switch. Off closes the window, throws away what waits, and forgets everything that was hashed, with its
// key; what was found stays. It returns whether that changes anything.
func (w *Windows) Switch(on bool) (changed bool) {
	changed = w.schedule.turn(!on)
	if !on {
		w.mu.Lock()
		defer w.mu.Unlock()
		for {
			select {
			case s := <-w.ring.full:
				w.ring.give(s)
				continue
			default:
			}
			break
		}
		w.rotate(w.options.Now())
	}
	return changed
}

// On tells whether values are looked at at all.
func (w *Windows) On() bool { return !w.schedule.off.Load() }

// Observe takes in a finished exchange that carries values. It copies what it needs, does not block, and drops the exchange
// if there is no room.
func (w *Windows) Observe(x *proxy.Exchange, st *trace.Statement) {
	if st != nil && len(st.Variables)+len(st.Results) > 0 {
		w.observe(x, st, "", "")
	}
}

// ObserveText is Observe for a statement that was not prepared: its values stand in its text. st says what is known of it, but
// for variables and columns.
func (w *Windows) ObserveText(x *proxy.Exchange, st *trace.Statement, keyspace, text string) {
	if len(text) <= maxSample {
		w.observe(x, st, keyspace, text)
	}
}

func (w *Windows) observe(x *proxy.Exchange, st *trace.Statement, keyspace, text string) {
	if x.Client == nil || w.schedule.off.Load() {
		return
	}
	if !w.ring.put(x, st, keyspace, text) {
		w.schedule.pause(true)
		return
	}
	w.schedule.take()
}

func (w *Windows) run() {
	ticks := w.options.Ticks
	if ticks == nil {
		t := time.NewTicker(w.options.Window / 4)
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-w.stop:
			return
		case now := <-ticks:
			w.tick(now)
		case <-w.ring.wake:
			for w.some() {
				if w.schedule.paused.Load() && w.ring.relieved() {
					w.schedule.pause(false)
				}
			}
			w.schedule.pause(false)
		}
	}
}

// some takes in a few samples, so that who else needs the lock has not long to wait; false if there are none.
func (w *Windows) some() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range 64 {
		select {
		case s := <-w.ring.full:
			w.ingest(s)
		default:
			return false
		}
	}
	return true
}

func (w *Windows) tick(now time.Time) {
	closed := w.schedule.tick(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if closed {
		w.schedule.adapt(w.feeds.Wanting() > 0)
	}
	if w.expired(now) {
		w.rotate(now)
	}
}

// expired tells whether it is time for another key.
func (w *Windows) expired(now time.Time) bool {
	if w.options.Secret == "" {
		return now.Sub(w.keyed) >= w.options.Rotation || now.Before(w.keyed) // a clock may have been set back
	}
	return w.epoch(now) != w.epoch(w.keyed)
}

func (w *Windows) epoch(t time.Time) int64 {
	return w.common(t).UnixNano() / int64(w.options.Rotation)
}

// rotate takes a new key, and forgets all that was hashed under the old one; what was found stays. w.mu is held.
func (w *Windows) rotate(now time.Time) {
	if w.feeds != nil {
		w.former = w.findings(now)
		w.former.Profiles = w.former.Profiles.Derived()
	}
	var key [32]byte
	switch {
	case w.options.Seed != 0:
		binary.LittleEndian.PutUint64(key[:], w.options.Seed)
	case w.options.Secret != "":
		m := hmac.New(sha256.New, []byte(w.options.Secret))
		_, _ = m.Write(binary.BigEndian.AppendUint64([]byte("helenus epoch "), uint64(w.epoch(now)))) // hash writers do not fail
		copy(key[:], m.Sum(nil))
	default:
		_, _ = crand.Read(key[:]) // never fails, by its documentation
	}
	w.keyed = now
	w.decoder = decoder{never: newColumns(w.options.Never), schema: w.options.Schema, known: map[string]*known{}, refused: w.decoder.refused}
	w.decoder.hash = value.Hasher{K0: binary.LittleEndian.Uint64(key[:]), K1: binary.LittleEndian.Uint64(key[8:])}
	var duplicates uint64
	if w.feeds != nil {
		duplicates = w.feeds.Statistics().Duplicates
	}
	w.feeds = feed.New(feed.Options{Seed: binary.LittleEndian.Uint64(key[16:]) | 1, Duplicates: duplicates})
	w.bursts = burst.New(binary.LittleEndian.Uint64(key[24:]) | 1)
	began := now
	if w.options.Secret != "" {
		began = time.Unix(0, w.epoch(now)*int64(w.options.Rotation))
	}
	id := w.decoder.hash.Of(value.Text, []byte("helenus epoch")).Hash // names the key without telling it
	w.rekeyShared(id)
	w.book = profile.New(profile.Options{Epoch: id, Source: w.source, Began: began, Started: w.options.Started, Literals: w.options.LiteralsAllowed})
}

// ingest decodes a sample, gives it back, and hands on what it held.
func (w *Windows) ingest(s *sample) {
	if w.schedule.off.Load() { // it was being copied when that was switched off
		w.ring.give(s)
		return
	}
	if s.text != "" && !w.decoder.read(s) {
		w.ring.give(s)
		return
	}
	e := w.decoder.decode(s)
	if e != nil && w.book.WantsLiterals(e.Statement) {
		w.literals(s, e)
	}
	w.ring.give(s)
	if e == nil {
		return
	}
	w.learn(e)
	w.record.add(e)
	w.shared.add(e)
}

func (w *Windows) learn(e *trace.Execution) {
	w.feeds.Add(e)
	w.book.Add(e)
	w.bursts.Add(e)
}

// catchUp takes in what waits. w.mu is held.
func (w *Windows) catchUp() {
	for {
		select {
		case s := <-w.ring.full:
			w.ingest(s)
		default:
			return
		}
	}
}

// Findings are everything that was learnt from values. They are not changed once made.
type Findings struct {
	Feeds  []feed.Feed
	Echoes []feed.Feed // checks and read-modify-writes
	Bursts []burst.Pair
	// Templates are sets of writes that go together, put together from Bursts.
	Templates []burst.Template
	Profiles  *profile.Document
}

// Feeds takes in what waits and returns the feeds found so far, sorted. It takes time in proportion to the observations
// of the variables that were bound since it was asked last (milliseconds to a few tenths of a second); new exchanges wait so long.
func (w *Windows) Feeds() []feed.Feed { return w.Findings().Feeds }

// Findings takes in what waits and returns everything that was found.
func (w *Windows) Findings() Findings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.findings(w.options.Now())
}

// findings is Findings under the lock.
func (w *Windows) findings(now time.Time) Findings {
	w.catchUp()
	feeds, echoes := w.feeds.Find()
	for _, list := range [...][]feed.Feed{feeds, echoes} {
		for i := range list {
			list[i].Last = w.options.Started.Add(time.Duration(list[i].LastAt)).UTC()
		}
	}
	oldest := now.Add(-w.options.Retention)
	all := w.former.Merge(Findings{Feeds: feeds, Echoes: echoes, Bursts: w.bursts.Pairs(), Templates: w.bursts.Templates(), Profiles: w.book.Document()})
	all.Feeds, all.Echoes, all.Profiles = feed.Since(all.Feeds, oldest), feed.Since(all.Echoes, oldest), all.Profiles.Since(oldest)
	return all
}

// Merge returns what both have found: of two findings of one thing that which is newer, or rests on more. So any number may be merged, in any order.
func (f Findings) Merge(o Findings) Findings {
	return Findings{
		Feeds: feed.Merge(f.Feeds, o.Feeds), Echoes: feed.Merge(f.Echoes, o.Echoes), Bursts: burst.Merge(f.Bursts, o.Bursts),
		Templates: burst.MergeTemplates(f.Templates, o.Templates), Profiles: f.Profiles.Merge(o.Profiles),
	}
}

// Statistics counts what was done since the start.
type Statistics struct {
	On         bool   `json:"on"`         // values are looked at at all
	Open       bool   `json:"open"`       // now
	Observed   uint64 `json:"observed"`   // exchanges taken in
	Dropped    uint64 `json:"dropped"`    // exchanges thrown away for want of room
	Duplicates uint64 `json:"duplicates"` // retries and speculative executions left out
	Parameters int    `json:"parameters"` // bind variables with observations
	Columns    int    `json:"columns"`    // with profiles
}

// Statistics returns the counters.
func (w *Windows) Statistics() Statistics {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Statistics()
	return Statistics{
		On: w.On(), Open: w.Open(), Observed: w.schedule.observed.Load(),
		Dropped:    w.ring.dropped.Load() + f.Dropped + w.decoder.refused,
		Duplicates: f.Duplicates, Parameters: f.Parameters, Columns: w.book.Columns(),
	}
}
