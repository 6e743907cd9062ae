package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/store"
)

// Options say what is kept and where. Counts, Open and Log are needed.
type Options struct {
	Counts func() *capture.Snapshot                     // what was counted since the process started
	Open   func() (Shelf, error)                        // opens the shelf
	Aside  func(now time.Time) (path string, err error) // moves a damaged shelf out of the way
	Now    func() time.Time                             // time.Now
	Log    *slog.Logger

	Keep       [levels]time.Duration // how long each level is kept (48 h, 30 days, 400 days)
	Size       int64                 // that the shelf may have, bytes (512 MiB)
	Statements int                   // of a minute's window (1,000); twice as many of an hour's, four times of a day's
}

const (
	maxWaiting = 120
	jump       = time.Minute // by which the clock may disagree with the time that went by
	steadyFor  = 60          // windows without a jump after which age counts again
)

// History writes windows and reads them. Make one with New, call Tick each minute, and Close at the end. Tick and Close are for
// one goroutine; the rest is for all.
type History struct {
	o Options

	mu      sync.Mutex
	shelf   Shelf // nil if it is not open
	origin  string
	last    *capture.Snapshot
	waiting []window
	dirty   [levels]map[time.Time]bool // windows of level 1 and 2 to be made anew, by their begin
	cuts    map[string]*[levels]time.Time
	trouble string // why it can not be written, "" if it can
	wall    time.Time
	steady  int
	pruned  time.Time

	writable, waits, size, written, failures, aside atomic.Int64
}

// New makes a history. Nothing is opened yet.
func New(o Options) *History {
	if o.Now == nil {
		o.Now = time.Now
	}
	for i, d := range [levels]time.Duration{48 * time.Hour, 30 * 24 * time.Hour, 400 * 24 * time.Hour} {
		if o.Keep[i] <= 0 {
			o.Keep[i] = d
		}
	}
	if o.Size <= 0 {
		o.Size = 512 << 20
	}
	if o.Statements <= 0 {
		o.Statements = 1000
	}
	h := &History{o: o}
	h.forgetShelf()
	return h
}

// forgetShelf drops what is known of the shelf.
func (h *History) forgetShelf() {
	h.dirty = [levels]map[time.Time]bool{Hour: {}, Day: {}}
	h.cuts = map[string]*[levels]time.Time{}
}

// Tick closes a window, writes what waits, rolls up what is complete and throws away what is too old. An error says that the
// windows wait in memory; it was logged when it was new.
func (h *History) Tick(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Counts()
	window := now.Since(h.last)
	h.last = now
	h.watchClock(now.To)
	var err error
	if window.Count() > 0 || window.To.After(window.From) { // a window in which nothing was said tells that somebody listened
		window.Feeds, window.Echoes, window.Bursts, window.Templates, window.Profiles = nil, nil, nil, nil, nil // findings, not counts
		err = h.queueWindow(window)
	}
	if err == nil {
		err = h.writeWaiting(ctx, now.To)
	}
	if err != nil {
		h.failures.Add(1)
	}
	h.logTrouble(err)
	h.waits.Store(int64(len(h.waiting)))
	return err
}

