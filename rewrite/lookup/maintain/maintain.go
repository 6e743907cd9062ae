package maintain

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Settings of a Maintainer; zero values are replaced by the defaults named.
type Settings struct {
	Consistency gocql.Consistency // of what is read as evidence; QUORUM
	Horizon     time.Duration     // after which a write's life is over; 0: by the base's gc_grace_seconds and the life of a Paxos round, an hour more
	Margin      time.Duration     // 1 h; how much longer than its cell an entry lives
	Grace       time.Duration     // 1 h; least gc_grace_seconds at which an expired or absent value is evidence
	Hint        time.Duration     // 250 ms; longest wait for the former value of a stamped write
	Timeout     time.Duration     // 5 s; of one statement of ours
	Queue       int               // 10,000; answered writes whose garbage may wait
	Workers     int               // 4; that clean up after answered writes
	Parallel    int               // 32; statements of one write sent at a time
	Visits      int               // 100,000; entries whose age is being counted for D3, in all
	FirstID     int64             // ids of entries begin here; 0: at random, for each Maintainer anew
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	duration := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	number := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if s.Consistency == 0 {
		s.Consistency = gocql.Quorum
	}
	duration(&s.Margin, time.Hour)
	duration(&s.Grace, time.Hour)
	duration(&s.Hint, 250*time.Millisecond)
	duration(&s.Timeout, 5*time.Second)
	number(&s.Queue, 10000)
	number(&s.Workers, 4)
	number(&s.Parallel, 32)
	number(&s.Visits, 100000)
	return s
}

// Parts are what a Maintainer works with.
type Parts struct {
	Session exec.Session
	Schema  func() *schema.Schema // as it was last read, nil before; for gc_grace_seconds and replication
	Now     func() time.Time      // wall clock: only for the distance to Cassandra's limit of 2038
	Uptime  func() time.Duration  // monotonic since the process began; nil: by the runtime's clock
	Log     *slog.Logger
}

// Maintainer puts and removes entries, of all look-ups.
type Maintainer struct {
	Parts

	settings Settings
	ids      atomic.Int64
	queue    chan completion
	waiting  atomic.Int64
	counts   counts
	own      own
	owed     owed
	leftover atomic.Bool // pending rows of answered writes were left
	visits   visits
	eras     eras

	pendingLock sync.Mutex // guards the writing of pending
	pending     sync.Map   // look-up table's name -> *pendingRows
}

type counts struct {
	removed, kept, left, dropped, failed, unnoted atomic.Int64
}

// Counts are totals since the process began, but for Pending and Aging.
type Counts struct {
	Removed int64 // removals of entries that were shown to be garbage; one may be of several entries of one value and row
	Kept    int64 // entries that turned out to be right
	Left    int64 // entries left, as removing them could not be shown to be safe yet
	Dropped int64 // answered writes that found the queue full: their garbage is the sweeper's
	Failed  int64 // removals that Cassandra did not carry out: the sweeper repeats them
	Unnoted int64 // entries whose age is not counted, as too many are
	Pending int64 // answered writes in the queue now
	Aging   int64 // entries whose age is being counted now
}

// New returns a Maintainer.
func New(p Parts, settings Settings) *Maintainer {
	settings = settings.Defaults()
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Schema == nil {
		p.Schema = func() *schema.Schema { return nil }
	}
	if p.Uptime == nil {
		start := time.Now()
		p.Uptime = func() time.Duration { return time.Since(start) }
	}
	if settings.FirstID == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:])                                  // never fails
		settings.FirstID = int64(binary.BigEndian.Uint64(b[:])) // #nosec G115
	}
	m := &Maintainer{Parts: p, settings: settings, queue: make(chan completion, settings.Queue)}
	m.ids.Store(settings.FirstID)
	m.eras.under, m.eras.ended.L = map[uint64]int{}, &m.eras.mu
	m.visits.most, m.owed.most, m.eras.lost.most = settings.Visits, owedBytes, lostBytes
	return m
}

// Settings returns the settings in force.
func (m *Maintainer) Settings() Settings { return m.settings }

