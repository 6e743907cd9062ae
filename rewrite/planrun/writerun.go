package planrun

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// maintaining is one run of a WriteProgram, up to its effects.
type maintaining struct {
	*WriteProgram
	RunOptions
	session exec.Session
	with    Parameters
	values  [][]byte // by operand
	found   [][][]byte
	met     []*meeting
	mu      sync.Mutex // of the account
}

// meeting is a change of a table's rows because of one entity, or of what the statement names.
type meeting struct {
	holding *holding
	change  *change
	row     [][]byte // what is known of its rows, by slot
	asked   []*job   // by part
}

// job is a support query with values.
type job struct {
	question *question
	by       [][]byte
	rows     [][][]byte
}

// one is the value of an operand that has one.
func one(o *operand, with Parameters) ([]byte, error) {
	if len(o.parts) == 0 {
		return nil, nil
	}
	x := &o.parts[0]
	if values, ok := with[x.name]; x.name != "" && ok && len(values) <= x.index {
		return nil, &ParameterError{x.name, fmt.Sprintf("has %d values, and needs %d", len(values), x.index+1)}
	}
	values, err := o.values(with)
	if err != nil {
		return nil, err
	}
	cell := values[0]
	if _, width := kindOf(o.type_); width > 0 && len(cell) > 0 && len(cell) != width {
		return nil, &ParameterError{x.name, fmt.Sprintf("has %d bytes, and is no %s", len(cell), o.type_)}
	}
	return cell, nil
}

// resolve gives what is set its values.
func (m *maintaining) resolve() error {
	m.values = make([][]byte, len(m.WriteProgram.values))
	for i := range m.values {
		cell, err := one(&m.WriteProgram.values[i], m.with)
		if err != nil {
			return err
		}
		if m.values[i] = cell; cell != nil {
			continue
		}
		if i >= len(m.write.Set) || m.write.Set[i].IsKey() {
			return &ParameterError{m.WriteProgram.values[i].parts[0].name, "is null"}
		}
	}
	return nil
}

// ask answers all support queries.
func (m *maintaining) ask(ctx context.Context) error {
	if err := m.findAll(ctx); err != nil {
		return err
	}
	jobs := map[string]*job{}
	var list []*job
	for _, h := range m.holdings {
		for i := range h.changes {
			met, err := m.meet(h, &h.changes[i])
			if err != nil {
				return err
			}
			for _, x := range met {
				for _, p := range x.change.parts {
					by := make([][]byte, len(p.by))
					id := binary.BigEndian.AppendUint32(nil, uint32(p.question)) // #nosec G115
					for i, n := range p.by {
						by[i] = x.row[n]
						id = append(binary.BigEndian.AppendUint32(id, uint32(len(by[i]))), by[i]...) // #nosec G115
					}
					j := jobs[string(id)]
					if j == nil {
						j = &job{question: m.questions[p.question], by: by}
						jobs[string(id)] = j
						list = append(list, j)
					}
					x.asked = append(x.asked, j)
				}
			}
			m.met = append(m.met, met...)
		}
	}
	o := m.RunOptions
	o.Parallel = max(1, m.parallel()/max(1, len(list))) // of one query, as several are asked at once
	err := exec.Each(ctx, len(list), m.parallel(), func(ctx context.Context, i int) error {
		j := list[i]
		with := make(Parameters, len(j.by))
		for n, name := range j.question.names {
			with[name] = j.by[n : n+1]
		}
		var err error
		j.rows, err = m.answer(ctx, j.question, with, o)
		return err
	})
	var failed *WriteError
	var parameter *ParameterError
	if err == nil || errors.As(err, &failed) || errors.As(err, &parameter) {
		return err
	}
	return &WriteError{Reason: reason(err), Err: err}
}

// findAll finds the entities that an update or delete speaks of: the different keys.
func (m *maintaining) findAll(ctx context.Context) error {
	if m.find == nil {
		return nil
	}
	rows, err := m.answer(ctx, m.find, m.with, m.RunOptions)
	if err != nil {
		return err
	}
	order := make([]int, len(m.write.Entity.Key))
	for i, k := range m.write.Entity.KeyFields() {
		order[i] = slices.Index(m.find.query.Select, k)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		key := make([][]byte, len(order))
		for i, n := range order {
			key[i] = row[n]
		}
		if id := string(exec.PartitionKey(append(key, nil))); !seen[id] {
			seen[id] = true
			m.found = append(m.found, key)
		}
	}
	return nil
}