// Close writes the last window and closes the shelf.
func (h *History) Close(ctx context.Context) error {
	err := h.Tick(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shelf != nil {
		err = errors.Join(err, h.shelf.Close())
		h.shelf = nil
	}
	return err
}

// watchClock notes whether the clock runs as time does.
func (h *History) watchClock(now time.Time) {
	if !h.wall.IsZero() {
		passed, showed := now.Sub(h.wall), now.Round(0).Sub(h.wall.Round(0)) // the first is the monotonic clock's, if there is one
		if d := showed - passed; d > jump || d < -jump || showed < 0 || showed > 12*time.Hour {
			h.steady = 0
			h.o.Log.Warn("the clock jumped; nothing is thrown away by age for an hour", "from", h.wall.Round(0), "to", now.Round(0))
		}
	}
	h.wall = now
	h.steady = min(h.steady+1, steadyFor)
}

// window is one that waits, packed.
type window struct {
	to   time.Time
	body []byte
}

func (w window) unpack() (*capture.Snapshot, error) {
	return unpackWindow(store.Window{At: w.to, Body: w.body})
}

// queueWindow keeps a window until it is written.
func (h *History) queueWindow(s *capture.Snapshot) error {
	body, err := packSnapshot(s.Cut(h.o.Statements))
	if err != nil {
		return err
	}
	if len(h.waiting) == maxWaiting {
		if err := h.joinOldest(); err != nil {
			return err
		}
	}
	h.waiting = append(h.waiting, window{s.To.UTC(), body})
	return nil
}

// joinOldest makes one of the two windows that have waited longest.
func (h *History) joinOldest() error {
	a, err := h.waiting[0].unpack()
	if err != nil {
		return err
	}
	b, err := h.waiting[1].unpack()
	if err != nil {
		return err
	}
	h.waiting[1].body, err = packSnapshot(a.Merge(b).Cut(h.o.Statements))
	h.waiting = slices.Delete(h.waiting, 0, 1)
	return err
}

// logTrouble logs a change of what can be done.
func (h *History) logTrouble(err error) {
	trouble := ""
	if err != nil {
		trouble = err.Error()
	}
	switch {
	case trouble != "" && h.trouble == "":
		h.o.Log.Error("the history can not be written; what is counted waits in memory", "error", err)
	case trouble == "" && h.trouble != "":
		h.o.Log.Info("the history is written again")
	}
	h.trouble = trouble
	h.writable.Store(0)
	if trouble == "" {
		h.writable.Store(1)
	}
}

// writeWaiting is one attempt, and a second one on a new shelf if the first finds this one damaged.
func (h *History) writeWaiting(ctx context.Context, now time.Time) error {
	err := h.tryWrite(ctx, now)
	if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrForeign) || h.o.Aside == nil {
		return err
	}
	h.closeShelf()
	path, moved := h.o.Aside(h.o.Now())
	if moved != nil {
		return errors.Join(err, moved)
	}
	h.aside.Add(1)
	h.o.Log.Error("the history is damaged; a new one is begun", "error", err, "moved_to", path)
	return h.tryWrite(ctx, now)
}

func (h *History) closeShelf() {
	if h.shelf != nil {
		_ = h.shelf.Close() // it is given up
		h.shelf = nil
	}
	h.forgetShelf()
}

func (h *History) tryWrite(ctx context.Context, now time.Time) error {
	if err := h.openShelf(ctx); err != nil {
		return err
	}
	err := h.flushWaiting(ctx)
	if err == nil {
		err = h.rollUp(ctx, now)
	}
	if err == nil {
		err = h.pruneOld(ctx, now)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrLocked) && !errors.Is(err, store.ErrFull) {
		h.closeShelf() // it is opened anew at the next tick
	}
	return err
}

func (h *History) openShelf(ctx context.Context) error {
	if h.shelf != nil {
		return nil
	}
	shelf, err := h.o.Open()
	if err != nil {
		return err
	}
	h.shelf, h.origin = shelf, shelf.Origin()
	if err := h.readMarks(ctx); err != nil {
		h.closeShelf()
		return err
	}
	return nil
}

// readMarks finds what was thrown away, and what is to be rolled up.
func (h *History) readMarks(ctx context.Context) error {
	var err error
	if h.cuts, err = readCuts(ctx, h.shelf); err != nil {
		return err
	}
	for level := Minute; level < Day; level++ {
		fine, err := h.shelf.Keys(ctx, store.Span{Level: level, Origin: h.origin})
		if err != nil {
			return err
		}
		coarse, err := h.shelf.Keys(ctx, store.Span{Level: level + 1, Origin: h.origin})
		if err != nil {
			return err
		}
		made := map[time.Time]bool{}
		for _, w := range coarse {
			made[w.At] = true
		}
		for _, w := range fine {
			if at := w.At.Truncate(width[level+1]); !made[at] || at.Before(h.cutOf(level)) {
				h.dirty[level+1][at] = true
			}
		}
	}
	return nil
}

