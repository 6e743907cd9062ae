package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"
	"sync"

	"github.com/dchest/siphash"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Settings of a Checker; zero values are replaced by the defaults named.
type Settings struct {
	Consistency gocql.Consistency // of scans; QUORUM
	Ranges      int               // 64; parts of the ring that are scanned one by one
	Workers     int               // 4; parts scanned at a time
	PageSize    int               // 2,000 rows
	Collect     int64             // 200,000; rows of differing buckets that are held at a time
	Parallel    int               // 16; differences checked at a time
	Buckets     int               // 65,536; that rows are summed up in
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	def := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if s.Consistency == 0 {
		s.Consistency = gocql.Quorum
	}
	def(&s.Ranges, 64)
	def(&s.Workers, 4)
	def(&s.PageSize, 2000)
	def(&s.Parallel, 16)
	def(&s.Buckets, 1<<16)
	if s.Collect <= 0 {
		s.Collect = 200000
	}
	return s
}

// Checker compares look-ups with their base tables.
type Checker struct {
	Session    exec.Session
	Maintainer *maintain.Maintainer
	settings   Settings
}

// New returns a Checker.
func New(session exec.Session, maintainer *maintain.Maintainer, settings Settings) *Checker {
	return &Checker{Session: session, Maintainer: maintainer, settings: settings.Defaults()}
}

// MaxSample is how many missing rows the findings of a pass name.
const MaxSample = 20

// maxCollapsed is how many rows with surplus entries a pass looks at.
const maxCollapsed = 10000

// sum is of the hashes of some rows.
type sum struct {
	count  int64
	hi, lo uint64
}

func (s *sum) add(hi, lo uint64) {
	s.count++
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
}

// bucket sums up rows, and those of them that expire together with what says when.
type bucket struct{ rows, lives sum }

// differs tells whether some rows of the base may have no entry, or none that lives as long; or some entries no row. Where no entry expires nothing is to be said of their lives.
func (b *bucket) differs(entries *bucket) bool {
	return b.rows != entries.rows || entries.lives.count > 0 && b.lives != entries.lives
}

// life is how long a value of the base is there, or an entry; of several the one that lives longest, as far as is known without a clock: one that expires is known by its writetime, as the
// entry of the very write that a row shows lives as long as that.
type life struct {
	expires bool
	written int64
}

// lifeOf reads it from the writetime and the time to live of a cell.
func lifeOf(written, ttl []byte) (l life) {
	if _, l.expires = exec.Int32(ttl); l.expires {
		l.written, _ = exec.Int64(written)
	}
	return l
}

// longer is the longer one of two.
func (l life) longer(other life) life {
	if l.expires && (!other.expires || other.written > l.written) {
		return other
	}
	return l
}

// hash is over value and key; the key of the hash is fixed, since the sums are only ever compared with each other.
func hash(row []byte) (hi, lo uint64) {
	return siphash.Hash128(0x48656c656e7573, 0x76657269667900, row)
}

// encode writes value and key one after the other, each with its length.
func encode(buffer []byte, value []byte, key [][]byte) []byte {
	buffer = binary.BigEndian.AppendUint32(buffer[:0], uint32(len(value))) // #nosec G115 -- a cell
	buffer = append(buffer, value...)
	for _, k := range key {
		buffer = binary.BigEndian.AppendUint32(buffer, uint32(len(k))) // #nosec G115
		buffer = append(buffer, k...)
	}
	return buffer
}

func decode(row string) (value []byte, key [][]byte) {
	b := []byte(row)
	for len(b) >= 4 {
		n := binary.BigEndian.Uint32(b)
		part := b[4 : 4+n]
		b = b[4+n:]
		if value == nil {
			value = part
			continue
		}
		key = append(key, part)
	}
	return value, key
}

// Pass runs one pass over a look-up. next, if not nil, is called before each row that is read is looked at; progress, if not nil, is told how many of how many parts are done.
func (c *Checker) Pass(ctx context.Context, l *match.LookUp, next func(context.Context) error, progress func(done, total int)) (kind.Findings, error) {
	var result kind.Findings
	c.Maintainer.BeginSweep(l)
	if progress == nil {
		progress = func(int, int) {}
	}
	if next == nil {
		next = func(context.Context) error { return nil }
	}
	parts := 2 * c.settings.Ranges
	done := 0
	step := func() { done++; progress(min(done, parts), parts) }
	buckets := c.settings.Buckets
	base, entries := make([]bucket, buckets), make([]bucket, buckets)
	count := func(into []bucket, n *int64) func([]byte, life) {
		return func(row []byte, life life) {
			hi, lo := hash(row)
			b := &into[hi%uint64(buckets)] // #nosec G115 -- not negative
			b.rows.add(hi, lo)
			if life.expires {
				b.lives.add(hash(binary.BigEndian.AppendUint64(row, uint64(life.written)))) // #nosec G115
			}
			*n++
		}
	}
	if err := c.scan(ctx, l, true, next, step, count(base, &result.Rows), func([]byte) { result.NoRoom++ }); err != nil {
		return result, err
	}
	var surplus []string
	if err := c.scan(ctx, l, false, next, step, count(entries, &result.Entries), func(row []byte) {
		if result.Surplus++; len(surplus) < maxCollapsed {
			surplus = append(surplus, string(row))
		}
	}); err != nil {
		return result, err
	}
	for from := 0; from < buckets; {
		wanted, rows := make(map[uint64]bool), int64(0)
		for ; from < buckets && (rows == 0 || rows < c.settings.Collect); from++ {
			if base[from].differs(&entries[from]) {
				wanted[uint64(from)] = true // #nosec G115 -- not negative
				rows += base[from].rows.count + entries[from].rows.count
			}
		}
		if len(wanted) == 0 {
			break
		}
		if err := c.differences(ctx, l, wanted, next, &result); err != nil {
			return result, err
		}
	}
	if err := c.collapse(ctx, l, surplus); err != nil {
		return result, err
	}
	c.Maintainer.EndSweep(l)
	sort.Strings(result.Sample)
	return result, nil
}

