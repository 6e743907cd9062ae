package planrun

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Effects are the deletes and puts of one write, with all their values and one timestamp. Applied again they write the same:
// that does no harm as long as nobody else has made effects on the same rows from what was there in between.
type Effects struct {
	program       *WriteProgram
	stamp         int64 // microseconds
	deletes, puts []mutation
}

// mutation is one statement.
type mutation struct {
	holding *holding
	put     bool
	text    string
	values  [][]byte
	routed  int
}

// Timestamp is that of all deletes and puts, in microseconds since the epoch.
func (e *Effects) Timestamp() int64 { return e.stamp }

// Len returns the number of rows deleted and put.
func (e *Effects) Len() (deletes, puts int) { return len(e.deletes), len(e.puts) }

// effects makes those of all tables.
func (m *maintaining) effects() (*Effects, error) {
	e := &Effects{program: m.WriteProgram, stamp: m.stamp()}
	for i := 0; i < len(m.met); {
		h := m.met[i].holding
		n := i
		for n < len(m.met) && m.met[n].holding == h {
			n++
		}
		if err := m.effectsOn(h, m.met[i:n], e); err != nil {
			return nil, err
		}
		if i = n; len(e.deletes)+len(e.puts) > m.maxRows() {
			return nil, &WriteError{Step: WriteStep{Table: h.name}, Reason: exec.ErrTooManyRows}
		}
	}
	return e, nil
}

// effectsOn makes those of one table.
func (m *maintaining) effectsOn(h *holding, met []*meeting, e *Effects) error {
	updated := map[string]bool{} // keys of entities, of an update that may move rows
	if h.moves {
		for _, x := range met {
			updated[x.holding.entityKey(x.row, x.change.self)] = true
		}
	}
	var gone, come []mutation
	goneAt, comeAt := map[string]bool{}, map[string]bool{}
	for _, x := range met {
		rows, err := m.rows(x)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after := row
			if m.write.Kind == workload.Update {
				if after, err = m.update(h, x.change, row, updated); err != nil {
					return err
				}
			}
			if h.deletes && x.change.gone == (m.write.Kind == workload.Connect) {
				key, there, err := h.at(row)
				if err != nil {
					return err
				}
				if id := keyID(key); there && !goneAt[id] {
					goneAt[id] = true
					gone = append(gone, mutation{holding: h, text: h.remove, values: key, routed: h.routed})
				}
			}
			if !h.puts || x.change.gone {
				continue
			}
			put, there, err := h.putOf(x.change, row, after)
			if err != nil {
				return err
			}
			if id := put.text + keyID(put.values[:min(len(h.key), len(put.values))]); there && !comeAt[id] {
				comeAt[id] = true
				come = append(come, put)
			}
		}
	}
	for _, put := range come {
		id := keyID(put.values[:min(len(h.key), len(put.values))])
		if goneAt[id] && m.write.Kind == workload.Connect { // what the old partner had there goes
			for i, v := range put.values {
				if exec.IsUnset(v) {
					put.values[i] = nil
				}
			}
		}
		delete(goneAt, id)
	}
	for _, x := range gone {
		if goneAt[keyID(x.values)] {
			e.deletes = append(e.deletes, x)
		}
	}
	e.puts = append(e.puts, come...)
	return nil
}

// entityKey is the key of an occurrence of the updated entity in a row.
func (h *holding) entityKey(row [][]byte, at *model.Entity) string {
	for i := range h.selves {
		if h.selves[i].entity == at {
			return h.selves[i].keyOf(row)
		}
	}
	return ""
}

func (s *self) keyOf(row [][]byte) string {
	key := make([][]byte, len(s.key))
	for i, n := range s.key {
		key[i] = row[n]
	}
	return keyID(key)
}

// keyID tells lists of cells apart.
func keyID(cells [][]byte) string {
	var b []byte
	for _, c := range cells {
		b = append(append(b, exec.FromInt32(int32(len(c)))...), c...) // #nosec G115
	}
	return string(b)
}

