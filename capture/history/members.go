package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// Members of a fleet know each other's hours, so that whoever leads finds the cycles of all traffic, and a member that comes later, too. By way of the fleet's state:
//
//	hours       a member's: of which hours it has left windows, of whatever origin
//	hour <at>   of an origin: its window of that hour
//
// Each leaves the hours of its shelf that nobody has left yet, once they are over, and takes those of which it has none (Import says what of two is kept). So the traffic is one
// window for each member and hour, and nothing has to be agreed on: what two leave at once is the same.

// State is the fleet's state, as far as hours need it: rows of bytes, each of a kind and a key.
type State interface {
	// Put stores a row in place of the one of its kind and key. After keep it may be forgotten.
	Put(ctx context.Context, kind, key string, body []byte, keep time.Duration) error
	// All returns the rows of a kind by key.
	All(ctx context.Context, kind string) (map[string][]byte, error)
}

// Known is how long members leave an hour for others, if it is kept for as long: two weeks, which a week's cycle needs, and a day to come.
const Known = 15 * 24 * time.Hour

// statementsLeft is how many statements of an hour are left by themselves: 130 kB of 500 busy ones, so that 15 days of a member have 50 MB.
const statementsLeft = 500

// hoursKind is of what each member has left, hourKind the beginning of the kind of an hour's windows.
const (
	hoursKind = "hours"
	hourKind  = "hour "
)

// heldHours are hours by origin, as seconds since 1970.
type heldHours map[string]map[int64]bool

func (h heldHours) add(origin string, hours ...int64) {
	if h[origin] == nil {
		h[origin] = map[int64]bool{}
	}
	for _, at := range hours {
		h[origin][at] = true
	}
}

// Exchange leaves hours that the other members do not know, and takes theirs. name is this member's. What of others can not be read is left out, and in the error.
func (h *History) Exchange(ctx context.Context, state State, name string) (left, taken int, err error) {
	h.mu.Lock()
	shelf, err := h.openForReading(ctx)
	keep, room := min(Known, h.o.Keep[Hour]), h.o.Size/2 // the other half is for what is its own
	from := h.o.Now().Add(-keep).UTC()
	h.mu.Unlock()
	if err != nil {
		return 0, 0, err
	}
	lists, err := state.All(ctx, hoursKind)
	if err != nil {
		return 0, 0, err
	}
	known, own := heldHours{}, heldHours{}
	var wrong []error
	for member, body := range lists {
		var list map[string][]int64
		if err := json.Unmarshal(body, &list); err != nil {
			wrong = append(wrong, fmt.Errorf("which hours member %s has left can not be read: %w", member, err))
			continue
		}
		for origin, hours := range list {
			hours = slices.DeleteFunc(hours, func(at int64) bool { return at < from.Unix() })
			known.add(origin, hours...)
			if member == name {
				own.add(origin, hours...)
			}
		}
	}
	if left, err = leaveHours(ctx, shelf, state, name, from, keep, known, own); err == nil {
		taken, err = takeHours(ctx, shelf, state, from, known, room)
	}
	return left, taken, errors.Join(append(wrong, err)...)
}

// leaveHours leaves what of the shelf is not known yet, and says so.
func leaveHours(ctx context.Context, shelf Shelf, state State, name string, from time.Time, keep time.Duration, known, own heldHours) (left int, err error) {
	list, err := shelf.Keys(ctx, store.Span{Level: Hour, From: from})
	if err != nil {
		return 0, err
	}
	for _, w := range list {
		if known[w.Origin][w.At.Unix()] {
			continue
		}
		put := func(w store.Window) error {
			body, err := cutHour(w)
			if err != nil {
				return err
			}
			return state.Put(ctx, kindOfHour(w.At), w.Origin, body, keep)
		}
		if err = shelf.Each(ctx, store.Span{Level: Hour, Origin: w.Origin, From: w.At, To: w.At.Add(1)}, put); err != nil {
			break
		}
		own.add(w.Origin, w.At.Unix())
		left++
	}
	if left == 0 {
		return 0, err
	}
	said := map[string][]int64{}
	for origin, hours := range own {
		said[origin] = slices.Sorted(maps.Keys(hours))
	}
	body, bad := json.Marshal(said)
	if bad == nil {
		bad = state.Put(ctx, hoursKind, name, body, keep)
	}
	return left, errors.Join(err, bad)
}

// cutHour is a window's body with the statements that made the most work; no count is lost.
func cutHour(w store.Window) ([]byte, error) {
	s, err := unpackWindow(w)
	if err != nil || len(s.Statements) <= statementsLeft {
		return w.Body, err
	}
	return packSnapshot(s.Cut(statementsLeft))
}

// takeHours puts on the shelf what it has not, and has not thrown away, of the hours that are known, the latest first, as long as it has no more than so many bytes.
func takeHours(ctx context.Context, shelf Shelf, state State, from time.Time, known heldHours, room int64) (taken int, err error) {
	list, err := shelf.Keys(ctx, store.Span{Level: Hour, From: from})
	if err != nil {
		return 0, err
	}
	for _, w := range list {
		delete(known[w.Origin], w.At.Unix())
	}
	marks, err := readCuts(ctx, shelf)
	if err != nil {
		return 0, err
	}
	wanted := map[int64]bool{}
	for origin, hours := range known {
		if m := marks[origin]; m != nil {
			maps.DeleteFunc(hours, func(at int64, _ bool) bool { return at < m[Hour].Unix() })
		}
		maps.Copy(wanted, hours)
	}
	var wrong []error
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(wanted))) {
		if size, err := shelf.Size(ctx); err != nil || size > room {
			if err == nil {
				err = fmt.Errorf("%d hours of other members are left out: the history has %d MB, and %d are for others' hours as well (history-size)", len(wanted)-taken, size>>20, room>>20)
			}
			return taken, errors.Join(append(wrong, err)...)
		}
		when := time.Unix(at, 0).UTC()
		rows, err := state.All(ctx, kindOfHour(when))
		if err != nil {
			return taken, errors.Join(append(wrong, err)...)
		}
		for _, origin := range slices.Sorted(maps.Keys(rows)) {
			if !known[origin][at] {
				continue
			}
			fresh, err := takeHour(ctx, shelf, store.Window{Level: Hour, Origin: origin, At: when, Body: rows[origin]})
			if err != nil {
				wrong = append(wrong, fmt.Errorf("an hour of another member's, %s: %w", origin, err))
			}
			if fresh {
				taken++
			}
		}
	}
	return taken, errors.Join(wrong...)
}

// takeHour puts one on the shelf, if it brings anything.
func takeHour(ctx context.Context, shelf Shelf, w store.Window) (bool, error) {
	s, err := unpackWindow(w)
	if err != nil {
		return false, err
	}
	return takeWindow(ctx, shelf, &line{Level: w.Level, Origin: w.Origin, At: w.At, Snapshot: s})
}

func kindOfHour(at time.Time) string { return hourKind + at.UTC().Format(time.RFC3339) }
