package keyspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
)

// The forms of the state that this program reads and writes.
const (
	Form   = 1
	Oldest = 1
)

// part is the partition of the state.
const part = "1"

// Options of a Store; Connect must be set.
type Options struct {
	// Connect makes the session, when it is first needed, and again after it failed. It must not retry by itself.
	Connect     func() (*gocql.Session, error)
	Keyspace    string           // "helenus"
	Replication string           // of the keyspace if it is made, a CQL map; "": three copies in each data centre, or as many as there are nodes
	Unheard     []string         // kinds of documents that do not move the epoch
	Patience    time.Duration    // 5 s for a statement
	Now         func() time.Time // of lines and documents, for people
	Form        int              // the newest form that is known: Form, but for tests
}

// Store is the state in a keyspace. It is safe for concurrent use.
type Store struct {
	o     Options
	watch func([]store.Entry)

	connecting sync.Mutex
	session    *gocql.Session

	mu       sync.Mutex
	versions map[store.Key]int64 // as they were when they were last read or written
	head     *Head               // likewise
	failing  string              // why the last statement failed; "" if it did not
	closed   bool
}

// Head is what is known of the whole state.
type Head struct {
	Form  int
	Epoch int64
	lines int64
	last  string
}

var (
	keyspaceName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	replicas     = regexp.MustCompile(`^\{[^{};]*\}$`)
)

// New returns a Store; nothing is asked of Cassandra yet. Call Prepare before it is used.
func New(o Options) (*Store, error) {
	if o.Keyspace == "" {
		o.Keyspace = "helenus"
	}
	if !keyspaceName.MatchString(o.Keyspace) {
		return nil, fmt.Errorf("state-keyspace %q: up to 48 lower-case letters, digits and underlines", o.Keyspace)
	}
	if o.Replication != "" && !replicas.MatchString(o.Replication) {
		return nil, fmt.Errorf("state-replication %q: it is a map of CQL, as {'class': 'NetworkTopologyStrategy', 'dc1': 3}", o.Replication)
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Form == 0 {
		o.Form = Form
	}
	return &Store{o: o, versions: map[store.Key]int64{}}, nil
}

// tables are the statements that make the tables. The ids are those of the names: two processes that make one at a time make the same (elsewhere
// they would make two tables of one name, which nodes can not agree on).
func (s *Store) tables() []string {
	made := func(name, columns string) string {
		sum := sha256.Sum256([]byte("helenus " + s.o.Keyspace + "." + name))
		var id gocql.UUID
		copy(id[:], sum[:])
		id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
		return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s (%s) WITH ID = %s AND comment = 'helenus state; see docs/fleet.md'", s.o.Keyspace, name, columns, id)
	}
	return []string{
		made("state", "part text, kind text, seq bigint, id text, version bigint, at bigint, body blob, mark text, form int STATIC, epoch bigint STATIC, lines bigint STATIC, last text STATIC, PRIMARY KEY (part, kind, seq, id)"),
		made("beats", "part text, member text, counter bigint, body blob, PRIMARY KEY (part, member)"),
		made("snapshots", `member text, "window" text, at bigint, body blob, PRIMARY KEY (member, "window")`),
	}
}

// Prepare sees to it that keyspace and tables are there, and that their form is one that is known. What it may not make is told with the statements that
// whoever may is to say.
func (s *Store) Prepare(ctx context.Context) error {
	session, err := s.connected()
	if err != nil {
		return s.noted(err)
	}
	made, err := s.keyspaceMade(ctx, session)
	if err != nil {
		return err
	}
	fresh := len(made) > 0
	for _, text := range s.tables() {
		did, err := s.make(ctx, session, text, append(made, s.tables()...))
		if err != nil {
			return err
		}
		fresh = fresh || did
	}
	if fresh { // else a node that is down would keep processes from starting
		if err := session.AwaitSchemaAgreement(ctx); err != nil {
			return s.noted(fmt.Errorf("wait until all nodes know the tables of keyspace %s: %w", s.o.Keyspace, err))
		}
	}
	return s.settleForm(ctx)
}

// settleForm looks whether the form of the state is known, and gives a new state its own.
func (s *Store) settleForm(ctx context.Context) error {
	head, err := s.readHead(ctx, serial)
	if err != nil {
		return err
	}
	switch {
	case head.Form == 0:
		return s.Raise(ctx, s.o.Form)
	case head.Form > s.o.Form:
		return fmt.Errorf("%w: the state in keyspace %s has form %d, this Helenus knows the forms %d to %d: use the version that wrote it", store.ErrNewer, s.o.Keyspace, head.Form, s.oldest(), s.o.Form)
	case head.Form < s.oldest():
		return fmt.Errorf("the state in keyspace %s has form %d, this Helenus knows the forms %d to %d: run the version between them first", s.o.Keyspace, head.Form, s.oldest(), s.o.Form)
	}
	return nil
}

// oldest is the oldest form that is known: the one before.
func (s *Store) oldest() int { return max(Oldest, s.o.Form-1) }

// Raise brings the state to a form, if it has an earlier one.
func (s *Store) Raise(ctx context.Context, form int) error {
	for {
		head, err := s.readHead(ctx, serial)
		if err != nil || head.Form >= form {
			return err
		}
		applied, err := s.transact(ctx, func(b *gocql.Batch) {
			b.Query(s.cql("UPDATE %s.state SET form = ? WHERE part = ? IF form = ?"), form, part, orNull(int64(head.Form)))
		})
		if err != nil {
			return fmt.Errorf("raise the form of the state in keyspace %s: %w", s.o.Keyspace, err)
		}
		if applied {
			return nil
		}
	}
}

// keyspaceMade makes the keyspace if it is not there, and returns the statement.
func (s *Store) keyspaceMade(ctx context.Context, session *gocql.Session) (statements []string, err error) {
	var name string
	err = s.one(ctx, session, gocql.One, "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", []any{s.o.Keyspace}, &name)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, gocql.ErrNotFound) {
		return nil, s.noted(fmt.Errorf("look for keyspace %s: %w", s.o.Keyspace, err))
	}
	replication := s.o.Replication
	if replication == "" {
		if replication, err = Replication(ctx, session); err != nil {
			return nil, s.noted(err)
		}
	}
	text := Statement(s.o.Keyspace, replication)
	_, err = s.make(ctx, session, text, append([]string{text}, s.tables()...))
	return []string{text}, err
}

