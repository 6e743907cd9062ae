package existing

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/dchest/siphash"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// A pass reads both tables whole, part by part of the ring, as pairs of a base key and the values that are asked by:
//
//	each pair goes into one of 65,536 buckets by its hash, of which count and sum are kept, for each table
//	the pairs of buckets that differ are read again, so many at a time as memory allows
//	what the base has and the other table has not is looked at by itself, again and again: the application may be about to write it
//	what is then still not there is missing. What only the other table has is counted, and left: no answer has it
const buckets = 1 << 16

const (
	attempts  = 5                      // how often a pair that was not found is looked for
	apart     = 200 * time.Millisecond // usually between them: longer than two writes of one request are
	maxSample = 20                     // pairs that the findings name
	enough    = 1000                   // missing rows after which a pass ends: nothing will be served
)

// bucket sums up the pairs that fell into it.
type bucket struct {
	count int64
	sum   uint64
}

// hash is over a pair as encode writes it; its key is fixed, since sums are only compared with each other.
func hash(pair []byte) (at uint64, sum uint64) {
	hi, lo := siphash.Hash128(0x48656c656e7573, 0x6578697374696e67, pair)
	return hi % buckets, lo
}

// encode writes the cells of a pair one after the other, each with its length.
func encode(buffer []byte, cells [][]byte) []byte {
	buffer = buffer[:0]
	for _, c := range cells {
		buffer = append(binary.BigEndian.AppendUint32(buffer, uint32(len(c))), c...) // #nosec G115 -- a cell
	}
	return buffer
}

// decode is the reverse of encode.
func decode(pair string) (cells [][]byte) {
	for b := []byte(pair); len(b) >= 4; {
		n := binary.BigEndian.Uint32(b)
		cells = append(cells, b[4:4+n])
		b = b[4+n:]
	}
	return cells
}

// Pass implements kind.Verified. Nothing is put right: the tables are the application's.
func (f *fitted) Pass(ctx context.Context, next func(context.Context) error, progress func(done, total int)) (kind.Findings, error) {
	settings := f.runner.settings.Verify
	var result kind.Findings
	sums := [2][]bucket{make([]bucket, buckets), make([]bucket, buckets)}
	counts := [2]*int64{&result.Rows, &result.Entries}
	done := 0
	for side := range sums {
		err := f.scan(ctx, side, next, func() { done++; progress(done, 2*settings.Ranges) }, func(pair []byte) {
			at, sum := hash(pair)
			sums[side][at].count++
			sums[side][at].sum += sum
			*counts[side]++
		})
		if err != nil {
			return result, err
		}
	}
	for from := 0; from < buckets && result.Missing < enough; {
		wanted, rows := map[uint64]bool{}, int64(0)
		for ; from < buckets && (rows == 0 || rows < settings.Collect); from++ {
			if sums[0][from] != sums[1][from] {
				wanted[uint64(from)] = true // #nosec G115 -- not negative
				rows += sums[0][from].count + sums[1][from].count
			}
		}
		if len(wanted) > 0 {
			if err := f.differences(ctx, wanted, next, &result); err != nil {
				return result, err
			}
		}
	}
	sort.Strings(result.Sample)
	return result, nil
}

// The sides of a comparison.
const (
	inBase = iota
	inTable
)

