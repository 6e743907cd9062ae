package certs

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// source is one side's files and the generation that was last loaded from them.
type source struct {
	side   string
	files  files
	make   func(*material) *tls.Config
	log    *slog.Logger
	now    func() time.Time
	latest atomic.Pointer[generation]
	looked atomic.Int64 // when, Unix nanoseconds

	mu      sync.Mutex // held while looking and loading
	seen    []os.FileInfo
	failed  atomic.Uint64
	problem atomic.Pointer[string] // why the files that are there are not used; nil if they are
}

// generation is what was made of the files at one time. It is immutable.
type generation struct {
	*material
	config *tls.Config
}

func newSource(side string, o Common, f files, build func(*material) *tls.Config) *source {
	s := &source{side: side, files: f, make: build, log: o.Log, now: o.Now}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// look returns what the files are by their names' look; a file that is not there is nil.
func (s *source) look() []os.FileInfo {
	var list []os.FileInfo
	for _, path := range s.files.each() {
		info, _ := os.Stat(path) // reading it will say why not
		list = append(list, info)
	}
	return list
}

func same(a, b []os.FileInfo) bool {
	for i := range a {
		switch x, y := a[i], b[i]; {
		case x == nil && y == nil:
		case x == nil || y == nil || !os.SameFile(x, y) || x.Size() != y.Size() || !x.ModTime().Equal(y.ModTime()):
			return false
		}
	}
	return true
}

// load makes a generation. The files are looked at before they are read: what changes in between is seen the next time.
func (s *source) load() error {
	s.seen = s.look()
	m, err := s.files.read(s.now())
	if err != nil {
		return err
	}
	s.latest.Store(&generation{m, s.make(m)})
	return nil
}

// config returns the newest sound generation's configuration.
func (s *source) config() *tls.Config {
	s.refresh()
	return s.latest.Load().config
}

// refresh looks at the files if it is time.
func (s *source) refresh() {
	now := s.now().UnixNano()
	if now-s.looked.Load() < int64(lookEvery) || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.looked.Store(now)
	if same(s.seen, s.look()) {
		return
	}
	if err := s.load(); err != nil {
		text := err.Error()
		s.problem.Store(&text)
		s.failed.Add(1)
		s.log.Error("changed TLS files can not be used: what was loaded before stays in use", "side", s.side, "error", err)
		return
	}
	s.problem.Store(nil)
	s.log.Info("changed TLS files are in use for new connections", "side", s.side, "expires", s.status().Expires)
}

// Status is how the files are.
type Status struct {
	Side    string    // "client" or "cassandra"
	Expires time.Time // the certificate that is shown (or one that leads to its CA); zero if none is
	CA      time.Time // the first to expire of the CAs that are trusted and valid; zero if the machine's are
	Failed  uint64    // how often changed files could not be used
	Problem string    // why the files that are there now are not used; "" if they are
}

// Status looks at the files, if it is time, and says how they are.
func (s *source) Status() Status {
	s.refresh()
	return s.status()
}

func (s *source) status() Status {
	g := s.latest.Load()
	t := Status{Side: s.side, Expires: g.certificate, CA: g.ca, Failed: s.failed.Load()}
	if p := s.problem.Load(); p != nil {
		t.Problem = *p
	}
	return t
}
