package maintain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/match"
)

// Settings of a Maintainer; zero values are replaced by the defaults named.
type Settings struct {
	Consistency gocql.Consistency // of reconciling; QUORUM. It must intersect with the application's writes
	Horizon     time.Duration     // 4 h; 7/8 of it must be longer than max_hint_window
	TTLMargin   time.Duration     // 60 s; how much longer than its cell an entry lives
	Hint        time.Duration     // 250 ms; longest wait for a former value
	Timeout     time.Duration     // 5 s; of one statement of ours
	Queue       int               // 10,000; garbage that may wait
	Workers     int               // 2; reconcilers
	Parallel    int               // 32; entries of one write written at a time
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	if s.Consistency == 0 {
		s.Consistency = gocql.Quorum
	}
	def(&s.Horizon, 4*time.Hour)
	def(&s.TTLMargin, time.Minute)
	def(&s.Hint, 250*time.Millisecond)
	def(&s.Timeout, 5*time.Second)
	if s.Queue <= 0 {
		s.Queue = 10000
	}
	if s.Workers <= 0 {
		s.Workers = 2
	}
	if s.Parallel <= 0 {
		s.Parallel = 32
	}
	return s
}

// maxTTL is the longest time to live that Cassandra takes: 20 years, in seconds.
const maxTTL = 20 * 365 * 24 * 60 * 60

// Maintainer writes and removes entries, of all look-ups.
type Maintainer struct {
	Session exec.Session
	Log     *slog.Logger

	settings  Settings
	now       func() time.Time
	last      atomic.Int64
	queue     chan Garbage
	waiting   atomic.Int64
	counts    counts
	deletions deletions
}

type counts struct {
	removed, kept, left, dropped, failed atomic.Int64
}

// Counts are totals since the process began.
type Counts struct {
	Removed int64 // entries removed
	Kept    int64 // entries that turned out to be right
	Left    int64 // entries left to the sweeper, as removing them could not be shown to be safe
	Dropped int64 // garbage that found the queue full; the sweeper removes it
	Failed  int64 // reconciliations that Cassandra did not carry out; the sweeper repeats them
	Pending int64 // garbage in the queue now
}

// New returns a Maintainer that reads time from now.
func New(session exec.Session, settings Settings, now func() time.Time, log *slog.Logger) *Maintainer {
	settings = settings.Defaults()
	return &Maintainer{Session: session, Log: log, settings: settings, now: now, queue: make(chan Garbage, settings.Queue)}
}

// Settings returns the settings in force.
func (m *Maintainer) Settings() Settings { return m.settings }

// Counts returns the totals.
func (m *Maintainer) Counts() Counts {
	c := &m.counts
	return Counts{c.removed.Load(), c.kept.Load(), c.left.Load(), c.dropped.Load(), c.failed.Load(), m.waiting.Load()}
}

// Stamp returns a timestamp in microseconds, above every earlier one of this process.
func (m *Maintainer) Stamp() int64 {
	for {
		last := m.last.Load()
		t := max(m.now().UnixMicro(), last+1)
		if m.last.CompareAndSwap(last, t) {
			return t
		}
	}
}

// entryTimestamp is vt of the package comment.
func (m *Maintainer) entryTimestamp(ts int64) int64 {
	return max(ts, m.now().Add(-m.settings.Horizon/8).UnixMicro())
}

// EntryTTL is how long an entry at timestamp entry lives, whose cell at timestamp cell lives for ttl seconds; 0 is for
// ever. An entry expires only if the two timestamps are the same: then the base and the look-up choose alike among several
// writes of one value. Above its cell's, the entry of a write that lost in the base could outdo the winner's, and
// take its own time to live along.
func (m *Maintainer) EntryTTL(ttl int32, cell, entry int64) int32 {
	margin := int32(m.settings.TTLMargin / time.Second) // #nosec G115 -- a minute or so
	if ttl <= 0 || ttl > maxTTL-margin || cell != entry {
		return 0
	}
	return ttl + margin
}

