package advisor

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
)

// Bounds of what is remembered.
const (
	maxOpen   = 50 // recommendations that are open or approved
	maxRecent = 50 // that are rejected, superseded or expired
)

// material is by how many times the saving of rejected advice must have grown for the question to be asked again.
const material = 2

// The one document that holds the book, and its version.
const (
	bookKind    = "recommendations"
	bookID      = "advisor"
	bookVersion = 1
)

// book is what is known of recommendations over time: decisions, and when they were first made.
type book struct {
	Version int                        `json:"version"`
	Entries []recommend.Recommendation `json:"entries"` // by id
}

func (b *book) find(id string) *recommend.Recommendation {
	for i := range b.Entries {
		if b.Entries[i].ID == id {
			return &b.Entries[i]
		}
	}
	return nil
}

func (b *book) clone() book {
	return book{Version: b.Version, Entries: append([]recommend.Recommendation(nil), b.Entries...)}
}

// merge brings fresh advice and remembered decisions together. Advice that is not given any more expires, unless it is
// approved: what runs is not forgotten because it helped. It returns how many changed their state.
func (b *book) merge(fresh []recommend.Recommendation, now time.Time) int {
	changed := 0
	given := map[string]bool{}
	for _, r := range fresh {
		given[r.ID] = true
		r.State, r.StateSince, r.CreatedAt, r.LastRefresh = recommend.Open, now, now, now
		old := b.find(r.ID)
		if old == nil {
			b.Entries = append(b.Entries, r)
			changed++
			continue
		}
		r.CreatedAt = old.CreatedAt
		switch state, why := next(old, &r); state {
		case old.State:
			r.State, r.StateReason, r.Actor, r.StateSince = old.State, old.StateReason, old.Actor, old.StateSince
			// As it was when it was rejected: that is what a change is measured by. And a calendar as it was approved: that is what
			// is carried out.
			if old.State == recommend.Rejected || old.State == recommend.Approved && old.Kind == recommend.TimelineKind {
				refreshed := *old
				refreshed.LastRefresh = now
				r = refreshed
			}
		default:
			r.State, r.StateReason = state, why
			changed++
		}
		*old = r
	}
	for i := range b.Entries {
		old := &b.Entries[i]
		if given[old.ID] || old.State != recommend.Open {
			continue
		}
		old.State, old.StateSince, old.Actor = recommend.Expired, now, ""
		old.StateReason = "the traffic or the tables have changed: it is not advised any more"
		if by := successor(old, fresh); by != nil {
			old.State, old.StateReason = recommend.Superseded, "by "+by.ID+", "+by.Title
		}
		changed++
	}
	b.trim()
	return changed
}

// next is the state in which remembered advice comes back when it is given again.
func next(old, fresh *recommend.Recommendation) (recommend.State, string) {
	switch old.State {
	case recommend.Superseded, recommend.Expired:
		return recommend.Open, "advised again"
	case recommend.Rejected:
		if old.SchemaDigest != fresh.SchemaDigest {
			return recommend.Open, "rejected before; its tables have been altered since (" + old.StateReason + ")"
		}
		if fresh.SavedSecondsPerSecond > material*old.SavedSecondsPerSecond && fresh.SavedSecondsPerSecond > 0 {
			return recommend.Open, fmt.Sprintf("rejected before; it would save %.1f times as much now (%s)",
				fresh.SavedSecondsPerSecond/max(old.SavedSecondsPerSecond, 1e-9), old.StateReason)
		}
	}
	return old.State, ""
}

// successor finds fresh advice of the same kind for a statement of old advice.
func successor(old *recommend.Recommendation, fresh []recommend.Recommendation) *recommend.Recommendation {
	about := map[string]bool{}
	for _, s := range old.Statements {
		about[s.Fingerprint] = true
	}
	for i := range fresh {
		// What a kind says of a statement does not answer what another says: an index may be worth keeping for a statement that
		// a chain of reads would better not need at all. A look-up that became a keep, and back, is one question.
		if question(fresh[i].Kind) != question(old.Kind) {
			continue
		}
		for _, s := range fresh[i].Statements {
			if about[s.Fingerprint] {
				return &fresh[i]
			}
		}
	}
	return nil
}