// scan reads one side whole, and hands over its pairs. Calls do not overlap, but for those of next.
func (f *fitted) scan(ctx context.Context, side int, next func(context.Context) error, step func(), pair func([]byte)) error {
	settings, text, name := f.runner.settings.Verify, f.ScanAsked(), f.BaseName()
	if side == inTable {
		text, name = f.keys.Scan(), f.keys.Table.String()
	}
	parts := exec.Ring(settings.Ranges)
	var mu sync.Mutex
	err := exec.Each(ctx, len(parts), settings.Workers, func(ctx context.Context, i int) error {
		q := exec.Query{Text: text, Values: [][]byte{exec.FromInt64(parts[i].First), exec.FromInt64(parts[i].Last)}, Consistency: settings.Consistency, PageSize: settings.PageSize}
		var buffer []byte
		err := f.runner.parts.Session.Scan(ctx, q, func(cells [][]byte) error {
			if err := next(ctx); err != nil {
				return err
			}
			if !f.findable(cells) {
				return nil
			}
			buffer = encode(buffer, cells)
			mu.Lock()
			defer mu.Unlock()
			pair(buffer)
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		step()
		return err
	})
	if err != nil {
		return fmt.Errorf("scan %s: %w", name, err)
	}
	return nil
}

// findable tells whether a row is one that reads are to find: it has a whole key, and values that can be asked for.
func (f *fitted) findable(cells [][]byte) bool {
	return !slices.ContainsFunc(cells[:len(f.Key)], func(c []byte) bool { return c == nil }) &&
		!slices.ContainsFunc(cells[len(f.Key):], func(c []byte) bool { return !match.Indexable(c) })
}

// differences collects the pairs of some buckets from both sides, and settles what one of them lacks.
func (f *fitted) differences(ctx context.Context, wanted map[uint64]bool, next func(context.Context) error, result *kind.Findings) error {
	seen := map[string][2]bool{}
	for side := range 2 {
		if err := f.scan(ctx, side, next, func() {}, func(pair []byte) {
			if at, _ := hash(pair); wanted[at] {
				in := seen[string(pair)]
				in[side] = true
				seen[string(pair)] = in
			}
		}); err != nil {
			return err
		}
	}
	var lacking []string
	for pair, in := range seen {
		switch {
		case in[inBase] && !in[inTable]:
			lacking = append(lacking, pair)
		case !in[inBase]:
			result.Orphans++
		}
	}
	sort.Strings(lacking)
	var mu sync.Mutex
	return exec.Each(ctx, len(lacking), f.runner.settings.Verify.Parallel, func(ctx context.Context, i int) error {
		mu.Lock()
		over := result.Missing >= enough
		mu.Unlock()
		if over {
			return nil
		}
		cells := decode(lacking[i])
		missing, err := f.missing(ctx, cells)
		mu.Lock()
		defer mu.Unlock()
		if missing {
			if result.Missing++; len(result.Sample) < maxSample {
				result.Sample = append(result.Sample, f.describe(cells))
			}
		}
		return err
	})
}

// missing tells whether a row of the base, its key and the values that are asked by, stays as it is and is not in the application's table.
func (f *fitted) missing(ctx context.Context, cells [][]byte) (bool, error) {
	settings, session := f.runner.settings, f.runner.parts.Session
	key, asked := cells[:len(f.Key)], cells[len(f.Key):]
	for try := range attempts {
		if try > 0 {
			timer := time.NewTimer(f.runner.apart)
			select {
			case <-ctx.Done():
				timer.Stop()
				return false, ctx.Err()
			case <-timer.C:
			}
		}
		a, err := session.Query(ctx, exec.Query{Text: f.RowAsked(), Values: key, Consistency: settings.Verify.Consistency})
		if err != nil {
			return false, fmt.Errorf("read a row of %s: %w", f.BaseName(), err)
		}
		if len(a.Rows) != 1 || !slices.EqualFunc(a.Rows[0], cells, bytes.Equal) {
			return false, nil // it was changed meanwhile: the next pass looks at what it is now
		}
		most := settings.Entries + 1
		a, err = session.Query(ctx, exec.Query{Text: f.Find(), Values: slices.Concat(asked, [][]byte{exec.FromInt32(int32(most))}), // #nosec G115 -- a small setting
			Consistency: settings.Verify.Consistency, PageSize: most + 1})
		if err != nil {
			return false, fmt.Errorf("find the rows of a value in %s: %w", f.keys.Table, err)
		}
		if len(a.Rows) == most || slices.ContainsFunc(a.Rows, func(row [][]byte) bool { return slices.EqualFunc(row, key, bytes.Equal) }) {
			return false, nil // what has so many rows runs as it was written
		}
	}
	return true, nil
}

// describe names a pair: by the values that are asked for, and by the partition of its row.
func (f *fitted) describe(cells [][]byte) string {
	return match.At(f.Asked, cells[len(f.Key):]) + ", " + match.At(f.Key[:f.Partition], cells[:f.Partition])
}