// Counts returns the totals.
func (m *Maintainer) Counts() Counts {
	c := &m.counts
	return Counts{c.removed.Load(), c.kept.Load(), c.left.Load(), c.dropped.Load(), c.failed.Load(), c.unnoted.Load(), m.waiting.Load(), int64(m.visits.len())}
}

// id returns a new one. The least ids are for entries that stand for a cell of the base rather than for a write (ofCell).
func (m *Maintainer) id() int64 {
	for {
		if id := m.ids.Add(1); id != ofCell {
			return id
		}
	}
}

// gave tells whether an id is one that this process has given.
func (m *Maintainer) gave(id int64) bool {
	return uint64(id-m.settings.FirstID-1) < uint64(m.ids.Load()-m.settings.FirstID) // #nosec G115 -- they go round
}

// Kinds of entry: the values of the kind column.
const (
	Stamped   int8 = 0 // at its write's own timestamp, or at that of the cell it stands for
	Unstamped int8 = 1 // at the constant unstampedAt: of a write whose timestamp Cassandra chooses
	Elsewhere int8 = 2 // at the constant unstampedAt: stands for rows whose keys have no room in the look-up (noroom.go)
)

const (
	unstampedAt = 1 // timestamp of unstamped entries
	removeAt    = 2 // at which they are removed
	ofCell      = 0 // id of entries that stand for a cell of the base: backfilled
)

// entry is one row of a look-up table: the base's row of key may hold value.
type entry struct {
	lookup *match.LookUp
	value  []byte
	key    [][]byte
	kind   int8
	id     int64
	at     int64
	ttl    int32
	again  bool // put under an id that was there before: other writes rest on it
}

func (e *entry) row(tail ...[]byte) [][]byte {
	out := make([][]byte, 0, len(e.key)+5)
	out = append(append(out, e.value), e.key...)
	return append(append(out, []byte{byte(e.kind)}, exec.FromInt64(e.id)), tail...) // #nosec G115 -- 0 to 2
}

func (m *Maintainer) put(e *entry, c gocql.Consistency) exec.Query {
	if e.ttl > 0 {
		return exec.Query{Text: e.lookup.PutTTL(), Values: e.row(exec.FromInt64(e.at), exec.FromInt32(e.ttl)), Consistency: c}
	}
	return exec.Query{Text: e.lookup.Put(), Values: e.row(exec.FromInt64(e.at)), Consistency: c}
}

// remove deletes exactly one entry.
func (m *Maintainer) remove(e *entry, at int64) exec.Query {
	return exec.Query{Text: e.lookup.Remove(), Values: append([][]byte{exec.FromInt64(at)}, e.row()...), Consistency: m.settings.Consistency}
}

// outdate deletes the stamped entries of a value and row up to a timestamp (D2).
func (m *Maintainer) outdate(l *match.LookUp, value []byte, key [][]byte, upTo int64) exec.Query {
	values := make([][]byte, 0, len(key)+3)
	values = append(append(append(values, exec.FromInt64(upTo), value), key...), []byte{byte(Stamped)})
	return exec.Query{Text: l.Outdate(), Values: values, Consistency: m.settings.Consistency}
}

// maxTTL is the longest time to live that Cassandra takes: 20 years, in seconds; lastSecond the last at which a cell may expire
// (2038-01-19, the bound of 32 bits that also its newer versions keep in their default mode).
const (
	maxTTL     = 20 * 365 * 24 * 60 * 60
	lastSecond = 1<<31 - 2

	clockMargin = 12 * 60 * 60 // for clocks that are behind ours: what they take for the limit is then later
)

// entryTTL is how long the entry of a cell lives that lives for ttl seconds; 0 is for ever.
func (m *Maintainer) entryTTL(l *match.LookUp, ttl int32) int32 {
	longer := int64(ttl) + int64(m.settings.Margin/time.Second)
	if ttl <= 0 || l.Base.DefaultTTL != 0 || longer > maxTTL || m.Now().Unix()+longer > lastSecond-clockMargin {
		return 0
	}
	return int32(longer) // #nosec G115 -- checked
}

