// Package history remembers what was counted: a window each minute, added up to hours and days, behind a Shelf, which is
// SQLite (capture/store). It imports capture for what a window is, and capture/store for its rows and errors.
//
// # Levels
//
// A window of level Minute is what the registry counted since the window before (Snapshot.Since), cut to the statements that
// made the most work; what is cut is in its Other, so no count is lost. When an hour is over its minutes are merged into
// one window of level Hour, hours into days likewise. Merging is exact, so it does not matter which level answers: Between
// takes the coarsest windows that lie wholly in the period, and the finer ones at its ends. Each level is kept for its time;
// over the size limit the oldest of the finest goes first, always whole hours, or whole days, so that a coarse window either has
// all its finer ones or is alone. A mark says until when a level was thrown away. A window that comes late for an hour whose
// minutes are gone (the disk was full for days, a clock was set back) is added to the hour as it is.
//
// A window in which nothing was said is written too: a time without windows is one in which the proxy was down, and a rolled up
// window says for how long it was Watched. Hours gives what cycles are looked for in (capture/cycle): executions by the hour.
//
// Rolling up is done again from the finer windows whenever one was added, and writes one row in one transaction, so it may be
// interrupted anywhere. At the start all that was not rolled up is.
//
// # When it can not be written
//
// The windows wait in memory, at most 120; beyond that the two oldest become one. What is wrong is said once in the log and in
// helenus_history_writable; each minute it is tried again. A damaged file, or one that is not ours, is moved aside and a new
// one begun. A process that is killed loses what it counted since its last window: a minute, if it could write.
//
// # Clocks
//
// A window is filed under the moment that it ended. When the clock jumps by more than a minute between two windows, nothing
// is thrown away by age for an hour: a clock that is in another year for a moment must not cost the history.
//
// # Several proxies
//
// Windows of several proxies may lie on one shelf: each has its origin, and Between adds all of them up. Export writes them as lines between a head and an
// end, and Import takes each once: of two of one level, origin and time the one that has counted more, and none that is before the mark of its
// level and in a coarser window already. So what is imported twice, or in another order, comes to the same. The members of a fleet do so with their hours by themselves (members.go).
//
// Where the link is thin: periods are answered in whole windows; a statement that was cut from a minute's window is missing
// from that minute's record of it (its executions are under other).
package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/store"
)

// Levels of windows.
const (
	Minute = iota
	Hour
	Day
	levels

	// mark + level is the level of the row that says until when windows of the level were thrown away.
	mark = 100
)

// width is how long a window of a level is; of minutes it is the registry's affair.
var width = [levels]time.Duration{time.Minute, time.Hour, 24 * time.Hour}

var levelNames = [levels]string{"minute", "hour", "day"}

// Shelf is where windows are kept. *store.Windows is one.
type Shelf interface {
	Origin() string
	Apply(ctx context.Context, c store.WindowsChange) error
	Each(ctx context.Context, s store.Span, yield func(store.Window) error) error
	Keys(ctx context.Context, s store.Span) ([]store.Window, error)
	Size(ctx context.Context) (int64, error)
	Close() error
}

// maxWindow bounds what a window may unpack to, bytes.
const maxWindow = 256 << 20

func packSnapshot(s *capture.Snapshot) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(s); err != nil {
		return nil, fmt.Errorf("pack a window: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack a window: %w", err)
	}
	return b.Bytes(), nil
}

func unpackWindow(w store.Window) (*capture.Snapshot, error) {
	var s capture.Snapshot
	z, err := gzip.NewReader(bytes.NewReader(w.Body))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, maxWindow)).Decode(&s)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack the window of %s at %s: %w", name(w.Level), w.At.Format(time.RFC3339), err)
	}
	return &s, nil
}

func name(level int) string {
	if level >= 0 && level < levels {
		return levelNames[level]
	}
	return fmt.Sprintf("level %d", level)
}
