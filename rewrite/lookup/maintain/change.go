package maintain

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Change is what one request does to the looked-up column of one base row. Its bytes belong to it.
type Change struct {
	LookUp *match.LookUp
	Key    [][]byte
	Value  []byte // that gets an entry; nil if the column is cleared, or set to what can be no partition key
	Clears bool   // the cell or the row is deleted: a tombstone at the write's timestamp
	TTL    int32  // seconds, 0 if none is said
	// OwnTime: its time to live does not begin by the coordinator's clock (now_in_seconds), so the entry gets none.
	OwnTime bool
	// Stamped: the application gave the timestamp At, microseconds.
	Stamped bool
	At      int64
	// Conditional: read at SerialConsistency what became of it.
	Conditional bool

	entry  *entry // put by Begin, nil if none was needed
	former cell   // what it replaces, as far as was found
	knew   bool   // former is from memory: the value this process put last, under an id of its own

	unput      bool   // its entry could not be put, or that is not known
	elsewhere  bool   // its row has no entry of its own
	dataCentre string // in which its entry was put
}

// Puts tells whether it gets an entry.
func (x *Change) Puts() bool { return x.Value != nil }

// Begin reads what the changes of one request replace, and puts the entries that they need. After an error the base must not
// be written by somebody who relies on the entries; those of other look-ups may have been put. bad are the changes whose
// entry may be missing.
func (m *Maintainer) Begin(ctx context.Context, changes []*Change, c gocql.Consistency) (bad []*Change, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	var (
		wait   sync.WaitGroup
		puts   []exec.Query
		asking []*Change
	)
	for _, x := range changes {
		x.dataCentre = exec.DataCentre(ctx)
		m.prepare(x)
		if x.entry != nil {
			puts = append(puts, m.put(x.entry, m.putLevel(ctx, x.LookUp, c)))
		}
		if !x.knew {
			asking = append(asking, x)
		}
	}
	if len(asking) > 0 && len(puts) > 0 {
		guard.InDeep(&wait, guard.Writes, func() { m.askFormers(ctx, asking) })
	} else if len(asking) > 0 {
		m.askFormers(ctx, asking)
	}
	err = m.send(ctx, puts)
	wait.Wait()
	if err == nil {
		return nil, nil
	}
	for _, x := range changes {
		if x.entry != nil {
			x.unput = true
			bad = append(bad, x)
		}
	}
	return bad, fmt.Errorf("write an entry of %s: %w", bad[0].LookUp.LookUpName(), err)
}

// prepare decides on the entry of a change.
func (m *Maintainer) prepare(x *Change) {
	if x.At == math.MinInt64 { // stands for "no timestamp" inside Cassandra, and has nothing below it
		x.Stamped = false
	}
	if _, own := x.LookUp.EntryKey(x.Key); !own {
		if x.Value != nil {
			x.entry = m.standIn(x.LookUp, x.Value)
		}
		x.elsewhere, x.knew = true, true // what it replaces stays
		return
	}
	if x.Stamped && x.Value != nil && x.TTL == 0 && x.LookUp.Base.DefaultTTL == 0 {
		x.entry, x.former, x.knew = m.own.again(x, m.id)
		return
	}
	if x.Stamped && x.Clears {
		x.former, x.knew = m.own.forget(x)
		return
	}
	_, _ = m.own.forget(x)
	if x.Value == nil {
		return
	}
	e := &entry{lookup: x.LookUp, value: x.Value, key: x.Key, kind: Unstamped, id: m.id(), at: unstampedAt}
	if x.Stamped {
		e.kind, e.at = Stamped, x.At
	}
	if !x.OwnTime {
		e.ttl = m.entryTTL(x.LookUp, x.TTL)
	}
	x.entry = e
}