// collapse removes what the entry that stands for a row's cell makes needless.
func (c *Checker) collapse(ctx context.Context, l *match.LookUp, rows []string) error {
	for i, row := range rows {
		if i > 0 && rows[i-1] == row {
			continue
		}
		value, key := decode(row)
		if _, err := c.reconcile(ctx, l, value, key, true); err != nil {
			return err
		}
	}
	return nil
}

// reconcile removes what can be removed of the entries of a value and key. inBase: the base was seen to have the row.
func (c *Checker) reconcile(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, inBase bool) (maintain.Outcome, error) {
	if l.StandsIn(key) {
		return c.Maintainer.ReconcileElsewhere(ctx, l, value, inBase)
	}
	return c.Maintainer.Reconcile(ctx, l, value, key)
}

// scan reads the base or the look-up whole, and hands over each row that has, or is, an entry, as value and key of the entry, with its life. To again, if it
// is not nil, goes of the look-up a further entry of the same value and row, of which row is told once, with the longest life; and of the base each row that has no entry of its own, of
// which row is only told the first of a value. Calls do not overlap, but for those of next.
func (c *Checker) scan(ctx context.Context, l *match.LookUp, base bool, next func(context.Context) error, step func(), row func([]byte, life), again func([]byte)) error {
	text, name := l.ScanEntries(), l.LookUpName()
	if base {
		text, name = l.ScanBase(), l.BaseName()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		wait  sync.WaitGroup
		first error
		parts = make(chan exec.Range)

		elsewhere = map[[2]uint64]bool{} // hashes of values that rows without an entry of their own have
	)
	for range c.settings.Workers {
		guard.In(&wait, guard.Verification, func() {
			var buffer, last []byte
			var longest life // of the entries of last
			told := func() {
				if len(last) > 0 {
					row(last, longest)
				}
				last = last[:0]
			}
			for p := range parts {
				q := exec.Query{Text: text, Values: [][]byte{exec.FromInt64(p.First), exec.FromInt64(p.Last)},
					Consistency: c.settings.Consistency, PageSize: c.settings.PageSize}
				err := guard.Do(guard.Verification, func() error {
					return c.Session.Scan(ctx, q, func(cells [][]byte) error {
						if err := next(ctx); err != nil {
							return err
						}
						value := cells[len(l.Key)]
						if !match.Indexable(value) {
							return nil
						}
						key, own := l.EntryKey(cells[:len(l.Key)])
						buffer = encode(buffer, value, key)
						mu.Lock()
						defer mu.Unlock()
						lives := lifeOf(cells[len(l.Key)+1], cells[len(l.Key)+2])
						further := !base && bytes.Equal(buffer, last)
						if again != nil && (further || base && !own) {
							again(buffer)
						}
						if base && !own {
							hi, lo := hash(buffer)
							further = elsewhere[[2]uint64{hi, lo}]
							elsewhere[[2]uint64{hi, lo}] = true
							lives = life{} // what stands for it does not expire
						}
						if further && !base {
							longest = longest.longer(lives)
						}
						if further {
							return nil
						}
						told()
						last, longest = append(last, buffer...), lives
						return nil
					})
				})
				mu.Lock()
				told()
				if err != nil && first == nil {
					first = fmt.Errorf("scan %s: %w", name, err)
					cancel()
				}
				step()
				mu.Unlock()
			}
		})
	}
feed:
	for _, p := range exec.Ring(c.settings.Ranges) {
		select {
		case parts <- p:
		case <-ctx.Done():
			break feed
		}
	}
	close(parts)
	wait.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}

