package capture

import (
	"hash/maphash"
	"log/slog"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/slow"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// Options configure a Registry. The zero value is the default.
type Options struct {
	Fingerprints int              // statements told apart; the rest are counted together (10,000)
	Texts        int              // texts whose fingerprint is remembered (65,536)
	Windows      window.Options   // when values are looked at, and which
	Now          func() time.Time // the clock (time.Now)
	Started      time.Time        // the moment from which Exchange.Start counts (Now when the registry is made)
	Slow         time.Duration    // requests that take as long are logged (0: none)
	Log          *slog.Logger     // of slow requests; needed if Slow is not 0
}

// otherName is the fingerprint and kind of the record of all statements that found no room.
const otherName = "other"

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
	other   *record

	slow      *slow.Log // nil if nothing is slow
	slowAfter int64     // nanoseconds

	mu      sync.RWMutex
	records map[cql.Print]*record

	parsed atomic.Uint64 // texts that were parsed, for want of a cache entry
}

var _ proxy.Recorder = (*Registry)(nil)

// New makes an empty registry and starts its miner. Close ends it.
func New(o Options) *Registry {
	if o.Fingerprints <= 0 {
		o.Fingerprints = 10_000
	}
	if o.Texts <= 0 {
		o.Texts = 65_536
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Started.IsZero() {
		o.Started = o.Now()
	}
	o.Windows.Now, o.Windows.Started = o.Now, o.Started
	r := &Registry{
		options: o, now: o.Now, started: o.Started,
		stripes: min(runtime.GOMAXPROCS(0), stripes),
		windows: window.New(o.Windows),
		texts:   newCache(o.Texts),
		records: map[cql.Print]*record{},
	}
	r.other = r.record(cql.Print{}, "", otherName, nil)
	r.other.fingerprint = otherName
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
}

// Sampling tells whether a value window is open.
func (r *Registry) Sampling(*proxy.Client) bool { return r.windows.Open() }

// Statement returns the record of a text. A text that was seen lately costs two hashes of it and a look into a map; else it
// is parsed.
func (r *Registry) Statement(keyspace, text string) proxy.Record {
	k := r.texts.key(keyspace, text)
	if x := r.texts.get(k); x != nil {
		return r.withText(x, keyspace, text)
	}
	x := r.find(keyspace, text, nil)
	r.texts.put(k, x)
	return r.withText(x, keyspace, text)
}

// maxParts is how many children of a BATCH its record names.
const maxParts = 4

// Batch returns the record of a BATCH. Its fingerprint is that of the different children in the order of their first
// appearance, so that a batch of a thousand equal inserts is one statement.
func (r *Registry) Batch(kind byte, children []proxy.Record) proxy.Record {
	var list [maxChildren]*record
	n := 0
next:
	for _, child := range children {
		c := recordOf(child)
		if c == nil {
			continue
		}
		if c == r.other {
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
	if x := r.texts.get(k); x != nil {
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
		text.WriteString(c.text)
		text.WriteString("; ")
		safe = safe && c.shown == c.text
		if len(parts) < maxParts {
			parts = append(parts, c.fingerprint)
		}
	}
	text.WriteString("APPLY BATCH")
	x := r.find("", text.String(), func(made *record) {
		if made.parts = parts; !safe {
			made.shown = ""
		}
	})
	r.texts.put(k, x)
	return x
}

// find parses a text and returns its record, a new one, which complete may amend, if there is room.
func (r *Registry) find(keyspace, text string, complete func(*record)) *record {
	if len(text) > maxText {
		return r.other
	}
	r.parsed.Add(1)
	print, normalised, statement, err := cql.FingerprintText(text, keyspace)
	if err != nil {
		statement = nil
	}
	r.mu.RLock()
	x := r.records[print]
	r.mu.RUnlock()
	if x != nil {
		return x
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[print]; x != nil {
		return x
	}
	if len(r.records) >= r.options.Fingerprints {
		return r.other
	}
	x = r.record(print, keyspace, normalised, statement)
	if complete != nil {
		complete(x)
	}
	r.records[print] = x
	return x
}

// record makes the record of a statement, nil if it could not be parsed.
func (r *Registry) record(print cql.Print, keyspace, text string, statement cql.Statement) *record {
	x := &record{
		registry: r, print: print, fingerprint: print.String(), keyspace: keyspace, text: text,
		kind: cql.KindOther, first: r.now().UnixNano(),
	}
	if statement == nil {
		return x
	}
	x.shown = shown(statement, text)
	x.kind = statement.Kind()
	x.conditional = cql.Conditional(statement)
	if t, ok := table(statement); ok {
		t = t.In(keyspace)
		x.keyspace, x.table = t.Keyspace, t.Table
	}
	x.ranges, x.restricted = rangesOf(statement), restrictions(statement)
	return x
}

// table returns the one table that a statement is about.
func table(st cql.Statement) (cql.TableRef, bool) {
	switch s := st.(type) {
	case *cql.Select:
		return s.Table, true
	case *cql.Insert:
		return s.Table, true
	case *cql.Update:
		return s.Table, true
	case *cql.Delete:
		return s.Table, true
	case *cql.Batch:
		var one cql.TableRef
		for i, child := range s.Statements {
			t, ok := table(child)
			if !ok || i > 0 && t != one {
				return cql.TableRef{}, false
			}
			one = t
		}
		return one, len(s.Statements) > 0
	}
	if tables := cql.Tables(st); len(tables) > 0 {
		return tables[0], true
	}
	return cql.TableRef{}, false
}

// rangesOf returns a function that tells which bind variables of a SELECT are compared by order; nil if none is. The
// variables are known only once the statement is prepared.
func rangesOf(st cql.Statement) func([]proxy.Column) []bool {
	s, ok := st.(*cql.Select)
	if !ok {
		return nil
	}
	ranged := map[string]bool{}
	for _, w := range s.Where {
		switch w.Op {
		case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE:
			if !w.Token {
				for _, c := range w.Columns {
					ranged[c] = true
				}
			}
		}
	}
	if len(ranged) == 0 {
		return nil
	}
	return func(variables []proxy.Column) []bool {
		out := make([]bool, len(variables))
		for i, v := range variables {
			out[i] = ranged[v.Name]
		}
		return out
	}
}

// Snapshot returns a picture of everything counted since the registry was made, feeds included. It takes
// milliseconds; counting goes on meanwhile, so two counters of it may be an instant apart.
func (r *Registry) Snapshot() *Snapshot {
	out := r.counts()
	r.found(out)
	return out
}

// counts is Snapshot without feeds.
func (r *Registry) counts() *Snapshot {
	out := &Snapshot{From: r.started.UTC(), To: r.now().UTC(), Statements: []Statement{}}
	for _, x := range r.list() {
		if s, ok := x.snapshot(); ok {
			out.Statements = append(out.Statements, s)
		}
	}
	if s, ok := r.other.snapshot(); ok {
		out.Other = s.Count
	}
	sort.Slice(out.Statements, func(i, j int) bool { return out.Statements[i].Fingerprint < out.Statements[j].Fingerprint })
	return out
}

func (r *Registry) list() []*record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]*record, 0, len(r.records))
	for _, x := range r.records {
		out = append(out, x)
	}
	return out
}

// cache remembers the records of texts by a hash of 128 bits under keys of this process, so that no text is kept and nobody can
// make two texts meet. It is cut into shards; a shard keeps two generations, and forgets the old one when the young one
// is full.
type cache struct {
	a, b   maphash.Seed
	size   int // entries per generation and shard
	shards [cacheShards]shard
}

const cacheShards = 16

type cacheKey struct{ a, b uint64 }

type shard struct {
	mu         sync.RWMutex
	young, old map[cacheKey]*record
	_          [64]byte // keep neighbours off this cache line
}

func newCache(entries int) *cache {
	c := &cache{a: maphash.MakeSeed(), b: maphash.MakeSeed(), size: max(entries/cacheShards/2, 1)}
	for i := range c.shards {
		c.shards[i].young, c.shards[i].old = map[cacheKey]*record{}, map[cacheKey]*record{}
	}
	return c
}

func (c *cache) key(keyspace, text string) cacheKey {
	return cacheKey{
		maphash.String(c.a, keyspace)*31 + maphash.String(c.a, text),
		maphash.String(c.b, keyspace)*31 + maphash.String(c.b, text),
	}
}

func (c *cache) batchKey(kind byte, children []*record) cacheKey {
	var k cacheKey
	for i, seed := range [...]maphash.Seed{c.a, c.b} {
		var h maphash.Hash
		h.SetSeed(seed)
		_, _ = h.WriteString("batch") // hash writers do not fail
		_ = h.WriteByte(kind)
		for _, x := range children {
			_, _ = h.Write(x.print[:])
		}
		if i == 0 {
			k.a = h.Sum64()
		} else {
			k.b = h.Sum64()
		}
	}
	return k
}

func (c *cache) get(k cacheKey) *record {
	s := &c.shards[k.a%cacheShards]
	s.mu.RLock()
	x := s.young[k]
	if x != nil {
		s.mu.RUnlock()
		return x
	}
	x = s.old[k]
	s.mu.RUnlock()
	if x != nil {
		c.put(k, x)
	}
	return x
}

func (c *cache) put(k cacheKey, x *record) {
	s := &c.shards[k.a%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.young) >= c.size {
		s.old, s.young = s.young, make(map[cacheKey]*record, c.size)
	}
	s.young[k] = x
}
