package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
)

// agreement is how long a reading of the schema waits for the nodes to agree on it: the one that is asked may not have yet what
// another has told of.
const agreement = time.Second

// Live keeps a Schema and its Statistics fresh: Refresh when an event says that something changed, Measure from time to
// time. What was read last stays valid while Cassandra is away. Safe for concurrent use.
type Live struct {
	connect   func() (*gocql.Session, error)
	keyspaces []string
	data      string // prefix of the keyspaces of ours

	mu      sync.Mutex // one reader at a time
	session *gocql.Session

	all        atomic.Pointer[Schema]
	advisable  atomic.Pointer[Schema]
	statistics atomic.Pointer[[]Stats]
}

// NewLive reads nothing yet. connect is called when a session is first needed, and again after it failed; keyspaces are
// those to advise on, none meaning all that are not Cassandra's own, nor ours, which data is the prefix of (DataKeyspace).
func NewLive(connect func() (*gocql.Session, error), keyspaces []string, data string) *Live {
	return &Live{connect: connect, keyspaces: keyspaces, data: data}
}

// Schema is what was read last, nil before the first Refresh: every table of the application's keyspaces, and our own.
func (l *Live) Schema() *Schema { return l.all.Load() }

// Advisable is Schema as the advisor should see it: the keyspaces to advise on, without tables of ours.
func (l *Live) Advisable() *Schema { return l.advisable.Load() }

// Statistics is what was measured last of the advisable tables.
func (l *Live) Statistics() []Stats {
	if s := l.statistics.Load(); s != nil {
		return *s
	}
	return nil
}

// Refresh reads the schema.
func (l *Live) Refresh(ctx context.Context) (*Schema, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	session, err := l.open()
	if err != nil {
		return nil, err
	}
	agreed, cancel := context.WithTimeout(ctx, agreement)
	_ = guard.Do(guard.Session, func() error { return session.AwaitSchemaAgreement(agreed) }) // a node that is down never agrees
	cancel()
	var s *Schema
	err = guard.Do(guard.Session, func() (err error) { s, err = Read(ctx, session); return err }) // gocql was seen to panic over what a backend answers to PREPARE
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	l.all.Store(s)
	l.advisable.Store(l.restrict(s))
	return s, nil
}

// Measure estimates what is in the advisable tables. A table that can not be measured keeps its last estimate.
func (l *Live) Measure(ctx context.Context) error { return l.measure(ctx, l.Advisable()) }

// MeasureNew is Measure for the tables that were not measured before, or were empty: nothing is advised on these.
func (l *Live) MeasureNew(ctx context.Context) error {
	s := l.Advisable()
	if s == nil {
		return nil
	}
	filled := map[[2]string]bool{}
	for _, st := range l.Statistics() {
		filled[[2]string{st.Keyspace, st.Table}] = st.Rows > 0
	}
	fresh := &Schema{}
	for _, k := range s.Keyspaces {
		k.Tables = slices.DeleteFunc(slices.Clone(k.Tables), func(t Table) bool { return filled[[2]string{t.Keyspace, t.Name}] })
		if len(k.Tables) > 0 {
			fresh.Keyspaces = append(fresh.Keyspaces, k)
		}
	}
	if len(fresh.Keyspaces) == 0 {
		return nil
	}
	return l.measure(ctx, fresh)
}

// measure estimates what is in some tables; all others keep their estimates, as long as they are advisable.
func (l *Live) measure(ctx context.Context, some *Schema) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.Advisable()
	if s == nil || some == nil {
		return nil
	}
	session, err := l.open()
	if err != nil {
		return err
	}
	var fresh []Stats
	err = guard.Do(guard.Session, func() (err error) { fresh, err = MeasureAll(ctx, session, some); return err })
	for _, old := range l.Statistics() {
		missing := !slices.ContainsFunc(fresh, func(st Stats) bool { return st.Keyspace == old.Keyspace && st.Table == old.Table })
		if missing && s.Table(old.Keyspace, old.Table) != nil {
			fresh = append(fresh, old)
		}
	}
	slices.SortFunc(fresh, func(a, b Stats) int {
		return strings.Compare(a.Keyspace+"."+a.Table, b.Keyspace+"."+b.Table)
	})
	l.statistics.Store(&fresh)
	return err
}

// Close ends the session.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil {
		l.session.Close()
	}
}

func (l *Live) open() (*gocql.Session, error) {
	if l.session == nil || l.session.Closed() {
		session, err := l.connect()
		if err != nil {
			return nil, fmt.Errorf("connect to Cassandra: %w", err)
		}
		l.session = session
	}
	return l.session, nil
}

func (l *Live) restrict(s *Schema) *Schema {
	out := s.WithoutOwn(l.data)
	out.Keyspaces = slices.DeleteFunc(out.Keyspaces, func(k Keyspace) bool { return len(l.keyspaces) > 0 && !slices.Contains(l.keyspaces, k.Name) })
	return out
}
