package maintain

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Unknown is a write of which it is known which rows it is about, but not what they will hold: now(), arithmetic, a cast. The
// keys of the rows are put into the table of pending rows first. Until the base was looked at after the write's
// answer, every served read takes them as candidates, and its check on the base decides: a superset, so never wrong. Being
// in Cassandra they outlive this process; and in its memory, so a read asks nothing more. What other processes note it does not
// know of before it looks (LoadPending): in a fleet each such write is one that was missed, too.
type Unknown struct {
	LookUp      *match.LookUp
	Keys        [][][]byte
	Conditional bool

	rows       []pendingRow // put by BeginUnknown
	dataCentre string       // in which that was
}

// Puts implements kind.Step.
func (*Unknown) Puts() bool { return true }

// pendingRow is one row of the table.
type pendingRow struct {
	key  [][]byte
	id   int64
	seen time.Duration     // by the sweeper's clock, when it was first seen; only of those that are left
	left bool              // by another process, or by a write that was lost: it goes after the horizon only
	over gocql.Consistency // its write was answered: what became of it is seen at this level, in dataCentre, without waiting; 0: it was not

	dataCentre string
	lookUp     *match.LookUp
}

// pendingRows are those of one look-up. The list is replaced, not changed.
type pendingRows struct {
	list    atomic.Pointer[[]pendingRow]
	loading sync.Mutex // one look at the table at a time: what an earlier one did not find is none of a later one's business
}

// buckets spread the pending rows of a look-up over so many partitions.
const buckets = 8

// MaxPending is how many candidates a served read may have besides its entries; with more, reads run as written.
const MaxPending = 64

const pendingAt = 1 // timestamp of pending rows; they are removed at removeAt

func (m *Maintainer) pendingOf(l *match.LookUp) *pendingRows {
	if have, ok := m.pending.Load(l.LookUpName()); ok {
		return have.(*pendingRows)
	}
	have, _ := m.pending.LoadOrStore(l.LookUpName(), &pendingRows{})
	return have.(*pendingRows)
}

// Candidates returns the keys of the rows whose value is not known now; ok is false if they are too many to be read each time.
func (m *Maintainer) Candidates(l *match.LookUp) (keys [][][]byte, ok bool) {
	list := m.pendingOf(l).list.Load()
	if list == nil || len(*list) == 0 {
		return nil, true
	}
	if len(*list) > MaxPending {
		return nil, false
	}
	for _, r := range *list {
		keys = append(keys, r.key)
	}
	return keys, true
}

// isPending tells whether the value of a row is not known now.
func (m *Maintainer) isPending(l *match.LookUp, key [][]byte) bool {
	list := m.pendingOf(l).list.Load()
	return list != nil && slices.ContainsFunc(*list, func(r pendingRow) bool { return slices.EqualFunc(r.key, key, bytes.Equal) })
}

// changePending replaces the list of a look-up.
func (m *Maintainer) changePending(l *match.LookUp, change func([]pendingRow) []pendingRow) {
	m.pendingLock.Lock()
	defer m.pendingLock.Unlock()
	rows := m.pendingOf(l)
	var list []pendingRow
	if have := rows.list.Load(); have != nil {
		list = slices.Clone(*have)
	}
	list = change(list)
	rows.list.Store(&list)
}

// BeginUnknown notes the rows of a write durably, and for every read from now on. On an error they are noted for reads all the
// same, until EndUnknown; but a process that comes after this one would not know of them.
func (m *Maintainer) BeginUnknown(ctx context.Context, u *Unknown, c gocql.Consistency) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	u.dataCentre = exec.DataCentre(ctx)
	var puts []exec.Query
	for _, key := range u.Keys {
		r := pendingRow{key: key, id: m.id()}
		u.rows = append(u.rows, r)
		values := append(append([][]byte{bucketOf(r.id)}, key...), exec.FromInt64(r.id), exec.FromInt64(pendingAt))
		puts = append(puts, exec.Query{Text: u.LookUp.PutPending(), Values: values, Consistency: m.putLevel(ctx, u.LookUp, c)})
	}
	m.changePending(u.LookUp, func(list []pendingRow) []pendingRow { return append(list, u.rows...) })
	if err := m.send(ctx, puts); err != nil {
		return fmt.Errorf("note a row whose value is not known in %s: %w", u.LookUp.PendingName(), err)
	}
	return nil
}

