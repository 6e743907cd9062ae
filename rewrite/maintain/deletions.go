package maintain

import (
	"encoding/binary"
	"sync"

	"github.com/helenus-db/helenus/rewrite/match"
)

// rememberedDeletions bounds one generation of deletions; two are kept.
const rememberedDeletions = 1 << 15

// deletions remembers the latest deletes that the base acknowledged, since CQL can not read a tombstone's timestamp: with
// it an entry whose former value no hint found in time can still be shown to be garbage. What is forgotten
// (the oldest, or all when the process ends) waits for the horizon.
type deletions struct {
	mu       sync.Mutex
	now, old map[string]int64
}

func (d *deletions) add(cell string, ts int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil || len(d.now) >= rememberedDeletions {
		d.now, d.old = map[string]int64{}, d.now
	}
	d.now[cell] = max(d.now[cell], ts)
}

// at is the timestamp of the latest delete remembered of a cell, 0 if there is none.
func (d *deletions) at(cell string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.now[cell], d.old[cell])
}

// cellName tells the cells of base rows apart: the table, the column (a null in one says nothing of the others), and the
// key's cells with their lengths.
func cellName(l *match.LookUp, key [][]byte) string {
	name := append([]byte(l.BaseName()), 0)
	name = append(append(name, l.By.Name...), 0)
	for _, k := range key {
		name = binary.AppendUvarint(name, uint64(len(k)))
		name = append(name, k...)
	}
	return string(name)
}

// Deleted notes that the base acknowledged a delete of a row, or of its column, at a timestamp.
func (m *Maintainer) Deleted(l *match.LookUp, key [][]byte, ts int64) {
	m.deletions.add(cellName(l, key), ts)
}