// putLevel is the consistency at which the entry of a write at c is put: at least c, so that who can see the row can see its
// entry, and at least a quorum, so that it is not lost with one replica. Where ONE was enough to the application, in a keyspace of several data
// centres, the quorum is that of the data centre in which it is written: a quorum of all would need the others to be there.
func (m *Maintainer) putLevel(ctx context.Context, l *match.LookUp, c gocql.Consistency) gocql.Consistency {
	switch c {
	case gocql.Any, gocql.One:
		if dc := exec.DataCentre(ctx); dc != "" && m.replicasIn(l, dc) > 0 {
			return gocql.LocalQuorum
		}
		return gocql.Quorum
	case gocql.Two:
		return gocql.Quorum
	case gocql.Three:
		if n, _ := m.replicas(l); 0 < n && n < 3 { // then the write is in vain, which is no reason to be without its entry
			return gocql.Quorum
		}
		return c
	case gocql.LocalOne:
		return gocql.LocalQuorum
	case gocql.Quorum, gocql.LocalQuorum, gocql.EachQuorum, gocql.All:
		return c
	}
	return gocql.Quorum // Cassandra writes at no other, and will say so
}

// askFormers reads what changes replace: one read for each row, whatever number of look-ups are over it.
func (m *Maintainer) askFormers(ctx context.Context, changes []*Change) {
	var rows [][]*Change
next:
	for _, x := range changes {
		for i, have := range rows {
			if have[0].LookUp.Base.Name == x.LookUp.Base.Name && have[0].LookUp.Keyspace == x.LookUp.Keyspace && slices.EqualFunc(have[0].Key, x.Key, bytes.Equal) {
				rows[i] = append(have, x)
				continue next
			}
		}
		rows = append(rows, []*Change{x})
	}
	_ = m.each(len(rows), func(i int) error { m.askFormer(ctx, rows[i]); return nil })
}

// askFormer reads one row. What can not be read stays unknown: its entries are the sweeper's.
func (m *Maintainer) askFormer(ctx context.Context, row []*Change) {
	level, lookups := gocql.LocalOne, make([]*match.LookUp, len(row))
	for i, x := range row {
		lookups[i] = x.LookUp
		if !x.Stamped {
			level = m.lasting(x.LookUp, m.settings.Consistency)
		}
	}
	if level == gocql.LocalOne {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.settings.Hint)
		defer cancel()
	}
	a, err := m.Session.Query(ctx, exec.Query{Text: match.FormerRow(lookups), Values: row[0].Key, Consistency: level})
	if err != nil || len(a.Rows) == 0 || len(a.Rows[0]) != 3*len(row) {
		return
	}
	for i, x := range row {
		cells := a.Rows[0][3*i:]
		x.former = cellOf(cells[0], cells[1], cells[2])
	}
}

// completion is an answered write whose garbage has to go.
type completion struct {
	change *Change
	answer kind.Answer
	level  kind.Level
	rows   *Unknown // in place of change
	era    uint64   // in which it was answered
}

// End takes note of how Cassandra answered a request that Begin was called for. It does not block: what follows is
// done by Run, or, if too much waits, left to the sweeper.
func (m *Maintainer) End(changes []*Change, answer kind.Answer, level kind.Level) {
	for _, x := range changes {
		tried := x.entry != nil || !x.Puts()
		if answer != kind.Refused && (!tried || x.unput && (answer == kind.Lost || x.Stamped || x.elsewhere)) { // of others that were acknowledged the base is read
			m.owe(x)
		} else if answer == kind.Lost && x.entry != nil {
			m.eras.lost.keep(x.entry)
		}
		if answer == kind.Lost || !tried {
			continue
		}
		if answer == kind.Refused && (x.entry == nil || x.entry.again) {
			continue
		}
		if answer == kind.Refused {
			_, _ = m.own.forget(x)
		}
		if !m.later(completion{change: x, answer: answer, level: level}) {
			m.unsettled(x, answer)
		}
	}
}

// unsettled has the entry be owed that was to be put for what the base shows.
func (m *Maintainer) unsettled(x *Change, answer kind.Answer) {
	if x != nil && x.unput && !x.Stamped && answer == kind.Applied {
		m.owe(x)
	}
}

// later has an answered write be cleaned up after; false if too much waits.
func (m *Maintainer) later(c completion) bool {
	m.waiting.Add(1)
	c.era = m.eras.now.Load()
	select {
	case m.queue <- c:
		return true
	default:
		m.waiting.Add(-1)
		m.counts.dropped.Add(1)
		return false
	}
}

