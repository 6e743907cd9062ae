package profile

import (
	"hash/maphash"
	"slices"

	"github.com/helenus-db/helenus/capture/trace"
)

// Meetings count writes that were under way at the same time, as far as executions were looked at. Writes of one BATCH are one.
type Meetings struct {
	Partition uint64 `json:"partition"` // pairs of writes to one partition
	Row       uint64 `json:"row"`       // of these, pairs of UPDATEs and DELETEs whose WHERE names the same row
	Most      uint64 `json:"most"`      // writes to one partition under way at once
}

func (m Meetings) merge(o Meetings) Meetings {
	return Meetings{m.Partition + o.Partition, m.Row + o.Row, max(m.Most, o.Most)}
}

// Bounds of what is remembered of a table's writes: a write that has ended longer ago meets nothing that is yet to be seen,
// since executions come in the order in which they ended, or nearly so.
const (
	maxFlights = 4096
	flightTime = int64(10_000_000_000) // nanoseconds
)

// meeter finds the meetings of one table's writes.
type meeter struct {
	flights map[uint64][]flight // by partition
	n       int
}

// flight is a write that has ended.
type flight struct {
	start, end int64
	batch, row uint64
}

// rowSeed makes the hashes of one process comparable with each other; they are never written.
var rowSeed = maphash.MakeSeed()

// rowOf is a hash of what WHERE compares by =, 0 if it names nothing, as INSERTs do not.
func rowOf(e *trace.Execution) uint64 {
	st := e.Statement
	if len(st.Key) == 0 {
		return 0
	}
	places, sum := trace.Places(st), uint64(0)
	for i := range e.Binds {
		v := &e.Binds[i]
		if k := slices.Index(places, int(v.Index)); k >= 0 && slices.Contains(st.Key, st.Variables[k].Name) {
			sum += maphash.String(rowSeed, st.Variables[k].Name) ^ v.Hash*0x9e3779b97f4a7c15
		}
	}
	return sum
}

// add takes in a write and counts whom it met.
func (m *meeter) add(e *trace.Execution, count *Meetings) {
	f := flight{e.Start, e.End, e.Batch, rowOf(e)}
	atOnce := uint64(1)
	for _, other := range m.flights[e.Partition] {
		if other.end <= f.start || f.end <= other.start || f.batch != 0 && f.batch == other.batch {
			continue
		}
		atOnce++
		count.Partition++
		if f.row != 0 && f.row == other.row {
			count.Row++
		}
	}
	count.Most = max(count.Most, atOnce)
	if m.n >= maxFlights {
		m.forget(e.End - flightTime)
	}
	if m.flights == nil {
		m.flights = map[uint64][]flight{}
	}
	m.flights[e.Partition] = append(m.flights[e.Partition], f)
	m.n++
}

// forget drops what ended before a time, and all if that makes too little room.
func (m *meeter) forget(before int64) {
	for p, list := range m.flights {
		left := slices.DeleteFunc(list, func(f flight) bool { return f.end < before })
		if m.n -= len(list) - len(left); len(left) == 0 {
			delete(m.flights, p)
		} else {
			m.flights[p] = left
		}
	}
	if m.n > maxFlights/2 {
		m.flights, m.n = nil, 0
	}
}
