package maintain

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Outcome is what became of the entries of one value and row.
type Outcome int

// The outcomes of Reconcile.
const (
	Absent  Outcome = iota // there are none
	Kept                   // the base holds their value
	Removed                // some were shown to be garbage, and removed
	Left                   // the base does not hold their value, but none could be shown to be safe to remove yet
)

// entries reads all entries of a value and row.
func (m *Maintainer) entries(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, c gocql.Consistency) ([]*entry, error) {
	a, err := m.Session.Query(ctx, exec.Query{Text: l.RowEntries(), Values: append([][]byte{value}, key...), Consistency: c})
	if err != nil {
		return nil, fmt.Errorf("read the entries of a row in %s: %w", l.LookUpName(), err)
	}
	var out []*entry
	for _, row := range a.Rows {
		if len(row) != 4 || len(row[0]) != 1 {
			return nil, fmt.Errorf("read the entries of a row in %s: %w", l.LookUpName(), errShape)
		}
		e := &entry{lookup: l, value: value, key: key, kind: int8(row[0][0])} // #nosec G115 -- 0 to 2
		e.id, _ = exec.Int64(row[1])
		e.at, _ = exec.Int64(row[2])
		e.ttl, _ = exec.Int32(row[3])
		out = append(out, e)
	}
	return out, nil
}

// Reconcile removes the entries of one value and row that can be shown to be garbage, and notes the age of the others, for D3. It
// may be called by anyone at any time.
func (m *Maintainer) Reconcile(ctx context.Context, l *match.LookUp, value []byte, key [][]byte) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	defer m.eras.removing()()
	return m.count(m.reconcile(ctx, l, value, key))
}

func (m *Maintainer) count(outcome Outcome, err error) (Outcome, error) {
	switch {
	case err != nil:
		m.counts.failed.Add(1)
	case outcome == Kept:
		m.counts.kept.Add(1)
	case outcome == Removed:
		m.counts.removed.Add(1)
	case outcome == Left:
		m.counts.left.Add(1)
	}
	return outcome, err
}

func (m *Maintainer) reconcile(ctx context.Context, l *match.LookUp, value []byte, key [][]byte) (Outcome, error) {
	entries, err := m.entries(ctx, l, value, key, m.settings.Consistency)
	if err != nil || len(entries) == 0 {
		return Absent, err
	}
	now, err := m.base(ctx, l, key, m.settings.Consistency)
	if err != nil {
		return Left, err
	}
	same := bytes.Equal(now.value, value) && now.value != nil
	var removals []exec.Query
	var aged []*entry
	outdated, current := false, false
	for _, e := range entries {
		current = current || e.kind == Stamped && e.at == now.at
		switch {
		case e.kind == Stamped && now.value != nil && e.at < now.at && (!now.expiring || m.expiredIsEvidence(l)):
			outdated = true // D2: the base shows something above it
		case same:
		default:
			age, noted := m.visits.age(e, m.Uptime)
			if !noted {
				m.counts.unnoted.Add(1)
			}
			if noted && age >= m.Horizon(l) {
				aged = append(aged, e)
			}
		}
	}
	// The cell that the base shows may have no entry of its own: it could not be written. Then its row is found by an earlier one of the same value. (One of a write under way may
	// go again.)
	if outdated && (current || !same) {
		removals = append(removals, m.outdate(l, value, key, now.at-1))
	}
	if len(aged) > 0 {
		dead, err := m.nowhere(ctx, l, value, key)
		if err != nil {
			return Left, err
		}
		if dead {
			for _, e := range aged { // D3
				removals = append(removals, m.remove(e, m.removal(e)))
			}
		}
	}
	if len(removals) == 0 {
		if same {
			return Kept, nil
		}
		return Left, nil
	}
	if err := m.send(ctx, removals); err != nil {
		return Left, fmt.Errorf("remove entries of %s: %w", l.LookUpName(), err)
	}
	return Removed, nil
}

