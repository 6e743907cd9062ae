package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/store"
)

// formatVersion is the version of the form that Export writes and Import reads: one JSON value a line. The first line is a head, the last one an
// end, which tells a file that is whole from one that was cut off between two lines. Files may be put one after the other.
const formatVersion = 1

// head is the first line.
type head struct {
	Format string `json:"format"`
	// Version is told before anything else is read, so that a file of a newer program is called that, not nonsense.
	Version int `json:"version"`
}

// formatName is what a head's Format says.
const formatName = "helenus-history"

// tail is the last line.
type tail struct {
	Windows int `json:"windows"` // how many were before it
}

// line is a window as it is exported.
type line struct {
	Level    int               `json:"level"`
	Origin   string            `json:"origin"`
	At       time.Time         `json:"at"`
	Snapshot *capture.Snapshot `json:"snapshot,omitempty"` // none: all older windows of the level were thrown away
}

// entry is a line as it is read: a window, or the tail.
type entry struct {
	line
	Windows *int `json:"windows"`
}

// Export writes the windows that begin from a time on and before another (zero: all later ones) as JSON lines, and returns how many.
func Export(ctx context.Context, shelf Shelf, w io.Writer, from, to time.Time) (n int, err error) {
	out := bufio.NewWriter(w)
	write := json.NewEncoder(out)
	if err := write.Encode(head{formatName, formatVersion}); err != nil {
		return 0, err
	}
	for _, level := range []int{mark + Minute, mark + Hour, mark + Day, Minute, Hour, Day} {
		span := store.Span{Level: level, From: from, To: to}
		if level >= mark {
			span = store.Span{Level: level}
		}
		err := shelf.Each(ctx, span, func(one store.Window) error {
			l := line{Level: one.Level, Origin: one.Origin, At: one.At}
			if level < mark {
				s, err := unpackWindow(one)
				if err != nil {
					return err
				}
				l.Snapshot = s
				n++
			}
			return write.Encode(l)
		})
		if err != nil {
			return n, err
		}
	}
	if err := write.Encode(tail{n}); err != nil {
		return n, err
	}
	return n, out.Flush()
}

// FormatError says what is wrong with a file that was to be imported.
type FormatError struct {
	Line int    // from 1
	Why  string // as the end of "line 7 ..."
}

func (e *FormatError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.Why) }

// Imported says what became of the windows of a file.
type Imported struct {
	Read  int // all of them
	Taken int // those that were not there, or that had counted more than the one that was
}

// Import reads what Export wrote. A window that is there already (of the same level, origin and time) stays,
// or is replaced if the one that is read has counted more, and what was thrown away since is not taken back twice; so a file, or an older and a newer one
// of the same origin, may be imported in any order and as often as one likes. An error that is a *FormatError names the line; what came before it is there.
func Import(ctx context.Context, shelf Shelf, r io.Reader) (done Imported, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxWindow)
	whole := true // an end was read, and no head since
	began := 0    // windows before the last head
	at := 0
	wrong := func(format string, args ...any) error { return &FormatError{at, fmt.Sprintf(format, args...)} }
	for in.Scan() {
		at++
		if whole {
			if why := headFault(in.Bytes()); why != "" {
				return done, wrong("%s", why)
			}
			whole, began = false, done.Read
			continue
		}
		var l entry
		if err := decodeStrict(in.Bytes(), &l); err != nil {
			return done, wrong("is not a window of a history, or was cut off: %v", err)
		}
		isMark := l.Level >= mark && l.Level < mark+levels
		switch {
		case l.Windows != nil && *l.Windows != done.Read-began:
			return done, wrong("says that there are %d windows before it, but there are %d: some are missing", *l.Windows, done.Read-began)
		case l.Windows != nil:
			whole = true
		case !isMark && (l.Level < 0 || l.Level >= levels) || isMark != (l.Snapshot == nil) || l.Origin == "":
			return done, wrong("is not a window of a history: level %d, origin %q", l.Level, l.Origin)
		case isMark:
			err = takeMark(ctx, shelf, l.Level-mark, l.Origin, l.At)
		default:
			var taken bool
			if taken, err = takeWindow(ctx, shelf, &l.line); err == nil {
				done.Read++
			}
			if taken {
				done.Taken++
			}
		}
		if err != nil {
			return done, err
		}
	}
	at++
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return done, wrong("is longer than %d MB, which no window of a history is", maxWindow>>20)
	case err != nil:
		return done, fmt.Errorf("read the history that is to be imported: %w", err)
	case at == 1:
		return done, wrong("is missing: there is nothing to import")
	case !whole:
		return done, wrong("is missing: it was cut off")
	}
	return done, nil
}