// Run cleans up after answered writes until the context ends.
func (m *Maintainer) Run(ctx context.Context) {
	var wait sync.WaitGroup
	for range m.settings.Workers {
		guard.In(&wait, guard.Maintainer, func() {
			for {
				select {
				case <-ctx.Done():
					return
				case c := <-m.queue:
					_ = guard.Do(guard.Maintainer, func() error { m.complete(ctx, c); m.settleLeft(ctx); return nil })
				}
			}
		})
	}
	wait.Wait()
}

// complete cleans up after one answered write, and, in the same request, after others that wait and need no read.
func (m *Maintainer) complete(ctx context.Context, c completion) {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	defer m.eras.removing()()
	done := int64(0)
	var removals []exec.Query
	for more := true; more; {
		done++
		blind, settled := m.blind(c)
		if m.stale(c) {
			m.counts.left.Add(1)
			m.unsettled(c.change, c.answer)
			blind, settled = nil, true
		}
		removals = append(removals, blind...)
		if !settled {
			if err := m.settle(c.where(ctx), c); err != nil {
				m.counts.failed.Add(1)
				m.unsettled(c.change, c.answer)
				m.Log.Debug("what a write replaced could not be removed; the sweeper will", "table", c.lookup().LookUpName(), "err", err)
			}
		}
		more = false
		if len(removals) > 0 && len(removals) < batchStatements {
			select {
			case c = <-m.queue:
				more = true
			default:
			}
		}
	}
	if err := m.send(ctx, removals); err != nil {
		m.counts.failed.Add(int64(len(removals)))
		m.Log.Debug("what writes replaced could not be removed; the sweeper will", "statements", len(removals), "err", err)
	} else {
		m.counts.removed.Add(int64(len(removals)))
	}
	m.waiting.Add(-done)
}

func (c completion) lookup() *match.LookUp {
	if c.rows != nil {
		return c.rows.LookUp
	}
	return c.change.LookUp
}

// where has what follows upon a write be said where that was said.
func (c completion) where(ctx context.Context) context.Context {
	if c.rows != nil {
		return exec.In(ctx, c.rows.dataCentre)
	}
	return exec.In(ctx, c.change.dataCentre)
}

// blind returns the removals that need no look at the base. settled: nothing else is to be done.
func (m *Maintainer) blind(c completion) (removals []exec.Query, settled bool) {
	x := c.change
	switch {
	case x == nil:
		return nil, false
	case c.answer == kind.Refused:
		return []exec.Query{m.remove(x.entry, m.removal(x.entry))}, true
	case x.elsewhere:
		return nil, true
	case !x.Stamped || !m.proves(x.LookUp, c.level.Consistency):
		return nil, false
	case x.entry != nil && x.entry.again:
		return nil, true // the same value: what there was is under the same id
	}
	upTo := x.At
	if !x.Clears {
		upTo--
	}
	f := x.former
	if !match.Indexable(f.value) || f.at > upTo || x.keeps(f) || (m.expires(x) && !m.expiredIsEvidence(x.LookUp)) {
		return nil, true
	}
	return []exec.Query{m.outdate(x.LookUp, f.value, x.Key, upTo)}, true
}

// keeps tells whether the entries of a former value are what a change's row is found by: it has the same value, and no entry of its own.
func (x *Change) keeps(former cell) bool { return x.unput && bytes.Equal(former.value, x.Value) }

// removal is the timestamp that deletes an entry.
func (m *Maintainer) removal(e *entry) int64 {
	if e.kind == Stamped {
		return e.at
	}
	return removeAt
}

