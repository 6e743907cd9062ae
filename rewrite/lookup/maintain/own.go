package maintain

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// remembered bounds one generation of own entries; two are kept.
const remembered = 1 << 15

// own remembers, of the rows written last, what this process put: the former value of the next write is then known without a
// read, and the same value is put again under the same id, which leaves nothing behind. Only entries of stamped writes
// without a time to live are kept: put again at a rising timestamp they outlive every write that rests on them.
// What is forgotten costs a read.
type own struct {
	mu       sync.Mutex
	now, old map[string]ownEntry
}

type ownEntry struct {
	value []byte
	id    int64
	at    int64 // the latest timestamp at which it was put
}

func (o *own) get(name string) (ownEntry, bool) {
	e, ok := o.now[name]
	if !ok {
		e, ok = o.old[name]
	}
	return e, ok
}

func (o *own) set(name string, e ownEntry) {
	if o.now == nil || len(o.now) >= remembered {
		o.now, o.old = make(map[string]ownEntry, remembered/8), o.now
	}
	o.now[name] = e
}

// again returns the entry that a stamped change without a time to live puts, under the id that was put last if the value is the
// same and the timestamp higher; and what is known of the value that it replaces.
func (o *own) again(x *Change, id func() int64) (e *entry, former cell, knew bool) {
	name := cellName(x.LookUp, x.Key)
	o.mu.Lock()
	defer o.mu.Unlock()
	have, ok := o.get(name)
	e = &entry{lookup: x.LookUp, value: x.Value, key: x.Key, kind: Stamped, at: x.At}
	if ok {
		former, knew = cell{value: have.value, at: have.at}, true
	}
	if e.again = ok && bytes.Equal(have.value, x.Value) && x.At > have.at; e.again {
		e.id = have.id
	} else {
		e.id = id()
	}
	if !ok || x.At > have.at { // an older write replaces nothing
		o.set(name, ownEntry{value: x.Value, id: e.id, at: x.At})
	}
	return e, former, knew
}

// forget forgets what was put last for the row of a change, and returns it.
func (o *own) forget(x *Change) (former cell, knew bool) {
	name := cellName(x.LookUp, x.Key)
	o.mu.Lock()
	defer o.mu.Unlock()
	have, ok := o.get(name)
	delete(o.now, name)
	delete(o.old, name)
	return cell{value: have.value, at: have.at}, ok
}

// cellName tells the cells of base rows apart: the look-up, which stands for table and column, and the key's cells with
// their lengths.
func cellName(l *match.LookUp, key [][]byte) string {
	home := l.Home()
	size := len(home) + len(l.Table) + 2
	for _, k := range key {
		size += len(k) + binary.MaxVarintLen32
	}
	name := make([]byte, 0, size)
	name = append(append(append(append(name, home...), 0), l.Table...), 0)
	for _, k := range key {
		name = binary.AppendUvarint(name, uint64(len(k)))
		name = append(name, k...)
	}
	return string(name)
}