// headFault says what is wrong with the first line of a file.
func headFault(text []byte) string {
	const foreign = "does not begin a history as `helenus history export` writes it"
	var h head
	// Fields that are not known are those of a newer version, so they are no mistake here.
	if err := json.Unmarshal(text, &h); err != nil {
		return foreign + ": " + strings.TrimSpace(err.Error())
	}
	switch {
	case h.Format != formatName || h.Version < 1:
		return foreign
	case h.Version > formatVersion:
		return fmt.Sprintf("says that this history is of version %d; this program knows %d: import it with a newer Helenus", h.Version, formatVersion)
	}
	return ""
}

// decodeStrict reads one JSON value without fields that are not known.
func decodeStrict(text []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if in.More() {
		return errors.New("there is more than one value on it")
	}
	return nil
}

// takeWindow puts a window on the shelf, if it brings anything.
//
// What is before the mark of its level was thrown away once, and is in the coarser window if there is one: with it, it would be counted twice when
// late windows are added (rollWindow). So a fine window is left out there, and a coarse one takes the finer ones before their mark with it.
func takeWindow(ctx context.Context, shelf Shelf, l *line) (bool, error) {
	marks, err := readCuts(ctx, shelf)
	if err != nil {
		return false, err
	}
	gone := new([levels]time.Time)
	if m := marks[l.Origin]; m != nil {
		gone = m
	}
	if l.Level < Day && l.At.Before(gone[l.Level]) {
		if covered, err := hasWindow(ctx, shelf, l.Level+1, l.Origin, l.At.Truncate(width[l.Level+1])); covered || err != nil {
			return false, err
		}
	}
	more := true
	err = shelf.Each(ctx, store.Span{Level: l.Level, Origin: l.Origin, From: l.At, To: l.At.Add(1)}, func(w store.Window) error {
		s, err := unpackWindow(w)
		more = err == nil && l.Snapshot.Count() > s.Count()
		return err
	})
	if err != nil || !more {
		return false, err
	}
	body, err := packSnapshot(l.Snapshot)
	if err != nil {
		return false, err
	}
	c := store.WindowsChange{Put: []store.Window{{Level: l.Level, Origin: l.Origin, At: l.At, Body: body}}}
	if l.Level > Minute && l.At.Before(gone[l.Level-1]) {
		c.Drop = []store.Span{{Level: l.Level - 1, Origin: l.Origin, From: l.At, To: l.At.Add(width[l.Level])}}
	}
	err = shelf.Apply(ctx, c)
	return err == nil, err
}

// takeMark moves the mark of a level on to a time, never back, and drops what is before it and in a coarser window already.
func takeMark(ctx context.Context, shelf Shelf, level int, origin string, to time.Time) error {
	marks, err := readCuts(ctx, shelf)
	if err != nil {
		return err
	}
	if m := marks[origin]; m != nil && !to.After(m[level]) {
		return nil
	}
	c := store.WindowsChange{
		Drop: []store.Span{{Level: mark + level, Origin: origin}},
		Put:  []store.Window{{Level: mark + level, Origin: origin, At: to, Body: []byte{}}},
	}
	if level < Day {
		coarse, err := shelf.Keys(ctx, store.Span{Level: level + 1, Origin: origin, To: to})
		if err != nil {
			return err
		}
		for _, w := range coarse {
			c.Drop = append(c.Drop, store.Span{Level: level, Origin: origin, From: w.At, To: w.At.Add(width[level+1])})
		}
	}
	return shelf.Apply(ctx, c)
}

// hasWindow reports whether the shelf has a window.
func hasWindow(ctx context.Context, shelf Shelf, level int, origin string, at time.Time) (bool, error) {
	list, err := shelf.Keys(ctx, store.Span{Level: level, Origin: origin, From: at, To: at.Add(1)})
	return len(list) > 0, err
}