// settle is what follows an acknowledged write that needs a look at the base.
func (m *Maintainer) settle(ctx context.Context, c completion) error {
	if c.rows != nil {
		return m.known(ctx, c)
	}
	x := c.change
	level := m.evidence(x.LookUp, c.level, x.Conditional)
	if x.Stamped {
		level = m.settings.Consistency // D2 rests on what is seen, not on the acknowledgement
	}
	now, err := m.base(ctx, x.LookUp, x.Key, level)
	if err != nil {
		return err
	}
	believed := m.expiredIsEvidence(x.LookUp) || (now.value != nil && !now.expiring)
	var writes []exec.Query
	if e := x.entry; e != nil && !x.Stamped {
		own := bytes.Equal(now.value, x.Value)
		if own { // settled: it stands for the cell from now on
			moved := *e
			moved.kind, moved.at, moved.ttl = Stamped, now.at, 0
			if now.expiring && !x.OwnTime {
				moved.ttl = m.entryTTL(x.LookUp, now.ttl)
			}
			writes = append(writes, m.put(&moved, m.putLevel(ctx, x.LookUp, c.level.Consistency))) // whoever finds e finds this
		}
		if own || believed {
			writes = append(writes, m.remove(e, removeAt)) // D1
		}
	}
	if f := x.former; match.Indexable(f.value) && believed && !x.keeps(f) {
		upTo := now.at - 1
		if now.value == nil {
			upTo = f.at // seen and gone
			if f.expiring {
				upTo--
			}
			if x.Stamped {
				upTo = math.MinInt64 // a hint saw it, which is no evidence
			}
		}
		if f.at <= upTo {
			writes = append(writes, m.outdate(x.LookUp, f.value, x.Key, upTo))
		}
	}
	if err := m.inOrder(ctx, writes); err != nil {
		return fmt.Errorf("settle entries of %s: %w", x.LookUp.LookUpName(), err)
	}
	m.counts.removed.Add(int64(len(writes)))
	return nil
}

// inOrder sends a few writes of which no later one may take effect without those before it. In one batch those of one partition are one
// mutation; what is too large for that goes one by one.
func (m *Maintainer) inOrder(ctx context.Context, writes []exec.Query) error {
	bytes := 0
	for _, q := range writes {
		for _, v := range q.Values {
			bytes += len(v)
		}
	}
	if _, ok := m.Session.(unlogged); ok && bytes < batchBytes {
		for i := range writes {
			writes[i].Consistency = writes[0].Consistency // or they were sent apart
		}
		return m.send(ctx, writes)
	}
	for _, q := range writes {
		if _, err := m.Session.Query(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// expires tells whether a change's cell will expire.
func (m *Maintainer) expires(x *Change) bool {
	return !x.Clears && (x.TTL > 0 || x.LookUp.Base.DefaultTTL > 0)
}

// expiredIsEvidence tells whether an expired cell, or a deleted one, stays a tombstone for long enough to be relied on.
func (m *Maintainer) expiredIsEvidence(l *match.LookUp) bool {
	return m.gcGrace(l) >= m.settings.Grace
}

func (m *Maintainer) gcGrace(l *match.LookUp) time.Duration {
	return time.Duration(m.baseTable(l).GCGrace) * time.Second
}

// baseTable is the base as it is now, and as it was approved while it is not there.
func (m *Maintainer) baseTable(l *match.LookUp) *schema.Table {
	if t := m.Schema().Table(l.Keyspace, l.Rewrite.Base); t != nil {
		return t
	}
	return l.Base
}

// Horizon is how long a write that was not acknowledged may yet be carried out: a hint is delivered until gc_grace_seconds of its
// table are over (not only as long as hints are made), and a Paxos round is finished by the next one until as long or three hours
// (docs/design/cassandra.md).
func (m *Maintainer) Horizon(l *match.LookUp) time.Duration {
	if m.settings.Horizon > 0 {
		return m.settings.Horizon
	}
	return max(m.gcGrace(l), 3*time.Hour) + time.Hour
}

// Lasts is how long an entry that was put may stand for a write that is yet to come: until others may take its write's life for over; and, if it expires, until what it outlives its cell by is
// gone, as that lives from the write on.
func (m *Maintainer) Lasts(x *Change) time.Duration {
	horizon := m.Horizon(x.LookUp)
	if x.entry != nil && x.entry.ttl > 0 {
		horizon = min(horizon, m.settings.Margin)
	}
	return horizon
}
