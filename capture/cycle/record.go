package cycle

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/history"
)

// Bin is how long a bin of a Record is: what the history keeps for weeks.
const Bin = time.Hour

// Bounds of what is read.
const (
	maxTold  = 20_000 // statements told apart while reading; beyond, the lightest half is counted together
	listened = 0.5    // share of a bin in which must have been counted
	spread   = 48     // bins at most over which a window that waited is spread
)

// Source is where the hours are read from. *history.History is one; Shelf makes one of a file.
type Source interface {
	Hours(ctx context.Context, from, to time.Time, yield func(*history.HourOf) error) error
}

// Shelf reads from a shelf, which no history need have open.
func Shelf(s history.Shelf) Source { return shelf{s} }

type shelf struct{ history.Shelf }

func (s shelf) Hours(ctx context.Context, from, to time.Time, yield func(*history.HourOf) error) error {
	return history.Hours(ctx, s.Shelf, from, to, yield)
}

// Record is how often each statement was executed, bin by bin.
type Record struct {
	Start   time.Time // of the first bin, UTC
	Bins    int
	hours   int       // that were read
	watched []float64 // by bin: the share of it in which was counted, 0..1
	said    map[string]*row
	rest    *row // what is not told apart
}

// row is one statement's executions.
type row struct {
	history.Executions // Count and Micros are sums

	first, last int       // bins with executions
	bins        []int     // ascending
	counts      []float64 // executions in them
}

func (r *row) addExecutions(bin int, count float64, micros uint64) {
	if count == 0 {
		return
	}
	if len(r.bins) == 0 {
		r.first, r.last = bin, bin
	}
	r.first, r.last = min(r.first, bin), max(r.last, bin)
	r.Count, r.Micros = r.Count+uint64(math.Round(count)), r.Micros+micros
	i, there := slices.BinarySearch(r.bins, bin)
	if there {
		r.counts[i] += count
		return
	}
	r.bins, r.counts = slices.Insert(r.bins, i, bin), slices.Insert(r.counts, i, count)
}

// addRow adds another's executions.
func (r *row) addRow(o *row) {
	for i, bin := range o.bins {
		micros := uint64(0)
		if i == 0 {
			micros = o.Micros
		}
		r.addExecutions(bin, o.counts[i], micros)
	}
}

// Read reads the hours from a time on and before another (zero: all later ones). Where nothing is known for as long as periods are looked at, what
// comes before and after are two records, as when a clock was in another year for a moment; the one with most hours is returned.
func Read(ctx context.Context, s Source, from, to time.Time) (*Record, error) {
	best, r := newRecord(), newRecord()
	end := func() {
		if r.Bins = len(r.watched); r.hours > best.hours {
			best = r
		}
		r = newRecord()
	}
	err := s.Hours(ctx, from, to, func(h *history.HourOf) error {
		bin := int(h.At.Sub(r.Start) / Bin)
		if r.hours > 0 && bin-len(r.watched) >= mostDays*perDay {
			end()
		}
		if r.hours == 0 {
			r.Start, bin = h.At.UTC().Truncate(Bin), 0
		}
		r.addHour(h, bin)
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	end()
	return best, nil
}

func newRecord() *Record {
	r := &Record{said: map[string]*row{}, rest: &row{}}
	r.rest.Fingerprint, r.rest.Kind = Rest, Rest
	return r
}

// addHour adds one proxy's hour. Where several proxies counted, their executions add up, and one that listened is enough.
func (r *Record) addHour(h *history.HourOf, bin int) {
	r.hours++
	for len(r.watched) <= bin {
		r.watched = append(r.watched, 0)
	}
	parts := []int{bin}
	// A window that waited for the disk is filed under its end, and may be of many hours.
	if long := h.To.Sub(h.From); long > Bin+Bin/2 && long <= spread*Bin {
		first, last := int(h.From.Sub(r.Start)/Bin), int(h.To.Add(-1).Sub(r.Start)/Bin)
		for b := max(0, first); b <= min(last, bin-1); b++ {
			parts = append(parts, b)
		}
	}
	share := float64(len(parts))
	for _, b := range parts {
		r.watched[b] = max(r.watched[b], min(1, h.Watched.Hours()/Bin.Hours()/share))
	}
	put := func(x *row, e *history.Executions) {
		for i, b := range parts {
			micros := uint64(0)
			if i == 0 {
				micros = e.Micros
			}
			x.addExecutions(b, float64(e.Count)/share, micros)
		}
	}
	for i := range h.Said {
		e := &h.Said[i]
		x := r.said[e.Fingerprint]
		if x == nil {
			x = &row{Executions: history.Executions{
				Fingerprint: e.Fingerprint, Keyspace: e.Keyspace, Table: e.Table, Kind: e.Kind, Text: strings.Clone(e.Text),
			}}
			r.said[e.Fingerprint] = x
		}
		put(x, e)
	}
	put(r.rest, &h.Rest)
	if len(r.said) > maxTold {
		r.foldLightest(maxTold / 2)
	}
}

// foldLightest counts all but the n heaviest statements together.
func (r *Record) foldLightest(n int) {
	for _, x := range r.heaviestFirst()[min(n, len(r.said)):] {
		r.rest.addRow(x)
		delete(r.said, x.Fingerprint)
	}
}

// heaviestFirst lists the statements by the work they made.
func (r *Record) heaviestFirst() []*row {
	list := make([]*row, 0, len(r.said))
	for _, x := range r.said {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *row) int {
		switch x, y := a.Work(), b.Work(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a.Fingerprint, b.Fingerprint)
	})
	return list
}

// isUnknown reports whether a bin is not known.
func (r *Record) isUnknown(bin int) bool { return r.watched[bin] < listened }

// End is when the last bin ends.
func (r *Record) End() time.Time { return r.Start.Add(time.Duration(r.Bins) * Bin) }

// Watched is the share of the bins that are known.
func (r *Record) Watched() float64 {
	n := 0
	for bin := range r.watched {
		if !r.isUnknown(bin) {
			n++
		}
	}
	return float64(n) / float64(max(1, r.Bins))
}
