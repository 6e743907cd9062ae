package capture

import (
	"cmp"
	"encoding/binary"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/heavy"
	"github.com/helenus-db/helenus/capture/slow"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
)

// Options configure a Registry. The zero value is the default.
type Options struct {
	Fingerprints int              // statements told apart; the rest are counted together (10,000)
	Memory       int64            // that the registry may take, bytes (256 MiB)
	Texts        int              // texts whose fingerprint is remembered (65,536)
	Windows      window.Options   // when values are looked at, and which
	Now          func() time.Time // the clock (time.Now)
	Started      time.Time        // the moment from which Exchange.Start counts (Now when the registry is made)
	Slow         time.Duration    // requests that take as long are logged (0: none)
	Log          *slog.Logger     // of slow requests; needed if Slow is not 0
	Traced       func(Traced)     // told of requests that are part of an application's trace; it does not block. May be nil
}

// otherName and unknownName are the fingerprints and kinds of the two records that count what has none of its own.
const (
	otherName   = "other"
	unknownName = "unknown"
)

// maxText is the length in bytes beyond which a statement is not parsed but counted as other: no statement worth
// learning from is that long.
const maxText = 1 << 20

// maxChildren is how many different children of a BATCH make its fingerprint; any further ones are left out of it.
const maxChildren = 64

// Registry knows all statements. It implements proxy.Recorder and prometheus.Collector.
type Registry struct {
	options Options
	now     func() time.Time
	started time.Time
	stripes int
	windows *window.Windows
	flows   atomic.Pointer[[]feed.Feed] // of the latest snapshot
	texts   *cache
	other   *record // statements that have no record of their own
	unknown *record // requests of which it is not known what they say
	callers callerNumbers
	repeats repeats
	sketch  *heavy.Sketch

	slow      *slow.Log // nil if nothing is slow
	slowAfter int64     // nanoseconds

	// snapshotting is held while a snapshot is made and while records are forgotten, so that a snapshot has no number twice. It is
	// locked before mu.
	snapshotting   sync.Mutex
	lastStatements []Statement // those of the latest snapshot: what was not executed since looks the same again
	sorted         []*record   // by fingerprint
	aged           []int       // places in sorted, by age
	arranged       [2]uint64   // births, and forgotten, when they were sorted

	mu      sync.RWMutex
	records map[cql.Print]*record
	births  uint64
	floor   float64   // weight up to which a stranger stays one
	faded   time.Time // until when weights have faded

	budget    int64        // of all records, bytes
	used      atomic.Int64 // by them
	shrinking atomic.Bool
	work      sync.WaitGroup
	tracing   atomic.Int64 // how many wait for values (trace.go)

	parsed    atomic.Uint64 // texts that were parsed, for want of a cache entry
	forgotten atomic.Uint64 // records
}

var _ proxy.Recorder = (*Registry)(nil)

// Defaults fills in what was left zero, but for what is made when the registry is.
func (o Options) Defaults() Options {
	if o.Fingerprints <= 0 {
		o.Fingerprints = 10_000
	}
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	if o.Texts <= 0 {
		o.Texts = 65_536
	}
	return o
}

// New makes an empty registry and starts its miner. Close ends it.
func New(o Options) *Registry {
	o = o.Defaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Started.IsZero() {
		o.Started = o.Now()
	}
	o.Windows.Now, o.Windows.Started = o.Now, o.Started
	r := &Registry{
		options: o, now: o.Now, started: o.Started, faded: o.Started,
		stripes: min(runtime.GOMAXPROCS(0), stripes),
		windows: window.New(o.Windows),
		texts:   newCache(o.Texts),
		sketch:  heavy.New(),
		records: map[cql.Print]*record{},
		budget:  o.Memory / 2,
	}
	r.callers.init()
	aside := func(name string) *record {
		return r.newRecord(cql.Print{}, &description{fingerprint: name, kind: cql.KindOther})
	}
	r.other, r.unknown = aside(otherName), aside(unknownName)
	if o.Slow > 0 {
		r.slow, r.slowAfter = slow.New(o.Log), int64(o.Slow)
	}
	return r
}

