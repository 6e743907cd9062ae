package load

import (
	"sync"
	"time"

	"github.com/gocql/gocql"
)

// way is the session that is written by: another one after Cassandra was away, if one can be made.
type way struct {
	connect func() (*gocql.Session, error)
	given   *gocql.Session

	mutex sync.Mutex
	now   *gocql.Session
	old   []*gocql.Session // requests may still be on their way over these
	tried time.Time
}

// pause is how long a session has to find its way back by itself.
const pause = 3 * time.Second

func (w *way) session() *gocql.Session {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.now
}

// renew makes a new session, now and then. While it does, all others wait: they have nothing better to do.
func (w *way) renew() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.connect == nil || time.Since(w.tried) < pause {
		return
	}
	defer func() { w.tried = time.Now() }()
	if w.tried.IsZero() {
		return // the first error of all: it may be back at once
	}
	if s, err := w.connect(); err == nil {
		w.old = append(w.old, w.now)
		w.now = s
	}
}

// close closes all sessions but the one that was given.
func (w *way) close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, s := range append(w.old, w.now) {
		if s != w.given {
			s.Close()
		}
	}
}