// readCuts reads the marks of all origins.
func readCuts(ctx context.Context, shelf Shelf) (map[string]*[levels]time.Time, error) {
	out := map[string]*[levels]time.Time{}
	for level := range levels {
		list, err := shelf.Keys(ctx, store.Span{Level: mark + level})
		if err != nil {
			return nil, err
		}
		for _, w := range list {
			if out[w.Origin] == nil {
				out[w.Origin] = new([levels]time.Time)
			}
			out[w.Origin][level] = w.At
		}
	}
	return out, nil
}

// flushWaiting writes what waits.
func (h *History) flushWaiting(ctx context.Context) error {
	if len(h.waiting) == 0 {
		return nil
	}
	var c store.WindowsChange
	for i, w := range h.waiting {
		at, err := h.placeOf(ctx, w.to, len(h.waiting)-i)
		if err != nil {
			return err
		}
		c.Put = append(c.Put, store.Window{Level: Minute, Origin: h.origin, At: at, Body: w.body})
		c.Drop = append(c.Drop, h.staleWindows(Hour, at)...)
	}
	if err := h.shelf.Apply(ctx, c); err != nil {
		return err
	}
	for _, p := range c.Put {
		h.dirty[Hour][p.At.Truncate(time.Hour)] = true
	}
	h.written.Add(int64(len(c.Put)))
	h.waiting = nil
	return nil
}

// placeOf is where a window that ended then is filed: just before, so that one that ends with an hour is of that hour, and so
// many nanoseconds before that it stands beside others that end at the same moment, as when a clock was set back.
func (h *History) placeOf(ctx context.Context, ended time.Time, before int) (time.Time, error) {
	for {
		at := ended.Add(-time.Duration(before))
		taken, err := h.shelf.Keys(ctx, store.Span{Level: Minute, Origin: h.origin, From: at, To: at.Add(1)})
		if err != nil || len(taken) == 0 {
			return at, err
		}
		before += maxWaiting
	}
}

// staleWindows are the coarser windows, from a level on, that lack what is added to the next finer level at a time: they are dropped with
// the same change, and made anew when they are over. One whose finer windows are gone is added to instead (rollWindow).
func (h *History) staleWindows(level int, at time.Time) (list []store.Span) {
	for ; level <= Day && !at.Before(h.cutOf(level-1)); level++ {
		begin := at.Truncate(width[level])
		list = append(list, store.Span{Level: level, Origin: h.origin, From: begin, To: begin.Add(1)})
	}
	return list
}

// rollUp makes the hours and days that are over and have new windows.
func (h *History) rollUp(ctx context.Context, now time.Time) error {
	for level := Hour; level <= Day; level++ {
		for _, at := range slices.SortedFunc(maps.Keys(h.dirty[level]), time.Time.Compare) {
			if at.Add(width[level]).After(now) && !at.After(now) {
				continue // not over
			}
			if err := h.rollWindow(ctx, level, at); err != nil {
				return err
			}
			delete(h.dirty[level], at)
			if level < Day {
				h.dirty[level+1][at.Truncate(width[level+1])] = true
			}
		}
	}
	return nil
}

// rollWindow makes the window of a level that begins at a time from the finer ones.
func (h *History) rollWindow(ctx context.Context, level int, at time.Time) error {
	var sum *capture.Snapshot
	add := func(w store.Window) error {
		s, err := unpackWindow(w)
		if err == nil && sum != nil {
			s = sum.Merge(s)
		}
		sum = s
		return err
	}
	fine := store.Span{Level: level - 1, Origin: h.origin, From: at, To: at.Add(width[level])}
	var c store.WindowsChange
	if at.Before(h.cutOf(level - 1)) { // its finer windows are gone; what there is came late
		if err := h.shelf.Each(ctx, store.Span{Level: level, Origin: h.origin, From: at, To: at.Add(1)}, add); err != nil {
			return err
		}
		c.Drop = append(c.Drop, fine)
	}
	if err := h.shelf.Each(ctx, fine, add); err != nil || sum == nil {
		return err
	}
	body, err := packSnapshot(sum.Cut(h.o.Statements << level))
	if err != nil {
		return err
	}
	c.Drop = append(c.Drop, h.staleWindows(level+1, at)...)
	c.Put = []store.Window{{Level: level, Origin: h.origin, At: at, Body: body}}
	return h.shelf.Apply(ctx, c)
}

