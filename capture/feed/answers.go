package feed

import (
	"slices"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

// Bounds of the answers that are kept.
const (
	maxKept  = 1 << 18 // cells and values in all, shared out over the reads
	maxReads = 1 << 10 // statements whose answers are kept
	plenty   = 1 << 10 // of one statement; from then on one of four takes the place of the oldest
	maxCells = 1 << 9  // of one answer
	maxQuota = 1 << 14 // cells and values of one statement
)

// answer is a read with what it found. Which of its rows were followed, and whether it mattered that there were any, is told
// from these.
type answer struct {
	seq   uint32 // of the executions of its statement
	end   int64
	rows  int // in all, -1 if it is not known; cells are of the first ones
	binds []tagged
	cells []cell // by row
}

// cell is a value in an answer.
type cell struct {
	row, column   uint16
	null, numeric bool
	class         value.Class
	hash          uint64
	number        int64
}

// answers are the latest ones of a statement, oldest first.
type answers struct {
	list  []answer
	size  int
	spare answer // forgotten; its memory is for the next
}

func (a *answer) size() int { return 2 + len(a.binds) + len(a.cells) }

// keep remembers an execution, if it is a read that was answered.
func (m *Miner) keep(fp uint32, e *execution, x *trace.Execution) {
	if x.Statement.Write || x.Failed || len(x.Statement.Results) == 0 {
		return
	}
	of := m.answers[fp]
	if of == nil {
		if len(m.answers) >= maxReads {
			return
		}
		of = &answers{}
		m.answers[fp] = of
	}
	if len(of.list) >= plenty && (e.seq*0x9E3779B1)>>30 != 0 {
		return // each is judged by itself, so some will do
	}
	of.makeRoom(min(maxKept/len(m.answers), maxQuota))
	one := of.spare
	of.spare = answer{}
	one = answer{seq: e.seq, end: x.End, rows: x.Rows, binds: append(one.binds[:0], e.binds...), cells: slices.Grow(one.cells[:0], min(len(x.Cells), maxCells))}
	for i := range x.Cells {
		v := &x.Cells[i]
		if len(one.cells) == maxCells { // what there is of the last row is not all of it
			for n := len(one.cells); n > 0 && one.cells[n-1].row == v.Row; n-- {
				one.cells = one.cells[:n-1]
			}
			break
		}
		if v.Hash != 0 || v.Null {
			one.cells = append(one.cells, cell{row: v.Row, column: v.Index, null: v.Null, numeric: v.Numeric, class: v.Class, hash: v.Hash, number: v.Number})
		}
	}
	of.list = append(of.list, one)
	of.size += one.size()
}

// makeRoom forgets the oldest answers, if there are too many for one more.
func (of *answers) makeRoom(quota int) {
	for len(of.list) >= plenty || of.size > quota {
		of.size -= of.list[0].size()
		of.spare, of.list[0] = of.list[0], answer{}
		of.list = of.list[1:]
	}
}

// bound returns the value of a bind variable, if it was looked at.
func (a *answer) bound(place int) (uint64, bool) {
	for _, b := range a.binds {
		if b.index == place {
			return b.hash, true
		}
	}
	return 0, false
}

// values lists the different values of a column that did not come from the request itself, in order of the rows, each with the first row that
// has it.
func (a *answer) values(column int) (list []cell) {
next:
	for _, c := range a.cells {
		if int(c.column) != column || c.null || c.class == value.None {
			continue
		}
		for _, b := range a.binds {
			if b.hash == c.hash {
				continue next
			}
		}
		for _, o := range list {
			if o.hash == c.hash {
				continue next
			}
		}
		list = append(list, c)
	}
	return list
}

// at returns the one cell of a row in a column; false if there is none, or several: a collection's elements.
func (a *answer) at(row uint16, column int) (found cell, ok bool) {
	for _, c := range a.cells {
		if c.row == row && int(c.column) == column {
			if ok {
				return cell{}, false
			}
			found, ok = c, true
		}
	}
	return found, ok
}