// Statement is the CQL that makes a keyspace of state.
func Statement(keyspace, replication string) string {
	return fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = %s", keyspace, replication)
}

// Replication is three copies in each data centre of a cluster, or as many as it has nodes, as CQL.
//
// The peers that a node knows are all nodes but itself, and another one may answer when system.local is asked next. So the one that
// answered is counted as the driver knows it; a driver that looked nothing up (DisableInitialHostLookup) knows the nodes that it was
// given alone, and is asked for its one node's row.
func Replication(ctx context.Context, session *gocql.Session) (string, error) {
	centres := map[string]string{} // of host_id
	read := func(text string) (*gocql.HostInfo, error) {
		iter := session.Query(text).WithContext(ctx).Consistency(gocql.One).Iter()
		var id gocql.UUID
		var dc string
		for iter.Scan(&id, &dc) {
			centres[id.String()] = dc
		}
		answered := iter.Host()
		return answered, iter.Close()
	}
	answered, err := read("SELECT host_id, data_center FROM system.peers")
	if err == nil {
		if answered != nil && answered.DataCenter() != "" {
			centres[answered.HostID()] = answered.DataCenter()
		} else {
			_, err = read("SELECT host_id, data_center FROM system.local")
		}
	}
	if err != nil {
		return "", fmt.Errorf("read which data centres there are: %w", err)
	}
	nodes := map[string]int{}
	for _, dc := range centres {
		nodes[dc]++
	}
	var b strings.Builder
	b.WriteString("{'class': 'NetworkTopologyStrategy'")
	for _, dc := range slices.Sorted(maps.Keys(nodes)) {
		fmt.Fprintf(&b, ", '%s': %d", strings.ReplaceAll(dc, "'", "''"), min(3, nodes[dc]))
	}
	return b.String() + "}", nil
}

// DDLError says that Helenus's role may not make what its state needs, and what to say instead.
type DDLError struct {
	Keyspace   string
	Statements []string
	Cause      error
}

// Error implements error.
func (e *DDLError) Error() string {
	return fmt.Sprintf("the state's keyspace %s can not be made: %v. Have somebody who may say this, and grant helenus's role SELECT and MODIFY on keyspace %s:\n%s;",
		e.Keyspace, e.Cause, e.Keyspace, strings.Join(e.Statements, ";\n"))
}

