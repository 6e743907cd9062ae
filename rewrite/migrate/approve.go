package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Approve takes a change on. It is refused (a *condition.Refusal) if the schema is no longer the one that the advice was
// made on, or a condition forbids it; a second approval is an *ErrAlreadyApproved.
func (m *Manager) Approve(ctx context.Context, id string, lu plan.Rewrite, t Terms) (Change, error) {
	if err := t.Check(); err != nil {
		return Change{}, err
	}
	if t.OnEntryFailure == "" {
		t.OnEntryFailure = TurnBack
	}
	if !idPattern.MatchString(id) {
		return Change{}, fmt.Errorf("%q can not be the id of a change: up to 64 letters, digits, dots, dashes or underlines", id)
	}
	s := m.Schema()
	if s == nil {
		return Change{}, errors.New("the schema is not known yet: Cassandra was not reached since the start; try again later")
	}
	base := s.Table(lu.Keyspace, lu.Base)
	r := m.run(&lu)
	fitted, refusal := r.check(lu, base)
	if refusal != nil {
		return Change{}, refusal
	}
	if err := m.Prepare(ctx, &lu); err != nil { // what can not be made just now, create makes
		return Change{}, err
	}
	before, free, err := m.reserve(id, &lu)
	if err != nil {
		return Change{}, err
	}
	defer free()
	earlier := int64(0)
	if before != nil { // dropped: it begins anew, and must not find its first backfill done
		if x := before.get(); x.Mismatch == "" && x.Rewrite.Same(lu) {
			earlier = x.Earlier + x.Compared
		}
		if err := m.Store.Save(ctx, KindBackfill, id, m.whole()); err != nil {
			return Change{}, fmt.Errorf("save the checkpoint of change %s: %w", id, err)
		}
	}
	owner, err := Owner(ctx, m.Store)
	if err != nil {
		return Change{}, err
	}
	now := m.Now()
	r.id = id
	r.fits(fitted)
	if err := r.fillable(t.Fill); err != nil {
		return Change{}, err
	}
	form := 0
	if d := r.derived(); d != nil {
		form = d.Form()
	}
	r.m = Change{ID: id, Owner: owner, Rewrite: lu, Base: *base, State: Approved, Form: form, Actor: t.Actor, Approved: now, Earlier: earlier,
		Progress: Progress{Started: now}, OnEntryFailure: t.OnEntryFailure, Fill: t.Fill, Despite: t.Despite, Hold: t.Hold, Replication: replicationOf(s, lu.Keyspace)}
	r.m.note(now, t.Actor, "approved; if an entry can not be written: "+t.OnEntryFailure)
	if t.Hold {
		r.m.note(now, t.Actor, "approved, and held before the cut-over")
	}
	for _, o := range t.Despite {
		r.m.note(now, t.Actor, fmt.Sprintf("approved despite %s, because of statement %s", o.Condition.Name(), o.Statement))
	}
	r.repace()
	begun, err := m.begin(ctx, r, t)
	if err != nil {
		return Change{}, err
	}
	m.Log.Info("change", "change_id", id, "order", begun.Action, "state", Approved, "actor", begun.Actor, "from", begun.From, "despite", begun.Despite)
	m.tally.add(Decision{ActApprove, decider(t.Actor)})
	return m.shown(m.enlist(r, before)), nil
}

// reserve keeps an id, and a table, for one who approves until free is called: what he stores takes as long as the state takes, and no lock is held meanwhile.
// before is the dropped change of the same id, nil if there is none.
func (m *Manager) reserve(id string, c *plan.Rewrite) (before *run, free func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	same := func(other *plan.Rewrite) bool {
		return other.Keyspace == c.Keyspace && other.Kind == c.Kind && other.Base == c.Base && other.Column == c.Column || other.FullTable() == c.FullTable() && c.Table != ""
	}
	for other, have := range m.reserved {
		if other == id || same(have) {
			return nil, nil, &ErrAlreadyApproved{other, Approved}
		}
	}
	for _, other := range m.sorted() {
		have := other.seen()
		if (have.ID == id && have.State != Dropped) || (have.Active() && same(&have.Rewrite)) {
			return nil, nil, &ErrAlreadyApproved{have.ID, have.State}
		}
	}
	m.reserved[id] = c
	return m.runs[id], func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.reserved, id)
	}, nil
}

// enlist has a change driven whose approval is stored. Who follows what is stored may have been first: then it is that run.
func (m *Manager) enlist(r, before *run) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	if have := m.runs[r.id]; have != before {
		return have
	}
	m.runs[r.id] = r
	m.start(r)
	return r
}

// check tells whether a change still fits its base table.
func (r *run) check(lu plan.Rewrite, base *schema.Table) (kind.Fitted, *condition.Refusal) {
	fitted, refusal := r.refit(lu, base)
	if refusal != nil {
		return nil, refusal
	}
	if d := base.Digest(); d != lu.SchemaDigest {
		return nil, condition.Schema.Refuse("table %s.%s has changed since the advice was made (digest %s, was %s): ask for new advice",
			lu.Keyspace, lu.Base, d, lu.SchemaDigest)
	}
	last := condition.Columns.Refuse("the advice names no statement")
	for _, text := range lu.Texts {
		if last = fitted.Check(text); last == nil {
			return fitted, nil // what it can not answer runs as it was written
		}
	}
	return nil, &condition.Refusal{Condition: last.Condition, Reason: "none of the statements of the advice can be answered: " + last.Reason}
}
