package advisor

import (
	"fmt"
	"sort"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
)

// Bounds of what is remembered.
const (
	maxOpen   = 50 // recommendations that are open or approved
	maxRecent = 50 // that are dismissed, superseded or expired
)

// material is by how many times the saving of dismissed or snoozed advice must have grown for the question to be asked again.
const material = 2

// book is what is known of recommendations over time: decisions, and when they were first made.
type book struct {
	Entries []recommend.Recommendation // as people are told of them
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
	return book{Entries: append([]recommend.Recommendation(nil), b.Entries...)}
}

// merge brings fresh advice and remembered decisions together. Advice that is not given any more expires, unless it is
// approved: what runs is not forgotten because it helped. It returns how many changed their state.
//
// hold says what is kept open although it is not advised now; nil: nothing is.
func (b *book) merge(fresh []recommend.Recommendation, now time.Time, hold func(*recommend.Recommendation) bool) int {
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
		switch state, why := next(old, &r, now); state {
		case old.State:
			r.State, r.StateReason, r.Actor, r.StateSince, r.Until = old.State, old.StateReason, old.Actor, old.StateSince, old.Until
			// As it was when it was dismissed or snoozed: that is what a change is measured by. And a calendar as it was approved: that
			// is what is carried out.
			if putOff(old.State) || old.State == recommend.Approved && old.Kind == recommend.TimelineKind {
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
		if given[old.ID] || old.State != recommend.Open && (old.State != recommend.Snoozed || now.Before(old.Until)) {
			continue
		}
		by := successor(old, fresh)
		if by == nil && hold != nil && hold(old) {
			continue
		}
		old.State, old.StateSince, old.Actor = recommend.Expired, now, ""
		old.StateReason = "the traffic or the tables have changed: it is not advised any more"
		if by != nil {
			old.State, old.StateReason = recommend.Superseded, "by "+by.ID+", "+by.Title
		}
		changed++
	}
	b.trim()
	return changed
}

// next is the state in which remembered advice comes back when it is given again.
func next(old, fresh *recommend.Recommendation, now time.Time) (recommend.State, string) {
	was := map[recommend.State]string{recommend.Rejected: "dismissed", recommend.Snoozed: "snoozed"}[old.State]
	switch {
	case old.State == recommend.Superseded, old.State == recommend.Expired:
		return recommend.Open, "advised again"
	case !putOff(old.State):
	case old.SchemaDigest != fresh.SchemaDigest:
		return recommend.Open, was + " before; its tables have been altered since (" + old.StateReason + ")"
	case fresh.SavedSecondsPerSecond > material*old.SavedSecondsPerSecond && fresh.SavedSecondsPerSecond > 0:
		return recommend.Open, fmt.Sprintf(was+" before; it would save %.1f times as much now (%s)",
			fresh.SavedSecondsPerSecond/max(old.SavedSecondsPerSecond, 1e-9), old.StateReason)
	case old.State == recommend.Snoozed && !now.Before(old.Until):
		return recommend.Open, awake(old.Until, old.StateReason)
	}
	return old.State, ""
}

// putOff reports whether a person has put a recommendation off, for good or for a while.
func putOff(s recommend.State) bool { return s == recommend.Rejected || s == recommend.Snoozed }

// awake is why a snoozed recommendation waits for a decision again.
func awake(until time.Time, reason string) string {
	return fmt.Sprintf("snoozed before, until %s (%s)", until.UTC().Format(time.RFC3339), reason)
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

// trim forgets the least of what is too many: of the open ones those that save least, of the others the oldest. Approved
// and snoozed ones are never forgotten.
func (b *book) trim() {
	b.sort()
	open, recent := 0, 0
	kept := b.Entries[:0]
	for _, r := range b.Entries {
		switch r.State {
		case recommend.Approved, recommend.Snoozed:
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

func (b *book) sort() {
	sort.SliceStable(b.Entries, func(i, j int) bool { return before(&b.Entries[i], &b.Entries[j]) })
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

// opened are recommendations that wait for a decision which they did not wait for before. One that comes and goes with the traffic is opened
// once, and what is best left as it is never: there is nothing to decide.
func opened(before, after *book) (all []recommend.Recommendation) {
	for i := range after.Entries {
		now := &after.Entries[i]
		if now.State != recommend.Open || now.Kind == recommend.Keep {
			continue
		}
		if old := before.find(now.ID); old == nil || putOff(old.State) || old.Kind == recommend.Keep {
			all = append(all, *now)
		}
	}
	return all
}