// question is what a kind of advice answers.
func question(k recommend.Kind) recommend.Kind {
	if k == recommend.Keep {
		return recommend.LookUpTable
	}
	return k
}

// trim forgets the least of what is too many: of the open ones those that save least, of the others the oldest. Approved ones are
// never forgotten.
func (b *book) trim() {
	sort.SliceStable(b.Entries, func(i, j int) bool { return before(&b.Entries[i], &b.Entries[j]) })
	open, recent := 0, 0
	kept := b.Entries[:0]
	for _, r := range b.Entries {
		switch r.State {
		case recommend.Approved:
		case recommend.Open:
			if open++; open > maxOpen {
				continue
			}
		default:
			if recent++; recent > maxRecent {
				continue
			}
		}
		kept = append(kept, r)
	}
	b.Entries = kept
}

// before orders recommendations for people: what can be acted on first, by what it saves; keeps after them; then what is
// over, the latest first.
func before(a, b *recommend.Recommendation) bool {
	rank := func(r *recommend.Recommendation) int {
		switch {
		case r.State == recommend.Approved:
			return 0
		case r.State == recommend.Open && r.Kind != recommend.Keep:
			return 1
		case r.State == recommend.Open:
			return 2
		}
		return 3
	}
	switch x, y := rank(a), rank(b); {
	case x != y:
		return x < y
	case x == 3 && !a.StateSince.Equal(b.StateSince):
		return a.StateSince.After(b.StateSince)
	case a.SavedSecondsPerSecond != b.SavedSecondsPerSecond:
		return a.SavedSecondsPerSecond > b.SavedSecondsPerSecond
	}
	return a.ID < b.ID
}

// load reads the book from the store, once.
func (a *Advisor) load(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loaded {
		return nil
	}
	a.book = book{Version: bookVersion}
	if a.o.Store != nil {
		var b book
		err := a.o.Store.Load(ctx, bookKind, bookID, &b)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return fmt.Errorf("read the recommendations kept in the state directory: %w", err)
		case b.Version != bookVersion:
			return fmt.Errorf("the recommendations kept in the state directory have version %d, this Helenus reads version %d: use the one that wrote them", b.Version, bookVersion)
		default:
			a.book = b
		}
	}
	a.loaded = true
	return nil
}

// reconsidered are the lines of the audit trail about decisions of persons that a round does not let stand.
func reconsidered(ctx context.Context, before, after *book) (entries []store.Entry) {
	for i := range before.Entries {
		old := &before.Entries[i]
		if old.State != recommend.Rejected && old.State != recommend.Approved {
			continue
		}
		if now := after.find(old.ID); now != nil && now.State != old.State {
			entries = append(entries, store.Entry{Action: "reconsider", Target: old.ID, Reason: now.StateReason, Before: string(old.State), After: string(now.State)}.By(ctx, store.Self))
		}
	}
	return entries
}

// opened are recommendations that wait for a decision which they did not wait for before. One that comes and goes with the traffic is opened
// once, and what is best left as it is never: there is nothing to decide.
func opened(before, after *book) (all []recommend.Recommendation) {
	for i := range after.Entries {
		now := &after.Entries[i]
		if now.State != recommend.Open || now.Kind == recommend.Keep {
			continue
		}
		if old := before.find(now.ID); old == nil || old.State == recommend.Rejected || old.Kind == recommend.Keep {
			all = append(all, *now)
		}
	}
	return all
}

// keep saves a changed book, and who wants it so, and makes it the valid one; on an error the old one stays valid.
func (a *Advisor) keep(ctx context.Context, changed book, entries ...store.Entry) error {
	if a.o.Store != nil {
		if err := a.o.Store.Decide(ctx, bookKind, bookID, changed, entries...); err != nil {
			return fmt.Errorf("keep the recommendations in the state directory: %w", err)
		}
	}
	a.book = changed
	return nil
}