// answer runs a support query.
func (m *maintaining) answer(ctx context.Context, q *question, with Parameters, o RunOptions) ([][][]byte, error) {
	var own Account
	if o.Account != nil {
		own.Now = o.Account.Now
		o.Account = &own
	}
	rows, err := q.program.Run(ctx, m.session, with, o)
	if m.Account != nil {
		m.mu.Lock()
		a := &m.Account.Steps[q.step]
		for _, s := range own.Steps {
			a.Requests, a.Rows, a.Bytes, a.Time = a.Requests+s.Requests, a.Rows+s.Rows, a.Bytes+s.Bytes, a.Time+s.Time
		}
		if rows != nil {
			a.Left += len(rows.Cells)
		}
		m.mu.Unlock()
	}
	if err == nil {
		return rows.Cells, nil
	}
	var parameter *ParameterError
	if errors.As(err, &parameter) {
		return nil, err
	}
	failed := &WriteError{Step: m.steps[q.step], Reason: reason(err), Err: err}
	var step *StepError
	if errors.As(err, &step) {
		failed.Reason = step.Reason
	}
	return nil, failed
}

// meet fills in what is known of a change: once for each entity found, or once.
func (m *maintaining) meet(h *holding, c *change) ([]*meeting, error) {
	row := make([][]byte, h.width)
	told := make([]bool, h.width)
	for i := range c.known {
		k := &c.known[i]
		cell, err := one(&k.operand, m.with)
		if err != nil {
			return nil, err
		}
		switch {
		case cell != nil || len(k.operand.parts) == 0 || k.set:
		case k.asks:
			return nil, nil // nothing is equal to null
		default:
			return nil, &ParameterError{k.operand.parts[0].name, "is null, and a statement names nothing by null"}
		}
		if told[k.slot] && !bytes.Equal(row[k.slot], cell) {
			return nil, nil // an entity that stands in two places, and is not the same
		}
		row[k.slot], told[k.slot] = cell, true
	}
	if m.find == nil {
		return []*meeting{{holding: h, change: c, row: row}}, nil
	}
	var list []*meeting
	for _, key := range m.found {
		own := slices.Clone(row)
		for i, n := range c.found {
			own[n] = key[i]
		}
		list = append(list, &meeting{holding: h, change: c, row: own})
	}
	return list, nil
}

// rows are those of a meeting: each answer of each part with each of the others.
func (m *maintaining) rows(x *meeting) ([][][]byte, error) {
	rows := [][][]byte{x.row}
	for i, p := range x.change.parts {
		answers := x.asked[i].rows
		if len(rows)*len(answers) > m.maxRows() {
			return nil, &WriteError{Step: m.steps[x.asked[i].question.step], Reason: exec.ErrTooManyRows}
		}
		more := make([][][]byte, 0, len(rows)*len(answers))
		for _, row := range rows {
			for _, answer := range answers {
				both := row
				if len(answers) > 1 || i == 0 {
					both = slices.Clone(row)
				}
				for _, c := range p.out {
					both[c.slot] = answer[c.column]
				}
				more = append(more, both)
			}
		}
		rows = more
	}
	return slices.DeleteFunc(rows, func(row [][]byte) bool {
		return slices.ContainsFunc(x.change.not, func(a apart) bool { return a.same(row) })
	}), nil
}

func (a *apart) same(row [][]byte) bool {
	for i, n := range a.key {
		if !bytes.Equal(row[n], row[a.other[i]]) {
			return false
		}
	}
	return true
}

// plus adds a number to a cell; null stays null.
func plus(cqlType string, cell, more []byte) ([]byte, error) {
	a, err := Decode(cqlType, cell)
	if err != nil || a == nil {
		return nil, err
	}
	b, err := Decode(cqlType, more)
	if err != nil {
		return nil, err
	}
	switch x := a.(type) {
	case int64:
		y, ok := b.(int64)
		if !ok || y > 0 && x > math.MaxInt64-y || y < 0 && x < math.MinInt64-y {
			return nil, &TypeError{cqlType, b}
		}
		return Encode(cqlType, x+y)
	case float64:
		if y, ok := b.(float64); ok {
			return Encode(cqlType, x+y)
		}
	case *big.Int:
		if y, ok := b.(*big.Int); ok {
			return Encode(cqlType, new(big.Int).Add(x, y))
		}
	case *inf.Dec:
		if y, ok := b.(*inf.Dec); ok {
			return Encode(cqlType, new(inf.Dec).Add(x, y))
		}
	}
	return nil, &TypeError{cqlType, b}
}
