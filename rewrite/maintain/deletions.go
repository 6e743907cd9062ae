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

func (d *deletions) add(row string, ts int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil || len(d.now) >= rememberedDeletions {
		d.now, d.old = map[string]int64{}, d.now
	}
	d.now[row] = max(d.now[row], ts)
}

// at is the timestamp of the latest delete remembered of a row, 0 if there is none.
func (d *deletions) at(row string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.now[row], d.old[row])
}

// rowName tells base rows apart: the table, and the key's cells with their lengths.
func rowName(l *match.LookUp, key [][]byte) string {
	name := append([]byte(l.BaseName()), 0)
	for _, k := range key {
		name = binary.AppendUvarint(name, uint64(len(k)))
		name = append(name, k...)
	}
	return string(name)
}

// Deleted notes that the base acknowledged a delete of a row, or of its column, at a timestamp.
func (m *Maintainer) Deleted(l *match.LookUp, key [][]byte, ts int64) {
	m.deletions.add(rowName(l, key), ts)
}
