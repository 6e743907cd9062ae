package lookup

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// mostBytes bounds the cells of one answer. The relay passes on what Cassandra answers as it comes, but a served answer is held as a whole, several times over while it
// is put together, and hundreds may be under way.
const mostBytes = 16 << 20

var errLarge = fmt.Errorf("%w: the rows take more bytes than may be held for one answer", kind.ErrUnsuited)

// mean is how many bytes a row of a statement's answers takes, as far as that was seen; 0: it was not.
type mean struct {
	atomic.Int64
	refused atomic.Int64 // reads, because of it
}

// again is how many reads are refused for one that sees whether the rows are still so large.
const again = 64

// mostTexts bounds what is remembered by texts of ours. They follow the application's, so that a client can make any number (SELECT room AS a1, a2, ...).
const mostTexts = 10000

// remembered is what is known by text, and forgotten when it is too much.
type remembered struct {
	sync.Map
	count atomic.Int64
}

// keep remembers something unless there is something by that text, and returns what there is.
func (r *remembered) keep(text string, v any) any {
	there, loaded := r.LoadOrStore(text, v)
	if !loaded && r.count.Add(1) > mostTexts {
		r.Clear()
		r.count.Store(0)
	}
	return there
}

// load counts the bytes of one answer, and stops it when they are too many, or will be.
type load struct {
	mean        *mean
	keys, most  int64
	bytes, rows atomic.Int64
	alone       bool // the first portion was asked for by itself, to see how large rows are
}

func (r *Reader) load(read *match.Read, keys int) *load {
	m, ok := r.sizes.Load(read.Fetch)
	if !ok {
		m = r.sizes.keep(read.Fetch, &mean{})
	}
	l := &load{mean: m.(*mean), keys: int64(keys), most: int64(r.Bytes)}
	if l.most == 0 {
		l.most = mostBytes
	}
	return l
}

// first refuses what is known to be too much, and where nothing is known has a first portion asked for by itself. asked is how many were.
func (l *load) first(ask func() error) (asked int, err error) {
	m := l.mean.Load()
	switch {
	case l.keys == 0:
		return 0, nil
	case m*l.keys > l.most:
		if l.mean.refused.Add(1)%again != 0 {
			return 0, errLarge
		}
	case m > 0:
		return 0, nil
	}
	l.alone = true
	if err := ask(); err != nil {
		return 1, err
	}
	if n := l.rows.Load(); n > 0 && l.bytes.Load()/n*l.keys > l.most {
		return 1, errLarge
	}
	return 1, nil
}

// add counts rows that have come.
func (l *load) add(found []proxy.Rows, places []int) error {
	bytes, rows := 0, 0
	for _, place := range places {
		for _, row := range found[place] {
			rows++
			for _, cell := range row {
				bytes += len(cell)
			}
		}
	}
	l.rows.Add(int64(rows))
	if l.bytes.Add(int64(bytes)) > l.most {
		return errLarge
	}
	return nil
}

// learn takes what was seen into the mean.
func (l *load) learn() {
	rows := l.rows.Load()
	if rows == 0 {
		return
	}
	m := l.bytes.Load() / rows
	if !l.alone {
		m = (3*l.mean.Load() + m) / 4
	}
	l.mean.Store(max(m, 1))
}