// update returns the row as it will be.
func (m *maintaining) update(h *holding, c *change, row [][]byte, updated map[string]bool) ([][]byte, error) {
	after := slices.Clone(row)
	set := func(list []assignment) error {
		for _, a := range list {
			after[a.slot] = m.values[a.operand]
			if !a.add {
				continue
			}
			var err error
			if after[a.slot], err = plus(a.type_, row[a.slot], m.values[a.operand]); err != nil {
				return &WriteError{Step: WriteStep{Table: h.name}, Reason: ErrRefused, Err: err}
			}
		}
		return nil
	}
	if !h.moves {
		if c.set != nil {
			return after, set(c.set)
		}
		for i := range h.selves { // a look-up table
			if h.selves[i].entity == c.self {
				return after, set(h.selves[i].set)
			}
		}
		return after, nil
	}
	for i := range h.selves {
		if s := &h.selves[i]; updated[s.keyOf(row)] {
			if err := set(s.set); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// at returns the primary key of a row; false: it is in no table.
func (h *holding) at(row [][]byte) (key [][]byte, there bool, err error) {
	key, err = h.cells(h.key, row)
	return key, err == nil && !slices.ContainsFunc(key, func(c []byte) bool { return c == nil }), err
}

// cells are the values of columns.
func (h *holding) cells(columns []column, row [][]byte) (cells [][]byte, err error) {
	cells = make([][]byte, len(columns))
	for i, c := range columns {
		if c.slot < 0 {
			var of []byte
			if h.bucket >= 0 {
				of = row[h.bucket]
			}
			cells[i] = h.table.Bucket.Cell(h.table.Bucket.Number(of))
			continue
		}
		cells[i] = row[c.slot]
		if c.convert != nil && cells[i] != nil {
			if cells[i], err = c.convert(cells[i]); err != nil {
				return cells, &WriteError{Step: WriteStep{Table: h.name}, Reason: ErrMismatch, Err: err}
			}
		}
	}
	return cells, nil
}

// putOf returns what puts a row.
func (h *holding) putOf(c *change, before, after [][]byte) (mutation, bool, error) {
	columns := c.puts
	put := mutation{holding: h, put: true, text: c.text, routed: h.routed}
	if c.text == "" {
		columns, put.text = slices.Concat(h.key, h.values), h.put
	}
	var err error
	if put.values, err = h.cells(columns, after); err != nil {
		return put, false, err
	}
	key, there, err := h.at(after)
	if err != nil || !there {
		return put, false, err
	}
	if c.text != "" {
		return put, true, nil // in place: null takes a value away
	}
	same := false
	if h.moves {
		old, was, err := h.at(before)
		if err != nil {
			return put, false, err
		}
		same = was && slices.EqualFunc(old, key, bytes.Equal)
	}
	for i, x := range h.values {
		if n := len(h.key) + i; put.values[n] == nil && !x.static && (!same || before[x.slot] == nil) {
			put.values[n] = exec.Unset // there is nothing to take away
		}
	}
	return put, true, nil
}

// The bounds of a logged batch: Cassandra warns at 5 KiB and refuses at 50 KiB, by default.
const (
	maxBatchRows  = 100
	maxBatchBytes = 32 << 10
)

// Apply writes the effects. It may be called again after an error, a *WriteError.
func (e *Effects) Apply(ctx context.Context, s exec.Session, o RunOptions) error {
	if o.Logged {
		return e.logged(ctx, s, o)
	}
	for _, list := range [][]mutation{e.deletes, e.puts} {
		done := e.clock(o)
		err := exec.Each(ctx, len(list), o.parallel(), func(ctx context.Context, i int) error {
			_, err := s.Query(ctx, e.query(&list[i], o))
			return e.failed(&list[i], err)
		})
		e.account(o, list, done())
		if err != nil {
			var failed *WriteError
			if errors.As(err, &failed) {
				return err
			}
			return &WriteError{Reason: reason(err), Err: err, Effects: e}
		}
	}
	return nil
}

func (e *Effects) query(m *mutation, o RunOptions) exec.Query {
	values, routed := m.arranged()
	return exec.Query{Text: m.text, Values: values, Consistency: o.consistency(), Routed: routed, Timestamp: e.stamp}
}

func (e *Effects) failed(m *mutation, err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{Step: e.step(m), Reason: reason(err), Err: err, Effects: e}
}

func (e *Effects) step(m *mutation) WriteStep { return e.program.steps[m.number()] }

// number is the mutation's place in the account.
func (m *mutation) number() int {
	if m.put {
		return m.holding.steps[1]
	}
	return m.holding.steps[0]
}

// clock begins to measure how long something takes, if anybody asks.
func (e *Effects) clock(o RunOptions) func() time.Duration {
	if o.Account == nil {
		return func() time.Duration { return 0 }
	}
	start := o.Account.now()
	return func() time.Duration { return o.Account.now().Sub(start) }
}

// account notes what was sent, and how long it took: what goes at once takes the same time.
func (e *Effects) account(o RunOptions, list []mutation, took time.Duration) {
	if o.Account == nil || len(o.Account.Steps) < len(e.program.steps) {
		return
	}
	met := map[int]bool{}
	for i := range list {
		n := list[i].number()
		a := &o.Account.Steps[n]
		if !met[n] {
			met[n], a.Time = true, a.Time+took
		}
		a.Requests++
		a.Rows++
		for _, v := range list[i].values {
			if !exec.IsUnset(v) {
				a.Bytes += len(v)
			}
		}
	}
}

// logged sends logged batches, one after the other: a single one mostly, so that all or nothing takes effect. What is too
// much for one is sent in several, each of which does.
func (e *Effects) logged(ctx context.Context, s exec.Session, o RunOptions) error {
	batcher, ok := s.(exec.Batcher)
	if !ok {
		return &WriteError{Reason: ErrNoBatches, Effects: e}
	}
	all := slices.Concat(e.deletes, e.puts)
	for from := 0; from < len(all); {
		done := e.clock(o)
		var batch []exec.Query
		size, to := 0, from
		for ; to < len(all) && len(batch) < maxBatchRows; to++ {
			q := e.query(&all[to], o)
			bytes := len(q.Text)
			for _, v := range q.Values {
				bytes += len(v)
			}
			if len(batch) > 0 && size+bytes > maxBatchBytes {
				break
			}
			batch, size = append(batch, q), size+bytes
		}
		var err error
		if err = ctx.Err(); err == nil {
			err = batcher.Batch(ctx, batch)
		}
		if err != nil {
			return e.failed(&all[from], err)
		}
		e.account(o, all[from:to], done())
		from = to
	}
	return nil
}