// CellEntry says how the entry of a cell of the base is written, for who writes it elsewhere (Fill does it here): at the cell's own timestamp; if the cell has a time
// to live and the base no default, with one that is longer by Margin, unless that is more than MaxTTL or ends after LastSecond.
type CellEntry struct {
	Kind               int8
	ID                 int
	Margin             time.Duration
	MaxTTL, LastSecond int64 // seconds
}

// CellEntry returns it.
func (m *Maintainer) CellEntry() CellEntry {
	return CellEntry{Kind: Stamped, ID: ofCell, Margin: m.settings.Margin, MaxTTL: maxTTL, LastSecond: lastSecond - clockMargin}
}

// Limits of one unlogged batch: Cassandra warns of more partitions, and of more bytes.
const (
	batchStatements = 10
	batchBytes      = 4096
)

// unlogged is a Session that sends several writes as one request.
type unlogged interface {
	// Unlogged sends writes in one unlogged batch, at the consistency of the first.
	Unlogged(ctx context.Context, writes []exec.Query) error
}

// send sends writes of ours, several in one request, and returns the first error once all have ended.
func (m *Maintainer) send(ctx context.Context, writes []exec.Query) error {
	if len(writes) == 0 {
		return nil
	}
	if len(writes) == 1 {
		_, err := m.Session.Query(ctx, writes[0])
		return err
	}
	batches, ok := m.Session.(unlogged)
	if !ok {
		return m.each(len(writes), func(i int) error {
			_, err := m.Session.Query(ctx, writes[i])
			return err
		})
	}
	var parts [][]exec.Query
	bytes := 0
	for from, i := 0, 0; i < len(writes); i++ {
		for _, v := range writes[i].Values {
			bytes += len(v)
		}
		if i+1 == len(writes) || i+1-from == batchStatements || bytes >= batchBytes || writes[i+1].Consistency != writes[i].Consistency {
			parts, from, bytes = append(parts, writes[from:i+1]), i+1, 0
		}
	}
	return m.each(len(parts), func(i int) error { return batches.Unlogged(ctx, parts[i]) })
}

// each runs f for 0 to n-1, a bounded number at a time, and returns the first error.
func (m *Maintainer) each(n int, f func(int) error) error {
	if n == 1 {
		return f(0)
	}
	var (
		wait  sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, m.settings.Parallel)
	)
	for i := range n {
		slots <- struct{}{}
		guard.InDeep(&wait, guard.Maintainer, func() {
			defer func() { <-slots }()
			if err := guard.Do(guard.Maintainer, func() error { return f(i) }); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wait.Wait()
	return first
}

// cell is the looked-up column of a base row as a read shows it.
type cell struct {
	value    []byte // nil: there is nothing
	at       int64
	ttl      int32 // remaining seconds
	expiring bool
}

var errShape = errors.New("the answer has another shape than was asked for")

func cellOf(value, at, ttl []byte) cell {
	c := cell{value: value}
	c.at, _ = exec.Int64(at)
	c.ttl, c.expiring = exec.Int32(ttl)
	return c
}

// base reads the column of a base row, as evidence at level c.
func (m *Maintainer) base(ctx context.Context, l *match.LookUp, key [][]byte, c gocql.Consistency) (cell, error) {
	a, err := m.Session.Query(ctx, exec.Query{Text: l.BaseRow(), Values: key, Consistency: m.lasting(l, c)})
	switch {
	case err != nil:
		return cell{}, fmt.Errorf("read a row of %s: %w", l.BaseName(), err)
	case len(a.Rows) == 0:
		return cell{}, nil
	case len(a.Rows[0]) != len(key)+3:
		return cell{}, fmt.Errorf("read a row of %s: %w", l.BaseName(), errShape)
	}
	row := a.Rows[0][len(key):]
	return cellOf(row[0], row[1], row[2]), nil
}

// Base reads the column of a base row, its writetime, and in how many seconds it expires, 0 if it does not; the value is nil if the row or the cell does not exist.
func (m *Maintainer) Base(ctx context.Context, l *match.LookUp, key [][]byte) (value []byte, written int64, ttl int32, err error) {
	c, err := m.base(ctx, l, key, m.settings.Consistency)
	return c.value, c.at, c.ttl, err
}