// Close ends the miner and the log of slow requests. The counters go on working.
func (r *Registry) Close() {
	r.windows.Close()
	if r.slow != nil {
		r.slow.Close()
	}
	r.work.Wait()
}

// Sampling reports whether a value window is open, or somebody waits for an execution to trace.
func (r *Registry) Sampling(*proxy.Client) bool { return r.windows.Open() || r.tracing.Load() > 0 }

// Mark tells callers apart.
func (r *Registry) Mark(c *proxy.Client) uint64 { return r.callers.markOf(c) }

// Unknown returns the record of requests of which it is not known what they say.
func (r *Registry) Unknown() proxy.Record { return r.unknown }

// Statement returns the record of a text. A text that was seen lately costs two hashes of it and a look into a map; one that
// differs from such a text in its values alone costs the lexer besides; any other is parsed.
func (r *Registry) Statement(keyspace, text string) proxy.Record {
	k := r.texts.textKey(keyspace, text)
	x := r.texts.get(k)
	if x == nil || !r.stillCounts(x) {
		x = r.findByShape(keyspace, text)
		r.texts.put(k, x)
	}
	return r.withText(x, keyspace, text)
}

// maxShaped is the length of the longest text of which the shape is looked for, bytes: longer ones are mostly lists, of which no two are of
// one length.
const maxShaped = 1 << 10

// findByShape returns the record of a text that was not seen lately, from another of its shape if there was one.
func (r *Registry) findByShape(keyspace, text string) *record {
	if len(text) > maxShaped {
		x, _ := r.findByParsing(keyspace, text, nil)
		return x
	}
	var room [2 * maxShaped]byte // a symbol of one byte takes two
	shape, ok := cql.AppendShape(room[:0], text)
	k := r.texts.shapeKey(keyspace, shape)
	if ok {
		if x := r.texts.get(k); x != nil && r.stillCounts(x) {
			return x
		}
	}
	x, parsed := r.findByParsing(keyspace, text, nil)
	if ok && parsed {
		r.texts.put(k, x)
	}
	return x
}

// maxParts is how many children of a BATCH its record names.
const maxParts = 4

// Batch returns the record of a BATCH. Its fingerprint is that of the different children in the order of their first
// appearance, so that a batch of a thousand equal inserts is one statement. One with a child that has no record, or is not
// known, is counted as other.
func (r *Registry) Batch(kind byte, children []proxy.Record) proxy.Record {
	var list [maxChildren]*record
	n := 0
next:
	for _, child := range children {
		c := recordOf(child)
		if c == nil {
			continue
		}
		if heir := c.heir.Load(); c.gone.Load() && heir != nil {
			c = heir
		}
		if c.gone.Load() || c.isCatchAll() {
			return r.other
		}
		for _, before := range list[:n] {
			if before == c {
				continue next
			}
		}
		if n == maxChildren {
			break
		}
		list[n] = c
		n++
	}
	k := r.texts.batchKey(kind, list[:n])
	if x := r.texts.get(k); x != nil && r.stillCounts(x) {
		return x
	}
	var text strings.Builder
	text.WriteString("BEGIN ")
	switch kind {
	case 1:
		text.WriteString("UNLOGGED ")
	case 2:
		text.WriteString("COUNTER ")
	}
	text.WriteString("BATCH ")
	safe := true
	var parts []string
	for _, c := range list[:n] {
		a := c.description.Load()
		text.WriteString(a.text)
		text.WriteString("; ")
		safe = safe && a.shown == a.text
		if len(parts) < maxParts {
			parts = append(parts, a.fingerprint)
		}
	}
	text.WriteString("APPLY BATCH")
	x, _ := r.findByParsing("", text.String(), func(made *description) {
		if made.parts = parts; !safe {
			made.shown = ""
		}
	})
	r.texts.put(k, x)
	return x
}