func bucketOf(id int64) []byte { return []byte{byte(uint64(id) % buckets)} } // #nosec G115

// EndUnknown takes note of the answer to a request that BeginUnknown was called for. It does not block.
func (m *Maintainer) EndUnknown(u *Unknown, answer kind.Answer, level kind.Level) {
	if answer == kind.Lost {
		m.leave(u, 0)
		return
	}
	if c := (completion{rows: u, answer: answer, level: level}); !m.later(c) {
		m.leave(u, c.seenAt(m))
	}
}

// seenAt is the level at which it shows what became of rows whose write was answered.
func (c completion) seenAt(m *Maintainer) gocql.Consistency {
	return m.evidence(c.rows.LookUp, c.level, c.rows.Conditional)
}

// leave leaves the rows of a write to the sweeper; over is as in pendingRow.
func (m *Maintainer) leave(u *Unknown, over gocql.Consistency) {
	m.changePending(u.LookUp, func(list []pendingRow) []pendingRow {
		for i := range list {
			if slices.ContainsFunc(u.rows, func(r pendingRow) bool { return r.id == list[i].id }) {
				list[i].left, list[i].seen = true, m.visits.now(m.Uptime)
				list[i].over, list[i].dataCentre, list[i].lookUp = over, u.dataCentre, u.LookUp
			}
		}
		return list
	})
	if over != 0 {
		m.leftover.Store(true)
	}
}

// settleLeft settles rows of answered writes that could not be settled when those were answered. Sweeps do, too, but those of a fleet are its leader's, which does not know what was answered here.
func (m *Maintainer) settleLeft(ctx context.Context) {
	if !m.leftover.CompareAndSwap(true, false) {
		return
	}
	m.pending.Range(func(_, have any) bool {
		list := have.(*pendingRows).list.Load()
		if list == nil {
			return true
		}
		for _, r := range *list {
			if r.over == 0 {
				continue
			}
			if err := m.settleRow(ctx, r.lookUp, r, r.over); exec.Down(err) { // what is refused is left to the sweeps
				m.leftover.Store(true)
				return false
			}
		}
		return true
	})
}

// settleRow puts the entry of a pending row as the base shows it at a level, and takes the row off.
func (m *Maintainer) settleRow(ctx context.Context, l *match.LookUp, r pendingRow, level gocql.Consistency) error {
	ctx, cancel := context.WithTimeout(exec.In(ctx, r.dataCentre), m.settings.Timeout)
	defer cancel()
	if err := m.stand(ctx, l, r, level, m.everywhere(l)); err != nil {
		return err
	}
	return m.dropPending(ctx, l, r)
}

// known writes the entries of what a write made of its rows, which are then no longer pending.
func (m *Maintainer) known(ctx context.Context, c completion) error {
	u, seen := c.rows, c.seenAt(m)
	for _, r := range u.rows {
		if c.answer == kind.Applied {
			if err := m.stand(ctx, u.LookUp, r, seen, m.putLevel(ctx, u.LookUp, c.level.Consistency)); err != nil {
				m.leave(u, seen)
				return err
			}
		}
		if err := m.dropPending(ctx, u.LookUp, r); err != nil {
			m.leave(u, seen)
			return err
		}
	}
	return nil
}