// nowhere tells whether no replica shows a value of a row, and none will: a serial read finishes open rounds, or fences them off, by which what a conditional write left behind is decided; and what was
// acknowledged at ONE may be on one replica alone, for as long as nobody repairs that. While one can not be asked that is not known.
func (m *Maintainer) nowhere(ctx context.Context, l *match.LookUp, value []byte, key [][]byte) (bool, error) {
	for _, level := range []gocql.Consistency{gocql.Consistency(gocql.Serial), gocql.All} {
		now, err := m.base(ctx, l, key, level)
		switch {
		case err != nil && level == gocql.All && exec.Down(err):
			return false, nil
		case err != nil:
			return false, err
		case bytes.Equal(now.value, value) && now.value != nil:
			return false, nil
		}
	}
	return true, nil
}

// Fill writes the entry that stands for a cell of the base: what backfill does. ttl are the seconds that the cell has left, 0
// if it does not expire.
func (m *Maintainer) Fill(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, written int64, ttl int32, c gocql.Consistency) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	e := &entry{lookup: l, value: value, key: key, kind: Stamped, id: ofCell, at: written, ttl: m.entryTTL(l, ttl)}
	if _, own := l.EntryKey(key); !own {
		e = m.standIn(l, value)
	}
	_, err := m.Session.Query(ctx, m.put(e, c))
	return err
}

// Repair writes an entry for a row that has none, or none that lives as long as its value: written and ttl are those of the value, 0 if it does not expire.
func (m *Maintainer) Repair(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, written int64, ttl int32) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	level := m.everywhere(l) // reads of one data centre are to find it, too
	if ttl > 0 {             // then it is not to be compared by each pass, as one that never expires would be
		if err := m.Fill(ctx, l, value, key, written, ttl, level); err != nil {
			return fmt.Errorf("repair an entry of %s: %w", l.LookUpName(), err)
		}
		if _, lasts, err := m.Has(ctx, l, value, key, ttl); err != nil || lasts {
			return err
		}
	}
	// This one can not be below a removal, as that of a cell's own timestamp may be: who wrote past us may have used timestamps below those of what was removed.
	e := &entry{lookup: l, value: value, key: key, kind: Unstamped, id: m.id(), at: unstampedAt}
	if _, own := l.EntryKey(key); !own {
		e = m.standIn(l, value)
	}
	if _, err := m.Session.Query(ctx, m.put(e, level)); err != nil {
		return fmt.Errorf("repair an entry of %s: %w", l.LookUpName(), err)
	}
	return nil
}

// lasts tells whether an entry lives as long as a value with this time to live (0: for ever), whichever clocks these are counted by: half of the margin is for those by which both
// expire, half of it for those by which they were read.
func (m *Maintainer) lasts(e *entry, ttl int32) bool {
	return e.ttl == 0 || ttl > 0 && int64(e.ttl) >= int64(ttl)+int64(m.settings.Margin/time.Second/2)
}

// Has tells whether a value and row have an entry, and one that lives as long as the value, which expires in ttl seconds (0: never); or the row's value is noted as not known. In several data
// centres an entry that was put at LOCAL_QUORUM may not have reached the others: before it is said to be missing all replicas are asked, if they can be, which brings it to them, too.
func (m *Maintainer) Has(ctx context.Context, l *match.LookUp, value []byte, key [][]byte, ttl int32) (found, lasts bool, err error) {
	if m.isPending(l, key) {
		return true, true, nil
	}
	enough := func(e *entry) bool { return m.lasts(e, ttl) }
	have, err := m.entries(ctx, l, value, key, m.settings.Consistency)
	if _, centres := m.replicas(l); err == nil && centres > 1 && !slices.ContainsFunc(have, enough) {
		if everywhere, failed := m.entries(ctx, l, value, key, gocql.All); failed == nil {
			have = everywhere
		}
	}
	return len(have) > 0, slices.ContainsFunc(have, enough), err
}
