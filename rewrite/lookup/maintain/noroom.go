package maintain

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// A row whose key is too long for the look-up (match.LookUp.EntryKey) can have no entry. In its place its value gets an entry of kind
// Elsewhere, put before the base is written like any other: whoever reads the value finds it, and asks the base as the statement was
// written. Which rows it stands for is not known, so writes remove none but their own that were refused; the rest is the sweeper's, by age.

// standIn is the entry of one write of such a row.
func (m *Maintainer) standIn(l *match.LookUp, value []byte) *entry {
	return &entry{lookup: l, value: value, key: l.StandIn(), kind: Elsewhere, id: m.id(), at: unstampedAt}
}

// ReconcileElsewhere removes the entries of a value that stand for rows whose keys have no room, and whose writes' lives are over (D3). needed:
// the base has such a row, as far as is known; then one of them stays.
func (m *Maintainer) ReconcileElsewhere(ctx context.Context, l *match.LookUp, value []byte, needed bool) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	return m.count(m.reconcileElsewhere(ctx, l, value, needed))
}

func (m *Maintainer) reconcileElsewhere(ctx context.Context, l *match.LookUp, value []byte, needed bool) (Outcome, error) {
	entries, err := m.entries(ctx, l, value, l.StandIn(), m.settings.Consistency)
	if err != nil || len(entries) == 0 {
		return Absent, err
	}
	var removals []exec.Query
	sweep, kept := m.visits.sweep(l, m.Uptime), !needed
	for _, e := range entries {
		age, noted := m.visits.age(e, m.Uptime)
		switch {
		case !noted:
			m.counts.unnoted.Add(1)
		case age-sweep < m.Horizon(l): // it has to be over before the sweep looked at the base
		case !kept: // a younger one may yet be taken back, as its write is refused
			kept = true
		default:
			removals = append(removals, m.remove(e, m.removal(e)))
		}
	}
	switch {
	case len(removals) > 0:
	case needed:
		return Kept, nil
	default:
		return Left, nil
	}
	if err := m.send(ctx, removals); err != nil {
		return Left, fmt.Errorf("remove entries of %s: %w", l.LookUpName(), err)
	}
	return Removed, nil
}