// stand puts, at a level, an entry that stands for what the base shows of a pending row at the level of evidence.
func (m *Maintainer) stand(ctx context.Context, l *match.LookUp, r pendingRow, evidence, level gocql.Consistency) error {
	now, err := m.base(ctx, l, r.key, evidence)
	if err != nil || !match.Indexable(now.value) {
		return err
	}
	e := &entry{lookup: l, value: now.value, key: r.key, kind: Stamped, id: r.id, at: now.at}
	if now.expiring {
		e.ttl = m.entryTTL(l, now.ttl)
	}
	if _, err := m.Session.Query(ctx, m.put(e, level)); err != nil {
		return fmt.Errorf("write an entry of %s: %w", l.LookUpName(), err)
	}
	return nil
}

func (m *Maintainer) dropPending(ctx context.Context, l *match.LookUp, r pendingRow) error {
	values := append(append([][]byte{exec.FromInt64(removeAt), bucketOf(r.id)}, r.key...), exec.FromInt64(r.id))
	if _, err := m.Session.Query(ctx, exec.Query{Text: l.DropPending(), Values: values, Consistency: m.settings.Consistency}); err != nil {
		return fmt.Errorf("take a row off %s: %w", l.PendingName(), err)
	}
	m.changePending(l, func(list []pendingRow) []pendingRow {
		return slices.DeleteFunc(list, func(have pendingRow) bool { return have.id == r.id })
	})
	return nil
}

// LoadPending finds the rows that other processes noted, those before this one among them, and forgets those that they have taken off. It is called before anything
// is served, and again once a member of the fleet may have noted others: what was lost there may be carried out later, and is found by no entry.
func (m *Maintainer) LoadPending(ctx context.Context, l *match.LookUp) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	rows := m.pendingOf(l)
	rows.loading.Lock()
	defer rows.loading.Unlock()
	level := m.everywhere(l) // a note may have been acknowledged by the quorum of one data centre alone
	there, all := map[int64]pendingRow{}, true
	for b := range buckets {
		q := exec.Query{Text: l.ScanPending(), Values: [][]byte{{byte(b)}}, Consistency: level}
		a, err := m.Session.Query(ctx, q)
		if err != nil && level != m.settings.Consistency && exec.Down(err) { // a whole data centre may be: nor is its base seen then
			q.Consistency, all = m.settings.Consistency, false
			a, err = m.Session.Query(ctx, q)
		}
		if err != nil {
			return fmt.Errorf("read the pending rows of %s: %w", l.LookUpName(), err)
		}
		for _, row := range a.Rows {
			id, _ := exec.Int64(row[len(l.Key)])
			there[id] = pendingRow{key: row[:len(l.Key)], id: id, left: true}
		}
	}
	m.changePending(l, func(list []pendingRow) []pendingRow {
		now, horizon := m.visits.now(m.Uptime), m.Horizon(l)
		list = slices.DeleteFunc(list, func(r pendingRow) bool {
			_, found := there[r.id]
			delete(there, r.id)
			return r.left && !found && all && (!m.gave(r.id) || now-r.seen >= horizon) // one of our own may not have been put
		})
		for _, id := range slices.Sorted(maps.Keys(there)) {
			if r := there[id]; !m.gave(id) { // else it was settled since it was read
				r.seen = now
				list = append(list, r)
			}
		}
		return list
	})
	return nil
}

// SweepPending takes rows that were left off once their write was answered, or its life is over: their value is what the base shows, and has its
// entry by then.
func (m *Maintainer) SweepPending(ctx context.Context, l *match.LookUp) {
	list := m.pendingOf(l).list.Load()
	if list == nil {
		return
	}
	for _, r := range *list {
		level, over := gocql.Consistency(gocql.Serial), m.visits.now(m.Uptime)-r.seen >= m.Horizon(l)
		if !over {
			level = r.over
		}
		if !r.left || level == 0 {
			continue
		}
		if err := m.settleRow(ctx, l, r, level); err != nil { // it can wait, as for a replica that is down: until then it is a candidate
			m.Log.Debug("a row whose value was not known could not be settled; the next sweep will", "table", l.LookUpName(), "err", err)
		}
	}
}