// Put writes the entries that an effect at timestamp ts needs. On an error the base must not be written.
func (m *Maintainer) Put(ctx context.Context, l *match.LookUp, e match.Effect, ts int64, c gocql.Consistency) error {
	if e.Entry.Bytes == nil && e.Entry.Literal == "" {
		return nil
	}
	if c == gocql.Any {
		c = gocql.One // a hint would not be seen by the read that needs it
	}
	at, ttl := m.entryTimestamp(ts), int32(0)
	if l.Base.DefaultTTL == 0 {
		ttl = m.EntryTTL(e.TTL, ts, at)
	}
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	return m.each(len(e.Keys), func(i int) error {
		_, err := m.Session.Query(ctx, put(l, e.Entry, e.Keys[i], at, ttl, c))
		if err != nil {
			return fmt.Errorf("write an entry of %s: %w", l.LookUpName(), err)
		}
		return nil
	})
}

func put(l *match.LookUp, column match.Cell, key []match.Cell, ts int64, ttl int32, c gocql.Consistency) exec.Query {
	values := make([][]byte, 0, len(key)+3)
	literal := column.Literal != ""
	values = append(values, column.Bytes)
	for _, k := range key {
		literal = literal || k.Literal != ""
		values = append(values, k.Bytes)
	}
	if literal {
		text, values := l.PutLiteral(column, key, ts, ttl)
		return exec.Query{Text: text, Values: values, Consistency: c, Literal: len(values) == 0}
	}
	values = append(values, exec.FromInt64(ts))
	if ttl > 0 {
		return exec.Query{Text: l.PutTTL(), Values: append(values, exec.FromInt32(ttl)), Consistency: c}
	}
	return exec.Query{Text: l.Put(), Values: values, Consistency: c}
}

// Insert writes one entry at a given timestamp: what backfill and repair do.
func (m *Maintainer) Insert(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, ts int64, ttl int32, c gocql.Consistency) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	cells := make([]match.Cell, len(key))
	for i, k := range key {
		cells[i].Bytes = k
	}
	_, err := m.Session.Query(ctx, put(l, match.Cell{Bytes: value}, cells, ts, ttl, c))
	return err
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
		guard.In(&wait, guard.Maintainer, func() {
			defer func() { <-slots }()
			if err := guard.Do(guard.Maintainer, func() error { return f(i) }); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wait.Wait()
	return first
}

// Garbage is an entry that may have become one.
type Garbage struct {
	LookUp *match.LookUp
	Value  []byte
	Key    [][]byte
	// Deleted is the timestamp of a delete of ours that the base acknowledged, 0 if it was no delete.
	Deleted int64
}

// Former reads the values that a write is about to replace. It is a hint: what can not be read in time is left out.
func (m *Maintainer) Former(ctx context.Context, l *match.LookUp, e match.Effect) []Garbage {
	if !e.Touched {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.settings.Hint)
	defer cancel()
	found := make([]*Garbage, len(e.Keys))
	_ = m.each(len(e.Keys), func(i int) error {
		key := match.KeyBytes(e.Keys[i])
		if key == nil {
			return nil
		}
		value, _, err := m.base(ctx, l, key, gocql.LocalOne)
		if err == nil && match.Indexable(value) && !bytes.Equal(value, e.Entry.Bytes) {
			found[i] = &Garbage{LookUp: l, Value: value, Key: key}
		}
		return nil // a hint that failed is no error
	})
	var out []Garbage
	for _, g := range found {
		if g != nil {
			out = append(out, *g)
		}
	}
	return out
}

// Later hands an entry to the reconcilers. It does not block.
func (m *Maintainer) Later(g Garbage) {
	m.waiting.Add(1)
	select {
	case m.queue <- g:
	default:
		m.waiting.Add(-1)
		m.counts.dropped.Add(1)
	}
}

// Run reconciles what comes through Later until the context ends.
func (m *Maintainer) Run(ctx context.Context) {
	var wait sync.WaitGroup
	for range m.settings.Workers {
		guard.In(&wait, guard.Maintainer, func() {
			for {
				select {
				case <-ctx.Done():
					return
				case g := <-m.queue:
					err := guard.Do(guard.Maintainer, func() error { _, err := m.Reconcile(ctx, g); return err })
					if err != nil && ctx.Err() == nil {
						m.Log.Debug("an entry could not be reconciled; the sweeper will", "table", g.LookUp.LookUpName(), "err", err)
					}
					m.waiting.Add(-1)
				}
			}
		})
	}
	wait.Wait()
}

// Outcome is what became of an entry.
type Outcome int

// The outcomes of Reconcile.
const (
	Absent  Outcome = iota // there is no such entry
	Kept                   // the base holds its value
	Removed                // it was garbage, and no write at or below its timestamp can be seen again
	Left                   // the base does not hold its value, but removing it could not be shown to be safe
)

// Reconcile removes an entry if it is garbage and that is safe. It may be called by anyone at any time.
func (m *Maintainer) Reconcile(ctx context.Context, g Garbage) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	outcome, err := m.reconcile(ctx, g)
	switch {
	case err != nil:
		m.counts.failed.Add(1)
	case outcome == Kept:
		m.counts.kept.Add(1)
	case outcome == Removed:
		m.counts.removed.Add(1)
	case outcome == Left:
		m.counts.left.Add(1)
	}
	return outcome, err
}

