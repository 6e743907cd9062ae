package advisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
)

// named finds a recommendation by its id or the beginning of it.
func (b *book) named(id string) (*recommend.Recommendation, error) {
	if r := b.find(id); r != nil {
		return r, nil
	}
	var found *recommend.Recommendation
	for i := range b.Entries {
		if !strings.HasPrefix(b.Entries[i].ID, id) || len(id) < 3 {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("more than one recommendation begins with %q: %s and %s", id, found.ID, b.Entries[i].ID)
		}
		found = &b.Entries[i]
	}
	if found == nil {
		return nil, &NotFoundError{ID: id}
	}
	return found, nil
}

// wish is a decision of a person: from which states it leads to which, and why not from the others.
type wish struct {
	name string
	from map[recommend.State]bool
	to   recommend.State
	why  map[recommend.State]string
}

var wishes = struct{ reject, approve, reopen wish }{
	reject: wish{
		name: "reject", to: recommend.Rejected,
		from: map[recommend.State]bool{recommend.Open: true},
		why: map[recommend.State]string{
			recommend.Approved:   "it is being carried out; roll its migration back first",
			recommend.Rejected:   "there is nothing left to do",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
	approve: wish{
		name: "approve", to: recommend.Approved,
		from: map[recommend.State]bool{recommend.Open: true},
		why: map[recommend.State]string{
			recommend.Approved:   "see `helenus migrations`",
			recommend.Rejected:   "open it again first (`helenus reopen`)",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
	reopen: wish{
		name: "reopen", to: recommend.Open,
		from: map[recommend.State]bool{recommend.Rejected: true, recommend.Approved: true},
		why: map[recommend.State]string{
			recommend.Open:       "there is nothing left to do",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
}

// Reject takes a recommendation off the list, with a reason. It comes back when the facts change materially: see the
// package comment.
func (a *Advisor) Reject(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	if strings.TrimSpace(reason) == "" {
		return recommend.Recommendation{}, errors.New("a rejection needs a reason: it is shown to whoever asks why nothing was done")
	}
	return a.decide(ctx, wishes.reject, id, reason, actor)
}

// Approve marks a recommendation as approved. Carrying it out is the business of whoever calls; he calls it before he
// starts, and Reopen if the start fails or the migration was rolled back and dropped.
//
// What is not eligible because of single statements is approved all the same if each such verdict is overruled, which is kept as
// the reason of its state.
func (a *Advisor) Approve(ctx context.Context, id, actor string, despite ...plan.Overrule) (recommend.Recommendation, error) {
	reason := ""
	if len(despite) > 0 {
		words := make([]string, len(despite))
		for i, o := range despite {
			words[i] = o.String()
		}
		reason = "despite " + strings.Join(words, ", ")
	}
	return a.decide(ctx, wishes.approve, id, reason, actor, despite...)
}

// Reopen takes a rejection or an approval back.
func (a *Advisor) Reopen(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	return a.decide(ctx, wishes.reopen, id, reason, actor)
}

func (a *Advisor) decide(ctx context.Context, w wish, id, reason, actor string, despite ...plan.Overrule) (recommend.Recommendation, error) {
	if err := a.load(ctx); err != nil {
		return recommend.Recommendation{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := a.book.clone()
	r, err := changed.named(id)
	if err != nil {
		return recommend.Recommendation{}, err
	}
	switch {
	case !w.from[r.State]:
		return *r, &StateError{ID: r.ID, State: r.State, Wish: w.name, Why: w.why[r.State]}
	case w.to == recommend.Approved && !r.Executable():
		return *r, &StateError{ID: r.ID, State: r.State, Wish: w.name, Why: "Helenus can not carry it out: it is advice to people (" + string(r.Kind) + ")"}
	case w.to == recommend.Approved:
		if why := ineligible(r, despite); why != "" {
			return *r, &StateError{ID: r.ID, State: r.State, Wish: w.name, Why: why}
		}
	}
	entry := store.Entry{Action: w.name, Target: r.ID, Reason: reason, Before: string(r.State), After: string(w.to)}.By(ctx, cmp.Or(actor, store.Self))
	if len(despite) > 0 {
		entry.Reason = "" // it is what follows
	}
	for _, o := range despite {
		entry.Despite = append(entry.Despite, o.String())
	}
	r.State, r.StateReason, r.Actor, r.StateSince = w.to, reason, actor, a.o.Clock()
	decided := *r
	changed.trim()
	if err := a.keep(ctx, changed, entry); err != nil {
		return recommend.Recommendation{}, err
	}
	a.decided[w.name]++
	a.o.Log.Info("recommendation decided", "id", decided.ID, "state", decided.State, "actor", entry.Actor, "from", entry.From, "reason", reason)
	return decided, nil
}

// ineligible says why a recommendation can not be approved, though some verdicts are overruled; "" if it can.
func ineligible(r *recommend.Recommendation, despite []plan.Overrule) string {
	left := *r
	left.Verdicts = nil
	used := make([]bool, len(despite))
	refused := 0
	whole := false
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		covered := false
		for n, o := range despite {
			if o.Covers(v) {
				covered, used[n] = true, true
			}
		}
		if covered {
			continue
		}
		left.Verdicts = append(left.Verdicts, *v)
		if v.Refused && v.Statement == "" {
			whole = true
		} else if v.Refused {
			refused++
		}
	}
	for n, ok := range used {
		if !ok {
			what := "nothing else does either: approve it without --despite"
			if !r.Eligible {
				what = "what does: " + refusals(r)
			}
			return fmt.Sprintf("nothing refuses it, or warns, by %s because of a statement %s; %s", despite[n].Condition.Name(), despite[n].Statement, what)
		}
	}
	switch {
	case r.Eligible:
		return ""
	case len(despite) == 0 || whole || r.Rewrite == nil || refused >= len(r.Rewrite.Statements):
		return "it is not eligible: " + refusals(&left)
	}
	return ""
}

// refusals lists the verdicts that refuse, and how one is overruled that can be.
func refusals(r *recommend.Recommendation) string {
	var out []string
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Refused {
			text := v.Refusal().Error()
			if v.Overrulable() {
				text += fmt.Sprintf(" (a person may overrule it: --despite %s:%.12s)", v.Condition, v.Cause)
			}
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "nobody has judged it"
	}
	return strings.Join(out, "; ")
}