func (h *History) cutOf(level int) time.Time {
	if c := h.cuts[h.origin]; c != nil {
		return c[level]
	}
	return time.Time{}
}

// pruneOld throws away what is too old, and the oldest of what is too much, once in five minutes.
func (h *History) pruneOld(ctx context.Context, now time.Time) error {
	if d := now.Sub(h.pruned); d >= 0 && d < 5*time.Minute {
		return nil
	}
	if h.steady >= steadyFor {
		for level := range levels {
			if err := h.dropBefore(ctx, level, now.Add(-h.o.Keep[level])); err != nil {
				return err
			}
		}
	}
	for range 40 {
		size, err := h.shelf.Size(ctx)
		if err != nil {
			return err
		}
		h.size.Store(size)
		if size <= h.o.Size {
			break
		}
		dropped, err := h.dropSome(ctx, now)
		if err != nil || !dropped {
			return err
		}
	}
	h.pruned = now
	return nil
}

// dropBefore throws a level's windows away that are older than before, whole coarser windows of them.
func (h *History) dropBefore(ctx context.Context, level int, before time.Time) error {
	coarser := width[min(level+1, Day)]
	before = before.UTC().Truncate(coarser)
	if !before.After(h.cutOf(level)) {
		return nil
	}
	for at := range h.dirty[min(level+1, Day)] { // of hours that are being waited for nothing is thrown away
		if level < Day && at.Before(before) {
			before = at
		}
	}
	if !before.After(h.cutOf(level)) {
		return nil
	}
	gone, err := h.shelf.Keys(ctx, store.Span{Level: level, To: before})
	if err != nil {
		return err
	}
	c := store.WindowsChange{Drop: []store.Span{{Level: level, To: before}}}
	origins := map[string]bool{h.origin: true}
	for _, w := range gone {
		origins[w.Origin] = true
	}
	for _, o := range slices.Sorted(maps.Keys(origins)) {
		c.Drop = append(c.Drop, store.Span{Level: mark + level, Origin: o})
		c.Put = append(c.Put, store.Window{Level: mark + level, Origin: o, At: before, Body: []byte{}})
	}
	if err := h.shelf.Apply(ctx, c); err != nil {
		return err
	}
	for o := range origins {
		if h.cuts[o] == nil {
			h.cuts[o] = new([levels]time.Time)
		}
		h.cuts[o][level] = before
	}
	return nil
}

// dropSome throws away the oldest quarter of the finest level that has something to lose.
func (h *History) dropSome(ctx context.Context, now time.Time) (bool, error) {
	for level := range levels {
		list, err := h.shelf.Keys(ctx, store.Span{Level: level})
		if err != nil {
			return false, err
		}
		if len(list) == 0 {
			continue
		}
		coarser := width[min(level+1, Day)]
		before := list[len(list)/4].At.Truncate(coarser).Add(coarser)
		if before.After(now.Truncate(coarser)) {
			before = now.Truncate(coarser)
		}
		was := h.cutOf(level)
		if err := h.dropBefore(ctx, level, before); err != nil {
			return false, err
		}
		if h.cutOf(level).After(was) {
			h.o.Log.Info("the history is full; its oldest windows were thrown away", "level", name(level), "before", h.cutOf(level))
			return true, nil
		}
	}
	return false, nil
}

// errNoShelf is returned while there is nothing to read from.
var errNoShelf = errors.New("the history can not be read now")

// openForReading opens the shelf if need be.
func (h *History) openForReading(ctx context.Context) (Shelf, error) {
	if err := h.openShelf(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoShelf, err)
	}
	return h.shelf, nil
}