func (m *Maintainer) reconcile(ctx context.Context, g Garbage) (Outcome, error) {
	w, ok, err := m.Entry(ctx, g.LookUp, g.Value, g.Key)
	if err != nil || !ok {
		return Absent, err
	}
	value, written, err := m.Base(ctx, g.LookUp, g.Key)
	if err != nil {
		return Left, err
	}
	settled := m.now().Add(-m.settings.Horizon).UnixMicro()
	g.Deleted = max(g.Deleted, m.deletions.at(cellName(g.LookUp, g.Key)))
	switch {
	case value != nil && bytes.Equal(value, g.Value):
		return Kept, nil
	case value != nil && written > w:
	case g.Deleted != 0 && g.Deleted >= w:
	case w < settled:
	default:
		return Left, nil
	}
	values := append([][]byte{exec.FromInt64(w), g.Value}, g.Key...)
	_, err = m.Session.Query(ctx, exec.Query{Text: g.LookUp.Remove(), Values: values, Consistency: m.settings.Consistency})
	if err != nil {
		return Left, fmt.Errorf("remove an entry of %s: %w", g.LookUp.LookUpName(), err)
	}
	return Removed, nil
}

// Entry reads the writetime of an entry; ok is false if there is none.
func (m *Maintainer) Entry(ctx context.Context, l *match.LookUp, value []byte, key [][]byte) (w int64, ok bool, err error) {
	values := append([][]byte{value}, key...)
	a, err := m.Session.Query(ctx, exec.Query{Text: l.Entry(), Values: values, Consistency: m.settings.Consistency})
	if err != nil {
		return 0, false, fmt.Errorf("read an entry of %s: %w", l.LookUpName(), err)
	}
	if len(a.Rows) == 0 || len(a.Rows[0]) != 1 {
		return 0, false, nil
	}
	w, ok = exec.Int64(a.Rows[0][0])
	return w, ok, nil
}

// Base reads the column of a base row and its writetime; the value is nil if the row or the cell does not exist.
func (m *Maintainer) Base(ctx context.Context, l *match.LookUp, key [][]byte) (value []byte, written int64, err error) {
	return m.base(ctx, l, key, m.settings.Consistency)
}

var errShape = errors.New("the answer has another shape than was asked for")

func (m *Maintainer) base(ctx context.Context, l *match.LookUp, key [][]byte, c gocql.Consistency) (value []byte, written int64, err error) {
	a, err := m.Session.Query(ctx, exec.Query{Text: l.BaseRow(), Values: key, Consistency: c})
	if err != nil {
		return nil, 0, fmt.Errorf("read a row of %s: %w", l.BaseName(), err)
	}
	if len(a.Rows) == 0 {
		return nil, 0, nil
	}
	row := a.Rows[0]
	if len(row) != len(key)+2 {
		return nil, 0, fmt.Errorf("read a row of %s: %w", l.BaseName(), errShape)
	}
	written, _ = exec.Int64(row[len(key)+1])
	return row[len(key)], written, nil
}