// Unwrap returns what Cassandra said.
func (e *DDLError) Unwrap() error { return e.Cause }

// make says a statement of DDL, if what it makes is not there: a role that may not make it needs no right to. It reports whether it did.
func (s *Store) make(ctx context.Context, session *gocql.Session, text string, all []string) (did bool, err error) {
	if name, ok := strings.CutPrefix(text, "CREATE TABLE IF NOT EXISTS "+s.o.Keyspace+"."); ok {
		name, _, _ = strings.Cut(name, " ")
		var found string
		err := s.one(ctx, session, gocql.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?", []any{s.o.Keyspace, name}, &found)
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, gocql.ErrNotFound) {
			return false, s.noted(fmt.Errorf("look for the tables of keyspace %s: %w", s.o.Keyspace, err))
		}
	}
	making, cancel := context.WithTimeout(ctx, 6*s.o.Patience)
	defer cancel()
	err = session.Query(text).WithContext(making).Consistency(gocql.Quorum).Exec()
	if refusal := gocql.RequestError(nil); errors.As(err, &refusal) && refusal.Code() >= 0x2000 {
		return false, &DDLError{s.o.Keyspace, all, err}
	}
	return true, s.noted(err)
}

// connected returns the session, which it makes if there is none.
func (s *Store) connected() (*gocql.Session, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if s.session != nil && !s.session.Closed() {
		return s.session, nil
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, errors.New("the state was closed")
	}
	session, err := s.o.Connect()
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster for the state in keyspace %s: %w", s.o.Keyspace, err)
	}
	s.session = session
	return session, nil
}

// Renew has the session made anew: by now more may be known of what it is to say of itself.
func (s *Store) Renew() {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if s.session != nil {
		s.session.Close()
		s.session = nil
	}
}

// Close ends the session.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if s.session != nil {
		s.session.Close()
	}
	return nil
}

// noted remembers whether the keyspace could be used.
func (s *Store) noted(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = ""
	if err != nil {
		s.failing = fmt.Sprintf("%v. Changes stand still, and no read is answered by one; requests are forwarded. %s", err, WhatHelps(err))
	}
	return err
}

// ErrNotLetIn is what Connect may return where Cassandra does not let this process in (its password, TLS), with what helps: that does not pass by itself.
var ErrNotLetIn = errors.New("Cassandra does not let this process in") //nolint:revive,staticcheck // a name

// WhatHelps says what a person may do about a failure of the state, or that it passes by itself.
func WhatHelps(err error) string {
	var refused gocql.RequestError
	switch {
	case errors.Is(err, ErrNotLetIn):
		return "Start this process anew with settings that Cassandra takes"
	case errors.As(err, &refused):
		switch refused.Code() {
		case gocql.ErrCodeInvalid:
			return "If the keyspace, or a table of it, was dropped: restore it from a backup, and start all members anew (docs/fleet.md)"
		case gocql.ErrCodeUnauthorized:
			return "Grant Helenus's role SELECT and MODIFY on the keyspace: then all goes on by itself"
		}
	}
	return "Once a majority of its replicas answers all goes on by itself"
}

// Trouble says why the state can not be used now, and what that means; "" if it can.
func (s *Store) Trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == "" {
		return ""
	}
	return fmt.Sprintf("the state in keyspace %s can not be used: %s", s.o.Keyspace, s.failing)
}

// Watch has f told of lines of the audit trail that this process has written. f must not block.
func (s *Store) Watch(f func([]store.Entry)) { s.watch = f }

func (s *Store) cql(text string) string { return fmt.Sprintf(text, s.o.Keyspace) }

// serial is the consistency of reads that see every transaction.
const serial = gocql.Consistency(gocql.Serial)

func (s *Store) one(ctx context.Context, session *gocql.Session, c gocql.Consistency, text string, values []any, into ...any) error {
	asking, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	return session.Query(text, values...).WithContext(asking).Consistency(c).Scan(into...)
}

// each reads rows.
func (s *Store) each(ctx context.Context, c gocql.Consistency, row func(scan func(...any) error) error, text string, values ...any) error {
	session, err := s.connected()
	if err != nil {
		return s.noted(err)
	}
	asking, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	rows := session.Query(text, values...).WithContext(asking).Consistency(c).PageSize(500).Iter().Scanner()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return s.noted(rows.Err())
}

// orNull is how a version that is 0, none, stands in a condition.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