// differences collects the rows of some buckets from both tables and settles what only one of them has.
func (c *Checker) differences(ctx context.Context, l *match.LookUp, wanted map[uint64]bool, next func(context.Context) error, result *kind.Findings) error {
	type lives struct {
		base, entry     life
		inBase, inEntry bool
	}
	seen := map[string]lives{}
	collect := func(note func(*lives, life)) func([]byte, life) {
		return func(row []byte, life life) {
			if hi, _ := hash(row); wanted[hi%uint64(c.settings.Buckets)] { // #nosec G115 -- not negative
				have := seen[string(row)]
				note(&have, life)
				seen[string(row)] = have
			}
		}
	}
	if err := c.scan(ctx, l, true, next, func() {}, collect(func(have *lives, l life) { have.inBase, have.base = true, l }), nil); err != nil {
		return err
	}
	if err := c.scan(ctx, l, false, next, func() {}, collect(func(have *lives, l life) { have.inEntry, have.entry = true, l }), nil); err != nil {
		return err
	}
	var rows []string
	for row, have := range seen {
		if have.inBase != have.inEntry || have.entry.expires && have.entry != have.base {
			rows = append(rows, row)
		}
	}
	sort.Strings(rows)
	var (
		mu    sync.Mutex
		wait  sync.WaitGroup
		first error
		slots = make(chan struct{}, c.settings.Parallel)
	)
	for _, row := range rows {
		slots <- struct{}{}
		mu.Lock()
		stop := first != nil
		mu.Unlock()
		if stop {
			break
		}
		guard.In(&wait, guard.Verification, func() {
			defer func() { <-slots }()
			value, key := decode(row)
			var one kind.Findings
			err := guard.Do(guard.Verification, func() error {
				if seen[row].inBase {
					return c.missing(ctx, l, value, key, seen[row].inEntry, &one)
				}
				return c.orphan(ctx, l, value, key, &one)
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
			}
			result.Missing += one.Missing
			result.Repaired += one.Repaired
			result.Orphans += one.Orphans
			result.Removed += one.Removed
			if len(result.Sample) < MaxSample {
				result.Sample = append(result.Sample, one.Sample...)
			}
		})
	}
	wait.Wait()
	return first
}

// attempts is how often a row that changes under the eyes is looked at again; if it is still changing, the next pass
// will see it.
const attempts = 5

// missing settles a base row whose entry was not seen, or, if it was, may not live as long as its value. One that has another, which is too short, is given a lasting one, and is not missing.
// One whose value expires, and whose entry lasts, is given one of its own write, by which the next pass sees that.
func (c *Checker) missing(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, seen bool, r *kind.Findings) error {
	if l.StandsIn(key) {
		return c.missingElsewhere(ctx, l, value, r)
	}
	for range attempts {
		before, written, ttl, err := c.Maintainer.Base(ctx, l, key)
		if err != nil {
			return err
		}
		if !bytes.Equal(before, value) {
			return nil // the row was changed; its new value is another row of the scan
		}
		found, lasts, err := c.Maintainer.Has(ctx, l, value, key, ttl)
		if err == nil && lasts && seen && ttl > 0 {
			if err := c.Maintainer.Fill(ctx, l, value, key, written, ttl, c.settings.Consistency); err != nil {
				return fmt.Errorf("write an entry of %s for what a row holds: %w", l.LookUpName(), err)
			}
			return nil
		}
		if err != nil || lasts {
			return err
		}
		after, again, _, err := c.Maintainer.Base(ctx, l, key)
		if err != nil {
			return err
		}
		if !bytes.Equal(after, value) || again != written {
			continue
		}
		if !found {
			r.Missing++
			r.Sample = append(r.Sample, describe(l, value, key))
		}
		if err := c.Maintainer.Repair(ctx, l, value, key, written, ttl); err != nil {
			return err
		}
		r.Repaired++
		return nil
	}
	return nil
}

// missingElsewhere settles a value of rows without an entry of their own, of which no entry was seen.
func (c *Checker) missingElsewhere(ctx context.Context, l *match.LookUp, value []byte, r *kind.Findings) error {
	found, _, err := c.Maintainer.Has(ctx, l, value, l.StandIn(), 0)
	if err != nil || found {
		return err
	}
	r.Missing++
	r.Sample = append(r.Sample, describe(l, value, nil))
	if err := c.Maintainer.Repair(ctx, l, value, l.StandIn(), 0, 0); err != nil {
		return err
	}
	r.Repaired++
	return nil
}

// orphan settles an entry whose base row was not seen.
func (c *Checker) orphan(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, r *kind.Findings) error {
	outcome, err := c.reconcile(ctx, l, value, key, false)
	if err != nil {
		return err
	}
	switch outcome {
	case maintain.Removed:
		r.Orphans++
		r.Removed++
	case maintain.Left:
		r.Orphans++
	}
	return nil
}

// describe names a row that lacks its entry: by its value, which is the look-up's partition, and by its own partition, unless only the value is known.
func describe(l *match.LookUp, value []byte, key [][]byte) string {
	text := match.At([]schema.Column{l.By}, [][]byte{value})
	if key != nil {
		text += ", " + match.At(l.Key[:l.Partition], key[:l.Partition])
	}
	return text
}