// findByParsing parses a text and returns its record, a new one, which complete may amend, if there is room; and whether it parses.
func (r *Registry) findByParsing(keyspace, text string, complete func(*description)) (x *record, parsed bool) {
	if len(text) > maxText {
		return r.other, false
	}
	r.parsed.Add(1)
	print, normalised, statement, err := cql.FingerprintText(text, keyspace)
	if err != nil {
		statement = nil
	}
	r.mu.RLock()
	x = r.records[print]
	r.mu.RUnlock()
	if x == nil {
		x = r.admitRecord(print, keyspace, normalised, statement, complete)
	}
	return x, err == nil
}

// Snapshot returns a snapshot of everything counted since the registry was made, feeds included. It takes
// milliseconds; counting goes on meanwhile, so two counters of it may be an instant apart.
func (r *Registry) Snapshot() *Snapshot {
	out := r.Counts()
	r.addFindings(out)
	return out
}

// Counts is Snapshot without feeds.
func (r *Registry) Counts() *Snapshot {
	r.snapshotting.Lock()
	defer r.snapshotting.Unlock()
	r.sortRecords()
	list, names := r.sorted, r.callers.allCallers()
	out := &Snapshot{From: r.started.UTC(), To: r.now().UTC(), Statements: make([]Statement, len(list))}
	out.Watched = max(0, out.To.Sub(out.From))
	paint := func() *snapshotter { return &snapshotter{registry: r, callers: names, before: r.lastStatements} }
	// What takes the time is to fetch tens of megabytes of counters into the processor, so several fetch, and in the order in which
	// records were made, for then their counters lie side by side.
	part := (len(list) + r.stripes - 1) / r.stripes
	var work guard.Group
	for from := 0; from < len(list); from += part {
		to := min(from+part, len(list))
		work.Go(guard.Recorder, func() {
			p := paint()
			for at := from; at < to; at += wave {
				some := r.aged[at:min(at+wave, to)]
				p.prefetch(list, some, out.Statements)
				for _, i := range some {
					p.snapshotRecord(list[i], &out.Statements[i])
				}
			}
		})
	}
	work.Wait()
	n := 0
	for i := range out.Statements {
		if out.Statements[i].Count == 0 {
			continue
		}
		if n != i {
			out.Statements[n] = out.Statements[i]
		}
		n++
		list[i].place = n
	}
	clear(out.Statements[n:])
	out.Statements = out.Statements[:n]
	r.lastStatements = out.Statements
	p := paint()
	p.snapshotRecord(r.other, &out.Other)
	p.snapshotRecord(r.unknown, &out.Unknown)
	return out
}

// sortRecords sorts the records, if there are others than there were. snapshotting is held.
func (r *Registry) sortRecords() {
	type named struct {
		high, low uint64 // of the fingerprint
		*record
	}
	r.mu.RLock()
	if r.births == r.arranged[0] && r.forgotten.Load() == r.arranged[1] {
		r.mu.RUnlock()
		return
	}
	r.arranged = [2]uint64{r.births, r.forgotten.Load()}
	all := make([]named, 0, len(r.records))
	for print, x := range r.records {
		all = append(all, named{binary.BigEndian.Uint64(print[:8]), binary.BigEndian.Uint64(print[8:]), x})
	}
	r.mu.RUnlock()
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low)) })
	r.sorted, r.aged = make([]*record, len(all)), make([]int, len(all))
	for i := range all {
		r.sorted[i], r.aged[i] = all[i].record, i
	}
	slices.SortFunc(r.aged, func(a, b int) int { return cmp.Compare(r.sorted[a].born, r.sorted[b].born) })
}

// Memory is how much memory the records take, bytes, and how much they may.
func (r *Registry) Memory() (used, most int64) { return r.used.Load(), r.budget }
